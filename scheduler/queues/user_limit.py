"""How much of a queue one user may hold: the user limit of YARN's Capacity Scheduler.

UsersManager.computeUserLimit of apache/hadoop.  A user who holds more than the limit gets nothing;
who holds just as much still gets a container, so that limits are exceeded by up to one.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import msgspec

from callboard.scheduler.queues.amounts import ResourceCalculator
from callboard.scheduler.resources import Vector, plus


class UserLimitParams(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue states."""

    capacity: Vector
    """What it is due, in whole containers of the least size."""
    minimum_user_limit_percent: Fraction = Fraction(100)
    user_limit_factor: Fraction = Fraction(1)
    """How many times the capacity one user may hold."""
    least_container: Vector
    """The least that is allocated; limits are multiples of it."""


class QueueUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue's users hold."""

    used: Vector
    """By all of them."""
    used_by_active: Vector
    """By those who still ask for something."""
    active_weight: Fraction
    """The sum of the weights of those."""


def user_limit(
    params: UserLimitParams,
    use: QueueUse,
    calculator: ResourceCalculator,
    total: Vector,
    weight: Fraction = Fraction(1),
) -> Vector:
    """What an active user of this weight may hold: an even part of what active users hold and one
    container more, at least the stated part of what the queue holds, at most that many times its
    capacity.
    """

    def larger(one: Vector, other: Vector) -> Vector:
        return other if calculator.compare(total, other, one) > 0 else one

    least = params.least_container
    capacity = larger(params.capacity, least)
    over = calculator.compare(total, use.used, capacity) >= 0
    current = plus(use.used, least) if over else capacity
    even = _scaled_amounts(plus(use.used_by_active, least), 1 / use.active_weight, ceil)
    stated = _scaled_amounts(current, params.minimum_user_limit_percent / 100, ceil)
    most = _scaled_amounts(capacity, params.user_limit_factor, floor)
    limit = larger(even, stated)
    limit = _rounded_to_multiples(
        most if calculator.compare(total, limit, most) > 0 else limit, least, ceil
    )
    return _rounded_to_multiples(_scaled_amounts(limit, weight, floor), least, floor)


def may_have_another(
    held: Vector, limit: Vector, calculator: ResourceCalculator, total: Vector
) -> bool:
    """Whether a user who holds so much gets a further container."""
    return calculator.compare(total, held, limit) <= 0


def _scaled_amounts(amounts: Vector, by: Fraction, rounded: Callable[[Fraction], int]) -> Vector:
    return tuple(rounded(amount * by) for amount in amounts)


def _rounded_to_multiples(
    amounts: Vector, least: Vector, rounded: Callable[[Fraction], int]
) -> Vector:
    """The next multiples of the least container."""
    return tuple(
        rounded(Fraction(amount, unit)) * unit for amount, unit in zip(amounts, least, strict=True)
    )
