"""What becomes of a victim where work is kept: suspended, or killed when its node is full
(Pastorelli, Dell'Amico, Michiardi, "OS-assisted task preemption for Hadoop", ICDCS Workshops 2014).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.model import NodeId
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView

AttemptLimit = Annotated[int, Meta(ge=1)]
WhenFull = Literal["kill", "wait"]
"""What happens to a victim on a full node, or of a task with two attempts: it is killed, or it is
none.
"""
KillAfter = Annotated[float, Meta(gt=0)]


class SuspendLimits:
    """At most `limit` suspended attempts a node, none for longer than `kill_after_s`."""

    def __init__(self, limit: int, over: WhenFull, kill_after_s: float) -> None:
        self._limit = limit
        self._over = over
        self._kill_after_ms = 1000 * kill_after_s
        self._held: Counter[NodeId] = Counter()

    def allows_victim(self, attempt: AttemptView) -> bool:
        return self._over == "kill" or self.can_suspend(attempt)

    def can_suspend(self, attempt: AttemptView) -> bool:
        """Whether the attempt would be suspended, and not killed: its node must have room for it,
        and one of a task's two attempts cannot be suspended.
        """
        return attempt.alone and self._held[attempt.node] < self._limit

    def kill_or_suspend(self, attempt: AttemptView, why: Why) -> Kill | Suspend:
        if not self.can_suspend(attempt):
            return Kill(attempt.attempt, why)
        self._held[attempt.node] += 1
        return Suspend(attempt.attempt, why)

    def overdue_kills(self, name: str, view: ClusterView) -> Iterator[Kill]:
        """Begin a check: kill what was suspended too long, count what each node holds or will."""
        rank = 0
        for attempt in view.attempts():
            since_ms = attempt.suspended_ms
            if since_ms is None or attempt.killing:
                continue
            waited_ms = view.now_ms - since_ms
            if waited_ms > self._kill_after_ms:
                rank += 1
                why = Why(Reason.SUSPENDED_TOO_LONG, name, rank, waited_ms / 1000)
                yield Kill(attempt.attempt, why)
        held = (a.node for a in view.attempts() if a.suspending or a.suspended_ms is not None)
        self._held = Counter(held)
