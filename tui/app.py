"""The screen: its panes, and what keys and clicks choose to see."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.geometry import Size as Extent
from textual.screen import Screen
from textual.widget import Widget

from callboard.actors.vocabulary.events import Importance
from callboard.journal.replay.frame import COMPARISON_SORT_KEYS, JobSortKey
from callboard.journal.replay.source import GoToEvent, Source
from callboard.scheduler.model import JobId, NodeId
from callboard.tui import themes
from callboard.tui.hand_app import HandApp
from callboard.tui.keymap import COMMANDS
from callboard.tui.palette import DARK, Palette
from callboard.tui.panels.charts import ChartsPane
from callboard.tui.panels.comparison_jobs import ComparisonJobsPane
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.jobs import JOB_COLUMNS, JobsPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slot_layout import CellSize
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.panels.status_line import KeysLine, StatusLine
from callboard.tui.panels.timebar import TimeBar
from callboard.tui.screens.comparison_view import ComparisonView
from callboard.tui.screens.dialogs import AskScreen, HelpScreen
from callboard.tui.screens.event_kinds import KindScreen
from callboard.tui.screenshot import screenshot_path, svg_of

WIDE = 120
"""From so many columns and so many lines on, all panes are there at once."""

TALL = 36
_FROM_THE_LEAST = (JobSortKey.ID, JobSortKey.NAME, JobSortKey.POOL, JobSortKey.SCORE)
"""What the jobs are sorted by from the least on; by all else from the most."""

_LOWER = ("jobs", "log", "detail", "charts")


class CallboardApp(HandApp):
    """A run on the screen.  `ticking` False leaves time to whoever calls `tick`, as tests do."""

    CSS_PATH: ClassVar = ["app.tcss", "pair.tcss"]
    TITLE = "callboard"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(each.keys, each.action, each.word or each.help, show=False) for each in COMMANDS),
        Binding("up", "cursor(0, -1)", show=False),
        Binding("down", "cursor(0, 1)", show=False),
        Binding("left", "cursor(-1, 0)", show=False),
        Binding("right", "cursor(1, 0)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter", "enter", show=False),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, source: Source, *, theme: str = "dark", ticking: bool = True) -> None:
        super().__init__(source, ticking=ticking)
        self._palettes = themes.register_themes(self, theme)

    @property
    def palette(self) -> Palette:
        return self._palettes["dark" if self.current_theme.dark else "light"]

    def compose(self) -> ComposeResult:
        yield StatusLine(self.player, id="status")
        with Container(id="stage"):
            with Horizontal(id="upper"):
                yield SlotsPane(id="slots")
                yield JobsPane(id="jobs")
            with Horizontal(id="lower"):
                yield LogPane(id="log")
                yield DetailPane(id="detail")
            yield ChartsPane(id="charts")
        yield ComparisonView(id="pair")
        yield TimeBar(id="time")
        yield KeysLine(id="keys", live=self.source.live)

    def on_mount(self) -> None:
        self._lay_out(self.size)
        self.query_one("#jobs").focus()
        self.begin()

    def measure(self) -> None:
        jobs: JobsPane | ComparisonJobsPane
        jobs = self.pane_in_use(ComparisonJobsPane) if self.paired else self.pane_in_use(JobsPane)
        self.set_view(
            columns=self.query_one(TimeBar).columns,
            log_rows=self.pane_in_use(LogPane).rows,
            jobs_rows=jobs.rows,
            with_fair_shares=isinstance(jobs, JobsPane) and jobs.with_fair_shares,
            lane_columns=self.pane_in_use(DetailPane).lane_columns,
            lane_rows=self.pane_in_use(DetailPane).lane_rows,
        )
        view = self.view
        jobs.job, jobs.sorted_by, jobs.reverse = view.job, view.jobs_key, view.jobs_reverse
        for slots in self.query(SlotsPane):
            slots.choose(view.job)
        told = view.log_level, view.log_of_selection, view.filter, view.log_back, view.log_kind
        for log in self.query(LogPane):
            log.about(*told)
        inside = "jobs in either system" if self.paired else "jobs in the system"
        every = "all jobs" if view.all_jobs else inside
        jobs.border_title = f"2 {every}{f', /{view.filter}' if view.filter else ''}"

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size)
        self.call_after_refresh(self.ask)

    def on_pane_refitted(self) -> None:
        """A pane takes its place only after the screen has taken its own."""
        seen = self.view
        self.measure()
        if self.view != seen:
            self.ask()

    def _lay_out(self, size: Extent) -> None:
        """All panes where there is room, else the slots and one other."""
        wide = size.width >= WIDE and size.height >= TALL
        self.screen.set_class(not wide, "-small")
        if not wide and not any(self.query_one(f"#{name}").has_class("shown") for name in _LOWER):
            self.query_one("#jobs").add_class("shown")

    # Choosing.

    def action_cursor(self, across: int, down: int) -> None:
        match self.focused:
            case SlotsPane() as slots:
                slots.move_cursor(across, down)
            case JobsPane() | ComparisonJobsPane() | LogPane() as pane if down:
                pane.move_cursor(down)
            case DetailPane() as detail:
                detail.scroll_facts(down)
            case ChartsPane() if across:
                self.action_scrub(across)
            case _:
                pass

    def action_page(self, pages: int) -> None:
        match self.focused:
            case JobsPane() | ComparisonJobsPane() as jobs:
                self.update_view(jobs_top=max(self.view.jobs_top + pages * jobs.rows, 0))
            case LogPane() as log:
                self._scroll_log(-pages * log.rows)
            case SlotsPane() as slots:
                slots.scroll_relative(y=pages * slots.size.height, animate=False)
            case _:
                pass

    def action_enter(self) -> None:
        log = self.pane_in_use(LogPane)
        if isinstance(self.focused, SlotsPane):
            self.focused.enter_node()
        elif self.focused is log and log.chosen is not None:
            self.player.playing = False
            self.set_view(log_back=0)
            self.ask(GoToEvent(log.chosen))

    def select(
        self, *, job: JobId | None = None, node: NodeId | None = None, slot: int | None = None
    ) -> None:
        """Select a job or a node or a slot of it, or nothing."""
        for slots in self.query(SlotsPane):
            slots.cursor, slots.slot = node, slot
        back = 0 if self.view.log_of_selection else self.view.log_back
        self.update_view(job=job, node=node, slot=slot, log_back=back)

    def on_jobs_pane_chosen(self, event: JobsPane.Chosen) -> None:
        self.select(job=event.job)

    def on_jobs_pane_scrolled(self, event: JobsPane.Scrolled) -> None:
        self.update_view(jobs_top=max(self.view.jobs_top + event.by, 0))

    def on_jobs_pane_sort_by(self, event: JobsPane.SortBy) -> None:
        turned = event.key is self.view.jobs_key and not self.view.jobs_reverse
        self.update_view(jobs_key=event.key, jobs_reverse=turned)

    def on_slots_pane_chosen(self, event: SlotsPane.Chosen) -> None:
        """A click on a slot is for its job; on one of the job that is selected, for the slot."""
        if event.job is not None and event.job != self.view.job:
            self.select(job=event.job)
        else:
            self.select(job=event.job, node=event.node, slot=event.slot)

    def on_log_pane_chosen(self, event: LogPane.Chosen) -> None:
        self.pane_in_use(LogPane).chosen = event.line.index
        if event.line.job is not None and not self.view.log_of_selection:
            self.select(job=event.line.job)
            for slots in self.query(SlotsPane):
                slots.cursor = event.line.node
        elif event.line.node is not None and not self.view.log_of_selection:
            self.select(node=event.line.node)
        else:
            self.ask()

    def on_log_pane_scrolled(self, event: LogPane.Scrolled) -> None:
        self._scroll_log(event.by)

    def _scroll_log(self, by: int) -> None:
        if by > 0 and self.frame is not None and self.frame.log_top:
            return
        self.update_view(log_back=max(self.view.log_back + by, 0))

    # Looking.

    def action_focus_pane(self, name: str) -> None:
        if self.paired:
            pane = self.query_one(ComparisonView).show_pane(self.pair_name(name), self.view.lead)
        else:
            if self.screen.has_class("-small") and name in _LOWER:
                for each in _LOWER:
                    self.query_one(f"#{each}").set_class(each == name, "shown")
            pane = self.query_one(f"#{name}", Pane)
        pane.focus()
        if self.screen.has_class("-alone"):
            self._leave_alone(pane)
        self.call_after_refresh(self.ask)

    def action_maximise(self) -> None:
        alone = None if self.screen.has_class("-alone") else self.focused
        self._leave_alone(alone)
        self.call_after_refresh(self.ask)

    def _leave_alone(self, pane: Widget | None) -> None:
        """Show one pane between the first line and the time bar, or all again."""
        self.screen.set_class(pane is not None, "-alone")
        kept = () if pane is None else (pane, *pane.ancestors)
        for each in self.query("#stage, #stage *, #pair, #pair *"):
            each.set_class(each in kept, "alone")

    def action_cell_size(self) -> None:
        slots = self.pane_in_use(SlotsPane)
        sizes = (None, *CellSize)
        asked = sizes[(sizes.index(slots.size_asked) + 1) % len(sizes)]
        for each in self.query(SlotsPane):
            each.size_asked = asked
        name = "what fits" if slots.size_asked is None else slots.size_asked.name.lower()
        self.notify(f"slots: {name}", timeout=2)

    def action_sort(self, steps: int) -> None:
        if steps:
            keys = list(dict.fromkeys(column.key for column in JOB_COLUMNS))
            if self.paired:
                keys = list(COMPARISON_SORT_KEYS)
            at = keys.index(self.view.jobs_key) if self.view.jobs_key in keys else 0
            key = keys[(at + steps) % len(keys)]
            self.update_view(jobs_key=key, jobs_reverse=key not in _FROM_THE_LEAST)
        else:
            self.update_view(jobs_reverse=not self.view.jobs_reverse)

    def action_all_jobs(self) -> None:
        self.update_view(all_jobs=not self.view.all_jobs, jobs_top=0)

    def action_log_level(self) -> None:
        level = Importance((self.view.log_level + 1) % len(Importance))
        self.update_view(log_level=level, log_back=0)

    def action_log_of_selection(self) -> None:
        if self.view.job is None and self.view.node is None:
            self.notify("select a job or a node first", timeout=3)
            return
        self.update_view(log_of_selection=not self.view.log_of_selection, log_back=0)

    def action_ask_kind(self) -> None:
        def apply(kind: str | None) -> None:
            if kind is not None:
                self.update_view(log_kind=kind, log_back=0)

        self.push_screen(KindScreen(self.view.log_kind), apply)

    def action_ask_filter(self) -> None:
        question = "Show only jobs and events that contain this; !text leaves those out"

        def apply(text: str | None) -> None:
            if text is not None:
                self.update_view(filter=text.strip(), jobs_top=0, log_back=0)

        self.push_screen(AskScreen(question, self.view.filter, str), apply)

    def action_clear(self) -> None:
        """One thing after the other: the pane alone, what is scrolled back, selection, filter."""
        view = self.view
        if self.screen.has_class("-alone"):
            self.action_maximise()
        elif view.log_back:
            self.update_view(log_back=0)
        elif view.slot is not None:
            self.select(node=view.node)
        elif view.job is not None or view.node is not None:
            for log in self.query(LogPane):
                log.chosen = None
            self.set_view(log_of_selection=False)
            self.select()
        elif view.log_kind:
            self.update_view(log_kind="")
        elif view.filter:
            self.update_view(filter="")

    # The screen.

    def action_theme(self) -> None:
        self.theme = "light" if self.current_theme.dark else "dark"
        self.ask()

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    def action_picture(self) -> None:
        """Into the working folder; in a browser, as a download."""
        run = self.query_one(StatusLine).run
        name = run.name if run is not None else self.title
        text = svg_of(self, self.palette.ground, name)
        at_ms = self.frame.at_ms if self.frame is not None else 0
        path = screenshot_path(name, at_ms, Path.cwd())
        if self.is_web:
            self.deliver_text(io.StringIO(text), save_filename=path.name, mime_type="image/svg+xml")
            return
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            self.notify(f"not saved: {error.strerror}", severity="error", timeout=5)
        else:
            self.notify(f"saved as {path.name}", timeout=5)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"edge": DARK.edge}

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """The palette offers what the keys do, and the menu of acts, each with its keys."""
        for each in COMMANDS:
            title = f"{each.help[:1].upper()}{each.help[1:]}"

            def run(action: str = each.action) -> None:
                self.call_later(self.run_action, action)

            yield SystemCommand(title, f"key: {each.shown}", run)
        yield from self.interventions_by_name()

    async def action_quit(self) -> None:
        self.source.close()
        self.exit()
