"""Suspend: the victims of the rule `kill`, whose nodes keep their work.

When and which is as in `scheduler.preemption.kill`; what becomes of a victim is told in
`scheduler.preemption.suspend_limits`.  A suspended attempt goes on when its node has a free slot
and the order comes to its job, before that job launches anything new there.

*No livelock.*  Victims are the newest by launch, so that an attempt which has been resumed is
among the last to be chosen again.  And an order goes out with the node's next reply only, so a
resumed attempt runs for a heartbeat interval at least before it can be suspended: it ends at
last.  *No slots are taken in vain*: suspended tasks, which can go on only on their nodes, are no
reason to take slots anywhere (`StarvationWatch.deficits`).
"""

from callboard.scheduler.preemption import suspend_limits as limits
from callboard.scheduler.preemption.kill import KillParams, NewestAboveShare


class SuspendPreemption(NewestAboveShare):
    """Suspend the newest attempts above the shares, and keep their work."""

    name = "suspend"
    summary = "suspend the newest attempts of jobs above their share when others starve"
    guarantees = ("newest-first",)

    class Params(KillParams, frozen=True, kw_only=True):
        """Those of `kill`; `limit` is the most suspended attempts a node, `over` says whether a
        victim on a full node is killed or spared, and after `kill_after_s` suspended seconds an
        attempt is killed.
        """

        limit: limits.AttemptLimit = 2
        over: limits.WhenFull = "wait"
        kill_after_s: limits.KillAfter = float("inf")

    def __init__(self, params: Params | None = None) -> None:
        self.params = params = params or SuspendPreemption.Params()
        kept = limits.SuspendLimits(params.limit, params.over, params.kill_after_s)
        super().__init__(params, kept)
