"""Two compared runs on the screen: the panes of both, the first on the left."""

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal

from callboard.journal.replay.frame import Frame, RunComparison, View
from callboard.journal.replay.palette import Palette
from callboard.scheduler.text.quantities import printable
from callboard.tui.panels.charts import ComparisonChartsPane
from callboard.tui.panels.comparison_figures import ComparisonFiguresPane
from callboard.tui.panels.comparison_jobs import ComparisonJobsPane
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.result import ResultPane
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.screens.run_view import RunView


class ComparisonView(RunView):
    """The panes of two runs; those that show only one of them have its `side`.  A small screen has
    only the side in front; events and details share a place even on a large one.
    """

    lower: ClassVar[tuple[str, ...]] = ("jobs", "log", "detail", "figures", "charts")
    only_differences = True
    """Whether only the slots that differ are highlighted."""

    def compose(self) -> ComposeResult:
        yield ResultPane(id="compare-result")
        with Horizontal(id="compare-slots"):
            yield from _pane_of_each_side(SlotsPane, "slots")
        with Horizontal(id="compare-table"):
            yield ComparisonJobsPane(id="compare-jobs")
            yield ComparisonFiguresPane(id="compare-figures")
        with Horizontal(id="compare-log"):
            yield from _pane_of_each_side(LogPane, "log")
        with Horizontal(id="compare-detail"):
            yield from _pane_of_each_side(DetailPane, "detail")
        yield ComparisonChartsPane(id="compare-charts")

    def on_mount(self) -> None:
        one, other = (pane for pane in self.panes if isinstance(pane, SlotsPane))
        one.twin, other.twin = other, one
        self.show_pane("log", View())

    def draw(self, frame: Frame, view: View, palette: Palette) -> None:
        assert frame.comparison is not None
        both = frame.comparison.frames(frame)
        self._label_sides(frame.comparison)
        self.set_class(frame.headline is not None, "over")
        for pane in self.panes:
            if isinstance(pane, SlotsPane) and pane.side is not None:
                pane.other_run = both[1 - pane.side] if self.only_differences else None
            pane.draw(frame if pane.side is None else both[pane.side], view, palette)

    def _label_sides(self, comparison: RunComparison) -> None:
        """Name the policy of each side in its titles, and mark the side in front."""
        for pane in self.panes:
            if pane.side is None:
                continue
            policy = printable(comparison.figures[pane.side].policy)
            pane.set_class(pane.side == comparison.lead, "front")
            pane.set_class(pane.side != comparison.lead, "behind")
            pane.title_suffix = f" · {policy}"

    def show_pane(self, name: str, view: View) -> Pane:
        """Details give way to the figures if nothing is selected, or if they have the focus."""
        nothing = view.job is None and view.node is None
        if name == "detail" and (nothing or self.front_pane(DetailPane, view).has_focus):
            name = "figures"
        self.bring_up(name)
        if name in ("log", "detail"):
            for each in ("log", "detail"):
                self.query_one(f"#compare-{each}").set_class(each == name, "shown")
        found = self.query_one(f"#compare-{name}")
        return found if isinstance(found, Pane) else found.query(Pane)[view.lead]


def _pane_of_each_side(kind: Callable[..., Pane], name: str) -> Iterator[Pane]:
    for side in range(2):
        pane = kind(id=f"compare-{name}-{side}")
        pane.side = side
        yield pane
