"""How often the intervals of `callboard calibrate` cover the truth, on histories of our own making.

    python -m trials.calibration               # seeds 1 to 100
    python -m trials.calibration 1001 1020     # others

Every seed draws a cluster, how its tasks vary, and jobs; the run becomes the history that Hadoop 1
would have written, which is all that `calibrate` sees.  An interval of 95 % should cover 95 of 100
truths, of bounds that cannot fail all.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.input_places import input_replicas
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.histories.calibration.calibrate import Calibration, calibration_of
from callboard.histories.played_recording import played_recording
from callboard.histories.recording_file import Imported
from callboard.journal.export.run_history import played_history_of_run
from callboard.scenarios.scenario_file import Scenario, from_dict, to_dict
from callboard.scheduler.model import JobId

SHUFFLE_MB_S = 20.0
"""What a reduce fetches a second, before noise."""


def drawn_scenario(seed: int) -> Scenario:
    """A cluster that is busy, and jobs of many sizes."""
    draw = Random(seed)
    stragglers = draw.random() < 0.5
    return from_dict(
        {
            "name": "drawn",
            "seed": seed,
            "policies": [draw.choice(["fifo", "fair"])],
            "cluster": {
                "nodes": draw.randint(8, 24),
                "racks": draw.randint(2, 4),
                "map_slots": draw.randint(1, 4),
                "reduce_slots": draw.randint(1, 3),
                "replication": draw.randint(1, 3),
                "heartbeat": {"interval_ms": draw.randint(800, 6000)},
            },
            "tasks": {
                "sigma": draw.uniform(0.1, 0.6),
                "rack_factor": draw.uniform(1.05, 1.5),
                "off_rack_factor": draw.uniform(1.5, 2.5),
                "slowstart": draw.choice([0.05, 0.2, 0.5, 0.8, 1.0]),
                "straggler_share": draw.uniform(0.02, 0.1) if stragglers else 0.0,
                "straggler_factor": draw.uniform(3.0, 8.0),
            },
            "workload": {"kind": "jobs", "job": list(_drawn_jobs(draw))},
        }
    )


def _drawn_jobs(draw: Random) -> Iterator[dict[str, Any]]:
    at_s = 0.0
    for number in range(25):
        reduces = draw.choice([0, 1, 3, 6])
        yield {
            "name": f"job-{number}",
            "at_s": round(at_s, 3),
            "maps": round(draw.lognormvariate(3.3, 0.9)) + 1,
            "map_s": round(draw.uniform(8, 60), 3),
            "reduces": reduces,
            "shuffle_s": round(draw.uniform(2, 20), 3) if reduces else 0.0,
            "reduce_s": round(draw.uniform(5, 30), 3) if reduces else 0.0,
        }
        at_s += draw.expovariate(1 / 40)


def played_history(spec: RunSpec) -> Imported:
    """The run as a Hadoop 1 history that has been read."""
    events: list[AnyEvent] = []
    Simulation(spec, [events.append]).run()
    history = played_history_of_run(events)
    fetched = {job.job: round(job.shuffle_ms * SHUFFLE_MB_S * 1000) for job in spec.jobs}

    def shuffle_bytes(job: JobId) -> int:
        return fetched[job]

    return played_recording(history, input_replicas(history.started, Path()), shuffle_bytes)


class Truth(NamedTuple):
    """A figure's name, and what it really is in a scenario."""

    name: str
    of: Callable[[Scenario], float]


def _table(name: str, key: str) -> Callable[[Scenario], float]:
    return lambda scenario: float(to_dict(scenario)[name][key])


TRUTHS = (
    Truth("map slots a node", _table("cluster", "map_slots")),
    Truth("reduce slots a node", _table("cluster", "reduce_slots")),
    Truth("replicas of a block", _table("cluster", "replication")),
    Truth("heartbeat period", lambda scenario: float(scenario.cluster.heartbeat_cycle_ms())),
    Truth("rack-local factor", _table("tasks", "rack_factor")),
    Truth("off-rack factor", _table("tasks", "off_rack_factor")),
    Truth("noise within a job", _table("tasks", "sigma")),
    Truth("straggler share", _table("tasks", "straggler_share")),
    Truth("straggler factor", _table("tasks", "straggler_factor")),
    Truth("shuffle rate", lambda _: SHUFFLE_MB_S),
    Truth("slow start", _table("tasks", "slowstart")),
)


def calibrated(seed: int) -> tuple[Scenario, Calibration]:
    """The scenario of a seed, and what its history tells."""
    scenario = drawn_scenario(seed)
    return scenario, calibration_of(played_history(RunSpec.of(scenario)))


def main() -> None:
    first, last = (int(each) for each in sys.argv[1:3] or ("1", "100"))
    found: dict[str, list[bool]] = {truth.name: [] for truth in TRUTHS}
    for seed in range(first, last + 1):
        scenario, calibration = calibrated(seed)
        estimates = {each.name: each for each in calibration.estimates}
        for name, of in TRUTHS:
            if name in estimates:
                estimate, truth = estimates[name], of(scenario)
                found[name].append(estimate.covers(truth))
                if "-v" in sys.argv and not found[name][-1]:
                    print(seed, name, truth, estimate)
    print(f"seeds {first} to {last}       told  covered")
    for name, covered in found.items():
        share = f"{sum(covered) / len(covered):.0%}" if covered else ""
        print(f"{name:<22} {len(covered):>5} {share:>8}")


if __name__ == "__main__":
    main()
