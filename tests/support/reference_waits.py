"""Delay scheduling, written from docs/policies.md ("Delay scheduling, exactly") alone, for the
reference cluster.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.reference_cluster import NODE, OFF_RACK, RACK, ReferenceWait


@dataclass
class JobWait:
    """A job's level and its wait."""

    level: int = NODE
    waited_ms: int = 0


class WaitByTime(ReferenceWait):
    """T1 for rack-local maps, T1 + T2 for any.  A job that a map decision passed over, and gave no
    map, is credited with the time up to the next instant with a map decision.
    """

    def __init__(self, node_ms: int, rack_ms: int) -> None:
        self._node_ms = node_ms
        self._rack_ms = rack_ms
        self._jobs: defaultdict[int, JobWait] = defaultdict(JobWait)
        self._passed: set[int] = set()
        self._decided_ms = 0

    def allowed(self, job: int, now_ms: int) -> int:
        wait = self._jobs[job]
        credit_ms = now_ms - self._decided_ms if job in self._passed else 0
        waited_ms = wait.waited_ms + credit_ms
        if wait.level == OFF_RACK:
            return OFF_RACK
        if wait.level == RACK:
            return OFF_RACK if waited_ms >= self._rack_ms else RACK
        if waited_ms >= self._node_ms + self._rack_ms:
            return OFF_RACK
        return RACK if waited_ms >= self._node_ms else NODE

    def launched(self, job: int, level: int) -> None:
        self._jobs[job] = JobWait(level)
        self._passed.discard(job)

    def answered(self, passed: Sequence[int], served: Sequence[int], now_ms: int) -> None:
        if not passed and not served:
            return
        if now_ms > self._decided_ms:
            for job in self._passed:
                self._jobs[job].waited_ms += now_ms - self._decided_ms
            self._passed.clear()
            self._decided_ms = now_ms
        self._passed |= {*passed} - {*served}


class WaitByCount(ReferenceWait):
    """Anywhere once that many heartbeats have passed the job over, since its last local map."""

    def __init__(self, skips: int) -> None:
        self._skips = skips
        self._counts: defaultdict[int, int] = defaultdict(int)

    def allowed(self, job: int, now_ms: int) -> int:  # noqa: ARG002
        return OFF_RACK if self._counts[job] >= self._skips else NODE

    def launched(self, job: int, level: int) -> None:
        if level == NODE:
            self._counts[job] = 0

    def answered(self, passed: Sequence[int], served: Sequence[int], now_ms: int) -> None:  # noqa: ARG002
        for job in {*passed} - {*served}:
            self._counts[job] += 1
