"""Small cases drawn by Hypothesis: jobs with exact numbers, ties likely."""

from fractions import Fraction
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

# Everybody sees the same cases, so that a failure here is a failure there.
EXAMPLES = settings(derandomize=True, deadline=None, max_examples=100)


class Small(NamedTuple):
    arrivals: list[Fraction]
    sizes: list[Fraction]
    estimates: list[Fraction]
    weights: list[Fraction]


def quarters(least: int, most: int) -> st.SearchStrategy[Fraction]:
    """Multiples of a quarter: few values, so that events coincide."""
    return st.integers(4 * least, 4 * most).map(lambda n: Fraction(n, 4))


def wholes(least: int, most: int) -> st.SearchStrategy[Fraction]:
    return st.integers(least, most).map(Fraction)


@st.composite
def small_cases(draw: st.DrawFn, jobs: int = 7) -> Small:
    """Up to `jobs` jobs, sorted by arrival, some of size or estimate 0.

    In some cases all estimates are small, so that several jobs are late at a time, having
    attained different service.
    """
    n = draw(st.integers(1, jobs))
    number = draw(st.sampled_from([quarters(0, 8), wholes(0, 6)]))

    def row(of: st.SearchStrategy[Fraction]) -> list[Fraction]:
        return draw(st.lists(of, min_size=n, max_size=n))

    return Small(
        arrivals=sorted(row(number)),
        sizes=row(number),
        estimates=row(draw(st.sampled_from([number, quarters(0, 1), quarters(0, 2)]))),
        weights=row(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)])),
    )
