"""A dialogue without heartbeats: reports go out at once, to the scheduler that they concern."""

from collections.abc import Callable

import msgspec

from callboard.actors.kernel.address import launching_scheduler_address
from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.dialogue import Dialogue
from callboard.scheduler.model import JobId, Millis


class DirectDialogue(Dialogue):
    """With several schedulers; `scheduler_of_job` gives the address of a job's."""

    __slots__ = ("_latency_ms", "_scheduler_of_job")

    def __init__(self, latency_ms: Millis, scheduler_of_job: Callable[[JobId], int]) -> None:
        self._latency_ms = latency_ms
        self._scheduler_of_job = scheduler_of_job

    def report(self, report: msg.AnyReport) -> None:
        if isinstance(report, msg.FetchFailure):
            to = self.scheduler_of_running(report.job)
        else:
            to = launching_scheduler_address(report.attempt)
        self.say(to, report, report.cause)

    def say(self, to: int, message: msgspec.Struct, cause: int) -> None:
        """Have the scheduler at this address hear it."""
        self._node.send(to, message, cause, self._latency_ms)

    def scheduler_of_running(self, job: JobId) -> int:
        """The address of the scheduler of any attempt of the job which runs here."""
        return self._scheduler_of_job(job)
