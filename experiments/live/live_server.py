"""The process in which a watched run plays, or two of them beside each other."""

import contextlib
import multiprocessing
import os
import select
import signal
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import msgspec

from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.journal_paths import fresh_name, slug
from callboard.experiments.live.live_requests import AnyRequest, Fork, Intervention, Keep, Save
from callboard.experiments.live.live_run import LiveRun
from callboard.experiments.live.remote_source import RemoteSource
from callboard.experiments.live.saved_run import CannotSave, save_journal, save_scenario
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.plugins import canonical_policy
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.user_errors import InputError
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.lockstep import Lockstep
from callboard.journal.replay.source import GoTo, GoToEvent, Halt, Move, Request, Stay, Step
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError


class RequestRefused(Exception):
    """What a person wants cannot be done now; the message is meant for them."""


class LiveServer:
    """One live run, or two in lock-step, and what is done to them: a context like `LiveRun`, with
    its `has_request` and `client_gone`.  `journals` are where the runs are recorded.

    A move that takes long gives way to the next request, and goes on with it: to look again drops
    none, another moment in its place does, a step comes after it.
    """

    live = True

    def __init__(
        self,
        specs: Sequence[RunSpec],
        journals: Sequence[Path | None] = (),
        *,
        has_request: Callable[[], bool] = lambda: False,
        client_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self._has_request = has_request
        self._client_gone = client_gone
        self._moves: deque[Move] = deque()
        """What is still to be done of the moves that were asked for."""
        self._play = partial(LiveRun, has_request=has_request, client_gone=client_gone)
        self.runs = [self._play(spec, journal) for spec, journal in zip_longest(specs, journals)]
        self._pair_runs()

    def _pair_runs(self) -> None:
        pair = self.runs if len(self.runs) == 2 else None
        self._lockstep = Lockstep(pair[0], pair[1], self._has_request) if pair else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for run in self.runs:
            run.close()

    def ask_frame(self, request: AnyRequest, answer: Callable[[Frame], None]) -> None:
        """As a source in the same process."""
        answer(self.answer_request(request))

    def answer_request(self, request: AnyRequest) -> Frame:
        """Do what is asked, and show it; what cannot be done is said in the frame."""
        if isinstance(request, Request):
            return self._frame_after_move(request)
        refusal = ""
        self._finish_moves(request.view.lead)
        try:
            self._carry_out_intervention(request.intervention, request.view.lead)
        except (RequestRefused, CannotSave, ScenarioError, PolicySpecError, InputError) as error:
            refusal = str(error)
        except OSError as error:  # of a journal or a scenario
            refusal = f"{error.filename}: {error.strerror}"
        frame = self._frame_after_move(Request(Stay(), request.view))
        return msgspec.structs.replace(frame, refusal=refusal) if refusal else frame

    def _frame_after_move(self, request: Request) -> Frame:
        self._queue_move(request.move)
        self._carry_out_moves(request.view.lead)
        return (self._lockstep or self.runs[0].cursor).frame(request.view)

    def _queue_move(self, move: Move) -> None:
        """One more move after those under way.  No time passes before they are done."""
        if isinstance(move, GoTo | GoToEvent | Halt):
            self._moves.clear()
        if not self._moves or isinstance(move, Step):
            self._moves.append(move)

    def _carry_out_moves(self, lead: int) -> None:
        """Do what is to be done, until something else is asked."""
        while self._moves:
            move = self._moves.popleft()
            left = (
                self.runs[0].carry_out_move(move)
                if self._lockstep is None
                else self._lockstep.carry_out_move(move, lead)
            )
            if left is not None:
                self._moves.appendleft(left)
                return

    def _finish_moves(self, lead: int) -> None:
        """An intervention is at the moment to which they lead.  EOFError if the client has left."""
        while self._moves:
            self._carry_out_moves(lead)
            if self._client_gone():
                raise EOFError

    def _carry_out_intervention(self, intervention: Intervention, lead: int) -> None:
        match intervention:
            case Intervene():
                self._intervene_in_runs(intervention, lead)
            case Fork(policy=policy):
                self._fork_run(policy, lead)
            case Keep(side=side):
                self._keep_one_run(side)
            case Save():
                self._save_run(intervention, lead)

    def _intervene_in_runs(self, intervention: Intervene, lead: int) -> None:
        """Do it to the world of both runs; a policy is put in force in the front one alone."""
        runs = [run for run in self.runs if not run.cursor.is_at_end]
        if any(isinstance(fault, SwitchPolicy) for fault in intervention.faults) and self._lockstep:
            runs = [run for run in runs if run is self.runs[lead]]
        if not runs:
            raise RequestRefused("the run is over here; go back to a moment before its end")
        at_ms = max(run.cursor.at_ms for run in runs)
        for run in runs:
            run.intervene(intervention)
        for run in self.runs:
            run.go_to_moment(at_ms + 1)

    def _fork_run(self, policy: str, lead: int) -> None:
        """The same world up to here, and from here on another policy; at 0 it is chosen."""
        run = self.runs[lead if self._lockstep is not None else 0]
        if run.cursor.is_at_end:
            raise RequestRefused("the run is over here; go back to a moment before its end")
        policy, at_ms = canonical_policy(policy, run.spec.scenario.parts), run.cursor.at_ms
        there_ms = at_ms + 1 if at_ms else 0
        spec = run.spec.without_later_interventions(at_ms)
        if at_ms == 0:
            spec = msgspec.structs.replace(spec, policy=policy)
        else:
            spec = spec.with_intervention(there_ms, Intervene((SwitchPolicy(policy),)))
        other = self._play(spec, _fork_journal_path(run.journal, policy))
        for each in self.runs:
            if each is not run:
                each.close()
        self.runs = [run, other]
        for each in self.runs:
            each.go_to_moment(there_ms)
        self._pair_runs()

    def _save_run(self, save: Save, lead: int) -> None:
        run, path = self.runs[lead if self._lockstep is not None else 0], Path(save.path)
        if path.exists() and not save.replace:
            raise RequestRefused(f"{path} exists; choose another name")
        if save.as_journal:
            save_journal(run, path, self._play)
        else:
            save_scenario(run.spec, path)

    def _keep_one_run(self, side: int) -> None:
        if self._lockstep is None:
            return
        self.runs[1 - side].close()
        self.runs = [self.runs[side]]
        self._pair_runs()


def _fork_journal_path(journal: Path | None, policy: str) -> Path | None:
    """Where the fork of a recorded run is recorded: a name that nothing has yet."""
    if journal is None:
        return None
    stem = f"{journal.stem}-fork-{slug(policy)}"
    fresh = fresh_name(stem, lambda name: journal.with_name(name + journal.suffix).exists())
    return journal.with_name(fresh + journal.suffix)


def serve_runs(
    connection: Connection, specs: Sequence[RunSpec], journals: Sequence[Path | None]
) -> None:
    """The process of the runs: answer requests until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the screen says when to end
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # the terminal is the screen's
        os.dup2(nowhere, stream)
    decode = msgspec.msgpack.Decoder[AnyRequest](AnyRequest).decode
    encode = msgspec.msgpack.Encoder().encode
    gone = partial(_client_hung_up, connection)
    server = LiveServer(specs, journals, has_request=connection.poll, client_gone=gone)
    with server, contextlib.suppress(EOFError, OSError):
        while True:
            request = decode(connection.recv_bytes())
            connection.send_bytes(encode(server.answer_request(request)))


def _client_hung_up(connection: Connection) -> bool:
    """Whether the other side is gone, even if requests of its are still to be read."""
    poller = select.poll()
    poller.register(connection.fileno(), select.POLLHUP)
    return bool(poller.poll(0))


def start_runs(specs: Sequence[RunSpec], journals: Sequence[Path | None] = ()) -> RemoteSource:
    """Begin one run, or two beside each other, in a process; they wait for the first request."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_runs, args=(theirs, specs, journals), daemon=True)
    process.start()
    theirs.close()

    def end() -> None:
        process.join(timeout=5)
        if process.is_alive():
            process.terminate()

    return RemoteSource(ours, end)
