"""How long jobs take alone: the denominator of slowdown.

A job alone has every slot of the cluster as the scenario begins it, with its own draws of task
lengths; all its maps are local (or farther from their input, should the scenario have them take
less there), all its tasks on the nodes that suit them best; nothing fails, straggles or comes too
late.  What it cannot avoid alone either is counted: messages take their latency, and a slot is
filled again, and an end heard of, only at a heartbeat of its node.  So it is a time that no run can
undercut, and it is computed: no run of the job alone is that good.

Runs that are compared have the same denominators: where one of them is of an architecture whose
nodes wait for no heartbeats, these are left out of account for all.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import NDArray

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster, Tasks, node_facts
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.durations import noisy_length_ms
from callboard.experiments.run.plugins import part_classes
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.figures.least_makespan import Lengths, least_makespan
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import (
    KINDS,
    MAP,
    MAPS,
    REDUCE,
    REDUCES,
    JobId,
    Locality,
    Millis,
    SlotKind,
    Stage,
)

Nominal = NDArray[np.float64]
"""A part of each task, in ms on a node of speed 1, before noise."""


def solo_times(spec: RunSpec, *, at_once: bool | None = None) -> dict[JobId, Millis]:
    """The least response time in ms that each of the run's jobs could have under any policy;
    `at_once` if nothing waits for heartbeats, by default as the run's own architecture has it.
    """
    scenario, at_once = (
        spec.scenario,
        any_without_heartbeats([spec]) if at_once is None else at_once,
    )
    alone = LoneJobs.of_scenario(scenario, at_once=at_once)
    if scenario.tasks.sigma:
        return {job.job: alone.least_ms(job) for job in spec.jobs}
    by_shape: dict[tuple[object, ...], Millis] = {}
    for job in spec.jobs:
        if job.solo_time_key not in by_shape:
            by_shape[job.solo_time_key] = alone.least_ms(job)
    return {job.job: by_shape[job.solo_time_key] for job in spec.jobs}


def any_without_heartbeats(specs: Iterable[RunSpec]) -> bool:
    """Whether one of the runs is of an architecture whose nodes wait for no heartbeats."""
    return any(
        issubclass(each, Architecture) and not each.heartbeats
        for spec in specs
        for each in part_classes(spec.policy, spec.scenario.parts)
    )


def solo_times_of_jobs(jobs: JobColumns, solo_ms: Mapping[JobId, Millis]) -> Ints:
    """The times alone in the order of the jobs; 0 for a job without one."""
    return np.array([solo_ms.get(job, 0) for job in jobs.job.tolist()], np.int64)


class LoneJobs:
    """Jobs alone on a cluster."""

    def __init__(self, cluster: Cluster, tasks: Tasks, seed: int, *, at_once: bool) -> None:
        nodes = node_facts(cluster)
        self._types = sorted({(each.speed, each.node_type) for each in nodes})
        self._slots = tuple(self._slots_by_type(nodes, kind) for kind in KINDS)
        self._tasks = tasks
        self._latency_ms = cluster.latency_ms
        self._round_ms = cluster.heartbeat_cycle_ms()
        self._at_once = at_once or cluster.heartbeat.out_of_band
        self._least_held_ms = 0 if at_once else 1
        self._nearest = min(map(tasks.locality_factor, Locality))
        self._slowstart = tasks.slowstart
        self._sigma = tasks.sigma
        self._noise = Stream(seed, "duration")

    @classmethod
    def of_scenario(cls, scenario: Scenario, *, at_once: bool) -> Self:
        """On the cluster as a scenario begins it."""
        return cls(scenario.cluster, scenario.tasks, scenario.seed, at_once=at_once)

    def _slots_by_type(self, nodes: Sequence[NodeFacts], kind: SlotKind) -> list[int]:
        counts = dict.fromkeys(self._types, 0)
        for each in nodes:
            counts[each.speed, each.node_type] += (each.map_slots, each.reduce_slots)[kind]
        return list(counts.values())

    def _usable_slots(self, job: JobSpec, kind: SlotKind) -> list[int]:
        """Those on which the job may run."""
        of_types = zip(self._types, self._slots[kind], strict=True)
        return [slots if job.allows_node_type(each) else 0 for (_, each), slots in of_types]

    def least_ms(self, job: JobSpec) -> Millis:
        """The least response time of a job."""
        maps = self._slot_held_ms(
            self._work_by_node_type(
                job, MAPS, np.array(job.nominal_task_lengths_ms(MAPS, self._tasks))
            )
        )
        map_slots = self._usable_slots(job, MAP)
        mapped_ms = least_makespan(maps, map_slots)
        if not job.reduces:
            return max(mapped_ms, 1)
        first = np.sort(maps, axis=0)[: ceil(self._slowstart * job.maps)]
        late_ms = least_makespan(first, map_slots)
        return self._reduces_done_ms(job, mapped_ms, late_ms)

    def _reduces_done_ms(self, job: JobSpec, mapped_ms: Millis, first_ms: Millis) -> Millis:
        """When the reduces are done: none begins before `first_ms`, and in each slot at most one
        has its shuffle, but for the last map's part, behind it when all maps are done.
        """
        way_ms = 2 * self._latency_ms
        shuffle_ms, tail_ms, rest_ms = np.array(job.parts_of_reduces(), np.float64).T
        rest = self._work_by_node_type(job, REDUCES, rest_ms)
        whole = np.maximum(self._drawn_lengths(job, REDUCES, shuffle_ms), way_ms)
        tail = np.maximum(self._drawn_lengths(job, REDUCES, tail_ms), way_ms + 1)
        begun = tail + rest + way_ms
        anew = self._slot_held_ms(np.maximum(whole, tail + way_ms) + rest)
        more_ms = int((anew - begun).min())
        slots = self._usable_slots(job, REDUCE)
        early_ms = mapped_ms + least_makespan(begun + more_ms, slots) - more_ms
        return max(early_ms, first_ms + least_makespan(anew, slots))

    def _work_by_node_type(self, job: JobSpec, stage: Stage, nominal_ms: Nominal) -> Lengths:
        """How long the work of each task, which nodes differ in, takes on each type."""
        columns = []
        for speed, node_type in self._types:
            factors = np.full(len(nominal_ms), job.duration_factor_on(node_type) / speed)
            factors[list(job.skewed[stage])] *= job.skew
            if stage == MAPS:
                factors *= self._nearest
            columns.append(self._drawn_lengths(job, stage, nominal_ms * factors))
        return np.concatenate(columns, axis=1)

    def _drawn_lengths(self, job: JobSpec, stage: Stage, plain_ms: Nominal) -> Lengths:
        """One column: a part of each task, with the task's noise."""
        if not self._sigma:
            return np.rint(plain_ms).astype(np.int64).reshape(-1, 1)
        drawn = [
            noisy_length_ms(self._noise, self._sigma, job.job, stage, task, ms)
            for task, ms in enumerate(plain_ms)
        ]
        return np.array(drawn, np.int64).reshape(-1, 1)

    def _slot_held_ms(self, lengths: Lengths) -> Lengths:
        """From the launch to the heartbeat that tells the end, which may bring the next launch:
        whole rounds of heartbeats, unless the end brings one at once.
        """
        told = lengths + 2 * self._latency_ms
        if self._at_once:
            return np.maximum(told, self._least_held_ms)
        rounds = np.maximum(-(-told // self._round_ms), 1)
        return rounds * self._round_ms
