"""A table as Markdown."""

from collections.abc import Iterator, Sequence

from callboard.experiments.pages.report.document import ReportCell, ReportTable


def markdown_lines(table: ReportTable) -> Iterator[str]:
    """Its lines; what is marked is bold.  Cells are Markdown themselves."""
    yield _table_line(table.headings)
    places = range(len(table.headings))
    yield f"|{'|'.join('---' if table.is_text(place) else '---:' for place in places)}|"
    yield from map(_table_line, table.rows)


def _table_line(cells: Sequence[ReportCell | str]) -> str:
    return "|" + "".join(f" {text} |" if (text := _cell_text(cell)) else " |" for cell in cells)


def _cell_text(cell: ReportCell | str) -> str:
    if isinstance(cell, str):
        return cell
    return f"**{cell.text}**" if cell.mark else cell.text
