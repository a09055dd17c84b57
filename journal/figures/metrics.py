"""A run's figures, from its events alone.

`Metrics` is a sink like the journal's writer.  While the run goes on it only appends numbers to
flat arrays, about 130 bytes an attempt; tables and figures are computed when they are asked for.
"""

from array import array
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Self

import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.figures import summary as fig
from callboard.journal.figures import tables
from callboard.journal.figures.slot_time import SlotTime, down_times, shuffle_ms, slot_account
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.tables import AttemptColumns, JobColumns
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import MAP, REDUCE, Millis, TaskKind

_Row = Callable[[Any], tuple[int, ...]]

_ROWS: dict[type[ev.AnyEvent], tuple[str, _Row]] = {
    ev.AttemptStarted: ("started", attrgetter("attempt", "at_ms", "slot")),
    ev.AttemptResumed: ("resumed", attrgetter("attempt", "at_ms", "slot")),
    ev.AttemptSuspended: ("suspended", attrgetter("attempt", "at_ms")),
    ev.ShuffleEnded: ("shuffled", attrgetter("attempt", "at_ms")),
    ev.JobResubmitted: ("resubmitted", attrgetter("job", "at_ms")),
}
"""In which table an event is a row, and of what; those of the others are made by `Metrics`."""


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
        self._labels: list[tables.JobLabels] = []
        self._rows = {name: array("q") for name in tables.WIDTHS}
        made: dict[type[ev.AnyEvent], tuple[str, _Row]] = {
            ev.JobSubmitted: ("submitted", self._submission),
            ev.JobFinished: ("finished", self._finish),
            ev.AttemptLaunched: ("launched", self._launch),
            ev.AttemptEnded: ("ended", self._end),
            ev.AttemptClosed: ("closed", self._closing),
            ev.MapOutputsLost: ("closed", self._closings),
            ev.FaultStruck: ("power", self._power),
        }
        # By exact type: one dictionary look-up is what an event costs before its own work.
        self._take = {
            kind: (self._rows[name].extend, row) for kind, (name, row) in (_ROWS | made).items()
        }

    @classmethod
    def of(cls, events: Iterable[ev.AnyEvent]) -> Self:
        metrics = cls()
        for event in events:
            metrics.observe(event)
        return metrics

    def observe(self, event: ev.AnyEvent) -> None:
        """Take in one event."""
        self.last_ms = event.at_ms
        take = self._take.get(type(event))
        if take is not None:
            extend, row = take
            extend(row(event))
        elif isinstance(event, ev.RunStarted):
            self.started = event
        elif isinstance(event, ev.RunEnded):
            self.ended = event

    __call__ = observe

    def _submission(self, event: ev.JobSubmitted) -> tuple[int, ...]:
        self._labels.append((event.name, event.user, event.pool))
        return event.job, len(self._labels) - 1, event.at_ms, event.maps, event.reduces

    def _finish(self, event: ev.JobFinished) -> tuple[int, ...]:
        return event.job, event.at_ms, tables.OUTCOME_NUMBERS[event.outcome], event.submitted_ms

    def _launch(self, event: ev.AttemptLaunched) -> tuple[int, ...]:
        if event.original:
            self._rows["speculative"].extend((event.attempt, event.original))
        task = event.attempt, event.job, event.kind, event.task, event.number
        return (*task, event.node, event.level, event.at_ms)

    def _end(self, event: ev.AttemptEnded) -> tuple[int, ...]:
        outcome = tables.OUTCOME_NUMBERS[event.outcome]
        return event.attempt, event.at_ms, outcome, event.started_ms, event.suspended_ms

    def _closing(self, event: ev.AttemptClosed) -> tuple[int, ...]:
        return event.attempt, event.at_ms, tables.OUTCOME_NUMBERS[event.outcome]

    def _closings(self, event: ev.MapOutputsLost) -> tuple[int, ...]:
        outcome = tables.OUTCOME_NUMBERS[event.outcome]
        return tuple(n for attempt in event.attempts for n in (attempt, event.at_ms, outcome))

    def _power(self, event: ev.FaultStruck) -> tuple[int, ...]:
        if not isinstance(event.fault, faults.Crash | faults.Restart):
            return ()
        return event.fault.node, event.at_ms, isinstance(event.fault, faults.Crash)

    def _columns(self) -> dict[str, tables.Ints]:
        """All rows as columns: copies, so that the rows can go on growing."""
        return {
            name: np.frombuffer(rows, np.int64).reshape(-1, tables.WIDTHS[name]).T.copy()
            for name, rows in self._rows.items()
        }

    @property
    def horizon_ms(self) -> Millis:
        """The end of the run: `RunEnded`'s time, or the last event's if there was none."""
        return self.last_ms

    def attempts(self) -> AttemptColumns:
        return tables.join_attempts(self._columns())

    def jobs(self, attempts: AttemptColumns | None = None) -> JobColumns:
        """Every submitted job; `attempts` saves the time of making them again."""
        return tables.join_jobs(self._columns(), self._labels, attempts or self.attempts())

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
        down_ms = down_times(self._columns()["power"], len(started.nodes), self.horizon_ms)
        table = attempts or self.attempts()
        return slot_account(table, kind, started.nodes, self.horizon_ms, down_ms)

    def little(self, jobs: JobColumns | None = None) -> fig.Little:
        """Both sides of Little's law (S10)."""
        jobs = jobs or self.jobs()
        left = jobs.finished_ms != NEVER
        return fig.Little(
            area=self.jobs_in_system(jobs).integral(),
            responses=int((jobs.finished_ms - jobs.stated_ms)[left].sum()),
            unfinished=int((self.horizon_ms - jobs.submitted_ms)[~left].sum()),
        )

    def summary(self) -> fig.Summary:
        """All figures."""
        run, end = self._run(), self.ended
        attempts = self.attempts()
        jobs = self.jobs(attempts)
        maps = self.slot_time(MAP, attempts)
        reduces = self.slot_time(REDUCE, attempts)
        return fig.Summary(
            scenario=run.name,
            policy=run.policy,
            seed=run.seed,
            digest=end.digest if end else None,
            reason=end.reason if end else None,
            virtual_seconds=self.horizon_ms / 1000,
            messages=end.messages if end else None,
            ties=end.ties if end else None,
            jobs=fig.JobCounts(*_by_outcome(jobs.outcome)),
            tasks=fig.TaskCounts(int(jobs.maps.sum()), int(jobs.reduces.sum())),
            attempts=fig.AttemptCounts(*_by_outcome(attempts.closed)),
            speculation=_speculation(attempts),
            response_seconds=fig.statistics_in_seconds(jobs.response_ms[jobs.completed]),
            waiting_seconds=fig.statistics_in_seconds(
                jobs.waiting_ms[jobs.completed & (jobs.waiting_ms != NEVER)]
            ),
            locality=_locality(attempts),
            slot_seconds=fig.in_seconds(maps + reduces),
            slot_ms=fig.SlotKinds(maps + reduces, maps, reduces),
            shuffle_wait_seconds=shuffle_ms(attempts, self.horizon_ms) / 1000,
            utilisation=fig.Utilisation(
                _ratio(maps.busy, maps.total), _ratio(reduces.busy, reduces.total)
            ),
            mean_jobs_in_system=self.jobs_in_system(jobs).mean(),
            little=self.little(jobs),
        )

    def _run(self) -> ev.RunStarted:
        if self.started is None:
            raise ValueError("the events do not begin with RunStarted")
        return self.started


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _by_outcome(outcomes: tables.Ints) -> tuple[int, int, int, int, int]:
    """How many there are: all, succeeded, failed, killed, without an outcome."""
    none, succeeded, failed, killed = np.bincount(outcomes - NEVER, minlength=4).tolist()
    return len(outcomes), succeeded, failed, killed, none


def _speculation(attempts: AttemptColumns) -> fig.SpeculationCounts:
    speculative = attempts.original > 0
    won = speculative & (attempts.closed == tables.SUCCEEDED)
    return fig.SpeculationCounts(int(speculative.sum()), int(won.sum()))


def _locality(attempts: AttemptColumns) -> fig.LocalityShares:
    levels = np.bincount(attempts.level[attempts.kind == TaskKind.MAP], minlength=3).tolist()
    return fig.LocalityShares(*(_ratio(level, sum(levels)) for level in levels))
