"""Figures of several runs: means and paired differences with Student's intervals, and medians with
the sign test's.

A figure is None (or not finite) for a run that has none, such as a mean response time where no job
completed.  Such runs are left out, and every result says how many.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite, nan, sqrt
from statistics import fmean, median, stdev
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from callboard.experiments.many.skewness import is_skewed, sample_skewness
from callboard.histories.quantiles import sign_test_rank, student_quantile

CONFIDENCE = 0.95

WIDE_SHARE = 0.2
"""An interval is wide if its half width is more than this share of the mean."""

MEDIAN_SAMPLES = 6
"""The fewest samples that the sign test's interval of 95 % needs."""

_RESAMPLES = 199

_SampleT = TypeVar("_SampleT")

Figures = Sequence[float | None]
"""A figure of one policy, run by run."""


class Interval(msgspec.Struct, frozen=True):
    """A mean over `runs` runs, give or take `half`: None with fewer than two runs.  The mean is NaN
    with none.  `left_out` runs had no figure.  `skewness` is that of the runs, where it is known.
    """

    mean: float
    half: float | None
    runs: int
    left_out: int = 0
    skewness: float | None = None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.half is not None and abs(self.mean) > self.half

    @property
    def is_skewed(self) -> bool:
        """Whether the runs are so skewed that they are too few (`experiments.many.skewness`)."""
        return self.skewness is not None and bool(is_skewed(self.skewness, self.runs))


class MedianInterval(msgspec.Struct, frozen=True):
    """A median over `runs` runs, and the two runs that enclose the true one: None with too few
    runs for the confidence.  The median is NaN with none.  `left_out` runs had no figure.
    """

    low: float | None
    median: float
    high: float | None
    runs: int
    left_out: int = 0


class PairedComparison(msgspec.Struct, frozen=True):
    """A policy against the first, seed by seed, on the seeds in which both have a figure.  Lower
    is better.
    """

    difference: Interval
    """The policy minus the first."""
    first_mean: float
    """The first policy's mean on the same seeds."""
    better_in: int
    """In how many seeds the policy is lower."""
    ties: int
    """In how many seeds the two are equal."""

    @property
    def relative(self) -> float | None:
        """The difference as a share of the first's mean; None where that is no number or zero."""
        return self._share_of_first(self.difference.mean)

    @property
    def relative_half(self) -> float | None:
        """The difference's half width as a share of the first's mean."""
        return self._share_of_first(self.difference.half)

    @property
    def is_wide(self) -> bool:
        """Whether the half width is more than `WIDE_SHARE` of the first's mean, or unknown."""
        return is_wide(self.difference, self.first_mean)

    def _share_of_first(self, value: float | None) -> float | None:
        if value is None or not isfinite(value / (self.first_mean or nan)):
            return None
        return value / abs(self.first_mean)


class RunRange(NamedTuple):
    """How the runs lie: least, median and greatest."""

    least: float
    median: float
    greatest: float


def interval(values: Figures, confidence: float = CONFIDENCE) -> Interval:
    """The mean of independent values and its confidence interval, by Student's t; raises
    MissingExtraError without SciPy.
    """
    there = list(_finite_values(values))
    n, left_out = len(there), len(values) - len(there)
    mean = fmean(there) if there else nan
    if n < 2:
        return Interval(mean, None, n, left_out)
    half = float(student_quantile(n - 1, confidence)) * stdev(there) / sqrt(n)
    return Interval(mean, half, n, left_out, sample_skewness(np.array(there)))


def paired_interval(values: Figures, other: Figures, confidence: float = CONFIDENCE) -> Interval:
    """The mean of `values` minus `other`, run by run; one run stands for all where it must.  The
    runs share their draws, so the interval is narrower than the means'.
    """
    n = max(len(values), len(other))
    ours, theirs = (list(row) * (n if len(row) == 1 else 1) for row in (values, other))
    pairs = zip(ours, theirs, strict=True)
    return interval([None if a is None or b is None else a - b for a, b in pairs], confidence)


def compare_paired(values: Figures, first: Figures) -> PairedComparison:
    """A policy's figures against the first policy's, which are of the same seeds in the same order;
    ValueError if one has more.
    """
    pairs = [
        (a, b)
        for a, b in zip(values, first, strict=True)
        if a is not None and b is not None and isfinite(a - b)
    ]
    return PairedComparison(
        difference=paired_interval(values, first),
        first_mean=fmean(b for _, b in pairs) if pairs else nan,
        better_in=sum(a < b for a, b in pairs),
        ties=sum(a == b for a, b in pairs),
    )


def is_wide(found: Interval, beside: float | None = None) -> bool:
    """Whether to warn of an interval: its half width is more than `WIDE_SHARE` of the mean (of
    `beside` where that is given, as for differences), or there is none.
    """
    if found.half is None:
        return True
    return found.half > WIDE_SHARE * abs(found.mean if beside is None else beside)


def median_interval(values: Figures, confidence: float = CONFIDENCE) -> MedianInterval:
    """The median and the interval of the sign test: between two order statistics, whatever the
    distribution.  For skewed figures, such as ratios, for which Student's is not.
    """
    ordered = sorted(_finite_values(values))
    n, left_out = len(ordered), len(values) - len(ordered)
    if not n:
        return MedianInterval(None, nan, None, 0, left_out)
    rank = sign_test_rank(n, confidence)
    if not rank:
        return MedianInterval(None, median(ordered), None, n, left_out)
    return MedianInterval(ordered[rank - 1], median(ordered), ordered[n - rank], n, left_out)


def bootstrap_interval(
    samples: Sequence[_SampleT],
    figure: Callable[[Sequence[_SampleT]], float | None],
    confidence: float = CONFIDENCE,
) -> MedianInterval:
    """A figure of all samples together, and the percentile interval of the same figure of as many
    samples drawn from them with replacement; the draws are always the same.  For figures that no
    single sample has, such as the worst run of many.
    """
    n, whole = len(samples), next(_finite_values([figure(samples)]), nan)
    if n < MEDIAN_SAMPLES:
        return MedianInterval(None, whole, None, n)
    draw = np.random.Generator(np.random.PCG64(0))
    drawn = [figure([samples[k] for k in draw.integers(n, size=n)]) for _ in range(_RESAMPLES)]
    values = list(_finite_values(drawn))
    if not values:
        return MedianInterval(None, whole, None, n)
    low, high = np.quantile(values, ((1 - confidence) / 2, (1 + confidence) / 2))
    return MedianInterval(float(low), whole, float(high), n)


def run_range(values: Sequence[float]) -> RunRange:
    """Least, median, greatest."""
    return RunRange(min(values), median(values), max(values))


def _finite_values(values: Figures) -> Iterator[float]:
    return (value for value in values if value is not None and isfinite(value))
