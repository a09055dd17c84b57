"""The half of the screen that deals with time: it asks a source for frames, and shows them.

All that a person has chosen is in a `View`; all that is shown is in the `Frame` that answers it.
Nothing else is remembered here but how fast time goes.
"""

import gc
import time
from typing import Any

import msgspec
from textual.app import App

from callboard.experiments.remote_source import RemoteSource
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.player import Player
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.source import (
    GoTo,
    Move,
    Request,
    Source,
    Stay,
    Step,
    StepKind,
)
from callboard.journal.tell.time_format import parse_time
from callboard.tui.palette import Palette
from callboard.tui.panels.charts import ChartsPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.status_line import StatusLine
from callboard.tui.panels.timebar import TimeBar
from callboard.tui.screens.dialogs import AskScreen

FRAMES_A_SECOND = 20
_READ_AT_ONCE = 4_000
_READ_PAUSE_S = 0.005
_LOOK_AGAIN_S = 0.25
"""How soon it is looked whether a journal that is still being written has grown."""

_SAID_AFTER_S = 0.3
_OWED_MOST_S = 0.25
"""A source that takes longer than this for a frame cannot keep up, and time goes slower."""


class TimeApp(App[None]):
    """Asks, shows, plays.  `ticking` False leaves time to whoever calls `tick`, as tests do."""

    def __init__(self, source: Source, *, ticking: bool = True) -> None:
        super().__init__()
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
        self._growing = False
        """Whether the journal is still being written, and has been read as far as it goes."""
        self.failure: Exception | None = None
        """What ended the screen, if it was not the person before it."""

    @property
    def palette(self) -> Palette:
        """The colours of the theme in force."""
        raise NotImplementedError

    def begin(self) -> None:
        """Ask for the first frame, and let time go if it is wanted."""
        if isinstance(self.source, RemoteSource):
            self.source.on_loss = self._lost
        self.call_after_refresh(self.ask, GoTo(None if self.player.playing else 0))
        if self._ticking:
            self._ticked_s = time.monotonic()
            self.set_interval(1 / FRAMES_A_SECOND, self._tick_now)
            if isinstance(self.source, RecordedSource):
                self.read_on()
            # Pauses of a whole collection (0.1 s) are seen; nearly nothing here is a cycle.
            gc.collect()
            gc.freeze()
            gc.set_threshold(20_000, 50, 500)

    def _lost(self) -> None:
        """The process of the run has gone away."""
        self.failure = RuntimeError("the process that played the run has ended unexpectedly")
        self.exit()

    def read_on(self) -> None:
        """Read the next part of the journal; the parts leave room for keys between them.

        One that is still being written is looked at again a few times a second.
        """
        source = self.source
        assert isinstance(source, RecordedSource)
        known, was_growing = len(source.recording), self._growing
        try:
            more = source.read_on(_READ_AT_ONCE)
        except Exception as error:  # for whoever started the screen to explain
            self.failure = error
            self.exit()
            return
        self._growing = not more and source.growing
        note = "still being written" if self._growing else ""
        if more:
            note = f"reading, {len(source.recording):,} events so far"
        elif was_growing and not self._growing:
            self.notify(_endings(source), timeout=8)
        self.query_one(StatusLine).say(note)
        if (more or self._growing) and self._ticking:
            self.set_timer(_READ_PAUSE_S if more else _LOOK_AGAIN_S, self.read_on)
        if len(source.recording) != known or not (more or self._growing):
            self.ask()

    # Asking and showing.

    def ask(self, move: Move | None = None) -> None:
        """Ask for a frame, of the present moment unless told otherwise."""
        self.measure()
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
            self.set_view(with_run=False)
        over = frame.complete and frame.at_ms >= frame.end_ms
        if self.player.playing and (frame.reached or over):
            self.player.stop()
        if frame.refusal:
            self.notify(frame.refusal, severity="warning", timeout=8)
        top = frame.jobs_top if frame.comparison is None else frame.comparison.rows_top
        if top != self.view.jobs_top:
            self.set_view(jobs_top=top)
        flat_out = self.player.playing and self.player.speed is None
        if self.source.live and flat_out and not self._waiting:
            self.ask(self.player.play(0))  # the run goes on while this frame is drawn
        self.draw(frame)

    def draw(self, frame: Frame) -> None:
        """Let every pane show it."""
        for pane in self.query(Pane):
            pane.palette = self.palette
            pane.show(frame)

    def set_view(self, **changes: Any) -> None:
        """Change the view; it is asked for by whoever wants it shown."""
        self.view = msgspec.structs.replace(self.view, **changes)

    def update_view(self, **changes: Any) -> None:
        """Change the view and show it."""
        self.set_view(**changes)
        self.ask()

    def measure(self) -> None:
        """Put how much the panes have room for into the view."""
        raise NotImplementedError

    def _tick_now(self) -> None:
        now_s = time.monotonic()
        passed_s, self._ticked_s = now_s - self._ticked_s, now_s
        self.tick(passed_s)

    def tick(self, seconds: float) -> None:
        """Let so much real time pass.  Nothing is asked while an answer is still to come."""
        if self._waiting:
            self._patience_s += seconds
            if self._patience_s > _SAID_AFTER_S:
                self.query_one(StatusLine).say("simulating …")
        if not self.player.playing:
            return
        self._owed_s = min(self._owed_s + seconds, _OWED_MOST_S)
        if not self._waiting:
            owed_s, self._owed_s = self._owed_s, 0.0
            self.ask(self.player.play(owed_s))

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
        if where == "end" and self._growing:
            self.follow()
        self.ask(GoTo(0 if where == "start" else None))

    def follow(self) -> None:
        """Go on with a run that another process plays, as fast as it comes."""
        self.player.set_speed(None)
        self.player.playing = True

    def on_time_bar_sought(self, event: TimeBar.Sought) -> None:
        if event.mark:
            self.ask(GoTo(event.at_ms - 1))
            self.ask(Step(StepKind.MARK))
        else:
            self.ask(GoTo(event.at_ms))

    def on_charts_pane_sought(self, event: ChartsPane.Sought) -> None:
        self.ask(GoTo(event.at_ms))

    def action_ask_time(self) -> None:
        question = "Go to which time?  7:30, 1:07:30, 90s, 1h30m"

        def go(text: str | None) -> None:
            if text is not None:
                self.ask(GoTo(parse_time(text)))

        self.push_screen(AskScreen(question, "", parse_time), go)


def _endings(source: RecordedSource) -> str:
    """What has become of a journal that was being written."""
    if source.recording.ended is not None:
        return "the journal is complete: the run has ended"
    return "the journal is cut off: whoever wrote it is gone, and the run has not ended"
