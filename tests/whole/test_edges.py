"""The edges of what may be asked of an order: every order of the registry plays every one."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AnyEvent, AttemptStarted, JobFinished
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.model import SlotKind
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.soak import one_in
from tests.support.world import job, play, spec_of

SMALL = Cluster(nodes=3, racks=1, map_slots=2, reduce_slots=1)
ONE_SLOT = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1)

EDGES: dict[str, Callable[[], list[JobSpec]]] = {
    "no tasks at all": lambda: [job(0, maps=0), job(1, maps=0)],
    "no maps": lambda: [job(0, maps=0, reduces=3, reduce_ms=1000), job(1)],
    "no reduces": lambda: [job(n, maps=5, map_ms=2000) for n in range(4)],
    "zero lengths": lambda: [
        job(0, maps=3, map_ms=0, reduces=2),
        job(1, maps=2, map_ms=0, reduces=1, reduce_ms=1000),
        job(2, maps=2, map_ms=1000, reduces=2, shuffle_ms=500),
    ],
    "bigger than the cluster": lambda: [
        job(0, maps=70, map_ms=3000, reduces=20, reduce_ms=2000),
        job(1, maps=2, map_ms=3000, submit_ms=5000, reduces=1),
    ],
    "all equal, all at once": lambda: [
        job(n, maps=4, map_ms=5000, reduces=1, reduce_ms=1000) for n in range(10)
    ],
}


@pytest.mark.parametrize("cluster", [SMALL, ONE_SLOT], ids=["small", "one slot"])
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("order", one_in(3, ORDERS))
def test_every_order_plays_it_to_the_end(order: str, edge: str, cluster: Cluster) -> None:
    """S2: every job ends, and every task has run exactly once where nobody is killed."""
    jobs = EDGES[edge]()
    run = play(jobs, order, cluster=cluster)
    assert {event.job for event in run.all(JobFinished)} == {spec.job for spec in jobs}
    assert len(run.all(AttemptStarted)) == sum(spec.maps + spec.reduces for spec in jobs)


@pytest.mark.soak
@pytest.mark.parametrize("order", one_in(4, ORDERS))
def test_thousands_of_jobs_of_one_task(order: str) -> None:
    """2,000 jobs come within two seconds, on 300 slots: all end, and none waits for ever."""
    events: list[AnyEvent] = []
    cluster = Cluster(nodes=30, racks=3, map_slots=10, heartbeat=Heartbeats(phase_grid_ms=100))
    jobs = [job(n, maps=1, map_ms=10_000, submit_ms=n) for n in range(2000)]
    Simulation(replace(spec_of(jobs, cluster=cluster), policy=order), [events.append]).run()
    ended = {event.job for event in events if isinstance(event, JobFinished)}
    assert ended == set(range(2000))


@pytest.mark.parametrize("rule", ["", "+kill", "+global"])
def test_min_shares_above_the_capacity(rule: str) -> None:
    """Two pools are promised 100 slots each, of six: both get some and both end."""
    pools = "{a = {min_maps = 100}, b = {min_maps = 100, min_reduces = 9}}"
    spec = f"fair(pools = {pools}){rule}"
    jobs = [
        replace(job(n, maps=20, map_ms=9000, reduces=1, reduce_ms=1000), pool="ab"[n % 2])
        for n in range(4)
    ]
    run = play(jobs, spec, cluster=SMALL)
    assert {event.job for event in run.all(JobFinished)} == {0, 1, 2, 3}
    first = [launch.job % 2 for launch in run.launches(SlotKind.MAP)][:6]
    assert sorted(first) == [0, 0, 0, 1, 1, 1]
