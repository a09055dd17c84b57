"""A place in a recording, and the moves that change it."""

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.projector import project
from callboard.journal.replay.recording import EVENT_NUMBERS, Recording
from callboard.journal.replay.source import GoTo, GoToEvent, Halt, Move, Play, Stay, Step, StepKind
from callboard.scheduler.model import Millis

_ORDERS = ev.KillOrdered, ev.SuspendOrdered, ev.ResumeOrdered
_STEPS = {
    StepKind.MASTER: (ev.AttemptLaunched, ev.AttemptClosed, *_ORDERS),
    StepKind.JOB: (ev.JobFinished,),
    StepKind.DIVERGENCE: (),
}
_LEAP = 2_000
"""How many events are passed at once when a recording is played as fast as it goes."""


class Cursor:
    """A place in a recording.  It moves only as far as the recording goes.

    Fractions of a millisecond that playing leaves over are kept, so that the slowest speed moves.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.index = 0
        self.at_ms: Millis = 0
        self._part_ms = 0.0
        self.reached = False
        """Whether the last move came to where it was to play until."""

    @property
    def is_at_end(self) -> bool:
        """Whether it is at the end of a run that is over."""
        return self.recording.closed and self.at_ms >= self.recording.end_ms

    def move(self, move: Move) -> None:
        """Go where the move leads."""
        self.reached = False
        match move:
            case Stay() | Halt():
                pass
            case GoTo(at_ms=at_ms):
                self.go_to_ms(self.recording.end_ms if at_ms is None else at_ms)
            case GoToEvent(index=index):
                self._go_to_index(index + 1)
            case Play(by_ms=None):
                index, recording = self.index + _LEAP, self.recording
                to_ms = recording.times[index] if index < len(recording) else recording.end_ms
                self.play_to(to_ms, move)
            case Play(by_ms=by_ms):
                passed, self._part_ms = divmod(self._part_ms + (by_ms or 0.0), 1)
                self.play_to(self.at_ms + int(passed), move)
            case Step():
                self._move_by_step(move)

    def frame(self, view: View) -> Frame:
        frame = project(self.recording, self.index, self.at_ms, view)
        return msgspec.structs.replace(frame, reached=True) if self.reached else frame

    def play_to(self, to_ms: Millis, play: Play) -> None:
        """Go on to a moment, but not past the one that the move plays until."""
        stop_ms: Millis | None = None
        match play.until:
            case GoTo(at_ms=at_ms) if at_ms is not None and at_ms > self.at_ms:
                stop_ms = at_ms
            case Step():
                stop_ms = self.next_step_ms(play.until, end=self.recording.index_at(to_ms))
        self.go_to_ms(to_ms if stop_ms is None else min(to_ms, stop_ms))
        self.reached = self.at_ms == stop_ms

    def go_to_ms(self, at_ms: Millis) -> None:
        """Go to the end of that millisecond, or as near as the run is known."""
        self.at_ms = max(0, min(at_ms, self.recording.end_ms))
        self.index = self.recording.index_at(self.at_ms)

    def next_step_ms(
        self, step: Step, start: int | None = None, end: int | None = None
    ) -> Millis | None:
        """The next moment of the step's kind in the recording, or the one before; None for none.

        Only events from number `start` up to `end` are searched.
        """
        if step.kind is StepKind.MARK:
            return self.recording.history.next_mark(
                self.at_ms, back=step.back, or_here=step.or_here
            )
        if step.kind is StepKind.FAULT:
            return self.recording.history.next_mark(self.at_ms, ev.Mark.FAULT, back=step.back)
        numbers = {EVENT_NUMBERS[each] for each in _STEPS[step.kind]}
        recording, job = self.recording, step.job
        kinds, times, jobs = recording.kinds, recording.times, recording.jobs
        begin = self.index if start is None else max(start, self.index)
        ahead = range(begin, len(kinds) if end is None else end)
        places = range(self.index - 1, -1, -1) if step.back else ahead
        for place in places:
            wanted = kinds[place] in numbers and (job is None or jobs[place] == job)
            if wanted and times[place] != self.at_ms:
                return times[place]
        return None

    def _move_by_step(self, step: Step) -> None:
        if step.kind is StepKind.EVENT:
            self._go_to_index(self.index + (-1 if step.back else 1))
            return
        found = self.next_step_ms(step)
        if found is not None:
            self.go_to_ms(found)

    def _go_to_index(self, index: int) -> None:
        """Go to right after the first `index` events, but not before the run's start, event 0."""
        self.index = min(max(index, 1), len(self.recording))
        self.at_ms = self.recording.times[self.index - 1] if self.index else 0
