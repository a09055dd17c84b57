"""Tables for orders by virtual time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callboard.actors.job_spec import JobSpec
from callboard.scheduler.model import PRIORITY_WEIGHTS
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.virtual_time import Psbs, VirtualTimeOrder
from callboard.scheduler.policy import Order
from callboard.twin import columns as c

_Numbers = NDArray[np.int64]
_SPEED_ONE = 4
"""Speeds and weights are whole quarters, as work is in quarters of a unit of time on a slot."""


def set_virtual_rules(given: _Numbers, order: VirtualTimeOrder) -> None:
    """How fast virtual time runs, and what HFSP's training is like."""
    given[c.UNIT_BITS] = 40
    if not isinstance(order, Hfsp):
        return
    params = order.params
    given[c.UNIT_BITS] = 39 if params.half_speed else 40
    given[c.SIZE_SOURCE] = c.SIZE_TRUE if params.size == "oracle" else c.SIZE_TRAINED
    given[c.TRAINING_TASKS], given[c.TRAINING_SLOTS_MAX] = params.t, params.T
    given[c.TRAINING_DELAY] = round(params.delta * 1000)
    given[c.FLAPS] = params.flapping


def phase_tables(
    order: Order, specs: Sequence[JobSpec], jobs: _Numbers
) -> tuple[_Numbers, NDArray[np.float64]]:
    """The phases, and what is measured of them."""
    if not isinstance(order, VirtualTimeOrder):
        return np.zeros((0, c.PHASE_WIDTH), np.int64), np.zeros(0)
    phases = np.zeros((2 * len(specs), c.PHASE_WIDTH), np.int64)
    phases[:, [c.LATE_SINCE, c.TRAIN_KEY, c.ESTIMATED]] = c.NONE
    quarters = [int(_SPEED_ONE * PRIORITY_WEIGHTS[spec.priority]) for spec in specs]
    weighs = isinstance(order, Psbs)
    speeds = isinstance(order, Hfsp) and order.params.priority == "speed"
    phases[:, c.PHASE_WEIGHT] = np.repeat(quarters, 2) if weighs else 1
    phases[:, c.PHASE_SPEED] = np.repeat(quarters, 2) if speeds else _SPEED_ONE
    samples = _training_samples(order, jobs)
    phases[:, c.SAMPLE_START] = len(phases) + np.cumsum(samples) - samples
    return phases, np.zeros(len(phases) + int(samples.sum()))


def _training_samples(order: VirtualTimeOrder, jobs: _Numbers) -> _Numbers:
    """How many training tasks measure each phase."""
    tasks: NDArray[Any] = jobs[:, c.TASKS : c.TASKS + 2].ravel()
    if not isinstance(order, Hfsp) or order.params.size == "oracle":
        return np.zeros(len(tasks), np.int64)
    return np.where(tasks >= order.params.t, order.params.t, 0)


def with_training_pool(pools: _Numbers, jobs: int) -> _Numbers:
    """A second row: for who has training tasks to launch."""
    both = np.concatenate([pools, np.zeros((1, c.POOL_WIDTH), np.int64)])
    both[1, c.QUEUE_START] = jobs
    return both
