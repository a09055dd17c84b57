"""The public calls: completions and remaining work, in floats or in exact arithmetic."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from callboard.scheduler.ideal import fsp, loops
from callboard.scheduler.ideal import row_makers as rm
from callboard.scheduler.ideal.age_loop import AgeRanks, by_age
from callboard.scheduler.ideal.heap import NO_JOB
from callboard.scheduler.ideal.sharing_queues import INF
from callboard.scheduler.numba_cache import numba_is_installed

FloatRow: TypeAlias = NDArray[np.float64]
LoopPath: TypeAlias = Literal["auto", "plain", "compiled"]
"""Which loops run: compiled where numba is installed, always plain, always compiled."""


class _Discipline(NamedTuple):
    """The loop of a discipline and the rows it needs besides the jobs."""

    loop: str
    rows: Callable[[rm.RowMaker, rm.RunInput], tuple[Any, ...]]


def _fsp_discipline(late: int, *, weighted: bool = False) -> _Discipline:
    def rows(make: rm.RowMaker, case: rm.RunInput) -> tuple[Any, ...]:
        weight = case.weight if weighted else None
        return rm.empty_fsp_machine(make, case.n, late, weight), late

    return _Discipline("fsp", rows)


_DISCIPLINES: dict[str, _Discipline] = {
    "fifo": _Discipline("fifo", lambda _make, _case: ()),
    "ps": _Discipline("share", lambda make, case: (rm.empty_ps_queue(make, case.n),)),
    "gps": _Discipline("share", lambda make, case: (rm.empty_ps_queue(make, case.n, case.weight),)),
    "las": _Discipline("las", lambda make, case: (rm.empty_las_queue(make, case.n),)),
    "sjf": _Discipline("sjf", lambda make, case: (rm.empty_heap(make, case.n),)),
    "psjf": _Discipline("smallest_first", lambda make, case: (rm.empty_heap(make, case.n), 0)),
    "srpt": _Discipline("smallest_first", lambda make, case: (rm.empty_heap(make, case.n), 1)),
    "srpt+ps": _Discipline(
        "srpt_ps", lambda make, case: (rm.empty_heap(make, case.n), rm.empty_ps_queue(make, case.n))
    ),
    "fsp+fifo": _fsp_discipline(fsp.LATE_FIFO),
    "fsp+ps": _fsp_discipline(fsp.LATE_PS),
    "fsp+las": _fsp_discipline(fsp.LATE_LAS),
    "psbs": _fsp_discipline(fsp.LATE_PS, weighted=True),
}

DISCIPLINES: tuple[str, ...] = tuple(_DISCIPLINES)
"""The names that `simulate` knows."""

BLIND: frozenset[str] = frozenset({"fifo", "ps", "gps", "las"})
"""The disciplines that never look at an estimate."""

ON_SERVERS: dict[str, str] = {"fifo": "many_servers", "srpt": "many_servers_srpt"}
"""The disciplines that `simulate_servers` knows, and their loops."""

PLAIN_LOOPS: dict[str, Callable[..., None]] = {
    "fifo": loops.fifo,
    "share": loops.processor_sharing,
    "las": loops.las,
    "sjf": loops.sjf,
    "smallest_first": loops.smallest_first,
    "srpt_ps": loops.srpt_ps,
    "fsp": fsp.fsp,
    "by_age": by_age,
    "many_servers": loops.many_servers_fifo,
    "many_servers_srpt": loops.many_servers_srpt,
}
"""The loops by name, as Python runs them."""


def simulate(
    discipline: str,
    arrivals: ArrayLike,
    sizes: ArrayLike,
    estimates: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    speed: float = 1.0,
    *,
    path: LoopPath = "auto",
) -> FloatRow:
    """When each job is done on one divisible machine, as a float64 array in the order given.

    `arrivals` and `sizes` (on a machine of speed 1) are in seconds, in any order; `estimates`
    default to the sizes, `weights` to 1; `speed` is seconds of work a second.  Only disciplines
    outside `BLIND` use estimates, only `gps` and `psbs` weights.

    `discipline` is one of `DISCIPLINES`, each described at its loop (the simulator report, §2.3).
    Ties go by arrival, then by index; completions come before arrivals of the same instant.
    Rounding leaves completions within 1e-11 of exact arithmetic where the tests compare them.

    Raises `ValueError` for an unknown discipline, a negative, NaN or infinite number, a weight or
    speed of 0 and unequal lengths; `ImportError` if `path` is "compiled" without numba.
    """
    order, case = _prepared_input(arrivals, sizes, estimates, weights, speed)
    done = _run_discipline(_known_discipline(discipline), case, INF, path).done
    return _in_given_order(done, order)


def simulate_by_age(
    ranks: AgeRanks, arrivals: ArrayLike, sizes: ArrayLike, *, path: LoopPath = "auto"
) -> FloatRow:
    """When each job is done where the least rank is served, which goes by what a job has had; of
    equal ones the job that came first.  Otherwise as `simulate`.  ValueError also for ages that do
    not begin at 0 or do not grow.
    """
    order, case = _prepared_input(arrivals, sizes, None, None, 1.0)
    return _in_given_order(
        _run_discipline(_age_rank_discipline(ranks), case, INF, path).done, order
    )


def simulate_servers(
    servers: int,
    arrivals: ArrayLike,
    sizes: ArrayLike,
    discipline: str = "fifo",
    *,
    path: LoopPath = "auto",
) -> FloatRow:
    """When each job is done on several servers of speed 1, each of which serves one job: first come
    first served (`fifo`), or those with the least left (`srpt`).  Otherwise as `simulate`.
    ValueError for no server, and for another discipline.
    """
    if servers < 1:
        raise ValueError(f"servers: {servers}; there has to be one")
    if discipline not in ON_SERVERS:
        raise ValueError(f"{discipline!r} on several servers: there are {', '.join(ON_SERVERS)}")
    order, case = _prepared_input(arrivals, sizes, None, None, 1.0)
    rows, run = _loop_on_path(ON_SERVERS[discipline], path)
    jobs = case.loop_jobs(rows)
    if discipline == "fifo":
        run(jobs, rm.empty_heap(rows, servers), servers)
    else:
        idle = rows.links(NO_JOB, servers), rows.same(INF, servers)
        run(jobs, rm.empty_heap(rows, case.n), *idle)
    return _in_given_order(jobs.done, order)


def remaining(
    discipline: str,
    at: float,
    arrivals: ArrayLike,
    sizes: ArrayLike,
    estimates: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    speed: float = 1.0,
    *,
    path: LoopPath = "auto",
) -> FloatRow:
    """The work left of each job at the instant `at`, in seconds on a machine of speed 1; otherwise
    as `simulate`.  Under "ps" on the estimates it is FSP's and HFSP's virtual size.
    """
    _refuse_bad_numbers("at", np.array([at], dtype=np.float64))
    order, case = _prepared_input(arrivals, sizes, estimates, weights, speed)
    left = _run_discipline(_known_discipline(discipline), case, float(at), path).left
    return _in_given_order(left, order) * speed


class Exact(NamedTuple):
    """An exact run: when each job is done (infinity: not by the end), and the work left of it."""

    done: list[Fraction | float]
    left: list[Fraction]


def exact(
    discipline: str,
    arrivals: Sequence[Fraction | int],
    sizes: Sequence[Fraction | int],
    estimates: Sequence[Fraction | int] | None = None,
    weights: Sequence[Fraction | int] | None = None,
    speed: Fraction | int = 1,
    until: Fraction | int | None = None,
) -> Exact:
    """`simulate`, in exact Fractions, to the end or to the instant `until`: the very loops that are
    compiled for floats.  Slow: for tests and small cases.
    """
    _prepared_input(
        _as_floats(arrivals),
        _as_floats(sizes),
        _as_floats(estimates),
        _as_floats(weights),
        float(speed),
    )
    return _run_exactly(
        _known_discipline(discipline), arrivals, sizes, estimates, weights, speed=speed, until=until
    )


def exact_by_age(
    ranks: AgeRanks,
    arrivals: Sequence[Fraction | int],
    sizes: Sequence[Fraction | int],
    until: Fraction | int | None = None,
) -> Exact:
    """`simulate_by_age` in exact Fractions, as `exact`."""
    _prepared_input(_as_floats(arrivals), _as_floats(sizes), None, None, 1.0)
    what = _age_rank_discipline(ranks, Fraction)
    return _run_exactly(what, arrivals, sizes, None, None, speed=1, until=until)


def _run_exactly(
    what: _Discipline,
    arrivals: Sequence[Fraction | int],
    sizes: Sequence[Fraction | int],
    estimates: Sequence[Fraction | int] | None,
    weights: Sequence[Fraction | int] | None,
    *,
    speed: Fraction | int,
    until: Fraction | int | None,
) -> Exact:
    order = sorted(range(len(arrivals)), key=lambda j: (arrivals[j], j))

    def row(values: Sequence[Fraction | int] | None, over: Fraction | int) -> list[Fraction]:
        return [Fraction(1 if values is None else values[j]) / over for j in order]

    case = rm.RunInput(
        arrival=row(arrivals, 1),
        size=row(sizes, speed),
        estimate=row(sizes if estimates is None else estimates, speed),
        weight=row(weights, 1),
    )
    end = INF if until is None else Fraction(until)
    jobs = _run_discipline(what, case, end, "plain")
    places = sorted(range(len(order)), key=order.__getitem__)
    return Exact(
        done=[jobs.done[place] for place in places],
        left=[jobs.left[place] * speed for place in places],
    )


def _known_discipline(discipline: str) -> _Discipline:
    if discipline not in _DISCIPLINES:
        raise ValueError(f"no discipline {discipline!r}; there are {', '.join(DISCIPLINES)}")
    return _DISCIPLINES[discipline]


def _age_rank_discipline(ranks: AgeRanks, number: Callable[[float], Any] = float) -> _Discipline:
    ages = _checked_row("ages", ranks.ages)
    if not len(ages) or ages[0] or not (ages[1:] > ages[:-1]).all():
        raise ValueError("ages: they have to begin at 0 and to grow")
    _checked_row("ranks", ranks.ranks, len(ages))
    given = [[number(value) for value in row] for row in ranks]

    def rows(make: rm.RowMaker, case: rm.RunInput) -> tuple[Any, ...]:
        return rm.empty_heap(make, case.n), rm.ranked_ages(make, case.n, *given)

    return _Discipline("by_age", rows)


def _run_discipline(
    what: _Discipline, case: rm.RunInput, until: Any, path: LoopPath
) -> loops.LoopJobs:
    rows, run = _loop_on_path(what.loop, path)
    jobs = case.loop_jobs(rows)
    run(jobs, *what.rows(rows, case), until)
    return jobs


def _loop_on_path(name: str, path: LoopPath) -> tuple[rm.RowMaker, Callable[..., None]]:
    """A loop on this path, and what makes its rows."""
    if path not in ("auto", "plain", "compiled"):
        raise ValueError(f"no path {path!r}; there are auto, plain, compiled")
    if path == "compiled" or (path == "auto" and numba_is_installed()):
        from callboard.scheduler.ideal.compiled import COMPILED_LOOPS

        return rm.ARRAYS, COMPILED_LOOPS[name]
    return rm.LISTS, PLAIN_LOOPS[name]


def _prepared_input(
    arrivals: ArrayLike,
    sizes: ArrayLike,
    estimates: ArrayLike | None,
    weights: ArrayLike | None,
    speed: float,
) -> tuple[NDArray[np.int64] | None, rm.RunInput]:
    """Check the input and sort it; the order is `None` where it was sorted already."""
    arrival = _checked_row("arrivals", arrivals)
    n = len(arrival)
    size = _checked_row("sizes", sizes, n)
    estimate = size if estimates is None else _checked_row("estimates", estimates, n)
    weight = np.ones(n) if weights is None else _checked_row("weights", weights, n)
    if not (weight > 0).all():
        raise ValueError(
            f"weights: job {_first_bad_job(weight <= 0)} has weight 0; weights are above 0"
        )
    if not (speed > 0 and np.isfinite(speed)):
        raise ValueError(f"speed: {speed} is not a finite number above 0")
    with np.errstate(over="ignore"):
        case = rm.RunInput(arrival, size / speed, estimate / speed, weight)
        _refuse_endless_sums(case)
    if (arrival[1:] >= arrival[:-1]).all():
        return None, case
    order = np.argsort(arrival, kind="stable")
    return order, rm.RunInput(*(row[order] for row in case))


def _checked_row(name: str, values: ArrayLike, n: int | None = None) -> FloatRow:
    """`values` as a checked float64 array of one dimension, of length `n` if that is given."""
    try:
        row = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: not a row of numbers ({error})") from None
    if row.ndim != 1:
        raise ValueError(f"{name}: {row.ndim} dimensions where a row of numbers is needed")
    if n is not None and len(row) != n:
        raise ValueError(f"{name}: {len(row)} entries for {n} arrivals")
    _refuse_bad_numbers(name, row)
    return row


def _refuse_bad_numbers(name: str, row: FloatRow) -> None:
    bad = ~(np.isfinite(row) & (row >= 0))
    if bad.any():
        job = _first_bad_job(bad)
        raise ValueError(f"{name}: entry {job} is {row[job]}; need a finite number, 0 or more")


def _refuse_endless_sums(case: rm.RunInput) -> None:
    total = case.weight.sum()
    end = case.arrival.max(initial=0.0) + case.size.sum()
    if not np.isfinite(end):
        raise ValueError("sizes: their sum is too large for a float")
    for name, work in (("sizes", case.size), ("estimates", case.estimate)):
        if not np.isfinite((work / case.weight).sum() * total):
            raise ValueError(f"{name}: their sum is too large for a float, given speed and weights")


def _first_bad_job(bad: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(bad)[0])


def _as_floats(values: Iterable[Any] | None) -> Any:
    return None if values is None else [float(value) for value in values]


def _in_given_order(row: Any, order: NDArray[np.int64] | None) -> FloatRow:
    found = np.asarray(row, dtype=np.float64)
    if order is None:
        return found
    given = np.empty_like(found)
    given[order] = found
    return given
