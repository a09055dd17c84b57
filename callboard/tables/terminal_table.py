"""A table as it is printed: the one way from what a table says to Rich."""

from rich import box
from rich.table import Table
from rich.text import Text

from callboard.console import plain
from callboard.experiments.pages.report.document import Emphasis, ReportCell, ReportTable

_STYLES: dict[Emphasis, str] = {"": "", "best": "bold green", "bad": "red", "dim": "dim"}


def terminal_table(table: ReportTable) -> Table:
    """Figures stand to the right and are never broken; nor is the text of `whole` columns.  Other
    text that has no room goes on in the next line.
    """
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(table.headings):
        is_text = table.is_text(place)
        drawn.add_column(
            Text("\n").join(map(plain, heading.splitlines())),
            justify="left" if is_text else "right",
            no_wrap=not is_text or place in table.whole,
            overflow="fold" if is_text else "ellipsis",
        )
    for row in table.rows:
        style = "bold" if len(row) == 1 and len(table.headings) > 1 else ""
        drawn.add_row(*(_printed_cell(cell, style) for cell in row))
    return drawn


def _printed_cell(cell: ReportCell | str, style: str) -> Text:
    if isinstance(cell, str):
        return plain(cell, style)
    return plain(cell.text, style or _STYLES[cell.mark])
