"""A preemption rule of one's own: a job that runs nothing gets a slot of the job that runs most.

callboard run hfsp-test --policy fair --policy fair+./docs/examples/nobody_waits.py:NobodyWaits
"""

from collections.abc import Iterator

from callboard.scheduler.decisions import Kill
from callboard.scheduler.model import SlotKind
from callboard.scheduler.policy import PreemptionRule
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import ClusterView


class NobodyWaits(PreemptionRule):
    """A job that runs nothing gets the slot of the newest attempt of the job that runs most."""

    name = "nobody-waits"
    summary = "kill the newest attempt of the largest job for a job that runs nothing"
    interval_ms = 10_000

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        for kind in SlotKind:
            attempts = [each for each in view.attempts() if each.kind is kind]
            waits = any(job.pending(kind) > 0 and job.running(kind) == 0 for job in view.jobs())
            room = view.running(kind) < view.slots(kind)
            if not waits or room or any(attempt.killing for attempt in attempts):
                continue
            largest = max(view.jobs(), key=lambda job: job.running(kind))
            if largest.running(kind) > 1:
                newest = max(each.attempt for each in attempts if each.job == largest.job)
                yield Kill(newest, Why(Reason.OWN, self.name))
