"""A run that is watched while it goes on, in a process of its own.

The run plays as far as the screen has come and then waits; it is simulated by the same supersteps
as any other, so what it does is the same however it is stopped, stepped and looked at.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

import msgspec

from actors.hosts import supersteps
from actors.injector import Strike
from actors.jobs import JobSpec
from callboard.errors import explain
from callboard.play import Options, Sink, all_of, beginning, ending, make_kernel
from callboard.plugins import make_policy
from journal.writer import JournalWriter
from scenarios.spec import Scenario
from scheduler.model import Millis
from tui.frame import Frame
from tui.head import Head
from tui.remote import RemoteSource
from tui.source import GoTo, Play, Request, Step, StepKind
from tui.tape import Tape

_ANSWER_WITHIN_S = 0.08
"""How long a run plays on before it answers, if it is asked for more than it can do meanwhile."""

_FOR_EVER_MS = 1 << 62
_LOOK_EVERY = 64
"""After how many supersteps it looks at the clock, and whether something else is asked."""


class Plan(msgspec.Struct, frozen=True):
    """What to play; `script` as in `callboard.play.play`."""

    scenario: Scenario
    jobs: Sequence[JobSpec]
    policy: str
    options: Options = Options()
    script: Sequence[Strike] | None = None


class LiveRun:
    """A run and the tape that it fills; `answer` plays it as far as a request needs.

    `wanted` says whether something else is asked meanwhile.  A context: leaving it ends the run,
    as interrupted if it is not over, and closes the journal.
    """

    live = True

    def __init__(
        self,
        plan: Plan,
        wanted: Callable[[], bool] = lambda: False,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tape = Tape()
        self.head = Head(self.tape)
        self._wanted = wanted
        self._clock_s = clock_s
        self._exits = contextlib.ExitStack()
        sinks: list[Sink] = [self.tape.append]
        if plan.options.journal is not None:
            sinks.append(self._exits.enter_context(JournalWriter(plan.options.journal)))
        self._sink = all_of(sinks)
        policy = make_policy(plan.policy, plan.scenario.parts)
        what = plan.scenario, plan.jobs, policy, plan.options, self._sink
        self.kernel = make_kernel(*what, script=plan.script)
        self._steps = supersteps(self.kernel)
        self._sink(beginning(plan.scenario, plan.policy))
        self._play_to(0, None)  # what happens at once is there from the start

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.tape.closed:
            self.kernel.stop("interrupted")
            with contextlib.suppress(Exception):
                self._superstep()
        self._exits.close()

    def answer(self, request: Request) -> Frame:
        """Do what is asked, and show it."""
        head, move, until_s = self.head, request.move, self._clock_s() + _ANSWER_WITHIN_S
        match move:
            case Play(by_ms=None):
                if head.at_ms >= self.tape.end_ms:
                    self._play_to(None, until_s)
                    move = GoTo(None)
            case Play(by_ms=by_ms):
                self._play_to(head.at_ms + int(by_ms or 0) + 1, until_s)
            case GoTo(at_ms=int(at_ms)):
                self._play_to(at_ms, None)
            case Step(kind=kind, back=False):
                self._play_to_next(kind)
            case _:
                pass
        head.move(move)
        return head.frame(request.view)

    def ask(self, request: Request, answer: Callable[[Frame], None]) -> None:
        """As a source in the same process."""
        answer(self.answer(request))

    def close(self) -> None:
        self.__exit__(None, None, None)

    def _play_to(self, at_ms: Millis | None, until_s: float | None) -> None:
        """Simulate until everything up to a moment has happened, time is up, or more is asked."""
        limit_ms, kernel = _FOR_EVER_MS if at_ms is None else at_ms, self.kernel
        count = 0
        while kernel.now_ms <= limit_ms and self._superstep():
            count += 1
            if count % _LOOK_EVERY == 0 and self._break_off(until_s):
                return

    def _play_to_next(self, kind: StepKind) -> None:
        """Simulate until the tape has the next moment of a kind, and all of that moment."""
        if kind is StepKind.EVENT:
            while len(self.tape) <= self.head.index and self._superstep():
                pass
            return
        count = 0
        while (found := self.head.next(kind)) is None and self._superstep():
            count += 1
            if count % _LOOK_EVERY == 0 and self._wanted():
                return
        if found is not None:
            self._play_to(found, None)

    def _break_off(self, until_s: float | None) -> bool:
        return self._wanted() or (until_s is not None and self._clock_s() >= until_s)

    def _superstep(self) -> bool:
        """Simulate one superstep; whether the run goes on."""
        tape = self.tape
        if tape.closed:
            return False
        try:
            goes_on = next(self._steps, True) is None
        except Exception as error:
            message, _ = explain(error)
            self.tape.trouble = message or f"{type(error).__name__}: {error}"
            self.tape.closed = True
            return False
        if not goes_on:
            self._sink(ending(self.kernel))
            return False
        # Of this instant more may come; what was before it is known.
        if tape.end_ms < self.kernel.now_ms - 1:
            tape.end_ms = self.kernel.now_ms - 1
        return True


def serve(connection: Connection, plan: Plan) -> None:
    """The process of the run: answer requests until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the screen says when to end
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # the terminal is the screen's
        os.dup2(nowhere, stream)
    decode = msgspec.msgpack.Decoder(Request).decode
    encode = msgspec.msgpack.Encoder().encode
    with LiveRun(plan, connection.poll) as run, contextlib.suppress(EOFError, OSError):
        while True:
            request = decode(connection.recv_bytes())
            connection.send_bytes(encode(run.answer(request)))


def start(plan: Plan) -> RemoteSource:
    """Begin the run in a process of its own; it waits for the first request."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, plan), daemon=True)
    process.start()
    theirs.close()

    def end() -> None:
        process.join(timeout=5)
        if process.is_alive():
            process.terminate()

    return RemoteSource(ours, end)
