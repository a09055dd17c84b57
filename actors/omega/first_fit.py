"""Randomised first fit: how all these schedulers choose nodes for the tasks of a job."""

from collections import Counter

from callboard.actors.kernel.streams import Stream
from callboard.actors.omega.cell_state import CellState, Claim
from callboard.scheduler.model import JobId, NodeId
from callboard.scheduler.resources import Vector


class CandidateDraws:
    """Which of the remaining candidates is looked at: draws by (job, how many it had before)."""

    def __init__(self, seed: int) -> None:
        self._stream = Stream(seed, "candidates")
        self._drawn: Counter[JobId] = Counter()

    def below(self, scheduler: int, candidates: int, job: JobId) -> int:  # noqa: ARG002
        """The place of one of that many candidates, for a scheduler that places this job."""
        self._drawn[job] += 1
        return self._stream.below(candidates, job, self._drawn[job])


class FirstFit:
    """One scheduler's.  Nodes that had no room change places with others in its list, which is
    kept: the order makes no odds to a uniform draw.
    """

    def __init__(self, scheduler: int, nodes: int, draws: CandidateDraws) -> None:
        self._scheduler = scheduler
        self.nodes = nodes
        self._candidates: list[NodeId] = list(range(nodes))
        self._draws = draws

    def claim_nodes(self, cell: CellState, demand: Vector, tasks: int, job: JobId) -> list[Claim]:
        """Claim nodes for up to that many tasks: a node drawn from those that have not been found
        full is given one task; it stays a candidate until it has no room.
        """
        candidates, left = self._candidates, len(self._candidates)
        claims: list[Claim] = []
        while left and len(claims) < tasks:
            place = self._draws.below(self._scheduler, left, job)
            node = candidates[place]
            if cell.has_room(node, demand):
                claims.append(cell.claim(node, demand))
            else:
                left -= 1
                candidates[place], candidates[left] = candidates[left], node
        return claims
