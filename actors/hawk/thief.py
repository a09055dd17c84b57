"""How an idle node looks for work: it asks others, one after the other (Hawk, ATC 2015, §3.7)."""

from collections.abc import Sequence

from callboard.actors.hawk.probe_draws import ProbeDraws
from callboard.scheduler.model import KINDS, NodeId, SlotKind


class Thief:
    """One node's; `victims`, by kind of slot and in ascending order, are those that nodes may ask,
    which may have the node itself.
    """

    def __init__(
        self, node: NodeId, victims: Sequence[Sequence[NodeId]], attempts: int, draws: ProbeDraws
    ) -> None:
        self._node = node
        self._victims = victims
        self._attempts = attempts
        self._draws = draws
        self._drawn = [0 for _ in KINDS]
        self._to_go = [0 for _ in KINDS]
        """How many more it asks before it gives up; 0 while it does not look for work."""

    def begin(self, kind: SlotKind) -> NodeId | None:
        """It has become idle: the node it asks; None if it is already looking, or there is none."""
        if self._to_go[kind]:
            return None
        self._to_go[kind] = self._attempts + 1
        return self.go_on(kind)

    def go_on(self, kind: SlotKind) -> NodeId | None:
        """The last one had nothing: the node that it asks next; None once it has asked enough."""
        self._to_go[kind] -= 1
        if self._to_go[kind]:
            turn = self._drawn[kind] + 1
            found = self._draws.victim(self._node, kind, turn, self._victims[kind])
            if found is not None:
                self._drawn[kind] = turn
                return found
        self.give_up(kind)
        return None

    def times_asked(self, kind: SlotKind) -> int:
        """How often it has asked anybody."""
        return self._drawn[kind]

    def awaits(self, kind: SlotKind, turn: int) -> bool:
        """Whether it waits for the answer of that turn."""
        return bool(self._to_go[kind]) and self._drawn[kind] == turn

    def give_up(self, kind: SlotKind) -> None:
        """There is work, or it has asked enough."""
        self._to_go[kind] = 0
