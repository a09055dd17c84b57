"""`simulate`: worked examples, bad input, and floats against exact arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from callboard.scheduler.ideal import DISCIPLINES, exact, remaining, simulate
from callboard.scheduler.numba_cache import numba_is_installed

PATHS: list[Any] = [
    "plain",
    pytest.param(
        "compiled",
        marks=pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed"),
    ),
]


def rounded(*args: Any, **more: Any) -> list[float]:
    return [round(float(at), 9) for at in simulate(*args, **more)]


@pytest.mark.parametrize("path", PATHS)
class TestWorkedByHand:
    """Completions that can be checked on paper."""

    def test_two_jobs_of_sizes_1_and_10(self, path: Any) -> None:
        """HFSP paper, figure 5: mean 6 in the right order, 6.5 under PS; 10.5 inverted.

        Inverted, the machine believes that the job of 10 takes 0.5, serves it first, and the
        other waits until 11.  Not so under FSP+PS: virtually they are done at 1.5 and 1; from
        1.5, when the big one has 8.5 left, both are late and share, and the small one is done
        at 3.5.
        """
        arrivals, sizes, inverted = [0, 0], [1, 10], [1, 0.5]
        assert rounded("fsp+ps", arrivals, sizes, path=path) == [1, 11]
        assert rounded("ps", arrivals, sizes, path=path) == [2, 11]
        assert rounded("srpt", arrivals, sizes, inverted, path=path) == [11, 10]
        assert rounded("fsp+fifo", arrivals, sizes, inverted, path=path) == [11, 10]
        assert rounded("fsp+ps", arrivals, sizes, inverted, path=path) == [3.5, 11]

    def test_late_jobs_share(self, path: Any) -> None:
        """Sizes 4 and 2, estimates 1 and 1.5.

        The virtual machine is done with them at 2 and 2.5.  The first is served alone until 2,
        late from then on and alone until 2.5: 1.5 left.  Then the other, never served, is late
        as well.  FIFO: the first until 4, the second until 6.  PS: both at half speed, the first
        done at 5.5 and the second, with half a second left, at 6.  LAS: the second alone until it
        is done at 4.5, since the first has had 2.5 already.
        """
        late = ([0, 0], [4, 2], [1, 1.5])
        assert rounded("fsp+fifo", *late, path=path) == [4, 6]
        assert rounded("fsp+ps", *late, path=path) == [5.5, 6]
        assert rounded("psbs", *late, path=path) == [5.5, 6]
        assert rounded("fsp+las", *late, path=path) == [6, 4.5]

    def test_a_late_job_that_has_had_more_waits_for_the_level(self, path: Any) -> None:
        """FSP+LAS; sizes 5, 4 at 0 and 1 at 1; estimates 1.5, 2 and 0.

        The third is late at once, alone, and done at 2.  The virtual machine has 1 and 1.5 left
        at 1, so the first is late at 3 with 3 left, having had 2, and goes on alone; the second,
        never served, is late at 3.5.  It is served until it too has had 2.5, at 6; then both
        share, and with 1.5 and 2.5 left are done at 9 and 10.
        """
        jobs = ([0, 0, 1], [5, 4, 1], [1.5, 2, 0])
        assert rounded("fsp+las", *jobs, path=path) == [10, 9, 2]

    def test_psbs_shares_by_weight_among_the_late(self, path: Any) -> None:
        """Sizes 4 and 4, estimates 1 and 3, weights 1 and 3.

        Ageing at a quarter and three quarters: both virtually done at 4, the first in line by
        its index and really done then.  With estimates 0.5 and 1.5 both are late at 2, when the
        first has 2 left; at a quarter and three quarters of the machine the second, with 4 left,
        is done after 16/3 seconds at 22/3, when the first has 2/3 left and is done at 8.
        """
        assert rounded("psbs", [0, 0], [4, 4], [1, 3], [1, 3], path=path) == [4, 8]
        late = simulate("psbs", [0, 0], [4, 4], [0.5, 1.5], [1, 3], path=path)
        assert late == pytest.approx([8, 22 / 3])

    def test_srpt_lets_an_underestimated_job_go_on(self, path: Any) -> None:
        """Estimate 1 of size 5: below zero from 1 on, so the job of 0.5 at 2 waits until 5.

        SRPT+PS makes it late at 1: from 2 on the two share, the small one is done at 3.
        """
        jobs = ([0, 2], [5, 0.5], [1, 0.5])
        assert rounded("srpt", *jobs, path=path) == [5, 5.5]
        assert rounded("srpt+ps", *jobs, path=path) == [5.5, 3]

    def test_virtual_sizes(self, path: Any) -> None:
        """HFSP paper, figure 3: sizes 3 and 4 at 0; at 3 they are 1.5 and 2.5, a third has 3."""
        assert remaining("ps", 3, [0, 0, 3], [3, 4, 3], path=path).tolist() == [1.5, 2.5, 3]

    def test_las_serves_the_newcomer(self, path: Any) -> None:
        """Size 3 at 0, size 2 at 1: alone until it too has had 1, then both share to the end."""
        assert rounded("las", [0, 1], [3, 2], path=path) == [5, 4]

    def test_speed(self, path: Any) -> None:
        assert rounded("fifo", [0, 0], [4, 2], speed=2, path=path) == [2, 3]
        assert remaining("fifo", 1, [0, 0], [4, 2], speed=2, path=path).tolist() == [2, 2]

    def test_jobs_of_no_size_and_no_estimate(self, path: Any) -> None:
        for name in DISCIPLINES:
            assert rounded(name, [1, 1], [0, 2], [0, 0], path=path) == [1, 3]

    def test_rows_in_any_order(self, path: Any) -> None:
        assert rounded("fifo", [5, 0], [1, 2], path=path) == [6, 2]

    def test_no_jobs(self, path: Any) -> None:
        for name in DISCIPLINES:
            assert simulate(name, [], [], path=path).shape == (0,)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"arrivals": [0, -1]}, "arrivals: entry 1 is -1"),
        ({"sizes": [1, float("nan")]}, "sizes: entry 1 is nan"),
        ({"sizes": [float("inf"), 1]}, "sizes: entry 0 is inf"),
        ({"sizes": [1]}, "sizes: 1 entries for 2 arrivals"),
        ({"sizes": [[1, 2]]}, "sizes: 2 dimensions"),
        ({"sizes": ["long", 1]}, "sizes: not a row of numbers"),
        ({"sizes": [1e308, 1e308]}, "sizes: their sum is too large"),
        ({"estimates": [-1, 1]}, "estimates: entry 0 is -1"),
        ({"estimates": [1, 1, 1]}, "estimates: 3 entries for 2 arrivals"),
        ({"weights": [1, -1]}, "weights: entry 1 is -1"),
        ({"weights": [0, 1]}, "weights: job 0 has weight 0"),
        ({"speed": 0}, "speed: 0 is not"),
        ({"speed": float("nan")}, "speed: nan is not"),
        ({"speed": -1.0}, "speed: -1.0 is not"),
        ({"discipline": "ljf"}, "no discipline 'ljf'; there are fifo, ps"),
        ({"path": "fast"}, "no path 'fast'"),
    ],
)
def test_bad_input_is_named(more: dict[str, Any], complaint: str) -> None:
    good = {"discipline": "psbs", "arrivals": [0, 0], "sizes": [1, 2]}
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(")):
        simulate(**(good | more))


def test_what_a_discipline_does_not_use_is_ignored() -> None:
    plain = simulate("las", [0, 1], [3, 2])
    assert simulate("las", [0, 1], [3, 2], estimates=[9, 1], weights=[1, 7]).tolist() == list(plain)
    assert simulate("fsp+ps", [0, 0], [3, 2], weights=[9, 1]).tolist() == [5, 2]


class Workload:
    """Many jobs in no order, heavy tailed and badly estimated."""

    def __init__(self, jobs: int, load: float, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.sizes = np.exp(1.5 * draw.standard_normal(jobs))
        self.arrivals = draw.uniform(0, self.sizes.sum() / load, jobs)
        self.estimates = self.sizes * np.exp(draw.standard_normal(jobs))
        self.weights = draw.choice([0.5, 1.0, 2.0, 4.0], jobs)

    def run(self, name: str, path: Any = "auto") -> Any:
        return simulate(
            name, self.arrivals, self.sizes, self.estimates, self.weights, 1.25, path=path
        )


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
@pytest.mark.parametrize("load", [0.9, 2.0])
def test_compiled_and_plain_agree(discipline: str, load: float) -> None:
    """To 1e-9, as the issue wants; the two do the same operations, so in fact to the bit."""
    work = Workload(4000, load, seed=5)
    plain, compiled = work.run(discipline, "plain"), work.run(discipline, "compiled")
    assert compiled == pytest.approx(plain, rel=1e-9, abs=0)
    at = float(np.median(work.arrivals))
    rows = (work.arrivals, work.sizes, work.estimates, work.weights)
    assert remaining(discipline, at, *rows, path="compiled") == pytest.approx(
        remaining(discipline, at, *rows, path="plain"), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_floats_agree_with_exact_arithmetic(discipline: str) -> None:
    """The same doubles, run as Fractions: rounding is all that parts them."""
    work = Workload(60, 0.9, seed=11)
    rows = [
        [Fraction(value) for value in row.tolist()]
        for row in (work.arrivals, work.sizes, work.estimates, work.weights)
    ]
    done = exact(discipline, rows[0], rows[1], rows[2], rows[3], Fraction(5, 4)).done
    assert work.run(discipline) == pytest.approx([float(at) for at in done], rel=1e-11)


@pytest.mark.parametrize("discipline", ["gps", "psbs"])
def test_a_heavy_job_takes_nobodys_weight_along(discipline: str) -> None:
    """Weights 1e17 times apart: beside the heavy ones the light one's weight rounds to nothing."""
    rows = ([0, 0, 1], [3, 1, 1], [3, 0.5, 0.5], [1e-9, 1e8, 1e8])
    arrivals, sizes, estimates, weights = ([Fraction(value) for value in row] for row in rows)
    done = exact(discipline, arrivals, sizes, estimates, weights).done
    assert simulate(discipline, *rows) == pytest.approx([float(at) for at in done], rel=1e-9)


class TestTheoremsOnManyJobs:
    """F2, F10 and F11 in floats, on 20,000 jobs; tolerances are relative to a completion."""

    jobs = Workload(20_000, 0.95, seed=3)

    def test_fsp_dominates_ps_and_psbs_gps(self) -> None:
        """F10, for every job."""
        rows = (self.jobs.arrivals, self.jobs.sizes)
        fair = simulate("ps", *rows)
        for name in ("fsp+fifo", "fsp+ps", "fsp+las"):
            assert (simulate(name, *rows) <= fair * (1 + 1e-12)).all()
        weighted = simulate("gps", *rows, weights=self.jobs.weights)
        assert (simulate("psbs", *rows, weights=self.jobs.weights) <= weighted * (1 + 1e-12)).all()

    def test_srpt_has_the_least_mean(self) -> None:
        """F11."""
        rows = (self.jobs.arrivals, self.jobs.sizes)
        best = simulate("srpt", *rows).mean()
        assert all(best <= simulate(name, *rows).mean() for name in DISCIPLINES)

    def test_remaining_work_is_the_same(self) -> None:
        """F2, with wrong estimates, at twenty instants."""
        rows = (self.jobs.arrivals, self.jobs.sizes, self.jobs.estimates, self.jobs.weights)
        for at in np.linspace(0, self.jobs.arrivals.max(), 20):
            work = [remaining(name, at, *rows).sum() for name in DISCIPLINES]
            assert work == pytest.approx([work[0]] * len(work), rel=1e-9)

    def test_every_busy_period_ends_alike(self) -> None:
        """F2 at the end of the run, and no work is lost: the last completion is the same."""
        last = [self.jobs.run(name).max() for name in DISCIPLINES]
        assert last == pytest.approx([last[0]] * len(last), rel=1e-12)
