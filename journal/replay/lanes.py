"""Timelines from occupancies: of slots, of a job's tasks, of how many of its attempts ran."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.figures.tables import Ints
from callboard.journal.replay.frame import WASTED, Lane, SlotState
from callboard.journal.replay.recording import OccupancyLog
from callboard.journal.tell.names import slot_name, task_name_in_job
from callboard.scheduler.model import CLEANUP, MAPS, REDUCES, SETUP, JobId, Millis, NodeId

Window = tuple[int, int]


class SelectedOccupancies:
    """Some occupancies as known at a moment, without those that begin later."""

    def __init__(self, occupancies: OccupancyLog, mask: NDArray[np.bool_], at_ms: Millis) -> None:
        began = np.frombuffer(occupancies.began_ms, np.int64)
        self.rows: Ints = np.flatnonzero(mask & (began < at_ms))
        self.began: Ints = began[self.rows]
        ended = np.frombuffer(occupancies.ended_ms, np.int64)[self.rows]
        over = (ended >= 0) & (ended <= at_ms)
        self.ended: Ints = np.where(over, ended, at_ms)
        shuffled = np.frombuffer(occupancies.shuffled_ms, np.int64)[self.rows]
        known = (shuffled >= 0) & (shuffled <= at_ms)
        self.shuffled: Ints = np.where(known, shuffled, self.ended)
        self.slot, self.job, self.task = (
            np.frombuffer(each, np.int32)[self.rows]
            for each in (occupancies.slot, occupancies.job, occupancies.task)
        )
        states = np.frombuffer(occupancies.state, np.int8)[self.rows]
        lost = np.frombuffer(occupancies.wasted, np.int8)[self.rows] > 0
        self.state: NDArray[np.int8] = np.where(over & lost, WASTED, states).astype(np.int8)
        self.stage = np.frombuffer(occupancies.stage, np.int16)[self.rows]

    def stretches(self, at: int) -> Iterator[tuple[int, int, int]]:
        """The occupancy in stretches of one state, a reduce's shuffle apart: from, to, state."""
        state = int(self.state[at])
        begin, middle, end = int(self.began[at]), int(self.shuffled[at]), int(self.ended[at])
        if state != SlotState.SHUFFLE:
            yield begin, end, state
            return
        yield begin, middle, state
        if middle < end:
            yield middle, end, SlotState.REDUCE


def occupancies_of_node(log: OccupancyLog, node: NodeId, at_ms: Millis) -> SelectedOccupancies:
    """The occupancies of a node's slots."""
    return SelectedOccupancies(log, np.frombuffer(log.node, np.int32) == node, at_ms)


def occupancies_of_job(log: OccupancyLog, job: JobId, at_ms: Millis) -> SelectedOccupancies:
    """The occupancies of a job's attempts."""
    return SelectedOccupancies(log, np.frombuffer(log.job, np.int32) == job, at_ms)


def lane(
    label: str, chosen: SelectedOccupancies, which: Sequence[int], window: Window, columns: int
) -> Lane:
    """A row of stretches; each column shows the attempt that had the longest part of it."""
    edges = np.linspace(*window, columns + 1)
    owners, codes = np.zeros(columns, np.int64), np.zeros(columns, np.uint8)
    best = np.zeros(columns)
    for at in which:
        for begin, end, state in chosen.stretches(at):
            inside = np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin)
            more = inside > best
            owners[more], codes[more] = chosen.job[at] + 1, state
            best[more] = inside[more]
    fill = np.minimum(best / np.maximum(np.diff(edges), 1e-9), 1)
    return Lane(label, owners.tolist(), codes.tobytes(), fill.tolist())


def slot_lanes(
    chosen: SelectedOccupancies, facts: NodeFacts, window: Window, columns: int
) -> list[Lane]:
    """A lane for each slot of a node."""
    seen = chosen.ended > window[0]
    lanes = []
    for slot in range(facts.map_slots + facts.reduce_slots):
        which = np.flatnonzero((chosen.slot == slot) & seen).tolist()
        lanes.append(lane(slot_name(slot, facts.map_slots), chosen, which, window, columns))
    return lanes


def task_lanes(chosen: SelectedOccupancies, window: Window, columns: int) -> list[Lane]:
    """A lane for each task of a job that has been begun: its setup, maps, reduces, its cleanup."""
    lanes = []
    for stage in (SETUP, MAPS, REDUCES, CLEANUP):
        mine = chosen.stage == stage
        for task in np.unique(chosen.task[mine]).tolist():
            which = np.flatnonzero(mine & (chosen.task == task)).tolist()
            lanes.append(lane(task_name_in_job(stage, task), chosen, which, window, columns))
    return lanes


def running_profile(
    chosen: SelectedOccupancies, job: JobId, window: Window, columns: int
) -> list[Lane]:
    """How many of the job's attempts ran at a time, maps and reduces in a lane each; `fill` is
    relative to the most that ever ran.
    """
    edges = np.linspace(window[0], max(window[1], window[0] + 1), columns + 1)
    lanes = []
    for name, state, mine in (
        ("maps", SlotState.MAP, chosen.stage == MAPS),
        ("reduces", SlotState.REDUCE, chosen.stage == REDUCES),
    ):
        if not mine.any():
            continue
        level = mean_running(chosen.began[mine], chosen.ended[mine], edges)
        most = max(float(level.max()), 1.0)
        owners = np.where(level > 0, job + 1, 0).tolist()
        fill = (level / most).tolist()
        lanes.append(Lane(name, owners, bytes([state]) * len(owners), fill, round(most)))
    return lanes


def mean_running(began: Ints, ended: Ints, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many intervals cover each column, between two `edges`, on average; those that have begun
    and not ended go on.
    """
    began, ended = np.sort(began), np.sort(ended)
    sums = [np.concatenate(((0,), np.cumsum(each))) for each in (began, ended)]
    begun, done = (np.searchsorted(each, edges) for each in (began, ended))
    # The area up to an edge: of those begun, edge - began; of those done, less edge - ended.
    area = edges * begun - sums[0][begun] - (edges * done - sums[1][done])
    return np.asarray(np.diff(area) / np.diff(edges))
