"""What of many like cases stays in the suite; the others are for `make soak`, which CI runs too."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def one_in(every: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """All the cases, of which the suite has the first and each `every`-th after it.

    >>> [bool(case.marks) for case in one_in(3, "abcd")]
    [False, True, True, False]
    """
    return [
        pytest.param(
            *(case if type(case) is tuple else (case,)),
            marks=() if number % every == 0 else pytest.mark.soak,
        )
        for number, case in enumerate(cases)
    ]
