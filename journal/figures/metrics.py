"""A run's figures, from its events alone.

`Metrics` is a sink like the journal's writer.  It stands on the one fold of events (`RunState`) and
keeps sums beside it: of attempts that are over nothing but these, and for maps of jobs that still
run how long each held its slot, since its output may be lost yet.
"""

from array import array
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.journal.event_limits import InconsistentEvents
from callboard.journal.figures import summary as fig
from callboard.journal.figures.map_locality import MapLocality, map_locality
from callboard.journal.figures.run_account import (
    RunAccount,
    RunNames,
    jobs_over_time,
    little_of,
    summary_of,
)
from callboard.journal.figures.size_estimates import PhaseSizes, phase_sizes
from callboard.journal.figures.slot_time import IdleSlots, SlotTime, slots_of
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import JobColumns, job_columns
from callboard.journal.figures.thoughts import SchedulerThoughts, ThoughtSums
from callboard.journal.run_records import NO_SLOT, AttemptRecord
from callboard.journal.run_state import TAKE, RunState
from callboard.scheduler.model import KINDS, MAP, REDUCE, AttemptId, JobId, Millis, SlotKind

_Look = Callable[[Any, Any], object]

_NOTHING = array("q")
_SUCCEEDED, _FAILED, _KILLED = Outcome.SUCCEEDED, Outcome.FAILED, Outcome.KILLED


class _DoneWork:
    """What attempts of one job come to that have succeeded and are over, as long as it is not lost.

    `maps` and `each_ms` are its maps with what each held, while their outputs can be lost.
    """

    __slots__ = ("attempts", "each_ms", "held_ms", "maps", "won")

    def __init__(self) -> None:
        self.attempts = 0
        self.held_ms = [0, 0]
        self.won: set[AttemptId] | None = None
        """Speculative attempts, if there are any."""
        self.maps: array[int] | None = None
        self.each_ms = _NOTHING

    def take_out_lost_maps(self, lost: tuple[AttemptId, ...]) -> Millis:
        """Take these maps out; for how long they held their slots."""
        if self.maps is None:
            raise InconsistentEvents(f"the outputs of attempts {lost} were kept by nobody")
        maps = np.frombuffer(self.maps, np.int64)
        at = np.flatnonzero(np.isin(maps, lost))
        if len(at) != len(lost):
            raise InconsistentEvents(f"of attempts {lost} not all have an output to lose")
        held_ms = int(np.frombuffer(self.each_ms, np.int64)[at].sum())
        maps[at] = 0
        self.attempts -= len(lost)
        self.held_ms[MAP] -= held_ms
        if self.won is not None:
            self.won.difference_update(lost)
        return held_ms


class Metrics:
    """Takes events in their order; `observe` is the sink, `Metrics.of(events)` does it at once.

    Where a run's state is folded anyway, `Metrics(run_state)` only looks on: `note_event` is to be
    called with each event after the state has taken it in.

    Every other method tells of what has been observed so far, so it also serves a run that still
    goes on or was cut off.  All raise ValueError if the events contradict each other (an attempt
    started that nobody launched), or, where that is needed, before `RunStarted` was seen.
    """

    def __init__(self, run_state: RunState | None = None) -> None:
        self.run_state = RunState() if run_state is None else run_state
        self._contradiction = ""
        self._idle = IdleSlots()
        self._done: dict[JobId, _DoneWork] = {}
        self._left: list[JobId] = []
        """Jobs that have ended, whose maps' outputs the master may still give up."""
        self._lost = {_FAILED: 0, _KILLED: 0}
        """Attempts that are over, as they were booked last."""
        self._wasted_ms = [0, 0]
        self._shuffle_ms = 0
        self._thoughts = ThoughtSums()
        self._looks: dict[type[ev.AnyEvent], _Look] = {
            ev.JobSubmitted: self._begin_job,
            ev.JobResubmitted: self._waste_done_work,
            ev.MapOutputsLost: self._waste_lost_maps,
            ev.JobFinished: self._forget_maps_of_ended_jobs,
            ev.AttemptStarted: self._idle.take_slot,
            ev.AttemptResumed: self._idle.take_slot,
            ev.AttemptSuspended: self._idle.release_slot,
            ev.ShuffleEnded: self._add_shuffle_time,
            ev.AttemptEnded: self._count_ended_attempt,
            ev.AttemptClosed: self._count_if_ended_and_closed,
            ev.SchedulingAttempted: self._add_thought,
        }

    @classmethod
    def of(cls, events: Iterable[ev.AnyEvent]) -> Self:
        metrics = cls()
        for event in events:
            metrics.observe(event)
        return metrics

    def observe(self, event: ev.AnyEvent) -> None:
        """Take in one event."""
        kind, state = type(event), self.run_state
        try:
            # What `RunState.observe` does, a call less for every event.
            state.now_ms = event.at_ms
            state.index += 1
            take = TAKE.get(kind)
            attempt = None if take is None else take(state, event)
            look = self._looks.get(kind)
            if look is not None:
                look(event, attempt)
        except (IllegalTransition, InconsistentEvents) as error:
            self._contradiction = self._contradiction or str(error)

    __call__ = observe

    def note_event(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> None:
        """Take note of an event that the run's state has taken in, and of what that returned."""
        look = self._looks.get(type(event))
        if look is not None:
            look(event, attempt)

    # What the events change.

    def _begin_job(self, event: ev.JobSubmitted, _: None) -> None:
        work = self._done[event.job] = _DoneWork()
        if event.reduces:
            work.maps, work.each_ms = array("q"), array("q")

    def _waste_done_work(self, event: ev.JobResubmitted, _: None) -> None:
        """What it had done is lost."""
        work = self._done[event.job]
        self._lost[_KILLED] += work.attempts
        for kind in KINDS:
            self._wasted_ms[kind] += work.held_ms[kind]
        self._begin_job(self.run_state.jobs[event.job].submission, None)

    def _waste_lost_maps(self, event: ev.MapOutputsLost, _: None) -> None:
        self._wasted_ms[MAP] += self._done[event.job].take_out_lost_maps(event.attempts)
        self._lost[event.outcome] += len(event.attempts)

    def _forget_maps_of_ended_jobs(self, event: ev.JobFinished, _: None) -> None:
        """Forget the maps of jobs that ended before, once the master must have heard of that."""
        state, left = self.run_state, self._left
        heard_ms = -1 if state.paused else event.at_ms
        ended = state.jobs[left[-1]].finished_ms if left else None
        if ended is not None and max(ended, state.resumed_ms) < heard_ms:
            for job in left:
                self._done[job].maps, self._done[job].each_ms = None, _NOTHING
            left.clear()
        left.append(event.job)

    def _add_shuffle_time(self, _: ev.ShuffleEnded, attempt: AttemptRecord) -> None:
        self._shuffle_ms += attempt.fetching_ms

    def _add_thought(self, event: ev.SchedulingAttempted, _: None) -> None:
        self._thoughts.add(event)

    def _count_ended_attempt(self, event: ev.AttemptEnded, attempt: AttemptRecord) -> None:
        if attempt.slot != NO_SLOT:
            self._idle.release_slot(event, attempt)
        if attempt.launch.kind and attempt.shuffled is None and not attempt.unseen:
            self._shuffle_ms += attempt.held_ms
        if attempt.closed is not None:
            self._count_if_ended_and_closed(attempt.closed, attempt)

    def _count_if_ended_and_closed(self, event: ev.AttemptClosed, attempt: AttemptRecord) -> None:
        ended = attempt.ended
        if ended is None:
            return
        launch = attempt.launch
        kind, held_ms = launch.kind, ended.at_ms - ended.started_ms - ended.suspended_ms
        if event.outcome is not _SUCCEEDED:
            self._lost[event.outcome] += 1
            self._wasted_ms[kind] += held_ms
            return
        work = self._done[launch.job]
        work.attempts += 1
        work.held_ms[kind] += held_ms
        if launch.original:
            work.won = work.won or set()
            work.won.add(launch.attempt)
        if work.maps is not None and not kind and not attempt.unseen:
            work.maps.append(launch.attempt)
            work.each_ms.append(held_ms)

    # What they come to.

    @property
    def horizon_ms(self) -> Millis:
        """The end of the run: `RunEnded`'s time, or the last event's if there was none."""
        return self.run_state.now_ms

    def jobs(self) -> JobColumns:
        """Every submitted job."""
        self._refuse_contradictions()
        return job_columns(self.run_state.jobs.values())

    def map_locality(self) -> MapLocality:
        """Where each job's maps were launched."""
        self._refuse_contradictions()
        return map_locality(self.run_state.jobs.values())

    def thoughts(self) -> tuple[SchedulerThoughts, ...]:
        """What schedulers that share a cell have thought."""
        return self._thoughts.schedulers()

    def phase_sizes(self) -> PhaseSizes:
        """The phases whose size the order has measured, with what they came to."""
        self._refuse_contradictions()
        return phase_sizes(self.run_state.jobs.values())

    def jobs_in_system(self) -> Steps:
        """How many jobs were submitted and not yet finished, over time."""
        return jobs_over_time(self.jobs(), self.horizon_ms)

    def slot_time(self, kind: SlotKind) -> SlotTime:
        """Where the time of the slots of the kind went (S9)."""
        run, horizon_ms, nodes = self._run_start(), self.horizon_ms, self.run_state.nodes
        slots = {facts.node: slots_of(facts, kind) for facts in run.nodes}
        down_ms = sum(nodes[node].down_ms_until(horizon_ms) * has for node, has in slots.items())
        useful_ms = sum(work.held_ms[kind] for work in self._done.values())
        wasted_ms, unfinished_ms = self._wasted_ms[kind], 0
        for attempt in self.run_state.attempts.values():
            if attempt.launch.kind is not kind:
                continue
            held_ms, last = self._attempt_held_ms(attempt), attempt.closed or attempt.ended
            if last is not None and last.outcome is not _SUCCEEDED:
                wasted_ms += held_ms
            elif attempt.closed is not None:
                useful_ms += held_ms
            else:
                unfinished_ms += held_ms
        return SlotTime(
            useful=useful_ms,
            wasted=wasted_ms,
            idle=self._idle.idle_ms(kind, run.nodes, horizon_ms) - down_ms,
            unfinished=unfinished_ms,
            total=sum(slots.values()) * horizon_ms,
            down=down_ms,
        )

    def little(self) -> fig.Little:
        """Both sides of Little's law (S10)."""
        return little_of(self.jobs(), self.horizon_ms)

    def account(self) -> RunAccount:
        """What the figures are made of."""
        return RunAccount(
            until_ms=self.horizon_ms,
            jobs=self.jobs(),
            slots=(self.slot_time(MAP), self.slot_time(REDUCE)),
            attempts=self._attempt_counts(),
            speculation=self._speculation_counts(),
            levels=[*self.run_state.levels],
            shuffle_wait_ms=self._shuffle_wait_ms(),
        )

    def summary(self) -> fig.Summary:
        """All figures."""
        run, end = self._run_start(), self.run_state.ended
        told = RunNames(run.name, run.policy, run.seed)
        if end is not None:
            told = RunNames(*told[:3], end.digest, end.reason, end.messages, end.ties)
        return summary_of(told, self.account())

    def _refuse_contradictions(self) -> None:
        if self._contradiction:
            raise ValueError(f"inconsistent events: {self._contradiction}")

    def _run_start(self) -> ev.RunStarted:
        self._refuse_contradictions()
        if self.run_state.started is None:
            raise ValueError("the events do not begin with RunStarted")
        return self.run_state.started

    def _attempt_held_ms(self, attempt: AttemptRecord) -> Millis:
        """For how long one that is not over or not closed held slots; what its slot stated, if it
        has ended.
        """
        ended = attempt.ended
        if ended is None:
            return attempt.held_ms_until(self.horizon_ms)
        return ended.at_ms - ended.started_ms - ended.suspended_ms

    def _attempt_counts(self) -> fig.AttemptCounts:
        counts = {**self._lost, _SUCCEEDED: sum(work.attempts for work in self._done.values())}
        for attempt in self.run_state.attempts.values():
            if attempt.closed is not None:
                counts[attempt.closed.outcome] += 1
        running = sum(job.open_attempts for job in self.run_state.jobs.values())
        booked = counts[_SUCCEEDED], counts[_FAILED], counts[_KILLED]
        return fig.AttemptCounts(sum(booked) + running, *booked, running)

    def _speculation_counts(self) -> fig.SpeculationCounts:
        launched = sum(job.speculative for job in self.run_state.jobs.values())
        return fig.SpeculationCounts(
            launched, sum(len(work.won or ()) for work in self._done.values())
        )

    def _shuffle_wait_ms(self) -> Millis:
        return self._shuffle_ms + sum(
            attempt.held_ms_until(self.horizon_ms)
            for attempt in self.run_state.attempts.values()
            if attempt.launch.kind and attempt.shuffled is None and attempt.ended is None
            if not attempt.unseen
        )
