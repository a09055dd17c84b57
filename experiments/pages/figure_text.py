"""Means with their intervals, and differences seed by seed, as text."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from callboard.experiments.many.seed_runs import (
    Figure,
    mean_response_s,
    mean_slowdown,
    p95_response_s,
)
from callboard.experiments.many.skewness import seeds_for
from callboard.experiments.many.statistics import (
    Interval,
    PairedComparison,
    compare_paired,
    interval,
)
from callboard.scheduler.text.quantities import with_sign

COMPARED: dict[str, Figure] = {
    "response time, mean": mean_response_s,
    "response time, p95": p95_response_s,
    "slowdown, mean": mean_slowdown,
}
"""The figures that are compared seed by seed."""

UNITS = {"response time, mean": " s", "response time, p95": " s", "slowdown, mean": "×"}

DECIMALS_MORE = 2
"""How many decimals more than a mean its half interval is given before it counts as nothing."""

_NUMBER = re.compile(r"([+−-]?[0-9,]+)(?:\.([0-9]+))?(.*)")


class DifferenceCells(NamedTuple):
    """A comparison as it is written; minus is better."""

    difference: str
    percent: str
    better_in: str
    remark: str


def interval_text(write: Callable[[float], str], found: Interval) -> str:
    """The mean and half its interval, as in `1,153 ± 322 s`; `write` is for the mean."""
    if math.isnan(found.mean):
        return "-"
    written = write(found.mean)
    if found.half is None:
        return written
    return with_half(written, found.half * (100 if written.endswith("%") else 1))


def best_beyond_chance(
    best: Callable[[Sequence[float]], float] | None, columns: Sequence[Sequence[float | None]]
) -> int | None:
    """Which column (figures by seed) is best and differs from each other by more than chance."""
    means = [interval(column).mean for column in columns]
    if best is None or any(math.isnan(mean) for mean in means):
        return None
    place = means.index(best(means))
    others = [column for other, column in enumerate(columns) if other != place]
    surely = [compare_paired(columns[place], other).difference.excludes_zero for other in others]
    return place if surely and all(surely) else None


def with_half(mean: str, half: float | None) -> str:
    """The half width put into a mean as it is written, with as many decimals, or as many more as
    show a digit of it (`87 ± 0.3%`); left out where the seeds gave the same, or all but.
    """
    match = _NUMBER.fullmatch(mean)
    if not half or match is None:
        return mean
    unit = match[3]
    number, decimals = mean.removesuffix(unit), len(match[2] or "")
    widths = (f"{half:,.{decimals + more}f}" for more in range(DECIMALS_MORE + 1))
    shown = next((width for width in widths if float(width.replace(",", ""))), None)
    return mean if shown is None else f"{number} ± {shown}{unit}"


def _signed_with_half(mean: float, half: float | None, decimals: int, unit: str) -> str:
    """`−12 ± 3 s`, or `under 1 s` where that many decimals say nothing of either."""
    if (mean or half) and not any(round(each or 0.0, decimals) for each in (mean, half)):
        return f"under {10**-decimals:g}{unit}"
    return with_half(f"{with_sign(mean, f',.{decimals}f')}{unit}", half)


def difference_cells(found: PairedComparison, unit: str) -> DifferenceCells:
    """The cells of a comparison."""
    mean, n = found.difference.mean, found.difference.runs
    decimals = 0 if abs(found.first_mean) >= 100 else 1
    difference = _signed_with_half(mean, found.difference.half, decimals, unit)
    share, half = found.relative, found.relative_half
    relative = ""
    if share is not None:
        relative = _signed_with_half(100 * share, half and 100 * half, 0, "%")
    ties = f", equal in {found.ties}" if found.ties else ""
    told = found.difference.excludes_zero or found.difference.half is None or found.ties == n
    remark = "" if told else "may be chance"
    difference, relative = (text.replace("-", "−") for text in (difference, relative))
    return DifferenceCells(difference, relative, f"{found.better_in} of {n}{ties}", remark)


def skewed_words(means: Mapping[str, Interval]) -> str:
    """Which of these named means are of too few seeds for how skewed they are; empty for none."""
    skewed = {name: found.skewness or 0.0 for name, found in means.items() if found.is_skewed}
    if not skewed:
        return ""
    wanted = max(map(seeds_for, skewed.values()))
    which = f"a few seeds differ much from the rest ({', '.join(skewed)})"
    return f"{which}: 95 % intervals may be too narrow; {wanted:,} seeds or more would be enough"
