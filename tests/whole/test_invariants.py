"""Drawn worlds, held against S1 to S15 as every run of the suite is (`tests.support.world.play`),
and what the rules do not say: F17, pairing, causality.  That all gets done, and that all adds up,
is held of the worlds of `test_silence.py`.
"""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AttemptEnded, JobFinished
from callboard.actors.vocabulary.faults import Slow
from callboard.scheduler.model import SlotKind
from tests.support.strategies import WORKLOADS, WORLDS, DrawnWorld
from tests.support.world import PlayedRun, job, play


@pytest.mark.soak
@given(world=WORLDS)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_asking_every_host_comes_to_the_same_as_taking_it_for_granted(world: DrawnWorld) -> None:
    """A script in which nothing happens makes reduces ask for every output."""
    nothing = ScheduledFault(10**9, Slow(0, 1.0))
    journals = [world._replace(script=script).play().events for script in ((), (nothing,))]
    assert journals[0] == journals[1]


@given(jobs=WORKLOADS, nodes=st.integers(1, 5))
@settings(derandomize=True, max_examples=60, deadline=None)
def test_f17_no_job_is_faster_than_its_longest_chain(jobs: list[JobSpec], nodes: int) -> None:
    """Response ≥ longest map + what comes after the shuffle; noise off, speed 1, input local."""
    run = play(jobs, "fair", cluster=Cluster(nodes=nodes, racks=1))
    for spec, end in zip(jobs, sorted(run.all(JobFinished), key=lambda e: e.job), strict=True):
        after = spec.reduce_ms if spec.reduces else 0
        maps = spec.map_ms if spec.maps else 0
        assert end.at_ms - end.submitted_ms >= maps + after


def attempt_ms(run: PlayedRun) -> dict[tuple[int, int, int], int]:
    """How long each task's attempt took."""
    what = {e.attempt: (e.job, int(e.kind), e.task) for e in run.launches()}
    return {what[e.attempt]: e.at_ms - e.started_ms for e in run.all(AttemptEnded)}


@given(jobs=WORKLOADS, nodes=st.integers(2, 5))
@settings(derandomize=True, max_examples=40, deadline=None)
def test_policies_and_a_node_more_see_the_same_task_lengths(
    jobs: list[JobSpec], nodes: int
) -> None:
    """Common random numbers: a map's length is its job's and its own, wherever it runs."""
    tasks = Tasks(sigma=0.5, rack_factor=1.0, off_rack_factor=1.0)
    runs = [
        play(jobs, order, cluster=Cluster(nodes=n, racks=2), tasks=tasks)
        for order, n in [("fifo", nodes), ("fair", nodes), ("fair", nodes + 1)]
    ]
    lengths = [
        {what: ms for what, ms in attempt_ms(run).items() if what[1] == SlotKind.MAP}
        for run in runs
    ]
    assert lengths[0] == lengths[1] == lengths[2]


def test_a_job_more_changes_no_job_before_it() -> None:
    """Causality (§3.5): what is submitted later changes nothing earlier."""
    few = [job(n, maps=3, map_ms=5000, submit_ms=1000 * n) for n in range(5)]
    more = [*few, job(5, maps=50, submit_ms=20_000)]
    early = [
        [e for e in play(jobs, "fair", tasks=Tasks(sigma=0.4)).events if e.at_ms < 20_000]
        for jobs in (few, more)
    ]
    assert msgspec.msgpack.encode(early[0]) == msgspec.msgpack.encode(early[1])
    assert early[0]
