"""A preemption rule for tests of the way a kill takes: every so often the newest attempt dies."""

from collections.abc import Iterator

from scheduler.decisions import Kill, Why
from scheduler.model import Millis, TaskKind
from scheduler.policy import PreemptionRule
from scheduler.view import ClusterView


class KillNewest(PreemptionRule):
    """Kills the newest running attempt of one kind or of any, so many times; and each time names
    its victim twice and one that never was, which the master has to refuse.
    """

    name = "kill-newest"
    story = "for tests"

    def __init__(
        self, every_ms: Millis = 10_000, times: int = 3, kind: TaskKind | None = TaskKind.MAP
    ) -> None:
        self.interval_ms = every_ms
        self._times = times
        self._kind = kind

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        running = [a.attempt for a in view.attempts() if self._kind in (None, a.kind)]
        if running and self._times:
            self._times -= 1
            for attempt in (running[-1], running[-1], 10**9):
                yield Kill(attempt, Why(self.name))
