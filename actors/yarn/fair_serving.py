"""The Fair Scheduler of YARN: queues and applications by their shares of memory, or of what they
have most of (FairScheduler, FairSharePolicy, DominantResourceFairnessPolicy).
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cmp_to_key

from callboard.actors.yarn.held_containers import Application, ContainerRequest
from callboard.actors.yarn.serving import Served, Serving
from callboard.actors.yarn.yarn_queues import YarnQueue
from callboard.scheduler.model import Locality
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.amounts import nothing
from callboard.scheduler.queues.dominant_order import DominantClaim, compare_dominant
from callboard.scheduler.resources import Vector, fits, plus


class FairServing(Serving):
    """By shares; of memory alone unless it is dominant (`drf`)."""

    assignments = 1

    def in_order(self) -> Iterator[Served]:
        yield from self._applications_below(self.tree.root)

    def _applications_below(self, queue: YarnQueue) -> Iterator[Served]:
        if not queue.children:
            asking = list(queue.asking.values())
            claims = [
                self._dominant_claim(each.used, nothing(each.used), Fraction(1)) for each in asking
            ]
            for place in self._places_by_claim(claims):
                yield queue, asking[place]
            return
        children = [child for child in queue.children if child.has_pending()]
        for place in self._places_by_claim([self._claim_of_queue(child) for child in children]):
            yield from self._applications_below(children[place])

    def _claim_of_queue(self, queue: YarnQueue) -> DominantClaim:
        least = self.counted.amounts_by_name(queue.params.min_resources, nothing(queue.used))
        return self._dominant_claim(queue.used, least, exact_fraction(queue.params.weight))

    def _dominant_claim(self, used: Vector, least: Vector, weight: Fraction) -> DominantClaim:
        counts = len(used) if self.params.scheduler == "drf" else 1
        weights = (weight,) * counts
        return DominantClaim(used=used[:counts], min_share=least[:counts], weights=weights)

    def _places_by_claim(self, claims: Sequence[DominantClaim]) -> list[int]:
        """Their places, the one that is served first first; equal ones as they stand."""
        if len(claims) == 1:
            return [0]

        def compared(one: int, other: int) -> int:
            first, second = claims[one], claims[other]
            return compare_dominant(first, second, self.counted.total[: len(first.used)])

        return sorted(range(len(claims)), key=cmp_to_key(compared))

    def score(self, queue: YarnQueue) -> float:
        """The part of the cluster that it holds, of memory or of what it holds most of."""
        counts = len(queue.used) if self.params.scheduler == "drf" else 1
        shares = zip(queue.used[:counts], self.counted.total, strict=False)
        return max(used / whole if whole else 0.0 for used, whole in shares)

    def allows(self, queue: YarnQueue, application: Application, amounts: Vector) -> bool:  # noqa: ARG002
        """Within the maximum of the queue and of all above it."""
        return all(fits(plus(each.used, amounts), each.maximum) for each in queue.lineage())

    def farthest_allowed_level(self, request: ContainerRequest) -> Locality:
        """By the part of all nodes that have been passed over (FSAppAttempt); what names no place
        does not wait (YARN-2990).
        """
        by_node, by_rack = self.params.node_threshold, self.params.rack_threshold
        if by_node < 0 or by_rack < 0 or not request.place_count:
            return Locality.OFF_RACK
        if request.missed <= by_node * self.nodes:
            return Locality.NODE
        if request.missed <= (by_node + by_rack) * self.nodes:
            return Locality.RACK
        return Locality.OFF_RACK
