"""The accounts: the tasks of a job, the slots' time, the jobs in the system (S6, S9, S10, S11)."""

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.rule import Rule
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_records import JobRecord
from callboard.scheduler.model import KINDS, STAGE_NAMES, STAGES, Stage, slot_kind


class TaskConservation(Rule):
    """S6.  The events say what is done and what runs, the scheduler's books what waits; and where
    both say it they agree.
    """

    id = "S6"
    says = "done, running, waiting and lost tasks of a job are all its tasks, by events and books"
    idle = "a journal does not have a scheduler's books"

    def check_books(self, architecture: Architecture) -> None:
        """Look at every job that something was told of in this superstep."""
        for number in self.tasks.changed:
            entry = architecture.books_of(number)
            if entry is not None:
                for stage in STAGES:
                    self.times += 1
                    self._check_books_of_stage(entry, self.run_state.jobs[number], stage)

    def _check_books_of_stage(self, entry: BookedJob, job: JobRecord, stage: Stage) -> None:
        number, phase, kind = job.submission.job, job.phases[stage], slot_kind(stage)
        done, held, tasks = entry.finished(stage), entry.suspended(kind), STAGE_NAMES[stage]
        has = entry.running(kind) + held
        if (done, has) != (phase.done, phase.open):
            books = f"{done} {tasks}s done and {has} attempts open"
            raise self.violation(None, f"the scheduler's books say of job-{number}: {books}", job)
        if not entry.opened(stage):
            return
        waiting = entry.pending(kind) - held
        if done + phase.running + waiting + entry.lost[stage] != entry.total(stage):
            books = f"{waiting} wait and {entry.lost[stage]} are lost, of {entry.total(stage)}"
            raise self.violation(None, f"{tasks}s of job-{number}: {books}", job)


class SlotTimeConservation(Rule):
    """S9."""

    id = "S9"
    says = "useful, wasted, idle, unfinished and down slot time are slots × the run"
    idle = "the run has not ended"

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:
        for kind in KINDS:
            self.times += 1
            account = metrics.slot_time(kind)
            if not account.adds_up or min(msgspec.structs.astuple(account)) < 0:
                raise self.violation(event, f"of {kind.name.lower()} slots, in ms: {account}")


class LittlesLaw(Rule):
    """S10."""

    id = "S10"
    says = "the area under the jobs in the system is the sum of their times in it (Little's law)"
    idle = "the run has not ended"

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:
        self.times += 1
        little = metrics.little()
        if not little.holds:
            raise self.violation(event, f"{little}")


class Determinism(Rule):
    """S11.  `tests/whole/test_determinism.py` holds every kind of run to it."""

    id = "S11"
    says = "the same scenario and seed give the same run"
    idle = "takes a second run"
