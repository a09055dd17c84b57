"""For how long a job's running maps have run, as the master knows it."""

from callboard.scheduler import model
from callboard.scheduler.facts import Closed, Fact, JobLeft, Launched, Resumed, Suspended
from callboard.scheduler.model import AttemptId, JobId, Millis


class RunningMaps:
    """Since when each of them has had its slot."""

    def __init__(self) -> None:
        self._since: dict[JobId, dict[AttemptId, Millis]] = {}

    def observe(self, fact: Fact, now_ms: Millis) -> None:
        match fact:
            case Launched(job, model.MAPS, attempt) | Resumed(job, model.MAPS, attempt):
                self._since.setdefault(job, {})[attempt] = now_ms
            case Closed(job, model.MAPS, attempt) | Suspended(job, model.MAPS, attempt):
                self._since[job].pop(attempt, None)
            case JobLeft(job):
                self._since.pop(job, None)

    def ran_ms(self, job: JobId, now_ms: Millis) -> Millis:
        """What they have run together, each from when it last got its slot."""
        return sum(now_ms - began_ms for began_ms in self._since.get(job, {}).values())
