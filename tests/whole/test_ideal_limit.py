"""On the cluster too, smaller tasks bring each order nearer to its ideal single machine.

The whole protocol plays, with heartbeats, latency and slots, and not a machine whose slots are
filled at once (as in tests/scheduler/test_size_based.py).  A task costs its slot one round trip of
2 ms beside its length, since a heartbeat comes at once when a task ends: 0.2 % of the smallest.
"""

from collections.abc import Iterable

import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.vocabulary.events import JobFinished
from callboard.scheduler.ideal import simulate, simulate_by_age
from callboard.scheduler.ideal.gittins_index import gittins_ranks
from callboard.scheduler.ideal.law_names import law_named
from tests.support.soak import one_in
from tests.support.world import job, play

SIZES_S = (80, 18, 40, 6, 64, 26, 12, 48, 120, 34)
"""Of ten jobs, in seconds of the whole cluster."""

ARRIVALS_S = (0.0, 23.137, 45.461, 71.903, 94.259, 130.071, 141.713, 180.377, 208.599, 245.031)

SLOTS = 16
TASKS_MS = (16_000, 4000, 1000)

IDEAL = {
    "fifo": "fifo",
    'srpt(size="oracle")': "srpt",
    'sjf(size="oracle")': "sjf",
    "las": "las",
    "ps": "ps",
    'fsp+fifo(size="oracle")': "fsp+fifo",
    'fsp+ps(size="oracle")': "fsp+ps",
    'psbs(size="oracle")': "psbs",
    'hfsp(size="oracle")': "fsp+fifo",
}
"""Orders, and the disciplines that they come to.  (`fair` is not `ps`: of jobs that run equally
little it serves the earliest, where `ps` takes turns.)
"""


def ends_s(order: str, task_ms: int) -> list[float]:
    """When each job ends on the cluster, its work being cut into tasks of this length."""
    jobs = [
        job(n, 1000 * size_s * SLOTS // task_ms, task_ms, submit_ms=round(1000 * at_s))
        for n, (at_s, size_s) in enumerate(zip(ARRIVALS_S, SIZES_S, strict=True))
    ]
    heartbeats = Heartbeats(interval_ms=100, out_of_band=True)
    cluster = Cluster(nodes=1, racks=1, map_slots=SLOTS, heartbeat=heartbeats)
    run = play(jobs, order, cluster=cluster)
    ends = {event.job: event.at_ms / 1000 for event in run.all(JobFinished)}
    return [ends[spec.job] for spec in jobs]


@pytest.mark.soak
@pytest.mark.parametrize("order", one_in(9, IDEAL))
def test_the_gap_to_the_ideal_machine_falls_as_tasks_shrink(order: str) -> None:
    check_gaps(order, simulate(IDEAL[order], ARRIVALS_S, SIZES_S))


@pytest.mark.soak
def test_so_does_that_of_gittins_where_sizes_are_not_seen() -> None:
    """By a law of which the cluster has 16 times the work, being 16 slots."""
    ranks = gittins_ranks(law_named("weibull(shape=0.5, mean=45)"))
    order = f'gittins(law="weibull(shape=0.5, mean={45 * SLOTS})")'
    check_gaps(order, simulate_by_age(ranks, ARRIVALS_S, SIZES_S))


def check_gaps(order: str, ideal: Iterable[float]) -> None:
    """The mean difference of sojourn times, relative to the ideal ones: below 2 % at last."""
    gaps, done = [], list(ideal)
    for task_ms in TASKS_MS:
        real = ends_s(order, task_ms)
        apart = [
            abs(ends - should) / (should - came)
            for ends, should, came in zip(real, done, ARRIVALS_S, strict=True)
        ]
        gaps.append(sum(apart) / len(apart))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.02
