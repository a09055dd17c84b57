"""Choosing victims among running attempts, newest first, down to the shares."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import floor

from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.reasons import Claimant
from callboard.scheduler.view import AttemptView, ClusterView


def possible_victims(kind: SlotKind, view: ClusterView) -> tuple[list[AttemptView], int]:
    """The attempts of a kind that hold a slot, newest first (at one instant the higher number), but
    those giving it up already, and the number of these.
    """
    attempts = [a for a in view.attempts() if a.kind is kind and a.suspended_ms is None]
    alive = [a for a in reversed(attempts) if not (a.killing or a.suspending)]
    return alive, len(attempts) - len(alive)


class Excess:
    """How many attempts each claimant could lose and still have ⌊share⌋ of them (rule S13), as in
    Hadoop.
    """

    def __init__(self, entitlements: Sequence[Entitlement], alive: Iterable[AttemptView]) -> None:
        self._entitlement_of: dict[JobId, Entitlement] = {
            job: claim for claim in entitlements for job in claim.jobs
        }
        running: Counter[Claimant] = Counter(
            self._entitlement_of[attempt.job].claimant
            for attempt in alive
            if attempt.job in self._entitlement_of
        )
        self._left = {
            claim.claimant: running[claim.claimant] - floor(claim.share) for claim in entitlements
        }

    def attempts_to_lose(self, job: JobId) -> int:
        """How many attempts the claimant behind this job can still lose; 0 if it is none."""
        claim = self._entitlement_of.get(job)
        return 0 if claim is None else max(self._left[claim.claimant], 0)

    def lose_attempt(self, job: JobId) -> None:
        claim = self._entitlement_of.get(job)
        if claim is not None:
            self._left[claim.claimant] -= 1
