"""One run on the screen: its panes."""

from collections.abc import Mapping
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widget import Widget

from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.palette import Palette
from callboard.tui.panels.charts import ChartsPane, most_jobs_at_once
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.jobs import JobsPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.result import ResultPane
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.screens.pane_heights import PaneWants, small_height, wide_heights

AnyPane = TypeVar("AnyPane", bound=Pane)


class RunView(Container):
    """The panes between the first line and the time bar."""

    lower: ClassVar[tuple[str, ...]] = ("jobs", "log", "detail", "charts")
    """The panes that share one place on a small screen."""
    _heights: Mapping[str, int | None] = {}
    _drawn: tuple[Frame, View] | None = None

    def compose(self) -> ComposeResult:
        yield ResultPane(id="result")
        with Horizontal(id="columns"):
            with Vertical(id="left"):
                yield SlotsPane(id="slots")
                yield LogPane(id="log")
            with Vertical(id="right"):
                yield JobsPane(id="jobs")
                yield DetailPane(id="detail")
        yield ChartsPane(id="charts")

    def on_mount(self) -> None:
        self.show_pane("jobs", View())

    @cached_property
    def panes(self) -> list[Pane]:
        return list(self.query(Pane))

    def front_pane(self, kind: type[AnyPane], view: View) -> AnyPane:
        """The pane of a kind; of two sides the one in front."""
        panes = (pane for pane in self.panes if isinstance(pane, kind))
        return next(pane for pane in panes if pane.side in (None, view.lead))

    def view_fields(self, view: View) -> dict[str, int]:
        panes = (pane for pane in self.panes if pane.side in (None, view.lead))
        return {field: room for pane in panes for field, room in pane.view_fields().items()}

    def draw(self, frame: Frame, view: View, palette: Palette) -> None:
        for pane in self.panes:
            pane.draw(frame, view, palette)
        self._drawn = frame, view
        self.fit_pane_heights(frame, view)

    def on_resize(self) -> None:
        """A caption has come, or one of another height."""
        if self._drawn is not None:
            self.fit_pane_heights(*self._drawn)

    def fit_pane_heights(self, frame: Frame, view: View) -> None:
        """Give each pane the lines that it has use for."""
        slots, charts = self.query_one(SlotsPane), self.query_one(ChartsPane)
        jobs = frame.jobs_found if view.all_jobs or frame.over else most_jobs_at_once(frame)
        wants = PaneWants(slots.wanted_lines, jobs, charts.wanted_lines(1), slots.has_many_nodes)
        total = self.size.height - self.query_one(ResultPane).lines_taken
        heights: dict[str, int | None] = dict.fromkeys(("slots", *self.lower))
        main = self.screen
        if main.has_class("-small") and not main.has_class("-alone"):
            shown = next(each for each in self.lower if self.has_class(f"with-{each}"))
            heights[shown] = below = small_height(total, wants, shown)
            heights["slots"] = total - below
        elif not main.has_class("-alone"):
            heights |= wide_heights(total, wants)._asdict()
        for name, height in heights.items():
            if self._heights.get(name) != height:  # setting it lays the whole screen out anew
                self.query_one(f"#{name}").styles.height = height
        self._heights = heights

    def show_pane(self, name: str, view: View) -> Pane:  # noqa: ARG002
        """Bring up the pane of that name, and return it."""
        self.bring_up(name)
        return self.query_one(f"#{name}", Pane)

    def bring_up(self, name: str) -> None:
        """On a small screen, show this one of the lower panes."""
        if name in self.lower:
            for each in self.lower:
                self.set_class(each == name, f"with-{each}")

    def name_other_panes(self, small: bool) -> None:
        """Each of the panes that share one place says which others there are, if it is small."""
        lower = self._lower_panes()
        named = dict.fromkeys((pane.key, pane.heading) for pane in lower)
        for pane in lower:
            others = (each for each in named if each != (pane.key, pane.heading))
            told = (
                f"[{key}] {' or '.join(heading for _, heading in of_key)}"
                for key, of_key in groupby(others, itemgetter(0))
            )
            pane.others = "  ".join(told) if small else ""

    def _lower_panes(self) -> list[Pane]:
        lower = [p for p in self.panes if p.key and not isinstance(p, SlotsPane)]
        return sorted(lower, key=lambda pane: pane.key)

    def zoom(self, pane: Widget | None) -> None:
        """Show one pane alone, or all again."""
        kept = () if pane is None else (pane, *pane.ancestors)
        for each in (self, *self.query("*")):
            each.set_class(each in kept, "alone")
