"""What the rules that ask for seeds one after another have in common: the figures they are told,
and whether they have come to an end.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.statistics import Figures
from callboard.scheduler.text.quantities import count

FigureMatrix: TypeAlias = NDArray[np.float64]

SeedRows: TypeAlias = Sequence[Figures] | FigureMatrix
"""A row a seed, in order of the seeds, with a figure for each policy, the policies in the same
order in each.  None (or not finite) for a run without the figure.
"""

FIRST_STAGE = 20
"""That many seeds are played before a rule believes what it is told."""


class Stopping(StrEnum):
    """Whether a rule that asks for seeds has come to an end."""

    MORE = "more seeds wanted"
    DONE = "done"
    GAVE_UP = "gave up"


def figure_matrix(rows: SeedRows) -> FigureMatrix:
    """The rows as an array, NaN where a run has no figure; ValueError for rows of unlike length."""
    found = np.array(rows, dtype=np.float64)
    if not found.size:
        return np.empty((0, 0))
    if found.ndim != 2:
        raise ValueError("a row a seed with a figure a policy is wanted")
    return np.where(np.isfinite(found), found, np.nan)


def check_share(name: str, share: float, below: float = 1) -> None:
    """ValueError for a share that is not above 0 and below 1, or what it must be below."""
    if not 0 < share < below:
        raise ValueError(f"{name} is {share:g}, and must be above 0 and below {below:g}")


def check_seeds(least: int, most: int) -> None:
    """ValueError for limits to the number of seeds that leave no variance to see."""
    if not 2 <= least <= most:
        told = f"{least} seeds come before the first look, and there are {most}"
        raise ValueError(f"{told}; name as many seeds or more")


def seed_count_words(seeds: int, left_out: int) -> str:
    """How many seeds, and how many of them are left out, in words."""
    without = f" ({left_out} of them left out: a run has no figure)" if left_out else ""
    return f"{count(seeds, 'seed')}{without}"


def in_percent(share: float) -> str:
    """A share as a person reads it: 0.0512 as 5.12 %."""
    return f"{100 * share:.3g} %"
