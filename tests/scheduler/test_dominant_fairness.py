"""DRF for tasks of finite size: the paper's example, and what holds in 2,916 worlds of two users.

The worlds: machines of 3 to 8 units of two resources each, two users whose tasks take 1 to 3 units
of either.  Rules: Ghodsi and others, NSDI 2011.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product

import pytest

from callboard.scheduler.queues import dominant_fairness
from callboard.scheduler.queues.divisible_sharing import asset_fair_tasks, ceei_tasks
from callboard.scheduler.queues.dominant_fairness import (
    ServedUsers,
    WhenNoFit,
    dominant_share,
    serve_by_dominant_share,
)
from callboard.scheduler.queues.sharing_axioms import (
    envies_nobody,
    envy_free_but_for_a_task,
    leaves_no_room,
    meets_sharing_incentive,
    near_even_dominant_shares,
    profitable_lie,
    tasks_within,
)
from callboard.scheduler.resources import Vector

NINE_CORES_18_GB = (9, 18)
USERS = [(1, 4), (3, 1)]


@pytest.mark.parametrize("when_no_fit", ["stop", "skip"])
def test_the_papers_two_users_have_three_and_two_tasks(when_no_fit: WhenNoFit) -> None:
    """Table 1 of the paper: B begins and ends there; two thirds are the dominant shares of both."""
    served = serve_by_dominant_share(NINE_CORES_18_GB, USERS, when_no_fit)
    assert served.tasks == (3, 2)
    assert served.launches == (0, 1, 0, 1, 0)
    held = [
        (tasks * demand[0], tasks * demand[1])
        for tasks, demand in zip(served.tasks, USERS, strict=True)
    ]
    assert [dominant_share(NINE_CORES_18_GB, each) for each in held] == [Fraction(2, 3)] * 2


def test_asset_fairness_and_ceei_give_them_other_numbers() -> None:
    """2.52 and 2.16; 45/11 and 18/11."""
    assert asset_fair_tasks(NINE_CORES_18_GB, USERS) == [Fraction("2.52"), Fraction("2.16")]
    assert ceei_tasks(NINE_CORES_18_GB, USERS) == pytest.approx([45 / 11, 18 / 11], rel=1e-9)


def test_ceei_sells_what_is_wanted_and_gives_away_what_is_not() -> None:
    """Alone with one scarce resource everybody buys an even part of it."""
    assert ceei_tasks((6, 100), [(1, 1), (2, 1), (3, 1)]) == pytest.approx([2, 1, 2 / 3])


def test_a_weight_of_two_gets_twice_the_dominant_share() -> None:
    served = serve_by_dominant_share(
        (12, 12), [(1, 0), (0, 1), (1, 1)], "stop", [Fraction(2), Fraction(2), Fraction(1)]
    )
    assert served.tasks == (8, 8, 4)


def test_who_does_not_fit_stops_all_or_is_skipped() -> None:
    """After one and two tasks both have two fifths, and a unit is left, which only one can use."""
    users = [(2, 2), (1, 1)]
    stopped = serve_by_dominant_share((5, 5), users, "stop")
    assert (stopped.launches, stopped.free) == ((0, 1, 1), (1, 1))
    skipped = serve_by_dominant_share((5, 5), users, "skip")
    assert (skipped.launches, skipped.free) == ((0, 1, 1, 1), (0, 0))


@pytest.mark.parametrize("demands", [[(0, 0)], [(1, -1)], [(1, 1, 1)]])
def test_a_task_that_takes_nothing_is_refused(demands: Sequence[Vector]) -> None:
    with pytest.raises(ValueError, match=r"has to take something|amounts are demanded"):
        serve_by_dominant_share((3, 3), demands)


MACHINES = list(product(range(3, 9), repeat=2))
DEMANDS = list(product(range(1, 4), repeat=2))
SERVE = cache(serve_by_dominant_share)


def rule(when_no_fit: WhenNoFit, total: Vector, demands: Sequence[Vector]) -> ServedUsers:
    served: ServedUsers = SERVE(total, tuple(demands), when_no_fit)
    return served


def worlds() -> Iterator[tuple[Vector, tuple[Vector, Vector]]]:
    for machine, first, second in product(MACHINES, DEMANDS, DEMANDS):
        yield machine, (first, second)


def broken(when_no_fit: WhenNoFit) -> dict[str, int]:
    """In how many worlds something does not hold."""
    counts = dict.fromkeys(("incentive", "envy", "pareto", "EF1", "near even"), 0)
    for machine, demands in worlds():
        tasks, _, free = serve_by_dominant_share(machine, demands, when_no_fit)
        counts["incentive"] += not meets_sharing_incentive(machine, demands, tasks)
        counts["envy"] += not envies_nobody(demands, tasks)
        counts["pareto"] += not leaves_no_room(demands, free)
        counts["EF1"] += not envy_free_but_for_a_task(demands, tasks)
        counts["near even"] += not near_even_dominant_shares(machine, demands, tasks)
    return counts


GUARANTEED = {"EF1": 0, "near even": 0}
BROKEN = {
    "stop": {"incentive": 250, "envy": 631, "pareto": 287, **GUARANTEED},
    "skip": {"incentive": 245, "envy": 766, "pareto": 0, **GUARANTEED},
}


@pytest.mark.parametrize("when_no_fit", ["stop", "skip"])
def test_of_2916_worlds_so_many_break_each_theorem_and_none_what_is_guaranteed(
    when_no_fit: WhenNoFit,
) -> None:
    assert sum(1 for _ in worlds()) == 2_916
    assert broken(when_no_fit) == BROKEN[when_no_fit]


@pytest.mark.parametrize(("when_no_fit", "worlds_with_lies"), [("stop", 352), ("skip", 275)])
def test_of_2916_worlds_so_many_reward_a_lie(when_no_fit: WhenNoFit, worlds_with_lies: int) -> None:
    serve = partial(rule, when_no_fit)
    found = (profitable_lie(serve, machine, demands, DEMANDS) for machine, demands in worlds())
    assert sum(each is not None for each in found) == worlds_with_lies


def test_the_smallest_worlds_that_break_the_theorems() -> None:
    machine = (3, 3)
    served = rule("stop", machine, [(1, 3), (1, 1)])
    assert (served.tasks, tasks_within([1.5, 1.5], (1, 1))) == ((1, 0), 1)  # type: ignore[list-item]
    twins = [(1, 1), (1, 1)]
    assert rule("stop", machine, twins).tasks == (2, 1)
    assert not envies_nobody(twins, (2, 1))
    liar = profitable_lie(partial(rule, "stop"), machine, twins, [(3, 3)])
    assert liar == (0, (3, 3))
    assert rule("stop", machine, [(3, 3), (1, 1)]).tasks == (1, 0)  # room for three of (1, 1)


def test_the_guarantees_hold_for_three_users_of_three_resources_too() -> None:
    for machine in [(4, 4, 4), (5, 4, 6), (6, 6, 3)]:
        for demands in product(product((1, 2), repeat=3), repeat=3):
            served = serve_by_dominant_share(machine, demands, "skip")
            assert leaves_no_room(demands, served.free)
            assert envy_free_but_for_a_task(demands, served.tasks)
            assert near_even_dominant_shares(machine, demands, served.tasks)


PLANTED = {
    "the largest share is served first": ("dominant_share", lambda *_: Fraction(-1)),
    "only the first resource counts": (
        "dominant_share",
        lambda total, amounts: Fraction(amounts[0], total[0]),
    ),
    "more fits than there is": ("fits", lambda small, large: sum(small) <= sum(large)),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_wrong_rule_is_told_by_the_counts(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fairness by one resource has EF1 in worlds so small: the other counts tell it."""
    monkeypatch.setattr(dominant_fairness, *PLANTED[planted])
    assert broken("skip") != BROKEN["skip"]
