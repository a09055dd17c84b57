"""Gittins' ranks, the mean by formula of any ranks by age, and the machine that goes by them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.experiments.ideal_study.law_systems import (
    LawRun,
    LawSystem,
    ServedBy,
    play_law,
)
from callboard.experiments.ideal_study.law_verdicts import LawVerdict, law_lines
from callboard.experiments.many.statistics import interval
from callboard.scheduler.ideal import exact_by_age, simulate_by_age
from callboard.scheduler.ideal.age_cells import cells_of, mean_by_ranks
from callboard.scheduler.ideal.age_loop import AgeRanks
from callboard.scheduler.ideal.gittins_index import gittins_mean, gittins_ranks
from callboard.scheduler.ideal.law_names import law_named
from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.numba_cache import numba_is_installed
from tests.ideal.cases import EXAMPLES, Small, small_cases

FALLING = (
    "weibull(shape=0.5)",
    "hyperexponential(first_rate=1.9,second_rate=.1,first_portion=.95)",
)
"""Laws whose hazard rate falls."""

RISING = ("weibull(shape=2)", "uniform(low=0, high=2)", "uniform(low=1, high=2)")

NEITHER = ("lognormal(sigma=1)", "bounded-pareto(alpha=1.5, ratio=1000)")

compiled = pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")


@pytest.mark.parametrize("law", FALLING)
@pytest.mark.parametrize("load", [0.5, 0.9])
def test_where_the_hazard_rate_falls_it_is_fb(law: str, load: float) -> None:
    """Up to the width of a cell: its mean is FB's within 3 parts in 10,000."""
    server = SingleServer(law_named(law), load)
    ranks = gittins_ranks(server.law).ranks
    assert (np.diff(ranks) > 0).all()
    assert gittins_mean(server) == pytest.approx(server.fb(), rel=3e-4)
    assert server.fb() < 0.95 * min(server.fcfs(), server.ps())


@pytest.mark.parametrize("law", RISING)
def test_where_it_rises_each_job_goes_to_its_end(law: str) -> None:
    server = SingleServer(law_named(law), 0.8)
    ranks = gittins_ranks(server.law).ranks
    assert (np.diff(ranks) < 0).all()
    assert ranks[0] == pytest.approx(server.moment(1))  # it pays to go on to the end
    assert gittins_mean(server) == pytest.approx(server.fcfs(), rel=1e-9)


def test_exponential_jobs_are_alike_at_any_age() -> None:
    assert gittins_ranks(law_named("exponential(mean=3)")).ranks == pytest.approx([3])


def test_the_index_of_two_kinds_of_jobs_is_that_of_their_stops() -> None:
    """Half the jobs take 1 to 1.001, half 10 to 10.01.  At 0 the best is to try for the short ones:
    a second each for half the jobs, 2 a job that ends; of one older than these 9 are left.
    """
    low, high = (law_named(f"uniform(low={x}, high={1.001 * x})") for x in (1, 10))
    both = low._replace(
        density=lambda x: (
            np.where(x < 5, low.density(x) * (x < 1.001), 0) / 2
            + np.where(x > 5, high.density(x) * (x > 10), 0) / 2
        ),
        highest=high.highest,
    )
    ages, ranks = gittins_ranks(both, width=0.01)
    at = dict(zip((0.0, 5.0), np.searchsorted(ages, [0.0, 5.0], "right") - 1, strict=True))
    assert ranks[at[0.0]] == pytest.approx(2, rel=0.02)
    assert ranks[at[5.0]] == pytest.approx(5, rel=0.02)


@pytest.mark.parametrize("law", [*FALLING, *RISING, *NEITHER])
def test_no_discipline_that_sees_no_size_is_better(law: str) -> None:
    """But for the width of a cell; and SRPT, which sees sizes, is."""
    server = SingleServer(law_named(law), 0.8)
    blind = min(server.fcfs(), server.ps(), server.fb())
    assert server.srpt() < gittins_mean(server) < 1.0003 * blind


def test_between_falling_and_rising_it_beats_both() -> None:
    server = SingleServer(law_named(NEITHER[1]), 0.9)
    assert gittins_mean(server) < 0.95 * min(server.fcfs(), server.fb())


@pytest.mark.soak
@compiled
@pytest.mark.parametrize("law", [NEITHER[0], "bounded-pareto(alpha=2, ratio=30)"])
def test_the_machine_has_the_mean_of_the_formula(law: str) -> None:
    """Within 1 % by two one-sided tests, where ranks rise and fall."""
    system, jobs = LawSystem(law, 0.4), 40_000
    served = (ServedBy("gittins"), ServedBy("las"))
    played = [play_law(LawRun(system, served, jobs, 3, run)) for run in range(12)]
    verdicts = [line.verdict for line in law_lines(system, served, played, 12 * jobs)]
    assert verdicts == [LawVerdict.EQUAL] * 2


@compiled
def test_the_formula_holds_for_ranks_that_come_and_go() -> None:
    """Jobs that fall back behind others twice, and are first again in between; equal ranks too."""
    server = SingleServer(law_named("uniform(low=0, high=3)"), 0.6)
    fine = cells_of(server.law, 0.1)
    marks = np.searchsorted(fine.begin, [0.3, 0.6, 1.0, 1.6, 2.5])
    first = np.isin(np.arange(len(fine.begin)), [0, *marks])
    cells, ranks = fine.coarsened(first), np.array([1.0, 3.0, 0.5, 3.0, 1.0, 2.0])
    rng, means = np.random.default_rng(5), []
    for _ in range(20):
        arrivals = np.cumsum(rng.standard_exponential(60_000) / server.rate)
        sizes = server.law.draw(rng, 60_000)
        done = simulate_by_age(AgeRanks(cells.begin.tolist(), ranks.tolist()), arrivals, sizes)
        means.append(float((done - arrivals).mean()))
    found, exact = interval(means), mean_by_ranks(server.rate, cells, ranks)
    assert found.half is not None
    assert abs(found.mean - exact) + found.half < 0.01 * exact
    assert exact > 1.05 * server.fcfs()


def by_quarters(ranks: AgeRanks, case: Small) -> list[Fraction]:
    """When each job is done, by trying quarter after quarter who has the least rank; all that can
    happen does so at whole quarters.
    """
    left, done = list(case.sizes), [Fraction(0)] * len(case.sizes)
    now, open_ = Fraction(0), set(range(len(left)))
    while open_:
        for job in sorted(open_):
            if case.arrivals[job] <= now and not left[job]:
                done[job] = now
                open_.discard(job)
        there = [job for job in open_ if case.arrivals[job] <= now]
        if there:
            ages = {job: case.sizes[job] - left[job] for job in there}
            cell = {job: sum(age >= each for each in ranks.ages) - 1 for job, age in ages.items()}
            left[min(there, key=lambda job: (ranks.ranks[cell[job]], job))] -= Fraction(1, 4)
        now += Fraction(1, 4)
    return done


@EXAMPLES
@given(
    case=small_cases(),
    ranks=st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_the_loop_is_its_definition(case: Small, ranks: list[int]) -> None:
    """To the last digit, with equal ranks, ties and sizes of 0; a job of no size is done when it is
    first, which the scan sees when it comes.
    """
    row = AgeRanks([age / 2 for age in range(len(ranks))], ranks)
    some = case._replace(sizes=[max(size, Fraction(1, 4)) for size in case.sizes])
    assert exact_by_age(row, some.arrivals, some.sizes).done == by_quarters(row, some)


@pytest.mark.parametrize("ages", [[], [1.0], [0.0, 2.0, 2.0]])
def test_ages_that_are_none_are_refused(ages: list[float]) -> None:
    with pytest.raises(ValueError, match="ages: they have to begin at 0 and to grow"):
        simulate_by_age(AgeRanks(ages, [1.0] * len(ages)), [0], [1])
    with pytest.raises(ValueError, match="ranks: 1 entries"):
        simulate_by_age(AgeRanks([0.0, 1.0], [1.0]), [0], [1])
