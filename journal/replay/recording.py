"""A run that one can go to any place of: its events so far as bytes, with snapshots of its state.

A million events take some 80 MB.  To go to a place the snapshot before it is copied, which then
observes at most `_SNAPSHOT_EVERY` events (more in a very long run).
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.replay.cluster_state import ClusterState, slot_state
from callboard.journal.replay.history import RunHistory
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.journal.run_records import AttemptRecord
from callboard.journal.tell.response_parts import ResponseParts, response_parts
from callboard.journal.told_scenario import ToldBurst, told_scenario
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId

_SNAPSHOT_EVERY = 16_384
_SNAPSHOTS_MAX = 96
_EXPLAINED_MOST = 200_000
"""Events that are read, twice, to tell where a response went: about a second's work."""

_EXPLAINED_SO_FAR_MOST = 50_000
"""The same for a job that goes on, of which every moment is told anew."""

_SUCCEEDED = Outcome.SUCCEEDED
EVENT_NUMBERS = {kind: number for number, kind in enumerate(ev.EVENT_TYPES)}
_decode = msgspec.msgpack.Decoder[ev.AnyEvent](ev.AnyEvent).decode


class OccupancyLog:
    """Every time that an attempt took a slot: columns, in the order of their beginnings.

    `stage` is that of the task, `wasted` 1 if the attempt failed or was killed.  `ended_ms` is -1
    while it lasts, `shuffled_ms` until a reduce has all map outputs in it.
    """

    def __init__(self) -> None:
        self.node, self.slot, self.job, self.task = (array("i") for _ in range(4))
        self.state, self.stage, self.wasted = array("b"), array("h"), array("b")
        self.began_ms, self.ended_ms, self.shuffled_ms = array("q"), array("q"), array("q")
        self._open: dict[AttemptId, int] = {}

    def observe(self, event: ev.AnyEvent, attempt: AttemptRecord) -> None:
        """Take in an event, and the attempt that it is about as it is now."""
        note = _OCCUPANCY.get(type(event))
        if note is not None:
            note(self, event, attempt)

    def _end_shuffle(self, event: ev.ShuffleEnded, _attempt: AttemptRecord) -> None:
        self.shuffled_ms[self._open[event.attempt]] = event.at_ms

    def _end_occupancy(
        self, event: ev.AttemptSuspended | ev.AttemptEnded, attempt: AttemptRecord
    ) -> None:
        place, over = self._open.pop(event.attempt, None), attempt.ended
        if place is not None:
            self.ended_ms[place] = event.at_ms
            self.wasted[place] = over is not None and over.outcome is not _SUCCEEDED

    def _begin_occupancy(
        self, event: ev.AttemptStarted | ev.AttemptResumed, attempt: AttemptRecord
    ) -> None:
        launch = attempt.launch
        self._open[event.attempt] = len(self.began_ms)
        self.node.append(event.node)
        self.slot.append(event.slot)
        self.job.append(launch.job)
        self.task.append(launch.task)
        self.state.append(slot_state(attempt))
        self.stage.append(launch.stage)
        self.wasted.append(0)
        self.began_ms.append(event.at_ms)
        self.ended_ms.append(-1)
        self.shuffled_ms.append(-1)


_OCCUPANCY: dict[type[ev.AnyEvent], Callable[[OccupancyLog, Any, AttemptRecord], None]] = {
    ev.AttemptStarted: OccupancyLog._begin_occupancy,
    ev.AttemptResumed: OccupancyLog._begin_occupancy,
    ev.ShuffleEnded: OccupancyLog._end_shuffle,
    ev.AttemptSuspended: OccupancyLog._end_occupancy,
    ev.AttemptEnded: OccupancyLog._end_occupancy,
}


class Recording:
    """The events of one run; `append` takes the next one in, `state_at` goes to any of them.

    `last_state` is how the cluster is after the last event and `end_ms` how far the run is known,
    which for a run that still goes on may be later than its last event; if it is `closed` no more
    events will come.  `failure` is what made the run fail.  Columns have one entry an event.
    `make_oracle` knows the true sizes of jobs.
    """

    def __init__(self, make_oracle: MakeOracle | None = None) -> None:
        self._make_oracle = make_oracle
        self.insight: Insight | None = None
        self.last_state = ClusterState()
        self.end_ms: Millis = 0
        self.closed = False
        self.failure = ""
        self.history = RunHistory()
        self.occupancies = OccupancyLog()
        self.launched: dict[AttemptId, int] = {}
        """Which event launched an attempt."""
        self.suspensions: dict[AttemptId, list[Millis]] = {}
        self._bursts: tuple[ToldBurst, ...] = ()
        self._bursts_begun = {""}
        self.times = array("q")
        self.kinds = bytearray()
        self.jobs = array("i")
        self.nodes = array("i")
        self._data = bytearray()
        self._begins = array("q", (0,))
        self._encode = msgspec.msgpack.Encoder().encode
        self._spacing = _SNAPSHOT_EVERY
        self._snapshots: list[ClusterState] = [ClusterState()]
        self._response_parts: dict[JobId, ResponseParts | None] = {}
        self._parts_so_far: tuple[JobId, int, Millis, ResponseParts | None] = (-1, 0, 0, None)
        self._nearest_state = ClusterState()
        """The state that was asked for last, which is often nearer than a snapshot."""

    def response_parts(self, job: JobId) -> ResponseParts | None:
        """Where a job's response went, as `callboard explain` tells it; None while it is not over,
        and where the events up to its end are too many to be read at once.
        """
        if job not in self._response_parts:
            end = self._event_count_to_end(job)
            if end is None:
                return None
            self._response_parts[job] = self._response_parts_after(end, job)
        return self._response_parts[job]

    def parts_so_far(self, job: JobId, index: int, at_ms: Millis) -> ResponseParts | None:
        """Where a job's time went until `at_ms`, by when `index` events have happened; None where
        these are too many.
        """
        if index > _EXPLAINED_SO_FAR_MOST:
            return None
        if self._parts_so_far[:3] != (job, index, at_ms):
            self._parts_so_far = job, index, at_ms, self._response_parts_after(index, job, at_ms)
        return self._parts_so_far[3]

    def _response_parts_after(
        self, index: int, job: JobId, until_ms: Millis | None = None
    ) -> ResponseParts | None:
        return response_parts(lambda: map(self.event, range(index)), job, until_ms)

    def _event_count_to_end(self, job: JobId) -> int | None:
        row = self.last_state.run.jobs.get(job)
        if row is None or row.finished_ms is None:
            return None
        end = self.index_at(row.finished_ms)
        return end if end <= _EXPLAINED_MOST else None

    @cached_property
    def pools_and_users_at_first(self) -> list[tuple[str, str]]:
        """The pool, which may be empty, and the user of each job of the run, as far as they are
        known when this is first asked for: those of its scenario, else those submitted by then.
        """
        planned = None if self.insight is None else self.insight.planned_pools_and_users
        if planned is not None:
            return planned
        jobs = self.last_state.run.jobs.values()
        return [(job.pool, job.submission.user) for job in jobs]

    @property
    def started(self) -> ev.RunStarted | None:
        return self.last_state.run.started

    @property
    def ended(self) -> ev.RunEnded | None:
        return self.last_state.run.ended

    def __len__(self) -> int:
        return len(self.times)

    def append(self, event: ev.AnyEvent) -> None:
        """Take the next event in."""
        at_ms, last_state = event.at_ms, self.last_state
        if at_ms >= self.history.next_sample_ms:
            self.history.sample(at_ms, last_state)
        if event.mark and not (
            isinstance(event, ev.KillOrdered) and event.why.reason.is_the_masters
        ):
            self.history.mark(at_ms, event.mark)
        attempt = last_state.observe(event)
        if attempt is None:
            job, node = last_state.run.job_and_node_of(event)
        else:
            job, node = attempt.launch.job, attempt.launch.node
            self.occupancies.observe(event, attempt)
        note = _NOTED.get(type(event))
        if note is not None:
            note(self, event)
        self._store_event(event, job, node)
        self.end_ms = at_ms
        if last_state.run.index % self._spacing == 0:
            self._keep_snapshot(last_state.copy())

    def _note_start(self, event: ev.RunStarted) -> None:
        self.insight = Insight(event, self._make_oracle)
        self._bursts = tuple(told_scenario(event).bursts())

    def _note_end(self, _event: ev.RunEnded) -> None:
        self.closed = True

    def _mark_new_burst(self, event: ev.JobSubmitted) -> None:
        """The first job of a burst marks when that came: no event of its own tells it."""
        begun = {burst.burst_name_of_job(event.name) for burst in self._bursts} - self._bursts_begun
        if begun:
            self._bursts_begun |= begun
            self.history.mark(event.at_ms, ev.Mark.FAULT)

    def _note_launch(self, event: ev.AttemptLaunched) -> None:
        self.launched[event.attempt] = len(self.times)

    def _note_suspension(self, event: ev.AttemptSuspended) -> None:
        self.suspensions.setdefault(event.attempt, []).append(event.at_ms)

    def _store_event(self, event: ev.AnyEvent, job: JobId, node: NodeId) -> None:
        self._data += self._encode(event)
        self._begins.append(len(self._data))
        self.times.append(event.at_ms)
        self.kinds.append(EVENT_NUMBERS[type(event)])
        self.jobs.append(job)
        self.nodes.append(node)

    def _keep_snapshot(self, cluster: ClusterState) -> None:
        """Keep a snapshot; when there are too many every other one goes."""
        self._snapshots.append(cluster)
        if len(self._snapshots) > _SNAPSHOTS_MAX:
            self._snapshots = self._snapshots[::2]
            self._spacing *= 2

    # Reading.

    def event(self, index: int) -> ev.AnyEvent:
        """Event number `index`, from 0."""
        found: ev.AnyEvent = _decode(self.event_bytes(index))
        return found

    def event_bytes(self, index: int) -> bytes:
        """Event number `index` as it is kept; two recordings keep equal events as equal bytes."""
        return bytes(self._data[self._begins[index] : self._begins[index + 1]])

    def index_at(self, at_ms: Millis) -> int:
        """How many events have happened by the end of that millisecond."""
        return bisect_right(self.times, at_ms)

    def state_at(self, index: int) -> ClusterState:
        """The cluster after the first `index` events.  The next call may change it."""
        if index == len(self.times):
            return self.last_state
        place = min(index // self._spacing, len(self._snapshots) - 1)
        if not self._snapshots[place].run.index <= self._nearest_state.run.index <= index:
            self._nearest_state = self._snapshots[place].copy()
        state, begins = self._nearest_state, self._begins
        data = memoryview(self._data)
        for each in range(state.run.index, index):
            state.observe(_decode(data[begins[each] : begins[each + 1]]))
        return state


_NOTED: dict[type[ev.AnyEvent], Callable[[Recording, Any], None]] = {
    ev.RunStarted: Recording._note_start,
    ev.RunEnded: Recording._note_end,
    ev.JobSubmitted: Recording._mark_new_burst,
    ev.AttemptLaunched: Recording._note_launch,
    ev.AttemptSuspended: Recording._note_suspension,
}
