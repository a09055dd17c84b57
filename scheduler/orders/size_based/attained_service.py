"""What a job has been given, as the master knows it, also while its maps run."""

from callboard.scheduler import model
from callboard.scheduler.estimation import DoneWork
from callboard.scheduler.facts import Closed, Fact, JobLeft, Launched, Resumed, Suspended
from callboard.scheduler.model import MAP, AttemptId, JobId, Millis, SlotKind, stage_on


class RunningMaps:
    """Since when each of a job's running maps has had its slot."""

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


class AttainedService:
    """The work of a job's ended and suspended tasks, and how long its running maps have run.

    Of running reduces the master does not know how long they shuffle; they count as they end.
    """

    def __init__(self) -> None:
        self._done = DoneWork()
        self._running = RunningMaps()

    def observe(self, fact: Fact, now_ms: Millis) -> None:
        self._running.observe(fact, now_ms)
        self._done.learn(fact)

    def ms(self, job: JobId, kind: SlotKind, now_ms: Millis) -> Millis:
        """On slots of this kind, in slot time."""
        running_ms = self._running.ran_ms(job, now_ms) if kind is MAP else 0
        return self._done.done_ms(job, stage_on(kind)) + running_ms
