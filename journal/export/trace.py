"""A run as a trace in the Trace Event Format, which Perfetto and chrome://tracing open.

A node is a process, named by its rack and sorted by it; each of its slots is a track.  A slice is
a time for which an attempt held the slot, a reduce's shuffle a slice inside it.  Preemptions lie
on the victim's track, faults and what follows from them on a track of the node's own, what concerns
the whole cluster on its process, with the counters.  Times are virtual, in microseconds.

No two tracks have the same number, even in two processes: Perfetto takes thread numbers for unique.
"""

import heapq
from collections.abc import Iterable, Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.export.attempt_table import AttemptColumns
from callboard.journal.export.export_data import ExportData, Instant
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import OUTCOME_ORDER
from callboard.journal.run_records import NEVER
from callboard.journal.tell import names
from callboard.journal.tell.names import slot_kind_name
from callboard.scheduler.model import MAPS, Locality, Millis, SlotKind, Stage
from callboard.scheduler.text.quantities import printable

TraceEvent = dict[str, Any]

CLUSTER_PID = 1
_US = 1000
"""Microseconds in a millisecond."""


class Tracks:
    """The numbers of processes and tracks."""

    def __init__(self, nodes: Iterable[NodeFacts]) -> None:
        self.nodes = tuple(nodes)
        by_rack = sorted(self.nodes, key=lambda facts: (facts.rack, facts.node))
        self.pids = {facts.node: CLUSTER_PID + 1 + at for at, facts in enumerate(by_rack)}
        self.cluster_tid = CLUSTER_PID + 1 + len(self.nodes)
        tracks = (1 + facts.map_slots + facts.reduce_slots for facts in self.nodes)
        firsts = accumulate(tracks, initial=self.cluster_tid + 1)
        self._first = {facts.node: at for facts, at in zip(self.nodes, firsts, strict=False)}

    def node_track(self, node: int) -> int:
        """The track of what happens to the node itself."""
        return self._first[node]

    def slot_track(self, node: int, slot: int) -> int:
        """The track of one of its slots."""
        return self._first[node] + 1 + slot


def trace_lines(data: ExportData) -> Iterator[str]:
    """The trace as JSON, an event a line, sorted by time."""
    run, tracks = data.started, Tracks(data.started.nodes)
    attempts = data.attempts()
    name, policy = printable(run.name), printable(run.policy)
    about = {"scenario": name, "policy": policy, "seed": run.seed}
    about |= {"callboard": run.version, "times": "virtual"}
    if data.ended is not None:
        about["digest"] = data.ended.digest
    yield f'{{"displayTimeUnit":"ms","otherData":{_event_as_json(about)},"traceEvents":['
    instants = _instant_events(data, attempts, tracks)
    slices = _slice_events(data, attempts, tracks)
    timed = heapq.merge(_counter_events(data, attempts), slices, instants, key=itemgetter("ts"))
    comma = ""
    for part in (_name_events(data, tracks, instants), timed):
        for event in part:
            yield f"{comma}{_event_as_json(event)}"
            comma = ","
    yield "]}"


def _event_as_json(event: TraceEvent) -> str:
    return msgspec.json.encode(event).decode()


def _name_events(
    data: ExportData, tracks: Tracks, instants: Iterable[TraceEvent]
) -> Iterator[TraceEvent]:
    """What processes and tracks are called, and in which order they stand."""
    run, used = data.started, {event["tid"] for event in instants}
    yield from _name_and_sort_events(
        "process", f"{printable(run.name)} under {printable(run.policy)}", CLUSTER_PID
    )
    yield from _name_and_sort_events("thread", "cluster", CLUSTER_PID, tracks.cluster_tid)
    for facts in tracks.nodes:
        pid = tracks.pids[facts.node]
        kind = f" ({printable(facts.node_type)})" if facts.node_type else ""
        yield from _name_and_sort_events(
            "process", f"{names.rack_name(facts.rack)} {names.node_name(facts.node)}{kind}", pid
        )
        if tracks.node_track(facts.node) in used:
            yield from _name_and_sort_events(
                "thread", "the node itself", pid, tracks.node_track(facts.node)
            )
        for slot in range(facts.map_slots + facts.reduce_slots):
            name = names.slot_name(slot, facts.map_slots)
            yield from _name_and_sort_events(
                "thread", name, pid, tracks.slot_track(facts.node, slot)
            )


def _name_and_sort_events(
    what: str, name: str, pid: int, tid: int | None = None
) -> Iterator[TraceEvent]:
    place = {"pid": pid} if tid is None else {"pid": pid, "tid": tid}
    yield {"ph": "M", "name": f"{what}_name", **place, "args": {"name": name}}
    index = pid if tid is None else tid
    yield {"ph": "M", "name": f"{what}_sort_index", **place, "args": {"sort_index": index}}


def _counter_events(data: ExportData, attempts: AttemptColumns) -> Iterator[TraceEvent]:
    """Jobs in the system and busy slots, wherever they change."""
    metrics = data.metrics
    counters = [_events_of_counter("jobs in the system", "jobs", metrics.jobs_in_system())]
    for kind in SlotKind:
        busy = attempts.busy_slots(kind, metrics.horizon_ms)
        counters.append(_events_of_counter(f"busy {slot_kind_name(kind)} slots", "slots", busy))
    return heapq.merge(*counters, key=itemgetter("ts"))


def _events_of_counter(name: str, series: str, steps: Steps) -> Iterator[TraceEvent]:
    place = {"ph": "C", "name": name, "pid": CLUSTER_PID}
    for at_ms, count in zip(steps.times.tolist(), steps.counts.tolist(), strict=True):
        yield {**place, "ts": at_ms * _US, "args": {series: count}}


def _slice_events(
    data: ExportData, attempts: AttemptColumns, tracks: Tracks
) -> Iterator[TraceEvent]:
    """Each time that an attempt held a slot, and in it its shuffle.  What still ran when the run
    ended, ends with it.
    """
    titles = {told.job: printable(told.name) for told in data.submitted}
    held, left_ms = attempts.occupancies, attempts.occupancy_ends_ms(data.metrics.horizon_ms)
    rows = np.argsort(held.began_ms, kind="stable")
    for row in rows.tolist():
        at = int(held.place[row])
        began_ms, ended_ms = int(held.began_ms[row]), int(left_ms[row])
        job, kind = int(attempts.job[at]), SlotKind(int(attempts.kind[at]))
        node, stage = int(attempts.node[at]), Stage(int(attempts.stage[at]))
        task = names.task_name_in_job(stage, int(attempts.task[at]))
        place = {"pid": tracks.pids[node], "tid": tracks.slot_track(node, int(held.slot[row]))}
        yield {
            **_slice_fields(f"{titles[job]} {task}", began_ms, ended_ms),
            "cat": f"{slot_kind_name(kind)}{',copy' if attempts.original[at] else ''}",
            **place,
            "args": _attempt_particulars(data, attempts, at),
        }
        if kind is SlotKind.REDUCE:
            shuffled_ms = int(attempts.shuffled_ms[at])
            until_ms = ended_ms if shuffled_ms == NEVER else min(shuffled_ms, ended_ms)
            if until_ms > began_ms:
                yield {**_slice_fields("shuffle", began_ms, until_ms), "cat": "shuffle", **place}


def _slice_fields(name: str, began_ms: Millis, ended_ms: Millis) -> TraceEvent:
    return {"ph": "X", "name": name, "ts": began_ms * _US, "dur": (ended_ms - began_ms) * _US}


def _attempt_particulars(data: ExportData, attempts: AttemptColumns, at: int) -> TraceEvent:
    """What is said of the attempt in this row."""
    attempt = int(attempts.attempt[at])
    booked, ended = int(attempts.closed[at]), int(attempts.ended[at])
    told: TraceEvent = {
        "job": job_name(int(attempts.job[at])),
        "task": int(attempts.task[at]),
        "attempt": attempt,
        "number": int(attempts.number[at]) + 1,
        "launched_ms": int(attempts.launched_ms[at]),
        "outcome": "running" if ended == NEVER else str(OUTCOME_ORDER[ended]),
        "booked": "open" if booked == NEVER else str(OUTCOME_ORDER[booked]),
    }
    if attempts.stage[at] == MAPS:
        told["locality"] = names.LOCALITY_NAMES[Locality(int(attempts.level[at]))]
    if attempts.original[at]:
        told["original"] = int(attempts.original[at])
    if attempt in data.preempted:
        told["preempted"] = data.preempted[attempt]
    return told


def _instant_events(data: ExportData, attempts: AttemptColumns, tracks: Tracks) -> list[TraceEvent]:
    return [
        {"ph": "i", "name": each.label, "ts": each.at_ms * _US, "args": {"what": each.text}}
        | _track_of_instant(each, attempts, tracks)
        for each in data.instants
    ]


def _track_of_instant(instant: Instant, attempts: AttemptColumns, tracks: Tracks) -> TraceEvent:
    """Where an instant lies: on a slot, on a node, or on the cluster."""
    node, slot = instant.node, None
    if instant.attempt is not None:
        at = int(np.searchsorted(attempts.attempt, instant.attempt))
        node, slot = int(attempts.node[at]), _slot_held_at(attempts, at, instant.at_ms)
    if node is None:
        return {"s": "g", "pid": CLUSTER_PID, "tid": tracks.cluster_tid}
    if slot is None:
        return {"s": "p", "pid": tracks.pids[node], "tid": tracks.node_track(node)}
    return {"s": "t", "pid": tracks.pids[node], "tid": tracks.slot_track(node, slot)}


def _slot_held_at(attempts: AttemptColumns, at: int, at_ms: Millis) -> int | None:
    """The slot that the attempt had last by then; the first after it if it had none yet."""
    held = attempts.occupancies
    low, high = np.searchsorted(held.place, at), np.searchsorted(held.place, at, "right")
    if low == high:
        return None
    begun = int(np.searchsorted(held.began_ms[low:high], at_ms, "right"))
    return int(held.slot[low + max(begun - 1, 0)])
