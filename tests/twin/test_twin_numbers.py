"""The twin's own arithmetic gives what Python's does, to the last bit."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from callboard.actors.kernel.streams import Stream
from callboard.experiments.run.twin_play import twin_of
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.twin import columns as c
from callboard.twin import starving_claimants
from callboard.twin.addressed_draws import bits_of, draw_key, lognormal_of, uniform_of
from callboard.twin.believed_sizes import rounded_quotient
from callboard.twin.play_loop import play_instants
from callboard.twin.wide_numbers import (
    BITS,
    FACTOR_LIMIT,
    wide_difference,
    wide_float,
    wide_of,
    wide_of_float,
    wide_product,
    wide_quotient,
    wide_quotient_up,
    wide_sum,
    wide_units_up,
)
from tests.support.world import job, spec_of

ADDRESSES = st.integers(0, 1 << 40)


@given(st.integers(0, 1 << 62), st.integers(1, 1 << 40))
def test_a_quotient_is_rounded_as_python_rounds_a_float(dividend: int, divisor: int) -> None:
    """A product of many tasks and long times is larger than a float is exact."""
    if dividend // divisor < 1 << 50:
        assert rounded_quotient(dividend, divisor) == round(dividend / divisor)


@given(st.integers(0, 1 << 49), st.integers(1, 1 << 12), st.integers(-2, 2))
def test_quotients_next_to_a_half_are_too(whole: int, half: int, more: int) -> None:
    dividend, divisor = 2 * half * whole + half + more, 2 * half
    if dividend >= 0:
        assert rounded_quotient(dividend, divisor) == round(dividend / divisor)


@given(st.integers(0, 99), ADDRESSES, ADDRESSES, st.floats(0.01, 5))
def test_draws_are_those_of_the_streams(seed: int, a: int, b: int, sigma: float) -> None:
    stream, key = Stream(seed, "purpose"), np.uint64(draw_key(seed, "purpose"))
    with np.errstate(over="ignore"):
        assert int(bits_of(key, a, b)) == stream.bits(a, b)
        assert uniform_of(key, a, b) == stream.uniform(a, b)
        assert lognormal_of(key, sigma, a, b) == stream.lognormal(sigma, a, b)


@pytest.mark.soak
@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
def test_a_machine_on_which_compiled_draws_differ_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from callboard.twin import compiled_play

    compiled_play.draws_agree.cache_clear()

    def other_draws(_key: object, _sigma: float, drawn: NDArray[np.float64]) -> None:
        drawn.fill(1.0)

    monkeypatch.setitem(compiled_play._LOOPS, "draw_lognormals", other_draws)
    assert not compiled_play.draws_agree()
    compiled_play.draws_agree.cache_clear()


def test_the_newest_attempt_is_the_first_victim_also_behind_a_million_slots() -> None:
    """Each fits into one number with its slot, of which 20,000 nodes may have 510 each."""
    spec = msgspec.structs.replace(spec_of([job(0)]), policy="fair+kill")
    slots = (1 << 20) + 9
    berths = np.full((slots, c.BERTH_WIDTH), c.NONE, np.int8)
    for launch, berth in enumerate((slots - 1, 7, slots - 4), start=4):
        berths[berth, [c.OF_JOB, c.OF_KIND, c.OF_STAGE, c.KILLING]] = 0, 0, c.OF_TASKS, c.NOT_KILLED
        berths[berth, c.IN_LOG] = launch
    w = twin_of(spec, play_instants).tables._replace(berths=berths)
    assert starving_claimants._collect_victim_candidates(w, 0) == 0
    taken = [starving_claimants._take_newest(w) for _ in range(3)]
    assert taken == [slots - 4, 7, slots - 1]


WIDE = st.integers(-(1 << 80), 1 << 82)
FACTORS = st.integers(1, FACTOR_LIMIT - 1)


def limbs(number: int) -> tuple[int, int]:
    return number >> BITS, number & ((1 << BITS) - 1)


@given(WIDE, WIDE, FACTORS)
def test_numbers_of_two_limbs_are_whole_numbers(number: int, other: int, factor: int) -> None:
    """Virtual time is counted in units of 2⁻⁴² slot-ms, which nothing may round but as stated."""
    assert wide_sum(*limbs(number), *limbs(other)) == limbs(number + other)
    assert wide_difference(*limbs(number), *limbs(other)) == limbs(number - other)
    assert wide_product(*limbs(number), factor) == limbs(number * factor)
    assert wide_quotient(*limbs(number), factor) == limbs(number // factor)
    assert wide_quotient_up(*limbs(number), factor) == limbs(-(-number // factor))
    assert wide_units_up(*limbs(number), 40) == -(-number >> 40)
    assert wide_float(*limbs(number)) == number / (1 << BITS)


@given(st.floats(0, 1e12), st.integers(0, 1 << 40))
def test_floats_and_milliseconds_become_such_numbers(size_ms: float, now_ms: int) -> None:
    assert wide_of_float(size_ms) == limbs(round(size_ms * (1 << BITS)))
    assert wide_of(now_ms, 40) == limbs(now_ms << 40)
