"""A sum of floats that is the same in every version of Python."""

from collections.abc import Iterable


def left_to_right_sum(values: Iterable[float]) -> float:
    """The sum from left to right, rounded at each step.  Python's own `sum` carries what rounding
    loses along from version 3.12 on, so that what is decided by it would hang on the version.
    """
    total = 0.0
    for value in values:
        total += value
    return total
