"""When something of a node is not as it should be, so that a timeline cannot contradict itself."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from sortedcontainers import SortedList

from callboard.actors.events import NodeFacts
from callboard.scenarios.targets import refuse
from callboard.scenarios.timeline import Timeline
from callboard.scheduler.model import NodeId

MASTER = -1
"""Where a node's number stands for spells of nodes."""


class Spell(NamedTuple):
    """A time in which something of a node is not as it should be; `place` is the entry's."""

    begin_ms: float
    end_ms: float
    place: int


class Spells:
    """All of them, by node and by what of it is concerned."""

    def __init__(self) -> None:
        self.of: dict[tuple[NodeId, str], SortedList[Spell]] = {}

    def meeting(self, node: NodeId, subject: str, begin_ms: float, end_ms: float) -> Spell | None:
        """One that falls into a time, if any does; there never are two at once."""
        spells = self.of.get((node, subject))
        if spells is None:
            return None
        at = spells.bisect_left(Spell(end_ms, -1, -1)) - 1  # the last that begins before the end
        return spells[at] if at >= 0 and spells[at].end_ms > begin_ms else None

    def add(
        self, node: NodeId, subject: str, spell: Spell, what: str = "", field: str = "nodes"
    ) -> None:
        """One more; ScenarioError where there is one already: `what` has happened then."""
        other = self.meeting(node, subject, spell.begin_ms, spell.end_ms)
        if other is not None:
            when = max(spell.begin_ms, other.begin_ms) / 1000
            happens = what or f"node-{node} is struck"
            problem = f"{happens} by timeline[{other.place}] already at {when:,g} s"
            refuse(f"{problem}; let one end before the other begins", spell.place, field)
        self.of.setdefault((node, subject), SortedList()).add(spell)

    def check_some_left(self, timeline: Timeline, nodes: Sequence[NodeFacts]) -> None:
        """ScenarioError where no node with a kind of slot would be left in the end."""
        gone: dict[NodeId, int] = {}
        for (node, _), struck in self.of.items():
            if node == MASTER:
                continue
            for spell in struck:
                if spell.end_ms == inf and timeline[spell.place].takes_away():
                    gone[node] = max(gone.get(node, 0), spell.place)
        if not gone:
            return
        place = max(gone.values())
        for what in ("map", "reduce"):
            having = [facts for facts in nodes if getattr(facts, f"{what}_slots")]
            if having and all(facts.node in gone for facts in having):
                problem = f"every node with a {what} slot would be gone for ever"
                problem = f"{problem}, so jobs could not end"
                refuse(f"{problem}; give one `for_s`", place, "nodes")
