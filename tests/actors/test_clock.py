"""A node whose clock goes wrong (fault model 4.3: clock skew at a TaskTracker)."""

from itertools import pairwise

import msgspec
import pytest

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptStalled,
    AttemptStarted,
    JobFinished,
    NodeLost,
    NodeReturned,
    Outcome,
)
from callboard.actors.vocabulary.faults import Crash, Drift, Hang
from callboard.actors.worker.clock import Clock
from callboard.scheduler.facts import Closed, Fact
from callboard.scheduler.model import Millis
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import ClusterView
from tests.support.world import IN_STEP, PlayedRun, job, play, uncaused

ONE = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)


def drifting(rate: float, at_ms: Millis = 0, maps: int = 8, map_ms: Millis = 1000) -> PlayedRun:
    script = [ScheduledFault(at_ms, Drift(0, rate))]
    return play([job(0, maps=maps, map_ms=map_ms)], cluster=ONE, script=script)


def launch_times(run: PlayedRun) -> list[Millis]:
    return [e.at_ms for e in run.launches()]


@pytest.mark.parametrize(("rate", "every_ms"), [(2.0, 1500), (0.5, 6000), (1.0, 3000)])
def test_a_node_sends_heartbeats_by_its_own_clock(rate: float, every_ms: Millis) -> None:
    """A map of a second a heartbeat: 3 s by the node, and 2 ms on the way, by every clock."""
    times = launch_times(drifting(rate))
    gaps = {after - before for before, after in pairwise(times[1:])}
    assert gaps == {every_ms + 2}


def test_work_takes_as_long_as_ever() -> None:
    assert {e.at_ms - e.started_ms for e in drifting(2.0).all(AttemptEnded)} == {1000}


class Told(Fifo):
    """FIFO that keeps how long attempts are said to have run."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[tuple[Millis, Millis]] = []

    def observe(self, fact: Fact, view: ClusterView) -> None:
        super().observe(fact, view)
        if isinstance(fact, Closed):
            self.ran.append((fact.ran_ms, fact.shuffled_ms))


@pytest.mark.parametrize("rate", [0.5, 2.0, 1.01])
def test_a_node_reports_durations_by_its_clock(rate: float) -> None:
    """At 31.001 s the clock changes.  Of the map it had been right for 30.999 s then; all of the
    reduce, 5 s of it in its shuffle, is by the new rate.
    """
    spec = job(0, maps=1, map_ms=60_000, reduces=1, shuffle_ms=5000, reduce_ms=20_000)
    script = [ScheduledFault(31_001, Drift(0, rate))]
    order = Told()
    run = play([spec], Policy(order), cluster=ONE, tasks=Tasks(slowstart=1.0), script=script)
    long_ms = [e.at_ms - e.started_ms for e in run.all(AttemptEnded)]
    start_ms = 31_001 - run.all(AttemptEnded)[0].started_ms
    assert order.ran == [
        (round(start_ms + rate * (long_ms[0] - start_ms)), 0),
        (round(rate * long_ms[1]), round(rate * (long_ms[1] - 20_000))),
    ]


@pytest.mark.parametrize("rate", [0.5, 2.0, 1.01])
def test_a_heartbeat_says_by_the_nodes_clock_how_long_an_attempt_has_run(rate: float) -> None:
    script = [ScheduledFault(31_001, Drift(0, rate))]
    run = play([job(0, map_ms=60_000)], "hfsp(t=1)", cluster=ONE, script=script, until_ms=55_000)
    (entry,) = run.master.ledger.attempts()
    heartbeat_ms = run.talk(0).heard_ms - ONE.latency_ms
    start_ms = run.all(AttemptStarted)[0].at_ms
    assert entry.ran_ms == round(31_001 - start_ms + rate * (heartbeat_ms - 31_001))
    assert entry.progress == pytest.approx((heartbeat_ms - start_ms) / 60_000)


def test_the_masters_patience_is_by_its_own_clock() -> None:
    """A node whose heartbeats take ten times as long as they should is given up by an expiry of 20
    s, and joins again with every heartbeat; the expiry itself is as exact as ever (T1).
    """
    soon = msgspec.structs.replace(IN_STEP, expiry_ms=18_000)
    cluster = msgspec.structs.replace(ONE, nodes=2, heartbeat=soon)
    script = [ScheduledFault(1, Drift(0, 0.1)), ScheduledFault(200_000, Drift(0, 1.0))]
    run = play([job(0, maps=40, map_ms=10_000)], cluster=cluster, script=script)
    lost = run.all(NodeLost)
    assert len(lost) > 3
    assert {e.node for e in lost} == {0}
    assert all(18_000 < e.at_ms - e.heard_ms <= 24_000 for e in lost)
    assert len(run.all(NodeReturned)) >= len(lost) - 1
    assert run.all(JobFinished)[0].outcome is Outcome.SUCCEEDED
    crash = [ScheduledFault(1, Drift(0, 3.0)), ScheduledFault(50_000, Crash(0)), *script[1:]]
    (gone,) = play([job(0, maps=9, map_ms=20_000)], cluster=cluster, script=crash).all(NodeLost)
    assert 18_000 < gone.at_ms - gone.heard_ms <= 24_000


@pytest.mark.parametrize("rate", [0.5, 4.0])
def test_timeouts_of_a_node_are_by_its_clock(rate: float) -> None:
    """T7 on it: 100 s by the clock of the node."""
    script = [
        ScheduledFault(0, Drift(0, rate)),
        ScheduledFault(0, Hang(0, 1.0, 0.5)),
        ScheduledFault(9000, Hang(0, 0.0)),
    ]
    tasks = Tasks(timeout_ms=100_000)
    run = play([job(0, maps=1)], cluster=ONE, tasks=tasks, script=script)
    (stall,), end = run.all(AttemptStalled), run.all(AttemptEnded)[0]
    assert end.at_ms - stall.at_ms == 100_000 / rate


def test_a_clock_that_goes_right_changes_nothing_but_that_heartbeats_are_sent() -> None:
    quiet = play([job(0, maps=8, map_ms=1000)], cluster=ONE)
    right = drifting(1.0)
    assert uncaused(quiet.all(AttemptClosed)) == uncaused(right.all(AttemptClosed))


def test_what_a_clock_shows() -> None:
    clock = Clock()
    assert not clock.wrong
    clock.set_rate(2.0, 1000)
    clock.set_rate(0.5, 3000)
    assert [clock.elapsed_ms(0, at) for at in (1000, 2000, 3000, 5000)] == [1000, 3000, 5000, 6000]
    assert clock.elapsed_ms(2000, 5000) == 3000
    assert clock.real_wait_ms(3000) == 6000
    assert clock.real_wait_ms(0) == 0
    clock.set_rate(10.0, 6000)
    assert clock.real_wait_ms(1) == 1  # time goes on
