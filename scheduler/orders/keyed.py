"""Orders that compare jobs by a key: kept sorted, O(log n) a fact, never scanned for a slot."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, Self, TypeVar

from sortedcontainers import SortedList

from callboard.scheduler.entitlements import (
    ClaimantKind,
    Entitlements,
    demand_of,
    entitlements_by_rank,
)
from callboard.scheduler.facts import Fact, JobArrived, JobLeft, OfJob, StageFact
from callboard.scheduler.model import KINDS, MAP, JobId, SlotKind
from callboard.scheduler.policy import Order, PartMisbehaves, QueuedJob
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.view import ClusterView, JobView, Offer

SortKey = tuple[Any, ...]
"""What is compared; ties go by number or name, so that the order is total."""

Member = TypeVar("Member", int, str)


class SortedQueue(Generic[Member]):
    """Jobs or users by key."""

    def __init__(self) -> None:
        self._sorted: SortedList[tuple[SortKey, Member]] = SortedList()
        self._keys: dict[Member, SortKey] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: Member) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[tuple[SortKey, Member]]:
        """First one first; the queue must not change meanwhile."""
        return iter(self._sorted)

    def put(self, name: Member, key: SortKey) -> None:
        old = self._keys.get(name)
        if old == key:
            return
        for each in key:
            if each != each:
                raise PartMisbehaves(f"{_key_text(key)} is no key: nothing compares with nan")
        if old is not None:
            self._sorted.remove((old, name))
        try:
            self._sorted.add((key, name))
        except TypeError as error:
            raise PartMisbehaves(f"no other key compares with {_key_text(key)}: {error}") from None
        self._keys[name] = key

    def key_of(self, name: Member) -> SortKey | None:
        return self._keys.get(name)

    def drop(self, name: Member) -> None:
        key = self._keys.pop(name, None)
        if key is not None:
            self._sorted.remove((key, name))


def _key_text(key: SortKey) -> str:
    """A key for people, who may have forgotten to call a method."""
    names = [each.__name__ for each in key if callable(each)]
    shown = ", ".join(each.__name__ if callable(each) else f"{each!r:.40}" for each in key)
    return f"({shown})" + "".join(f", in which `{name}` lacks its (kind)" for name in names)


class KeyedOrder(Order):
    """An order by a key, with a queue for each kind of slot.  A job is keyed anew whenever a fact
    is told about it; a key that may change with others' facts is renewed by `place` when it does.
    """

    ages = False

    keys_lag: ClassVar[bool] = False
    """Whether a key may be as it was at the last fact of its own stage, whatever it would be by
    now: jobs are keyed anew by these facts alone.
    """

    _queues: tuple[SortedQueue[JobId], ...]

    def __new__(cls, *_args: object, **_params: object) -> Self:
        """With its queues, even where a derived order's own `__init__` forgets this one's."""
        order = super().__new__(cls)
        order._queues = (SortedQueue(), SortedQueue())
        return order

    @abstractmethod
    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        """What the job is compared by; smaller goes first."""

    @abstractmethod
    def score(self, key: SortKey) -> float:
        """The number in the key that a person wants to see."""

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, JobLeft):
            for queue in self._queues:
                queue.drop(fact.job)
        elif not self.keys_lag:
            if isinstance(fact, OfJob):
                for kind in KINDS:
                    self.place(fact.job, kind, view)
        elif isinstance(fact, StageFact):
            self.place(fact.job, fact.kind, view)
        elif isinstance(fact, JobArrived):
            self.place(fact.job, MAP, view)

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        for key, job in self._queues[kind]:
            yield QueuedJob(view.job(job), self.score(key))

    def place(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        """Key a job anew: it stands where its key of now has it, or leaves a queue in which nothing
        of it is pending.
        """
        if not isinstance(job, int):
            raise PartMisbehaves(f"`place` takes a job's number, `job.job`, not {job!r:.60}")
        seen = view.job(job)
        if not seen.pending(kind):
            self._queues[kind].drop(job)
            return
        key: object = self.key(seen, kind)
        if not isinstance(key, tuple):
            shown = f"{key!r:.80}: `key` gives a tuple, such as (job.submitted_ms,)"
            raise PartMisbehaves(f"the order `{self.name}` compares a job by {shown}")
        if not self._queues[kind] and any(map(callable, key)):  # once tells
            raise PartMisbehaves(f"the order `{self.name}` compares a job by {_key_text(key)}")
        self._queues[kind].put(job, key)

    def why_stuck(self, view: ClusterView) -> str:
        for kind in KINDS:
            for job in view.jobs():
                if job.pending(kind) and job.job not in self._queues[kind]:
                    return (
                        f"the order `{self.name}` has job {job.job} not in its queue though it has"
                        " tasks pending: an `observe` of one's own calls `super().observe(fact,"
                        " view)`"
                    )
        return ""

    def kept_key(self, job: JobId, kind: SlotKind) -> SortKey | None:
        """The key by which it stands in the queue; None if it does not stand in it."""
        return self._queues[kind].key_of(job)


class RankedOrder(KeyedOrder, Ranking):
    """An order by a key that does not grow as the job is served, so that its ranking entitles."""

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:  # noqa: ARG002
        """By the queue's own rank, else a slot taken for one job would go to another.  A key is as
        it was when the job's own facts last changed it, though others have ended meanwhile.
        """
        ranked = sorted(view.jobs(), key=lambda job: (self._key_of(job, kind), job.job))
        return entitlements_by_rank(ranked, kind, view.slots(kind))

    def tiers(self, kind: SlotKind, view: ClusterView) -> list[list[JobId]]:
        jobs = [job for job in view.jobs() if demand_of(job, kind)]
        ranked = sorted((self.standing_key(job, kind, view), job.job) for job in jobs)
        return [[job] for _, job in ranked]

    def standing_key(self, job: JobView, kind: SlotKind, view: ClusterView) -> SortKey:  # noqa: ARG002
        """The key by which the job stands in the queue, or would."""
        return self._key_of(job, kind)

    def _key_of(self, job: JobView, kind: SlotKind) -> SortKey:
        return self.kept_key(job.job, kind) or self.key(job, kind)
