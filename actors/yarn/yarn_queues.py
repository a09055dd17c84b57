"""The queues of a resource manager, as a tree, and what is held in each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

from callboard.actors.yarn.counted_amounts import CountedAmounts
from callboard.actors.yarn.held_containers import Application
from callboard.actors.yarn.yarn_params import FALLBACK_QUEUE, YarnQueueParams
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.amounts import nothing, smaller_of_each
from callboard.scheduler.resources import Vector, minus, plus

ROOT_QUEUE = "root"
"""The queue above all."""


class YarnQueue:
    """A queue: a leaf has applications, others have queues below them."""

    def __init__(self, path: str, params: YarnQueueParams, parent: "YarnQueue | None") -> None:
        self.path = path
        self.params = params
        self.parent = parent
        self.children: list[YarnQueue] = []
        self.share = Fraction(1)
        """What part of the cluster it is due."""
        self.largest = Fraction(1)
        """What part of it it may hold."""
        self.guaranteed: Vector = ()
        self.maximum: Vector = ()
        self.used: Vector = ()
        self.masters: Vector = ()
        """What application masters hold, or have been let in for."""
        self.users: dict[str, Vector] = {}
        """What each user of a leaf holds."""
        self.applications: dict[int, Application] = {}
        """Those that may run, in the order in which they were submitted."""
        self.asking: dict[int, Application] = {}
        """Those of them that ask for something, in that order."""
        self.active_users: Counter[str] = Counter()
        """Whose these are, and how many."""
        self.waiting: list[Application] = []
        """Those of a leaf that have to wait until masters leave."""
        self.changes = 0
        """Of the root: how often anything has changed in the tree."""
        self.demands: Counter[Vector] = Counter()
        """Of the root: what applications ask for, and how many of them."""
        self._root: YarnQueue = self if parent is None else parent._root
        if parent is not None:
            parent.children.append(self)

    def set_amounts_due(self, counted: CountedAmounts) -> None:
        """Know what it is due of the cluster's total, and all below it too."""
        total = counted.total
        self.guaranteed = tuple(int(self.share * each) for each in total)
        by_share = tuple(int(self.largest * each) for each in total)
        counted.check_names(self.params.max_resources, f"queues.{self.path}.max_resources")
        counted.check_names(self.params.min_resources, f"queues.{self.path}.min_resources")
        stated = counted.amounts_by_name(self.params.max_resources, by_share)
        self.maximum = smaller_of_each(by_share, stated)
        self.used = self.masters = nothing(total)
        for child in self.children:
            child.set_amounts_due(counted)

    def hold(self, user: str, amounts: Vector) -> None:
        """A container of the user's is held in this leaf, and so in all queues above it."""
        self.users[user] = plus(self.held_by(user), amounts)
        self._root.changes += 1
        for queue in self.lineage():
            queue.used = plus(queue.used, amounts)

    def give_up(self, user: str, amounts: Vector) -> None:
        """It is held no more."""
        self.users[user] = minus(self.users[user], amounts)
        self._root.changes += 1
        for queue in self.lineage():
            queue.used = minus(queue.used, amounts)

    def held_by(self, user: str) -> Vector:
        """What a user holds."""
        return self.users.get(user) or nothing(self.used)

    def lineage(self) -> Iterator["YarnQueue"]:
        """It and all above it, the root last."""
        queue: YarnQueue | None = self
        while queue is not None:
            yield queue
            queue = queue.parent

    def subtree(self) -> Iterator["YarnQueue"]:
        """It and all below it, every parent before its children."""
        yield self
        for child in self.children:
            yield from child.subtree()

    def note_pending(self, application: Application) -> None:
        """See whether an application of this leaf asks for something now."""
        demands = tuple(each.demand for each in application.pending_requests())
        if application.job not in self.applications:
            demands = ()
        root = self._root
        root.changes += 1
        root.demands.update(demands)
        root.demands.subtract(application.demands)
        application.demands = demands
        has, was = bool(demands), application.job in self.asking
        if has and not was:
            self.asking[application.job] = application
            self.active_users[application.user] += 1
            if len(self.asking) > 1:
                self.asking = dict(sorted(self.asking.items(), key=_submission_number))
        elif was and not has:
            del self.asking[application.job]
            self.active_users[application.user] -= 1
            if not self.active_users[application.user]:
                del self.active_users[application.user]

    def has_pending(self) -> bool:
        """Whether anything is asked for in it."""
        return bool(self.asking) or any(child.has_pending() for child in self.children)


def _submission_number(each: tuple[int, Application]) -> int:
    return each[1].submission


class QueueTree:
    """All queues by path.  ValueError if their parameters do not fit together."""

    def __init__(self, stated: Mapping[str, YarnQueueParams], *, open_ended: bool) -> None:
        self.root = YarnQueue(ROOT_QUEUE, YarnQueueParams(), None)
        self._open_ended = open_ended
        self._counted: CountedAmounts | None = None
        self._by_path: dict[str, YarnQueue] = {}
        for path in stated:
            self._put_queue_at_path(path, stated)
        if FALLBACK_QUEUE not in self._by_path:
            self._put_queue_at_path(FALLBACK_QUEUE, stated)
        self._stated = tuple(self._by_path.values())
        self._set_shares_below(self.root)

    def _put_queue_at_path(self, path: str, stated: Mapping[str, YarnQueueParams]) -> YarnQueue:
        """The queue of this path, with all above it."""
        if not path or not all(path.split("/")):
            raise ValueError(f"`{path}` is no path of a queue, as `prod/etl` is one")
        if path not in self._by_path:
            above, _, _ = path.rpartition("/")
            parent = self._put_queue_at_path(above, stated) if above else self.root
            params = stated.get(path) or YarnQueueParams()
            queue = self._by_path[path] = YarnQueue(path, params, parent)
            if self._counted is not None:
                queue.set_amounts_due(self._counted)
        return self._by_path[path]

    def _set_shares_below(self, parent: YarnQueue) -> None:
        """Say what part of the cluster the queues below this one are due, and may hold."""
        stated = [each.params.capacity for each in parent.children]
        exact = [exact_fraction(each) for each in stated if each is not None]
        left, unstated = 100 - sum(exact, Fraction()), stated.count(None)
        if left < 0:
            told = f"the capacities of the queues below `{parent.path}`"
            raise ValueError(f"{told} add up to {float(100 - left):g} %")
        for child, capacity in zip(parent.children, stated, strict=True):
            percent = Fraction(left, unstated) if capacity is None else exact_fraction(capacity)
            child.share = parent.share * percent / 100
            child.largest = parent.largest * exact_fraction(child.params.maximum_capacity) / 100
            if child.largest < child.share:
                told = f"queue `{child.path}` may hold {float(100 * child.largest):g} %"
                raise ValueError(f"{told}, less than its capacity, {float(100 * child.share):g} %")
            self._set_shares_below(child)

    def set_amounts_due(self, counted: CountedAmounts) -> None:
        """Know the cluster."""
        self._counted = counted
        self.root.set_amounts_due(counted)

    def leaf(self, pool: str) -> YarnQueue:
        """The queue of a job's pool: that of this path, also as YARN writes it (`root.prod.etl` is
        `prod/etl`), or the only stated leaf of this name; else `default`, or where queues may be
        made a new one at that path.  ValueError for one that is no leaf.
        """
        leaves = [each for each in self._stated if not each.children]
        named = [each for each in leaves if each.path.rpartition("/")[2] == pool]
        path = f"{pool}.".removeprefix(f"{ROOT_QUEUE}.").removesuffix(".").replace(".", "/")
        queue = self._by_path.get(pool) or self._by_path.get(path)
        queue = queue or (named[0] if len(named) == 1 else None)
        if queue is None and path and self._open_ended:
            if not all(path.split("/")):
                raise ValueError(f"pool `{pool}` is no path of a queue, as `prod.etl` is one")
            queue = self._put_queue_at_path(path, {})
        queue = queue or self._by_path[FALLBACK_QUEUE]
        if queue.children:
            below = f"`{queue.children[0].path}` below it, and so no jobs of its own"
            raise ValueError(f"pool `{pool}` is a queue with {below}")
        return queue
