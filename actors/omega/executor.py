"""A node's side where schedulers know what is free there: it does what it is told, at once.

But for one case: what ran there for a scheduler that has given the node up, or is gone, is free in
the cell before the node has heard of it.  A task that is launched into such room waits until the
node has ended what was there.
"""

from collections import deque
from collections.abc import Callable, Iterable

from callboard.actors.kernel.address import launching_scheduler_address
from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.contact_dialogue import ContactDialogue
from callboard.scheduler.model import JobId, Millis, Stage
from callboard.scheduler.resources import Vector, fits, minus, plus

DemandOf = Callable[[JobId, Stage], Vector]
"""What a task of a job's stage takes of its node."""


class Executor(ContactDialogue):
    """Starts and stops attempts; the node has `room` for them."""

    __slots__ = ("_demand_of", "_free", "_room", "_waiting")

    def __init__(
        self,
        latency_ms: Millis,
        scheduler_of_job: Callable[[JobId], int],
        room: Vector,
        demand_of: DemandOf,
        seed: int = 0,
    ) -> None:
        super().__init__(latency_ms, scheduler_of_job, seed)
        self._demand_of = demand_of
        self._room = self._free = room
        self._waiting: deque[msg.LaunchTask] = deque()

    def forget_all(self) -> None:
        super().forget_all()
        self._free = self._room
        self._waiting.clear()

    def waiting_launches(self) -> Iterable[msg.LaunchTask]:
        return self._waiting

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if not self.is_stale:
            self._waiting.append(launch)
            self._start_what_fits()

    def _start_what_fits(self) -> None:
        """First come first served."""
        while self._waiting and fits(self._launch_demand(self._waiting[0]), self._free):
            launch = self._waiting.popleft()
            self._free = minus(self._free, self._launch_demand(launch))
            self.launch(launch)

    def _launch_demand(self, launch: msg.LaunchTask) -> Vector:
        return self._demand_of(launch.job, launch.stage)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        self.forget_scheduler(gone.scheduler, self._node.cause)

    def forget_scheduler(self, scheduler: int, cause: int) -> None:
        """Nobody wants what it had running here, or waiting."""
        left = [
            each for each in self._waiting if launching_scheduler_address(each.attempt) != scheduler
        ]
        self._waiting = deque(left)
        self.kill_attempts_of(scheduler, cause)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it; an end makes room."""
        super().report(report)
        if isinstance(report, msg.EndReport):
            over = self._running.pop(report.attempt)
            self._free = plus(self._free, self._launch_demand(over))
            self._start_what_fits()
