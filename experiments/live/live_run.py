"""A run that goes as far as a viewer wants to see it, and then waits.

Its supersteps are the same however it is stopped, stepped and looked at.  An intervention is put
into what is played: the run is played again from its start up to that moment, which it reaches just
as before, and goes on from there.  So one can also intervene in the past.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.error_messages import describe_error
from callboard.experiments.live.job_oracles import oracle_of_run
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation, Sink
from callboard.experiments.whole_files import part_beside
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo, Move, Play, Request, Step, StepKind
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import Millis

_ANSWER_WITHIN_S = 0.08
"""How long a run plays on before it answers, if it is asked for more than it can do meanwhile."""

_FOR_EVER_MS = 1 << 62
_LOOK_EVERY = 512
"""After how many supersteps it looks at the clock and records their events."""

_ASK_EVERY = 64
"""After how many it looks whether something else is asked, which ends such a batch early."""


class LiveRun:
    """A run and the recording that it fills; `answer` plays it as far as a request needs.

    `has_request` says whether something else is asked meanwhile, `client_gone` whether the client
    has left.  Leaving the context ends the run, as interrupted if it is not over.
    """

    def __init__(
        self,
        spec: RunSpec,
        journal: Path | None = None,
        has_request: Callable[[], bool] = lambda: False,
        clock_s: Callable[[], float] = time.monotonic,
        client_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self.spec = spec
        self.journal = journal
        self._has_request = has_request
        self._client_gone = client_gone
        self._clock_s = clock_s
        self._begin_simulation(journal)

    def _begin_simulation(self, journal: Path | None) -> None:
        """Set the world up, and let happen what happens at once."""
        self._exits = contextlib.ExitStack()
        self._pending_events: list[AnyEvent] = []
        """What has happened and is not in the recording yet."""
        sinks: list[Sink] = [self._pending_events.append]
        self._writer = None if journal is None else JournalWriter(journal)
        if self._writer is not None:
            sinks.append(self._exits.enter_context(self._writer))
        simulation = Simulation(self.spec, sinks)
        self.kernel, self._steps = simulation.kernel, simulation.supersteps()
        self.recording = Recording(lambda _started: oracle_of_run(simulation.spec))
        self.cursor = Cursor(self.recording)
        self._play_to(0, None)
        self.cursor.go_to_ms(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer_request(self, request: Request) -> Frame:
        self.carry_out_move(request.move)
        return self.cursor.frame(request.view)

    def carry_out_move(self, move: Move) -> Move | None:
        """Go where the move leads, and simulate what that needs.  What is left of it, if something
        else was asked on the way; time that passes is never owed.
        """
        cursor, until_s, arrived = self.cursor, self._clock_s() + _ANSWER_WITHIN_S, True
        match move:
            case Play(by_ms=None):
                if cursor.at_ms >= self.recording.end_ms:
                    self._play_to(None, until_s)
                    cursor.play_to(self.recording.end_ms, move)
                    return None
            case Play(by_ms=by_ms):
                self._play_to(cursor.at_ms + int(by_ms or 0) + 1, until_s)
            case GoTo(at_ms=int(at_ms)):
                arrived = self._play_to(at_ms, None)
            case Step(back=False):
                if not self._play_to_next(move):
                    return move
            case _:
                pass
        cursor.move(move)
        return None if arrived else move

    def intervene(self, intervention: Intervene) -> None:
        """Let something happen right after the moment that is shown, and go there; ScenarioError or
        PolicySpecError, with nothing changed, if it cannot be done.
        """
        at_ms = self.cursor.at_ms
        spec = self.spec.without_later_interventions(at_ms).with_intervention(
            at_ms + 1, intervention
        )
        self._replay(spec, at_ms + 1)

    def _replay(self, spec: RunSpec, at_ms: Millis) -> None:
        """Play another spec up to a moment.  Until it is there the journal stays what it was."""
        # Of a link it is the file that this leads to.
        journal = None if self.journal is None else Path(os.path.realpath(self.journal))
        temporary = None if journal is None else _temporary_journal(journal)
        if temporary is not None:
            temporary.open("ab").close()  # if that cannot be, nothing has changed yet
        with contextlib.nullcontext() if self._writer is None else self._writer.keep_lock():
            self.close()
            self.spec = spec
            try:
                self._begin_simulation(temporary)
                self.go_to_moment(at_ms)
            except BaseException:
                self.close()
                if temporary is not None and temporary != journal:
                    temporary.unlink(missing_ok=True)
                raise
            if journal is not None and temporary is not None:
                temporary.replace(journal)

    def go_to_moment(self, at_ms: Millis) -> None:
        """Go to a moment, however long it takes.  EOFError if the client has left."""
        while self._simulate_and_record(at_ms, _LOOK_EVERY):
            if self._client_gone():
                raise EOFError
        self.cursor.go_to_ms(at_ms)

    def close(self) -> None:
        """End the run, as interrupted if it is not over, and close its journal."""
        if not self.recording.closed:
            self.kernel.end_run("interrupted")
            with contextlib.suppress(Exception):
                self._simulate_and_record(_FOR_EVER_MS, 1)
        self._exits.close()

    def _play_to(self, at_ms: Millis | None, until_s: float | None) -> bool:
        """Simulate until everything up to a moment has happened, time is up, or more is asked;
        whether the moment was reached.
        """
        limit_ms = _FOR_EVER_MS if at_ms is None else at_ms
        while self._simulate_and_record(limit_ms, _LOOK_EVERY):
            if self._has_request() or (until_s is not None and self._clock_s() >= until_s):
                return False
        return True

    def _play_to_next(self, step: Step) -> bool:
        """Simulate until the recording has the next moment of a kind, and all of that moment, or
        the run is over; False if more was asked before.
        """
        if step.kind is StepKind.EVENT:
            while len(self.recording) <= self.cursor.index and self._simulate_and_record(
                _FOR_EVER_MS, 1
            ):
                pass
            return True
        count, looked = 0, self.cursor.index
        while (found := self.cursor.next_step_ms(step, looked)) is None:
            looked = len(self.recording)
            if not self._simulate_and_record(_FOR_EVER_MS, 1):
                return True
            count += 1
            if count % _ASK_EVERY == 0 and self._has_request():
                return False
        return self._play_to(found, None)

    def _simulate_and_record(self, limit_ms: Millis, most: int) -> bool:
        """Up to `most` supersteps, or to a limit; whether more is left."""
        if self.recording.closed:
            return False
        kernel, steps, goes_on, trouble = self.kernel, self._steps, True, ""
        try:
            while most and goes_on and kernel.now_ms <= limit_ms:
                goes_on = next(steps, True) is None
                most -= 1
                if most and not most % _ASK_EVERY and self._has_request():
                    break
        except Exception as error:
            message, _ = describe_error(error)
            trouble = message or f"{type(error).__name__}: {error}"
        self._move_events_to_recording()
        if trouble:
            self.recording.failure, self.recording.closed = trouble, True
        return not self.recording.closed and kernel.now_ms <= limit_ms

    def _move_events_to_recording(self) -> None:
        recording = self.recording
        for event in self._pending_events:
            recording.append(event)
        self._pending_events.clear()
        # Of this instant more may come; what was before it is known.
        recording.end_ms = max(recording.end_ms, self.kernel.now_ms - 1)


def _temporary_journal(path: Path) -> Path:
    """Where to record meanwhile, so that the journal is never less than one whole run."""
    return part_beside(path) if path.is_file() else path
