"""A scheduler that has one queue and thinks about one thing at a time, which takes time.

A thought about a job's stage takes t_job + t_task × its tasks that are on no node yet, and ends
with an attempt to place them.  What the scheduler knows of the nodes meanwhile is the
architecture's: `Monolithic` has the live cell, `OmegaScheduler` a copy, `Framework` what it is
offered.  What stays unplaced comes back to the queue after a pause, and is given up after many
attempts (Schwarzkopf et al., EuroSys 2013, §4, and the simulator released with it).
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence

import msgspec

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.frontend import Frontend, JobStage
from callboard.actors.kernel.address import job_address
from callboard.actors.omega.cell_holder import CELL_HOLDER
from callboard.actors.omega.cell_messages import NodeGivenUp, QueueAgain, Release
from callboard.actors.omega.cell_state import CommitResult
from callboard.actors.omega.first_fit import CandidateDraws, FirstFit
from callboard.actors.omega.think_params import ThinkParams
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.world import World
from callboard.scheduler.model import (
    MAPS,
    REDUCES,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    Stage,
    slot_kind,
)
from callboard.scheduler.resources import Vector

THOUGHTS_UNPLACED = 100
"""After more thoughts than these a stage is given up of which nothing has been placed."""

THOUGHTS_MAX = 1000
"""After more than these any is."""


class UnplacedStage(msgspec.Struct, eq=False):
    """A stage with tasks that are on no node, from when it is queued until all have been launched.

    It `waits` while it is in the queue or will come back to it; `claimed` tasks have a node and
    have not been launched there yet.  It was queued last at `since_ms`, by `event`.
    """

    job: JobId
    stage: Stage
    demand: Vector
    service: bool
    event: int = 0
    since_ms: Millis = 0
    waits: bool = False
    attempts: int = 0
    placed: int = 0
    claimed: int = 0


class Thought(msgspec.Struct, frozen=True, eq=False):
    """A thought about that many tasks of a stage, which had waited in the queue for `queued_ms`."""

    of: UnplacedStage
    tasks: int
    queued_ms: Millis
    ms: Millis


class ThinkingScheduler(Frontend):
    """Keeps the queue and the books; subclasses think about what is in it (`serve`)."""

    def __init__(
        self, number: int, world: World, params: ThinkParams, draws: CandidateDraws
    ) -> None:
        super().__init__(number, world)
        self.params = params
        self.first_fit = FirstFit(number, len(world.nodes), draws)
        self.life = 0
        """How often it has begun anew."""
        self._dimensions = world.resources[0]
        self._open_books()

    def _open_books(self) -> None:
        self.queue: deque[UnplacedStage] = deque()
        self._stages: dict[JobStage, UnplacedStage] = {}
        self._profiles: dict[JobId, msg.JobProfile] = {}
        self._held: dict[AttemptId, tuple[NodeId, Vector]] = {}
        self._given_up: set[JobId] = set()

    def forget_all(self) -> None:
        """Its machine tells the holder of the cell that it is gone."""
        self.life += 1
        self._open_books()
        self.send(CELL_HOLDER, msg.SchedulerGone(self.address), self.cause, self._latency_ms)

    @abstractmethod
    def serve(self) -> None:
        """Think about what is in the queue, unless a thought is going on."""

    def release(self, node: NodeId, demand: Vector) -> None:
        """A task of this demand has ended on the node, or will not begin there: tell the holder of
        the cell.
        """
        told = Release(self.address, node, demand)
        self.send(CELL_HOLDER, told, self.cause, self._latency_ms)

    # What waits.

    def on_submit_stage(self, order: msg.SubmitStage) -> None:
        self._profiles[order.job] = order.profile
        super().on_submit_stage(order)

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:  # noqa: ARG002
        """Queue the stage; one that is here already is seen to until nothing of it is left."""
        if (job, stage) not in self._stages:
            profile = self._profiles[job]
            demand = self._dimensions.of_task(slot_kind(stage), dict(profile.demand(stage)))
            is_service = profile.pool == self.params.service
            new = self._stages[job, stage] = UnplacedStage(job, stage, demand, is_service)
            self._enqueue_stage(new, cause)

    def _enqueue_stage(self, stage: UnplacedStage, cause: int) -> None:
        stage.since_ms, stage.event, stage.waits = self.now_ms, cause, True
        self.queue.append(stage)
        self.serve()

    def on_queue_again(self, again: QueueAgain) -> None:
        if again.life != self.life:
            return
        stage = self._stages.get((again.job, again.stage))
        if stage is not None:
            self._enqueue_stage(stage, self.cause)

    def withdraw_job(self, job: JobId, cause: int) -> None:  # noqa: ARG002
        for what in [what for what in self._stages if what[0] == job]:
            del self._stages[what]
        self._profiles.pop(job, None)
        self._given_up.discard(job)

    def unplaced_tasks(self, stage: UnplacedStage) -> int:
        """How many of its tasks have no node; none if its job has ended."""
        job = self.ledger.known_job(stage.job)
        if job is None or self._stages.get((stage.job, stage.stage)) is not stage:
            return 0
        return self.tasks_to_place(job, stage.stage) - stage.claimed

    def next_thought(self) -> Thought | None:
        """Take the next stage out of the queue, to be thought about."""
        while self.queue:
            stage = self.queue.popleft()
            stage.waits = False
            tasks = self.unplaced_tasks(stage)
            if tasks:
                ms = self.params.think_ms(tasks, service=stage.service)
                return Thought(stage, tasks, self.now_ms - stage.since_ms, ms)
            self.pause_or_drop_stage(stage, stage.event)
        return None

    def note_thought_begun(self, thought: Thought, from_ms: Millis) -> None:
        """Tell the journal when the scheduler thinks about what."""
        stage = thought.of
        what = stage.job, self.number, stage.stage, from_ms, thought.ms, thought.tasks
        self.note(ev.ThoughtBegun(self.now_ms, *what, cause=stage.event))

    # What becomes of it.

    def count_attempt(self, stage: UnplacedStage, placed: int) -> None:
        """An attempt to place it is over.  It does not count if there was no node at all."""
        stage.attempts += len(self.contacts.lost) < self.first_fit.nodes
        stage.placed += placed

    def pause_or_drop_stage(self, stage: UnplacedStage, cause: int) -> None:
        """Let a stage come back after a pause for what is left of it, or give it up."""
        if stage.waits:
            return
        if not self.unplaced_tasks(stage):
            if not stage.claimed and self._stages.get((stage.job, stage.stage)) is stage:
                del self._stages[stage.job, stage.stage]
        elif _has_too_many_attempts(stage):
            self._given_up.add(stage.job)
            self._tell_job_if_given_up(stage.job, cause)
        else:
            self.pause_stage(stage, cause)

    def pause_stage(self, stage: UnplacedStage, cause: int) -> None:
        """Let it come back in time."""
        stage.waits = True
        again = QueueAgain(stage.job, stage.stage, self.life)
        self.timer(again, self.params.retry_ms, cause)

    def conclude(self, thought: Thought, verdict: CommitResult) -> int:
        """Tell the journal what came of a thought, and launch what was committed; the event."""
        stage = thought.of
        lengths = (thought.queued_ms, thought.ms, thought.tasks)
        attempted = ev.SchedulingAttempted(
            self.now_ms,
            stage.job,
            self.number,
            stage.stage,
            *lengths,
            stage.demand,
            *verdict,
            cause=stage.event,
        )
        event = self.note(attempted)
        self._launch_on(stage, verdict.committed, event)
        return event

    def _launch_on(self, stage: UnplacedStage, nodes: Sequence[NodeId], event: int) -> None:
        """Launch a task on each; where none is left that may run there, or the node is lost,
        give its room back.
        """
        for node in nodes:
            job = self.ledger.known_job(stage.job)
            can = job is not None and self.tasks_to_place(job, stage.stage) > 0
            can = can and node not in self.contacts.lost
            if job and can and self.launch_task(job, stage.stage, node, event) is not None:
                self._held[self.ledger.last_attempt] = (node, stage.demand)
            else:
                self.release(node, stage.demand)

    def _tell_job_if_given_up(self, job: JobId, cause: int) -> None:
        """Tell a job that was given up so, once nothing of it runs any more but reduces that wait
        for maps which nobody will place.
        """
        booked = self.ledger.known_job(job)
        if job not in self._given_up or booked is None:
            return
        stages = [each for each in self._stages.values() if each.job == job]
        mapped = booked.finished(MAPS) == booked.total(MAPS)
        runs = any(mapped or each.stage != REDUCES for each in booked.attempts.values())
        if not runs and not any(each.claimed for each in stages):
            self.send(job_address(job), msg.GivenUp(job), cause)

    def attempt_ended(self, entry: BookedAttempt, cause: int) -> None:
        self.release(*self._held.pop(entry.attempt))
        self._tell_job_if_given_up(entry.job, cause)

    # What becomes of nodes.

    def on_node_given_up(self, told: NodeGivenUp) -> None:
        """Give it up too, unless it has been heard of here since."""
        self.contacts.give_up(told.node, told.life, told.heard_ms, again=told.again)

    def attempt_lost(self, entry: BookedAttempt) -> None:
        self.release(*self._held.pop(entry.attempt))

    # For people.

    def waiting_reason(self) -> str | None:
        waiting = len(self._stages)
        return f"{self.name} has tasks of {waiting} stages on no node" if waiting else None


def _has_too_many_attempts(stage: UnplacedStage) -> bool:
    unplaced = not stage.placed and stage.attempts > THOUGHTS_UNPLACED
    return unplaced or stage.attempts > THOUGHTS_MAX
