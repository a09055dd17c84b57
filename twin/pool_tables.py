"""The pools of a run, and where jobs and pools stand: tables for the queue."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.actors.job_spec import JobSpec
from callboard.scheduler.model import PRIORITY_WEIGHTS
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Order
from callboard.twin import columns as c

_Numbers = NDArray[np.int64]
_DEFAULT = "default"  # of a job that states none


class _Pool(NamedTuple):
    """A pool by its path, the root's being empty."""

    path: str
    params: PoolParams

    @property
    def above(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def weight(self) -> Fraction:
        """As it is written, which a float is not."""
        return Fraction(repr(self.params.weight))


def pool_paths(order: Order, specs: Sequence[JobSpec]) -> list[str]:
    """The pools in the order of their rows, the root first."""
    fair = order.params if isinstance(order, Fair) else Fair.Params()
    return [pool.path for pool in _all_pools([_path_of(spec, fair) for spec in specs], fair.pools)]


def pool_tables(
    order: Order, specs: Sequence[JobSpec], jobs: _Numbers
) -> tuple[_Numbers, _Numbers]:
    """The pools, and who has which standing; writes into `jobs` which pool each is in, and where it
    stands among those that the order knows no difference between.
    """
    fair = order.params if isinstance(order, Fair) else Fair.Params()
    paths, params = [_path_of(spec, fair) for spec in specs], fair.pools
    known = _all_pools(paths, params)
    places = {pool.path: place for place, pool in enumerate(known)}
    jobs[:, c.POOL] = [places[path] for path in paths]
    weights = [PRIORITY_WEIGHTS[spec.priority] for spec in specs]
    scale = lcm(*(weight.numerator for weight in [*weights, *(pool.weight for pool in known)]))
    jobs[:, c.INVERSE_WEIGHT] = [scale / weight for weight in weights]
    standings = _set_standings(specs, jobs, known)
    pools = np.zeros((len(known), c.POOL_WIDTH), np.int64)
    for row, pool in zip(pools, known, strict=True):
        row[c.PARENT] = places[pool.above]
        row[c.MIN_SHARE : c.MIN_SHARE + 2] = pool.params.min_maps, pool.params.min_reduces
        caps = (pool.params.max_maps, pool.params.max_reduces)
        row[c.CAP : c.CAP + 2] = [c.NONE if cap is None else cap for cap in caps]
        most = pool.params.max_jobs
        most = fair.max_jobs_per_pool if most is None else most
        row[c.MAX_JOBS] = c.NONE if most is None or not pool.path else most
        row[c.POOL_PACE] = scale / pool.weight
        row[c.IN_LINE] = pool.params.mode == "fifo"
    pools[:, c.POOL_KEY : c.POOL_KEY + 2] = c.NONE
    stated = {pool.path for pool in _all_pools((), params)}
    pools[:, c.POOL_EXISTS] = [pool.path in stated for pool in known]
    for pool in known[1:]:
        pools[places[pool.above], c.CHILDREN] += pool.path in stated
    pools[standings[: len(known) - 1] - len(specs), c.POOL_STANDING] = np.arange(len(known) - 1)
    pools[:, c.QUEUE_START] = _queue_starts(pools, jobs)
    return pools, standings


def user_table(order: Order, specs: Sequence[JobSpec], jobs: _Numbers) -> _Numbers:
    """How many running jobs each user may have; writes into `jobs` whose each is."""
    fair = order.params if isinstance(order, Fair) else Fair.Params()
    names = sorted({spec.user for spec in specs})
    jobs[:, c.USER] = [names.index(spec.user) for spec in specs]
    most = [fair.max_jobs_of.get(name, fair.max_jobs_per_user) for name in names]
    caps = [c.NONE if each is None else each for each in most]
    return np.array([*caps, *(0 for _ in caps)], np.int64).reshape(2, -1).T.copy()


def _path_of(spec: JobSpec, params: Fair.Params) -> str:
    """The path of the job's pool: what a pool in line would hold below itself joins it."""
    by = params.pool_by or ("pool" if params.pools else "none")
    if by == "none":
        return ""
    stated = spec.pool if by == "pool" else spec.user
    path = ""
    for part in [part for part in stated.split("/") if part] or [_DEFAULT]:
        path = f"{path}/{part}" if path else part
        if path in params.pools and params.pools[path].mode == "fifo":
            return path
    return path


def _all_pools(paths: Sequence[str], params: dict[str, PoolParams]) -> list[_Pool]:
    """The root, and all pools that are named, or have a job, or a pool that has; by path."""
    wanted = {""}
    for path in {*paths, *params} - {""}:
        parts = path.split("/")
        wanted |= {"/".join(parts[: depth + 1]) for depth in range(len(parts))}
    return [_Pool(path, params.get(path, PoolParams())) for path in sorted(wanted)]


def _set_standings(specs: Sequence[JobSpec], jobs: _Numbers, pools: Sequence[_Pool]) -> _Numbers:
    """Who has which standing: pools by path but for the root, before jobs by submission."""
    jobs_first = len(specs)
    in_order = sorted(range(len(specs)), key=lambda at: (specs[at].submit_ms, specs[at].job))
    first = len(pools) - 1
    jobs[in_order, c.STANDING] = np.arange(first, first + len(specs))
    in_line = sorted(in_order, key=lambda at: specs[at].priority)
    jobs[in_line, c.PLACE_IN_LINE] = np.arange(len(specs))
    return np.array([*range(jobs_first + 1, jobs_first + len(pools)), *in_order], np.int64)


def _queue_starts(pools: _Numbers, jobs: _Numbers) -> list[int]:
    """Where each pool's queue begins, of as many places as it has members."""
    members = np.bincount(jobs[:, c.POOL], minlength=len(pools))
    members += np.bincount(pools[1:, c.PARENT], minlength=len(pools))
    return [0, *accumulate(members.tolist())][:-1]
