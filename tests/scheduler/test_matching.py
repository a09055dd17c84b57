"""COSHH's linear program and its classes, on cases worked by hand, degenerate ones too."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.orders.coshh.job_classes import JobClasses
from callboard.scheduler.orders.coshh.linear_program import solve_matching

optimize: Any = pytest.importorskip("scipy.optimize")

FIGURE_1 = [[2500, 2500, 10_000, 10_000], [2500, 2500, 5000, 5000], [10_000, 10_000, 2500, 2500]]
"""Mean times of Task1 to Task3 on resources 1 to 4 (the hybrid paper, III)."""


def test_figure_1s_suggested_classes() -> None:
    """III-C: Class1 and Class2 on resources 1 and 2, Class2 and Class3 on 3 and 4.

    By hand: with x the share of class 1 on the first two, 0.8 x = 10 λ, likewise class 3 on the
    last two; what they leave serves class 2, 0.8 (1 - x) + 0.4 (1 - x) = 5 λ: λ = 0.06, x = 0.75.
    """
    found = solve_matching(FIGURE_1, [10, 5, 10], [1, 1, 1, 1])
    assert found.suggested == ((0, 1), (0, 1), (1, 2), (1, 2))
    assert found.rates == pytest.approx((0.0006, 0.0003, 0.0006))


def test_where_the_solver_fails_at_the_tightest_tolerances_its_own_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As HiGHS does now and then ("model status is unknown"): `hybrid-fig-4-resources` met it."""
    rightly, failed = optimize.linprog, list[object]()

    def linprog(*arguments: Any, **named: Any) -> Any:
        found = rightly(*arguments, **named)
        if named["options"] and not failed:
            failed.append(found)
            found.status, found.message = 4, "Unknown"
        return found

    monkeypatch.setattr(optimize, "linprog", linprog)
    found = solve_matching(FIGURE_1, [10, 5, 10], [1, 1, 1, 1])
    assert failed
    assert found.suggested == ((0, 1), (0, 1), (1, 2), (1, 2))


@pytest.mark.parametrize(
    ("times", "work", "slots", "suggested"),
    [
        # Each is twice as good where the other is not: nothing to trade.
        ([[1, 2], [2, 1]], [1, 1], [3, 3], ((0,), (1,))),
        # The same, but class 0 has three times the work: it takes a part of the other sort.
        ([[1, 2], [2, 1]], [3, 1], [3, 3], ((0,), (0, 1))),
        # Equal classes, classes in proportion, sorts in proportion: no preference, so all.
        ([[1, 2], [1, 2]], [1, 1], [3, 3], ((0, 1), (0, 1))),
        ([[1, 2], [5, 10]], [9, 1], [3, 1], ((0, 1), (0, 1))),
        # The first two are alike, so they are suggested together, here and where they spill over.
        ([[1, 2], [2, 4], [2, 1]], [1, 1, 1], [3, 3], ((0, 1), (0, 1, 2))),
        # Alike on two sorts of three: either could have those, and each is told so.
        ([[1, 2, 5], [1, 2, 1]], [1, 1], [1, 1, 1], ((0, 1), (0, 1), (1,))),
        # Classes 0 and 1 fare alike on sorts 0 and 1, which they may divide in any way: a solver
        # names some one way, here both are suggested to both.
        ([[2, 2, 4], [2, 2, 2], [4, 2, 1]], [2, 1, 1], [1, 2, 2], ((0, 1), (0, 1), (1, 2))),
        # One class, one sort; a sort without slots; tasks that take no time.
        ([[5, 1]], [3], [2, 1], ((0,), (0,))),
        ([[5], [1]], [3, 1], [2], ((0, 1),)),
        ([[5, 1], [1, 5]], [1, 1], [2, 0], ((0, 1), ())),
        ([[0, 0], [5, 1]], [1, 1], [1, 1], ((0,), (1,))),
        # So little work that a solver might take it for none; both full sorts give way alike.
        ([[1, 9], [9, 1], [1, 3]], [1e9, 1e9, 1], [5, 5], ((0, 2), (1, 2))),
        ([], [], [2, 3], ((), ())),
    ],
)
def test_hand_worked_matchings(
    times: list[list[float]],
    work: list[float],
    slots: list[int],
    suggested: tuple[tuple[int, ...], ...],
) -> None:
    assert solve_matching(times, work, slots).suggested == suggested


@given(
    times=st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=1, max_size=5),
    work=st.lists(st.integers(1, 99), min_size=5, max_size=5),
    slots=st.lists(st.integers(1, 20), min_size=3, max_size=3),
    turn=st.integers(1, 2),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_every_class_and_every_sort_is_served_however_they_are_listed(
    times: list[list[int]], work: list[int], slots: list[int], turn: int
) -> None:
    """No class is left out, no sort idles, and the λ does not hang on the order of sorts."""
    work = work[: len(times)]
    found = solve_matching(times, work, slots)
    assert {i for each in found.suggested for i in each} == set(range(len(times)))
    assert all(found.suggested)
    turned = solve_matching(
        [row[turn:] + row[:turn] for row in times], work, slots[turn:] + slots[:turn]
    )
    assert turned.rates == pytest.approx(found.rates, rel=1e-6)


def held(most: int, *times: float, alike: float = 0.1) -> list[int]:
    """The classes of jobs with these times on the one sort of node."""
    classes = JobClasses(most, alike)
    cells = [classes.hold_cell([each]) for each in times]
    return [classes.class_of(cell) for cell in cells]


def test_equal_times_are_a_class_and_numbers_stay() -> None:
    assert held(10, 1000, 5000, 1000, 5000, 20) == [0, 1, 0, 1, 2]
    assert held(10, 1050, 1080, 1500, alike=0.1) == [0, 0, 1]
    assert held(10, 0, 1, 2) == [0, 0, 1]


def test_k_means_joins_neighbours_when_there_are_too_many() -> None:
    """On logarithms 10, 12 and 15 lie together, and 1000 and 1500; a class is its oldest cell."""
    assert held(2, 10, 12, 1000, 1500, 15) == [0, 0, 2, 2, 0]
    assert held(1, 10, 12, 1000) == [0, 0, 0]


def test_a_class_that_is_joined_has_the_mean_of_its_cells_and_idle_cells_go() -> None:
    classes = JobClasses(2, 0.1)
    first = [classes.hold_cell([ms]) for ms in (10.0, 12.0, 1000.0)]
    assert [classes.class_of(cell) for cell in first] == [0, 0, 2]
    assert classes.times_ms(0) == (11.0,)
    for cell in first[:2]:
        classes.release_cell(cell)
    one = classes.hold_cell([5000.0])
    assert [classes.class_of(cell) for cell in (first[2], one)] == [2, 2]  # the nearest, as yet
    other = classes.hold_cell([6000.0])
    assert [classes.class_of(cell) for cell in (first[2], one, other)] == [2, 3, 3]
    assert (classes.times_ms(2), classes.times_ms(3)) == ((1000.0,), (5500.0,))
    assert classes.groupings == 2
