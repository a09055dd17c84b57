"""The charts panes: figures over the whole run, drawn over the time bar, column for column."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec
from textual import events
from textual.message import Message

from callboard.journal.replay.frame import Charts, Frame, Totals
from callboard.journal.replay.palette import Palette
from callboard.journal.tell.shortening import cut
from callboard.scheduler.model import Millis, SlotKind
from callboard.tui.panels.bars import block
from callboard.tui.panels.pane import Pane, Span

LABEL_WIDTH = 18
"""The width of the labels, here and in the time bar."""

_ROWS_MOST = 4


@dataclass
class Sought(Message):
    """Go to this moment, or to the first mark from it on."""

    at_ms: Millis
    mark: bool = False


class Chart(msgspec.Struct, frozen=True):
    """One figure: its label, and a `short` one beside a value; where it is in a frame, how a value
    is written, its colour, the end of the scale, None for the largest value, and its value at the
    present moment.  `peak` is its place among `Charts.peaks`; what is a sum so far has none.
    """

    label: str
    short: str
    of: Callable[[Charts], list[float]]
    write: Callable[[float], str]
    colour: Callable[[Palette], str]
    now: Callable[[Totals], float]
    most: float | None = None
    peak: int | None = None


def _busy_share(kind: SlotKind) -> Callable[[Totals], float]:
    return lambda totals: totals.busy[kind] / max(totals.slots[kind], 1)


_MAPS = Chart(
    "maps busy", "maps", lambda c: c.maps, "{:.0%}".format, lambda p: p.jobs[0],
    _busy_share(SlotKind.MAP), most=1.0, peak=0,
)  # fmt: skip
_REDUCES = Chart(
    "reduces busy", "reduces", lambda c: c.reduces, "{:.0%}".format, lambda p: p.jobs[1],
    _busy_share(SlotKind.REDUCE), most=1.0, peak=1,
)  # fmt: skip
_JOBS = Chart(
    "jobs in system", "jobs", lambda c: c.jobs, "{:.0f}".format, lambda p: p.accent,
    lambda totals: totals.in_system, peak=2,
)  # fmt: skip
_LOCAL = Chart(
    "local maps", "local", lambda c: c.local, "{:.0%}".format, lambda p: p.good,
    lambda totals: totals.local, most=1.0,
)  # fmt: skip
_WASTED = Chart(
    "wasted", "wasted", lambda c: c.wasted, "{:,.0f} min".format, lambda p: p.fault,
    lambda totals: totals.wasted_ms / 60_000,
)  # fmt: skip

CHARTS = (_MAPS, _REDUCES, _JOBS, _LOCAL, _WASTED)
_MAIN_CHARTS = (_MAPS, _JOBS)
"""Those that are always there, and compared."""


class ChartsPane(Pane):
    """All charts, one under the other, as many as there is room for."""

    key, heading = "5", "over time"

    def show(self, frame: Frame) -> None:
        super().show(frame)
        self.set_subtitle("")
        for number in range(1, len(CHARTS) + 1):
            self.set_class(number == len(_charts_to_show(frame)), f"of-{number}")

    def wanted_lines(self, rows: int) -> int:
        """How many lines its charts take with that many rows each."""
        return rows * len(_charts_to_show(self.frame)) if self.frame is not None else 0

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        height = self.content_size.height
        shown = _charts_to_show(frame)[: max(height, 1)]
        rows = max(min(height // len(shown), _ROWS_MOST), 1)
        place, row = divmod(y, rows)
        return self._chart_row(frame, shown[place], rows, row) if place < len(shown) else ()

    def _chart_row(self, frame: Frame, chart: Chart, rows: int, row: int) -> Iterator[Span]:
        """One row of a chart; the last one has its value at the present moment, and its most."""
        label, ink = chart.label if row == 0 else "", self.ink(self.palette.dim)
        if row == rows - 1:
            label = _value_text(frame, chart, chart.short if rows == 1 else None)
            ink = self.ink(self.palette.text if rows > 1 else self.palette.dim)
        yield f"{label:<{LABEL_WIDTH}} ", ink
        most = _chart_maximum(chart, frame.charts)
        yield from self.bar_spans(frame, chart, most, chart.colour(self.palette), rows, row)

    def bar_spans(
        self, frame: Frame, chart: Chart, most: float, colour: str, rows: int = 1, row: int = 0
    ) -> Iterator[Span]:
        """One row of a chart's bars, dimmed after the present moment."""
        bars = [block(value / most, rows, row) for value in chart.of(frame.charts)]
        here = column_of(frame.at_ms, frame, len(bars)) + 1
        yield "".join(bars[:here]), self.ink(colour)
        yield "".join(bars[here:]), self.ink(self.palette.faint)

    def action_move_cursor(self, across: int, down: int) -> None:  # noqa: ARG002
        if across and self.frame is not None:
            self.post_to_app(Sought(self.frame.scrubbed_to_ms(across)))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        columns, x = len(self.frame.charts.marks), offset.x - LABEL_WIDTH - 1
        if 0 <= x < columns:
            self.post_to_app(Sought(round(self.frame.end_ms * (x + 0.5) / columns)))


class ComparisonChartsPane(ChartsPane):
    """Each chart twice on a scale of its own: the first run's line above the second's."""

    def show(self, frame: Frame) -> None:
        if frame.comparison is not None:
            first, second = (figures.policy for figures in frame.comparison.figures)
            self.set_title(f"[{self.key}] {self.heading}: {first} above, {second} below")
        super().show(frame)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        place, side = divmod(y, 2)
        if frame.comparison is None or place >= len(_MAIN_CHARTS):
            return ()
        return self._chart_of_side(frame.comparison.frames(frame), _MAIN_CHARTS[place], side)

    def _chart_of_side(self, both: tuple[Frame, Frame], chart: Chart, side: int) -> Iterator[Span]:
        name = chart.short if side == 0 else ""
        yield f"{_value_text(both[side], chart, name)} ", self.ink(self.palette.dim)
        colour = chart.colour(self.palette)
        colour = self.palette.shade(colour, 1) if side else colour
        yield from self.bar_spans(
            both[side], chart, _chart_maximum(chart, *(f.charts for f in both)), colour
        )


def _charts_to_show(frame: Frame) -> list[Chart]:
    """The charts that have something to show: what has been zero all along makes room."""
    return [
        chart
        for chart in CHARTS
        if chart in _MAIN_CHARTS or any(value > 0 for value in chart.of(frame.charts))
    ]


def most_jobs_at_once(frame: Frame) -> int:
    """The most jobs that have been in the system together, as far as the run is known."""
    return max(round(frame.charts.peaks[2]), frame.totals.in_system)


def _chart_maximum(chart: Chart, *shown: Charts) -> float:
    known = [value for each in shown for value in chart.of(each) if not math.isnan(value)]
    return chart.most or max([*known, 1e-9])


def _value_text(frame: Frame, chart: Chart, name: str | None) -> str:
    """The value at the present moment, and the most at any; with a name before them, shorter."""
    now = chart.now(frame.totals)
    text = "–" if math.isnan(now) else chart.write(now)
    whole = f"{text} so far"
    if chart.peak is not None:
        whole = f"{text}, max {chart.write(max(frame.charts.peaks[chart.peak], now))}"
    if name is None:
        return cut(whole, LABEL_WIDTH)
    told = whole if len(name) + len(whole) < LABEL_WIDTH else text
    return cut(f"{name}{told:>{LABEL_WIDTH - len(name)}}", LABEL_WIDTH)


def column_of(at_ms: Millis, frame: Frame, columns: int) -> int:
    """The column of a moment."""
    return max(min(at_ms * columns // max(frame.end_ms, 1), columns - 1), 0)
