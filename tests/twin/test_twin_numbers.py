"""The twin's own arithmetic gives what Python's does, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from callboard.actors.kernel.streams import Stream
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.twin.addressed_draws import bits_of, draw_key, lognormal_of, uniform_of
from callboard.twin.job_queue import rounded_quotient

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
