"""Cases of the simulator that Sparrow's authors released (radlab/sparrow)."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import log
from multiprocessing import get_context
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.oracles.comparison import Cell, UnknownFormat
from bench.oracles.oracle_runs import SCALE, Observe, responses_ms
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.sparrow.draws import Draws
from callboard.actors.sparrow.sparrow import Sparrow, SparrowParams
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, NodeId, Stage

TASKS_A_JOB = 100
SLOTS = 4
MEAN_TASK_MS = 100
WARM_UP_MS = 500
"""Jobs that come before this do not count."""

WITHIN = 0.05
"""How far percentiles may be off with draws of our own."""

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


def _responses(
    architecture: Sparrow,
    arrivals_ms: Sequence[Millis],
    lengths_ms: Sequence[Millis],
    *,
    tasks: int,
    workers: int,
    slots: int,
    seed: int = 1,
    sinks: Iterable[Observe] = (),
) -> list[Millis]:
    """From each job's arrival to its last task's end, as its simulator counts."""
    jobs = tuple(
        JobSpec(job=number, name=f"job-{number}", submit_ms=at_ms, maps=tasks, map_ms=length_ms)
        for number, (at_ms, length_ms) in enumerate(zip(arrivals_ms, lengths_ms, strict=True))
    )
    return responses_ms(architecture, jobs, workers=workers, slots=slots, seed=seed, sinks=sinks)


# Small worlds with given draws.


def micro_responses(case: dict[str, Any], schedulers: int = 1) -> list[float]:
    """The responses of a small world, in the simulator's ms."""
    params = PLACEMENTS[case["which"]]
    if params.placement != "central":
        params = SparrowParams(params.placement, params.probes, schedulers, params.cancellation)
    arrivals_ms = [round(SCALE * arrival) for arrival, _, _ in case["jobs"]]
    found = _responses(
        ReplayedSparrow(params, case["worker_orders"]),
        arrivals_ms,
        [SCALE * case["duration"]] * len(arrivals_ms),
        tasks=case["tasks"],
        workers=case["workers"],
        slots=case["slots"],
    )
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


# Large clusters.


def percentiles(case: dict[str, Any], seed: int | None) -> dict[str, float]:
    """p50, p95, p99 and mean of the responses, in the simulator's ms, with its own jobs or those of
    a seed of ours.
    """
    if case["dist"] != "jobs":
        raise UnknownFormat(f"lengths drawn as {case['dist']!r}; known is `jobs`, one a job")
    slots = SLOTS * case["workers"]
    gap_ms = MEAN_TASK_MS * TASKS_A_JOB / (case["load"] * slots)
    params, sparrow = PLACEMENTS[case["which"]], Sparrow(PLACEMENTS[case["which"]])
    if seed is None:
        drawn, orders = _replayed_jobs(case, gap_ms)
        sparrow = ReplayedSparrow(params, orders)
    else:
        drawn = _own_jobs(case, gap_ms, seed)
    lengths_ms, arrivals_ms = np.maximum(np.rint(SCALE * drawn), [[1], [0]])
    found = _responses(
        sparrow,
        arrivals_ms.astype(int).tolist(),
        lengths_ms.astype(int).tolist(),
        tasks=TASKS_A_JOB,
        workers=case["workers"],
        slots=SLOTS,
        seed=seed or 1,
    )
    counted = np.array(found)[arrivals_ms >= SCALE * WARM_UP_MS] / SCALE
    p50, p95, p99 = np.percentile(counted, [50, 95, 99])
    return {"p50": p50, "p95": p95, "p99": p99, "mean": counted.mean()}


def _own_jobs(case: dict[str, Any], gap_ms: float, seed: int) -> NDArray[np.float64]:
    """The lengths of tasks, and when jobs come, by our streams."""
    lengths, gaps = Stream(seed, "length"), Stream(seed, "gap")
    count = range(case["jobs"])
    lengths_ms = [lengths.exponential(MEAN_TASK_MS, each) for each in count]
    return np.array([lengths_ms, np.cumsum([gaps.exponential(gap_ms, each) for each in count])])


REPLAYED = ("central", "random")
"""Placements whose draws by the simulator are known: between a job's length and the time until the
next job, none for `central`, and for `random` those of a shuffle of all workers.
"""


def _replayed_jobs(
    case: dict[str, Any], gap_ms: float
) -> tuple[NDArray[np.float64], list[list[NodeId]]]:
    """The same by Python's generator, in the simulator's order, and each job's nodes."""
    generator, workers = Random(case["seed"]), list(range(case["workers"]))
    lengths_ms, arrivals_ms, orders = [], [0.0], []
    for _ in range(case["jobs"]):
        lengths_ms.append(-MEAN_TASK_MS * log(1 - generator.random()))
        if case["which"] == "random":
            _shuffle(workers, generator)
            orders.append(workers[:TASKS_A_JOB])
        arrivals_ms.append(arrivals_ms[-1] - gap_ms * log(1 - generator.random()))
    return np.array([lengths_ms, arrivals_ms[:-1]]), orders


def _shuffle(workers: list[NodeId], generator: Random) -> None:
    """As Python 2 shuffles."""
    for place in range(len(workers) - 1, 0, -1):
        other = int(generator.random() * (place + 1))
        workers[place], workers[other] = workers[other], workers[place]


def cluster_cells(cases: Sequence[dict[str, Any]], seeds: int) -> list[Cell]:
    """`sparrow-…-workers.jsonl`: with its jobs where they can be replayed, else the means of
    `seeds` seeds of ours beside its one.
    """
    runs: list[tuple[dict[str, Any], int | None]] = []
    for case in cases:
        if case["which"] in REPLAYED:
            runs.append((case, None))
        elif case["which"] in PLACEMENTS:
            runs += [(case, seed) for seed in range(1, seeds + 1)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_percentiles_of, runs))
    cells = []
    for case in cases:
        name = f"{case['which']}, {case['workers']:,} workers, load {case['load']:g}"
        ours = [each for (of, _), each in zip(runs, found, strict=True) if of is case]
        for what in ("p50", "p95", "p99", "mean"):
            mean = float(np.mean([each[what] for each in ours])) if ours else None
            cells.append(Cell(f"{name}, {what}", case[what], mean, WITHIN))
    return cells


def _percentiles_of(run: tuple[dict[str, Any], int | None]) -> dict[str, float]:
    return percentiles(*run)
