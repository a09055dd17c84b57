"""Small worlds of the simulator that Sparrow's authors released (radlab/sparrow), draws given."""

from collections.abc import Sequence
from typing import Any

from bench.oracles.comparison import Cell
from bench.oracles.oracle_runs import SCALE, responses_ms
from callboard.actors.job_spec import JobSpec
from callboard.actors.sparrow.draws import Draws
from callboard.actors.sparrow.sparrow import Sparrow, SparrowParams
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, NodeId, Stage

PLACEMENTS = {
    "late": SparrowParams(cancellation=False),
    "cancel": SparrowParams(),
    "batch": SparrowParams(placement="batch"),
    "per_task": SparrowParams(placement="per-task"),
    "random": SparrowParams(placement="random"),
    "central": SparrowParams(placement="central"),
}
"""Ours by its names."""


class _Replayed(Draws):
    """Asks nodes in the orders that were drawn elsewhere, one a job."""

    def __init__(self, orders: Sequence[Sequence[NodeId]]) -> None:
        self._orders = orders

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        assert (stage, batch) == (0, 0), "the simulator asks once for each job"
        return self._orders[job][:count]


class ReplayedSparrow(Sparrow):
    """Sparrow with orders of probes that were drawn elsewhere."""

    def __init__(self, params: SparrowParams, orders: Sequence[Sequence[NodeId]]) -> None:
        super().__init__(params)
        self._orders = orders

    def draws(self, world: World) -> Draws:  # noqa: ARG002
        return _Replayed(self._orders)


def jobs_of_maps(
    arrivals_ms: Sequence[Millis], lengths_ms: Sequence[Millis], tasks: int
) -> list[JobSpec]:
    """A job for each arrival, of so many maps that are as long as each other."""
    return [
        JobSpec(job=number, name=f"job-{number}", submit_ms=at_ms, maps=tasks, map_ms=length_ms)
        for number, (at_ms, length_ms) in enumerate(zip(arrivals_ms, lengths_ms, strict=True))
    ]


def micro_responses(case: dict[str, Any], schedulers: int = 1) -> list[float]:
    """The responses of a small world, in the simulator's ms."""
    params = PLACEMENTS[case["which"]]
    if params.placement != "central":
        params = SparrowParams(params.placement, params.probes, schedulers, params.cancellation)
    arrivals_ms = [round(SCALE * arrival) for arrival, _, _ in case["jobs"]]
    lengths_ms = [SCALE * case["duration"]] * len(arrivals_ms)
    jobs = jobs_of_maps(arrivals_ms, lengths_ms, case["tasks"])
    sparrow = ReplayedSparrow(params, case["worker_orders"])
    found = responses_ms(sparrow, jobs, workers=case["workers"], slots=case["slots"], seed=1)
    return [each / SCALE for each in found]


def micro_cells(cases: Sequence[dict[str, Any]]) -> list[Cell]:
    """`sparrow-micro.json`: every response, to the digit."""
    found = []
    for place, case in enumerate(cases):
        name = f"{place} {case['which']}"
        known = case["which"] in PLACEMENTS
        ours = micro_responses(case) if known else [None] * len(case["jobs"])
        for number, (each, (_, _, theirs)) in enumerate(zip(ours, case["jobs"], strict=True)):
            found.append(Cell(f"{name}, job {number}", theirs, each))
    return found
