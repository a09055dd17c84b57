"""The books of a scheduler: what it believes of nodes, jobs and attempts.  Entries have the
attributes of the policy's views (`scheduler.view`), so nothing is copied for a decision.
"""

from collections.abc import Iterable
from operator import attrgetter

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.job_tasks import BookedJob, JobSums
from callboard.actors.books.members import BookedNode, Members
from callboard.actors.topology import Topology
from callboard.actors.vocabulary.lifecycle import BookedChange, BookedState
from callboard.actors.vocabulary.messages import JobProfile, SubmitStage
from callboard.scheduler import model
from callboard.scheduler.model import MAPS, SETUP, Locality, Stage, slot_kind

ATTEMPTS_SKIPPED = 1000  # by a scheduler that begins anew, as Hadoop's master

_FAILED = BookedState.FAILED
_SUBMISSION = attrgetter("submission")
_SUCCEEDED = BookedState.SUCCEEDED


class Ledger:
    """All of a scheduler's books; its attempts are numbered from behind `last_attempt` on.  With
    `binds_early` nodes may be given more than they have free slots for, which waits there.
    """

    def __init__(
        self,
        racks: int | Topology,
        heartbeat_ms: model.Millis,
        last_attempt: model.AttemptId = 0,
        *,
        binds_early: bool = False,
    ) -> None:
        self.now_ms: model.Millis = 0
        self._binds_early = binds_early
        self.heartbeat_ms = heartbeat_ms
        self.members = Members()
        self.sums = JobSums()
        self._racks = Topology(racks) if isinstance(racks, int) else racks
        self._jobs: dict[model.JobId, BookedJob] = {}
        self._preparing: dict[model.JobId, BookedJob] = {}
        """Jobs that are being initialised or set up: no policy knows them yet."""
        self._attempts: dict[model.AttemptId, BookedAttempt] = {}
        self._unseen = 0
        """How many of the attempts set jobs up or clean up after them."""
        self._last_attempt = last_attempt
        self._submitted = 0

    def successor(self) -> "Ledger":
        """Empty books of the same scheduler, which begins anew."""
        self.members.forget_nodes()
        behind = self._last_attempt + ATTEMPTS_SKIPPED
        early = self._binds_early
        empty = Ledger(self._racks, self.heartbeat_ms, behind, binds_early=early)
        empty.now_ms = self.now_ms
        return empty

    # The view.

    @property
    def nodes(self) -> int:
        return len(self.members)

    def slots(self, kind: model.SlotKind) -> int:
        return self.members.slots[kind]

    def running(self, kind: model.SlotKind) -> int:
        return self.members.running[kind]

    def pending(self, kind: model.SlotKind) -> int:
        return self.sums.pending[kind] + self.sums.suspended[kind]

    def unfinished(self, kind: model.SlotKind) -> int:
        return self.sums.unfinished[kind]

    def tasks_counted_for_padding(self, kind: model.SlotKind) -> int:
        return self.sums.padded[kind]

    def node(self, node: model.NodeId) -> BookedNode | None:
        return self.members.get(node)

    def job(self, job: model.JobId) -> BookedJob:
        return self._jobs[job]

    def jobs(self) -> Iterable[BookedJob]:
        return self._jobs.values()

    def attempts(self) -> Iterable[BookedAttempt]:
        if not self._unseen:
            return self._attempts.values()
        return [each for each in self._attempts.values() if each.stage < SETUP]

    def attempt(self, attempt: model.AttemptId) -> BookedAttempt | None:
        return self._attempts.get(attempt)

    @property
    def last_attempt(self) -> model.AttemptId:
        """The number of the latest attempt."""
        return self._last_attempt

    # Jobs.

    def has_job(self, job: model.JobId) -> bool:
        """Whether tasks of the job have been submitted and it has not ended."""
        return job in self._jobs

    def known_job(self, job: model.JobId) -> BookedJob | None:
        """A job that has not left the books, be it that it is still being initialised or set up."""
        return self._jobs.get(job) or self._preparing.get(job)

    @property
    def has_jobs(self) -> bool:
        """Whether there is any job that has not left the books."""
        return bool(self._jobs or self._preparing)

    def known_jobs(self) -> list[BookedJob]:
        """All jobs, those last that are being initialised or set up."""
        return [*self._jobs.values(), *self._preparing.values()]

    def prepare_job(self, job: model.JobId, profile: JobProfile) -> BookedJob:
        """A job is new; no stage of it may run yet."""
        self._submitted += 1
        entry = self._preparing[job] = BookedJob(
            job,
            profile,
            self.now_ms,
            self._submitted,
            racks=self._racks,
            members=self.members,
            sums=self.sums,
        )
        return entry

    def submit_stage(self, order: SubmitStage, cause: int) -> None:
        """A stage of tasks may run from now on; with its maps a job is here."""
        job = order.job
        if order.stage == MAPS:
            if job not in self._preparing:
                self.prepare_job(job, order.profile)
            self._insert_by_submission(self._preparing.pop(job))
        self._jobs[job].open_stage(order, cause)

    def _insert_by_submission(self, entry: BookedJob) -> None:
        """Have it among the jobs, ahead of those that were submitted later: its setup may last."""
        latest = next(reversed(self._jobs.values()), entry)
        self._jobs[entry.job] = entry
        if latest.submission > entry.submission:
            self._jobs = {job.job: job for job in sorted(self._jobs.values(), key=_SUBMISSION)}

    def submit_setup_or_cleanup(self, order: SubmitStage) -> BookedJob | None:
        """A job wants its setup, or its cleanup: then nobody fetches its outputs any more.  None
        for the cleanup of one that is not here.
        """
        entry = self.known_job(order.job)
        if entry is None and order.stage == SETUP:
            entry = self.prepare_job(order.job, order.profile)
        if entry is not None:
            entry.forget_outputs()
            entry.keep_stage_work(order)
        return entry

    def drop_job(self, entry: BookedJob) -> None:
        """Nothing of a job that has ended runs any more."""
        entry.leave()
        if self._preparing.pop(entry.job, None) is None:
            del self._jobs[entry.job]

    # Attempts.

    def launch_task(self, entry: BookedJob, stage: Stage, member: BookedNode) -> BookedAttempt:
        """Book the stage's nearest pending task on the node."""
        kind = slot_kind(stage)
        task, level = entry.take_for_node(stage, kind, member.node)
        attempt = self._open_attempt(entry, stage, kind, task, member, level)
        attempt.older = entry.beaten.get((stage, task))
        return attempt

    def launch_setup_or_cleanup(
        self, entry: BookedJob, stage: Stage, kind: model.SlotKind, member: BookedNode
    ) -> BookedAttempt:
        """Book a job's setup or cleanup on the node, in a free slot of this kind."""
        self._unseen += 1
        return self._open_attempt(entry, stage, kind, 0, member, Locality.OFF_RACK)

    def copy_attempt(self, original: BookedAttempt, member: BookedNode) -> BookedAttempt:
        """Book a second attempt of a running task on the node."""
        assert original.alone, "S4: a task has at most two attempts at a time"
        entry, stage, task = original.owner, original.stage, original.task
        entry.count_retry(stage, task)
        entry.spare[stage] += 1
        level = entry.tasks[stage].level(task, member.node)
        copy = self._open_attempt(
            entry, stage, original.kind, task, member, level, original.attempt
        )
        copy.sibling, original.sibling = original, copy
        return copy

    def _open_attempt(
        self,
        entry: BookedJob,
        stage: Stage,
        kind: model.SlotKind,
        task: model.TaskIndex,
        member: BookedNode,
        level: Locality,
        original: model.AttemptId = 0,
    ) -> BookedAttempt:
        fits = member.free_slots[kind] > 0 or self._binds_early
        assert fits, f"node {member.node} has no free slot of {kind!r}"
        self._last_attempt += 1
        number, tried = self._last_attempt, entry.tries.get((stage, task), 0)
        attempt = BookedAttempt(
            entry,
            number,
            entry.job,
            stage,
            kind,
            task,
            tried,
            member.node,
            level,
            self.now_ms,
            original,
        )
        self._attempts[number] = entry.attempts[number] = member.attempts[number] = attempt
        self._count_running(attempt, 1)
        return attempt

    def close_attempt(self, attempt: BookedAttempt, change: BookedChange) -> BookedAttempt | None:
        """Book an attempt's end; the other one of its task, beaten if this one has succeeded."""
        held_slot, number, entry = attempt.holds_slot, attempt.attempt, attempt.owner
        attempt.change_state(change)
        del self._attempts[number], entry.attempts[number]
        del self.members[attempt.node].attempts[number]
        if held_slot:
            self._count_running(attempt, -1)
        else:
            self._count_suspended(attempt, -1)
        if attempt.stage >= SETUP:
            self._unseen -= 1
            return None
        sibling = _part_from_sibling(attempt, entry)
        if attempt.state is _SUCCEEDED:
            entry.finish(attempt)
        elif sibling is not None or attempt.beaten:
            entry.spare[attempt.stage] -= 1
        else:
            entry.lost[attempt.stage] += 1
        return sibling

    def suspend_attempt(self, attempt: BookedAttempt) -> None:
        """An attempt has given up its slot and is held by its node."""
        attempt.change_state(BookedChange.REPORT_SUSPENDED)
        attempt.suspended_ms = self.now_ms
        self._count_running(attempt, -1)
        self._count_suspended(attempt, 1)

    def resume_attempt(self, attempt: BookedAttempt) -> None:
        attempt.change_state(BookedChange.ORDER_RESUME)
        attempt.suspended_ms = None
        self._count_suspended(attempt, -1)
        self._count_running(attempt, 1)

    def _count_running(self, attempt: BookedAttempt, more: int) -> None:
        self.members.count_running(attempt, more)
        if attempt.stage < SETUP:
            attempt.owner.count_running(attempt, more)

    def _count_suspended(self, attempt: BookedAttempt, more: int) -> None:
        self.members.count_suspended(attempt, more)
        attempt.owner.count_suspended(attempt, more)


def _part_from_sibling(attempt: BookedAttempt, entry: BookedJob) -> BookedAttempt | None:
    """What the end of an attempt means for the other one of its task, which is returned: it is
    beaten, or its task has failed too often, or it runs alone.
    """
    sibling, attempt.sibling = attempt.sibling, None
    what = (attempt.stage, attempt.task)
    if sibling is not None:
        sibling.sibling = None
        if attempt.state is _SUCCEEDED:
            sibling.beaten = True
            entry.beaten[what] = sibling
    if attempt.beaten:
        del entry.beaten[what]
    if attempt.state is _FAILED:
        doomed = entry.fail(*what, attempt.node)
        if sibling is not None:
            sibling.doomed = doomed
    return sibling
