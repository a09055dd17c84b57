"""The procedure KN as it was before `--best` followed variances: for comparison."""

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.selection import screening_factor
from callboard.experiments.many.stopping import FigureMatrix


def kn_of_two(figures: FigureMatrix, error: float, share: float, n0: int) -> tuple[int | None, int]:
    """Which of two policies KN names, None where the rows are too few, and after how many seeds.

    The variance of the first n0 differences stands for good (Kim and Nelson, ACM TOMACS 11, 2001).
    """
    differences = figures[:, 0] - figures[:, 1]
    delta = share * abs(figures[:n0, 0].mean())
    factor = float(screening_factor(np.array([n0]), error)[0])
    reach = factor * differences[:n0].var(ddof=1) / delta
    r = np.arange(n0, len(figures) + 1)
    sums = np.cumsum(differences)[n0 - 1 :]
    decided: NDArray[np.int64] = np.flatnonzero(np.abs(sums) > np.maximum(0, reach - delta * r) / 2)
    if not len(decided):
        return None, len(figures)
    first = int(decided[0])
    return int(sums[first] > 0), first + n0
