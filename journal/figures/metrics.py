"""A run's figures, from its events alone.

`Metrics` is a sink like the journal's writer.  While the run goes on it only appends numbers to
flat arrays, about 130 bytes an attempt; tables and figures are computed when they are asked for.
"""

from array import array
from collections.abc import Callable, Iterable
from typing import Any, Self

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.figures.counts import (
    attempt_counts,
    job_counts,
    locality_shares,
    ratio,
    speculation_counts,
)
from callboard.journal.figures.slot_time import SlotTime, down_times, shuffle_ms, slot_account
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.summary import (
    Little,
    SlotKinds,
    Summary,
    TaskCounts,
    Utilisation,
    in_seconds,
    statistics_in_seconds,
)
from callboard.journal.figures.tables import (
    OUTCOME_NUMBERS,
    AttemptColumns,
    JobColumns,
    JobLabels,
    column_copy,
    column_view,
    join_attempts,
    join_jobs,
)
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import Millis, TaskKind


class Metrics:
    """Gathers events in their order; `observe` is the sink, `Metrics.of(events)` does it at once.

    Every other method looks at what has been observed so far, so it also serves a run that still
    goes on or was cut off.  All raise ValueError if the events contradict each other (an attempt
    started that nobody launched), or, where that is needed, before `RunStarted` was seen.
    """

    def __init__(self) -> None:
        self.started: ev.RunStarted | None = None
        self.ended: ev.RunEnded | None = None
        self.last_ms: Millis = 0
        self._submitted = array("q")
        self._owners: list[JobLabels] = []
        self._finished = array("q")
        self._launches = array("q")
        self._copies = array("q")
        self._starts = array("q")
        self._resumes = array("q")
        self._suspensions = array("q")
        self._shuffles = array("q")
        self._ends = array("q")
        self._closings = array("q")
        self._power = array("q")
        self._restarts = array("q")
        # By exact type: one dictionary look-up is what an event costs before its own work.
        self._take: dict[type[ev.AnyEvent], Callable[[Any], None]] = {
            ev.RunStarted: self._run_started,
            ev.JobSubmitted: self._job_submitted,
            ev.AttemptLaunched: self._launched,
            ev.AttemptStarted: self._attempt_started,
            ev.ShuffleEnded: self._shuffled,
            ev.AttemptSuspended: self._suspended,
            ev.AttemptResumed: self._resumed,
            ev.AttemptEnded: self._attempt_ended,
            ev.AttemptClosed: self._closed,
            ev.FaultStruck: self._struck,
            ev.MapOutputsLost: self._undone,
            ev.JobResubmitted: self._resubmitted,
            ev.JobFinished: self._job_finished,
            ev.RunEnded: self._run_ended,
        }

    @classmethod
    def of(cls, events: Iterable[ev.AnyEvent]) -> Self:
        """The metrics of recorded events."""
        metrics = cls()
        for event in events:
            metrics.observe(event)
        return metrics

    def observe(self, event: ev.AnyEvent) -> None:
        """Take in one event."""
        self.last_ms = event.at_ms
        take = self._take.get(type(event))
        if take is not None:  # else what it leads to has events of its own
            take(event)

    __call__ = observe

    def _struck(self, event: ev.FaultStruck) -> None:
        if isinstance(event.fault, faults.Crash | faults.Restart):
            down = isinstance(event.fault, faults.Crash)
            self._power.extend((event.fault.node, event.at_ms, down))

    def _run_started(self, event: ev.RunStarted) -> None:
        self.started = event

    def _run_ended(self, event: ev.RunEnded) -> None:
        self.ended = event

    def _job_submitted(self, event: ev.JobSubmitted) -> None:
        self._submitted.extend(
            (event.job, len(self._owners), event.at_ms, event.maps, event.reduces)
        )
        self._owners.append((event.name, event.user, event.pool))

    def _job_finished(self, event: ev.JobFinished) -> None:
        outcome = OUTCOME_NUMBERS[event.outcome]
        self._finished.extend((event.job, event.at_ms, outcome, event.submitted_ms))

    def _launched(self, event: ev.AttemptLaunched) -> None:
        what = (event.attempt, event.job, event.kind, event.task, event.number)
        self._launches.extend((*what, event.node, event.level, event.at_ms))
        if event.original:
            self._copies.extend((event.attempt, event.original))

    def _attempt_started(self, event: ev.AttemptStarted) -> None:
        self._starts.extend((event.attempt, event.at_ms, event.slot))

    def _suspended(self, event: ev.AttemptSuspended) -> None:
        self._suspensions.extend((event.attempt, event.at_ms))

    def _resumed(self, event: ev.AttemptResumed) -> None:
        self._resumes.extend((event.attempt, event.at_ms, event.slot))

    def _shuffled(self, event: ev.ShuffleEnded) -> None:
        self._shuffles.extend((event.attempt, event.at_ms))

    def _attempt_ended(self, event: ev.AttemptEnded) -> None:
        outcome = OUTCOME_NUMBERS[event.outcome]
        times = event.started_ms, event.suspended_ms
        self._ends.extend((event.attempt, event.at_ms, outcome, *times))

    def _resubmitted(self, event: ev.JobResubmitted) -> None:
        self._restarts.extend((event.job, event.at_ms))

    def _undone(self, event: ev.MapOutputsLost) -> None:
        outcome = OUTCOME_NUMBERS[event.outcome]
        for attempt in event.attempts:
            self._closings.extend((attempt, event.at_ms, outcome))

    def _closed(self, event: ev.AttemptClosed) -> None:
        self._closings.extend((event.attempt, event.at_ms, OUTCOME_NUMBERS[event.outcome]))

    @property
    def horizon_ms(self) -> Millis:
        """The end of the run: `RunEnded`'s time, or the last event's if there was none."""
        return self.last_ms

    def attempts(self) -> AttemptColumns:
        """Every launched attempt."""
        return join_attempts(
            column_copy(self._launches, 8),
            column_view(self._copies, 2),
            column_view(self._starts, 3),
            column_view(self._shuffles, 2),
            column_view(self._ends, 5),
            column_view(self._closings, 3),
            column_view(self._resumes, 3),
            column_view(self._suspensions, 2),
            column_view(self._restarts, 2),
        )

    def jobs(self, attempts: AttemptColumns | None = None) -> JobColumns:
        """Every submitted job; `attempts` saves the time of making them again."""
        submitted, finished = column_copy(self._submitted, 5), column_copy(self._finished, 4)
        return join_jobs(submitted, finished, self._owners, attempts or self.attempts())

    def jobs_in_system(self, jobs: JobColumns | None = None) -> Steps:
        """How many jobs were submitted and not yet finished, over time."""
        jobs = jobs or self.jobs()
        left = jobs.finished_ms[jobs.finished_ms != NEVER]
        return steps(jobs.submitted_ms, left, self.horizon_ms)

    def busy_slots(self, kind: TaskKind, attempts: AttemptColumns | None = None) -> Steps:
        """How many slots of the kind were held, over time."""
        attempts = attempts or self.attempts()
        mine = (attempts.kind == kind)[attempts.occupancies.place]
        left = attempts.left_ms(self.horizon_ms)[mine]
        return steps(attempts.occupancies.began_ms[mine], left, self.horizon_ms)

    def slot_time(self, kind: TaskKind, attempts: AttemptColumns | None = None) -> SlotTime:
        """Where the time of the slots of the kind went (S9)."""
        started = self._run()
        down_ms = down_times(column_view(self._power, 3), len(started.nodes), self.horizon_ms)
        table = attempts or self.attempts()
        return slot_account(table, kind, started.nodes, self.horizon_ms, down_ms)

    def little(self, jobs: JobColumns | None = None) -> Little:
        """Both sides of Little's law (S10)."""
        jobs = jobs or self.jobs()
        left = jobs.finished_ms != NEVER
        return Little(
            area=self.jobs_in_system(jobs).integral(),
            responses=int((jobs.finished_ms - jobs.stated_ms)[left].sum()),
            unfinished=int((self.horizon_ms - jobs.submitted_ms)[~left].sum()),
        )

    def summary(self) -> Summary:
        """All figures."""
        run, end = self._run(), self.ended
        attempts = self.attempts()
        jobs = self.jobs(attempts)
        maps = self.slot_time(TaskKind.MAP, attempts)
        reduces = self.slot_time(TaskKind.REDUCE, attempts)
        return Summary(
            scenario=run.name,
            policy=run.policy,
            seed=run.seed,
            digest=end.digest if end else None,
            reason=end.reason if end else None,
            virtual_seconds=self.horizon_ms / 1000,
            messages=end.messages if end else None,
            ties=end.ties if end else None,
            jobs=job_counts(jobs),
            tasks=TaskCounts(int(jobs.maps.sum()), int(jobs.reduces.sum())),
            attempts=attempt_counts(attempts),
            speculation=speculation_counts(attempts),
            response_seconds=statistics_in_seconds(jobs.response_ms[jobs.completed]),
            waiting_seconds=statistics_in_seconds(
                jobs.waiting_ms[jobs.completed & (jobs.waiting_ms != NEVER)]
            ),
            locality=locality_shares(attempts),
            slot_seconds=in_seconds(maps + reduces),
            slot_ms=SlotKinds(maps + reduces, maps, reduces),
            shuffle_wait_seconds=shuffle_ms(attempts, self.horizon_ms) / 1000,
            utilisation=Utilisation(
                ratio(maps.busy, maps.total), ratio(reduces.busy, reduces.total)
            ),
            mean_jobs_in_system=self.jobs_in_system(jobs).mean(),
            little=self.little(jobs),
        )

    def _run(self) -> ev.RunStarted:
        if self.started is None:
            raise ValueError("the events do not begin with RunStarted")
        return self.started
