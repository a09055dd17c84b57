"""The papers' worked examples, computed once: small enough to be followed with a pencil.

Those of ideal machines are computed by `scheduler.ideal`, with exact arithmetic's loops; those in
which tasks matter are played by the actors on a cluster without latency, on which nothing waits.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.experiments.many.computing import Call
from callboard.experiments.many.content_key import scenario_version
from callboard.experiments.many.result_store import key_of
from callboard.experiments.reproduction.artefact import Evidence
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.scenarios.scenario_file import Scenario, from_dict
from callboard.scheduler.ideal import remaining, simulate
from callboard.scheduler.ideal.report_workload import estimates
from callboard.scheduler.model import Millis
from callboard.scheduler.orders.coshh.linear_program import solve_matching

ExampleNumbers = Mapping[str, float]
"""What an example comes to."""


class Worked(Evidence[ExampleNumbers], frozen=True):
    """The evidence of an example, by its name in `EXAMPLES` or, of one that is drawn, in
    `SEEDED_EXAMPLES`.
    """

    name: str

    @property
    def varies_with_seed(self) -> bool:
        return self.name in SEEDED_EXAMPLES

    def calls(self, seeds: Sequence[int]) -> list[Call]:
        return [
            Call(self._example_key(seed), work_example, (self.name, seed), weight=0.0)
            for seed in self._drawn_seeds(seeds)
        ]

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> list[ExampleNumbers]:
        decoded = (found[self._example_key(seed)] for seed in self._drawn_seeds(seeds))
        return [msgspec.msgpack.decode(each, type=dict[str, float]) for each in decoded]

    def _drawn_seeds(self, seeds: Sequence[int]) -> Sequence[int | None]:
        return seeds if self.varies_with_seed else (None,)

    def _example_key(self, seed: int | None) -> str:
        return key_of("worked", scenario_version(), _examples_version(), self.name, seed)


def work_example(name: str, seed: int | None) -> bytes:
    """The example's numbers; `seed` is None where nothing is drawn."""
    numbers = EXAMPLES[name]() if seed is None else SEEDED_EXAMPLES[name](seed)
    return msgspec.msgpack.encode(numbers)


@cache
def _examples_version() -> str:
    return blake2b(Path(__file__).read_bytes(), digest_size=8).hexdigest()


def _mean_responses(
    disciplines: Mapping[str, str],
    arrivals: Sequence[float],
    sizes: Sequence[float],
    estimates: Sequence[float] | None = None,
) -> dict[str, float]:
    """By what the disciplines are called."""
    return {
        name: float((simulate(each, arrivals, sizes, estimates) - np.array(arrivals)).mean())
        for name, each in disciplines.items()
    }


def _srpt_beside_ps() -> ExampleNumbers:
    """HFSP's Figure 1: a job of 30 s; two of 10 s come at 10 and 15 s."""
    arrivals, sizes = (0, 10, 15), (30, 10, 10)
    found = _mean_responses({"SRPT": "srpt", "PS": "ps"}, arrivals, sizes)
    large = [simulate(each, arrivals, sizes)[0] for each in ("srpt", "ps")]
    return {**found, "large job": float(large[0] / large[1])}


def _inverted_estimates() -> ExampleNumbers:
    """HFSP's Figure 2: jobs of 3 and 2 s, told apart rightly and wrongly; and estimated again
    after every task, which the actors play with tasks that mislead in turn.
    """
    right = _mean_responses({"right": "fsp+ps"}, (0, 0), (3, 2))
    inverted = _mean_responses({"inverted": "fsp+ps"}, (0, 0), (3, 2), (2, 3))
    flapping = _mean_response_s(
        "hfsp(t=1,T=1,flapping=true)", ((500, 1500, 1000), (500, 500, 1000))
    )
    return {**right, **inverted, "flapping": flapping}


def _virtual_sizes() -> ExampleNumbers:
    """HFSP's Figure 3: jobs of 3 and 4 s at 0; when job 3, of 3 s, enters at 3 s."""
    at, arrivals, sizes = 3.0, (0, 0, 3), (3, 4, 3)
    left = remaining("ps", at, arrivals, sizes)
    ends = simulate("fsp+ps", arrivals, sizes)
    return {"job 2": float(left[1]), "job 3": float(left[2]), "ahead": float(ends[1] - ends[2])}


def _two_jobs(small: float, large: float) -> ExampleNumbers:
    """HFSP's Figure 5: two jobs in the right order, in the wrong one, and side by side."""
    right = _mean_responses({"right": "fsp+ps", "PS": "ps"}, (0, 0), (small, large))
    wrong = _mean_responses({"wrong": "fsp+ps"}, (0, 0), (small, large), (large + 1, large))
    return {**right, **wrong}


def _mean_response_s(policy: str, lengths_ms: Sequence[Sequence[Millis]]) -> float:
    """The mean response time of jobs of maps with these lengths, on one slot of one node."""
    jobs = [_job_of_maps(number, lengths) for number, lengths in enumerate(lengths_ms)]
    result = run_simulation(RunSpec.of(_one_slot_scenario(), policy, jobs=jobs), driver="direct")
    first_ms = int(result.jobs.first_launch_ms.min())
    return float((result.jobs.finished_ms - first_ms).mean()) / 1000


_ANY_WORK = {"kind": "jobs", "job": [{"maps": 1, "map_s": 1}]}
"""A scenario needs a workload; the examples bring their own jobs."""


def _one_slot_scenario() -> Scenario:
    """A cluster on which tasks of whole half seconds wait for no heartbeat."""
    heartbeat = {"interval_ms": 500, "phase_grid_ms": 500, "out_of_band": True}
    cluster = {"nodes": 1, "racks": 1, "map_slots": 1, "reduce_slots": 0, "latency_ms": 0}
    named = {"name": "one-slot", "policies": ["fifo"], "workload": _ANY_WORK}
    tasks = {"rack_factor": 1.0, "off_rack_factor": 1.0}
    plain = {**named, "cluster": {**cluster, "heartbeat": heartbeat}, "tasks": tasks}
    return from_dict(plain)


def _job_of_maps(number: int, lengths_ms: Sequence[Millis]) -> JobSpec:
    """A job of maps with these lengths, submitted before the first heartbeat."""
    none: array[int] = array("q")
    recorded = RecordedTasks(
        map_ms=array("q", lengths_ms),
        map_levels=bytes(len(lengths_ms)),
        shuffle_ms=none,
        tail_ms=none,
        rest_ms=none,
        failures={},
        replicas=np.zeros((len(lengths_ms), 1), "<i4").tobytes(),
        replication=1,
        nodes=1,
    )
    return JobSpec(
        job=number,
        name=f"J{number + 1}",
        submit_ms=0,
        maps=len(lengths_ms),
        map_ms=max(lengths_ms),
        recorded=recorded,
    )


def _hybrid_tables() -> ExampleNumbers:
    """What the library's scenarios have of the hybrid paper's Tables I to IV."""
    found: dict[str, float] = {}
    for name in ("hybrid-yahoo", "hybrid-facebook", "hybrid-resources"):
        spec = load_run(name, ("workload.jobs=2000",))
        groups = spec.scenario.cluster.group
        found[f"{name}, users"] = len({job.user for job in spec.jobs})
        found[f"{name}, map slots"] = sum(each.nodes * (each.map_slots or 0) for each in groups)
        found[f"{name}, reduce slots"] = sum(
            each.nodes * (each.reduce_slots or 0) for each in groups
        )
        small = sum(job.name.startswith("small-jobs") for job in spec.jobs)
        found[f"{name}, small jobs"] = small / len(spec.jobs)
    return found


_SUGGESTED = {"R1": {1, 2}, "R2": {1, 2}, "R3": {2, 3}, "R4": {2, 3}}
"""The sets of classes that the hybrid paper prints for its resources."""


def _class_set_differences() -> ExampleNumbers:
    """How many classes the hybrid paper's example has otherwise than in print, by resource: three
    jobs of 10, 5 and 10 tasks with the printed times on each.
    """
    times_ms = (
        (2500, 2500, 10_000, 10_000),
        (2500, 2500, 5000, 5000),
        (10_000, 10_000, 2500, 2500),
    )
    found = solve_matching(times_ms, (10, 5, 10), (1, 1, 1, 1)).suggested
    pairs = zip(_SUGGESTED.items(), found, strict=True)
    return {name: float(len(printed ^ {i + 1 for i in ours})) for (name, printed), ours in pairs}


_DRAWS = 48_000


WAITS = (0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
"""Waits w for which the gain is drawn, in times t to the next local opportunity."""

LONG_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares φ of long tasks for which blocked blocks are drawn."""


def _wait_for_first_slot(slots: int, seed: int) -> ExampleNumbers:
    """How long a job waits for the first of that many slots whose tasks end at random times, in
    parts of a task as many as there are slots: drawn as the least of that many even draws.
    """
    draw = np.random.Generator(np.random.PCG64((seed, 4)))
    least = 1 - (1 - draw.random(_DRAWS)) ** (1 / slots)
    return {"wait": float(slots * least.mean())}


def _local_wait_and_gain(seed: int) -> ExampleNumbers:
    """How long a job waits, in tasks, for a slot on one of three nodes of eight slots whose tasks
    end at random times; and what it gains by waiting so long where running away from its data costs
    a task's length d more: `gain 2` is E(gain) / d for w = 2 t.
    """
    draw = np.random.Generator(np.random.PCG64((seed, 1)))
    wait = draw.random((_DRAWS, 24)).min(axis=1)
    gains = {w: float(np.where(wait < w / 24, 1 - wait, 0).mean()) for w in WAITS}
    named = {f"gain {w:g}": gain for w, gain in gains.items()}
    return {"wait": float(wait.mean()), "gain": gains[10.0] / gains[1.0], **named}


def _blocked_replicas(seed: int) -> ExampleNumbers:
    """The share of blocks none of whose 3 x 6 slots has a short task, drawn one by one."""
    draw = np.random.Generator(np.random.PCG64((seed, 2)))
    busy = draw.random((10 * _DRAWS, 18))
    return {f"blocked {phi:g}": float((busy < phi).all(axis=1).mean()) for phi in LONG_SHARES}


_JOBS = 2000


def _fsp_dominance(seed: int) -> ExampleNumbers:
    """Jobs of log-normal sizes on the ideal machine at a load of 0.9."""
    draw = np.random.Generator(np.random.PCG64((seed, 3)))
    sizes = draw.lognormal(0, 2, _JOBS)
    arrivals = np.cumsum(draw.exponential(sizes.mean() / 0.9, _JOBS))
    ends = {name: simulate(name, arrivals, sizes) for name in ("fsp+ps", "ps")}
    later = ends["fsp+ps"] > ends["ps"] * (1 + 1e-9)
    means = [float((each - arrivals).mean()) for each in ends.values()]
    return {"later": float(later.sum()), "FSP over PS": means[0] / means[1]}


_SMALL_JOBS = tuple(f"workload.job.{n}.count={jobs}" for n, jobs in enumerate((40, 40, 16)))


def _offers_per_launch(seed: int) -> ExampleNumbers:
    """How many offers the master answers for each launch in a third of `small-jobs`, with delay
    over without: what delay scheduling costs it, without a clock.
    """
    spec = load_run("small-jobs", (*_SMALL_JOBS, f"seed={seed}"))
    delayed, plain = (
        run_simulation(replace(spec, policy=policy), driver="direct").scheduling
        for policy in ("fair+delay(node=5,rack=5)", "fair")
    )
    offers = [each.decisions / each.launches for each in (delayed, plain)]
    return {"offers a map": offers[0] / offers[1]}


def _estimates_off_by_two(seed: int) -> ExampleNumbers:
    """The share of estimates that are wrong by a factor of 2 or more where σ = 1."""
    off = np.abs(np.log(estimates(np.ones(_DRAWS), 1.0, seed, 0)))
    return {"off by 2": float((off >= np.log(2)).mean())}


EXAMPLES: dict[str, Callable[[], ExampleNumbers]] = {
    "srpt-beside-ps": _srpt_beside_ps,
    "one-estimate": _inverted_estimates,
    "virtual-sizes": _virtual_sizes,
    "similar-jobs": lambda: _two_jobs(1, 2),
    "hybrid-class-sets": _class_set_differences,
    "hybrid-tables": _hybrid_tables,
    "unlike-jobs": lambda: _two_jobs(1, 10),
}

FEW_AND_MANY_SLOTS = (8, 24, 96, 384, 1536)
"""Slots of which a job waits for the first."""

SEEDED_EXAMPLES: dict[str, Callable[[int], ExampleNumbers]] = {
    **{f"first-of-{slots}": partial(_wait_for_first_slot, slots) for slots in FEW_AND_MANY_SLOTS},
    "dominance": _fsp_dominance,
    "half-off": _estimates_off_by_two,
    "blocked-replicas": _blocked_replicas,
    "local-opportunities": _local_wait_and_gain,
    "offers-a-map": _offers_per_launch,
}
