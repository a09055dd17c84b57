"""F13 and F14: whoever starves has its share in time, and not before its timeout has run out.

In a run where one pool's long maps hold every slot, another pool's job comes at t0.  The bound is
t0 + timeout + 0.5 s (look) + 15 s (check) + 3 H + 2 ℓ.  A kill's own way, from
the decision to the slot's next attempt, must be within 3 H + 2 ℓ (§1.6; there are no cleanups).
"""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AttemptEnded, AttemptStarted, KillOrdered, Outcome
from callboard.scheduler.model import Millis
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillPreemption
from tests.support.world import IN_STEP, PlayedRun, job, play

H_MS: Millis = 3000
LATENCY_MS: Millis = 5
TIMEOUT_S = 20.0
KILL_WAY_MS = 3 * H_MS + 2 * LATENCY_MS
BOUND_MS = int(TIMEOUT_S * 1000) + 500 + 15_000 + KILL_WAY_MS


def in_pool(spec: JobSpec, pool: str) -> JobSpec:
    return msgspec.structs.replace(spec, pool=pool)


def starve(
    nodes: int, slots: int, at_ms: Millis, min_maps: int, timeouts: str, seed: int
) -> PlayedRun:
    """Pool `hog` holds every slot with long maps; pool `late` comes at `at_ms` with as many."""
    total = nodes * slots
    jobs = [
        in_pool(job(0, maps=3 * total, map_ms=3_600_000), "hog"),
        in_pool(job(1, maps=3 * total, map_ms=3_600_000, submit_ms=at_ms), "late"),
    ]
    off = float("inf")
    rule = KillPreemption.Params(
        min_share_timeout_s=TIMEOUT_S if timeouts == "min" else off,
        fair_share_timeout_s=TIMEOUT_S if timeouts == "fair" else off,
    )
    order = Fair(Fair.Params(pools={"late": PoolParams(min_maps=min_maps)}))
    cluster = Cluster(
        nodes=nodes,
        racks=1,
        map_slots=slots,
        latency_ms=LATENCY_MS,
        heartbeat=Heartbeats(interval_ms=H_MS),
    )
    policy = Policy(order, preemption=KillPreemption(rule))
    return play(jobs, policy, cluster=cluster, seed=seed, until_ms=at_ms + BOUND_MS + 1)


def running_at(run: PlayedRun, number: int, at_ms: Millis) -> int:
    """How many attempts of the job ran at that time, by the slots' own word."""
    mine = {e.attempt for e in run.launches() if e.job == number}
    begun = sum(e.attempt in mine and e.at_ms <= at_ms for e in run.all(AttemptStarted))
    return begun - sum(e.attempt in mine and e.at_ms <= at_ms for e in run.all(AttemptEnded))


def kill_ways(run: PlayedRun) -> Iterator[Millis]:
    """From each kill's decision to the next attempt on its slot, where there was one in the run."""
    ordered = {e.attempt: e.at_ms for e in run.all(KillOrdered)}
    places = {e.attempt: (e.node, e.slot) for e in run.all(AttemptStarted)}
    for end in run.all(AttemptEnded):
        if end.outcome is Outcome.KILLED:
            after = [
                start.at_ms
                for start in run.all(AttemptStarted)
                if places[start.attempt] == places[end.attempt] and start.at_ms >= end.at_ms
            ]
            if after:
                yield min(after) - ordered[end.attempt]


@given(
    nodes=st.integers(1, 4),
    slots=st.integers(1, 3),
    at_ms=st.integers(30_000, 60_000),
    part=st.integers(1, 12),
    seed=st.integers(0, 9),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_f13_a_min_share_is_met_in_time_and_not_before(
    nodes: int, slots: int, at_ms: Millis, part: int, seed: int
) -> None:
    due = min(part, nodes * slots)
    run = starve(nodes, slots, at_ms, due, "min", seed)
    _in_time_and_not_before(run, at_ms, due)


@given(
    nodes=st.integers(2, 5),
    slots=st.integers(2, 3),
    at_ms=st.integers(30_000, 60_000),
    seed=st.integers(0, 9),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_f14_a_fair_share_is_met_in_time_and_not_before(
    nodes: int, slots: int, at_ms: Millis, seed: int
) -> None:
    """4 slots or more, so that half of ⌊half of the slots⌋ is at least 1."""
    run = starve(nodes, slots, at_ms, 0, "fair", seed)
    _in_time_and_not_before(run, at_ms, nodes * slots // 2)


def _in_time_and_not_before(run: PlayedRun, at_ms: Millis, due: int) -> None:
    kills = run.all(KillOrdered)
    assert len(kills) == due
    assert all(kill.at_ms > at_ms + 1000 * TIMEOUT_S for kill in kills)
    assert running_at(run, 1, kills[0].at_ms) == 0
    assert running_at(run, 1, at_ms + BOUND_MS) == due
    ways = list(kill_ways(run))
    assert len(ways) == due
    assert max(ways) <= KILL_WAY_MS


def test_without_preemption_the_late_pool_waits() -> None:
    """The other side: with both timeouts off nobody is killed and nothing runs."""
    run = starve(2, 2, 30_000, 2, "none", 1)
    assert run.all(KillOrdered) == []
    assert running_at(run, 1, 30_000 + BOUND_MS) == 0


@pytest.mark.parametrize("order", ["fsp+ps(guess=2)", "psbs(guess=2)"])
def test_whoever_starves_by_virtual_time_alone_has_its_share(order: str) -> None:
    """Job 0 is late in virtual time from 4 s on and has every slot; job 1 joins it at 7 s, when its
    own virtual end comes.  Nobody tells the rule: the next task ends at 100 s.
    """
    jobs = [job(0, maps=8, map_ms=100_000), job(1, maps=4, map_ms=2000, submit_ms=5000)]
    cluster = Cluster(nodes=1, racks=1, map_slots=4, reduce_slots=0, heartbeat=IN_STEP)
    policy = f"{order}+kill(interval_s=1,fair_share_timeout_s=2)"
    ordered = play(jobs, policy, cluster=cluster).all(KillOrdered)
    assert [(each.at_ms, each.attempt) for each in ordered] == [(9000, 4), (9000, 3)]
