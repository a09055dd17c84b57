"""Properties of preemption: who gives way, whom it helps by when, and that it does not hurry.

Times are the whole stated sums: a rule's timeout, the half second between its looks, its interval,
and the beats until a slot that was taken is given.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptLaunched,
    JobSubmitted,
    KillOrdered,
    SuspendOrdered,
)
from callboard.fairness.experiment import EntitlementMaster, Experiment, ObservedRun
from callboard.fairness.properties.invariants import rule_check
from callboard.fairness.property import (
    NotApplicable,
    Property,
    PropertyViolated,
    as_seconds,
    completed,
)
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.journal.tell.names import claimant_name
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import AttemptId, Millis
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillParams, KillPreemption, NewestAboveShare
from callboard.scheduler.preemption.starvation import below_half_share, below_min_share
from callboard.scheduler.preemption.starvation_watch import UPDATE_INTERVAL_MS

LONG_TASKS: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, nodes=1, slots=6, min_slots=4, jobs=3, maps=8, lengths_s=(100.0, 200.0)
)

POOLED_JOBS: ScenarioFamily = msgspec.structs.replace(LONG_TASKS, pools=("a", "b"))

MIN_SHARE_POOLS = {"a": PoolParams(min_maps=2)}
"""A pool with a min share."""


def _not_by_entitlement(policy: Policy) -> str | None:
    by_claims = isinstance(policy.preemption, NewestAboveShare)
    return None if by_claims else "nobody is preempted by claims"


def _suspending(policy: Policy) -> str | None:
    if isinstance(policy.preemption, KillPreemption):
        return "attempts come on suspended ones" if policy.speculates else None
    return "nobody is killed by claims"


def _unfair(policy: Policy) -> str | None:
    if not isinstance(policy.order, Fair):
        return f"it is about `fair`; what `{policy.order.name}` says is due changes by itself"
    return _suspending(policy)


def _newest(experiment: Experiment) -> int:
    run, times = completed(experiment.run), 0
    open_: dict[AttemptId, AttemptLaunched] = {}
    leaving: dict[AttemptId, Millis] = {}
    for event in run.events:
        match event:
            case AttemptLaunched():
                open_[event.attempt] = event
            case AttemptClosed(attempt=attempt):
                open_.pop(attempt, None)
                leaving.pop(attempt, None)
            case KillOrdered() | SuspendOrdered() if not event.why.reason.is_the_masters:
                leaving[event.attempt] = event.at_ms
            case _:
                continue
        for victim, at_ms in leaving.items():
            if at_ms == event.at_ms and isinstance(event, AttemptLaunched):
                continue
            times += 1
            _none_is_newer(run, victim, open_, leaving, at_ms)
    return times


def _none_is_newer(
    run: ObservedRun,
    victim: AttemptId,
    launches: Mapping[AttemptId, AttemptLaunched],
    leaving: Mapping[AttemptId, Millis],
    at_ms: Millis,
) -> None:
    mine = launches[victim]
    for other in launches.values():
        same = (other.job, other.kind) == (mine.job, mine.kind)
        if (
            same
            and mine.attempt < other.attempt
            and other.at_ms < at_ms
            and other.attempt not in leaving
        ):
            raise PropertyViolated(
                f'at {as_seconds(at_ms)} "{run.jobs[mine.job].name}" has to give up the attempt'
                f" of {as_seconds(mine.at_ms)}, and keeps that of {as_seconds(other.at_ms)}"
            )


class StarvationInterval(NamedTuple):
    """A time in which a claimant starved without a break."""

    name: str
    from_ms: Millis
    to_ms: Millis


def starvation_intervals(
    run: ObservedRun, starves: Callable[[Entitlement], bool], *, broken_by_news: bool
) -> Iterator[StarvationInterval]:
    """All of them; `broken_by_news` ends each with the next arrival."""
    news = sorted(event.at_ms for event in run.all(JobSubmitted)) if broken_by_news else []
    since: dict[str, Millis] = {}
    now_ms = 0
    for now_ms, claims in run.entitlement_log:
        starving = {claimant_name(each.claimant) for each in claims if starves(each)}
        came = bool(news) and news[0] <= now_ms
        while news and news[0] <= now_ms:
            news.pop(0)
        for name in [name for name in since if came or name not in starving]:
            yield StarvationInterval(name, since.pop(name), now_ms)
        for name in sorted(starving):
            since.setdefault(name, now_ms)
    for name, from_ms in since.items():
        yield StarvationInterval(name, from_ms, now_ms)


def _kill_params(policy: Policy) -> KillParams:
    assert isinstance(policy.preemption, KillPreemption)
    return policy.preemption.params


def _helped(run: ObservedRun, starves: Callable[[Entitlement], bool], timeout_s: float) -> int:
    """Raise Broken where somebody starves for longer than it may."""
    run, times = completed(run), 0
    most_ms = 1000 * (timeout_s + _kill_params(run.policy).interval_s)
    most_ms += UPDATE_INTERVAL_MS + 3 * run.period_ms
    for spell in starvation_intervals(run, starves, broken_by_news=True):
        times += spell.to_ms - spell.from_ms > 1000 * timeout_s
        if spell.to_ms - spell.from_ms > most_ms:
            raise PropertyViolated(
                f"{spell.name} starved from {as_seconds(spell.from_ms)} to"
                f" {as_seconds(spell.to_ms)}; it should have been helped within"
                f" {as_seconds(most_ms)}"
            )
    return times


def _fair_share_timeout(experiment: Experiment) -> int:
    run = experiment.entitlement_run
    return _helped(run, below_half_share, _kill_params(run.policy).fair_share_timeout_s)


def _min_share_timeout(experiment: Experiment) -> int:
    policy = _pooled(experiment)
    run = experiment.play(policy=policy, master=EntitlementMaster)
    return _helped(run, below_min_share, _kill_params(policy).min_share_timeout_s)


def _pooled(experiment: Experiment) -> Policy:
    """The policy with a pool that has a min share."""
    parts = experiment.fresh_policy()
    if type(parts.order) is not Fair or parts.order.params != Fair.Params():
        raise NotApplicable("it is about `fair` with a pool that has a min share")
    order = Fair(Fair.Params(pool_by="pool", pools=MIN_SHARE_POOLS))
    if sum(pool.min_maps for pool in MIN_SHARE_POOLS.values()) > _map_slots(experiment):
        raise NotApplicable("the min shares exceed the slots")
    return Policy(order, parts.locality, parts.preemption)


def _map_slots(experiment: Experiment) -> int:
    cluster = experiment.scenario.cluster
    return cluster.nodes * cluster.map_slots


def _patient(experiment: Experiment) -> int:
    run, times = completed(experiment.entitlement_run), 0
    params = _kill_params(run.policy)
    starved = [
        (starves, 1000 * timeout_s - UPDATE_INTERVAL_MS)
        for starves, timeout_s in (
            (below_half_share, params.fair_share_timeout_s),
            (below_min_share, params.min_share_timeout_s),
        )
    ]
    orders = [event.at_ms for event in run.all(KillOrdered) if not event.why.reason.is_the_masters]
    for at_ms in sorted(set(orders)):
        times += 1
        long = (
            spell.from_ms + least_ms <= at_ms <= spell.to_ms
            for starves, least_ms in starved
            for spell in starvation_intervals(run, starves, broken_by_news=False)
        )
        if not any(long):
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} somebody is preempted, and nobody has starved for the"
                f" {params.fair_share_timeout_s:g} s (min share: {params.min_share_timeout_s:g} s)"
                " of its timeout"
            )
    return times


BOUNDED_PREEMPTION = Property(
    name="bounded-preemption",
    says="no more is preempted than is lacking, and nobody is left below its share rounded down",
    formula="victims ≤ Σ deficits; after a check each victim runs ≥ ⌊share⌋",
    assumes="preemption by claims (`kill`, `suspend`)",
    bound="exact",
    source="S13; FT testFairSharePreemptionFromMultiplePools",
    check=rule_check("S13"),
    family=LONG_TASKS,
    misfit=_not_by_entitlement,
    universal=True,
)

NEWEST_FIRST = Property(
    name="newest-first",
    says="who has to give way loses its newest attempts, which have done the least work",
    formula="victim v, survivor s of the same job ⇒ launched(v) ≥ launched(s), by number at a tie",
    assumes="preemption by claims (`kill`, `suspend`)",
    bound="exact",
    source="M12; FT testMinSharePreemption",
    check=_newest,
    family=LONG_TASKS,
    misfit=_not_by_entitlement,
)

FAIR_SHARE_TIMEOUT = Property(
    name="fair-share-timeout",
    says="nobody runs less than half of its fair share for much longer than the timeout",
    formula="running < ⌊min(share / 2, demand)⌋ throughout [t, t′] without an arrival"
    " ⇒ t′ − t ≤ timeout + interval + 0.5 s + 3 (H + 2ℓ)",
    assumes="`fair` with `kill`; maps alone, equal nodes, no faults",
    bound="interval + 0.5 s + 3 (H + 2ℓ)",
    source="F14; FT testFairSharePreemption",
    check=_fair_share_timeout,
    family=LONG_TASKS,
    misfit=_unfair,
)

MIN_SHARE_TIMEOUT = Property(
    name="min-share-timeout",
    says="no pool runs less than its min share for much longer than the timeout",
    formula="running < min(min share, demand) throughout [t, t′] without an arrival"
    " ⇒ t′ − t ≤ timeout + interval + 0.5 s + 3 (H + 2ℓ)",
    assumes="`fair`, here with a pool whose min share is 2, with `kill`; maps alone, equal nodes",
    bound="interval + 0.5 s + 3 (H + 2ℓ)",
    source="F13; FT testMinSharePreemption",
    check=_min_share_timeout,
    family=POOLED_JOBS,
    misfit=_unfair,
)

PATIENT = Property(
    name="patient",
    says="nobody is preempted before somebody has starved for the timeout",
    formula="a kill at t ⇒ somebody starves throughout [t − timeout, t]",
    assumes="preemption by `kill`; maps alone",
    bound="the 0.5 s between two looks",
    source="F13, F14, the other side of the limit; FT: none at 59 s",
    check=_patient,
    family=LONG_TASKS,
    misfit=_suspending,
)

PREEMPTION_PROPERTIES = (
    BOUNDED_PREEMPTION,
    NEWEST_FIRST,
    FAIR_SHARE_TIMEOUT,
    MIN_SHARE_TIMEOUT,
    PATIENT,
)
