"""Every combination of shipped parts plays, or is refused with a sentence that says why.

The parts are the registry's, so that later ones are covered when they come.
"""

from itertools import product

import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.vocabulary.events import JobFinished, KillOrdered
from callboard.scheduler.model import Priority
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import DEFAULT_PARTS, make_policy, part_kind
from callboard.scheduler.registry.shipped import ORDERS, PARTS
from callboard.scheduler.registry.spelling import PART_KINDS
from tests.support.soak import one_in
from tests.support.world import job, play

CLUSTER = Cluster(
    nodes=3,
    racks=3,
    map_slots=2,
    reduce_slots=1,
    replication=1,
    heartbeat=Heartbeats(interval_ms=5000),
)
JOBS = [
    job(0, maps=7, map_ms=150_000, reduces=2, shuffle_ms=1000, reduce_ms=2000),
    job(1, maps=3, map_ms=9000, submit_ms=20_000, reduces=3, reduce_ms=5000),
    job(2, maps=4, map_ms=9000, submit_ms=25_000, priority=Priority.VERY_HIGH),
    job(3, maps=0, submit_ms=30_000),
]
"""Long maps on every slot when short jobs come, so that there is something to take and to copy."""


def spellings() -> list[str]:
    """Each choice of one part of each kind, defaults unnamed."""
    kinds = [[name for name in PARTS if part_kind(PARTS[name]) == slot] for slot in PART_KINDS]
    plain = {part.name for part in DEFAULT_PARTS.values()}
    return ["+".join(n for n in names if n not in plain) for names in product(*kinds)]


def refusal(spec: str) -> str | None:
    """Why the parts make no policy; None if they do."""
    try:
        make_policy(spec)
    except PolicySpecError as error:
        return str(error)
    return None


@pytest.mark.parametrize("spec", one_in(7, spellings()))
def test_a_combination_plays_to_its_end_or_is_refused_in_words(spec: str) -> None:
    why_not = refusal(spec)
    if why_not is not None:
        assert why_not.startswith(f"`{spec}`: "), why_not
        assert len(why_not.removeprefix(f"`{spec}`: ").split()) >= 5, why_not
        return
    run = play(JOBS, spec, cluster=CLUSTER)
    assert {event.job for event in run.all(JobFinished)} == {0, 1, 2, 3}


def test_las_gives_no_claims_so_nothing_that_kills_by_claims_goes_with_it() -> None:
    refused = {spec for spec in spellings() if refusal(spec) is not None}
    assert {"las+kill", "las+global", "las+delay+kill", "las+delay+global"} <= refused
    assert refusal("las+kill") == (
        "`las+kill`: `kill` takes slots from jobs above their share, and the order `las` does not"
        " say what a share is: it has no `entitlements`; take `fair`, or `preemptive` with an order"
        " that ranks jobs, such as `hfsp`"
    )


@pytest.mark.parametrize("order", [name for name in ORDERS if refusal(f"{name}+kill") is None])
def test_who_got_its_slots_by_killing_keeps_them(order: str) -> None:
    """Three equal jobs, ten seconds apart, on 20 slots: taking goes one way and comes to an end.

    Whoever came first holds every slot and is due a third of them at least, so no more than 14
    have to change hands.  (By rank, `ps` would be due all for whoever runs least: 34 kills.)
    """
    jobs = [job(n, maps=100, map_ms=100_000, submit_ms=10_000 * n) for n in range(3)]
    cluster = Cluster(nodes=10, racks=2, map_slots=2, reduce_slots=1)
    run = play(jobs, f"{order}+kill", cluster=cluster)
    assert len(run.all(KillOrdered)) <= 14
