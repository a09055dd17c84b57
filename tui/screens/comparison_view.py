"""Two runs beside each other: the panes of both, left the first, right the second."""

from collections.abc import Callable, Iterator

from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from callboard.journal.replay.frame import RunComparison, RunInfo
from callboard.journal.tell.names import printable
from callboard.tui.panels.comparison_charts import ComparisonChartsPane
from callboard.tui.panels.comparison_figures import ComparisonFiguresPane
from callboard.tui.panels.comparison_jobs import ComparisonJobsPane
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slots import SlotsPane

COMPARISON_LOWER = ("jobs", "log", "detail", "figures", "charts")
"""What shares the lower part of a small screen; on a large one events and detail share a row."""


class ComparisonView(Container):
    """All panes of a pair of runs.  Those of one run have its `side`.

    Where there is room, both sides are there; else only the one in front.
    """

    def compose(self) -> ComposeResult:
        with Horizontal(id="pair-slots"):
            yield from _both(SlotsPane, "slots")
        with Horizontal(id="pair-table"):
            yield ComparisonJobsPane(id="pair-jobs")
            yield ComparisonFiguresPane(id="pair-figures")
        with Horizontal(id="pair-log"):
            yield from _both(LogPane, "log")
        with Horizontal(id="pair-detail"):
            yield from _both(DetailPane, "detail")
        yield ComparisonChartsPane(id="pair-charts")

    def on_mount(self) -> None:
        for name in ("log", "jobs"):
            self.show_pane(name, 0)

    def set_run(self, run: RunInfo) -> None:
        """Tell the panes what is being run."""
        for slots in self.query(SlotsPane):
            slots.set_run(run)

    def show_pane(self, name: str, lead: int) -> Pane:
        """The pane by its name, the one in front if both runs have it; shown in the place that it
        shares with others.
        """
        if name in COMPARISON_LOWER:
            for each in COMPARISON_LOWER:
                self.set_class(each == name, f"with-{each}")
        if name in ("log", "detail"):
            for each in ("log", "detail"):
                self.query_one(f"#pair-{each}").set_class(each == name, "told")
        found = self.query_one(f"#pair-{name}")
        return found if isinstance(found, Pane) else found.query(Pane)[lead]

    def label_sides(self, comparison: RunComparison) -> None:
        """Say which run is whose, and which is in front."""
        for pane in self.query(Pane):
            if pane.side is None:
                continue
            policy = printable(comparison.figures[pane.side].policy)
            pane.set_class(pane.side == comparison.lead, "front")
            pane.set_class(pane.side != comparison.lead, "behind")
            pane.title_suffix = f" · {policy}"
            if isinstance(pane, SlotsPane):
                pane.border_title = f"{pane.key} {policy}"


def _both(kind: Callable[..., Pane], name: str) -> Iterator[Pane]:
    """A pane for each side."""
    for side in range(2):
        pane = kind(id=f"pair-{name}-{side}")
        pane.side = side
        yield pane
