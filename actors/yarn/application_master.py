"""The master of one application: asks for containers at heartbeats and runs its tasks in them."""

from callboard.actors.books.frontend import Frontend
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.kernel.address import node_address
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.actors.world import World
from callboard.actors.yarn.container_asks import (
    CLEANUP_PRIORITY,
    MAP_PRIORITY,
    REDUCE_PRIORITY,
    RETRIED_MAP_PRIORITY,
    SETUP_PRIORITY,
    STAGE_OF_PRIORITY,
    ContainerAsks,
)
from callboard.actors.yarn.counted_amounts import CountedAmounts
from callboard.actors.yarn.reduce_ramp import JobTaskCounts, reduces_to_ask, reduces_to_stop
from callboard.actors.yarn.yarn_messages import (
    RESOURCE_MANAGER,
    Allocate,
    AllocateDue,
    AllocateReply,
    FinishApplication,
    GrantedContainer,
    MasterStarted,
    StartContainer,
    StopMaster,
    SubmitApplication,
)
from callboard.actors.yarn.yarn_params import YarnParams
from callboard.scheduler.model import (
    CLEANUP,
    MAP,
    MAPS,
    REDUCE,
    REDUCES,
    SETUP,
    JobId,
    NodeId,
    Stage,
)
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.reasons import Reason, Why


class ApplicationMaster(Frontend):
    """Stands for its application from the submission on; until its container runs it only keeps
    what the job submits.
    """

    def __init__(
        self, job: JobId, world: World, params: YarnParams, counted: CountedAmounts
    ) -> None:
        super().__init__(job + 1, world)
        self.name = f"application master {job}"
        self.job = job
        self.asks = ContainerAsks(world.cluster.topology())
        self._params = params
        self._counted = counted
        self._is_submitted = False
        self._is_over = False
        self._home: NodeId | None = None
        """Where it runs."""
        self._reduces_asked = 0
        self._released: list[ContainerNumber] = []
        self._shunned: dict[NodeId, None] = {}
        """Where it could not use a container lately."""

    # Its life.

    def on_announce_job(self, new: msg.AnnounceJob) -> None:
        """Its container is asked for while the job is initialised: whatever takes longer counts."""
        self.ledger.prepare_job(new.job, new.profile)
        self._submit_application(new.profile)

    def on_submit_stage(self, order: msg.SubmitStage) -> None:
        stage, profile = order.stage, order.profile
        named = dict(profile.demand(stage)) if stage < SETUP else dict(profile.demand(MAPS))
        self.asks.open_stage(order, self._counted.task_container_vector(stage, named))
        self._submit_application(profile)
        super().on_submit_stage(order)

    def _submit_application(self, profile: msg.JobProfile) -> None:
        if self._is_submitted:
            return
        self._is_submitted = True
        takes = self._params.am
        master = self._counted.master_container_vector(
            dict(profile.demand(MAPS)) if takes is None else takes
        )
        submit = SubmitApplication(self.job, profile.user, profile.pool, master)
        self.send(RESOURCE_MANAGER, submit, self.cause, self._latency_ms)

    def on_master_started(self, started: MasterStarted) -> None:
        self._home = started.node
        if self._is_over:
            self._stop_master(self.cause)
        else:
            self._send_asks()

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """What waits is asked for at the next heartbeat."""

    def withdraw_job(self, job: JobId, cause: int) -> None:
        self._is_over = True
        done = FinishApplication(job, tuple(self._released))
        self._released.clear()
        self.send(RESOURCE_MANAGER, done, cause, self._latency_ms)
        if self._home is not None:
            self._stop_master(cause)

    def _stop_master(self, cause: int) -> None:
        assert self._home is not None
        self.send(node_address(self._home), StopMaster(self.job), cause, self._latency_ms)

    # Heartbeats.

    def on_allocate_due(self, _: AllocateDue) -> None:
        if not self._is_over:
            self._send_asks()

    def _send_asks(self) -> None:
        """Tell what it asks for otherwise than before."""
        asks = tuple(self.asks.changes(self._asked_by_priority()))
        released, self._released = tuple(self._released), []
        told = Allocate(self.job, asks, released, tuple(self._shunned))
        self.send(RESOURCE_MANAGER, told, self.cause, self._latency_ms)
        self.timer(AllocateDue(), self._params.am_heartbeat_ms, self.cause)

    def _asked_by_priority(self) -> dict[int, int]:
        job = self.ledger.known_job(self.job)
        maps = 0 if job is None else self.tasks_to_place(job, MAPS)
        retried = 0 if job is None else len(job.tasks[MAPS].again)
        return {
            SETUP_PRIORITY: self.tasks_left(self.job, SETUP),
            CLEANUP_PRIORITY: self.tasks_left(self.job, CLEANUP),
            RETRIED_MAP_PRIORITY: retried,
            REDUCE_PRIORITY: self._reduces_asked,
            MAP_PRIORITY: maps - retried,
        }

    def on_allocate_reply(self, reply: AllocateReply) -> None:
        """Run tasks in what it has been given, and see how many reduces it can afford."""
        job = self.ledger.known_job(self.job)
        if self._is_over or job is None:
            if reply.granted:
                numbers = tuple(each.container for each in reply.granted)
                back = Allocate(self.job, released=numbers)
                self.send(RESOURCE_MANAGER, back, self.cause, self._latency_ms)
            return
        for granted in reply.granted:
            if not self._run_in_container(granted, job):
                self._released.append(granted.container)
        if job.opened(REDUCES):
            progress = self._job_task_counts(job)
            self._reduces_asked = reduces_to_ask(progress, reply.headroom, self._params.reduce_ramp)
            self._stop_reduces_for_maps(job, reduces_to_stop(progress, reply.headroom))

    def _run_in_container(self, granted: GrantedContainer, job: BookedJob) -> bool:
        """Start a task in a container; whether there is one that may run there."""
        stage = STAGE_OF_PRIORITY[granted.priority]
        self.asks.granted(granted.priority, granted.node)
        if not self.tasks_to_place(job, stage):
            return False
        entry = self.book_task(job, stage, granted.node)
        if entry is None:
            self._shunned[granted.node] = None
            if len(self._shunned) == len(self.usable_nodes()):
                self._shunned.clear()
            return False
        self.asks.launched(stage, entry.task, entry.number)
        if stage == REDUCES:
            self._reduces_asked = max(self._reduces_asked - 1, 0)
        why = ev.WHY_UNSEEN.get(stage, granted.why)
        entry.event = self.note(entry.launch_event(why, granted.cause))
        start = StartContainer(granted.container, job.launch_order(entry))
        self.send(node_address(granted.node), start, entry.event, self._latency_ms)
        return True

    def _job_task_counts(self, job: BookedJob) -> JobTaskCounts:
        return JobTaskCounts(
            maps=job.total(MAPS),
            maps_done=job.finished(MAPS),
            maps_waiting=self.tasks_to_place(job, MAPS),
            maps_running=job.running(MAP),
            reduces_waiting=self.tasks_to_place(job, REDUCES),
            reduces_asked=self._reduces_asked,
            reduces_running=job.running(REDUCE),
            map_demand=self._counted.of_vector(self.asks.demands[MAPS]),
            reduce_demand=self._counted.of_vector(self.asks.demands[REDUCES]),
        )

    def _stop_reduces_for_maps(self, job: BookedJob, reduces: int) -> None:
        """Stop that many reduces, the newest first, that maps can run which they wait for."""
        if not reduces:
            return
        self._reduces_asked = 0
        running = [each for each in job.attempts.values() if each.stage == REDUCES]
        for entry in [each for each in reversed(running) if not each.killing][:reduces]:
            entry.change_state(BookedChange.ORDER_KILL)
            why = Why(Reason.MAPS_WAIT, "yarn")
            ordered = ev.KillOrdered(self.now_ms, entry.attempt, why, cause=self.cause)
            kill = msg.KillTask(entry.attempt, self.note(ordered))
            self.send(node_address(entry.node), kill, kill.cause, self._latency_ms)

    # What nodes report.

    def on_report(self, report: msg.EndReport | msg.FetchFailure) -> None:
        self._shunned.clear()
        super().on_report(report)
