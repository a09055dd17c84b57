"""Properties of preemption: which attempts give way, when it helps, and that it does not hurry.

Bounds are whole sums: a rule's timeout, the half second between its checks, its interval, and the
heartbeats until a slot that was taken is given.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.fairness.applicability import misfit_unless_part_is
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.figures import as_seconds, require_completed
from callboard.fairness.properties.invariants import rule_check
from callboard.fairness.property import NotApplicable, PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.fairness.variants import policy_with_parts
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import AttemptId, Millis
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillParams, KillPreemption, NewestAboveShare
from callboard.scheduler.preemption.starvation import (
    UPDATE_INTERVAL_MS,
    below_half_share,
    below_min_share,
)
from callboard.scheduler.ranking import Ranking

LONG_TASKS: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, nodes=1, slots=6, min_slots=4, jobs=3, maps=8, lengths_s=(100.0, 200.0)
)

POOLED_JOBS: ScenarioFamily = msgspec.structs.replace(LONG_TASKS, pools=("a", "b"))

MIN_SHARE = 2
"""Of a pool, in map slots."""


preempts_by_entitlement = misfit_unless_part_is(
    "preemption", NewestAboveShare, "nothing is preempted by shares"
)
kills_by_entitlement = misfit_unless_part_is(
    "preemption", KillPreemption, "nothing is killed by shares"
)
orders_fairly = misfit_unless_part_is(
    "order", Fair, "it is about `fair`; what others say is due may change by itself"
)


def _why_newest_may_be_spared(policy: Policy) -> str | None:
    spares = (
        isinstance(policy.order, Ranking)
        and type(policy.order).spared_attempts is not Ranking.spared_attempts
    )
    why = f"`{policy.order.name}` spares the attempts that it measures" if spares else None
    return preempts_by_entitlement(policy) or why


def _why_not_only_kills(policy: Policy) -> str | None:
    why = "speculative attempts take slots too" if policy.speculates else None
    return kills_by_entitlement(policy) or why


def _why_not_fair_with_kill(policy: Policy) -> str | None:
    return orders_fairly(policy) or _why_not_only_kills(policy)


bounded_preemption = Statement(
    says="no more is preempted than is lacking, and no job is left below its share rounded down",
    formula="victims ≤ Σ deficits; after a check each victim runs ≥ ⌊share⌋",
    assumes="preemption by shares (`kill`, `suspend`)",
    source="S13; FT testFairSharePreemptionFromMultiplePools",
    family=LONG_TASKS,
    misfit=preempts_by_entitlement,
    universal=True,
).as_property("bounded-preemption", rule_check("S13"))


@Statement(
    says="a job that has to give way loses its newest attempts, which have done the least work",
    formula="victim v, survivor s of the same job ⇒ launched(v) ≥ launched(s), by number at a tie",
    assumes="preemption by shares (`kill`, `suspend`); an order that spares no attempt",
    source="M12; FT testMinSharePreemption",
    family=LONG_TASKS,
    misfit=_why_newest_may_be_spared,
)
def newest_first(experiment: Experiment) -> int:
    run, times = require_completed(experiment.run), 0
    launches: dict[AttemptId, ev.AttemptLaunched] = {}
    leaving: dict[AttemptId, Millis] = {}
    for event in run.events:
        match event:
            case ev.AttemptLaunched():
                launches[event.attempt] = event
            case ev.AttemptClosed(attempt=attempt):
                launches.pop(attempt, None)
                leaving.pop(attempt, None)
            case ev.KillOrdered() | ev.SuspendOrdered() if not event.why.reason.is_the_masters:
                leaving[event.attempt] = event.at_ms
            case _:
                continue
        for victim, at_ms in leaving.items():
            if at_ms == event.at_ms and isinstance(event, ev.AttemptLaunched):
                continue
            times += 1
            staying = (each for each in launches.values() if each.attempt not in leaving)
            _check_victim_is_newest(run, launches[victim], staying, at_ms)
    return times


def _check_victim_is_newest(
    run: ObservedRun,
    victim: ev.AttemptLaunched,
    staying: Iterable[ev.AttemptLaunched],
    at_ms: Millis,
) -> None:
    for other in staying:
        same = (other.job, other.kind) == (victim.job, victim.kind)
        if same and victim.attempt < other.attempt and other.at_ms < at_ms:
            raise PropertyViolated(
                f'at {as_seconds(at_ms)} "{run.jobs[victim.job].name}" has to give up the attempt'
                f" of {as_seconds(victim.at_ms)}, and keeps that of {as_seconds(other.at_ms)}"
            )


class StarvationInterval(NamedTuple):
    """A time in which a claimant starved without a break."""

    name: str
    from_ms: Millis
    to_ms: Millis


def starvation_intervals(
    run: ObservedRun, starves: Callable[[Entitlement], bool], *, broken_by_arrivals: bool
) -> Iterator[StarvationInterval]:
    """All of them; `broken_by_arrivals` ends each with the next arrival."""
    arrivals = deque(sorted(event.at_ms for event in run.events_of_type(ev.JobSubmitted)))
    since: dict[str, Millis] = {}
    now_ms = 0
    for now_ms, entitlements in run.entitlement_log:
        starving = {claimant_name(each.claimant) for each in entitlements if starves(each)}
        came = False
        while arrivals and arrivals[0] <= now_ms:
            came = broken_by_arrivals
            arrivals.popleft()
        for name in [name for name in since if came or name not in starving]:
            yield StarvationInterval(name, since.pop(name), now_ms)
        for name in sorted(starving):
            since.setdefault(name, now_ms)
    for name, from_ms in since.items():
        yield StarvationInterval(name, from_ms, now_ms)


def _kill_params(policy: Policy) -> KillParams:
    assert isinstance(policy.preemption, KillPreemption)
    return policy.preemption.params


def _check_helped_within(
    run: ObservedRun, starves: Callable[[Entitlement], bool], timeout_s: float
) -> int:
    """Raise PropertyViolated where a claimant starves for longer than it may."""
    run, times = require_completed(run), 0
    most_ms = 1000 * (timeout_s + _kill_params(run.policy).interval_s)
    most_ms += UPDATE_INTERVAL_MS + 3 * run.heartbeat_round_ms
    for interval in starvation_intervals(run, starves, broken_by_arrivals=True):
        lasted_ms = interval.to_ms - interval.from_ms
        times += lasted_ms > 1000 * timeout_s
        if lasted_ms > most_ms:
            raise PropertyViolated(
                f"{interval.name} starved from {as_seconds(interval.from_ms)} to"
                f" {as_seconds(interval.to_ms)}; it should have been helped within"
                f" {as_seconds(most_ms)}"
            )
    return times


@Statement(
    says="no pool or job runs less than half of its fair share for much longer than the timeout",
    formula="running < ⌊min(share / 2, demand)⌋ throughout [t, t′] without an arrival"
    " ⇒ t′ − t ≤ timeout + interval + 0.5 s + 3 (H + 2ℓ)",
    assumes="`fair` with `kill`; maps alone, equal nodes, no faults",
    bound="interval + 0.5 s + 3 (H + 2ℓ)",
    source="F14; FT testFairSharePreemption",
    family=LONG_TASKS,
    misfit=_why_not_fair_with_kill,
)
def fair_share_timeout(experiment: Experiment) -> int:
    run = experiment.entitlement_run
    return _check_helped_within(
        run, below_half_share, _kill_params(run.policy).fair_share_timeout_s
    )


@Statement(
    says="no pool runs less than its min share for much longer than the timeout",
    formula="running < min(min share, demand) throughout [t, t′] without an arrival"
    " ⇒ t′ − t ≤ timeout + interval + 0.5 s + 3 (H + 2ℓ)",
    assumes="`fair`, here with a pool whose min share is 2, with `kill`; maps alone, equal nodes",
    bound="interval + 0.5 s + 3 (H + 2ℓ)",
    source="F13; FT testMinSharePreemption",
    family=POOLED_JOBS,
    misfit=_why_not_fair_with_kill,
)
def min_share_timeout(experiment: Experiment) -> int:
    parts, cluster = experiment.fresh_policy(), experiment.scenario.cluster
    if type(parts.order) is not Fair or parts.order.params != Fair.Params():
        raise NotApplicable("it is about `fair` with a pool that has a min share")
    if cluster.nodes * cluster.map_slots < MIN_SHARE:
        raise NotApplicable("the min shares exceed the slots")
    pools = {"a": PoolParams(min_maps=MIN_SHARE)}
    policy = policy_with_parts(parts, order=Fair(Fair.Params(pool_by="pool", pools=pools)))
    run = experiment.play(policy=policy, entitlements=True)
    return _check_helped_within(run, below_min_share, _kill_params(policy).min_share_timeout_s)


@Statement(
    says="nothing is preempted before a pool or job has starved for the timeout",
    formula="a kill at t ⇒ a pool or job starves throughout [t − timeout, t]",
    assumes="preemption by `kill`; maps alone",
    bound="the 0.5 s between two checks",
    source="F13, F14, the other side of the limit; FT: none at 59 s",
    family=LONG_TASKS,
    misfit=_why_not_only_kills,
)
def patient(experiment: Experiment) -> int:
    run = require_completed(experiment.entitlement_run)
    params = _kill_params(run.policy)
    timeouts_s = (
        (below_half_share, params.fair_share_timeout_s),
        (below_min_share, params.min_share_timeout_s),
    )
    starved = [
        (interval.from_ms + 1000 * timeout_s - UPDATE_INTERVAL_MS, interval.to_ms)
        for starves, timeout_s in timeouts_s
        for interval in starvation_intervals(run, starves, broken_by_arrivals=False)
    ]
    killed_ms = sorted(
        {
            event.at_ms
            for event in run.events_of_type(ev.KillOrdered)
            if not event.why.reason.is_the_masters
        }
    )
    for at_ms in killed_ms:
        if not any(from_ms <= at_ms <= to_ms for from_ms, to_ms in starved):
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} an attempt is preempted, and nothing has starved for the"
                f" {params.fair_share_timeout_s:g} s (min share: {params.min_share_timeout_s:g} s)"
                " of its timeout"
            )
    return len(killed_ms)
