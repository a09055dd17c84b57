"""A mean that is told more sharply by what is known of the same runs.

A control is a figure of a run whose mean is known, such as the mean size of the jobs drawn.  The
part of a figure that a regression gives to the controls is chance that can be taken away (Lavenberg
and Welch, "A perspective on the use of control variables to increase the efficiency of Monte Carlo
simulations", Management Science 27, 1981).
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from callboard.experiments.many.statistics import CONFIDENCE, Interval, interval
from callboard.histories.quantiles import student_quantile


def controlled_interval(values: Sequence[float], controls: Sequence[Sequence[float]]) -> Interval:
    """The mean of the values, run by run, and its interval; `controls` has a row a run, of figures
    less their known means.  With hardly more runs than controls, the interval without them.
    """
    known = np.asarray(controls, dtype=np.float64)
    runs, freedom = len(values), len(values) - 1 - known.shape[1]
    if freedom < 2:
        return interval(values)
    terms = np.column_stack([np.ones(runs), known])
    inverse = np.linalg.pinv(terms.T @ terms)
    fitted = inverse @ terms.T @ np.asarray(values)
    residual = np.asarray(values) - terms @ fitted
    error = sqrt(residual @ residual / freedom * inverse[0, 0])
    return Interval(float(fitted[0]), float(student_quantile(freedom, CONFIDENCE)) * error, runs)
