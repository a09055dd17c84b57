"""Relations between policies: parts that must come to nothing, and orders that are the same."""

import msgspec

from callboard.fairness.properties.relations import launches, same
from callboard.fairness.property import Property, claimless
from callboard.fairness.trial import Run, Trial
from callboard.fairness.worlds import ANY
from callboard.scheduler.locality import Delay, DelayParams
from callboard.scheduler.orders.fair import Fair
from callboard.scheduler.orders.pools import PoolParams
from callboard.scheduler.orders.virtual import FspPs, Psbs
from callboard.scheduler.policy import Anywhere, Policy, Wait
from callboard.scheduler.preemption.kill import Kill

NOBODY = "nobody-here"
"""A pool that no job names."""


def _no_delay(trial: Trial) -> int:
    def play(waits: bool) -> Run:
        parts = trial.make()
        rule = Delay(DelayParams(node=0.0, rack=0.0)) if waits else Anywhere()
        return trial.play(policy=Policy(parts.order, rule, parts.preemption, parts.speculation))

    return same(launches(play(False)), launches(play(True)), "with `delay(node=0,rack=0)`")


NO_DELAY = Property(
    name="no-delay",
    says="delay scheduling with no wait is none",
    formula="launches = launches with `delay(node=0,rack=0)`",
    assumes="nothing",
    bound="exact",
    source="semantics §3.5",
    check=_no_delay,
    worlds=ANY,
    universal=True,
)


def _no_timeout(trial: Trial) -> int:
    def play(watches: bool) -> Run:
        parts = trial.make()
        never = Kill.Params(min_share_timeout_s=float("inf"), fair_share_timeout_s=float("inf"))
        rule = Kill(never) if watches else Wait()
        return trial.play(policy=Policy(parts.order, parts.locality, rule, parts.speculation))

    return same(launches(play(False)), launches(play(True)), "with timeouts that never end")


NO_TIMEOUT = Property(
    name="no-timeout",
    says="preemption with infinite timeouts is none",
    formula="launches = launches with `kill` whose timeouts are inf",
    assumes="nothing",
    bound="exact",
    source="semantics §3.5",
    check=_no_timeout,
    worlds=ANY,
    misfit=claimless,
    universal=True,
)


def _empty_pool(trial: Trial) -> int:
    order = trial.make().order
    assert isinstance(order, Fair)
    params = order.params
    by = params.pool_by or ("pool" if params.pools else "none")
    if by == "none":
        by = "pool"

    def play(pools: dict[str, PoolParams]) -> Run:
        fair = Fair(msgspec.structs.replace(params, pool_by=by, pools=pools))
        parts = trial.make()
        return trial.play(policy=Policy(fair, parts.locality, speculation=parts.speculation))

    more = {**params.pools, NOBODY: PoolParams(weight=3.0, min_maps=2, min_reduces=1)}
    return same(launches(play(params.pools)), launches(play(more)), "with a pool nobody is in")


def _pool_less(policy: Policy) -> str | None:
    return None if isinstance(policy.order, Fair) else "there are no pools"


EMPTY_POOL = Property(
    name="empty-pool",
    says="a pool without demand changes nothing",
    formula="launches = launches with one more pool, of weight 3 and with min shares",
    assumes="an order with pools",
    bound="exact",
    source="semantics §3.5",
    check=_empty_pool,
    worlds=msgspec.structs.replace(ANY, pools=("a", "b")),
    misfit=_pool_less,
    universal=True,
)


def _psbs_is_fsp(trial: Trial) -> int:
    parts = trial.make()
    assert isinstance(parts.order, Psbs)
    other = Policy(FspPs(parts.order.params), parts.locality)
    return same(
        launches(trial.play(policy=Policy(parts.order, trial.make().locality))),
        launches(trial.play(policy=other)),
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
    source="semantics §3.5",
    check=_psbs_is_fsp,
    worlds=msgspec.structs.replace(ANY, priorities=False),
    misfit=_no_psbs,
    universal=True,
)


PROPERTIES = (NO_DELAY, NO_TIMEOUT, EMPTY_POOL, PSBS_IS_FSP)
