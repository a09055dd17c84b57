"""A run that goes as far as somebody wants to see it, and then waits.

It is simulated by the same supersteps as any other, so what it does is the same however it is
stopped, stepped and looked at.  What is done to it by hand is put into what is played: the run is
played again from its start up to that moment, which it reaches just as before, and goes on from
there as the run of a world in which that happens.  So one can also interfere with the past.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from callboard.actors.kernel.drivers import supersteps
from callboard.actors.vocabulary.events import AnyEvent
from callboard.by_hand import Plan
from callboard.errors import explain
from callboard.journal.writer import JournalWriter
from callboard.play import Sink, all_of, beginning, ending, make_kernel
from callboard.plugins import make_policy
from callboard.scheduler.model import Millis
from callboard.tui.frame import Frame
from callboard.tui.head import Head
from callboard.tui.source import GoTo, Interfere, Move, Play, Request, Step, StepKind
from callboard.tui.tape import Tape

_ANSWER_WITHIN_S = 0.08
"""How long a run plays on before it answers, if it is asked for more than it can do meanwhile."""

_FOR_EVER_MS = 1 << 62
_LOOK_EVERY = 512
"""After how many supersteps it looks at the clock and takes their events onto the tape."""

_ASK_EVERY = 64
"""After how many it looks whether something else is asked, which ends such a batch early."""


class LiveRun:
    """A run and the tape that it fills; `answer` plays it as far as a request needs.

    `wanted` says whether something else is asked meanwhile, `deserted` whether nobody is there any
    more.  A context: leaving it ends the run, as interrupted if it is not over, and closes the
    journal.
    """

    def __init__(
        self,
        plan: Plan,
        wanted: Callable[[], bool] = lambda: False,
        clock_s: Callable[[], float] = time.monotonic,
        deserted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.plan = plan
        self._wanted = wanted
        self._deserted = deserted
        self._clock_s = clock_s
        self._begin(plan.options.journal)

    def _begin(self, journal: Path | None) -> None:
        """Set the world up, and let happen what happens at once."""
        self.tape = Tape()
        self.head = Head(self.tape)
        self._exits = contextlib.ExitStack()
        self._told: list[AnyEvent] = []
        """What has happened and is not on the tape yet."""
        sinks: list[Sink] = [self._told.append]
        if journal is not None:
            sinks.append(self._exits.enter_context(JournalWriter(journal)))
        self._sink = all_of(sinks)
        plan, world = self.plan, self.plan.world()
        policy = make_policy(plan.policy, world.scenario.parts)
        what = world.scenario, world.jobs, policy, plan.options, self._sink
        self.kernel = make_kernel(*what, script=world.script)
        self._steps = supersteps(self.kernel)
        self._sink(beginning(world.scenario, plan.policy))
        self._play_to(0, None)
        self.head.to_ms(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def over(self) -> bool:
        """Whether the end of the run is shown."""
        return self.tape.closed and self.head.at_ms >= self.tape.end_ms

    def answer(self, request: Request) -> Frame:
        """Do what is asked, and show it."""
        assert isinstance(request.move, Move), request
        self.advance(request.move)
        return self.head.frame(request.view)

    def advance(self, move: Move) -> None:
        """Go where the move leads, and simulate what that needs."""
        head, until_s = self.head, self._clock_s() + _ANSWER_WITHIN_S
        match move:
            case Play(by_ms=None):
                if head.at_ms >= self.tape.end_ms:
                    self._play_to(None, until_s)
                    head.play_to(self.tape.end_ms, move)
                    return
            case Play(by_ms=by_ms):
                self._play_to(head.at_ms + int(by_ms or 0) + 1, until_s)
            case GoTo(at_ms=int(at_ms)):
                self._play_to(at_ms, None)
            case Step(back=False):
                self._play_to_next(move)
            case _:
                pass
        head.move(move)

    def interfere(self, deed: Interfere) -> None:
        """Let something happen right after the moment that is shown, and go there.

        Raises ScenarioError and PolicySpecError for what cannot be done; then nothing has changed.
        """
        at_ms = self.head.at_ms
        plan = self.plan.up_to(at_ms).and_then(at_ms + 1, deed)
        self._play_anew(plan, at_ms + 1)

    def _play_anew(self, plan: Plan, at_ms: Millis) -> None:
        """Play another plan up to a moment.  Until it is there the journal stays what it was."""
        journal = plan.options.journal
        beside = None if journal is None else _beside(journal)
        if beside is not None:
            beside.open("ab").close()  # if that cannot be, nothing has changed yet
        self.close()
        self.plan = plan
        try:
            self._begin(beside)
            self.reach(at_ms)
        except BaseException:
            self.close()
            if beside is not None and beside != journal:
                beside.unlink(missing_ok=True)
            raise
        if journal is not None and beside is not None:
            beside.replace(journal)

    def reach(self, at_ms: Millis) -> None:
        """Go to a moment, however long it takes.  EOFError if nobody is there any more."""
        while self._simulate(at_ms, _LOOK_EVERY):
            if self._deserted():
                raise EOFError
        self.head.to_ms(at_ms)

    def close(self) -> None:
        """End the run, as interrupted if it is not over, and close its journal."""
        if not self.tape.closed:
            self.kernel.stop("interrupted")
            with contextlib.suppress(Exception):
                self._simulate(_FOR_EVER_MS, 1)
        self._exits.close()

    def _play_to(self, at_ms: Millis | None, until_s: float | None) -> None:
        """Simulate until everything up to a moment has happened, time is up, or more is asked."""
        limit_ms = _FOR_EVER_MS if at_ms is None else at_ms
        while self._simulate(limit_ms, _LOOK_EVERY):
            if self._break_off(until_s):
                return

    def _play_to_next(self, step: Step) -> None:
        """Simulate until the tape has the next moment of a kind, and all of that moment."""
        if step.kind is StepKind.EVENT:
            while len(self.tape) <= self.head.index and self._simulate(_FOR_EVER_MS, 1):
                pass
            return
        count, looked = 0, self.head.index
        while (found := self.head.next(step, looked)) is None:
            looked = len(self.tape)
            if not self._simulate(_FOR_EVER_MS, 1):
                return
            count += 1
            if count % _ASK_EVERY == 0 and self._wanted():
                return
        self._play_to(found, None)

    def _break_off(self, until_s: float | None) -> bool:
        return self._wanted() or (until_s is not None and self._clock_s() >= until_s)

    def _simulate(self, limit_ms: Millis, most: int) -> bool:
        """Simulate at most so many supersteps, while it is not past a moment and nothing else is
        asked, and take onto the tape what happens; whether there is more to simulate.
        """
        if self.tape.closed:
            return False
        kernel, steps, goes_on, trouble = self.kernel, self._steps, True, ""
        try:
            while most and goes_on and kernel.now_ms <= limit_ms:
                goes_on = next(steps, True) is None
                most -= 1
                if most and not most % _ASK_EVERY and self._wanted():
                    break
        except Exception as error:
            message, _ = explain(error)
            trouble = message or f"{type(error).__name__}: {error}"
        try:
            if not goes_on:
                self._sink(ending(kernel))
        finally:
            self._take_in()
        if trouble:
            self.tape.trouble, self.tape.closed = trouble, True
        return not self.tape.closed and kernel.now_ms <= limit_ms

    def _take_in(self) -> None:
        """Take onto the tape what has been told."""
        tape = self.tape
        for event in self._told:
            tape.append(event)
        self._told.clear()
        # Of this instant more may come; what was before it is known.
        tape.end_ms = max(tape.end_ms, self.kernel.now_ms - 1)


def _beside(path: Path) -> Path:
    """Where to record meanwhile, so that the journal is never less than one whole run."""
    return path.with_name(f"{path.name}.{os.getpid()}.part") if path.is_file() else path
