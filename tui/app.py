"""The screen: its panes, and the actions of keys and clicks.

`Playback` asks for frames and lets time pass, `InterventionFlow` changes the run, a `RunView` or a
`ComparisonView` shows one run or two.
"""

import asyncio
import gc
import io
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.geometry import Size as Extent
from textual.screen import Screen
from textual.widget import Widget

from callboard.actors.vocabulary.events import Importance
from callboard.experiments.live.intervention_menu import FormFields
from callboard.experiments.live.live_requests import Keep
from callboard.experiments.live.remote_source import RemoteSource
from callboard.journal.replay.colouring import FEW_JOBS
from callboard.journal.replay.frame import ColourBy, Frame, View
from callboard.journal.replay.palette import DARK, THEMES, Palette
from callboard.journal.replay.signs import COLOURED_BY
from callboard.journal.replay.source import GoTo, GoToEvent, Halt, Source, StepKind
from callboard.journal.tell.show import EVENT_KINDS
from callboard.journal.tell.time_format import parse_time
from callboard.scenarios.library_list import tour_names
from callboard.scenarios.tour import Tour
from callboard.scheduler.model import JobId, NodeId
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.tui.intervention_flow import InterventionFlow
from callboard.tui.jump import Jump, read_jump
from callboard.tui.key_queue import KeyQueue
from callboard.tui.keymap import COMMANDS, Keymap
from callboard.tui.panels.caption import Caption
from callboard.tui.panels.charts import Sought
from callboard.tui.panels.job_table import JobTablePane
from callboard.tui.panels.jobs import ASCENDING
from callboard.tui.panels.list_pane import ListPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slot_layout import CARD_NODES, CellSize
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.panels.status_line import KeysLine, StatusLine
from callboard.tui.panels.timebar import TimeBar
from callboard.tui.playback import Playback
from callboard.tui.saving import SaveFlow
from callboard.tui.screens.comparison_view import ComparisonView
from callboard.tui.screens.help import HelpScreen
from callboard.tui.screens.menus import FormScreen, MenuScreen, put_question
from callboard.tui.screens.run_view import RunView
from callboard.tui.screenshot import png_of, screenshot_path, svg_of
from callboard.tui.theme import next_theme, register_themes
from callboard.tui.tour_guide import TourGuide

FRAMES_A_SECOND = 20
WIDE, TALL = 120, 36
"""The least columns and lines for all panes at once."""

_TWO_SIDES = 80
"""The least columns for the slots of two small clusters side by side."""


class CallboardApp(App[None]):
    """A run, or two, on the screen.  Without `ticking` only `playback.tick` lets time pass.

    `recorded` says that the run goes into a journal, so that no change by hand is lost.
    """

    CSS_PATH: ClassVar = ["app.tcss", "comparison.tcss", "dialogs.tcss"]
    TITLE = "callboard"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                each.textual_keys, each.action, each.word or each.help, show=False, id=each.name
            )
            for each in COMMANDS
        ),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        source: Source,
        *,
        theme: str = "dark",
        ticking: bool = True,
        recorded: bool = False,
        tour: Tour | None = None,
        keymap: Keymap | None = None,
    ) -> None:
        super().__init__()
        self.keymap = keymap or Keymap()
        self.presenting = False
        """Whether it is shown to an audience."""
        self._one_pane = False
        """Whether one pane at a time was made large for an audience before a small screen."""
        self._recorded = recorded
        self.playback = Playback(source, self)
        self.failure: Exception | None = None
        """The error that ended the screen, if one did."""
        self.keys = KeyQueue(self, self.playback, self._handle_key)
        self._flow = InterventionFlow(self, self.playback)
        self._saving = SaveFlow(self, self.playback)
        self.guide = TourGuide(tour, self, self.playback) if tour is not None else None
        self._single, self._comparison = RunView(id="single"), ComparisonView(id="comparison")
        self._shown: RunView = self._single
        self._palettes = register_themes(self, theme)
        self._ticking = ticking
        self._ticked_s = 0.0

    @property
    def palette(self) -> Palette:
        return self._palettes[self.theme]

    @property
    def view(self) -> View:
        return self.playback.view

    @property
    def shows_two_runs(self) -> bool:
        """Whether two runs are shown."""
        return self._shown is self._comparison

    def compose(self) -> ComposeResult:
        first_steps = not self.playback.player.playing and self.guide is None
        yield StatusLine(self.playback, self.keymap if first_steps else None, id="status")
        yield self._single
        yield self._comparison
        yield Caption(id="caption")
        yield TimeBar(id="time")
        yield KeysLine(self.keymap, id="keys", live=self.playback.source.live)

    def on_mount(self) -> None:
        self.set_keymap(self.keymap.for_textual())
        for pane in self.query(Pane):
            pane.set_key(self.keymap.key_in_force(pane.key))
        self.query_one("#jobs").focus()
        self._arrange_for_size(self.size)
        if self.guide is not None:
            self.guide.begin()
        source = self.playback.source
        if isinstance(source, RemoteSource):
            lost = "the process that played the run has ended unexpectedly"
            source.on_loss = partial(self._exit_with_failure, RuntimeError(lost))
        self.call_after_refresh(self.playback.ask_frame)
        if self._ticking:
            self._ticked_s = time.monotonic()
            self.set_interval(1 / FRAMES_A_SECOND, self._tick_playback)
            self.read_on()
            # A full collection is a visible pause (0.1 s), and hardly anything here is a cycle.
            gc.collect()
            gc.freeze()
            gc.set_threshold(20_000, 50, 500)

    def _tick_playback(self) -> None:
        now_s = time.monotonic()
        passed_s, self._ticked_s = now_s - self._ticked_s, now_s
        self.playback.tick(passed_s)

    def read_on(self) -> None:
        """Read the next part of a journal, and go on with it in a moment."""
        try:
            pause_s = self.playback.read_on()
        except Exception as error:  # the caller of the app explains it
            self._exit_with_failure(error)
            return
        if pause_s is not None and self._ticking:
            self.set_timer(pause_s, self.read_on)

    def _exit_with_failure(self, error: Exception) -> None:
        self.failure = error
        self.exit()

    # Keys.

    async def on_event(self, event: events.Event) -> None:
        """Keys wait for each other; everything else is Textual's."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self.keys.take_key(event)
        else:
            await super().on_event(event)

    async def on_key_follower(self) -> None:
        await self.keys.note_follower_arrived()

    async def _handle_key(self, key: events.Key) -> None:
        """Without a dialog do it here and now; a dialog's own keys go their usual way."""
        self.query_one(StatusLine).remove_hint()
        bound = self.screen.active_bindings.get(key.key)
        if len(self.screen_stack) > 1 or bound is None:
            await super().on_event(key)
        elif bound.enabled:
            await self.run_action(bound.binding.action, bound.node)
            if self.guide is not None and bound.binding.id is not None:
                self.guide.turn_page_on_key(self.keymap.usual[bound.binding.id])

    # What `Playback` uses.

    def view_fields(self, view: View) -> dict[str, int]:
        """The room in the panes, as fields of a `View`."""
        return {**self.query_one(TimeBar).view_fields(), **self._shown.view_fields(view)}

    def show(self, frame: Frame) -> None:
        if frame.run is not None:
            for slots in self.query(SlotsPane):
                slots.set_run(frame.run)
        if (frame.comparison is not None) is not self.shows_two_runs:
            self._toggle_comparison()
            self._end_mismatched_tour()
        for each in (StatusLine, TimeBar, KeysLine):
            self.query_one(each).draw(frame, self.view, self.palette)
        self._shown.draw(frame, self.view, self.palette)
        self._update_tour_or_caption(frame)

    def _update_tour_or_caption(self, frame: Frame) -> None:
        """A tour's step may have come; without one an audience reads the last headline."""
        if self.guide is not None:
            self.guide.note_frame(frame)
        elif self.presenting:
            told = [line.text for line in frame.log if line.level is Importance.HEADLINE]
            self.show_caption(told[-1] if told else "", "the latest event")

    def show_caption(self, text: str, title: str) -> None:
        """Show a text in the strip above the time bar; empty for none."""
        self.query_one(Caption).show_text(text, title)

    def _toggle_comparison(self) -> None:
        """Show two runs from now on, or one again."""
        self._shown = self._single if self.shows_two_runs else self._comparison
        self._main_screen.set_class(self.shows_two_runs, "-paired")
        self._arrange_for_size(self.size)
        self.playback.set_view(lead=0)
        self.action_focus_pane("slots" if self._one_pane else "jobs")

    def _end_mismatched_tour(self) -> None:
        """A tour tells of as many runs as it has policies."""
        if self.guide is not None and len(self.guide.tour.policies) != 1 + self.shows_two_runs:
            self.guide = None
            self.show_caption("", "")
            self.show_message(
                f"the tour is over: it tells of {'one run' if self.shows_two_runs else 'two runs'}"
            )

    def show_note(self, note: str) -> None:
        """Show a note in the first line, or none."""
        self.query_one(StatusLine).show_note(note)

    def show_message(self, message: str, *, warning: bool = False) -> None:
        """Show a message for a while."""
        self.notify(message, severity="warning" if warning else "information", timeout=8)

    # The size of the screen.

    def on_resize(self, event: events.Resize) -> None:
        self._arrange_for_size(event.size)
        self.call_after_refresh(self.playback.ask_frame)

    def on_pane_refitted(self) -> None:
        """A pane is laid out only after the screen, and sometimes while that goes away."""
        if not self.query(TimeBar):
            return
        room = self.view_fields(self.view)
        if any(getattr(self.view, field) != value for field, value in room.items()):
            self.playback.ask_frame()

    def _arrange_for_size(self, size: Extent) -> None:
        """Show all panes where there is room, else the slots and one other pane; to an audience
        one pane at a time, at first the slots.
        """
        small = size.width < WIDE or size.height < TALL
        self._main_screen.set_class(small or self.presenting, "-small")
        for each in (self._single, self._comparison):
            each.name_other_panes(small or self.presenting)
        self._main_screen.set_class(self.presenting, "-presenting")
        for slots in self.query(SlotsPane):
            slots.presented = self.presenting
        self._main_screen.set_class(self.presenting and not small, "-both-sides")
        self._main_screen.set_class(small and self._two_runs_fit(size), "-both-slots")
        if self._one_pane != (self.presenting and small):
            self._one_pane = not self._one_pane
            self._zoom_pane(
                self._shown.front_pane(SlotsPane, self.view) if self._one_pane else None
            )
            self.action_focus_pane("slots" if self._one_pane else "jobs")

    def _two_runs_fit(self, size: Extent) -> bool:
        """Whether the slots of two runs fit side by side on a small screen."""
        run = self.playback.run
        return run is not None and len(run.nodes) <= CARD_NODES and size.width >= _TWO_SIDES

    # For an audience.

    def action_tour(self, by: int) -> None:
        if self.guide is not None:
            self.guide.go_steps(by)
        else:
            told = ", ".join(tour_names())
            self.show_message(f"no tour is on; `callboard watch NAME --tour` takes one of {told}")

    def action_present(self) -> None:
        """Fewer panes, larger tiles, captions; or all again."""
        self.presenting = not self.presenting
        self._arrange_for_size(self.size)
        if self.guide is None:
            self.show_caption("", "")
        self._ask_when_laid_out()

    # Time.

    def action_play(self) -> None:
        (self.guide or self.playback).play_or_pause()

    def action_faster(self, steps: int) -> None:
        self.playback.change_speed(steps)

    def action_flat_out(self) -> None:
        self.playback.toggle_flat_out()

    def action_step(self, kind: str, back: bool = False) -> None:
        """To that moment, with what the log says of it."""
        self.playback.set_view(log_back=0)
        self.playback.step(StepKind[kind.upper()], back)

    def action_scrub(self, hundredths: int) -> None:
        self.playback.scrub(hundredths)

    def action_seek_start(self) -> None:
        self.playback.ask_frame(GoTo(0))

    def action_seek_end(self) -> None:
        self.playback.seek_end()

    def on_sought(self, event: Sought) -> None:
        self.playback.seek(event.at_ms, event.mark)

    def action_ask_time(self) -> None:
        def read(fields: FormFields) -> GoTo:
            return GoTo(parse_time(fields["time"]))

        question = "Go to which time?  7:30, 1:07:30, 90s, 1h30m"
        form = FormScreen(question, {"time": ""}, read)
        put_question(self, form, lambda fields: self.playback.ask_frame(read(fields)))

    def action_ask_jump(self) -> None:
        frame, run = self.playback.frame, self.playback.run
        if frame is None or run is None:
            return
        self.playback.ask_names()

        def read(fields: FormFields) -> Jump:
            return read_jump(fields["to"], frame, run, self.playback.names)

        question = "Jump to a job, a node or a time:  job-3, a name, node-4, 7:30"
        form = FormScreen(question, {"to": ""}, read)
        put_question(self, form, lambda fields: self._follow_jump(read(fields)))

    def _follow_jump(self, jump: Jump) -> None:
        if jump.at_ms is not None:
            self.playback.ask_frame(GoTo(jump.at_ms))
        else:
            self.select(job=jump.job, node=jump.node)

    # Interventions.

    def action_intervene(self) -> None:
        self._flow.intervene()

    def action_fork(self) -> None:
        self._flow.fork()

    def action_until(self) -> None:
        self._flow.ask_where_to_stop()

    def action_save(self) -> None:
        if self.playback.is_live_or_warns():
            self._saving.ask_how()

    # Two runs.

    def action_divergence(self) -> None:
        if self._shows_two_or_warns():
            self.playback.seek_divergence()

    def action_front(self) -> None:
        if self._shows_two_or_warns():
            focused = self.focused
            self.playback.set_view_and_ask(lead=1 - self.view.lead)
            self._tell_front()
            if isinstance(focused, Pane) and focused.side is not None:
                front = self._shown.front_pane(type(focused), self.view)
                if self._main_screen.has_class("-alone"):
                    self._zoom_pane(front)
                front.focus()

    def _tell_front(self) -> None:
        """Say which run is in front: side by side both are there as before."""
        frame = self.playback.frame
        if frame is not None and frame.comparison is not None:
            policy = frame.comparison.figures[self.view.lead].policy
            self.notify(f"{policy} is in front", timeout=3, markup=False)

    def action_keep(self) -> None:
        if self._shows_two_or_warns():
            self.playback.intervene(Keep(self.view.lead))

    def action_differences(self) -> None:
        if self._shows_two_or_warns():
            self._comparison.only_differences = not self._comparison.only_differences
            self.playback.ask_frame()

    def _shows_two_or_warns(self) -> bool:
        if not self.shows_two_runs:
            forks = self.keymap.key_in_force("f")
            self.notify(f"this needs two runs; {forks} forks a second one", timeout=5)
        return self.shows_two_runs

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The run whose pane has the focus is in front."""
        side = event.widget.side if isinstance(event.widget, Pane) else None
        if self.shows_two_runs and side is not None and side != self.view.lead:
            self.playback.set_view_and_ask(lead=side)

    # Choosing.

    def select(
        self, *, job: JobId | None = None, node: NodeId | None = None, slot: int | None = None
    ) -> None:
        """Select a job, a node or a slot of it, or nothing."""
        for slots in self.query(SlotsPane):
            slots.cursor, slots.slot = node, slot
        back = 0 if self.view.log_of_selection else self.view.log_back
        self.playback.set_view_and_ask(job=job, node=node, slot=slot, log_back=back)

    def on_job_table_pane_chosen(self, event: JobTablePane.Chosen) -> None:
        self.select(job=event.job)

    def on_slots_pane_chosen(self, event: SlotsPane.Chosen) -> None:
        """A click on a slot selects its job; if that is selected already, the slot."""
        if event.job is not None and event.job != self.view.job:
            self.select(job=event.job)
        else:
            self.select(job=event.job, node=event.node, slot=event.slot)

    def on_log_pane_chosen(self, event: LogPane.Chosen) -> None:
        """Select the line's job and mark its node, unless the log is of the selection only."""
        line = event.line
        if self.view.log_of_selection or (line.job is None and line.node is None):
            self.playback.ask_frame()
        elif line.job is None:
            self.select(node=line.node)
        else:
            self.select(job=line.job)
            for slots in self.query(SlotsPane):
                slots.cursor = line.node

    def on_log_pane_opened(self, event: LogPane.Opened) -> None:
        self.playback.player.playing = False
        self.playback.set_view(log_back=0)
        self.playback.ask_frame(GoToEvent(event.index))

    def on_log_pane_folded(self, event: LogPane.Folded) -> None:
        others = tuple(each for each in self.view.log_unfolded if each != event.group)
        unfolded = (*others, event.group) if event.unfold else others
        self.playback.set_view_and_ask(log_unfolded=unfolded, log_back=event.back)

    def on_list_pane_scrolled(self, event: ListPane.Scrolled) -> None:
        if not isinstance(event.pane, LogPane):
            self.playback.set_view_and_ask(jobs_top=max(self.view.jobs_top + event.by, 0))
        elif event.by > 0 or (self.playback.frame and not self.playback.frame.log_top):
            self.playback.set_view_and_ask(log_back=max(self.view.log_back - event.by, 0))

    def action_clear(self) -> None:
        """Undo one thing: a long move, the zoom, scrolling back, the selection, a filter."""
        view = self.view
        if self.playback.under_way_text:
            self.playback.ask_frame(Halt())
        elif self._main_screen.has_class("-alone"):
            self.action_maximise()
        elif view.log_back:
            self.playback.set_view_and_ask(log_back=0)
        elif view.slot is not None:
            self.select(node=view.node)
        elif view.job is not None or view.node is not None:
            for log in self.query(LogPane):
                log.chosen = None
            self.playback.set_view(log_of_selection=False)
            self.select()
        elif view.log_kind:
            self.playback.set_view_and_ask(log_kind="")
        elif view.filter:
            self.playback.set_view_and_ask(filter="")

    # What is shown.

    def action_focus_next(self) -> None:
        self._focus_neighbour(1)

    def action_focus_previous(self) -> None:
        self._focus_neighbour(-1)

    def _focus_neighbour(self, by: int) -> None:
        """The panes in the order of their keys, whichever column they are in; in a dialog, its
        fields.
        """
        if len(self.screen_stack) > 1:
            self.screen.focus_next() if by > 0 else self.screen.focus_previous()
            return
        panes = [pane for pane in self._shown.panes if pane in self.screen.focus_chain]
        panes.sort(key=lambda pane: (pane.key, pane.side or 0))
        here = self.focused
        at = panes.index(here) if isinstance(here, Pane) and here in panes else -by
        panes[(at + by) % len(panes)].focus()

    def action_focus_pane(self, name: str) -> None:
        pane = self._shown.show_pane(name, self.view)
        pane.focus()
        if self._main_screen.has_class("-alone"):
            self._zoom_pane(pane)
        self._ask_when_laid_out()

    def action_maximise(self) -> None:
        self._zoom_pane(None if self._main_screen.has_class("-alone") else self.focused)
        self._ask_when_laid_out()

    def _ask_when_laid_out(self) -> None:
        self.keys.hold_until_next_frame()
        self.call_after_refresh(self.playback.ask_frame)

    def _zoom_pane(self, pane: Widget | None) -> None:
        """Show one pane between the first line and the time bar, or all again."""
        self._main_screen.set_class(pane is not None, "-alone")
        self._shown.zoom(pane)

    @property
    def _main_screen(self) -> Screen[Any]:
        """The screen below any dialogs."""
        return self.screen_stack[0]

    def action_cell_size(self) -> None:
        run = self.playback.run
        few = run is not None and len(run.nodes) <= CARD_NODES
        sizes = (None, *(each for each in CellSize if few or each is not CellSize.CARDS))
        chosen = self._shown.front_pane(SlotsPane, self.view).size_asked
        size = sizes[(sizes.index(chosen) + 1) % len(sizes)]
        for slots in self.query(SlotsPane):
            slots.size_asked = size
        self.notify(f"slots: {'what fits' if size is None else size.name.lower()}", timeout=2)

    def action_ask_colours(self) -> None:
        """What the colours of jobs are to stand for."""
        by = [ColourBy.FITTING, *COLOURED_BY]
        keys = "jpulaqs"
        lines = list(zip(keys, COLOURED_BY.values(), strict=True))
        fitting = f"what fits: job; in a run of over {FEW_JOBS} jobs pool, user or size"
        lines.insert(0, ("f", fitting))
        question = "Colour jobs and slots by what?"
        menu = MenuScreen(question, [("", lines)], by.index(self.view.colour_by))
        put_question(
            self, menu, lambda number: self.playback.set_view_and_ask(colour_by=by[number])
        )

    def action_sort(self) -> None:
        """By the next of the columns that are on the screen: of others no title would say so."""
        shown = self._shown.front_pane(JobTablePane, self.view).shown_columns()
        keys = list(dict.fromkeys(each.key for each in shown if each.key is not None))
        if not keys:  # of a pane that has not been shown yet
            return
        at = keys.index(self.view.jobs_key) if self.view.jobs_key in keys else -1
        key = keys[(at + 1) % len(keys)]
        self.playback.set_view_and_ask(jobs_key=key, jobs_reverse=key not in ASCENDING)

    def action_reverse_order(self) -> None:
        self.playback.set_view_and_ask(jobs_reverse=not self.view.jobs_reverse)

    def on_job_table_pane_sort_by(self, event: JobTablePane.SortBy) -> None:
        """A second click on a title reverses the order."""
        reverse = event.key is self.view.jobs_key and not self.view.jobs_reverse
        self.playback.set_view_and_ask(jobs_key=event.key, jobs_reverse=reverse)

    def action_all_jobs(self) -> None:
        self.playback.set_view_and_ask(all_jobs=not self.view.all_jobs, jobs_top=0)

    def action_log_level(self) -> None:
        level = Importance((self.view.log_level + 1) % len(Importance))
        self.playback.set_view_and_ask(log_level=level, log_back=0)

    def action_log_of_selection(self) -> None:
        if self.view.job is None and self.view.node is None:
            self.notify("select a job or a node first", timeout=3)
            return
        self.playback.set_view_and_ask(log_of_selection=not self.view.log_of_selection, log_back=0)

    def action_ask_kind(self) -> None:
        kinds = ["", *EVENT_KINDS]

        def show_only(number: int) -> None:
            self.playback.set_view_and_ask(log_kind=kinds[number], log_back=0)

        lines = [("", kind or "all kinds") for kind in kinds]
        question, now = "Show events of which kind?", kinds.index(self.view.log_kind)
        put_question(self, MenuScreen(question, [("", lines)], now), show_only)

    def action_ask_filter(self) -> None:
        def filter_by(fields: FormFields) -> None:
            text = fields["text"].strip()
            self.playback.set_view_and_ask(filter=text, jobs_top=0, log_back=0)

        question = "Only jobs and events with a text; !text: without it"
        put_question(self, FormScreen(question, {"text": self.view.filter}), filter_by)

    # The screen itself.

    def action_theme(self) -> None:
        self.set_theme(next_theme(self.theme))

    def set_theme(self, name: str) -> None:
        """Draw everything in the colours of a theme."""
        self.theme = name
        self.notify(f"theme: {name}", timeout=2)
        self.playback.ask_frame()

    def action_help(self) -> None:
        self.push_screen(HelpScreen(self.keymap))

    async def action_picture(self) -> None:
        """Into the working folder, as SVG and as PNG; in a browser, as a download of the first."""
        run, frame = self.playback.run, self.playback.frame
        if run is None or frame is None:
            self.notify("the run has not begun: there is no picture of it yet", timeout=5)
            return
        await self._clear_messages()
        text = svg_of(self, self.palette.ground, run.name)
        path = screenshot_path(run.name, frame.at_ms, Path.cwd())
        if self.is_web:
            self.deliver_text(io.StringIO(text), save_filename=path.name, mime_type="image/svg+xml")
            return
        try:
            path.write_text(text, encoding="utf-8")
            path.with_suffix(".png").write_bytes(await asyncio.to_thread(png_of, text))
        except MissingExtraError as error:
            self.notify(f"saved as {path.name}; {error}", timeout=8, markup=False)
        except OSError as error:
            self.notify(f"not saved: {error.strerror}", severity="error", timeout=5)
        else:
            self.notify(f"saved as {path.name} and {path.stem}.png", timeout=5)

    async def _clear_messages(self) -> None:
        """Take away what has come up for a while, and wait until the screen is drawn without."""
        self.clear_notifications()
        self.screen.query("ToastRack").set(display=False)  # it would go only after this key
        drawn = asyncio.Event()
        self.screen.call_after_refresh(drawn.set)
        await drawn.wait()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"edge": DARK.edge}

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """The command palette has all commands and interventions, each with its keys."""
        for each in self.keymap.commands:
            title = f"{each.help[:1].upper()}{each.help[1:]}"
            run = partial(self.call_later, self.run_action, each.action)
            yield SystemCommand(title, f"key: {each.key}", run)
        for name in THEMES:
            yield SystemCommand(f"Theme: {name}", "its colours", partial(self.set_theme, name))
        yield from self._flow.palette_commands()

    def action_copy(self) -> None:
        """To the clipboard: the chosen event, or else all that the focused pane shows."""
        if not isinstance(self.focused, Pane):
            return
        text = self.focused.text_to_copy()
        self.copy_to_clipboard(text)
        lines = len(text.splitlines())
        self.notify(f"copied {lines} {'line' if lines == 1 else 'lines'}", timeout=3)

    async def action_quit(self) -> None:
        """Leave; the first time only with a question, if what was done by hand would be lost."""
        lost = self.playback.changed and not self._recorded
        if lost and not isinstance(self.screen, MenuScreen):
            self._saving.ask_before_leaving(self._close_and_exit)
        else:
            self._close_and_exit()

    def _close_and_exit(self) -> None:
        self.playback.source.close()
        told = self._saving.told
        self.exit(message=None if told is None else Text(told, no_wrap=True, overflow="ignore"))
