"""The mean in steady state: what is left out, when nothing is told, and what intervals hold."""

import dataclasses
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from callboard.experiments.many.steady_state import (
    SteadyState,
    batch_means,
    jobs_pile_up,
    jobs_present,
    neighbours_correlation,
    steady_state,
    steady_state_of,
    warm_up_of,
)
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.run.simulation import run_simulation
from callboard.scenarios.generators import TAIL
from trials.steady_coverage import mm1_coverage, mm1_run

scipy_stats = pytest.importorskip("scipy.stats")

Row = NDArray[np.float64]


def noise(jobs: int, seed: int = 1) -> Row:
    return np.random.default_rng(seed).exponential(10.0, jobs)


def told(found: SteadyState) -> tuple[float, float]:
    assert found.response is not None, found.why_not
    assert found.response.half is not None
    return found.response.mean, found.response.half


def as_white_has_it(values: Sequence[float]) -> int:
    """MSER-5 written out: of each cut up to half, the squares of what is left about their mean
    over the square of their number.
    """
    means = [sum(values[at : at + 5]) / 5 for at in range(0, len(values) - 4, 5)]
    errors = []
    for cut in range(len(means) // 2 + 1):
        left = means[cut:]
        mean = sum(left) / len(left)
        errors.append(sum((each - mean) ** 2 for each in left) / len(left) ** 2)
    return 5 * errors.index(min(errors))


@pytest.mark.parametrize("seed", range(6))
def test_the_warm_up_is_what_mser_5_says(seed: int) -> None:
    values = noise(403, seed) + 200 * np.exp(-np.arange(403) / (5 + 10 * seed))
    assert 0 < as_white_has_it(values.tolist()) == warm_up_of(values)


def test_a_step_at_the_start_is_left_out_whole_and_no_more() -> None:
    there = np.concatenate([np.zeros(100), np.full(1900, 8.0)])
    assert warm_up_of(there) == 100
    found = steady_state(np.concatenate([np.full(100, 1e6), noise(1900)]), there)
    assert (found.jobs, found.warm_up, found.batches, found.batch_jobs) == (2000, 100, 20, 95)
    mean, half = told(found)
    assert abs(mean - 10) < half < 2


def test_a_giant_at_the_start_is_no_warm_up() -> None:
    """It was, where the rule looked at response times: the mean of 600 jobs was 448 s for 680."""
    responses = noise(800)
    responses[30] = 5000.0
    found = steady_state(responses, np.full(800, 8.0))
    assert (found.warm_up, found.batch_jobs) == (0, 40)
    assert told(found)[0] == pytest.approx(responses.mean())


def test_batches_are_of_equal_length_and_leave_out_the_first() -> None:
    assert batch_means(np.arange(11.0), 3).tolist() == [3.0, 6.0, 9.0]


def test_the_correlation_of_neighbours() -> None:
    """Of an autoregression of 0.6 it is that, less the bias that so few have; independent ones have
    none, and equal ones neither.
    """
    shocks = np.random.default_rng(2).standard_normal(20_000)
    series = np.zeros(20_000)
    for at in range(1, 20_000):
        series[at] = 0.6 * series[at - 1] + shocks[at]
    assert neighbours_correlation(series) == pytest.approx(0.6, abs=0.02)
    few = [neighbours_correlation(series[at : at + 40]) for at in range(0, 20_000, 40)]
    assert np.mean(few) == pytest.approx(0.6, abs=0.03), "without the jackknife 0.54"
    assert abs(neighbours_correlation(shocks)) < 0.03
    assert neighbours_correlation(np.ones(400)) == 0.0


def test_jobs_present_count_those_that_have_not_ended() -> None:
    """The second ends as the fourth comes; the third never does."""
    came, went = np.array([0, 10, 20, 30]), np.array([15, 30, -1, 40])
    assert jobs_present(came, went, came).tolist() == [1, 2, 2, 2]


@pytest.mark.parametrize("seed", range(30))
def test_the_trend_is_kendalls(seed: int) -> None:
    """As SciPy has it, exactly; ours is its normal approximation, so not where it is close."""
    means = noise(20, seed) + seed * np.arange(20) / 20
    exact = scipy_stats.kendalltau(np.arange(20), means, alternative="greater").pvalue
    assert jobs_pile_up(means) == (exact < 0.01) or 0.005 < exact < 0.02


def test_jobs_that_pile_up() -> None:
    flat = 5 + noise(2000)
    assert not jobs_pile_up(flat)
    assert jobs_pile_up(flat + np.arange(2000) / 100)
    assert not jobs_pile_up(flat - np.arange(2000) / 100), "a queue that empties is no overload"


@pytest.mark.parametrize(
    ("responses", "present", "why"),
    [
        (noise(399), np.ones(399), "at least 400 are wanted"),
        (noise(0), np.ones(0), "at least 400 are wanted"),
        (
            noise(450),
            np.append(np.full(60, 50.0), np.ones(390)),
            "400 are wanted after the warm-up",
        ),
        (noise(900), np.arange(900.0), "pile up: the cluster is overloaded"),
        (noise(900), np.arange(900.0)[::-1], "change to the end"),
        (np.repeat(noise(300), 10), np.ones(3000), "neighbours wait together (correlation"),
    ],
)
def test_where_nothing_can_be_told_it_says_why(responses: Row, present: Row, why: str) -> None:
    found = steady_state(responses, present)
    assert why in found.why_not
    assert (found.response, found.jobs, found.batches) == (None, len(responses), 0)


def test_equal_times_are_known_exactly() -> None:
    assert told(steady_state(np.full(1000, 7.0), np.ones(1000))) == (7.0, 0.0)


def test_an_overloaded_machine_is_never_told() -> None:
    rng = np.random.default_rng(3)
    assert all(mm1_run(rng, 1.1, jobs).response is None for jobs in (500, 2000, 20_000))


def test_the_interval_holds_the_mean_of_a_queue() -> None:
    """M/M/1 at half load, 10,000 jobs: told nearly always, and held as often as
    docs/statistics.md says, give or take four standard errors of 150 runs.
    """
    found = mm1_coverage(0.5, 10_000, trials=150)
    assert found.told > 0.9
    assert abs(found.held - 0.94) < 4 * (0.94 * 0.06 / 150) ** 0.5


def test_a_run_counts_completed_jobs_without_the_tail() -> None:
    """Two jobs; the short one is done after 193 s; none that counts if both were a tail."""
    spec = load_run("two-jobs")
    assert counted(run_simulation(spec)) == (2, 0)
    cut = run_simulation(msgspec.structs.replace(spec, until_ms=200_000))
    completed = int(cut.jobs.completed.sum())
    assert completed == 1
    assert counted(cut) == (1, 1)
    tail = dataclasses.replace(cut.jobs, name=tuple(f"{TAIL}{job}" for job in cut.jobs.job))
    assert counted(msgspec.structs.replace(cut, jobs=tail)) == (0, 0)


def counted(result: RunResult) -> tuple[int, int]:
    found = steady_state_of(result)
    return found.jobs, found.incomplete
