"""What has happened, as the events that the actors would have told."""

import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent, Outcome
from callboard.scheduler.model import KINDS, Locality
from callboard.twin import columns as c
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.columns import Tables
from callboard.twin.event_columns import (
    CLOSED,
    ENDED,
    ESTIMATED,
    FINISHED,
    INITIALISED,
    LAUNCHED,
    SHUFFLED,
    STARTED,
    SUBMITTED,
    EventColumns,
    ToldBatch,
)
from callboard.twin.told_reasons import LaunchReasons
from callboard.twin.twin_run import TwinRun

_LEVELS = tuple(Locality)
_SUCCEEDED = Outcome.SUCCEEDED


class ToldEvents:
    """The events of a run that keeps its log, but for the first, which says what is run, and the
    last.  Equal to the actors', their numbers and causes too.  CannotPlay for a run of which they
    tell more than the twin knows.
    """

    def __init__(self, run: TwinRun) -> None:
        if run.tables.given[c.PREEMPTS]:
            raise CannotPlay(
                "it does not keep which job attempts are killed for, which a journal tells"
            )
        self._run = run
        self._columns = EventColumns(run.tables)
        self._reasons = LaunchReasons(run.world, run.policy, run.tables)
        specs = {spec.job: spec for spec in run.world.jobs}
        self._specs = [specs[number] for number in run.tables.jobs[:, c.NUMBER].tolist()]

    def take_events(self) -> list[AnyEvent]:
        """All since they were last taken, in order; the run forgets what it kept of them."""
        w = self._run.tables
        told = self._columns.take_columns(w)
        events = np.empty(sum(len(each.rows) for each in told), object)
        for each in told:
            events[each.places] = self._of_kind(w, each)
        self._columns.drop_told(w)
        taken: list[AnyEvent] = events.tolist()
        return taken

    def _of_kind(self, w: Tables, told: ToldBatch) -> list[AnyEvent]:
        if told.kind == LAUNCHED:
            return self._launch_events(w, told)
        when, causes = told.at_ms.tolist(), told.causes.tolist()
        if told.kind == ESTIMATED:
            return _estimate_events(w, told)
        if told.kind in (SUBMITTED, INITIALISED, FINISHED):
            return self._of_jobs(told)
        rows = w.log[told.rows]
        attempts = rows[:, c.LOG_ATTEMPT].tolist()
        if told.kind == STARTED:
            nodes, slots = rows[:, c.LOG_NODE].tolist(), rows[:, c.LOG_SLOT].tolist()
            return [
                ev.AttemptStarted(at_ms, attempt, node, slot, cause=cause)
                for at_ms, attempt, node, slot, cause in zip(
                    when, attempts, nodes, slots, causes, strict=True
                )
            ]
        if told.kind == ENDED:
            begun_ms = (rows[:, c.LOG_LAUNCHED] + w.given[c.LATENCY]).tolist()
            return [
                ev.AttemptEnded(at_ms, attempt, _SUCCEEDED, started_ms, cause=cause)
                for at_ms, attempt, started_ms, cause in zip(
                    when, attempts, begun_ms, causes, strict=True
                )
            ]
        if told.kind == SHUFFLED:
            return [
                ev.ShuffleEnded(at_ms, attempt, cause=cause)
                for at_ms, attempt, cause in zip(when, attempts, causes, strict=True)
            ]
        assert told.kind == CLOSED
        return [
            ev.AttemptClosed(at_ms, attempt, _SUCCEEDED, cause=cause)
            for at_ms, attempt, cause in zip(when, attempts, causes, strict=True)
        ]

    def _launch_events(self, w: Tables, told: ToldBatch) -> list[AnyEvent]:
        rows = w.log[told.rows]
        columns = (
            told.at_ms.tolist(),
            rows[:, c.LOG_ATTEMPT].tolist(),
            w.jobs[rows[:, c.LOG_JOB], c.NUMBER].tolist(),
            rows[:, c.LOG_KIND].tolist(),
            rows[:, c.LOG_TASK].tolist(),
            rows[:, c.LOG_NUMBER].tolist(),
            rows[:, c.LOG_NODE].tolist(),
            rows[:, c.LOG_LEVEL].tolist(),
            self._reasons.reasons_of_rows(w, told.rows),
            told.causes.tolist(),
        )
        return [
            ev.AttemptLaunched(
                at_ms,
                attempt,
                job,
                KINDS[kind],
                task,
                number,
                node,
                _LEVELS[level],
                why,
                cause=cause,
            )
            for at_ms, attempt, job, kind, task, number, node, level, why, cause in zip(
                *columns, strict=True
            )
        ]

    def _of_jobs(self, told: ToldBatch) -> list[AnyEvent]:
        columns = zip(told.rows.tolist(), told.at_ms.tolist(), told.causes.tolist(), strict=True)
        events: list[AnyEvent] = []
        for row, at_ms, cause in columns:
            spec = self._specs[row]
            if told.kind == FINISHED:
                done = (spec.job, _SUCCEEDED, spec.submit_ms)
                events.append(ev.JobFinished(at_ms, *done, cause=cause))
            elif told.kind == INITIALISED:
                events.append(ev.JobInitialised(at_ms, spec.job, cause=cause))
            else:
                whose = (spec.job, spec.name, spec.user, spec.pool, spec.priority)
                events.append(ev.JobSubmitted(at_ms, *whose, spec.maps, spec.reduces))
        return events


def _estimate_events(w: Tables, told: ToldBatch) -> list[AnyEvent]:
    rows = w.estimates[told.rows]
    numbers = w.jobs[rows[:, c.ESTIMATE_JOB], c.NUMBER].tolist()
    sizes, lefts = rows[:, c.ESTIMATE_SIZE].tolist(), rows[:, c.ESTIMATE_LEFT].tolist()
    kinds, causes = rows[:, c.ESTIMATE_KIND].tolist(), told.causes.tolist()
    return [
        ev.SizeEstimated(at_ms, job, KINDS[kind], size_ms, left_ms, cause=cause)
        for at_ms, job, kind, size_ms, left_ms, cause in zip(
            told.at_ms.tolist(), numbers, kinds, sizes, lefts, causes, strict=True
        )
    ]
