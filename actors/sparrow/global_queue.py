"""What Sparrow is measured by: one queue for all, kept by a scheduler that knows every slot.

It hears of each end and sends the next task there, so a task waits for no slot while one is free
but for the way there and back (the omniscient scheduler of SOSP 2013, §7).
"""

from collections import deque

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.frontend import Frontend, JobStage
from callboard.actors.world import World
from callboard.scheduler.model import KINDS, JobId, NodeId, SlotKind, Stage, slot_kind
from callboard.scheduler.reasons import Reason, Why


class GlobalQueue(Frontend):
    """Stages are served in the order in which they came, by the slots that were free first."""

    why = Why(Reason.FREE_SLOT, "sparrow")

    def __init__(self, number: int, world: World) -> None:
        super().__init__(number, world)
        self._waiting: tuple[dict[JobStage, int], ...] = ({}, {})
        """Stages with tasks that no node has been given, in order, and what made them pending."""
        self._slots = {each.node: (each.map_slots, each.reduce_slots) for each in world.nodes}
        self._free: list[deque[tuple[NodeId, int]]] = [deque(), deque()]
        """Free slots, with the events that freed them."""
        for kind in KINDS:
            there = self.contacts.within_reach(self._slots)
            for level in range(max((slots[kind] for slots in self._slots.values()), default=0)):
                with_more = (node for node in there if self._slots[node][kind] > level)
                self._free[kind] += [(node, 0) for node in with_more]

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:  # noqa: ARG002
        """Wait behind the stages that came before."""
        kind = slot_kind(stage)
        self._waiting[kind].setdefault((job, stage), cause)
        self._serve_waiting_stages(kind)

    def withdraw_job(self, job: JobId, cause: int) -> None:  # noqa: ARG002
        for waiting in self._waiting:
            for each in [each for each in waiting if each[0] == job]:
                del waiting[each]

    def node_lost(self, node: NodeId, cause: int) -> None:  # noqa: ARG002
        """Its slots are there no more."""
        self._free = [deque(each for each in free if each[0] != node) for free in self._free]

    def node_back(self, node: NodeId, cause: int) -> None:
        """All of its slots are free."""
        for kind in KINDS:
            self._free[kind] += [(node, cause)] * self._slots[node][kind]
            self._serve_waiting_stages(kind)

    def attempt_ended(self, entry: BookedAttempt, cause: int) -> None:
        """Its slot is free."""
        self._free[entry.kind].append((entry.node, cause))
        self._serve_waiting_stages(entry.kind)

    def _serve_waiting_stages(self, kind: SlotKind) -> None:
        """Give free slots to the stages that wait, first come first served."""
        waiting, served = self._waiting[kind], []
        for of, pending in waiting.items():
            if not self._free[kind]:
                break
            if not self._serve_stage(kind, of, pending):
                served.append(of)
        for of in served:
            del waiting[of]

    def _serve_stage(self, kind: SlotKind, of: JobStage, pending: int) -> bool:
        """Give it those that suit it: not where what is left has failed, or may not run.  Whether
        it is to wait.
        """
        (number, stage), free = of, self._free[kind]
        job = self.ledger.known_job(number)
        unsuited: list[tuple[NodeId, int]] = []
        while free and job is not None and self.tasks_to_place(job, stage):
            node, freed = free.popleft()
            if self.launch_task(job, stage, node, max(pending, freed)) is None:
                unsuited.append((node, freed))
        free.extendleft(reversed(unsuited))
        return job is not None and (not free or self.tasks_to_place(job, stage) > 0)
