"""A preemption rule for tests of the way a kill takes: every ten seconds the newest map dies."""

from collections.abc import Iterator

from scheduler.decisions import Kill, Why
from scheduler.model import TaskKind
from scheduler.policy import PreemptionRule
from scheduler.view import ClusterView


class EveryTenSeconds(PreemptionRule):
    """Kills the newest running map, up to three times, and once an attempt that is no more."""

    name = "every-ten-seconds"
    story = "for tests"
    interval_ms = 10_000

    def __init__(self, times: int = 3) -> None:
        self.times = times

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        maps = [a for a in view.attempts() if a.kind is TaskKind.MAP]
        if maps and self.times:
            self.times -= 1
            yield Kill(maps[-1].attempt, Why(self.name))
            yield Kill(10**9, Why(self.name))
