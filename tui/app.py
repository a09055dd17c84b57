"""The screen: it asks a source for frames, shows them in its panes, and turns keys into questions.

All that a person has chosen is in a `View`; all that is shown is in the `Frame` that answers it.
Nothing else is remembered here but how fast time goes.
"""

import gc
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.geometry import Size as Extent
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

from scheduler.model import JobId, NodeId
from tui.commands import COMMANDS
from tui.frame import Frame, JobKey, LogLevel, View
from tui.palette import DARK, LIGHT, Palette
from tui.panels.charts import ChartsPane
from tui.panels.detail import DetailPane
from tui.panels.jobs import COLUMNS, JobsPane
from tui.panels.lines import KeysLine, StatusLine
from tui.panels.log import LogPane
from tui.panels.pane import Pane
from tui.panels.seating import Size
from tui.panels.slots import SlotsPane
from tui.panels.timebar import TimeBar
from tui.player import Player
from tui.recorded import RecordedSource
from tui.remote import RemoteSource
from tui.screens import AskScreen, HelpScreen
from tui.source import (
    GoTo,
    GoToEvent,
    Move,
    Play,
    Request,
    Source,
    Stay,
    Step,
    StepKind,
)
from tui.words import parse_time

FRAMES_A_SECOND = 20
WIDE = 120
"""From so many columns and so many lines on, all panes are there at once."""

TALL = 36
_READ_AT_ONCE = 4_000
_READ_PAUSE_S = 0.005
_SAID_AFTER_S = 0.3
_OWED_MOST_S = 0.25
"""A source that takes longer than this for a frame cannot keep up, and time goes slower."""
_LOWER = ("jobs", "log", "detail", "charts")


def _theme(name: str, palette: Palette, dark: bool) -> Theme:
    return Theme(
        name=name,
        primary=palette.accent,
        accent=palette.accent,
        foreground=palette.text,
        background=palette.ground,
        surface=palette.ground,
        panel=palette.raised,
        success=palette.good,
        warning=palette.taken,
        error=palette.fault,
        dark=dark,
    )


THEMES = {"dark": _theme("dark", DARK, True), "light": _theme("light", LIGHT, False)}


class CallboardApp(App[None]):
    """A run on the screen.  `ticking` False leaves time to whoever calls `tick`, as tests do."""

    CSS_PATH = "app.tcss"
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
        super().__init__()
        for each in THEMES.values():
            self.register_theme(each)
        self.theme = theme
        self.source = source
        self.player = Player()
        self.view = View()
        self.frame: Frame | None = None
        self._ticking = ticking
        self._waiting = 0
        """How many questions have not been answered."""
        self._ticked_s = 0.0
        self._owed_s = 0.0
        """Real time that has passed since the last frame was asked for."""
        self._patience_s = 0.0
        """How long an answer has been waited for, while time stands still."""
        self.trouble: Exception | None = None
        """What ended the screen, if it was not the person before it."""

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
        yield TimeBar(id="time")
        yield KeysLine(id="keys")

    def on_mount(self) -> None:
        self._lay_out(self.size)
        self.query_one("#jobs").focus()
        if isinstance(self.source, RemoteSource):
            self.source.on_loss = self._lost
        self.call_after_refresh(self.ask, GoTo(0))
        if self._ticking:
            self._ticked_s = time.monotonic()
            self.set_interval(1 / FRAMES_A_SECOND, self._tick_now)
            if isinstance(self.source, RecordedSource):
                self._read_on()
            # Pauses of a whole collection (0.1 s) are seen; nearly nothing here is a cycle.
            gc.collect()
            gc.freeze()
            gc.set_threshold(20_000, 50, 500)

    def _lost(self) -> None:
        """The process of the run has gone away."""
        self.trouble = RuntimeError("the process that played the run has ended unexpectedly")
        self.exit()

    def _read_on(self) -> None:
        """Read the next part of the journal; the parts leave room for keys between them."""
        assert isinstance(self.source, RecordedSource)
        status = self.query_one(StatusLine)
        try:
            more = self.source.read_on(_READ_AT_ONCE)
        except Exception as error:  # for whoever started the screen to explain
            self.trouble = error
            self.exit()
            return
        if more:
            status.say(f"reading, {len(self.source.tape):,} events so far")
            self.set_timer(_READ_PAUSE_S, self._read_on)
        else:
            status.say("")
        self.ask()

    # Asking and showing.

    def ask(self, move: Move | None = None) -> None:
        """Ask for a frame, of the present moment unless told otherwise."""
        self._measure()
        self._waiting += 1
        self.source.ask(Request(move or Stay(), self.view), self.answered)

    def answered(self, frame: Frame) -> None:
        """Show a frame."""
        self._waiting -= 1
        if not self.is_running:
            return
        if self._patience_s > _SAID_AFTER_S and not self._waiting:
            self.query_one(StatusLine).say("")
        self._patience_s = 0.0
        self.frame = frame
        if frame.run is not None:
            self.query_one(StatusLine).run = frame.run
            self.change(with_run=False)
        if self.player.playing and frame.complete and frame.at_ms >= frame.end_ms:
            self.player.playing = False
        if frame.jobs_top != self.view.jobs_top:
            self.change(jobs_top=frame.jobs_top)
        flat_out = self.player.playing and self.player.speed is None
        if self.source.live and flat_out and not self._waiting:
            self.ask(Play(None))  # the run goes on while this frame is drawn
        for pane in self.query(Pane):
            pane.show(frame)

    def change(self, **changes: Any) -> None:
        """Change the view; it is asked for by whoever wants it shown."""
        self.view = msgspec.structs.replace(self.view, **changes)

    def look(self, **changes: Any) -> None:
        """Change the view and show it."""
        self.change(**changes)
        self.ask()

    def _measure(self) -> None:
        """How much the panes have room for."""
        log = self.query_one(LogPane)
        jobs = self.query_one(JobsPane)
        view = self.view
        self.change(
            columns=self.query_one(TimeBar).columns,
            log_rows=log.rows,
            jobs_rows=jobs.rows,
            lane_columns=self.query_one(DetailPane).lane_columns,
        )
        jobs.job, jobs.sorted_by, jobs.reverse = view.job, view.jobs_key, view.jobs_reverse
        self.query_one(SlotsPane).choose(view.job)
        log.about(view.log_level, view.log_of_selection, view.filter, view.log_back)
        every = "all jobs" if view.all_jobs else "jobs in the system"
        jobs.border_title = f"2 {every}{f', /{view.filter}' if view.filter else ''}"

    def _tick_now(self) -> None:
        now_s = time.monotonic()
        passed_s, self._ticked_s = now_s - self._ticked_s, now_s
        self.tick(passed_s)

    def tick(self, seconds: float) -> None:
        """Let so much real time pass.  Nothing is asked while an answer is still to come."""
        if self._waiting and not self.player.playing:
            self._patience_s += seconds
            if self._patience_s > _SAID_AFTER_S:
                self.query_one(StatusLine).say("simulating …")
        if not self.player.playing:
            return
        self._owed_s = min(self._owed_s + seconds, _OWED_MOST_S)
        if not self._waiting:
            owed_s, self._owed_s = self._owed_s, 0.0
            self.ask(self.player.play(owed_s))

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size)
        self.call_after_refresh(self.ask)

    def _lay_out(self, size: Extent) -> None:
        """All panes where there is room, else the slots and one other."""
        wide = size.width >= WIDE and size.height >= TALL
        self.screen.set_class(not wide, "-small")
        if not wide and not any(self.query_one(f"#{name}").has_class("shown") for name in _LOWER):
            self.query_one("#jobs").add_class("shown")

    # Time.

    def action_play(self) -> None:
        frame, player = self.frame, self.player
        if frame and frame.complete and frame.at_ms >= frame.end_ms and not player.playing:
            player.playing = True
            self.ask(GoTo(0))
            return
        player.playing = not player.playing
        self.ask()

    def action_faster(self, steps: int) -> None:
        self.player.faster(steps)
        self.ask()

    def action_flat_out(self) -> None:
        self.player.set_speed(60 if self.player.speed is None else None)
        self.ask()

    def action_step(self, kind: str, back: bool = False) -> None:
        self.player.playing = False
        self.ask(Step(StepKind[kind.upper()], back))

    def action_scrub(self, hundredths: int) -> None:
        if self.frame is not None:
            step_ms = max(self.frame.end_ms // 100, 1)
            self.ask(GoTo(max(self.frame.at_ms + hundredths * step_ms, 0)))

    def action_seek_to(self, where: str) -> None:
        self.ask(GoTo(0 if where == "start" else None))

    def on_time_bar_sought(self, event: TimeBar.Sought) -> None:
        self.ask(GoTo(event.at_ms))

    def action_ask_time(self) -> None:
        question = "Go to which time?  7:30, 1:07:30, 90s, 1h30m"

        def go(text: str | None) -> None:
            if text is not None:
                self.ask(GoTo(parse_time(text)))

        self.push_screen(AskScreen(question, "", parse_time), go)

    # Choosing.

    def action_cursor(self, across: int, down: int) -> None:
        match self.focused:
            case SlotsPane() as slots:
                slots.move_cursor(across, down)
            case JobsPane() | LogPane() as pane if down:
                pane.move_cursor(down)
            case _:
                pass

    def action_page(self, pages: int) -> None:
        match self.focused:
            case JobsPane() as jobs:
                self.look(jobs_top=max(self.view.jobs_top + pages * jobs.rows, 0))
            case LogPane() as log:
                self._scroll_log(-pages * log.rows)
            case SlotsPane() as slots:
                slots.scroll_relative(y=pages * slots.size.height, animate=False)
            case _:
                pass

    def action_enter(self) -> None:
        log = self.query_one(LogPane)
        if self.focused is log and log.chosen is not None:
            self.player.playing = False
            self.change(log_back=0)
            self.ask(GoToEvent(log.chosen))

    def select(self, *, job: JobId | None = None, node: NodeId | None = None) -> None:
        """Select a job or a node, or neither."""
        self.query_one(SlotsPane).cursor = node
        self.look(
            job=job, node=node, log_back=0 if self.view.log_of_selection else self.view.log_back
        )

    def on_jobs_pane_chosen(self, event: JobsPane.Chosen) -> None:
        self.select(job=event.job)

    def on_jobs_pane_scrolled(self, event: JobsPane.Scrolled) -> None:
        self.look(jobs_top=max(self.view.jobs_top + event.by, 0))

    def on_jobs_pane_sort_by(self, event: JobsPane.SortBy) -> None:
        turned = event.key is self.view.jobs_key and not self.view.jobs_reverse
        self.look(jobs_key=event.key, jobs_reverse=turned)

    def on_slots_pane_chosen(self, event: SlotsPane.Chosen) -> None:
        if event.job is not None:
            self.select(job=event.job)
        else:
            self.select(node=event.node)

    def on_log_pane_chosen(self, event: LogPane.Chosen) -> None:
        self.query_one(LogPane).chosen = event.line.index
        if event.line.job is not None and not self.view.log_of_selection:
            self.select(job=event.line.job)
        elif event.line.node is not None and not self.view.log_of_selection:
            self.select(node=event.line.node)
        else:
            self.ask()

    def on_log_pane_scrolled(self, event: LogPane.Scrolled) -> None:
        self._scroll_log(event.by)

    def _scroll_log(self, by: int) -> None:
        if by > 0 and self.frame is not None and self.frame.log_top:
            return
        self.look(log_back=max(self.view.log_back + by, 0))

    # Looking.

    def action_focus_pane(self, name: str) -> None:
        if self.screen.has_class("-small") and name in _LOWER:
            for each in _LOWER:
                self.query_one(f"#{each}").set_class(each == name, "shown")
        self.query_one(f"#{name}").focus()
        if self.screen.has_class("-alone"):
            self._leave_alone(self.query_one(f"#{name}"))
        self.call_after_refresh(self.ask)

    def action_maximise(self) -> None:
        alone = None if self.screen.has_class("-alone") else self.focused
        self._leave_alone(alone)
        self.call_after_refresh(self.ask)

    def _leave_alone(self, pane: Widget | None) -> None:
        """Show one pane between the first line and the time bar, or all again."""
        self.screen.set_class(pane is not None, "-alone")
        kept = () if pane is None else (pane, *pane.ancestors)
        for each in self.query("#stage, #stage *"):
            each.set_class(each in kept, "alone")

    def action_cell_size(self) -> None:
        slots = self.query_one(SlotsPane)
        sizes = (None, *Size)
        slots.size_asked = sizes[(sizes.index(slots.size_asked) + 1) % len(sizes)]
        name = "what fits" if slots.size_asked is None else slots.size_asked.name.lower()
        self.notify(f"slots: {name}", timeout=2)

    def action_sort(self, steps: int) -> None:
        if steps:
            keys = list(dict.fromkeys(column.key for column in COLUMNS))
            key = keys[(keys.index(self.view.jobs_key) + steps) % len(keys)]
            self.look(jobs_key=key, jobs_reverse=key not in (JobKey.ID, JobKey.NAME, JobKey.POOL))
        else:
            self.look(jobs_reverse=not self.view.jobs_reverse)

    def action_all_jobs(self) -> None:
        self.look(all_jobs=not self.view.all_jobs, jobs_top=0)

    def action_log_level(self) -> None:
        level = LogLevel((self.view.log_level + 1) % len(LogLevel))
        self.look(log_level=level, log_back=0)

    def action_log_of_selection(self) -> None:
        if self.view.job is None and self.view.node is None:
            self.notify("select a job or a node first", timeout=3)
            return
        self.look(log_of_selection=not self.view.log_of_selection, log_back=0)

    def action_ask_filter(self) -> None:
        question = "Show only jobs and events that contain this; !text leaves those out"

        def apply(text: str | None) -> None:
            if text is not None:
                self.look(filter=text.strip(), jobs_top=0, log_back=0)

        self.push_screen(AskScreen(question, self.view.filter, str), apply)

    def action_clear(self) -> None:
        """One thing after the other: the pane alone, what is scrolled back, selection, filter."""
        view = self.view
        if self.screen.has_class("-alone"):
            self.action_maximise()
        elif view.log_back:
            self.look(log_back=0)
        elif view.job is not None or view.node is not None:
            self.query_one(LogPane).chosen = None
            self.change(log_of_selection=False)
            self.select()
        elif view.filter:
            self.look(filter="")

    # The screen.

    def action_theme(self) -> None:
        self.theme = "light" if self.current_theme.dark else "dark"
        self.ask()

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    def action_picture(self) -> None:
        path = Path(self.save_screenshot(path=str(Path.cwd())))
        self.notify(f"saved as {path.name}", timeout=5)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """The palette offers what the keys do, each with its key."""
        for each in COMMANDS:
            title = f"{each.help[:1].upper()}{each.help[1:]}"

            def run(action: str = each.action) -> None:
                self.call_later(self.run_action, action)

            yield SystemCommand(title, f"key: {each.shown}", run)

    async def action_quit(self) -> None:
        self.source.close()
        self.exit()
