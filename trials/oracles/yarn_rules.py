"""YARN's rules one by one, on cases of Hadoop's tests: the order of queues, user limits, fair
shares, who is first by dominant shares, and what containers of several resources give way.

A file has lists of cases under the names in `KINDS`.  Vector are lists of whole numbers, or a
number where there is one resource.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.amounts import (
    DominantCalculator,
    MemoryCalculator,
    ResourceCalculator,
    nothing,
)
from callboard.scheduler.queues.dominant_order import DominantClaim, compare_dominant
from callboard.scheduler.queues.ideal_allocation import BalanceParams, balance_queues
from callboard.scheduler.queues.preemption_victims import (
    HeldContainer,
    LeafVictims,
    VictimParams,
    select_victims,
)
from callboard.scheduler.queues.queue_order import RankedQueue, in_order_of_need
from callboard.scheduler.queues.queue_tree import MonitoredQueue, QueueBalance, QueueTreeError
from callboard.scheduler.queues.whole_fair_shares import SharePool, whole_fair_shares
from callboard.scheduler.resources import Vector
from trials.oracles.comparison import Cell, Check, NotPlayed, case_as, case_cell
from trials.oracles.yarn_users import UsersCase

Listed = Annotated[list[int], Meta(min_length=1)]
ROOT = "root"


class OrderCase(msgspec.Struct, forbid_unknown_fields=True):
    """Queues, and in which order they are asked."""

    queues: list[str]
    priority: list[int]
    used_of_capacity: list[float]
    absolute_capacity: list[float]
    expect: list[str]
    respect_priority: bool = True
    source: str = ""
    test: str = ""

    def checks(self) -> Iterator[Check]:
        try:
            columns = zip(
                self.queues,
                self.used_of_capacity,
                self.absolute_capacity,
                self.priority,
                strict=True,
            )
            queues = [RankedQueue(*column) for column in columns]
        except ValueError:
            raise NotPlayed("lists of different lengths") from None
        ranked = in_order_of_need(queues, respect_priority=self.respect_priority)
        yield Check("order", self.expect, [each.name for each in ranked])


class Pool(msgspec.Struct, forbid_unknown_fields=True):
    """What a pool of the Fair Scheduler states."""

    weight: float = 1.0
    min: int = 0
    max: int | None = None


class SharesCase(msgspec.Struct, forbid_unknown_fields=True):
    """Pools, and what each is due."""

    test: str
    total: int
    pools: list[Pool]
    expect: list[int]
    source: str = ""

    def checks(self) -> Iterator[Check]:
        pools = [
            SharePool(weight=exact_fraction(each.weight), min_share=each.min, max_share=each.max)
            for each in self.pools
        ]
        yield Check("shares", self.expect, whole_fair_shares(self.total, pools))


class Claim(msgspec.Struct, forbid_unknown_fields=True):
    """What one of two has and is due."""

    used: Listed
    min: Listed | None = None
    weight: float | list[float] = 1.0

    def claimant(self, cluster: Vector) -> DominantClaim:
        weights = self.weight if isinstance(self.weight, list) else [self.weight] * len(cluster)
        least = nothing(cluster) if self.min is None else tuple(self.min)
        if not len(self.used) == len(weights) == len(least) == len(cluster):
            raise NotPlayed("amounts of different lengths")
        return DominantClaim(
            used=tuple(self.used), min_share=least, weights=[exact_fraction(w) for w in weights]
        )


class CompareCase(msgspec.Struct, forbid_unknown_fields=True):
    """Two, and which of them comes first."""

    test: str
    cluster: Listed
    first: Claim
    second: Claim
    expect: str
    source: str = ""

    def checks(self) -> Iterator[Check]:
        total = tuple(self.cluster)
        found = compare_dominant(self.first.claimant(total), self.second.claimant(total), total)
        yield Check("who", self.expect, "first" if found < 0 else "second" if found else "equal")


class VectorQueue(msgspec.Struct, forbid_unknown_fields=True):
    """A queue with amounts of several resources."""

    guaranteed: Listed
    used: Listed
    pending: Listed | None = None
    reserved: Listed | None = None
    max: Listed | None = None
    parent: str = ROOT
    priority: int = 0


class VectorConf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case sets of the monitor; the tests take everything back at once."""

    total_preemption_per_round: float = 1.0
    natural_termination_factor: float = 1.0
    max_ignored_over_capacity: float = 0.1
    conservative_drf: bool = False


class VectorCase(msgspec.Struct, forbid_unknown_fields=True):
    """Queues of one cluster, what they hold, and what has to be taken back of them: containers, or
    amounts where none are named.
    """

    cluster: Listed
    queues: dict[str, VectorQueue]
    expect: dict[str, int | list[int]]
    test: str = ""
    source: str = ""
    containers: dict[str, list[Listed]] = {}
    ideal: dict[str, int | list[int]] = {}
    balance_beyond_guaranteed: bool = False
    disabled: list[str] = []
    conf: VectorConf = VectorConf()

    def checks(self) -> Iterator[Check]:
        try:
            balances = balance_queues(self.monitored(), self.calculator, self.params)
        except (QueueTreeError, ValueError) as error:
            raise NotPlayed(str(error)) from None
        victims = self.victims(balances)
        for name, theirs in self.expect.items():
            ours = victims[name] if name in self.containers else balances[name].obtained
            yield Check(f"taken of {name}", theirs, _as_in_the_file(ours))
        for name, theirs in self.ideal.items():
            yield Check(f"ideal of {name}", theirs, _as_in_the_file(balances[name].ideal))

    @property
    def calculator(self) -> ResourceCalculator:
        """Hadoop's default where there is one resource."""
        return MemoryCalculator() if len(self.cluster) == 1 else DominantCalculator()

    @property
    def params(self) -> BalanceParams:
        return BalanceParams(
            portion_per_round=self.conf.total_preemption_per_round,
            natural_termination=self.conf.natural_termination_factor,
            tolerance=self.conf.max_ignored_over_capacity,
            beyond_guarantees=self.balance_beyond_guaranteed,
        )

    def monitored(self) -> list[MonitoredQueue]:
        total = tuple(self.cluster)
        none = nothing(total)
        root = MonitoredQueue(
            name=ROOT, guaranteed=total, maximum=total, used=total, pending=none, reserved=none
        )
        return [root] + [
            MonitoredQueue(
                name=name,
                parent=queue.parent,
                guaranteed=tuple(queue.guaranteed),
                maximum=tuple(queue.max or total),
                used=tuple(queue.used),
                pending=tuple(queue.pending or none),
                reserved=tuple(queue.reserved or none),
                preemptable=name not in self.disabled,
                priority=queue.priority,
            )
            for name, queue in self.queues.items()
        ]

    def victims(self, balances: Mapping[str, QueueBalance]) -> dict[str, int]:
        """How many containers of each queue give way; they are one application's."""
        first, leaves, held = 0, [], {}
        for name, sizes in self.containers.items():
            held[name] = [
                HeldContainer(number=number, size=tuple(size))
                for number, size in enumerate(sizes, start=first)
            ]
            first += len(sizes)
            leaves.append(
                LeafVictims(
                    to_obtain=balances[name].obtained,
                    guaranteed=balances[name].queue.guaranteed,
                    applications=[held[name]],
                )
            )
        chosen = select_victims(
            leaves,
            self.calculator,
            tuple(self.cluster),
            VictimParams(
                portion_per_round=self.conf.total_preemption_per_round,
                conservative=self.conf.conservative_drf,
            ),
        )
        numbers = {each.number for each in chosen}
        return {name: len(numbers & {each.number for each in held[name]}) for name in held}


def _as_in_the_file(found: int | Vector) -> int | list[int]:
    if isinstance(found, int):
        return found
    return found[0] if len(found) == 1 else list(found)


AnyCase = OrderCase | UsersCase | SharesCase | CompareCase | VectorCase

KINDS: dict[str, type[AnyCase]] = {
    "queue_order": OrderCase,
    "user_limits": UsersCase,
    "weighted_shares": SharesCase,
    "drf_compare": CompareCase,
    "vector_preemption": VectorCase,
}
"""What a file may have lists of."""


def cells(lists: Mapping[str, list[dict[str, Any]]]) -> list[Cell]:
    """A cell a case, list by list."""
    return [
        _cell(kind, number, case)
        for kind, cases in lists.items()
        for number, case in enumerate(cases, start=1)
    ]


def _cell(kind: str, number: int, data: dict[str, Any]) -> Cell:
    name = f"{kind} {number} {data.get('test', '')}".rstrip()
    expected = data.get("used_after", data.get("expect", ()))
    asked = len(expected) if kind in {"user_limits", "vector_preemption"} else 1
    return case_cell(name, asked, lambda: case_as(data, KINDS[kind]).checks())
