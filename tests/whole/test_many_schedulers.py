"""Drawn worlds under Sparrow, Hawk and Eagle with pieces on and off: all jobs end, no rule breaks.

Tasks that fail on nodes that ask for them again, while others are busy, are what is hard: seeds 1,
3, 18, 45, 49 and 53 have found runs that went round for ever, or stood still.
"""

from random import Random

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import JobFinished
from tests.support.world import job, play


def drawn_job(draw: Random, number: int, submit_ms: int, reduce_slots: int) -> JobSpec:
    longer = 10 if draw.random() < 0.35 else 1
    spec = job(
        number,
        maps=draw.randint(1, 7),
        map_ms=draw.choice([1, 5, 1000, 3000, 9000]) * longer,
        submit_ms=submit_ms,
        reduces=draw.randint(0, 3) if reduce_slots else 0,
        shuffle_ms=draw.randint(0, 2000),
        reduce_ms=draw.choice([0, 1000, 5000 * longer]),
        poisoned=((0,), ()) if draw.random() < 0.1 else ((), ()),
    )
    return replace(spec, setup_ms=draw.choice([0, 0, 300]), cleanup_ms=draw.choice([0, 0, 400]))


def drawn_jobs(draw: Random, reduce_slots: int) -> list[JobSpec]:
    jobs, at_ms = list[JobSpec](), 0
    for number in range(draw.randint(1, 14)):
        at_ms += draw.choice([0, 0, 1, 3, 7, 100, 3000, 20_000])
        jobs.append(drawn_job(draw, number, at_ms, reduce_slots))
    return jobs


def drawn_script(draw: Random, nodes: int, jobs: int) -> list[ScheduledFault]:
    script = []
    for _ in range(draw.randint(0, 3)):
        at_ms, node = draw.randint(1, 40_000), draw.randrange(nodes)
        choices: list[list[faults.AnyFault]] = [
            [faults.PauseNode(node), faults.ResumeNode(node)],
            [faults.KillJob(draw.randrange(jobs))],
            [faults.Flaky(node, draw.choice([0.3, 1.0]))],
            [faults.Slow(node, draw.choice([2.0, 5.0]))],
        ]
        found = draw.choice(choices)
        script += [ScheduledFault(at_ms + 9000 * n, fault) for n, fault in enumerate(found)]
    return sorted(script, key=lambda each: each.at_ms)


def drawn_policy(draw: Random) -> str:
    def switch() -> str:
        return draw.choice(["true", "false"])

    probes = draw.choice([1, 1.05, 2, 3])
    if draw.random() < 0.2:
        return f"sparrow(probes={probes},cancellation={switch()},schedulers=3)"
    name = draw.choice(["hawk", "eagle"])
    params: dict[str, object] = {
        "cutoff": draw.choice([0, 1, 5, 20, 1000]),
        "short": draw.choice(["0%", "17%", "50%", "90%"]),
        "central": switch(),
        "probes": probes,
        "minimum": draw.choice([1, 4, 20]),
        "attempts": draw.choice([0, 1, 3, 10]),
        "limit": draw.choice([1, 2, 100]),
        "sharing": switch(),
        "sticky": switch(),
        "srpt": switch(),
        "cap": draw.choice([0, 1, 5]),
        "cancellation": switch(),
        "schedulers": draw.choice([1, 2]),
    }
    if not params["attempts"]:
        del params["limit"]
    if params["srpt"] == "false":
        del params["cap"]
    return f"{name}({','.join(f'{field}={value}' for field, value in params.items())})"


@pytest.mark.parametrize("seed", [*range(20), 45, 49, 53])
def test_all_jobs_end_and_no_rule_is_broken(seed: int) -> None:
    draw = Random(seed)
    nodes, reduce_slots = draw.randint(1, 9), draw.randint(0, 2)
    jobs, policy = drawn_jobs(draw, reduce_slots), drawn_policy(draw)
    cluster = Cluster(
        nodes=nodes,
        racks=1,
        map_slots=draw.randint(1, 3),
        reduce_slots=reduce_slots,
        latency_ms=draw.choice([1, 5, 5, 200]),
    )
    script = drawn_script(draw, nodes, len(jobs))
    run = play(jobs, policy, cluster=cluster, tasks=Tasks(sigma=0.4), seed=seed, script=script)
    assert len(run.all(JobFinished)) == len(jobs)
