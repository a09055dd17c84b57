"""Tables for preemption: who may claim slots, and for how long each is left waiting."""

from math import floor, isinf, lcm

import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import Order
from callboard.scheduler.preemption.kill import KillPreemption
from callboard.scheduler.preemption.starvation import UPDATE_INTERVAL_MS
from callboard.twin import columns as c

_Numbers = NDArray[np.int64]


def set_preemption_rules(given: _Numbers, rule: KillPreemption, paces: _Numbers) -> None:
    """When it looks and when it acts; `paces` are those of all jobs and pools."""
    check_ms = max(1, round(rule.params.interval_s * 1000))
    look_ms = min(UPDATE_INTERVAL_MS, check_ms)
    given[c.PREEMPTS], given[c.LOOK_EVERY] = 1, look_ms
    given[c.CHECK_EVERY] = -(-check_ms // look_ms) * look_ms
    given[c.FAIR_TIMEOUT] = _threshold_ms(rule.params.fair_share_timeout_s)
    given[c.WEIGHT_SCALE] = lcm(*np.unique(paces).tolist())


def preemption_claims(rule: KillPreemption, order: Order, jobs: int, paths: list[str]) -> _Numbers:
    """A row for each job, then for each pool, by path."""
    claims = np.full((jobs + len(paths), c.CLAIM_WIDTH), c.NONE, np.int64)
    claims[:, c.MIN_TIMEOUT] = _threshold_ms(rule.params.min_share_timeout_s)
    assert isinstance(order, Fair)
    for path, params in order.params.pools.items():
        if params.min_share_timeout_s is not None:
            timeout_ms = _threshold_ms(params.min_share_timeout_s)
            claims[jobs + paths.index(path), c.MIN_TIMEOUT] = timeout_ms
    return claims


def _threshold_ms(seconds: float) -> int:
    """What a whole number of milliseconds must be above to be above that many seconds."""
    return c.LATER if isinf(seconds) else floor(1000 * seconds)
