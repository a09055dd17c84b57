"""Where a job waited that a scheduler of a shared cell had to think about, for `explain`."""

from collections import Counter
from collections.abc import Iterator

from callboard.actors.vocabulary.events import SchedulingAttempted
from callboard.journal.tell.names import node_name
from callboard.scheduler.model import NodeId
from callboard.scheduler.text.quantities import clock, count, duration

_NODES_SHOWN = 3


class SchedulingStory:
    """The attempts to place one job."""

    def __init__(self) -> None:
        self._scheduler = 0
        self.attempts = 0
        """How many there have been."""
        self._in_vain = 0
        self._wasted = 0
        self._queued_ms = 0
        self._thought_ms = 0
        self._conflicts: Counter[NodeId] = Counter()
        self._last_lost_ms = 0

    def add(self, event: SchedulingAttempted) -> None:
        """Take note of one."""
        self._scheduler = event.scheduler
        self.attempts += 1
        self._queued_ms += event.queued_ms
        self._thought_ms += event.thought_ms
        self._conflicts.update(event.conflicted)
        self._wasted += bool(event.conflicted)
        in_vain = not event.conflicted and not event.committed
        self._in_vain += in_vain
        if in_vain or event.conflicted:
            self._last_lost_ms = event.at_ms

    def lines(self, *, placed: bool) -> Iterator[str]:
        """What came of them, of a job of which tasks were `placed` or not; nothing where nobody had
        to think.
        """
        if not self.attempts:
            return
        thought = f"{count(self.attempts, 'thought')} in {duration(self._thought_ms)}"
        queued = f"it waited {duration(self._queued_ms)} in the queue"
        did = "placed it by" if placed else "did not place it in"
        yield f"  Scheduler {self._scheduler} {did} {thought}, before which {queued}"
        if self._in_vain:
            yield f"    {count(self._in_vain, 'thought')} found no room"
        if self._wasted:
            lost = f"{count(self._conflicts.total(), 'claim')}, {self._conflicts_by_node_text()}"
            yield f"    {count(self._wasted, 'thought')} ended in conflict: {lost}"
        if self._in_vain or self._wasted:
            yield f"    the last such one at {clock(self._last_lost_ms)}"

    def _conflicts_by_node_text(self) -> str:
        ranked = sorted(self._conflicts.items(), key=lambda each: (-each[1], each[0]))
        shown = ", ".join(f"{node_name(node)} {n:,}" for node, n in ranked[:_NODES_SHOWN])
        rest = len(ranked) - _NODES_SHOWN
        return f"on {shown}" + (f", and {count(rest, 'other node')}" if rest > 0 else "")
