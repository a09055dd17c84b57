"""Lengths of which some are only known to be longer: Kaplan–Meier by hand, and what is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.experiments.forecast.lengths import CensoredLengths
from callboard.experiments.forecast.model_errors import ENOUGH, Compared, ModelErrors

RNG_SEED = 7


def test_the_estimate_by_hand() -> None:
    """Of five, one ends at 2, one is given up at 3, one ends at 4: 4/5, then 4/5 · 2/3."""
    lengths = CensoredLengths([2.0, 4.0, 9.0], [3.0, 5.0])
    assert [lengths.share_longer_than(at) for at in (1.0, 2.0, 3.0, 4.0)] == pytest.approx(
        [1.0, 4 / 5, 4 / 5, 4 / 5 * 2 / 3]
    )


def test_what_still_runs_makes_long_ones_likelier() -> None:
    rng = np.random.default_rng(RNG_SEED)
    short = CensoredLengths([10.0, 20.0])
    longer = CensoredLengths([10.0, 20.0], [15.0] * 8)
    means = [np.mean([law.draw(rng) for _ in range(400)]) for law in (short, longer)]
    assert means[0] == pytest.approx(15, abs=1)
    assert means[1] > 18


@given(
    ended=st.lists(st.floats(1, 1e6), min_size=1, max_size=20),
    running=st.lists(st.floats(0, 1e6), max_size=20),
    beyond=st.floats(0, 2e6),
    seed=st.integers(0, 1000),
)
def test_what_is_drawn_is_longer_than_what_has_run(
    ended: list[float], running: list[float], beyond: float, seed: int
) -> None:
    drawn = CensoredLengths(ended, running).draw(np.random.default_rng(seed), beyond)
    assert drawn > beyond


def test_nothing_that_has_ended_says_so() -> None:
    with pytest.raises(ValueError, match="nothing has ended"):
        CensoredLengths([], [3.0]).draw(np.random.default_rng(RNG_SEED))


class TestModelErrors:
    def test_a_model_that_was_right_is_right(self) -> None:
        errors = ModelErrors([Compared(ms, ms) for ms in (1000, 2000, 3000, 4000, 5000)])
        assert errors.response_ms(np.random.default_rng(RNG_SEED), 7000, 1000) == 7000

    def test_one_that_was_off_is_off_as_far(self) -> None:
        errors = ModelErrors([Compared(ms, 3 * ms) for ms in (1000, 2000, 3000, 4000, 5000)])
        assert errors.response_ms(np.random.default_rng(RNG_SEED), 7000, 1000) == 21_000

    def test_too_few_jobs_tell_nothing(self) -> None:
        errors = ModelErrors([Compared(1000, 3000)] * (ENOUGH - 1) + [Compared(9, 90, True)])
        rng = np.random.default_rng(RNG_SEED)
        assert errors.response_ms(rng, 7000, 1000) == 7000
        assert errors.response_ms(rng, 7000, 8000) == 8000

    def test_no_job_has_ended_that_still_runs(self) -> None:
        errors = ModelErrors([Compared(1000, 2000)] * 9)
        rng = np.random.default_rng(RNG_SEED)
        assert errors.response_ms(rng, 1000, 5000) >= 5000
