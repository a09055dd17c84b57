"""What architectures of several schedulers share: each keeps the books of its own jobs, may end and
begin anew, and finds out by itself which nodes are silent.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from callboard.actors.architecture import Architecture
from callboard.actors.books.frontend import Frontend
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.contact import MAY_SILENCE
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.vocabulary import faults
from callboard.scheduler.model import JobId
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.policy import PolicySpecError


class SeveralSchedulers(Architecture):
    """Schedulers with the numbers from 1 to `count`."""

    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
        *(faults.CrashScheduler, faults.RestartScheduler),
        *(faults.Crash, faults.Restart, faults.Disturb, faults.Partition),
    )

    params: Any

    def __init__(self, params: PartParams | None = None) -> None:
        self.params = params or self.Params()
        self.frontends: list[Frontend] = []
        """The schedulers, by number, from when they are admitted."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many there are."""

    def check(self, jobs: Iterable[JobSpec], script: Iterable[ScheduledFault]) -> None:
        script = list(script)
        super().check(jobs, script)
        last = {
            each.fault.scheduler: each.fault
            for each in sorted(script, key=lambda each: each.at_ms)
            if isinstance(each.fault, faults.SchedulerFault)
        }
        for each in script:
            if isinstance(each.fault, faults.SchedulerFault):
                number = each.fault.scheduler
                for_ever = isinstance(last[number], faults.CrashScheduler)
                if told := self.why_not_crash(number, for_ever=for_ever):
                    raise PolicySpecError(f"`{self.name}`: {told}")

    def why_not_crash(self, scheduler: int, *, for_ever: bool) -> str | None:  # noqa: ARG002
        """Why the scheduler of this number cannot crash, be it `for_ever`; None if it can."""
        if scheduler > self.count:
            return f"there is no scheduler {scheduler}; there are {self.count}"
        return None

    def schedulers(self) -> Sequence[int]:
        return [scheduler_address(number) for number in range(1, self.count + 1)]

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:
        if isinstance(fault, faults.SchedulerFault):
            return [scheduler_address(fault.scheduler)]
        return self.watchers() if isinstance(fault, MAY_SILENCE) else ()

    def watchers(self) -> Sequence[int]:
        """The addresses of those that find out which nodes are silent."""
        return self.schedulers()

    def books_of(self, job: JobId) -> BookedJob | None:
        books = (each.ledger for each in self.frontends)
        return next((each.job(job) for each in books if each.has_job(job)), None)
