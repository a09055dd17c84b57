"""Which nodes Sparrow's schedulers ask, and how many for each task: they are drawn at random among
those that have slots for a stage.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from callboard.actors.books.frontend import JobStage
from callboard.actors.books.node_contacts import NodeContacts
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import JobId, NodeId, SlotKind, Stage, slot_kind


class ProbeRatios(NamedTuple):
    """How many nodes are asked for each task (the probe ratio d of SOSP 2013, §4.1): of jobs that
    may run anywhere, and of the others (None: as many).
    """

    probes: float
    constrained: float | None = None

    def ratio_for(self, only_on: tuple[str, ...]) -> float:
        """That of a job which may run on these node types alone."""
        return self.constrained if only_on and self.constrained is not None else self.probes


class Draws:
    """Draws by (job, stage, batch): the same whatever else is drawn."""

    def __init__(self, nodes: Sequence[NodeFacts], seed: int) -> None:
        self._nodes = nodes
        self._able: dict[tuple[SlotKind, tuple[str, ...]], list[NodeId]] = {}
        """By kind of slot and node types, once they have been asked for."""
        self._seed = seed

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        """That many nodes, or all of them if there are fewer, in random order."""
        return self.distinct_on((), job, stage, batch, count)

    def distinct_on(
        self, types: tuple[str, ...], job: JobId, stage: Stage, batch: int, count: int
    ) -> Sequence[NodeId]:
        """The same of the nodes of these types, or of all if none is named."""
        able = self._able_nodes(slot_kind(stage), types)
        bits = Stream(self._seed, f"probes/{stage}/{batch}").bits_row(job, len(able))
        places = np.arange(len(able))
        if count < len(able):
            places = np.sort(np.argpartition(bits, count)[:count])
        order = np.argsort(bits[places], kind="stable")
        return [able[place] for place in places[order].tolist()]

    def _able_nodes(self, kind: SlotKind, types: tuple[str, ...]) -> list[NodeId]:
        if (kind, types) not in self._able:
            slots = [(each.map_slots, each.reduce_slots)[kind] for each in self._nodes]
            self._able[kind, types] = [
                each.node
                for each, has in zip(self._nodes, slots, strict=True)
                if has and (not types or each.node_type in types)
            ]
        return self._able[kind, types]


class Batches:
    """How often a scheduler has drawn nodes for each stage: each time it is another batch."""

    def __init__(self) -> None:
        self._drawn: Counter[JobStage] = Counter()

    def next_batch(self, job: JobId, stage: Stage) -> int:
        """How often this was asked before."""
        self._drawn[job, stage] += 1
        return self._drawn[job, stage] - 1

    def stages(self, job: JobId) -> list[Stage]:
        """The job's stages that have had any."""
        return [stage for number, stage in self._drawn if number == job]

    def forget_job(self, job: JobId) -> None:
        """The job has ended."""
        for stage in self.stages(job):
            del self._drawn[job, stage]


class DrawsWithinReach:
    """The draws of a scheduler that passes over the nodes which it has given up; `only_on` says on
    which types of node alone a job may run.
    """

    def __init__(
        self,
        draws: Draws,
        contacts: NodeContacts,
        only_on: Callable[[JobId], tuple[str, ...]],
    ) -> None:
        self._draws = draws
        self._contacts = contacts
        self._only_on = only_on

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        """That many nodes, or fewer where there are not as many, in random order."""
        lost, types = self._contacts.lost, self._only_on(job)
        what = (job, stage, batch, count + len(lost))
        drawn = self._draws.distinct_on(types, *what) if types else self._draws.distinct(*what)
        return self._contacts.within_reach(drawn)[:count] if lost else drawn
