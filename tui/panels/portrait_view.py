"""A scenario's portrait as text: numbers, faults, and the work that arrives as a picture."""

from collections.abc import Iterator

from rich.text import Text

from callboard.journal.replay.palette import Palette
from callboard.journal.tell.shortening import cut
from callboard.journal.tell.time_format import axis_time, short_duration
from callboard.scenarios.portrait import FaultOutline, ScenarioPortrait
from callboard.scheduler.text.quantities import count
from callboard.tui.panels.bars import block

_LABEL = 8
_COLUMNS_MOST = 100
_FAULTS_MOST = 4
_FAULT_SIGN = "▾"


def portrait_text(portrait: ScenarioPortrait, palette: Palette, width: int, rows: int) -> Text:
    """The portrait, `width` columns wide, with the picture of the load `rows` high."""
    text = Text()
    for label, line in _figure_rows(portrait):
        text.append(f"{label:<{_LABEL}}", palette.dim).append(f"{line}\n", palette.text)
    columns = max(min(width - _LABEL, _COLUMNS_MOST), 1)
    load = portrait.work_by_column(columns)
    for row in range(rows):
        text.append(f"{'' if row else 'work':<{_LABEL}}", palette.dim)
        text.append("".join(block(each, rows, row) for each in load) + "\n", palette.accent)
    text.append(f"{'':<{_LABEL}}{_time_axis(portrait, columns)}\n", palette.dim)
    if portrait.faults:
        text.append(f"{'':<{_LABEL}}{_fault_marks(portrait, columns)}\n", palette.fault)
    return text


def portrait_row(portrait: ScenarioPortrait | None, columns: int) -> str:
    """Nodes, jobs, length, faults and the load in a line, for lists; empty if it is unknown."""
    if portrait is None:
        return ""
    load = "".join(map(block, portrait.work_by_column(columns)))
    faults = len(portrait.faults) or ""
    length = short_duration(portrait.least_ms)
    return f"{portrait.nodes:>5}{portrait.jobs:>5}{length:>7}{faults:>7}  {load}"


COLUMN_HEADS = f"{'nodes':>5}{'jobs':>5}{'length':>7}{'faults':>7}  work over time"


def _figure_rows(portrait: ScenarioPortrait) -> Iterator[tuple[str, str]]:
    racks = f" in {count(portrait.racks, 'rack')}" if portrait.racks > 1 else ""
    slots = f"{portrait.map_slots:,} + {portrait.reduce_slots:,} slots"
    yield "nodes", f"{portrait.nodes:,}{racks}, {slots}"
    yield "jobs", f"{portrait.jobs:,}, of {count(portrait.tasks, 'task')}"
    yield "length", f"at least {short_duration(portrait.least_ms)}"
    if not portrait.faults:
        yield "faults", "none on its timeline"
    for nth, fault in enumerate(portrait.faults[:_FAULTS_MOST]):
        yield "" if nth else "faults", _fault_words(fault)
    if (more := len(portrait.faults) - _FAULTS_MOST) > 0:
        yield "", f"and {more} more"


def _fault_words(fault: FaultOutline) -> str:
    often = f", {fault.times} times" if fault.times > 1 else ""
    return f"{cut(f'{fault.what} {fault.target}'.rstrip(), 30)} at {axis_time(fault.at_ms)}{often}"


def _time_axis(portrait: ScenarioPortrait, columns: int) -> str:
    end = axis_time(portrait.least_ms)
    return f"{axis_time(0)}{end:>{max(columns - len(axis_time(0)), 0)}}"


def _fault_marks(portrait: ScenarioPortrait, columns: int) -> str:
    line = [" "] * columns
    for fault in portrait.faults:
        line[portrait.column_at(fault.at_ms, columns)] = _FAULT_SIGN
    return "".join(line).rstrip()
