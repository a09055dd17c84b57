"""How many seeds are enough: adding seeds until the figures are as precise as was asked.

The replications algorithm of Hoad, Robinson and Davies ("Automated selection of the number of
replications for a discrete-event simulation", 2010): seeds are added until the interval's half
width is at most a share of the mean, and then some more, to see that it stays so.  Here the figure
is the paired difference of each policy to the first, as a share of the first's mean; with one
policy it is the policy's own mean.  The first stage is longer than Hoad's: a deviation that is
estimated from few skewed figures is mostly too small, and the rule would stop there.
"""

from collections.abc import Sequence
from math import inf, isfinite

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.statistics import CONFIDENCE
from callboard.experiments.many.stopping import (
    FIRST_STAGE,
    FigureMatrix,
    SeedRows,
    Stopping,
    check_seeds,
    check_share,
    figure_matrix,
    in_percent,
    seed_count_words,
)
from callboard.histories.quantiles import student_quantile

LOOK_AHEAD = 5
"""Seeds for which the precision must stay, up to the 100th; from there on per 100 seeds."""

_HOPELESS = 10
"""With that many seeds two policies have at least two in common, or the rule gives up."""


class Precision(msgspec.Struct, frozen=True):
    """What a precision rule says of the first `seeds` seeds; it looked at no later ones."""

    stopping: Stopping
    seeds: int
    wanted: int
    """The rule cannot stop before it has that many more seeds."""
    share: float
    """The half width that was asked for, as a share of the first policy's mean."""
    reached: tuple[float | None, ...]
    """The half width there is, by policy from the second on (with one policy its own); None where
    there is no interval.
    """
    left_out: tuple[int, ...]
    """Seeds without a figure, in the same order."""
    precise_from: int | None = None
    """With how many seeds it was precise for the first time, to stay so."""

    def sentence(self, policies: Sequence[str]) -> str:
        """The answer for a person; `policies` are the names of the columns."""
        if not self.seeds:
            return "no seed has been run"
        first, names = policies[0], [f"{name} − {policies[0]}" for name in policies[1:]]
        shares = [inf if share is None else share for share in self.reached]
        worst = shares.index(max(shares))
        name = (names or [first])[worst]
        width = f"± {in_percent(shares[worst])} of {first}'s mean"
        known = width if isfinite(shares[worst]) else f"no interval beside {first}'s mean"
        said = f"{name}: {known} after {seed_count_words(self.seeds, self.left_out[worst])}"
        asked = f"± {in_percent(self.share)} asked for"
        if self.stopping is not Stopping.GAVE_UP:
            return f"{said}, {asked}"
        if shares[worst] <= self.share:  # as it may be by chance, seen too early or too seldom
            return f"{said}, too few seeds to rely on it; {asked}"
        return f"{said}; gave up, {asked}"


class PrecisionRule(msgspec.Struct, frozen=True):
    """Half widths of at most `share` of the first policy's mean, for every policy's difference to
    the first.  `least` and `most` bound the number of seeds; ValueError for what makes no rule.
    """

    share: float
    confidence: float = CONFIDENCE
    least: int = FIRST_STAGE
    most: int = 200

    def __post_init__(self) -> None:
        check_share("share", self.share)
        check_share("confidence", self.confidence)
        check_seeds(self.least, self.most)

    def judge(self, rows: SeedRows) -> Precision:
        """What the seeds so far say.  The answer depends on the order of the seeds alone, not on
        how many of them came at once: what was run too much is not looked at.
        """
        figures = figure_matrix(rows)[: self.most]
        widths = relative_widths(figures, self.confidence)
        start, stop = self._precise_since(np.asarray((widths <= self.share).all(axis=1)))
        stopping, seeds = self._stopping_decision(widths, stop)
        more = stopping is Stopping.MORE
        return Precision(
            stopping=stopping,
            seeds=seeds,
            wanted=self._more_seeds_wanted(seeds, start) if more else 0,
            share=self.share,
            reached=tuple(
                _finite_or_none(width) for width in widths[max(seeds - 1, 0) : seeds].ravel()
            ),
            left_out=_left_out_seeds(figures[:seeds]),
            precise_from=start if stop is not None else None,
        )

    def _precise_since(self, precise: NDArray[np.bool_]) -> tuple[int | None, int | None]:
        """Since how many seeds it has been precise, and with how many this is sure."""
        start = None
        for n, is_precise in enumerate(precise, 1):
            start = (start or n) if is_precise and n >= self.least else None
            if start is not None and n >= start + look_ahead_seeds(start):
                return start, n
        return start, None

    def _stopping_decision(self, widths: FigureMatrix, stop: int | None) -> tuple[Stopping, int]:
        """It gives up with the most seeds, and at its first look where two policies have not even
        two seeds in common (or the first one's mean is zero).
        """
        if (
            len(widths) >= self._first_look_seeds
            and np.isinf(widths[self._first_look_seeds - 1]).any()
        ):
            return Stopping.GAVE_UP, self._first_look_seeds
        if stop is not None:
            return Stopping.DONE, stop
        return Stopping.GAVE_UP if len(widths) >= self.most else Stopping.MORE, len(widths)

    @property
    def _first_look_seeds(self) -> int:
        return min(self.least + look_ahead_seeds(self.least), _HOPELESS, self.most)

    def _more_seeds_wanted(self, seeds: int, start: int | None) -> int:
        if seeds < self._first_look_seeds:
            return self._first_look_seeds - seeds
        soonest = max(seeds + 1, self.least) if start is None else start
        return min(soonest + look_ahead_seeds(soonest), self.most) - seeds


def look_ahead_seeds(n: int) -> int:
    """How many seeds more must be as precise after `n` that were: Hoad's kLimit."""
    return max(LOOK_AHEAD, LOOK_AHEAD * n // 100)


def relative_widths(figures: FigureMatrix, confidence: float) -> FigureMatrix:
    """Of the first 1, 2, … seeds: the half width of each policy's paired difference to the first,
    as a share of the first's mean (with one policy its own mean).  Infinite with less than two
    seeds in common, and where the mean is zero and the width is not.
    """
    first = figures[:, :1]
    measured = figures[:, 1:] - first if figures.shape[1] > 1 else first
    there = np.isfinite(measured)
    n = np.cumsum(there, axis=0)
    half = _half_widths(measured, n, confidence)
    mean = np.cumsum(np.where(there, first, 0), axis=0) / np.maximum(n, 1)
    share = np.full(half.shape, inf)
    np.divide(half, np.abs(mean), out=share, where=mean != 0)
    return np.where(n < 2, inf, np.where(half == 0, 0, share))


def _half_widths(values: FigureMatrix, n: NDArray[np.int64], confidence: float) -> FigureMatrix:
    """The half widths of the columns' first rows, by sums of what is above the first value there
    (so that equal values have a variance of 0).
    """
    there = np.isfinite(values)
    origin = np.take_along_axis(values, there.argmax(axis=0)[None], axis=0) if len(values) else 0
    above = np.where(there, values - origin, 0)
    squares = np.cumsum(above**2, axis=0) - np.cumsum(above, axis=0) ** 2 / np.maximum(n, 1)
    freedom = np.maximum(n - 1, 1)
    error = np.sqrt(np.maximum(squares, 0) / freedom / np.maximum(n, 1))
    return np.asarray(student_quantile(freedom, confidence) * error)


def _left_out_seeds(figures: FigureMatrix) -> tuple[int, ...]:
    """Seeds in which a policy or the first has no figure, by policy from the second on."""
    missing = np.isnan(figures)
    several = missing[:, 1:] | missing[:, :1] if figures.shape[1] > 1 else missing
    return tuple(int(number) for number in several.sum(axis=0))


def _finite_or_none(width: float) -> float | None:
    return float(width) if isfinite(width) else None
