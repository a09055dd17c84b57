"""The tasks that set jobs up and clean up after them, which the master gives out ahead of policies.

A heartbeat that brings one brings nothing else (rule H6, JobTracker.getSetupAndCleanupTasks): a
cleanup before any setup, in a map slot if one is free, else in a reduce slot.  Policies never see
them; the slots that they hold count as held.
"""

from typing import TYPE_CHECKING, NamedTuple

from callboard.actors.kernel.address import job_address
from callboard.actors.master.entries import NodeEntry
from callboard.actors.master.ledger import Ledger
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AuxiliaryPurpose, Outcome
from callboard.scheduler.model import KINDS, AttemptId, JobId, Locality, NodeId, TaskKind

if TYPE_CHECKING:
    from callboard.actors.master.master import Master

_CLEANUP = AuxiliaryPurpose.CLEANUP


class _Pending(NamedTuple):
    """A job asked for this; `cause` made it pending, after `tries` attempts."""

    job: JobId
    work: msg.AuxiliaryWork
    cause: int
    tries: int = 0


class _Running(NamedTuple):
    """What runs on a node, in a slot of this kind; `cause` is its launch."""

    pending: _Pending
    node: NodeEntry
    kind: TaskKind
    cause: int


class AuxiliaryTasks:
    """Those that are pending, and those that run."""

    def __init__(self, ledger: Ledger, outbox: "Master") -> None:
        self._ledger = ledger
        self._outbox = outbox
        self.pending: list[_Pending] = []
        """Any node with a free slot of either kind would be given one."""
        self._running: dict[AttemptId, _Running] = {}

    def ask(self, order: msg.RunAuxiliary) -> None:
        """A job wants its setup, or its cleanup: then nobody fetches its outputs any more."""
        if order.work.purpose is _CLEANUP:
            self._ledger.drop_outputs(order.job)
        else:
            self._ledger.announce(order.job)
        self.pending.append(_Pending(order.job, order.work, self._outbox.cause))

    def assign(self, node: NodeEntry) -> tuple[msg.LaunchTask, ...]:
        """The one to run on the node; none without any, or without a free slot."""
        kind = next((kind for kind in KINDS if node.free(kind)), None)
        if kind is None or not self.pending:
            return ()
        first = next((each for each in self.pending if each.work.purpose is _CLEANUP), None)
        pending = first or self.pending[0]
        self.pending.remove(pending)
        return (self._launch(pending, node, kind),)

    def book(self, report: msg.EndReport) -> bool:
        """Book an end if it is of one of these."""
        running = self._running.get(report.attempt)
        if running is None:
            return False
        self._close(report.attempt, running, report.outcome)
        if report.outcome is Outcome.SUCCEEDED:
            pending = running.pending
            done = msg.AuxiliaryDone(pending.work.purpose)
            self._outbox.send(job_address(pending.job), done)
        else:
            self._run_again(running)
        return True

    def lose(self, node: NodeId) -> None:
        """The node is lost: what ran there runs again elsewhere."""
        cause = self._outbox.cause
        for attempt, running in list(self._running.items()):
            if running.node.node == node:
                self._outbox.cause = cause
                self._close(attempt, running, Outcome.KILLED)
                self._run_again(running)

    def withdraw(self, job: JobId) -> list[tuple[NodeId, msg.KillTask]]:
        """The job has ended: what is to be killed, and where."""
        self.pending = [each for each in self.pending if each.job != job]
        return [
            (running.node.node, msg.KillTask(attempt, self._outbox.cause))
            for attempt, running in self._running.items()
            if running.pending.job == job
        ]

    def forget(self) -> None:
        """The master starts again: nothing is known of what runs."""
        cause = self._outbox.cause
        for attempt, running in list(self._running.items()):
            self._close(attempt, running, Outcome.KILLED)
            self._outbox.cause = cause
        self.pending.clear()

    def _launch(self, pending: _Pending, node: NodeEntry, kind: TaskKind) -> msg.LaunchTask:
        job, work, outbox = pending.job, pending.work, self._outbox
        attempt = self._ledger.take_slot(node, kind)
        del node.freed[kind][:1]
        what = (job, attempt, work.purpose, node.node, kind)
        launched = ev.AuxiliaryLaunched(outbox.now_ms, *what, cause=pending.cause)
        event = outbox.cause = outbox.note(launched)
        self._running[attempt] = _Running(pending, node, kind, event)
        own = (0, pending.tries, Locality.OFF_RACK)
        return msg.LaunchTask(attempt, job, kind, *own, work, tracked=False, cause=event)

    def _close(self, attempt: AttemptId, running: _Running, outcome: Outcome) -> None:
        del self._running[attempt]
        outbox, pending = self._outbox, running.pending
        self._ledger.free_slot(running.node, running.kind)
        what = (pending.job, attempt, pending.work.purpose, running.node.node, outcome)
        closed = ev.AuxiliaryClosed(outbox.now_ms, *what, cause=outbox.cause)
        outbox.cause = outbox.note(closed)
        running.node.freed[running.kind].append(outbox.cause)

    def _run_again(self, running: _Running) -> None:
        job, work, _, tries = running.pending
        if self._ledger.is_known(job):
            self.pending.append(_Pending(job, work, self._outbox.cause, tries + 1))
