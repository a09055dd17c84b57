"""A scheduler that places only on what it is offered (Mesos; EuroSys 2013, §3.3)."""

from collections import deque
from typing import TypeAlias

from callboard.actors.omega.cell_holder import CELL_HOLDER
from callboard.actors.omega.cell_messages import (
    AnswerOffer,
    CancelRequest,
    OfferSettled,
    OfferThoughtOver,
    RequestOffer,
    ResourceOffer,
)
from callboard.actors.omega.cell_state import (
    CellState,
    CommitResult,
    is_worth_offering,
    reachable_capacity,
)
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.think_params import MesosParams
from callboard.actors.omega.thinking import ThinkingScheduler, Thought
from callboard.actors.world import World
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.resources import Vector, fits, minus, total

Placed: TypeAlias = tuple[Thought, tuple[NodeId, ...]]
"""A thought, and the nodes that it found."""


class Framework(ThinkingScheduler):
    """Asks for offers while anything is in its queue.  It places one stage after the other on an
    offer, as long as there is something in both, thinks for as long as all that takes together, and
    then answers.  What it was offered nobody else gets meanwhile.
    """

    why = Why(Reason.FIRST_FIT, "mesos")
    params: MesosParams

    def __init__(
        self, number: int, world: World, params: MesosParams, draws: CandidateDraws
    ) -> None:
        super().__init__(number, world, params, draws)
        self._capacities = world.resources[1]
        self._clear_offers()

    def _clear_offers(self) -> None:
        self._offers: deque[ResourceOffer] = deque()
        """Those that it has not thought about yet."""
        self._thinking = 0
        """How many it thinks about: one at most, unless it is to think of several at a time."""
        self.placed: dict[int, list[Placed]] = {}
        """What has been found in offers that are not answered yet, by their numbers."""

    def forget_all(self) -> None:
        super().forget_all()
        self._clear_offers()

    def serve(self) -> None:
        """Ask for an offer."""
        request = RequestOffer(self.address, self.life)
        self.send(CELL_HOLDER, request, self.cause, self._latency_ms)

    def on_resource_offer(self, offer: ResourceOffer) -> None:
        if offer.life == self.life:
            self._offers.append(offer)
            self._think_of_offers()

    def _think_of_offers(self) -> None:
        while self._offers and (self.params.parallel or not self._thinking):
            offer = self._offers.popleft()
            self._thinking += 1
            length_ms = self.place_on(offer)
            if not self.queue:
                self.send(CELL_HOLDER, CancelRequest(self.address), self.cause, self._latency_ms)
            self.timer(OfferThoughtOver(offer.offer), length_ms, self.cause)

    def place_on(self, offer: ResourceOffer) -> Millis:
        """Find nodes in the offer; how long all thoughts about it take together."""
        cell = self._cell_of_offer(offer)
        free = total(cell.claimable(node) for node in range(len(cell.free)))
        placed = self.placed[offer.offer] = []
        length_ms = 0
        whole = reachable_capacity(self._capacities, self.contacts.lost)
        while is_worth_offering(free, whole):
            thought = self.next_thought()
            if thought is None:
                break
            self.note_thought_begun(thought, self.now_ms + length_ms)
            length_ms += thought.ms
            nodes = self._nodes_for(thought, cell, free)
            for _ in nodes:
                free = minus(free, thought.of.demand)
            placed.append((thought, nodes))
            thought.of.claimed += len(nodes)
            self.count_attempt(thought.of, len(nodes))
            self.pause_or_drop_stage(thought.of, self.cause)
        return length_ms

    def _cell_of_offer(self, offer: ResourceOffer) -> CellState:
        """A cell with nothing but the offer, as far as its nodes are within reach."""
        nothing = [(0,) * len(self._capacities[0])] * len(self._capacities)
        cell = CellState(nothing, shut=self.contacts.lost)
        cell.update((node, free, 0) for node, free in offer.nodes)
        return cell

    def _nodes_for(self, thought: Thought, cell: CellState, free: Vector) -> tuple[NodeId, ...]:
        if not self.could_fit(thought.of.demand, free):
            return ()
        stage = thought.of
        claims = self.first_fit.claim_nodes(cell, stage.demand, thought.tasks, stage.job)
        return tuple(node for node, _ in claims)

    def could_fit(self, demand: Vector, free: Vector) -> bool:
        """Whether it is worth while to look for nodes: all that is free together is enough for one
        task.
        """
        return fits(demand, free)

    def on_offer_thought_over(self, over: OfferThoughtOver) -> None:
        if over.offer not in self.placed:  # but in an earlier life
            return
        self._thinking -= 1
        placed = self.placed[over.offer]
        claims = tuple((thought.of.demand, nodes) for thought, nodes in placed)
        left = [thought.of for thought, _ in placed if self.unplaced_tasks(thought.of)]
        lacking = tuple(dict.fromkeys(each.demand for each in left if each.waits))
        answer = AnswerOffer(self.address, over.offer, claims, lacking)
        self.send(CELL_HOLDER, answer, self.cause, self._latency_ms)
        self._think_of_offers()

    def on_offer_settled(self, answered: OfferSettled) -> None:
        """What it has taken is its own: launch."""
        for thought, nodes in self.placed.pop(answered.offer, ()):
            thought.of.claimed -= len(nodes)
            event = self.conclude(thought, CommitResult(nodes, ()))
            self.pause_or_drop_stage(thought.of, event)
