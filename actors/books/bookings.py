"""What nodes report is booked: ends of attempts, and what becomes of their tasks and outputs."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.job_tasks import TRACKER_FAILURES_MAX, BookedJob, Output
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.books.voice import Voice
from callboard.actors.kernel.address import job_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import (
    BOOKED_ATTEMPT,
    BookedChange,
    BookedJobState,
    BookedState,
    step,
)
from callboard.scheduler import facts
from callboard.scheduler.model import MAPS, REDUCE, SETUP, AttemptId, Millis, NodeId
from callboard.scheduler.reasons import Reason

_ENDING = BookedJobState.ENDING
_FAILED = Outcome.FAILED
_REPORT_REDUNDANT = BookedChange.REPORT_REDUNDANT
_SUCCEEDED = Outcome.SUCCEEDED

_REPORTS = {
    Outcome.SUCCEEDED: BookedChange.REPORT_SUCCEEDED,
    Outcome.FAILED: BookedChange.REPORT_FAILED,
    Outcome.KILLED: BookedChange.REPORT_KILLED,
}


class Bookings:
    """Books in `ledger`, and tells the policy and the jobs."""

    def __init__(self, ledger: Ledger, voice: Voice) -> None:
        self._ledger = ledger
        self._voice = voice
        self.not_begun: dict[AttemptId, int] = {}
        """Attempts whose launch is stuck, by the events that told so."""

    def book_report(self, report: msg.AnyReport) -> None:
        """Book what a heartbeat reports."""
        if isinstance(report, msg.EndReport):  # nearly all
            entry = self._ledger.attempt(report.attempt)
            assert entry is not None, f"attempt {report.attempt} was closed before"
            change = _REPORT_REDUNDANT if entry.beaten else _REPORTS[report.outcome]
            self.close_attempt(entry, change, report.cause, report.ran_ms, report.shuffled_ms)
        elif isinstance(report, msg.SuspensionReport):
            self._book_suspension(report)
        elif isinstance(report, msg.NotBegun):
            self.not_begun[report.attempt] = report.cause
        elif self._ledger.has_job(report.job):
            running = self._ledger.job(report.job).running(REDUCE)
            trouble = msg.FetchTrouble(report.host, running)
            self._voice.send(job_address(report.job), trouble, report.cause)

    def close_attempt(
        self,
        entry: BookedAttempt,
        change: BookedChange,
        cause: int,
        ran_ms: Millis = 0,
        shuffled_ms: Millis = 0,
    ) -> None:
        """Book an attempt's end and tell the policy; the job too, if it matters to the task: its
        first success, a failure, or an end without success when no other attempt of it runs.
        """
        ledger, voice, attempt = self._ledger, self._voice, entry.attempt
        held_slot = entry.holds_slot
        sibling = ledger.close_attempt(entry, change)
        outcome = ev.OUTCOMES[entry.state]
        closed = voice.note(ev.AttemptClosed(ledger.now_ms, attempt, outcome, cause=cause))
        if held_slot:
            ledger.members[entry.node].freed[entry.kind].append(closed)
        if entry.stage < SETUP:
            job, stage, succeeded = entry.job, entry.stage, outcome is _SUCCEEDED
            told = facts.Closed(job, stage, attempt, entry.node, succeeded, ran_ms, shuffled_ms)
            voice.tell_policy(told, closed)
        self._tell_job(entry, sibling, outcome, closed)

    def _tell_job(
        self, entry: BookedAttempt, sibling: BookedAttempt | None, outcome: Outcome, closed: int
    ) -> None:
        voice, job = self._voice, entry.owner
        succeeded, failed = outcome is _SUCCEEDED, outcome is _FAILED
        if succeeded and sibling is not None:
            voice.send(voice.address, msg.StopAttempt(sibling.attempt, Reason.TASK_DONE), closed)
        alone = sibling is None and not entry.beaten
        if succeeded or failed or alone:
            attempt, stage, task = entry.attempt, entry.stage, entry.task
            exhausted = failed and job.is_exhausted(stage, task)
            news = msg.AttemptBooked(attempt, stage, task, entry.node, outcome, alone, exhausted)
            voice.send(job_address(entry.job), news, closed)
        if failed:
            self._note_blacklisting(job, entry.node, closed)
        self.leave_if_over(job, closed)

    def book_progress(self, progress: msg.AttemptProgress) -> None:
        entry = self._ledger.attempt(progress.attempt)
        assert entry is not None, f"attempt {progress.attempt} was closed and goes on"
        entry.progress, entry.ran_ms = progress.done, progress.ran_ms
        entry.shuffled_ms = progress.shuffled_ms
        ran = (progress.done, progress.ran_ms, progress.shuffled_ms)
        told = facts.Progressed(entry.job, entry.stage, entry.attempt, *ran)
        self._voice.tell_policy(told, NO_CAUSE)

    def _book_suspension(self, report: msg.SuspensionReport) -> None:
        """Book that an attempt is suspended: only now is its slot free."""
        ledger = self._ledger
        entry = ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed and is held"
        ledger.suspend_attempt(entry)
        ledger.members[entry.node].freed[entry.kind].append(report.cause)
        what = (entry.job, entry.stage, entry.attempt, entry.node)
        suspended = facts.Suspended(*what, report.ran_ms, report.shuffled_ms)
        self._voice.tell_policy(suspended, report.cause)

    # Nodes, and outputs of finished maps, that are lost.

    def lose_node(
        self,
        member: BookedNode,
        cause: int,
        attempt_lost: Callable[[BookedAttempt], None] | None = None,
    ) -> None:
        """A node is lost, with what ran there and outputs that reduces need (rule T2); of each
        attempt `attempt_lost` is told before it is closed.
        """
        ledger, node = self._ledger, member.node
        jobs = dict.fromkeys(entry.job for entry in member.attempts.values())
        for entry in list(member.attempts.values()):
            if attempt_lost is not None:
                attempt_lost(entry)
            self.close_attempt(entry, BookedChange.LOSE, cause)
        jobs |= dict.fromkeys(job.job for job in self._lose_outputs(node, cause))
        for number in filter(ledger.has_job, jobs):  # one failure there of each that it concerned
            job = ledger.job(number)
            job.blame(node)
            self._note_blacklisting(job, node, cause)
        ledger.members.part_with_node(member)

    def lose_all_attempts(self, now_ms: Millis, cause: int) -> None:
        """These books are lost, and with them every attempt that is open."""
        jobs = self._ledger.known_jobs()
        open_ = [entry for job in jobs for entry in job.attempts.values()]
        for entry in sorted(open_, key=attrgetter("attempt")):
            entry.change_state(BookedChange.LOSE)
            killed = ev.AttemptClosed(now_ms, entry.attempt, Outcome.KILLED, cause=cause)
            self._voice.note(killed)

    def fail_unfetchable_maps(self, drop: msg.DropOutputs, cause: int) -> None:
        """A host's outputs of a job cannot be fetched: its maps have failed there (rule T6), each a
        failure like any other (JobInProgress.fetchFailureNotification).
        """
        if self._ledger.has_job(drop.job):
            job = self._ledger.job(drop.job)
            outputs = job.take_back_lost_maps(drop.host)
            for task, _ in outputs:
                job.fail(MAPS, task, drop.host)
            if outputs:
                change = BookedChange.FAIL_FETCHES
                lost = self._tell_outputs_lost(job, drop.host, outputs, change, cause)
                self._note_blacklisting(job, drop.host, lost, len(outputs))

    def _lose_outputs(self, node: NodeId, cause: int) -> list[BookedJob]:
        """A node is lost: finished maps run again whose outputs there will be wanted, by job in the
        order of submission; the jobs.
        """
        having = self._ledger.members[node].with_outputs.values()
        jobs = sorted(having, key=lambda job: job.submission)
        lost = [(job, job.take_back_lost_maps(node)) for job in jobs]
        for job, outputs in lost:
            self._tell_outputs_lost(job, node, outputs, BookedChange.LOSE_OUTPUT, cause)
        return jobs

    def _tell_outputs_lost(
        self,
        job: BookedJob,
        node: NodeId,
        outputs: Sequence[Output],
        change: BookedChange,
        cause: int,
    ) -> int:
        """Tell the job and the policy; the event's number."""
        now_ms, voice = self._ledger.now_ms, self._voice
        outcome = ev.OUTCOMES[step(BOOKED_ATTEMPT, BookedState.SUCCEEDED, change)]
        tasks = tuple(task for task, _ in outputs)
        attempts = tuple(attempt for _, attempt in outputs)
        lost = voice.note(ev.MapOutputsLost(now_ms, job.job, node, attempts, outcome, cause=cause))
        failed = change is BookedChange.FAIL_FETCHES
        exhausted = failed and any(job.is_exhausted(MAPS, task) for task in tasks)
        voice.send(job_address(job.job), msg.OutputsLost(tasks, exhausted), lost)
        voice.tell_policy(facts.TaskOutputsLost(job.job, MAPS, len(tasks)), lost)
        return lost

    # Jobs that end, and nodes that they avoid.

    def leave_if_over(self, job: BookedJob, cause: int) -> None:
        """Take a job that has ended off the books when nothing of it runs any more."""
        if job.state is _ENDING and not job.attempts:
            seen = self._ledger.has_job(job.job)
            self._ledger.drop_job(job)
            if seen:
                self._voice.tell_policy(facts.JobLeft(job.job), cause)

    def _note_blacklisting(self, job: BookedJob, node: NodeId, cause: int, faults: int = 1) -> None:
        """Say so if the latest of the node's faults, so many, had the job avoid it from now on."""
        if 0 <= job.faults[node] - TRACKER_FAILURES_MAX < faults:
            what = (self._ledger.now_ms, job.job, node, job.blacklists(node))
            self._voice.note(ev.JobBlacklistedNode(*what, cause=cause))
