"""How long attempts really take: what their slots alone know.  A task's noise is one draw at (job,
task), equal under every policy and for every attempt; an attempt's bad luck, which a speculative
attempt can avoid as it can slow nodes, one draw at (job, task, number).
"""

from collections.abc import Mapping

from callboard.actors.config import Tasks
from callboard.actors.job_spec import factor_on
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.kernel.streams import Stream
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.messages import (
    InjectedFailure,
    LaunchTask,
    MapWork,
    PlainWork,
    ReduceWork,
)
from callboard.actors.worker.machine import NO_AILMENTS, Ailments
from callboard.scheduler.model import REDUCES, JobId, Locality, Millis, Stage, TaskIndex

_NUMBERS = 1 << 20  # more attempts than any task has: the draws of the next begin there


def noisy_length_ms(
    noise: Stream, sigma: float, job: JobId, stage: Stage, task: TaskIndex, nominal_ms: float
) -> Millis:
    """The real length of a part of a task nominally so long; `noise` is the stream "duration"."""
    column = 2 * task + (stage == REDUCES)
    return round(nominal_ms * noise.lognormal(sigma, job, column))


def _draw_column(launch: LaunchTask) -> int:
    """The attempt's place among those of its job, for draws."""
    return (2 * launch.task + (launch.stage == REDUCES)) * _NUMBERS + launch.number


class Durations:
    """How long the parts of attempts take on one node while it runs at its own speed."""

    def __init__(
        self,
        facts: NodeFacts,
        tasks: Tasks,
        seed: int,
        recorded: Mapping[JobId, RecordedTasks] | None = None,
    ) -> None:
        self._speed = facts.speed
        self._node_type = facts.node_type
        self.tasks = tasks
        self._locality_factors = [tasks.locality_factor(level) for level in Locality]
        self._recorded = recorded or {}
        self._noise = Stream(seed, "duration")
        self._luck = Stream(seed, "straggler")
        self._failing = Stream(seed, "failing")
        self._hanging = Stream(seed, "hanging")
        self._fails_at = Stream(seed, "fails-at")
        self._sticking = Stream(seed, "sticking")

    def of_map(self, launch: LaunchTask, work: MapWork) -> Millis:
        """A map at the locality of its launch."""
        factor = self._locality_factors[launch.level] * self._length_factor(launch, work)
        recorded = self._recorded.get(launch.job)
        ms = work.ms if recorded is None else self._recorded_length_and_failure(recorded, launch)[0]
        return self._drawn_length_ms(launch, ms * factor)

    def of_shuffle(self, launch: LaunchTask, work: ReduceWork) -> Millis:
        """A reduce's whole shuffle, if every output is there from the start."""
        recorded = self._recorded.get(launch.job)
        ms = work.shuffle_ms if recorded is None else recorded.reduce(launch.task).shuffle_ms
        return self._drawn_length_ms(launch, ms)

    def of_shuffle_tail(self, launch: LaunchTask, work: ReduceWork) -> Millis:
        """The last map's part of it."""
        recorded = self._recorded.get(launch.job)
        ms = work.tail_ms if recorded is None else recorded.reduce(launch.task).tail_ms
        return self._drawn_length_ms(launch, ms)

    def of_rest(self, launch: LaunchTask, work: ReduceWork) -> Millis:
        """What comes after a reduce's shuffle."""
        recorded = self._recorded.get(launch.job)
        ms = (
            work.reduce_ms
            if recorded is None
            else self._recorded_length_and_failure(recorded, launch)[0]
        )
        return self._drawn_length_ms(launch, ms * self._length_factor(launch, work))

    def of_plain(self, work: PlainWork) -> Millis:
        """A job's setup or cleanup, which has neither noise nor failures."""
        return round(work.ms / self._speed)

    def injected_failure(self, launch: LaunchTask, machine: Ailments) -> InjectedFailure | None:
        """How an attempt that starts on such a machine is to fail; None if it is to succeed."""
        recorded = self._recorded.get(launch.job)
        at = None if recorded is None else self._recorded_length_and_failure(recorded, launch)[1]
        if recorded is not None and at is not None:
            failure = recorded.failure(launch.stage, launch.task, launch.number)
            assert failure is not None
            return InjectedFailure(at, False, NO_CAUSE, failure.killed)
        assert not isinstance(launch.work, PlainWork), "those do not fail"
        own = launch.work.anomalies
        if own is None and machine is NO_AILMENTS:
            return None
        if own is not None and launch.task in (*own.poisoned, *own.hanging):
            hangs = launch.task not in own.poisoned
            return InjectedFailure(self._failure_point(launch, own.fails_at), hangs, NO_CAUSE)
        flaky, hang, draws = machine.flaky, machine.hang, (launch.job, _draw_column(launch))
        if flaky is not None and flaky.share > self._failing.uniform(*draws):
            return InjectedFailure(
                self._failure_point(launch, flaky.progress), False, machine.flaky_since
            )
        if hang is not None and hang.share > self._hanging.uniform(*draws):
            return InjectedFailure(
                self._failure_point(launch, hang.progress), True, machine.hang_since
            )
        return None

    def is_launch_stuck(self, launch: LaunchTask, share: float) -> bool:
        """Whether the launch is stuck on a node where this share is."""
        return share > 0 and share > self._sticking.uniform(launch.job, _draw_column(launch))

    def _recorded_length_and_failure(
        self, recorded: RecordedTasks, launch: LaunchTask
    ) -> tuple[float, float | None]:
        """What an attempt's own work is to take at speed 1 with local input, and where it is to
        fail if the recorded one did: after as long, even if its task took less in the end.
        """
        stage, task = launch.stage, launch.task
        ms = recorded.nominal_ms(stage, task, self.tasks)
        failure = recorded.failure(stage, task, launch.number)
        if failure is None:
            return ms, None
        failed_ms = failure.ms / self.tasks.locality_factor(failure.level)
        return max(ms, failed_ms), min(1.0, failed_ms / ms) if ms else 1.0

    def _failure_point(self, launch: LaunchTask, stated: float | None) -> float:
        return (
            self._fails_at.uniform(launch.job, _draw_column(launch)) if stated is None else stated
        )

    def _length_factor(self, launch: LaunchTask, work: MapWork | ReduceWork) -> float:
        pace = self._attempt_speed(launch) if self.tasks.straggler_share else self._speed
        factor = factor_on(self._node_type, work.factors) / pace if work.factors else 1.0 / pace
        own = work.anomalies
        return factor * own.skew if own and launch.task in own.skewed else factor

    def _attempt_speed(self, launch: LaunchTask) -> float:
        """The speed at which this attempt works: the node's, or a part of it if it straggles."""
        luck = self._luck.uniform(launch.job, _draw_column(launch))
        straggles = luck < self.tasks.straggler_share
        return self._speed / self.tasks.straggler_factor if straggles else self._speed

    def _drawn_length_ms(self, launch: LaunchTask, nominal_ms: float) -> Millis:
        sigma = self.tasks.sigma
        if not sigma:
            return round(nominal_ms)
        return noisy_length_ms(
            self._noise, sigma, launch.job, launch.stage, launch.task, nominal_ms
        )
