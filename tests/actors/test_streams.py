"""Addressed randomness: same address, same draw, whatever else happens (issue: named streams)."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.kernel.streams import Stream

ADDRESS = st.integers(0, 2**40)
GOLDEN = [15630931482229497760, 6490741893817897440, 11716042142351505874]


def test_a_draw_depends_on_seed_purpose_and_address_only() -> None:
    first = Stream(7, "duration")
    first.uniform(3, 4)
    assert first.uniform(1, 2) == Stream(7, "duration").uniform(1, 2)
    different = {
        Stream(7, "duration").bits(1, 2),
        Stream(8, "duration").bits(1, 2),
        Stream(7, "placement").bits(1, 2),
        Stream(7, "duration").bits(2, 1),
        Stream(7, "duration").bits(1, 3),
        Stream(7, "duration").bits(1),
    }
    assert len(different) == 6


def test_the_bits_are_the_same_on_every_machine() -> None:
    """Golden values: a change here changes every digest, and must be meant."""
    stream = Stream(1, "duration")
    assert [stream.bits(0, 0), stream.bits(0, 1), stream.bits(1, 0)] == GOLDEN


@given(ADDRESS, st.integers(1, 60))
@settings(derandomize=True, max_examples=50)
def test_a_row_is_the_same_as_its_draws_one_by_one(a: int, n: int) -> None:
    stream = Stream(3, "placement")
    assert stream.bits_row(a, n).tolist() == [stream.bits(a, b) for b in range(n)]


@given(st.integers(1, 1000), ADDRESS)
@settings(derandomize=True, max_examples=50)
def test_below_stays_below(n: int, a: int) -> None:
    assert 0 <= Stream(5, "x").below(n, a) < n


def test_the_distributions_have_their_moments() -> None:
    """100,000 draws each, 4σ of the sampling error."""
    stream, n = Stream(11, "moments"), 100_000
    uniforms = np.array([stream.uniform(0, b) for b in range(n)])
    assert abs(uniforms.mean() - 0.5) < 4 * math.sqrt(1 / 12 / n)
    normals = np.array([stream.normal(1, b) for b in range(n)])
    assert abs(normals.mean()) < 4 / math.sqrt(n)
    assert abs(normals.var() - 1) < 4 * math.sqrt(2 / n)
    exponentials = np.array([stream.exponential(30.0, 2, b) for b in range(n)])
    assert abs(exponentials.mean() - 30) < 4 * 30 / math.sqrt(n)
    lognormals = np.array([stream.lognormal(0.5, 3, b) for b in range(n)])
    assert abs(np.log(lognormals).std() - 0.5) < 0.01


def test_no_noise_is_exactly_one() -> None:
    assert Stream(1, "duration").lognormal(0.0, 3, 4) == 1.0


def test_the_most_extreme_bits_have_a_normal_number() -> None:
    class Extreme(Stream):
        def bits(self, a: int = 0, b: int = 0) -> int:  # noqa: ARG002
            return (1 << 64) - 1 if a else 0

    low, high = Extreme(1, "x").normal(0), Extreme(1, "x").normal(1)
    assert low == -high
    assert 8 < high < 9
