"""Suspend: the victims of the rule `kill`, whose nodes keep their work.

When, for whom and whom is as in `scheduler.preemption.kill`; what becomes of a victim is told in
`scheduler.preemption.suspend_limits`.  A suspended attempt goes on when its node has a free slot
and the order comes to its job, before that job launches anything new there.

*No livelock.*  Victims are the newest by launch, so that an attempt which has been resumed is
among the last to be chosen again.  And an order goes out with the node's next reply only, so a
resumed attempt runs for a heartbeat interval at least before it can be suspended: it ends at
last.  *Nobody starves for what no slot can give it*: suspended tasks, which can go on only on
their nodes, are no reason to take slots anywhere (`ShareBasedRule.deficits`).
"""

from collections.abc import Iterator

import msgspec

from callboard.scheduler import decisions
from callboard.scheduler.model import TaskKind
from callboard.scheduler.preemption.kill import NewestAboveShare, VictimScope, check_times
from callboard.scheduler.preemption.suspend_limits import SuspendLimits, WhenFull
from callboard.scheduler.view import ClusterView


class SuspendPreemption(NewestAboveShare):
    """Suspend the newest attempts above the shares, for who starves."""

    name = "suspend"
    summary = "suspend the newest attempts of who has more than its share, for who starves"
    guarantees = ("newest-first",)

    class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Those of `kill`; `limit` is the most suspended attempts a node, `over` says whether a
        victim on a full node is killed or spared, and after `kill_after_s` suspended seconds an
        attempt is killed.
        """

        victims: VictimScope = "global"
        interval_s: float = 15.0
        min_share_timeout_s: float = 30.0
        fair_share_timeout_s: float = 60.0
        limit: int = 2
        over: WhenFull = "wait"
        kill_after_s: float = float("inf")

        def __post_init__(self) -> None:
            check_times(self.interval_s, self.min_share_timeout_s, self.fair_share_timeout_s)
            SuspendLimits(self.limit, self.over, self.kill_after_s)

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or SuspendPreemption.Params()
        super().__init__(
            self.params.victims,
            self.params.interval_s,
            self.params.min_share_timeout_s,
            self.params.fair_share_timeout_s,
        )
        self._limits = SuspendLimits(self.params.limit, self.params.over, self.params.kill_after_s)

    def checked(self, view: ClusterView) -> Iterator[decisions.Kill | decisions.Suspend]:
        yield from self._limits.overdue(self.name, view)
        self._limits.count(view)
        yield from super().checked(view)

    def chosen(
        self, kind: TaskKind, view: ClusterView
    ) -> Iterator[decisions.Kill | decisions.Suspend]:
        for attempt, why in self.selected(kind, view, self._limits.allows):
            yield self._limits.order(attempt, why)
