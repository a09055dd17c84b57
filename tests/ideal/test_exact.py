"""The disciplines in exact arithmetic, against their definitions and the theorems about them.

The loops under test are the very functions that are compiled for floats.  F2, F10, F11 and F16
are invariants of a single divisible server: workload invariance; FSP's dominance over PS
(Friedman and Henderson 2003) and PSBS's over GPS; SRPT's optimality (Schrage 1968); and what
survives estimation errors.
"""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.ideal import DISCIPLINES, exact
from tests.ideal.cases import EXAMPLES, Small, quarters, small_cases
from tests.ideal.reference import completions

SIZE_BASED = ("srpt", "srpt+ps", "fsp+fifo", "fsp+ps", "fsp+las", "psbs")
FSP = ("fsp+fifo", "fsp+ps", "fsp+las")


def total(done: list[Fraction | float]) -> Fraction:
    return sum((Fraction(at) for at in done), Fraction(0))


@pytest.mark.soak
@settings(EXAMPLES, max_examples=200)
@given(case=small_cases())
def test_definition_with_errors(case: Small) -> None:
    """Report §2.3 and the issue's words for late jobs: equal, to the last digit, to a scan."""
    for discipline in DISCIPLINES:
        assert exact(discipline, *case).done == completions(discipline, *case), discipline


@EXAMPLES
@given(case=small_cases(), at=quarters(0, 30))
def test_remaining_work_is_the_same_under_all_disciplines(case: Small, at: Fraction) -> None:
    """F2: V(t) depends on the arrivals only, whatever the estimates and weights."""
    work = {sum(exact(name, *case, until=at).left) for name in DISCIPLINES}
    assert len(work) == 1


@EXAMPLES
@given(case=small_cases(), at=quarters(0, 30))
def test_work_left_and_completions_agree(case: Small, at: Fraction) -> None:
    """A run cut short says of each job what the whole run says: done by then, or work left."""
    for name in DISCIPLINES:
        whole, part = exact(name, *case), exact(name, *case, until=at)
        for done, done_by, left, size in zip(
            whole.done, part.done, part.left, case.sizes, strict=True
        ):
            assert done_by == (done if done <= at else float("inf"))
            assert 0 <= left <= size
            assert left == 0 or done > at


@EXAMPLES
@given(case=small_cases())
def test_fsp_is_never_later_than_ps(case: Small) -> None:
    """F10: exact sizes, one divisible server: C_FSP <= C_PS for every job."""
    fair = exact("ps", case.arrivals, case.sizes).done
    for name in FSP:
        done = exact(name, case.arrivals, case.sizes).done
        assert all(mine <= theirs for mine, theirs in zip(done, fair, strict=True))


@EXAMPLES
@given(case=small_cases())
def test_psbs_is_never_later_than_gps(case: Small) -> None:
    """F10, weighted."""
    fair = exact("gps", case.arrivals, case.sizes, weights=case.weights).done
    done = exact("psbs", case.arrivals, case.sizes, weights=case.weights).done
    assert all(mine <= theirs for mine, theirs in zip(done, fair, strict=True))


@EXAMPLES
@given(case=small_cases())
def test_equal_weights_and_exact_sizes_make_psbs_fsp(case: Small) -> None:
    """PSBS is FSP when nobody is late and nobody weighs more; and FSP+PS even when some are."""
    heavy = [Fraction(3)] * len(case.sizes)
    plain = exact("psbs", case.arrivals, case.sizes, weights=heavy).done
    for name in FSP:
        assert plain == exact(name, case.arrivals, case.sizes).done
    wrong = exact("psbs", case.arrivals, case.sizes, case.estimates, heavy).done
    assert wrong == exact("fsp+ps", case.arrivals, case.sizes, case.estimates).done


@EXAMPLES
@given(case=small_cases())
def test_equal_weights_make_gps_ps(case: Small) -> None:
    weights = [Fraction(2)] * len(case.sizes)
    assert (
        exact("gps", case.arrivals, case.sizes, weights=weights).done
        == exact("ps", case.arrivals, case.sizes).done
    )


@EXAMPLES
@given(case=small_cases())
def test_srpt_has_the_least_mean(case: Small) -> None:
    """F11: with exact sizes no discipline, however weighted, has a smaller sum of sojourns."""
    best = total(exact("srpt", case.arrivals, case.sizes).done)
    for name in DISCIPLINES:
        assert best <= total(exact(name, case.arrivals, case.sizes, weights=case.weights).done)


@EXAMPLES
@given(case=small_cases())
def test_srpt_and_srpt_ps_are_one_without_errors(case: Small) -> None:
    """A job's estimate is used up when the job is done, so nobody is ever late."""
    assert (
        exact("srpt", case.arrivals, case.sizes).done
        == exact("srpt+ps", case.arrivals, case.sizes).done
    )


def least_sum_of_completions(arrivals: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """The optimum over all schedules, by trying them: a unit of work a unit of time.

    With whole arrivals and sizes, swapping units shows that some optimal preemptive schedule
    changes its mind at whole instants only.
    """

    @cache
    def best(now: int, left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        ready = [j for j, work in enumerate(left) if work and arrivals[j] <= now]
        if not ready:
            return best(now + 1, left)
        found = []
        for j in ready:
            rest = (*left[:j], left[j] - 1, *left[j + 1 :])
            found.append((now + 1 if rest[j] == 0 else 0) + best(now + 1, rest))
        return min(found)

    return best(0, sizes)


@EXAMPLES
@given(
    jobs=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=5).map(
        sorted
    )
)
def test_srpt_is_optimal_by_brute_force(jobs: list[tuple[int, int]]) -> None:
    """F11 (Schrage 1968), against every schedule there is."""
    arrivals, sizes = zip(*jobs, strict=True)
    assert total(exact("srpt", arrivals, sizes).done) == least_sum_of_completions(arrivals, sizes)


@EXAMPLES
@given(case=small_cases(), which=st.integers(0, 6), more=quarters(0, 8))
def test_overestimating_one_job(case: Small, which: int, more: Fraction) -> None:
    """F16: it never speeds that job up, and makes nobody late, so how late jobs share is idle."""
    job = which % len(case.sizes)
    estimates = list(case.sizes)
    estimates[job] += more
    runs = [exact(name, case.arrivals, case.sizes, estimates).done for name in FSP]
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][job] >= exact("fsp+ps", case.arrivals, case.sizes).done[job]


@EXAMPLES
@given(case=small_cases(), data=st.data())
def test_the_order_of_the_rows_only_breaks_ties(case: Small, data: st.DataObject) -> None:
    """Unsorted input is fine: shuffled rows give shuffled completions.

    Arrivals are pulled apart first, since among equal arrivals the index decides.
    """
    n = len(case.sizes)
    arrivals = [at + Fraction(j, 100) for j, at in enumerate(case.arrivals)]
    order = data.draw(st.permutations(range(n)))
    for name in DISCIPLINES:
        rows = Small(arrivals, case.sizes, case.estimates, case.weights)
        done = exact(name, *rows).done
        shuffled = exact(name, *Small(*([row[j] for j in order] for row in rows))).done
        assert shuffled == [done[j] for j in order]


@EXAMPLES
@given(case=small_cases(), speed=st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(5, 2)]))
def test_a_faster_machine_is_smaller_sizes(case: Small, speed: Fraction) -> None:
    """The virtual machine has the real one's speed."""
    sizes = [size / speed for size in case.sizes]
    estimates = [estimate / speed for estimate in case.estimates]
    for name in DISCIPLINES:
        assert (
            exact(name, *case, speed=speed).done
            == exact(name, case.arrivals, sizes, estimates, case.weights).done
        )


@EXAMPLES
@given(case=small_cases(), which=st.integers(0, 6))
def test_what_comes_later_changes_nothing_before(case: Small, which: int) -> None:
    """Causality: without the jobs after the k-th, all is as it was until the next arrival."""
    k = which % len(case.sizes)
    if k + 1 == len(case.sizes):
        return
    next_arrival = case.arrivals[k + 1]
    for name in DISCIPLINES:
        all_jobs = exact(name, *case).done
        first_jobs = exact(name, *Small(*(row[: k + 1] for row in case))).done
        for mine, theirs in zip(first_jobs, all_jobs, strict=False):
            assert mine == theirs or min(mine, theirs) >= next_arrival
