"""Asking a source for frames, and letting time pass.

A `View` says what the user wants to see, the `Frame` that answers it what is shown.  Nothing here
reads a clock.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from callboard.experiments.live.live_requests import (
    Intervention,
    InterventionRequest,
    LiveSource,
    Save,
)
from callboard.experiments.run.interventions import Intervene
from callboard.journal.replay.frame import Frame, RunInfo, View
from callboard.journal.replay.player import USUAL_SPEED, Opening, Player
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.source import (
    GoTo,
    GoToEvent,
    Halt,
    Move,
    Request,
    Source,
    Stay,
    Step,
    StepKind,
)
from callboard.journal.tell.time_format import axis_time
from callboard.scheduler.model import JobId, Millis

if TYPE_CHECKING:
    from callboard.tui.app import CallboardApp

_READ_AT_ONCE = 4_000
_READ_PAUSE_S = 0.005
"""A journal is read in parts, with pauses in which keys are answered."""

_GROWN_AGAIN_S = 0.25
"""How soon a journal that is still being written is read again."""

RECORDED_REFUSAL = "this run is recorded and stays as it was; `callboard watch` plays one anew"


_NOTE_AFTER_S = 0.3
_OWED_MOST_S = 0.25
"""While a source takes longer than this for a frame, virtual time passes more slowly."""


_KEEPS_UP = 0.85
"""A run that comes to less of its speed is not keeping up."""

_PACE_OVER_S = 2.0
"""Over how much real time the speed is measured."""


class Pace:
    """How fast virtual time really passes on the screen, over the last two seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """Real time."""
        self._seen: deque[tuple[float, Millis]] = deque()

    def clear(self) -> None:
        self._seen.clear()

    def note_frame(self, at_ms: Millis) -> None:
        """A frame of that moment is shown."""
        seen = self._seen
        if seen and at_ms < seen[-1][1]:
            seen.clear()
        seen.append((self.seconds, at_ms))
        while seen[-1][0] - seen[0][0] > _PACE_OVER_S:
            seen.popleft()

    @property
    def speed(self) -> float | None:
        """Virtual seconds in a real one; None while too little has been seen."""
        if not self._seen:
            return None
        (begun_s, from_ms), (now_s, to_ms) = self._seen[0], self._seen[-1]
        passed_s = now_s - begun_s
        return (to_ms - from_ms) / 1000 / passed_s if passed_s > _PACE_OVER_S / 2 else None


class Playback:
    """Asks for frames, one after the other, and has the app show them.

    Of the app it uses `room`, `show`, `show_note`, `show_message`, `keys`, `call_later` and
    `is_running` only.
    """

    def __init__(self, source: Source, app: "CallboardApp") -> None:
        self.source = source
        self.player = Player()
        self.opening_move = GoTo(0)
        """Where the screen begins."""
        self._bound_for: Millis | None = None
        """The moment to which a move under way leads."""
        self._tells_end = True
        """Whether it is said where the run ends before that."""
        self.view = View()
        self.frame: Frame | None = None
        self.run: RunInfo | None = None
        self.names: Mapping[JobId, str] = {}
        """The names of all jobs as they were asked for last."""
        self.changed = False
        """Whether the run has been changed by hand."""
        self._app = app
        self.requests = self.answers = 0
        """How many frames have been asked for, and have come."""
        self._pace = Pace()
        self._owed_s = 0.0
        """Real time that has passed since the last frame was asked for."""
        self._waited_s = 0.0
        """How long the present answer has taken so far."""
        self._growing = False
        """Whether the journal is still being written, and has been read as far as it goes."""

    # Asking and answering.

    @property
    def open_requests(self) -> int:
        """The number of requests without an answer yet."""
        return self.requests - self.answers

    def ask_frame(self, move: Move | None = None, *, tells_end: bool = True) -> None:
        """Ask for a frame, of the present moment unless told otherwise; first of all for that of
        the opening.  Where a move goes beyond the run's end, that is said if it `tells_end`.
        """
        if move is not None and not self.requests:
            self.ask_frame()
        move = move or (Stay() if self.requests else self.opening_move)
        self._put_room_into_view()
        self.requests += 1
        if isinstance(move, GoTo | GoToEvent | Halt):
            self._bound_for = move.at_ms if isinstance(move, GoTo) else None
            self._tells_end = tells_end
        self.source.ask_frame(Request(move, self.view), self.take_frame)

    def ask_names(self) -> None:
        """Ask once for the names of all jobs: of tens of thousands they are not for every frame."""
        self.set_view(with_names=True)
        self.ask_frame()
        self.set_view(with_names=False)

    def intervene(self, intervention: Intervention) -> None:
        """Ask a live run for an intervention; a recorded one only tells that it stays as it was."""
        if not self.is_live_or_warns():
            return
        self._put_room_into_view()
        self.requests += 1
        source = cast(LiveSource, self.source)
        changes = isinstance(intervention, Intervene)

        def answered(frame: Frame) -> None:
            self.changed |= changes and not frame.refusal
            self.take_frame(frame)

        source.ask_frame(InterventionRequest(intervention, self.view), answered)

    def save(self, save: Save, saved: Callable[[], None], refused: Callable[[], None]) -> None:
        """Save the run in front; `saved` is called if that went well, else a message says why, and
        `refused` is called.
        """

        def answered(frame: Frame) -> None:
            self.take_frame(frame)
            if frame.refusal:
                refused()
            else:
                self.changed = False
                saved()

        self._put_room_into_view()
        self.requests += 1
        cast(LiveSource, self.source).ask_frame(InterventionRequest(save, self.view), answered)

    def _put_room_into_view(self) -> None:
        """Say in the view how much room there is, and whether time stands still."""
        self.set_view(at_rest=not self.player.playing, **self._app.view_fields(self.view))

    def is_live_or_warns(self) -> bool:
        """Whether the run can be changed; a message says so if it cannot."""
        if not self.source.live:
            self.show_refusal(RECORDED_REFUSAL)
        return self.source.live

    def show_refusal(self, message: str) -> None:
        """Say why something is not done."""
        self._app.show_message(message, warning=True)

    def take_frame(self, frame: Frame) -> None:
        """Take a frame that has come, and show it."""
        self.answers += 1
        if not self._app.is_running:
            return
        if self.is_stuck:
            self._app.show_note("")
        self._waited_s = 0.0
        self.frame = frame
        if self._tells_end and frame.over and frame.at_ms < (self._bound_for or 0):
            self._app.show_message(f"the run ends at {axis_time(frame.at_ms)}")
        if not self.open_requests or frame.over or frame.at_ms >= (self._bound_for or 0):
            self._bound_for = None
        if frame.run is not None:
            self.run = frame.run
            self.set_view(with_run=False)
        if frame.names is not None:
            other = frame.comparison.other.names if frame.comparison is not None else None
            self.names = {**(other or {}), **frame.names}
        if self.player.playing and (frame.reached or frame.over):
            self.player.stop()
        if frame.refusal:
            self._app.show_message(frame.refusal, warning=True)
        self._pace.note_frame(frame.at_ms)
        self.set_view(jobs_top=frame.rows_top)
        flat_out = self.player.playing and self.player.speed is None
        if self.source.live and flat_out and not self.open_requests:
            self.ask_frame(self.player.play_move(0))  # the run goes on while this frame is drawn
        self._app.show(frame)
        self._app.call_later(self._app.keys.go_on)

    def set_view(self, **changes: Any) -> None:
        """Change the view for the next request."""
        self.view = msgspec.structs.replace(self.view, **changes)

    def set_view_and_ask(self, **changes: Any) -> None:
        """Change the view and show it."""
        self.set_view(**changes)
        self.ask_frame()

    # Time.

    def set_opening(self, opening: Opening) -> None:
        """Begin at another moment than the start, or playing."""
        self.player.playing, self.player.speed = opening.playing, opening.speed
        self.opening_move = GoTo(opening.at_ms)

    def tick(self, seconds: float) -> None:
        """Let real time pass.  Nothing new is asked for while an answer is still to come."""
        if self.open_requests:
            self._waited_s += seconds
            if self.is_stuck:
                self._app.show_note(self.under_way_text)
        self._pace.seconds += seconds
        if not self.player.playing:
            self._pace.clear()
            return
        self._owed_s = min(self._owed_s + seconds, _OWED_MOST_S)
        if not self.open_requests:
            owed_s, self._owed_s = self._owed_s, 0.0
            self.ask_frame(self.player.play_move(owed_s), tells_end=self._app.guide is None)

    @property
    def speed_text(self) -> str:
        """The speed that was asked for and, where the run does not keep up, the real one."""
        asked, real = self.player.speed, self._pace.speed
        if not self.player.playing or real is None:
            return self.player.speed_text
        if asked is not None and real > _KEEPS_UP * asked:
            return self.player.speed_text
        return (
            f"{self.player.speed_text}, really ×{real:.2g}"
            if real < 10
            else (f"{self.player.speed_text}, really ×{real:,.0f}")
        )

    @property
    def under_way_text(self) -> str:
        """What is being done while it is not yet where it was to go; empty once it is."""
        if self._bound_for is not None and self.open_requests:
            return f"going to {axis_time(self._bound_for)} …  esc stops"
        return "simulating …  esc stops" if self.is_stuck else ""

    @property
    def is_stuck(self) -> bool:
        """Whether an answer takes so long that a note says so."""
        return self._waited_s > _NOTE_AFTER_S

    def play_or_pause(self) -> None:
        """Play, or pause; at the end of a run, play it again from its start."""
        again = self.frame is not None and self.frame.over and not self.player.playing
        self.player.playing = not self.player.playing
        self.ask_frame(GoTo(0) if again else None)

    def change_speed(self, steps: int) -> None:
        """Faster by that many steps, or slower below 0."""
        self.player.faster(steps)
        self.ask_frame()

    def toggle_flat_out(self) -> None:
        """As fast as it goes, or back to ×60."""
        self.player.speed = USUAL_SPEED if self.player.speed is None else None
        self.ask_frame()

    def follow(self) -> None:
        """Keep up with a run in another process."""
        self.player.speed, self.player.playing = None, True
        self.opening_move = GoTo(None)

    def step(self, kind: StepKind, back: bool) -> None:
        """To the next moment of a kind, or the one before, and pause."""
        self.player.playing = False
        self.ask_frame(Step(kind, back))

    def scrub(self, hundredths: int) -> None:
        """Go on by hundredths of the run, or back below 0."""
        if self.frame is not None:
            self.ask_frame(GoTo(self.frame.scrubbed_to_ms(hundredths)))

    def seek(self, at_ms: Millis, mark: bool) -> None:
        """To a moment, or to the first mark from it on."""
        self.ask_frame(GoTo(at_ms))
        if mark:
            self.ask_frame(Step(StepKind.MARK, or_here=True))

    def seek_divergence(self) -> None:
        """To where two runs first differ, and stop."""
        self.player.stop()
        self.ask_frame(Step(StepKind.DIVERGENCE))

    def seek_end(self) -> None:
        """To the end of what is known; a journal that is still being written is followed."""
        if self._growing:
            self.follow()
        self.ask_frame(GoTo(None))

    # Reading a journal.

    def read_on(self) -> float | None:
        """Read the next part of the journal; the seconds after which to go on, None for never.

        Raises JournalError for damage.
        """
        source = self.source
        if not isinstance(source, RecordedSource):
            return None
        known, was_growing = len(source.recording), self._growing
        more = source.read_on(_READ_AT_ONCE)
        self._growing = not more and source.is_growing
        note = "still being written" if self._growing else ""
        if more:
            note = f"reading, {len(source.recording):,} events so far"
        elif was_growing and not self._growing:
            self._app.show_message(_recording_end_words(source))
        self._app.show_note(note)
        if len(source.recording) != known or not (more or self._growing):
            self.ask_frame()
        if more:
            return _READ_PAUSE_S
        return _GROWN_AGAIN_S if self._growing else None


def _recording_end_words(source: RecordedSource) -> str:
    if (ended := source.recording.ended) is not None:
        whole = ended.reason == "complete"
        return f"the journal is complete: the run {'has ended' if whole else 'was interrupted'}"
    return "the journal is cut off: its writer is gone, and the run has not ended"
