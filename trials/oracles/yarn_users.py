"""Tests of the user limit of YARN's Capacity Scheduler (TestLeafQueue), offer by offer.

A case has nodes, one leaf with its user limit, what users ask for, one container after the other,
and on which node a container is offered; `used_after` says what the users hold after each offer.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import reduce

import msgspec

from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.amounts import DominantCalculator, MemoryCalculator, nothing
from callboard.scheduler.queues.user_limit import (
    QueueUse,
    UserLimitParams,
    may_have_another,
    user_limit,
)
from callboard.scheduler.resources import Vector, fits, minus, plus
from trials.oracles.comparison import Check, NotPlayed

Size = int | list[int]

CAPACITIES = {"a": 8.5, "b": 80.0, "c": 1.5, "d": 9.0, "e": 1.0}
"""What queues are due in these tests, in percent of the cluster, where a case does not say it."""


class UsersCase(msgspec.Struct, forbid_unknown_fields=True):
    """Users of one leaf, and what they hold after each offer."""

    nodes: list[Size]
    queue: str
    user_limit_percent: float
    user_limit_factor: float
    asks: dict[str, list[Size]]
    offers: list[str]
    used_after: list[list[Size]]
    weights: dict[str, float] = {}
    capacity: float | None = None
    """In percent."""
    source: str = ""
    test: str = ""

    def checks(self) -> Iterator[Check]:
        leaf = Leaf(self)
        if len(self.offers) != len(self.used_after):
            raise NotPlayed("not as many offers as results")
        for place, (node, theirs) in enumerate(
            zip(self.offers, self.used_after, strict=True), start=1
        ):
            leaf.offer(node)
            held = [list(leaf.held[user]) for user in self.asks]
            ours = [each[0] if len(each) == 1 else each for each in held]
            yield Check(f"after offer {place}", theirs, ours)


class Leaf:
    """The leaf of a case at play."""

    def __init__(self, case: UsersCase) -> None:
        self.case = case
        self.free = {f"node{n}": _amounts(size) for n, size in enumerate(case.nodes)}
        self.total = _sum(self.free.values(), nothing(_amounts(case.nodes[0])))
        self.calculator = MemoryCalculator() if len(self.total) == 1 else DominantCalculator()
        self.held = dict.fromkeys(case.asks, nothing(self.total))
        self.asks = {user: [_amounts(size) for size in sizes] for user, sizes in case.asks.items()}
        percent = CAPACITIES.get(case.queue) if case.capacity is None else case.capacity
        if percent is None:
            raise NotPlayed(f"what queue `{case.queue}` is due is not said")
        self.params = UserLimitParams(
            capacity=tuple(-(-exact_fraction(percent) * each // 100) for each in self.total),
            minimum_user_limit_percent=exact_fraction(case.user_limit_percent),
            user_limit_factor=exact_fraction(case.user_limit_factor),
            least_container=(1,) * len(self.total),
        )

    def weight(self, user: str) -> Fraction:
        return exact_fraction(self.case.weights.get(user, 1))

    def limit(self, user: str) -> Vector:
        active = [user for user, asks in self.asks.items() if asks]
        use = QueueUse(
            used=_sum(self.held.values(), nothing(self.total)),
            used_by_active=_sum((self.held[each] for each in active), nothing(self.total)),
            active_weight=sum((self.weight(each) for each in active), Fraction()),
        )
        return user_limit(self.params, use, self.calculator, self.total, self.weight(user))

    def offer(self, node: str) -> None:
        """The first user below the limit gets the next container that they ask for."""
        if node not in self.free:
            raise NotPlayed(f"no node `{node}`")
        for user, asks in self.asks.items():
            if asks and may_have_another(
                self.held[user], self.limit(user), self.calculator, self.total
            ):
                return self.place(user, node)
        return None

    def place(self, user: str, node: str) -> None:
        size = self.asks[user][0]
        if not fits(size, self.free[node]):
            raise NotPlayed("a node that has to be reserved")
        del self.asks[user][0]
        self.free[node] = minus(self.free[node], size)
        self.held[user] = plus(self.held[user], size)


def _amounts(size: Size) -> Vector:
    return (size,) if isinstance(size, int) else tuple(size)


def _sum(amounts: Iterable[Vector], none: Vector) -> Vector:
    return reduce(plus, amounts, none)
