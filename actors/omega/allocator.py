"""Mesos's allocator: offers all that is free to one framework at a time, by dominant shares."""

from collections.abc import Sequence
from typing import TypeAlias

from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.omega.cell_holder import CellHolder
from callboard.actors.omega.cell_messages import (
    AllocationDue,
    AnswerOffer,
    CancelRequest,
    OfferDue,
    OfferSettled,
    Release,
    RequestOffer,
    ResourceOffer,
)
from callboard.actors.omega.cell_state import is_worth_offering, reachable_capacity
from callboard.actors.omega.think_params import MesosParams
from callboard.actors.vocabulary import messages as msg
from callboard.actors.world import World
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.resources import Vector, fits, minus, plus, total

Offered: TypeAlias = tuple[tuple[NodeId, Vector], ...]
"""What is free at some nodes."""


class Allocator(CellHolder):
    """What is offered is locked: taken from the cell until the framework has answered."""

    def __init__(self, world: World, schedulers: Sequence[int], params: MesosParams) -> None:
        super().__init__("allocator", world, schedulers)
        self.used: dict[int, Vector] = {}
        """What each framework's tasks take."""
        self.offers: dict[int, tuple[int, Offered, int]] = {}
        """Offers without an answer: to which scheduler, of what, and in which of its lives."""
        self._capacities = world.resources[1]
        self._whole = total(world.resources[1])
        self._params = params
        self._lacking: dict[int, tuple[Vector, ...]] = {}
        """What each framework had no room for in the last offer that it has answered."""
        self._requests: dict[int, int] = {}
        """Who has asked, and in which life."""
        self._is_gathering = False
        self._last_offer = 0

    def on_request_offer(self, request: RequestOffer) -> None:
        self._requests.setdefault(request.scheduler, request.life)
        self._time_next_allocation(self.cause)
        self.watch_nodes_on_request()

    def on_cancel_request(self, cancel: CancelRequest) -> None:
        self._requests.pop(cancel.scheduler, None)

    @property
    def wants_nodes(self) -> bool:
        """As long as anybody waits for an offer, too."""
        return bool(self._requests) or super().wants_nodes

    def _time_next_allocation(self, cause: int) -> None:
        """Make an offer in a while, of all that is free by then."""
        if not self._is_gathering:
            self._is_gathering = True
            self.timer(AllocationDue(), round(1000 * self._params.gather), cause)

    def on_allocation_due(self, _: AllocationDue) -> None:
        """Offer all that is free to the first of those that have asked, if it is enough."""
        self._is_gathering = False
        asking = self._frameworks_awaiting_offer()
        free = self._offerable_amounts()
        if not asking or not self.is_worth_an_offer(total(free)):
            return
        nodes = tuple((node, each) for node, each in enumerate(free) if any(each))
        for node, each in nodes:
            self.cell.claim(node, each)
        self._last_offer += 1
        framework = self.framework_of_least_share(asking)
        self.offers[self._last_offer] = (framework, nodes, self._requests[framework])
        think_ms = round(1000 * self._params.allocation)
        self.timer(OfferDue(self._last_offer), think_ms, self.cause)

    def _offerable_amounts(self) -> list[Vector]:
        """What is free of each node, but for nodes that are to be offered whole: somebody has found
        no room for a task, and one of these would have it with the parts that others think about.
        Else frameworks that lack room could pass the parts to and fro for ever.
        """
        free = [self.cell.claimable(node) for node in range(len(self.cell.free))]
        lacking = {demand for each in self._lacking.values() for demand in each}
        for node, parts in (
            self._locked_amounts().items() if lacking and not self._params.parallel else ()
        ):
            here, whole = free[node], plus(free[node], parts)
            if any(fits(each, whole) and not fits(each, here) for each in lacking):
                free[node] = (0,) * len(here)
        return free

    def _locked_amounts(self) -> dict[NodeId, Vector]:
        """What frameworks think about, by node."""
        locked: dict[NodeId, Vector] = {}
        for _, nodes, _ in self.offers.values():
            for node, part in nodes:
                locked[node] = plus(locked[node], part) if node in locked else part
        return locked

    def _frameworks_awaiting_offer(self) -> list[int]:
        """Who has asked; where frameworks think of one offer at a time, who has none to answer."""
        if self._params.parallel:
            return list(self._requests)
        busy = {framework for framework, _, _ in self.offers.values()}
        return [each for each in self._requests if each not in busy]

    def is_worth_an_offer(self, free: Vector) -> bool:
        """Whether so much is worth an offer, beside what the nodes within reach have."""
        whole = reachable_capacity(self._capacities, self.contacts.lost)
        return is_worth_offering(free, whole, self._params.minimum)

    def framework_of_least_share(self, frameworks: Sequence[int]) -> int:
        """The framework of the least dominant share; of equal ones that which asked first."""
        return min(frameworks, key=self.dominant_share)

    def dominant_share(self, framework: int) -> float:
        """The greatest share that the framework's tasks have of any resource."""
        used = self.used.get(framework, (0,) * len(self._whole))
        return max(part / whole for part, whole in zip(used, self._whole, strict=True) if whole)

    def on_offer_due(self, due: OfferDue) -> None:
        if due.offer in self.offers:
            framework, nodes, life = self.offers[due.offer]
            offer = ResourceOffer(due.offer, nodes, life)
            self.send(framework, offer, self.cause, self._latency_ms)

    def on_answer_offer(self, answer: AnswerOffer) -> None:
        """Unlock the offer, and take from it what the framework wants.  Nobody else can have taken
        that, so there are no conflicts.
        """
        framework = answer.scheduler
        self._lacking[framework] = answer.lacking
        self._unlock_offer(answer.offer)
        for demand, chosen in answer.claims:
            for node in chosen:
                self.cell.claim(node, demand)
                self.record_claim(framework, node, demand)
                self._count_used(framework, demand)
        self.send(framework, OfferSettled(answer.offer), self.cause, self._latency_ms)
        self._time_next_allocation(self.cause)

    def _unlock_offer(self, offer: int) -> None:
        _, nodes, _ = self.offers.pop(offer)
        for node, each in nodes:
            self.cell.release(node, each)

    def _count_used(self, framework: int, demand: Vector) -> None:
        used = self.used.get(framework)
        self.used[framework] = demand if used is None else plus(used, demand)

    def on_release(self, release: Release) -> None:
        super().on_release(release)
        self.used[release.scheduler] = minus(self.used[release.scheduler], release.demand)
        self._time_next_allocation(NO_CAUSE)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """What it was offered is free too, and it asks for nothing."""
        super().on_scheduler_gone(gone)
        self._requests.pop(gone.scheduler, None)
        self._lacking.pop(gone.scheduler, None)
        self.used.pop(gone.scheduler, None)
        for offer in [each for each, (who, _, _) in self.offers.items() if who == gone.scheduler]:
            self._unlock_offer(offer)
        self._time_next_allocation(self.cause)

    def lose_contact(self, node: NodeId, heard_ms: Millis, *, again: bool) -> int:
        """What the others have free may be enough now."""
        event = super().lose_contact(node, heard_ms, again=again)
        self._time_next_allocation(event)
        return event

    def regain_contact(self, node: NodeId) -> None:
        super().regain_contact(node)
        self._time_next_allocation(self.cause)
