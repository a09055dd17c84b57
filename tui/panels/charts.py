"""The charts pane: figures over the whole run, drawn over the time bar, column for column."""

import math
from collections.abc import Callable, Iterable, Iterator

import msgspec
from textual import events
from textual.message import Message

from callboard.journal.replay.frame import Charts, Frame
from callboard.scheduler.model import Millis
from callboard.tui.palette import Palette
from callboard.tui.panels.pane import Pane, Span

LABEL_WIDTH = 12
"""How wide the labels are; the time bar keeps the same."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"


class Chart(msgspec.Struct, frozen=True):
    """One figure: its label, where it is in a frame, how its scale's end is written, its colour.

    `most` is the end of the scale; None for the largest value.
    """

    label: str
    of: Callable[[Charts], list[float]]
    written: Callable[[float], str]
    colour: Callable[[Palette], str]
    most: float | None = None


CHARTS = (
    Chart("maps busy", lambda all_: all_.maps, "{:.0%}".format, lambda p: p.jobs[0], 1.0),
    Chart("reduces busy", lambda all_: all_.reduces, "{:.0%}".format, lambda p: p.jobs[1], 1.0),
    Chart("jobs inside", lambda all_: all_.jobs, "{:.0f}".format, lambda p: p.accent),
    Chart("local maps", lambda all_: all_.local, "{:.0%}".format, lambda p: p.good, 1.0),
    Chart("lost work", lambda all_: all_.wasted, "{:,.0f} min".format, lambda p: p.fault),
)


class ChartsPane(Pane):
    """All charts, one under the other, as many as there is room for."""

    key, heading = "5", "over time"

    class Sought(Message):
        """Somebody wants to be at this moment."""

        def __init__(self, at_ms: Millis) -> None:
            super().__init__()
            self.at_ms = at_ms

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        height = self.content_size.height
        shown = CHARTS[: max(height, 1)]
        each = max(min(height // len(shown), 4), 1)
        place, row = divmod(y, each)
        if place >= len(shown):
            return ()
        return self._row(frame, shown[place], each, row)

    def _row(self, frame: Frame, chart: Chart, rows: int, row: int) -> Iterator[Span]:
        palette = self.palette
        values = chart.of(frame.charts)
        known = [value for value in values if not math.isnan(value)]
        most = chart.most or max([*known, 1e-9])
        here = cursor_column(frame, len(values))
        label = chart.label if row == 0 else ""
        if row == rows - 1:
            now = values[here] if values else math.nan
            said = "–" if math.isnan(now) else chart.written(now)
            label = said if rows > 1 else f"{chart.label.split()[0]:<7}{said:>5}"
        yield (
            f"{label:<{LABEL_WIDTH}}"[:LABEL_WIDTH] + " ",
            self.ink(palette.text if row == rows - 1 and rows > 1 else palette.dim),
        )
        colour = chart.colour(palette)
        past = "".join(block(value / most, rows, row) for value in values[: here + 1])
        rest = "".join(block(value / most, rows, row) for value in values[here + 1 :])
        yield past, self.ink(colour)
        yield rest, self.ink(palette.dimmed(colour))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        columns, x = len(self.frame.charts.marks), offset.x - LABEL_WIDTH - 1
        if 0 <= x < columns:
            self.post_message(self.Sought(round(self.frame.end_ms * (x + 0.5) / columns)))


def block(share: float, rows: int = 1, row: int = 0) -> str:
    """What of a bar of so many rows is in one of them, the first being the top one."""
    if math.isnan(share):
        return " "
    eighths = math.ceil(min(share, 1) * rows * 8 - 0.25) - (rows - 1 - row) * 8
    if row == rows - 1:
        eighths = max(eighths, 1 if share > 0 else 0)
    return _EIGHTHS[max(0, min(eighths, 8))]


def cursor_column(frame: Frame, columns: int) -> int:
    """The column of the present moment."""
    return max(min(frame.at_ms * columns // max(frame.end_ms, 1), columns - 1), 0)
