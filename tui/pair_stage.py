"""Two runs beside each other: the panes of both, left the first, right the second."""

from collections.abc import Callable, Iterator

from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from callboard.journal.names import printable
from callboard.tui.frame import Run, Versus
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.figures import FiguresPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pair_charts import PairChartsPane
from callboard.tui.panels.pair_jobs import PairJobsPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slots import SlotsPane

PAIR_LOWER = ("jobs", "log", "detail", "figures", "charts")
"""What shares the lower part of a small screen; on a large one events and detail share a row."""


class PairStage(Container):
    """All panes of a pair of runs.  Those of one run have its `side`.

    Where there is room, both sides are there; else only the one in front.
    """

    def compose(self) -> ComposeResult:
        with Horizontal(id="pair-slots"):
            yield from _both(SlotsPane, "slots")
        with Horizontal(id="pair-table"):
            yield PairJobsPane(id="pair-jobs")
            yield FiguresPane(id="pair-figures")
        with Horizontal(id="pair-log"):
            yield from _both(LogPane, "log")
        with Horizontal(id="pair-detail"):
            yield from _both(DetailPane, "detail")
        yield PairChartsPane(id="pair-charts")

    def on_mount(self) -> None:
        for name in ("log", "jobs"):
            self.bring_up(name, 0)

    def settle(self, run: Run) -> None:
        """Tell the panes what is being run."""
        for slots in self.query(SlotsPane):
            slots.settle(run)

    def bring_up(self, name: str, lead: int) -> Pane:
        """The pane by its name, the one in front if both runs have it; shown in the place that it
        shares with others.
        """
        if name in PAIR_LOWER:
            for each in PAIR_LOWER:
                self.set_class(each == name, f"with-{each}")
        if name in ("log", "detail"):
            for each in ("log", "detail"):
                self.query_one(f"#pair-{each}").set_class(each == name, "told")
        found = self.query_one(f"#pair-{name}")
        return found if isinstance(found, Pane) else found.query(Pane)[lead]

    def dress(self, versus: Versus) -> None:
        """Say which run is whose, and which is in front."""
        for pane in self.query(Pane):
            if pane.side is None:
                continue
            policy = printable(versus.figures[pane.side].policy)
            pane.set_class(pane.side == versus.lead, "front")
            pane.set_class(pane.side != versus.lead, "behind")
            pane.whose = f" · {policy}"
            if isinstance(pane, SlotsPane):
                pane.border_title = f"{pane.key} {policy}"


def _both(kind: Callable[..., Pane], name: str) -> Iterator[Pane]:
    """A pane for each side."""
    for side in range(2):
        pane = kind(id=f"pair-{name}-{side}")
        pane.side = side
        yield pane
