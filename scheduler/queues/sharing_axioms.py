"""What users who share machines by several resources want of the rule, for tasks of finite size.

Each looks at how many tasks all users have, by their demands.  Of DRF's four theorems none holds
for whole tasks; what does are `envy_free_but_for_a_task`, `near_even_dominant_shares` and, where
nobody waits for a task that does not fit, `leaves_no_room`.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from callboard.scheduler.queues.dominant_fairness import ServedUsers, dominant_share
from callboard.scheduler.resources import Vector, fits

FillingRule = Callable[[Vector, Sequence[Vector]], ServedUsers]
"""Fills a machine by users of these demands."""


def tasks_within(amounts: Sequence[int | Fraction], demand: Vector) -> int:
    """How many tasks of a demand fit into so much."""
    return min(int(there // each) for there, each in zip(amounts, demand, strict=True) if each)


def meets_sharing_incentive(total: Vector, demands: Sequence[Vector], tasks: Sequence[int]) -> bool:
    """Sharing incentive: nobody has less than an even part of the machine would run for them."""
    even = [Fraction(whole, len(demands)) for whole in total]
    return all(
        had >= tasks_within(even, demand) for had, demand in zip(tasks, demands, strict=True)
    )


def envies_nobody(demands: Sequence[Vector], tasks: Sequence[int], but_for: int = 0) -> bool:
    """Nobody would run more tasks with what another has, less `but_for` of the other's tasks."""
    for user, demand in enumerate(demands):
        for other, others in enumerate(demands):
            left = max(tasks[other] - but_for, 0)
            held = [left * each for each in others]
            if other != user and tasks_within(held, demand) > tasks[user]:
                return False
    return True


def envy_free_but_for_a_task(demands: Sequence[Vector], tasks: Sequence[int]) -> bool:
    """EF1: who envies another would not if the other had one task less."""
    return envies_nobody(demands, tasks, but_for=1)


def leaves_no_room(demands: Sequence[Vector], free: Vector) -> bool:
    """Pareto: no further task of anybody fits."""
    return not any(fits(demand, free) for demand in demands)


def near_even_dominant_shares(
    total: Vector, demands: Sequence[Vector], tasks: Sequence[int]
) -> bool:
    """Everybody's dominant share is at least 1/k less the largest share of a task."""
    one_task = [dominant_share(total, demand) for demand in demands]
    least = Fraction(1, len(demands)) - max(one_task)
    return all(had * each >= least for had, each in zip(tasks, one_task, strict=True))


def profitable_lie(
    rule: FillingRule, total: Vector, demands: Sequence[Vector], claims: Iterable[Vector]
) -> tuple[int, Vector] | None:
    """Who runs more tasks by one of these claims than by the truth, and by which; None if nobody
    does, which is strategy-proofness.
    """
    honest = rule(total, demands).tasks
    claims = list(claims)
    for user, demand in enumerate(demands):
        for claim in claims:
            told = [claim if n == user else each for n, each in enumerate(demands)]
            held = [rule(total, told).tasks[user] * each for each in claim]
            if tasks_within(held, demand) > honest[user]:
                return user, claim
    return None
