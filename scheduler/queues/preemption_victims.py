"""Which containers give way for what queues have to give back: FifoCandidatesSelector of YARN.

Leaf by leaf, the newest application first: what is reserved for it, then its containers, those of
least priority first and of these the newest.  Its master goes only when all others are gone, and
only while the masters spared hold more than a part of the queue.  An application is asked first;
what it has not given back after a while is killed.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from callboard.scheduler.part_params import PartParams, Portion
from callboard.scheduler.queues.amounts import (
    ResourceCalculator,
    clamped_at_zero,
    float32,
    nothing,
    scaled_and_truncated,
)
from callboard.scheduler.resources import Vector, fits, minus, plus

ContainerNumber = int
"""Names a container; a later one has a higher number."""


class HeldContainer(msgspec.Struct, frozen=True, kw_only=True):
    """What an application holds."""

    number: ContainerNumber
    size: Vector
    priority: int = 0
    """The lower number is the more important, as in YARN."""
    is_master: bool = False
    is_reservation: bool = False


class LeafVictims(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf that has to give back, and what its applications hold."""

    to_obtain: Vector
    guaranteed: Vector
    applications: Sequence[Sequence[HeldContainer]]
    """What each holds, the oldest application first."""


class VictimParams(PartParams, frozen=True, kw_only=True):
    """How much is taken, and how much is spared; YARN's defaults."""

    portion_per_round: Portion = 0.1
    """The most of the cluster that a round takes back."""
    master_portion: Portion = 0.1
    """The part of a leaf's guarantee up to which masters are spared."""
    conservative: bool = False
    """Whether nothing more is taken of a leaf as soon as one resource is no longer lacking; else
    what is no longer lacking may be taken along.
    """


def select_victims(
    leaves: Iterable[LeafVictims],
    calculator: ResourceCalculator,
    total: Vector,
    params: VictimParams,
) -> list[HeldContainer]:
    """The containers to give way, in turn; together no more than a round allows of the total."""
    allowed = scaled_and_truncated(total, float32(params.portion_per_round))
    chosen: list[HeldContainer] = []
    for leaf in leaves:
        choice = _Choice(leaf.to_obtain, allowed, calculator, total, params)
        choice.take_from_leaf(leaf)
        chosen += choice.chosen
        allowed = choice.allowed
    return chosen


class _Choice:
    """What is still to be obtained of a leaf, and what has been chosen."""

    def __init__(
        self,
        to_obtain: Vector,
        allowed: Vector,
        calculator: ResourceCalculator,
        total: Vector,
        params: VictimParams,
    ) -> None:
        self.params = params
        self.to_obtain = to_obtain
        self.allowed = allowed
        self.calculator = calculator
        self.total = total
        self.none = nothing(total)
        self.chosen: list[HeldContainer] = []

    @property
    def done(self) -> bool:
        return self.calculator.compare(self.total, self.to_obtain, self.none) <= 0

    def take_from_leaf(self, leaf: LeafVictims) -> None:
        spared: list[HeldContainer] = []
        for held in reversed(leaf.applications):
            for container in _in_order_of_loss(held):
                if self.done:
                    return
                if container.is_master:
                    spared.append(container)
                else:
                    self.take(container)
        self.take_masters(spared, scaled_and_truncated(leaf.guaranteed, self.params.master_portion))

    def take_masters(self, spared: Sequence[HeldContainer], kept: Vector) -> None:
        """The masters too, while those that are spared hold more than is kept."""
        held = self.none
        for master in spared:
            held = plus(held, master.size)
        for master in spared:
            if self.done or self.calculator.compare(self.total, held, kept) <= 0:
                return
            if self.take(master):
                held = minus(held, master.size)

    def take(self, container: HeldContainer) -> bool:
        """Choose it if it brings something that is lacking and the round allows it."""
        before = self.to_obtain
        after = minus(before, container.size)
        brings = (
            self.calculator.compare(self.total, clamped_at_zero(after), clamped_at_zero(before)) < 0
        )
        spared = self.params.conservative and min(before) <= 0
        if spared or not brings or not fits(container.size, self.allowed):
            return False
        self.to_obtain = after
        self.allowed = minus(self.allowed, container.size)
        self.chosen.append(container)
        return True


def _in_order_of_loss(held: Iterable[HeldContainer]) -> list[HeldContainer]:
    """An application's containers, the one that goes first first."""
    return sorted(
        held,
        key=lambda each: (
            not each.is_reservation,
            each.number if each.is_reservation else -each.priority,
            -each.number,
        ),
    )


class AskedContainers:
    """Which containers applications have been asked for, and since when."""

    def __init__(self, wait_before_kill_ms: int) -> None:
        self.wait_before_kill_ms = wait_before_kill_ms
        self._asked_ms: dict[ContainerNumber, int] = {}

    def ask_or_kill(
        self, victims: Iterable[ContainerNumber], now_ms: int
    ) -> Iterator[tuple[ContainerNumber, bool]]:
        """Each victim that is asked for now (False) or killed (True); who has been asked and still
        has time is not named.  Who has been asked long ago and is chosen no more is forgotten.
        """
        for number in victims:
            since = self._asked_ms.get(number)
            if since is None:
                self._asked_ms[number] = now_ms
                yield number, False
            elif since + self.wait_before_kill_ms <= now_ms:
                del self._asked_ms[number]
                yield number, True
        self._forget_late_asks(now_ms - 2 * self.wait_before_kill_ms)

    def _forget_late_asks(self, before_ms: int) -> None:
        late = [number for number, since in self._asked_ms.items() if since < before_ms]
        for number in late:
            del self._asked_ms[number]
