"""Which nodes Sparrow's schedulers ask: drawn at random among those that have slots for a stage."""

from collections.abc import Sequence

import numpy as np

from callboard.actors.books.node_contacts import NodeContacts
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import KINDS, JobId, NodeId, Stage, slot_kind


class Draws:
    """Draws by (job, stage, batch): the same whatever else is drawn."""

    def __init__(self, nodes: Sequence[NodeFacts], seed: int) -> None:
        slots = [(each.map_slots, each.reduce_slots) for each in nodes]
        self._able = [
            [each.node for each, has in zip(nodes, slots, strict=True) if has[kind]]
            for kind in KINDS
        ]
        self._seed = seed

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        """So many nodes, or all of them if there are fewer, in random order."""
        able = self._able[slot_kind(stage)]
        bits = Stream(self._seed, f"probes/{stage}/{batch}").bits_row(job, len(able))
        places = np.arange(len(able))
        if count < len(able):
            places = np.sort(np.argpartition(bits, count)[:count])
        order = np.argsort(bits[places], kind="stable")
        return [able[place] for place in places[order].tolist()]


class DrawsWithinReach:
    """The draws of a scheduler that passes over the nodes which it has given up."""

    def __init__(self, draws: Draws, contacts: NodeContacts) -> None:
        self._draws = draws
        self._contacts = contacts

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        """So many nodes, or fewer where there are not as many, in random order."""
        lost = self._contacts.lost
        drawn = self._draws.distinct(job, stage, batch, count + len(lost))
        return self._contacts.within_reach(drawn)[:count] if lost else drawn
