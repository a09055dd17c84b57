"""HFSP's estimation module: what a phase's size is taken for before, during and after training.

(HFSP, III-A.)  The **initial size** is S_i = n · ξ · s̄, with s̄ the mean task time over all jobs
that have completed; before the first has, S_i = s0.  The first t tasks launched are the **training
tasks**; each yields s̃_k: its own time if it completes, or time / progress once it has run for Δ.
When all have, the **final size** is S_f = s̄ · [(n − t) + Σ(1 − p_k)], with s̄ their mean and p_k
how far the kth is (1 if it has completed).  A phase of fewer than t tasks has size 0.

The paper leaves open what p_k is measured against (here Hadoop's progress, the shuffle apart); when
exactly (at the first heartbeat at or after Δ); and whether tasks beyond t that end during training
count (here not in s̄; they leave n − t as it is printed).
"""

from dataclasses import dataclass, field

from callboard.scheduler.estimation import RunningMean, share_of_work_done, work_ms
from callboard.scheduler.facts import Closed, Progressed
from callboard.scheduler.left_to_right_sum import left_to_right_sum
from callboard.scheduler.model import STAGES, AttemptId, JobId, Millis, Stage


@dataclass(slots=True, eq=False)
class TrainingPhase:
    """A phase in training, its training tasks running or measured."""

    tasks: int
    wanted: int
    running: set[AttemptId] = field(default_factory=set)
    sizes: dict[AttemptId, tuple[Millis, float]] = field(default_factory=dict)  # s̃_k and p_k
    # A speculative attempt's training task, and what runs of a task that has one.
    _first: dict[AttemptId, AttemptId] = field(default_factory=dict)
    _twins: dict[AttemptId, set[AttemptId]] = field(default_factory=dict)

    @property
    def tasks_to_launch(self) -> int:
        measured_and_ended = len(self.sizes.keys() - self.running)
        return self.wanted - len(self.running) - measured_and_ended

    @property
    def is_trained(self) -> bool:
        return len(self.sizes) >= self.wanted

    def mean_ms(self) -> float:
        return sum(size for size, _ in self.sizes.values()) / len(self.sizes)

    def whole_size_ms(self) -> float:
        """All of the phase, as large as its training tasks make it: n · s̄."""
        return self.mean_ms() * self.tasks

    def final_size_ms(self) -> float:
        unfinished = left_to_right_sum(1 - p for _, p in self.sizes.values())
        return self.mean_ms() * (self.tasks - self.wanted + unfinished)

    def note_launch(self, attempt: AttemptId) -> bool:
        if self.tasks_to_launch <= 0:
            return False
        self.running.add(attempt)
        return True

    def note_copy(self, original: AttemptId, speculative: AttemptId) -> None:
        """A speculative attempt was launched: of a training task the first to succeed measures."""
        first = self._first.get(original, original)
        if first in self.running:
            self._first[speculative] = first
            self._twins.setdefault(first, {first}).add(speculative)

    def note_progress(self, fact: Progressed, delta_ms: Millis) -> None:
        """A running training task told how far it is: from Δ on that is enough."""
        worked_ms, done = work_ms(fact), share_of_work_done(fact)
        if fact.attempt in self.running and worked_ms >= delta_ms and done > 0:
            self.sizes.setdefault(fact.attempt, (round(worked_ms / done), min(done, 1.0)))

    def note_end(self, fact: Closed) -> None:
        """A training task ended: measured, or to be replaced.  What a failed one told stands, but
        all of its work is left.
        """
        task = self._first.pop(fact.attempt, fact.attempt)
        if task not in self.running and task not in self.sizes:
            return  # it is none of them, however early it ends
        twins = self._twins.get(task)
        if twins is not None:
            twins.discard(fact.attempt)
            if not fact.succeeded and (twins or task not in self.running):
                return  # the other one goes on, or has done the task
        self.running.discard(task)
        if fact.succeeded:
            size_ms, _ = self.sizes.get(task, (work_ms(fact), 1.0))
            self.sizes[task] = (size_ms, 1.0)
        elif task in self.sizes:
            self.sizes[task] = (self.sizes[task][0], 0.0)


class TaskTimeHistory:
    """s̄ over the tasks of all jobs that have completed."""

    def __init__(self) -> None:
        self._done = {stage: RunningMean() for stage in STAGES}
        self._open: dict[tuple[JobId, Stage], RunningMean] = {}

    def learn_end(self, fact: Closed) -> None:
        if fact.succeeded:
            self._open.setdefault((fact.job, fact.stage), RunningMean()).add(work_ms(fact))

    def learn_completed_job(self, job: JobId) -> None:
        for stage in STAGES:
            tasks = self._open.pop((job, stage), None)
            if tasks is not None:
                self._done[stage].add(tasks.total, tasks.count)

    def own_mean(self, job: JobId, stage: Stage) -> RunningMean | None:
        return self._open.get((job, stage))

    def usual_tasks_ms(self, n: int, stage: Stage) -> Millis | None:
        """n · s̄; None before any job with tasks of the stage has completed."""
        return self._done[stage].times(n)
