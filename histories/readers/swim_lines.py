"""SWIM traces (SWIMProjectUCB/SWIM on GitHub): one line a job with six columns, separated by tabs
or spaces (`SwimLine`).
"""

from pathlib import Path

import msgspec

from callboard.actors.config import JOBS_MAX, SECONDS_MAX
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.text_file import read_text

SWIM_COLUMNS = ("job id", "submit time", "gap", "input bytes", "shuffle bytes", "output bytes")
SWIM_BYTES_MAX = 10**18  # an exabyte: no job reads more, and the numbers stay 64-bit


class SwimLine(msgspec.Struct, frozen=True):
    """One line of a trace, `gap_s` after the one before; `line` is its number, from 1."""

    name: str
    submit_s: int
    gap_s: int
    input_bytes: int
    shuffle_bytes: int
    output_bytes: int
    line: int = 0


def read_swim(path: str | Path, limit: int | None = None) -> tuple[SwimLine, ...]:
    """The lines of a trace, or the first `limit` of them, read strictly: six columns, whole numbers
    of at least 0, submit times that never go back, no job id twice, empty lines at the end only.
    Gaps need not fit the submit times, so that lines can be cut out. ScenarioError names file,
    line, column.
    """
    source = Path(path)
    rows = read_text(source).rstrip().split("\n")
    if rows == [""]:
        raise ScenarioError("the trace is empty", source=source)
    if len(rows) > JOBS_MAX:
        raise ScenarioError(f"over {JOBS_MAX:,} lines", source=source)
    lines: list[SwimLine] = []
    names: dict[str, int] = {}
    for number, row in enumerate(rows[:limit], start=1):
        line = _parsed_line(row, number, source)
        _check_order(line, lines, names, source)
        names[line.name] = number
        lines.append(line)
    return tuple(lines)


def is_swim(begin: bytes) -> bool:
    """Whether a file that begins like this is a trace: a name and five whole numbers a line."""
    cells = begin.lstrip().partition(b"\n")[0].split()
    numbers = cells[1:]
    return len(cells) == len(SWIM_COLUMNS) and all(cell.isdigit() for cell in numbers)


def _parsed_line(row: str, number: int, source: Path) -> SwimLine:
    cells = row.split()
    if len(cells) != len(SWIM_COLUMNS):
        expected = f"expected {len(SWIM_COLUMNS)} columns ({', '.join(SWIM_COLUMNS)})"
        raise ScenarioError(f"{expected}, got {len(cells)}", source=source, line=number)
    limits = [int(SECONDS_MAX)] * 2 + [SWIM_BYTES_MAX] * 3
    submit, gap, *sizes = (
        _whole_number(cell, column, limit, number, source)
        for cell, column, limit in zip(cells[1:], SWIM_COLUMNS[1:], limits, strict=True)
    )
    return SwimLine(cells[0], submit, gap, sizes[0], sizes[1], sizes[2], number)


def _whole_number(cell: str, column: str, limit: int, number: int, source: Path) -> int:
    # str.isdigit and int() both accept digits of other scripts; a trace has none.
    if not (cell.isascii() and cell.isdigit()):
        problem = f'expected a whole number of at least 0, got "{cell[:40]}"'
        raise ScenarioError(problem, source=source, key=column, line=number)
    if len(cell) > 20 or int(cell) > limit:
        problem = f"expected at most {limit:,}, got {cell[:40]}"
        raise ScenarioError(problem, source=source, key=column, line=number)
    return int(cell)


def _check_order(
    line: SwimLine, before: list[SwimLine], names: dict[str, int], source: Path
) -> None:
    if before and line.submit_s < before[-1].submit_s:
        problem = f"{line.submit_s} is before the line above ({before[-1].submit_s})"
        problem += "; sort the trace by its second column"
        raise ScenarioError(problem, source=source, key=SWIM_COLUMNS[1], line=line.line)
    if line.name in names:
        problem = f'"{line.name[:40]}" stands already on line {names[line.name]}; ids must differ'
        raise ScenarioError(problem, source=source, key=SWIM_COLUMNS[0], line=line.line)
