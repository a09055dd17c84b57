"""Relations between policies: parts that must come to nothing, and orders that are the same."""

from typing import Any

import msgspec

from callboard.fairness.applicability import misfit_unless_part_is, with_entitlements
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.properties.metamorphic import check_same_launches
from callboard.fairness.property import Statement
from callboard.fairness.scenario_family import WITHOUT_FAULTS
from callboard.fairness.variants import policy_with_parts
from callboard.scheduler.locality import Delay, DelayParams
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.orders.size_based.virtual_time import FspPs, Psbs
from callboard.scheduler.policy import AnyLocality, NoPreemption, NoSpeculation
from callboard.scheduler.preemption.kill import KillPreemption

UNUSED_POOL = {"nobody-here": PoolParams(weight=3.0, min_maps=2, min_reduces=1)}
"""A pool that no job names."""


def _run_with_parts(experiment: Experiment, **parts: Any) -> ObservedRun:
    return experiment.play(policy=policy_with_parts(experiment.fresh_policy(), **parts))


@Statement(
    says="delay scheduling with no wait is none",
    formula="launches = launches with `delay(node=0,rack=0)`",
    source="M6",
    universal=True,
)
def no_delay(experiment: Experiment) -> int:
    return check_same_launches(
        _run_with_parts(experiment, locality=AnyLocality()),
        _run_with_parts(experiment, locality=Delay(DelayParams(node=0.0, rack=0.0))),
        "with `delay(node=0,rack=0)`",
    )


@Statement(
    says="preemption with infinite timeouts is none",
    formula="launches = launches with `kill` whose timeouts are inf",
    source="M7",
    misfit=with_entitlements,
    universal=True,
)
def no_timeout(experiment: Experiment) -> int:
    never = KillPreemption.Params(
        min_share_timeout_s=float("inf"), fair_share_timeout_s=float("inf")
    )
    return check_same_launches(
        _run_with_parts(experiment, preemption=NoPreemption()),
        _run_with_parts(experiment, preemption=KillPreemption(never)),
        "with timeouts that never end",
    )


@Statement(
    says="a pool without demand changes nothing",
    formula="launches = launches with one more pool, of weight 3 and with min shares",
    assumes="an order with pools",
    source="M8",
    family=msgspec.structs.replace(WITHOUT_FAULTS, pools=("a", "b")),
    misfit=misfit_unless_part_is("order", Fair, "there are no pools"),
    universal=True,
)
def empty_pool(experiment: Experiment) -> int:
    order = experiment.fresh_policy().order
    assert isinstance(order, Fair)
    params = order.params
    by = "user" if params.pool_by == "user" else "pool"
    few, more = (
        _run_with_parts(
            experiment,
            order=Fair(msgspec.structs.replace(params, pool_by=by, pools=pools)),
            preemption=NoPreemption(),
        )
        for pools in (params.pools, params.pools | UNUSED_POOL)
    )
    return check_same_launches(few, more, "with a pool that no job is in")


@Statement(
    says="PSBS with equal weights is FSP+PS",
    formula="launches = launches under `fsp+ps`",
    assumes="all jobs of normal priority",
    source="M9",
    family=msgspec.structs.replace(WITHOUT_FAULTS, priorities=False),
    misfit=misfit_unless_part_is("order", Psbs, "it is not PSBS"),
    universal=True,
)
def psbs_is_fsp(experiment: Experiment) -> int:
    psbs = experiment.fresh_policy().order
    assert isinstance(psbs, Psbs)
    mine, its = (
        _run_with_parts(
            experiment, order=order, preemption=NoPreemption(), speculation=NoSpeculation()
        )
        for order in (psbs, FspPs(psbs.params))
    )
    return check_same_launches(mine, its, "under `fsp+ps`")
