"""When which faults are in force, so that a timeline cannot contradict itself."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from sortedcontainers import SortedList

from callboard.actors.vocabulary.events import NodeFacts
from callboard.scenarios.targets import refuse_entry
from callboard.scenarios.timeline import LinkEntry, Timeline, TimelineEntry
from callboard.scheduler.model import NodeId

MASTER_AS_NODE = -1  # under which intervals of the master and of jobs are kept


class FaultInterval(NamedTuple):
    """A time in which a fault is in force; `place` is its entry's."""

    begin_ms: float
    end_ms: float
    place: int


class FaultIntervals:
    """All of them, by node and by subject (`NodesEntry.subject`)."""

    def __init__(self) -> None:
        self.by_subject: dict[tuple[NodeId, str], SortedList[FaultInterval]] = {}

    def overlapping(
        self, node: NodeId, subject: str, begin_ms: float, end_ms: float
    ) -> FaultInterval | None:
        """The last that overlaps a time, if any does."""
        intervals = self.by_subject.get((node, subject))
        if intervals is None:
            return None
        last = intervals.bisect_left(FaultInterval(end_ms, -1, -1)) - 1  # to begin before the end
        return intervals[last] if last >= 0 and intervals[last].end_ms > begin_ms else None

    def add(
        self,
        node: NodeId,
        subject: str,
        interval: FaultInterval,
        what: str = "",
        field: str = "nodes",
    ) -> None:
        """Add one; ScenarioError, which says `what` happens, where it overlaps another."""
        other = self.overlapping(node, subject, interval.begin_ms, interval.end_ms)
        if other is not None:
            when = max(interval.begin_ms, other.begin_ms) / 1000
            happens = what or f"node-{node} is affected"
            problem = f"{happens} by timeline[{other.place}] already at {when:,g} s"
            refuse_entry(f"{problem}; let one end before the other begins", interval.place, field)
        self.by_subject.setdefault((node, subject), SortedList()).add(interval)

    def check_slots_left(self, timeline: Timeline, nodes: Sequence[NodeFacts]) -> None:
        """ScenarioError where no node with a kind of slot would be left in the end."""
        gone: dict[NodeId, int] = {}
        for (node, subject), intervals in self.by_subject.items():
            if node == MASTER_AS_NODE:
                continue
            for interval in intervals:
                if interval.end_ms == inf and _disables_node(subject, timeline[interval.place]):
                    gone[node] = max(gone.get(node, 0), interval.place)
        if not gone:
            return
        place = max(gone.values())
        for what in ("map", "reduce"):
            having = [facts for facts in nodes if getattr(facts, f"{what}_slots")]
            if having and all(facts.node in gone for facts in having):
                problem = f"every node with a {what} slot would be gone for ever, so jobs could not"
                refuse_entry(f"{problem} end; give one `for_s`", place, "nodes")


def _disables_node(subject: str, entry: TimelineEntry) -> bool:
    if isinstance(entry, LinkEntry):
        return entry.cut or entry.loss == 1
    return subject in ("power", "service")
