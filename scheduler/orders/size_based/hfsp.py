"""HFSP, the Hadoop Fair Sojourn Protocol, whole: training, ageing, smallest virtual size first.

Pastorelli, Carra, Dell'Amico and Michiardi, "HFSP:  Bringing Size-Based Scheduling To Hadoop", III.
Algorithm 1: while some phase is in training and fewer than T slots train, a slot goes to the phase
in training with the smallest initial size; else to the smallest virtual size.  Sizes come from
`training`, ageing from `ageing`.

Chosen where the paper is silent.  A phase enters when its tasks may first run, reduces at
slowstart: before that they could not run in a fair cluster either.  The final size takes the place
of whatever virtual size was left ("update the job phase size to the new value"): the age from
training is not kept.  The first t tasks launched are the training tasks whichever branch launched
them; those of the second do not count in T_curr, as Algorithm 1 says.  Among virtual sizes of 0,
tiny phases and late ones, the first that got there goes first.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler.decisions import SizeEstimate
from callboard.scheduler.estimation import OracleSizes
from callboard.scheduler.facts import (
    Closed,
    Fact,
    JobLeft,
    Launched,
    Progressed,
    Resumed,
    Suspended,
)
from callboard.scheduler.guarantees import SMALL_JOBS_FIRST
from callboard.scheduler.model import KINDS, AttemptId, JobId, SlotKind, stage_on
from callboard.scheduler.orders.keyed import SortedQueue
from callboard.scheduler.orders.size_based.ageing import PRIORITY_SPEEDS, SPEED_ONE
from callboard.scheduler.orders.size_based.size_source import SizeError, check_sigma
from callboard.scheduler.orders.size_based.training import TaskTimeHistory, TrainingPhase
from callboard.scheduler.orders.size_based.virtual_time import VirtualTimeOrder
from callboard.scheduler.part_params import NUMBER_MAX, Count, NotNegative, PartParams, Positive
from callboard.scheduler.policy import QueuedJob
from callboard.scheduler.reasons import Grounds, Reason
from callboard.scheduler.view import ClusterView, JobView, Offer

_TRAINING = Grounds(Reason.TRAINING)


class HfspParams(PartParams, frozen=True):
    """HFSP's parameters, with the paper's defaults (III-A, III-C)."""

    t: Annotated[int, Meta(ge=1)] = 5
    """Training tasks of a phase."""
    delta: NotNegative = 60.0
    """Seconds until a running training task is extrapolated."""
    xi: Annotated[float, Meta(ge=1, le=NUMBER_MAX)] = 1.0
    """The factor on initial sizes."""
    T: Count = 10
    """How many slots of each kind may train at once."""
    s0: Positive = 60.0
    """The initial size in slot-seconds before any job has completed (the paper: any constant)."""
    size: Literal["training", "oracle"] = "training"
    """Sizes come from training tasks, or are true (`oracle`)."""
    sigma: SizeError = 0.0
    """With `oracle`, the shape of a log-normal error on each size."""
    priority: Literal["speed", "off"] = "speed"
    """Whether a job ages at its priority's speed (4, 2, 1, ½, ¼)."""
    flapping: bool = False
    """Whether every task re-estimates its job; the paper's Figure 2 shows why not."""
    half_speed: bool = False
    """Whether jobs age at half speed, as the published code does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sigma(self.sigma, self.size)


class Hfsp(VirtualTimeOrder):
    """Smallest virtual size first, after the training tasks."""

    name = "hfsp"
    summary = "smallest virtual size first: sizes from a few training tasks, ageing by fair sharing"
    Params = HfspParams
    by_finish = False
    estimates = True

    def __init__(self, params: HfspParams | None = None) -> None:
        self.params = params or HfspParams()
        if self.params.half_speed:
            self.ageing = Fraction(1, 2)
            self.guarantees = SMALL_JOBS_FIRST
        super().__init__()
        self.wants_oracle = self.params.size == "oracle"
        self.wants_progress = not self.wants_oracle
        self._truth = (
            OracleSizes(lambda: self.oracle, self.params.sigma) if self.wants_oracle else None
        )
        self._history = TaskTimeHistory()
        self._training: tuple[dict[JobId, TrainingPhase], ...] = ({}, {})
        self._to_train: tuple[SortedQueue[JobId], ...] = (SortedQueue(), SortedQueue())
        self.training_slots: tuple[set[AttemptId], ...] = (set(), set())
        """The attempts whose slots count in T_curr, by kind."""
        self._estimate: SizeEstimate | None = None

    @property
    def last_estimate(self) -> SizeEstimate | None:
        return self._estimate

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self._estimate = None
        match fact:
            case Progressed(job, stage):
                kind = KINDS[stage]
                if job in self._training[kind]:  # few of what heartbeats tell
                    super().observe(fact, view)
                    self._training[kind][job].note_progress(fact, round(self.params.delta * 1000))
                    self._finish_training(job, kind, view)
            case Closed():
                self._history.learn_end(fact)
                super().observe(fact, view)
                self._note_attempt_end(fact, view)
            case Launched():
                super().observe(fact, view)
                self._note_training_launch(fact, view)
            case Suspended(attempt=attempt):
                super().observe(fact, view)
                self.training_slots[fact.kind].discard(attempt)
            case Resumed(job, attempt=attempt):
                super().observe(fact, view)
                self._retake_training_slot(job, fact.kind, attempt)
            case JobLeft(job):
                self._history.learn_completed_job(job)
                super().observe(fact, view)
            case _:
                super().observe(fact, view)

    def initial_size_ms(self, job: JobView, kind: SlotKind) -> float:
        """S_i; 0 for a tiny phase.  A phase that is not tiny begins its training."""
        stage = stage_on(kind)
        if self._truth is not None:
            return self._truth.size_ms(job, stage)
        n = job.total(stage)
        if n < self.params.t:
            return 0.0
        self._training[kind][job.job] = TrainingPhase(n, self.params.t)
        usual_ms = self._history.usual_tasks_ms(n, stage)
        return self.params.s0 * 1000 if usual_ms is None else usual_ms * self.params.xi

    def _finish_training(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        training = self._training[kind][job]
        if training.is_trained and self.virtual_phase(job, kind) is not None:
            del self._training[kind][job]
            whole_ms, left_ms = training.whole_size_ms(), training.final_size_ms()
            self._estimate = SizeEstimate(job, stage_on(kind), round(whole_ms), round(left_ms))
            self._resize_phase(job, kind, left_ms, view)

    def _estimate_anew(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        """Flapping: what is left, by all tasks of the phase so far."""
        seen, stage = view.job(job), stage_on(kind)
        own = self._history.own_mean(job, stage)
        if own is not None and self.virtual_phase(job, kind) is not None:
            left = seen.total(stage) - seen.finished(stage)
            self._resize_phase(job, kind, own.times(left) or 0, view)

    def _resize_phase(self, job: JobId, kind: SlotKind, size_ms: float, view: ClusterView) -> None:
        phase, seen, stage = self._phases[kind][job], view.job(job), stage_on(kind)
        phase.size_ms = size_ms
        left = seen.total(stage) - seen.finished(stage)
        self.set_virtual_size(seen, kind, size_ms, left, view)

    def wants_progress_of(self, launched: Launched) -> bool:
        training = self._training[KINDS[launched.stage]].get(launched.job)
        return training is not None and launched.attempt in training.running

    def _note_training_launch(self, fact: Launched, view: ClusterView) -> None:
        """A task was launched: is it one to learn from, and does it take a training slot?"""
        kind = KINDS[fact.stage]
        training, busy = self._training[kind].get(fact.job), self.training_slots[kind]
        if training is None:
            return
        if fact.original:
            training.note_copy(fact.original, fact.attempt)
            return
        if training.note_launch(fact.attempt) and len(busy) < self.params.T:
            busy.add(fact.attempt)
        self._line_up_for_training(fact.job, kind, view)

    def _retake_training_slot(self, job: JobId, kind: SlotKind, attempt: AttemptId) -> None:
        """A suspended task goes on: one to learn from takes a training slot if one is left."""
        training, busy = self._training[kind].get(job), self.training_slots[kind]
        if training is not None and attempt in training.running and len(busy) < self.params.T:
            busy.add(attempt)

    def _note_attempt_end(self, fact: Closed, view: ClusterView) -> None:
        """A task ended: ReleaseResource, and what there is to learn from it."""
        kind = KINDS[fact.stage]
        self.training_slots[kind].discard(fact.attempt)
        training = self._training[kind].get(fact.job)
        if training is not None:
            training.note_end(fact)
            self._line_up_for_training(fact.job, kind, view)
            self._finish_training(fact.job, kind, view)
        elif self.params.flapping and fact.succeeded:
            self._estimate_anew(fact.job, fact.kind, view)

    def place(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        super().place(job, kind, view)
        self._line_up_for_training(job, kind, view)

    def _line_up_for_training(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        """Keep the phase in line for training slots while it has training tasks to launch."""
        training = self._training[kind].get(job)
        if training is not None and training.tasks_to_launch > 0:
            phase = self.virtual_phase(job, kind)
            if phase is not None and phase.pending:
                key = (round(phase.size_ms), view.job(job).submitted_ms)
                self._to_train[kind].put(job, key)
                return
        self._to_train[kind].drop(job)

    def leave(self, job: JobId, kind: SlotKind) -> None:
        super().leave(job, kind)
        self._training[kind].pop(job, None)
        self._to_train[kind].drop(job)

    def speed(self, job: JobView) -> int:
        """Priority as a speed modifier (III-B, Manual Priority and QoS)."""
        if self.params.priority == "off":
            return SPEED_ONE
        return PRIORITY_SPEEDS[job.priority]

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        """Algorithm 1; the score, in slot-s, is the initial size in training, else the virtual."""
        first: set[JobId] = set()
        if len(self.training_slots[kind]) < self.params.T:
            for (size_ms, _), job in self._to_train[kind]:
                first.add(job)
                yield QueuedJob(view.job(job), size_ms / 1000, _TRAINING)
        for ranked in super().queue(kind, offer, view):
            if ranked.job.job not in first:
                yield ranked

    def urgent_tasks(self, kind: SlotKind, view: ClusterView) -> list[tuple[JobId, int]]:
        """The training tasks that Algorithm 1 would launch now, T_curr allowing."""
        left = self.params.T - len(self.training_slots[kind])
        found: list[tuple[JobId, int]] = []
        for _, job in self._to_train[kind]:
            seen = view.job(job)
            waiting = seen.pending(kind) - seen.suspended(kind)
            tasks = min(left, waiting, self._training[kind][job].tasks_to_launch)
            if tasks > 0:
                found.append((job, tasks))
                left -= tasks
        return found

    def spared_attempts(self, kind: SlotKind) -> set[AttemptId]:
        phases = self._training[kind].values()
        return {attempt for phase in phases for attempt in phase.running - phase.sizes.keys()}
