"""The tasks that set jobs up and clean up after them, which the master gives out ahead of policies.

A heartbeat that brings one brings nothing else (rule H6, JobTracker.getSetupAndCleanupTasks): a
cleanup before any setup, in a map slot if one is free, else in a reduce slot.  They are attempts
like others, of stages that policies never see; the slots that they hold count as held.
"""

from typing import NamedTuple

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.books.voice import Voice
from callboard.actors.vocabulary.events import WHY_UNSEEN
from callboard.actors.vocabulary.messages import LaunchTask, SubmitStage
from callboard.scheduler.model import CLEANUP, KINDS, Stage


class _Waiting(NamedTuple):
    """A job has asked for this; `cause` made it pending."""

    job: BookedJob
    stage: Stage
    cause: int


class SetupAndCleanup:
    """Those that wait."""

    def __init__(self, ledger: Ledger, voice: Voice) -> None:
        self._ledger = ledger
        self._voice = voice
        self.waiting: list[_Waiting] = []
        """Any node with a free slot of either kind would be given one."""

    def submit_task(self, order: SubmitStage, cause: int) -> None:
        """A job wants its setup, or its cleanup."""
        job = self._ledger.submit_setup_or_cleanup(order)
        if job is not None:
            self.waiting.append(_Waiting(job, order.stage, cause))

    def run_again(self, job: BookedJob, stage: Stage, cause: int) -> None:
        """An attempt of it was lost."""
        job.count_retry(stage, 0)
        self.waiting.append(_Waiting(job, stage, cause))

    def withdraw_job(self, job: BookedJob) -> None:
        """The job has ended."""
        self.waiting = [each for each in self.waiting if each.job is not job]

    def assign(self, member: BookedNode) -> tuple[LaunchTask, ...]:
        """The one to run on the node; none without any, or without a free slot."""
        kind = next((kind for kind in KINDS if member.free(kind)), None)
        if kind is None or not self.waiting:
            return ()
        cleanups = (each for each in self.waiting if each.stage == CLEANUP)
        first = next(cleanups, self.waiting[0])
        self.waiting.remove(first)
        job, stage, cause = first
        entry = self._ledger.launch_setup_or_cleanup(job, stage, kind, member)
        del member.freed[kind][:1]
        entry.event = self._voice.note(entry.launch_event(WHY_UNSEEN[stage], cause))
        return (job.launch_order(entry),)
