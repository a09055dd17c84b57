"""The mean response time of a system that goes on and on, and its interval, from one long run.

The first jobs find an empty cluster: they are left out as warm-up, as many as the rule MSER-5 says
(White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69,
1997) of the number of jobs that each finds there.  Of the response times it would mostly say that
the first giant is warm-up.

Neighbouring jobs wait for the same others, so they are no independent values.  Means of long enough
batches of jobs, in order of submission, nearly are, and have Student's interval.  Whether they are
long enough is seen as Law and Carson see it ("A sequential procedure for determining the length of
a steady-state simulation", Operations Research 27, 1979): of 400 short batches neighbours may have
a correlation of 0.4, since then of much longer ones they hardly have any.  These are twenty here
(Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30, 1982:
between ten and thirty), which takes less from their variance than Law and Carson's forty.

A cluster that is given more than it can do has no steady state.  Response times tell that late,
the jobs that each job finds there early: they get ever more, by Mann's test of a trend
("Nonparametric tests against trend", Econometrica 13, 1945) on the means of twenty batches.
"""

from math import sqrt
from statistics import NormalDist
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.statistics import Interval, interval
from callboard.experiments.run.run_result import RunResult
from callboard.journal.figures.tables import Ints
from callboard.journal.run_records import NEVER

_Floats: TypeAlias = NDArray[np.float64]

SHORT_BATCHES = 400
LONG_BATCHES = 20
CORRELATION_MAX = 0.4
PILE_UP_ERROR = 0.01

_MSER = 5
"""MSER looks at means of that many jobs."""


class SteadyState(msgspec.Struct, frozen=True, kw_only=True):
    """What one run tells of the mean response time in steady state, in seconds.

    `response` is None where `why_not` says why nothing can be told.  Of the `jobs` that completed
    the first `warm_up` are left out, the others are `batches` of `batch_jobs` each; `incomplete`
    ones are not looked at.  `correlation` is that of neighbouring short batches, None where it was
    not looked at.
    """

    jobs: int
    incomplete: int = 0
    warm_up: int = 0
    batches: int = 0
    batch_jobs: int = 0
    correlation: float | None = None
    response: Interval | None = None
    why_not: str = ""


def steady_state_of(result: RunResult) -> SteadyState:
    """Of a run's completed jobs in order of submission; a workload's tail does not count."""
    jobs, counted = result.jobs, np.isin(result.jobs.job, result.counted_jobs)
    mine = np.flatnonzero(jobs.completed & counted)
    ordered = mine[np.argsort(jobs.submitted_ms[mine], kind="stable")]
    present = jobs_present(jobs.submitted_ms, jobs.finished_ms, jobs.submitted_ms[ordered])
    found = steady_state(jobs.response_ms[ordered] / 1000, present)
    return msgspec.structs.replace(found, incomplete=int(counted.sum()) - len(mine))


def steady_state(responses: _Floats, present: _Floats) -> SteadyState:
    """Of response times in order of submission, and how many jobs were there at each submission.
    MissingExtraError without SciPy.
    """
    jobs, settled = len(responses), warm_up_of(present)
    if jobs < SHORT_BATCHES:
        return SteadyState(jobs=jobs, why_not=f"at least {SHORT_BATCHES} are wanted")
    warm_up = settled or 0
    kept = responses[warm_up:]
    correlation = neighbours_correlation(batch_means(kept, min(SHORT_BATCHES, len(kept))))
    why_not = (
        "they pile up: the cluster is overloaded, or the run too short"
        if jobs_pile_up(present[warm_up:])
        else "the jobs that each finds there change to the end"
        if settled is None
        else f"at least {SHORT_BATCHES} are wanted after the warm-up"
        if len(kept) < SHORT_BATCHES
        else f"neighbours wait together (correlation {correlation:.2f}): more are wanted"
        if correlation > CORRELATION_MAX
        else ""
    )
    if why_not:
        return SteadyState(jobs=jobs, warm_up=warm_up, correlation=correlation, why_not=why_not)
    each = len(kept) // LONG_BATCHES
    return SteadyState(
        jobs=jobs,
        warm_up=jobs - each * LONG_BATCHES,
        batches=LONG_BATCHES,
        batch_jobs=each,
        correlation=correlation,
        response=interval(batch_means(kept, LONG_BATCHES).tolist()),
    )


def jobs_present(submitted: Ints, finished: Ints, at: Ints) -> _Floats:
    """How many jobs had been submitted by each of these moments and had not finished."""
    ends = np.sort(finished[finished != NEVER])
    begun = np.searchsorted(np.sort(submitted), at, side="right")
    return np.asarray(begun - np.searchsorted(ends, at, side="right"), np.float64)


def jobs_pile_up(present: _Floats) -> bool:
    """Whether each job finds more others than those before it, by a test that errs in 1 %: among
    the pairs of means that is so in more of them than chance gives (normally, by its variance).
    """
    means, n = batch_means(present, LONG_BATCHES), LONG_BATCHES
    more = float(np.sign(np.triu(means[None, :] - means[:, None])).sum())
    deviation = sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return more > NormalDist().inv_cdf(1 - PILE_UP_ERROR) * deviation


def warm_up_of(values: _Floats) -> int | None:
    """How many of the first values MSER-5 leaves out: so many that the standard error of the mean
    of the others, were they independent, is least.  None where that is half of them or more: then
    they have not settled.
    """
    blocks = len(values) // _MSER
    means = values[: blocks * _MSER].reshape(blocks, _MSER).mean(axis=1)
    left, above = np.arange(blocks, 0, -1), means - means[:1]
    sums, squares = (np.cumsum(above[::-1] ** power)[::-1] for power in (1, 2))
    errors = (squares - sums**2 / left) / left**2
    cut = int(np.argmin(errors[: blocks // 2 + 1])) if blocks else 0
    return cut * _MSER if cut < blocks // 2 else None


def batch_means(values: _Floats, batches: int) -> _Floats:
    """The means of that many batches of equal length; of the first values as many are left out as
    are over.
    """
    each = len(values) // batches
    return np.asarray(values[len(values) - batches * each :].reshape(batches, each).mean(axis=1))


def neighbours_correlation(values: _Floats) -> float:
    """The correlation of neighbours, less its bias by the jackknife: twice that of all less the
    mean of those of the halves (Law and Carson).  Equal values have none.
    """
    half = len(values) // 2
    of_halves = (_lag_one_correlation(values[:half]) + _lag_one_correlation(values[half:])) / 2
    return float(np.clip(2 * _lag_one_correlation(values) - of_halves, -1, 1))


def _lag_one_correlation(values: _Floats) -> float:
    above = values - values.mean()
    squares = float(above @ above)
    return float(above[:-1] @ above[1:]) / squares if squares else 0.0
