"""A tree of queues as YARN's preemption monitor looks at it."""

from collections.abc import Iterator, Sequence

import msgspec

from callboard.scheduler.queues.amounts import clamped_at_zero, nothing
from callboard.scheduler.resources import Vector, minus, plus


class QueueTreeError(ValueError):
    """Queues that are no tree; the message is meant for people."""


class MonitoredQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as the monitor finds it; of a parent, what is pending, reserved and preemptable is
    what its leaves say.
    """

    name: str
    parent: str | None = None
    """None for the root, of which there is one."""
    guaranteed: Vector
    maximum: Vector
    used: Vector
    pending: Vector
    """What its applications still ask for."""
    reserved: Vector
    """What full nodes hold back for it; it is not asked for a second time."""
    preemptable: bool = True
    priority: int = 0
    """The higher is offered first."""


class QueueBalance:
    """A queue, and what the monitor works out for it."""

    def __init__(self, queue: MonitoredQueue) -> None:
        none = nothing(queue.guaranteed)
        self.queue = queue
        self.children: list[QueueBalance] = []
        self.pending = none
        self.asked = none
        """What is pending less what is reserved."""
        self.untouchable = none
        """What it holds above its guarantee, and nobody may take."""
        self.preemptable = none
        """What it holds above its guarantee, and others may take."""
        self.ideal = none
        """What it should hold."""
        self.given_back = none
        """What it holds above that, as far as a round allows."""
        self.obtained: Vector = none
        """For how much containers are chosen now; of leaves only."""

    @property
    def wanted(self) -> Vector:
        """What it has and asks for."""
        return plus(self.queue.used, self.pending)

    def add_up(self) -> None:
        """Take over what is pending, from the children where there are some."""
        if not self.children:
            self.pending = self.queue.pending
            self.asked = clamped_at_zero(minus(self.pending, self.queue.reserved))
        for child in self.children:
            self.pending = plus(self.pending, child.pending)
            self.asked = plus(self.asked, child.asked)


def queue_tree(queues: Sequence[MonitoredQueue]) -> tuple[QueueBalance, ...]:
    """The queues with their children, the root first, every parent before its children;
    QueueTreeError if they are no tree.
    """
    balances = {queue.name: QueueBalance(queue) for queue in queues}
    if len(balances) != len(queues):
        raise QueueTreeError("two queues have one name")
    roots = [each for each in balances.values() if each.queue.parent is None]
    if len(roots) != 1:
        raise QueueTreeError(f"{len(roots)} queues have no parent; one has none, the root")
    for each in balances.values():
        _put_below_its_parent(each, balances)
    found = tuple(_from_the_root(roots[0]))
    if len(found) != len(queues):
        raise QueueTreeError("some queues are below each other, and not below the root")
    for each in reversed(found):
        each.add_up()
    return found


def _put_below_its_parent(balance: QueueBalance, balances: dict[str, QueueBalance]) -> None:
    name, parent = balance.queue.name, balance.queue.parent
    if parent is not None:
        if parent not in balances:
            raise QueueTreeError(f"queue `{name}` is below `{parent}`, which is not there")
        balances[parent].children.append(balance)


def _from_the_root(balance: QueueBalance) -> Iterator[QueueBalance]:
    yield balance
    for child in balance.children:
        yield from _from_the_root(child)
