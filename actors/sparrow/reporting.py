"""What nodes tell Sparrow's schedulers of attempts, however the attempts came there."""

from abc import abstractmethod
from collections.abc import Callable

from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.dialogue import Dialogue
from callboard.scheduler.model import AttemptId, JobId, Millis, SlotKind, scheduler_of


class Reporting(Dialogue):
    """Reports go out at once, to the scheduler that they concern.

    `address_of` gives the address of a scheduler by its number in attempts, `address_for` that of
    a job's.
    """

    __slots__ = ("_address_for", "_address_of", "_latency_ms", "_running")

    def __init__(
        self,
        latency_ms: Millis,
        address_of: Callable[[int], int],
        address_for: Callable[[JobId], int],
    ) -> None:
        self._latency_ms = latency_ms
        self._address_of = address_of
        self._address_for = address_for
        self._running: dict[AttemptId, SlotKind] = {}

    @abstractmethod
    def released(self, kind: SlotKind, cause: int) -> None:
        """A slot of this kind is free again, by this event."""

    def launch(self, launch: msg.LaunchTask) -> None:
        """Start an attempt in a free slot."""
        self._running[launch.attempt] = launch.kind
        self._node.launch(launch)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it; an end frees a slot."""
        if isinstance(report, msg.FetchFailure):
            to = self._address_for(report.job)
        else:
            to = self._address_of(scheduler_of(report.attempt))
        self._node.send(to, report, report.cause, self._latency_ms)
        if isinstance(report, msg.EndReport):
            self.released(self._running.pop(report.attempt), report.cause)

    def begin(self) -> None:
        pass

    def begin_life(self, cause: int) -> None:
        pass

    def end_life(self) -> None:
        pass

    def disturbed(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        pass
