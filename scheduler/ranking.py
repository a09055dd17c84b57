"""Which jobs stand before which: the hook by which preemption by rank asks an order.

An order that shares is no `Ranking`: the job that runs less stands first there, so a slot taken for
it would put its victim first, and so on for ever.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from callboard.scheduler.model import AttemptId, JobId, SlotKind
from callboard.scheduler.view import ClusterView


class Ranking(ABC):
    """An order in which a job's place in the queue does not depend on what the job runs."""

    @abstractmethod
    def tiers(self, kind: SlotKind, view: ClusterView) -> Sequence[Sequence[JobId]]:
        """All jobs with tasks of this kind to run or running, in ranks; jobs of one tier share.
        The first one with something to launch is the queue's first.  Asked once a check, not for a
        slot.
        """

    def urgent_tasks(self, kind: SlotKind, view: ClusterView) -> Sequence[tuple[JobId, int]]:  # noqa: ARG002
        """(job, n): n pending tasks of the job go before every tier now; first one first."""
        return ()

    def spared_attempts(self, kind: SlotKind) -> Collection[AttemptId]:  # noqa: ARG002
        """Running attempts that no job outranks."""
        return ()
