"""The reasons of launches, as the journal has them, out of the log."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import WHY_UNSEEN
from callboard.actors.world import World
from callboard.scheduler.model import CLEANUP, PRIORITY_WEIGHTS, SETUP, Locality
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import (
    DelayByCount,
    DelayByTime,
    PoolPlace,
    Reason,
    Skip,
    Why,
)
from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.pool_tables import pool_paths
from callboard.twin.wide_numbers import BITS

_Numbers = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Grounds = tuple[Reason, PoolPlace | None]

_LEVELS = tuple(Locality)
_UNSEEN = {c.OF_SETUP: WHY_UNSEEN[SETUP], c.OF_CLEANUP: WHY_UNSEEN[CLEANUP]}
_BY_KEY: _Grounds = (Reason.BY_KEY, None)
_AMONG: dict[tuple[int, int], _Grounds] = {
    (c.AMONG_TRAINING, 0): (Reason.TRAINING, None),
    (c.AMONG_LATE, 0): (Reason.LATE, None),
    (c.AMONG_LATE, 1): (Reason.TINY, None),
}


class LaunchReasons:
    """Why tasks were launched."""

    def __init__(self, world: World, policy: Policy, w: Tables) -> None:
        self._part = policy.order.name
        self._order = int(w.given[c.ORDER])
        self._middle_bits = int(w.given[c.MIDDLE_BITS])
        self._submit_ms = w.jobs[:, c.SUBMIT]
        self._pool_of = w.jobs[:, c.POOL]
        self._paths = pool_paths(policy.order, world.jobs)
        self._places: dict[tuple[int, int], _Grounds] = {}
        tops = [self._paths.index(path.partition("/")[0]) for path in self._paths]
        pools = policy.order.params.pools if isinstance(policy.order, Fair) else {}
        weights = {path: Fraction(repr(params.weight)) for path, params in pools.items()}
        of_pools = [weights.get(self._paths[top], Fraction(1)) for top in tops]
        of_jobs = [
            of_pools[pool] if pool else PRIORITY_WEIGHTS[spec.priority]
            for spec, pool in zip(world.jobs, self._pool_of.tolist(), strict=True)
        ]
        ratios = [(weight.numerator, weight.denominator) for weight in of_jobs]
        self._weights = np.array(ratios, np.int64).reshape(-1, 2)

    def reasons_of_rows(self, w: Tables, rows: _Numbers) -> list[Why]:
        """Those of the launches in these rows of the log."""
        log, part, skips = w.log[rows], self._part, self._all_skips(w)
        firsts = log[:, c.LOG_REFUSALS]
        columns = (
            log[:, c.LOG_STAGE].tolist(),
            self._grounds_of_jobs(log),
            log[:, c.LOG_RANK].tolist(),
            self._order_scores(log).tolist(),
            firsts.tolist(),
            (firsts + log[:, c.LOG_REFUSED]).tolist(),
            log[:, c.LOG_SKIPS].tolist(),
            log[:, c.LOG_WAITED].tolist(),
        )
        return [
            _UNSEEN[stage]
            if stage
            else Why(reason, part, rank, score, None, place, "", tuple(skips[first:end]), count, ms)
            for stage, (reason, place), rank, score, first, end, count, ms in zip(
                *columns, strict=True
            )
        ]

    def _order_scores(self, log: _Numbers) -> _Floats:
        """What the order compared, as people are shown it."""
        score, low = log[:, c.LOG_SCORE], log[:, c.LOG_SCORE_LOW]
        if self._order == c.BY_FIFO:
            submitted: _Floats = self._submit_ms[log[:, c.LOG_JOB]] / 1000
            return submitted
        if self._order == c.BY_FAIR:
            weights = self._weights[log[:, c.LOG_JOB]]
            by_weight = score * weights[:, 1] / weights[:, 0]
            return np.where(low > 0, score / np.maximum(low, 1), by_weight)
        if self._order == c.BY_PS:
            return (score >> self._middle_bits).astype(np.float64)
        if self._order == c.BY_LAS:
            return (score >> self._middle_bits) / 1000
        if self._order < c.BY_VIRTUAL_TIME:
            return score / 1000
        aside = log[:, c.LOG_PART] != c.AMONG_OTHERS
        return (score + np.where(aside, 0, low) / float(1 << BITS)) / 1000

    def _grounds_of_jobs(self, log: _Numbers) -> list[_Grounds]:
        """Why each job stood where it did."""
        parts = log[:, c.LOG_PART].tolist()
        if self._order >= c.BY_VIRTUAL_TIME:
            lows = np.where(log[:, c.LOG_PART] == c.AMONG_LATE, log[:, c.LOG_SCORE_LOW], 0)
            return [_AMONG.get(each, _BY_KEY) for each in zip(parts, lows.tolist(), strict=True)]
        pools = self._pool_of[log[:, c.LOG_JOB]]
        if not pools.any():
            return [_BY_KEY] * len(log)
        return [self._pool_grounds(*each) for each in zip(pools.tolist(), parts, strict=True)]

    def _pool_grounds(self, pool: int, needy: int) -> _Grounds:
        """That of a job in a pool, below the needy one if there is any."""
        if pool == 0:
            return _BY_KEY
        known = self._places.get((pool, needy))
        if known is None:
            if needy == c.NONE:
                known = (Reason.POOL, PoolPlace(self._paths[pool]))
            else:
                place = PoolPlace(self._paths[pool], self._paths[needy])
                known = (Reason.POOL_MIN_SHARE, place)
            self._places[pool, needy] = known
        return known

    def _all_skips(self, w: Tables) -> list[Skip]:
        """All that were passed over, launch by launch."""
        told = w.refused[: w.state[c.REFUSED_TOP]].tolist()
        if w.given[c.WAIT] == c.WAIT_BY_COUNT:
            limit = int(w.given[c.SKIPS_MAX])
            return [
                Skip(job, DelayByCount(_LEVELS[level], count, limit))
                for job, level, _, _, _, count in told
            ]
        return [
            Skip(job, DelayByTime(_LEVELS[level], _LEVELS[allowed], waited_ms, until_ms, count))
            for job, level, allowed, waited_ms, until_ms, count in told
        ]
