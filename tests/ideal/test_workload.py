"""The report's reader of SWIM lines, its errors, and the released simulator's figures."""

from typing import Any

import numpy as np
import pytest

from callboard.experiments.ideal_study.swim import REPORT_FILES, Trace, load_trace
from callboard.scheduler.ideal import simulate
from callboard.scheduler.ideal.report_workload import estimates, normals, sizes_from_bytes
from tests.support.traces import trace

# Four jobs: submitted at 10 .. 50, bytes read, shuffled, written.
LINES = ([10, 20, 30, 50], [100, 0, 40, 0], [0, 50, 10, 0], [0, 0, 10, 40])


def test_the_report_fits_its_sizes_to_the_load() -> None:
    """Report §2.2: the sizes sum to l·(te - t0) = 0.5·40, and a shuffled byte costs d/n."""
    found = sizes_from_bytes(*LINES, load=0.5, disk_over_network=3)
    assert found.sum() == pytest.approx(0.5 * 40)
    assert found / found[0] == pytest.approx([1, 1.5, 0.8, 0.4])


def test_a_larger_ratio_makes_shuffle_dearer() -> None:
    cheap = sizes_from_bytes(*LINES, disk_over_network=1)
    dear = sizes_from_bytes(*LINES, disk_over_network=8)
    assert dear[1] / dear[0] == pytest.approx(8 * cheap[1] / cheap[0])


def test_schedsim_counts_from_zero_and_adds_one_to_the_ratio() -> None:
    """The released simulator: input + (1 + d/n)·shuffle + output, over the last submission."""
    found = sizes_from_bytes(*LINES, load=0.5, disk_over_network=3, model="schedsim")
    assert found.sum() == pytest.approx(0.5 * 50)
    assert found / found[0] == pytest.approx([1, 2, 0.9, 0.4])


@pytest.mark.parametrize(
    ("lines", "more", "complaint"),
    [
        (LINES, {"load": 0}, "load: 0 is not"),
        (LINES, {"load": float("nan")}, "load: nan is not"),
        (LINES, {"disk_over_network": -1}, "d/n: -1 is not"),
        (LINES, {"model": "swim"}, "no size model 'swim'"),
        (([], [], [], []), {}, "no jobs"),
        (([5, 5], [1, 1], [0, 0], [0, 0]), {}, "submitted at one instant"),
        (([5, 6], [0, 0], [0, 0], [0, 0]), {}, "no job reads"),
    ],
)
def test_bad_workloads_are_named(lines: Any, more: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        sizes_from_bytes(*lines, **more)


class TestErrors:
    """Report §2.1: log-normal, median 1; addressed by (seed, run, job) and by nothing else."""

    def test_sigma_scales_one_normal(self) -> None:
        true = np.full(1000, 7.0)
        small, large = (np.log(estimates(true, sigma, 1, 0) / true) for sigma in (0.5, 2.0))
        assert large == pytest.approx(4 * small)

    def test_they_are_log_normal(self) -> None:
        """40,000 draws: mean and variance of the logarithm within 4 standard errors."""
        n = 40_000
        logs = np.log(estimates(np.ones(n), 0.5, 3, 8)) / 0.5
        assert abs(logs.mean()) < 4 / np.sqrt(n)
        assert abs(logs.var() - 1) < 4 * np.sqrt(2 / n)

    def test_no_error_is_no_error(self) -> None:
        assert estimates(np.array([3.0, 0.1]), 0, 1, 1).tolist() == [3.0, 0.1]

    def test_runs_and_seeds_differ_and_a_longer_row_begins_alike(self) -> None:
        assert normals(1, 2, 50).tolist() == normals(1, 2, 80)[:50].tolist()
        rows = [normals(seed, run, 8) for seed in (0, 1) for run in (0, 1)]
        assert len({row.tobytes() for row in rows}) == 4

    @pytest.mark.parametrize("sigma", [-0.1, float("inf"), float("nan"), 1000.0])
    def test_bad_sigma(self, sigma: float) -> None:
        with pytest.raises(ValueError, match="sigma"):
            estimates(np.ones(50), sigma, 0, 0)


@pytest.fixture(scope="module")
def fb09() -> Trace:
    return load_trace(trace(REPORT_FILES["FB09-0"]))


@pytest.mark.parametrize(
    ("discipline", "mean", "tolerance"),
    [
        ("fifo", 11135.459237, 1e-6),
        ("ps", 75.171077, 1e-6),
        ("las", 49.089941, 1e-4),
        ("srpt", 32.486367, 1e-6),
        ("fsp+fifo", 32.843027, 1e-6),
        ("fsp+ps", 32.843027, 1e-6),
        ("fsp+las", 32.843027, 1e-6),
        ("psbs", 32.843027, 1e-6),
    ],
)
def test_the_released_simulators_figures(
    fb09: Trace, discipline: str, mean: float, tolerance: float
) -> None:
    """FB-2009_0, the released reader, load 0.9, d/n 4, no error: mean sojourns in seconds."""
    size = sizes_from_bytes(*fb09[2:], load=0.9, disk_over_network=4, model="schedsim")
    sojourns = simulate(discipline, fb09.submit_s, size) - fb09.submit_s
    assert len(sojourns) == 5894
    assert sojourns.mean() == pytest.approx(mean, rel=tolerance)
