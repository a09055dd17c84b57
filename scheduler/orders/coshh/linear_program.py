"""Which classes of jobs to suggest to which node types: COSHH's linear program.

(Rasooli and Down, CASCON 2011, which the hybrid paper cites for its COSHH.)  Of a type j with n_j
slots, class i gets the share δ_ij.  With μ_ij = 1 / mean task time and α_i the class's rate of
arrival, in tasks:

    maximise λ   so that   Σ_j n_j μ_ij δ_ij ≥ λ α_i  for each class i,
                           Σ_i δ_ij ≤ 1               for each type j,   δ ≥ 0.

λ is by what factor the load could grow.  Class i is suggested to type j if δ_ij > 0.  Only the
proportions of the α_i matter.

An optimum need not be unique, and which one a solver returns is its own affair.  So:

- classes whose times stand in the same proportion on all types have no preference of their own
  and are matched as one, and so are types that treat all classes in the same proportion;
- a second program, on the optima of the first, maximises Σ min(δ_ij, a thousandth): a pair is
  suggested if some optimum suggests it beside the others.  Should several choices be left, earlier
  pairs count a little more.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.policy import PolicySpecError

FloatTable = NDArray[np.float64]

TASK_MS_MIN = 1.0
"""A task without length counts as so long."""

PROPORTION_MIN = 1e-3
"""The least part of the work or of the slots: the solver's tolerances must decide nothing."""

PAIR_SHARE = 1e-3
"""The share up to which the second program counts a pair; a tenth of it is a suggestion."""

_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class MatchingSolution(msgspec.Struct, frozen=True):
    """By node type its classes, ascending; by class its tasks finished a millisecond."""

    suggested: tuple[tuple[int, ...], ...]
    rates: tuple[float, ...]


@cache
def scipy_module(name: str) -> Any:
    """A module of SciPy, which comes with the optional extra `coshh`."""
    try:
        if name == "optimize":
            import scipy.optimize as part
        else:
            import scipy.cluster.vq as part
    except ImportError:
        raise PolicySpecError("`coshh` needs SciPy: pip install 'callboard[coshh]'") from None
    return part


def solve_matching(
    times_ms: Sequence[Sequence[float]], work: Sequence[float], slots: Sequence[int]
) -> MatchingSolution:
    """Match classes (rows, with `work` tasks each) and node types (columns, with `slots` each)."""
    there = [j for j, count in enumerate(slots) if count > 0]
    times = np.maximum(np.array(times_ms, dtype=float).reshape(len(work), len(slots)), TASK_MS_MIN)
    times = times[:, there]
    if not times.size:
        return MatchingSolution(tuple(() for _ in slots), tuple(0.0 for _ in work))
    best = times.min(axis=1)
    speed = best[:, None] / times  # of a class on a type, against its best one
    class_groups = _groups_of_equal_rows(speed / speed.max(axis=1, keepdims=True))
    most = speed.max(axis=0)
    type_groups = _groups_of_equal_rows((speed / most).T)
    load = np.array([sum(work[i] * best[i] for i in group) for group in class_groups])
    room = np.array([sum(slots[there[j]] * most[j] for j in group) for group in type_groups])
    one_each = [group[0] for group in class_groups], [group[0] for group in type_groups]
    reduced = speed[np.ix_(*one_each)] / most[one_each[1]]
    factor, pairs = _growth_and_suggested_pairs(reduced, load / load.sum(), room / room.sum())
    chosen: list[tuple[int, ...]] = [() for _ in slots]
    for place, types in enumerate(type_groups):
        classes = [i for g, group in enumerate(class_groups) if pairs[g, place] for i in group]
        for j in types:
            chosen[there[j]] = tuple(sorted(classes))
    growth = _nine_digits(factor * room.sum() / load.sum())
    return MatchingSolution(tuple(chosen), tuple(growth * each for each in work))


def _groups_of_equal_rows(rows: FloatTable) -> list[list[int]]:
    """Rows that are equal but for rounding, by their first one."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(tuple(_nine_digits(value) for value in row), []).append(index)
    return list(groups.values())


def _nine_digits(value: float) -> float:
    return float(f"{value:.9g}")


def _growth_and_suggested_pairs(
    speed: FloatTable, load: FloatTable, room: FloatTable
) -> tuple[float, NDArray[np.bool_]]:
    """λ and which pairs to suggest, for parts of the load and of the room that sum to 1."""
    if speed.size == 1:
        return 1.0, np.ones((1, 1), dtype=bool)
    classes, types = speed.shape
    linprog = scipy_module("optimize").linprog
    load, room = np.maximum(load, PROPORTION_MIN), np.maximum(room, PROPORTION_MIN)
    served = np.zeros((classes, classes * types))  # what each class gets out of all shares
    given = np.zeros((types, classes * types))  # what each type gives away
    for i in range(classes):
        for j in range(types):
            served[i, i * types + j] = speed[i, j] * room[j]
            given[j, i * types + j] = 1.0
    pairs = classes * types
    greatest_growth: dict[str, Any] = {
        "gain": np.append(np.zeros(pairs), 1.0),
        "at_most": np.block([[-served, load[:, None]], [given, np.zeros((types, 1))]]),
        "limit": np.append(np.zeros(classes), np.ones(types)),
        "highest": [1.0] * pairs + [None],
    }
    try:
        first = _optimum(linprog, **greatest_growth)
    except ArithmeticError:  # the tightest tolerances are too tight for the simplex now and then
        first = _optimum(linprog, **greatest_growth, options={})
    factor, shares = float(first[-1]), first[:-1]
    try:
        second = _optimum(
            linprog,
            gain=np.append(np.zeros(pairs), 1 + 1e-3 * np.linspace(1, 0, pairs)),
            at_most=np.block(
                [
                    [-served, np.zeros((classes, pairs))],
                    [given, np.zeros((types, pairs))],
                    [-np.eye(pairs), np.eye(pairs)],
                ]
            ),
            limit=np.concatenate([-load * factor * (1 - 1e-10), np.ones(types), np.zeros(pairs)]),
            highest=[1.0] * pairs + [PAIR_SHARE] * pairs,
        )
        shares = second[pairs:]
    except ArithmeticError:  # a hair's breadth beside the optimum: the first answer will do
        pass
    shares = shares.reshape(classes, types)
    chosen = shares >= PAIR_SHARE / 10
    chosen[np.arange(classes), np.argmax(shares, axis=1)] = True  # however small its part
    return factor, chosen


def _optimum(
    linprog: Callable[..., Any],
    *,
    gain: FloatTable,
    at_most: FloatTable,
    limit: FloatTable,
    highest: Sequence[float | None],
    options: Mapping[str, float] = _EXACT,
) -> FloatTable:
    """The variables, from 0 to `highest`, that gain most; ArithmeticError where none is found."""
    bounds = [(0.0, top) for top in highest]
    found = linprog(-gain, A_ub=at_most, b_ub=limit, bounds=bounds, method="highs", options=options)
    if found.status != 0:
        raise ArithmeticError(f"no matching of classes and nodes was found: {found.message}")
    return np.asarray(found.x, dtype=float)
