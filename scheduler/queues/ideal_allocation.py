"""What each queue of a tree should hold, and how much it gives back: YARN's preemption monitor.

PreemptableResourceCalculator of apache/hadoop.  From the root down, what a parent should hold is
offered to its children, always to those that have least of what they are guaranteed, until nobody
takes more.  Children with nothing guaranteed come last, and share alike.  A queue that holds more
than comes out gives the difference back, scaled down if all give more than a round allows.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from callboard.scheduler.part_params import NotNegative, PartParams, Portion
from callboard.scheduler.queues.amounts import (
    ResourceCalculator,
    clamped_at_zero,
    float32,
    nothing,
    scaled_and_truncated,
    smaller_of_each,
)
from callboard.scheduler.queues.queue_order import need_rank
from callboard.scheduler.queues.queue_tree import MonitoredQueue, QueueBalance, queue_tree
from callboard.scheduler.resources import Vector, minus, plus

WITHOUT_GUARANTEE = 2.0**31 - 1
"""How often a queue that is guaranteed nothing counts as having its guarantee."""


class BalanceParams(PartParams, frozen=True, kw_only=True):
    """How eagerly queues are balanced; YARN's defaults."""

    portion_per_round: Portion = 0.1
    """The most of the cluster that a round takes back."""
    natural_termination: Portion = 0.2
    """The part that is taken of what is to be given back; the rest has time to end by itself."""
    tolerance: NotNegative = 0.1
    """How far above its guarantee a leaf is left alone, as a part of the guarantee."""
    beyond_guarantees: bool = False
    """Whether leaves that have what they are guaranteed get more at the expense of others."""


def balance_queues(
    queues: Sequence[MonitoredQueue], calculator: ResourceCalculator, params: BalanceParams
) -> dict[str, QueueBalance]:
    """Every queue's balance by its name, parents first; QueueTreeError if they are no tree."""
    tree = queue_tree(queues)
    root = tree[0]
    total = root.queue.guaranteed
    for each in reversed(tree):
        _set_untouchable(each, calculator, total)
    root.ideal = total
    allowed = scaled_and_truncated(total, float32(params.portion_per_round))
    for each in tree:
        _Level(each, calculator, params).balance(allowed)
        each.obtained = _obtained_now(each, calculator, total, params)
    return {each.queue.name: each for each in tree}


def _set_untouchable(each: QueueBalance, calculator: ResourceCalculator, total: Vector) -> None:
    """How much of what is above the guarantee may be taken."""
    none = nothing(total)
    extra = minus(each.queue.used, each.queue.guaranteed)
    if calculator.compare(total, extra, none) < 0:
        extra = none
    offered = extra if each.queue.preemptable else none
    if each.children:
        offered = none
        for child in each.children:
            offered = plus(offered, child.preemptable)
    enough = calculator.compare(total, offered, extra) >= 0
    each.preemptable = extra if enough else offered
    each.untouchable = none if enough else minus(extra, offered)


class _Level:
    """The children of one queue, which share what it should hold."""

    def __init__(
        self, parent: QueueBalance, calculator: ResourceCalculator, params: BalanceParams
    ) -> None:
        self.children = parent.children
        self.calculator = calculator
        self.total = parent.ideal
        self.beyond_guarantees = params.beyond_guarantees
        self.none = nothing(parent.ideal)

    def balance(self, allowed: Vector) -> None:
        """Set what each child should hold and gives back."""
        guaranteed = [
            each for each in self.children if self.is_more(each.queue.guaranteed, self.none)
        ]
        others = [each for each in self.children if each not in guaranteed]
        free = self.share_out(guaranteed, self.total, uniformly=False)
        if self.is_more(free, self.none):
            self.share_out(others, free, uniformly=True)
        scale = self.preemption_scale(allowed)
        for each in self.children:
            each.given_back = self.given_back(each, scale)

    def is_more(self, one: Vector, other: Vector) -> bool:
        return self.calculator.compare(self.total, one, other) > 0

    def smaller(self, one: Vector, other: Vector) -> Vector:
        return other if self.is_more(one, other) else one

    def larger(self, one: Vector, other: Vector) -> Vector:
        return other if self.is_more(other, one) else one

    def share_out(self, queues: Sequence[QueueBalance], free: Vector, *, uniformly: bool) -> Vector:
        """What is left when nobody of them takes more."""
        for each in queues:
            each.ideal = self.initial_ideal(each)
            free = minus(free, each.ideal)
        needy = [each for each in queues if self.is_more(each.wanted, each.ideal)]
        while needy and self.is_more(free, self.none):
            portions = _offered_portions(needy, uniformly=uniformly)
            served, needy = self.most_underserved(needy)
            free = self.offer_in_turn(served, needy, free, portions)
        return free

    def initial_ideal(self, each: QueueBalance) -> Vector:
        """What it has, up to its guarantee and what nobody may take."""
        queue = each.queue
        if self.is_more(queue.used, queue.guaranteed):
            return plus(smaller_of_each(queue.guaranteed, queue.used), each.untouchable)
        return queue.used

    def most_underserved(
        self, needy: Sequence[QueueBalance]
    ) -> tuple[list[QueueBalance], list[QueueBalance]]:
        """Those with least of what they are guaranteed, and the others."""
        ranks = [need_rank(self.guarantee_ratio(each), each.queue.priority) for each in needy]
        least = min(ranks)
        split: tuple[list[QueueBalance], list[QueueBalance]] = ([], [])
        for each, rank in zip(needy, ranks, strict=True):
            split[rank != least].append(each)
        return split

    def guarantee_ratio(self, each: QueueBalance) -> float:
        """How often what it should hold is what it is guaranteed."""
        if not self.is_more(each.queue.guaranteed, self.none):
            return WITHOUT_GUARANTEE
        return self.calculator.ratio(self.total, each.ideal, each.queue.guaranteed)

    def offer_in_turn(
        self,
        served: Iterable[QueueBalance],
        needy: list[QueueBalance],
        free: Vector,
        portions: dict[str, list[float]],
    ) -> Vector:
        """Offer each its portion; who takes some stays needy.  What is left of the free."""
        round_starts_with = free
        for each in served:
            if not self.is_more(free, self.none):
                break
            portion = self.calculator.portion(round_starts_with, portions[each.queue.name])
            taken = self.accepted(each, smaller_of_each(portion, free))
            each.ideal = plus(each.ideal, taken)
            if self.is_more(taken, self.none):
                needy.append(each)
            free = clamped_at_zero(minus(free, taken))
        return free

    def accepted(self, each: QueueBalance, offered: Vector) -> Vector:
        """What of the offered it can use."""
        queue = each.queue
        lacking = minus(plus(queue.used, each.asked), each.ideal)
        room = clamped_at_zero(minus(queue.maximum, each.ideal))
        taken = smaller_of_each(room, self.smaller(offered, lacking))
        if not each.children and not self.beyond_guarantees:
            due = minus(self.larger(queue.used, queue.guaranteed), each.ideal)
            taken = self.smaller(taken, self.larger(due, self.none))
        return smaller_of_each(clamped_at_zero(taken), offered)

    def preemption_scale(self, allowed: Vector) -> float:
        """What part of all that should be given back a round allows."""
        needed = self.none
        for each in self.children:
            if self.is_more(each.queue.used, each.ideal):
                needed = plus(needed, minus(each.queue.used, each.ideal))
        if not self.is_more(needed, allowed):
            return 1.0
        return self.calculator.ratio(self.total, allowed, needed)

    def given_back(self, each: QueueBalance, scale: float) -> Vector:
        """What it has above what it should hold and above what it needs of its guarantee."""
        queue = each.queue
        kept = self.larger(self.smaller(each.wanted, queue.guaranteed), each.ideal)
        if not self.is_more(queue.used, kept):
            return self.none
        return scaled_and_truncated(minus(queue.used, kept), scale)


def _offered_portions(needy: Sequence[QueueBalance], *, uniformly: bool) -> dict[str, list[float]]:
    """Of each resource, the part that each is offered: by guarantees, or alike."""
    count = len(needy[0].ideal)
    if uniformly:
        return {each.queue.name: [float32(Fraction(1, len(needy)))] * count for each in needy}
    sums = [sum(each.queue.guaranteed[n] for each in needy) for n in range(count)]
    return {
        each.queue.name: [
            float32(Fraction(own, whole)) if whole else 0.0
            for own, whole in zip(each.queue.guaranteed, sums, strict=True)
        ]
        for each in needy
    }


def _obtained_now(
    each: QueueBalance, calculator: ResourceCalculator, total: Vector, params: BalanceParams
) -> Vector:
    """For how much of what a leaf gives back containers are chosen now."""
    queue, none = each.queue, nothing(total)
    tolerated = scaled_and_truncated(queue.guaranteed, 1.0 + params.tolerance)
    acts = queue.preemptable and calculator.compare(total, queue.used, tolerated) > 0
    if each.children or not acts or calculator.compare(total, each.given_back, none) <= 0:
        return none
    return calculator.portion(each.given_back, [params.natural_termination] * len(total))
