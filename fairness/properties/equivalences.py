"""Relations between policies: parts that must come to nothing, and orders that are the same."""

import msgspec

from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.properties.metamorphic import launches, same_launches
from callboard.fairness.property import Property, without_entitlements
from callboard.fairness.scenario_family import WITHOUT_FAULTS
from callboard.scheduler.locality import Delay, DelayParams
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.orders.size_based.virtual_time import FspPs, Psbs
from callboard.scheduler.policy import AnyLocality, NoPreemption, Policy
from callboard.scheduler.preemption.kill import KillPreemption

UNUSED_POOL = "nobody-here"
"""A pool that no job names."""


def _no_delay(experiment: Experiment) -> int:
    def play(waits: bool) -> ObservedRun:
        parts = experiment.fresh_policy()
        rule = Delay(DelayParams(node=0.0, rack=0.0)) if waits else AnyLocality()
        return experiment.play(
            policy=Policy(parts.order, rule, parts.preemption, parts.speculation)
        )

    return same_launches(launches(play(False)), launches(play(True)), "with `delay(node=0,rack=0)`")


NO_DELAY = Property(
    name="no-delay",
    says="delay scheduling with no wait is none",
    formula="launches = launches with `delay(node=0,rack=0)`",
    assumes="nothing",
    bound="exact",
    source="M6",
    check=_no_delay,
    family=WITHOUT_FAULTS,
    universal=True,
)


def _no_timeout(experiment: Experiment) -> int:
    def play(watches: bool) -> ObservedRun:
        parts = experiment.fresh_policy()
        never = KillPreemption.Params(
            min_share_timeout_s=float("inf"), fair_share_timeout_s=float("inf")
        )
        rule = KillPreemption(never) if watches else NoPreemption()
        return experiment.play(policy=Policy(parts.order, parts.locality, rule, parts.speculation))

    return same_launches(
        launches(play(False)), launches(play(True)), "with timeouts that never end"
    )


NO_TIMEOUT = Property(
    name="no-timeout",
    says="preemption with infinite timeouts is none",
    formula="launches = launches with `kill` whose timeouts are inf",
    assumes="nothing",
    bound="exact",
    source="M7",
    check=_no_timeout,
    family=WITHOUT_FAULTS,
    misfit=without_entitlements,
    universal=True,
)


def _empty_pool(experiment: Experiment) -> int:
    order = experiment.fresh_policy().order
    assert isinstance(order, Fair)
    params = order.params
    by = params.pool_by or ("pool" if params.pools else "none")
    if by == "none":
        by = "pool"

    def play(pools: dict[str, PoolParams]) -> ObservedRun:
        fair = Fair(msgspec.structs.replace(params, pool_by=by, pools=pools))
        parts = experiment.fresh_policy()
        return experiment.play(policy=Policy(fair, parts.locality, speculation=parts.speculation))

    more = {**params.pools, UNUSED_POOL: PoolParams(weight=3.0, min_maps=2, min_reduces=1)}
    return same_launches(
        launches(play(params.pools)), launches(play(more)), "with a pool nobody is in"
    )


def _pool_less(policy: Policy) -> str | None:
    return None if isinstance(policy.order, Fair) else "there are no pools"


EMPTY_POOL = Property(
    name="empty-pool",
    says="a pool without demand changes nothing",
    formula="launches = launches with one more pool, of weight 3 and with min shares",
    assumes="an order with pools",
    bound="exact",
    source="M8",
    check=_empty_pool,
    family=msgspec.structs.replace(WITHOUT_FAULTS, pools=("a", "b")),
    misfit=_pool_less,
    universal=True,
)


def _psbs_is_fsp(experiment: Experiment) -> int:
    parts = experiment.fresh_policy()
    assert isinstance(parts.order, Psbs)
    other = Policy(FspPs(parts.order.params), parts.locality)
    return same_launches(
        launches(experiment.play(policy=Policy(parts.order, experiment.fresh_policy().locality))),
        launches(experiment.play(policy=other)),
        "under `fsp+ps`",
    )


def _no_psbs(policy: Policy) -> str | None:
    return None if isinstance(policy.order, Psbs) else "it is not PSBS"


PSBS_IS_FSP = Property(
    name="psbs-is-fsp",
    says="PSBS with equal weights is FSP+PS",
    formula="launches = launches under `fsp+ps`",
    assumes="all jobs of normal priority",
    bound="exact",
    source="M9",
    check=_psbs_is_fsp,
    family=msgspec.structs.replace(WITHOUT_FAULTS, priorities=False),
    misfit=_no_psbs,
    universal=True,
)


EQUIVALENCE_PROPERTIES = (NO_DELAY, NO_TIMEOUT, EMPTY_POOL, PSBS_IS_FSP)
