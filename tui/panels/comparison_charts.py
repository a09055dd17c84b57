"""Figures over the whole of two runs, one above the other on a scale of their own."""

import math
from collections.abc import Iterable, Iterator

from callboard.journal.replay.frame import Charts, Frame
from callboard.tui.panels.charts import CHARTS, LABEL_WIDTH, Chart, block, cursor_column
from callboard.tui.panels.pane import Pane, Span

_SHOWN = {"maps busy": "maps", "jobs inside": "jobs"}
"""The charts by their labels, and what they are called where a figure is beside it."""


class ComparisonChartsPane(Pane):
    """Each chart twice: the first run's line above the second's."""

    key, heading = "5", "over time"

    def show(self, frame: Frame) -> None:
        if frame.comparison is not None:
            first, second = (figures.policy for figures in frame.comparison.figures)
            self.border_title = f"{self.key} {self.heading}: {first} above, {second} below"
        super().show(frame)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        chart, side = divmod(y, 2)
        shown = [each for each in CHARTS if each.label in _SHOWN]
        if frame.comparison is None or chart >= len(shown):
            return ()
        both = [each.charts for each in frame.comparison.frames(frame)]
        return self._row(frame, shown[chart], both, side)

    def _row(self, frame: Frame, chart: Chart, both: list[Charts], side: int) -> Iterator[Span]:
        palette = self.palette
        known = [value for each in both for value in chart.of(each) if not math.isnan(value)]
        most = chart.most or max([*known, 1e-9])
        values = chart.of(both[side])
        here = cursor_column(frame, len(values))
        now = values[here] if values else math.nan
        said = "–" if math.isnan(now) else chart.written(now)
        name = _SHOWN[chart.label] if side == 0 else ""
        label = f"{name:<{LABEL_WIDTH - len(said)}}{said}"
        yield f"{label} ", self.ink(palette.dim)
        colour = chart.colour(palette)
        if side == 1:
            colour = palette.shade(colour, 1)
        yield "".join(block(value / most) for value in values[: here + 1]), self.ink(colour)
        rest = "".join(block(value / most) for value in values[here + 1 :])
        yield rest, self.ink(palette.dimmed(colour))
