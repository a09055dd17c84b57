"""Situations of the catalogue that drawn worlds do not reach (`tests/support/sometimes.py`)."""

from collections import Counter

import msgspec

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptStarted,
    KillOrdered,
    NodeLost,
    Outcome,
)
from callboard.actors.vocabulary.faults import Disturb, PauseMaster, ResumeMaster
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillPreemption
from tests.support import sometimes
from tests.support.world import IN_STEP, job, play


def test_one_check_takes_from_two_pools() -> None:
    """testFairSharePreemptionFromMultiplePools: a third pool comes to six slots that two share, and
    gets its two, one from each.
    """
    cluster = Cluster(nodes=1, racks=1, map_slots=6, heartbeat=IN_STEP)
    jobs = [
        msgspec.structs.replace(job(n, maps=6, map_ms=300_000, submit_ms=at_ms), pool=pool)
        for n, (pool, at_ms) in enumerate([("a", 0), ("b", 0), ("c", 9000)])
    ]
    order = Fair(Fair.Params(pool_by="pool", pools={"a": PoolParams(), "b": PoolParams()}))
    rule = KillPreemption(KillPreemption.Params(interval_s=1.0, fair_share_timeout_s=5.0))
    run = play(jobs, Policy(order, preemption=rule), cluster=cluster, until_ms=30_000)
    launched = {event.attempt: event.job for event in run.launches()}
    assert Counter(launched[kill.attempt] for kill in run.all(KillOrdered)) == {0: 1, 1: 1}
    assert "one check takes from two pools" not in sometimes.unmet()


def test_a_launch_that_comes_after_the_node_was_given_up_starts_a_zombie() -> None:
    """The reply is on its way for longer than the expiry of 9 s, and no heartbeat gets through."""
    heartbeats = msgspec.structs.replace(IN_STEP, expiry_ms=9000)
    cluster = Cluster(nodes=2, racks=1, map_slots=1, heartbeat=heartbeats)
    slow, cut = LinkConditions(delay_ms=60_000), LinkConditions(cut=True)
    script = [
        ScheduledFault(4000, Disturb(1, HEALTHY, slow)),
        ScheduledFault(6500, Disturb(1, cut, slow)),
        ScheduledFault(200_000, Disturb(1, HEALTHY, HEALTHY)),
    ]
    jobs = [job(0, maps=2, map_ms=90_000, submit_ms=5000)]
    run = play(jobs, cluster=cluster, script=script)
    (lost,) = run.all(NodeLost)
    zombie = next(event.attempt for event in run.launches() if event.node == 1)
    started = next(event for event in run.all(AttemptStarted) if event.attempt == zombie)
    booked = [event for event in run.all(AttemptClosed) if event.attempt == zombie]
    assert started.at_ms > lost.at_ms
    assert [(event.at_ms, event.outcome) for event in booked] == [(lost.at_ms, Outcome.KILLED)]
    assert "an attempt starts on a node that is given up" not in sometimes.unmet()


def test_a_master_that_goes_on_acts_on_the_heartbeats_that_came_meanwhile() -> None:
    """Maps of 4 s end before the heartbeats of 6 s, which come while the master stands still."""
    cluster = Cluster(nodes=2, racks=1, heartbeat=IN_STEP)
    script = [ScheduledFault(5000, PauseMaster()), ScheduledFault(20_000, ResumeMaster())]
    run = play([job(0, maps=9, map_ms=4000)], cluster=cluster, script=script)
    assert [event.at_ms for event in run.all(AttemptClosed)][:4] == [20_000] * 4
    assert not [event for event in run.launches() if 5000 < event.at_ms < 20_000]
    assert "the master acts on what came in its pause" not in sometimes.unmet()
