"""A job: knows its tasks and what depends on what; says what of it may run now, never where."""

from collections import deque
from collections.abc import Sequence
from math import ceil

from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import CLIENT, job_address
from callboard.actors.placement import Placement
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent, Outcome
from callboard.actors.vocabulary.lifecycle import JOB, JobChange, JobState, step
from callboard.scheduler.model import (
    CLEANUP,
    MAPS,
    REDUCES,
    SETUP,
    Millis,
    NodeId,
    Stage,
    TaskIndex,
)

_MAPPING = JobState.MAPPING
_SUCCEED = JobChange.SUCCEED
_SUCCEEDED = Outcome.SUCCEEDED
_UNSUBMITTED = JobState.UNSUBMITTED

FAIL_OVER_MS: Millis = 100
"""After so long a job's client takes its scheduler for lost, as Sparrow's frontends do."""

_ROUNDS_COUNTED = 6
"""After these it waits no longer than before."""

COMPLAINTS = 3  # JobInProgress.MAX_FETCH_FAILURES_NOTIFICATIONS
COMPLAINING_SHARE = 0.5  # of the running reduces: MAX_ALLOWED_FETCH_FAILURES_PERCENT


class Job(Actor[AnyEvent]):
    """One job of the workload, from its submission to its end; `scheduler` is the address of the
    actor that schedules it, `others` are those to which it goes in turn when that one is gone.
    """

    def __init__(
        self,
        spec: JobSpec,
        scheduler: int,
        *,
        placement: Placement,
        slowstart: float,
        latency_ms: Millis,
        hosts_asked: bool,
        others: Sequence[int] = (),
    ) -> None:
        super().__init__(job_address(spec.job), f"job {spec.job}")
        self.state = _UNSUBMITTED
        self._spec = spec
        self._scheduler = scheduler
        self._others = deque(others)
        self._refusals = 0
        self._is_leaving = False
        self._ready_ms = spec.ready_ms
        """When it has been initialised."""
        self._placement = placement
        self._latency_ms = latency_ms
        self._slowstart_maps = ceil(slowstart * spec.maps)
        self._hosts_asked = hosts_asked
        self._forget_progress()

    def _forget_progress(self) -> None:
        self._done = [0, 0]
        self._fetching: list[msg.FetchOutputs] = []  # reduces that wait for the last map
        self._let_go: list[msg.FetchOutputs] = []  # those that have been told that it is done
        self._outputs: dict[TaskIndex, NodeId] = {}  # where they lie, if hosts are asked for them
        self._outputs_on: dict[NodeId, int] = {}  # how many lie on each host that has any
        self._hosts: tuple[NodeId, ...] = ()
        self._hosts_ms: Millis = -1
        self._troubles: dict[NodeId, int] = {}

    def on_enter_system(self, _: msg.EnterSystem) -> None:
        spec = self._spec
        self._change_state(JobChange.SUBMIT)
        what = (spec.job, spec.name, spec.user, spec.pool, spec.priority, spec.maps, spec.reduces)
        self._begin_initialisation(self.note(ev.JobSubmitted(self.now_ms, *what)))

    def on_initialisation_due(self, _: msg.InitialisationDue) -> None:
        self.send(self.address, msg.InitialisationOver(), self.cause)

    def on_initialisation_over(self, _: msg.InitialisationOver) -> None:
        """Ask for tasks, unless that was of an earlier submission."""
        if self.state is JobState.INITIALISING and self.now_ms >= self._ready_ms:
            self._change_state(JobChange.INITIALISE)
            initialised = ev.JobInitialised(self.now_ms, self._spec.job, cause=self.cause)
            self._begin_setup(self.note(initialised))

    def on_attempt_booked(self, news: msg.AttemptBooked) -> None:
        """Count what is done; ask for what must run again, unless a task has failed too often."""
        if news.outcome is _SUCCEEDED:
            self._finish_task(news)
        elif news.exhausted:
            self._end_job(JobChange.FAIL, self.cause)
        elif news.alone:
            self._run_again(news.stage, news.task)

    def _finish_task(self, news: msg.AttemptBooked) -> None:
        if news.stage == SETUP:
            self._change_state(JobChange.SET_UP)
            self._submit_maps(self.cause)
            return
        if news.stage == CLEANUP:
            self._end_job(_SUCCEED, self.cause)
            return
        self._done[news.stage] += 1
        self._refusals = 0
        if news.stage == MAPS:
            self._finish_map(news)
        self._open_reduces_or_finish(self.cause)

    def _finish_map(self, news: msg.AttemptBooked) -> None:
        if self._hosts_asked and self._spec.reduces:
            self._outputs[news.task] = news.node
            self._outputs_on[news.node] = self._outputs_on.get(news.node, 0) + 1
        if self._are_maps_done():
            waiting, self._fetching = self._fetching, []
            for fetch in waiting:
                self._let_reduce_fetch(fetch)

    def on_fetch_outputs(self, fetch: msg.FetchOutputs) -> None:
        """Tell a shuffling reduce that every map output is there, now or when it is."""
        if self._are_maps_done():
            self._let_reduce_fetch(fetch)
            return
        self._fetching.append(fetch)
        if fetch.fetching:
            self._tell_obsolete(fetch)

    def on_outputs_lost(self, lost: msg.OutputsLost) -> None:
        """Have the maps run again; reduces that still fetch have to wait for them (rule T3)."""
        self._done[MAPS] -= len(lost.tasks)
        if lost.exhausted:
            self._end_job(JobChange.FAIL, self.cause)
            return
        for task in lost.tasks:
            self._forget_output(task)
            self._run_again(MAPS, task)
        for fetch in self._let_go:
            self._tell_obsolete(fetch)
        self._fetching += self._let_go
        self._let_go.clear()

    def on_fetch_trouble(self, trouble: msg.FetchTrouble) -> None:
        """Give a host's outputs up when enough reduces have complained (rule T6)."""
        if trouble.host not in self._outputs_on:
            return
        complaints = self._troubles[trouble.host] = self._troubles.get(trouble.host, 0) + 1
        if complaints >= COMPLAINTS and complaints >= COMPLAINING_SHARE * trouble.running:
            del self._troubles[trouble.host]
            drop = msg.DropOutputs(self._spec.job, trouble.host)
            self.send(self._scheduler, drop, self.cause)

    def on_given_up(self, _: msg.GivenUp) -> None:
        """Its scheduler has no room for it."""
        self._end_job(JobChange.FAIL, self.cause)

    def on_kill_job(self, _: faults.KillJob) -> None:
        """Its user kills the job; before its submission that does nothing."""
        if self.state is not _UNSUBMITTED:
            self._end_job(JobChange.KILL, self.cause)

    def on_scheduler_restarted(self, restarted: msg.SchedulerRestarted) -> None:
        """A master that begins anew initialises jobs anew."""
        if not restarted.recover:
            self._end_job(JobChange.KILL, self.cause)
            return
        self._ready_ms = self.now_ms + self._spec.initialisation_ms
        self._resubmit()

    def _resubmit(self) -> None:
        self._change_state(JobChange.RESUBMIT)
        self._forget_progress()
        resubmitted = ev.JobResubmitted(self.now_ms, self._spec.job, cause=self.cause)
        self._begin_initialisation(self.note(resubmitted))

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """Its client notices soon, and goes round a list of schedulers (Sparrow, SOSP 2013); it
        waits twice as long in every further round, until something of the job is done.  What was
        sent there meanwhile may bring the same news.
        """
        if gone.scheduler == self._scheduler and not self._is_leaving:
            self._is_leaving = True
            self._others.append(self._scheduler)
            self._scheduler = self._others.popleft()
            rounds = self._refusals // (1 + len(self._others))
            wait_ms = FAIL_OVER_MS << min(rounds, _ROUNDS_COUNTED)
            self._refusals += 1
            self.timer(msg.SubmitElsewhere(), wait_ms, self.cause)

    def on_submit_elsewhere(self, _: msg.SubmitElsewhere) -> None:
        self._is_leaving = False
        self._resubmit()

    def at_work(self) -> bool:
        return self.state is JobState.INITIALISING

    def waiting_reason(self) -> str:
        spec = self._spec
        return (
            f"job {spec.job} ({spec.name}) waits: {self._done[MAPS]} of {spec.maps} maps"
            f" and {self._done[REDUCES]} of {spec.reduces} reduces are done"
        )

    def _change_state(self, change: JobChange) -> None:
        self.state = step(JOB, self.state, change, self.name)

    def _begin_initialisation(self, cause: int) -> None:
        """Be initialised, which may take time."""
        if self._ready_ms <= self.now_ms:
            self._begin_setup(cause)
            return
        self._change_state(JobChange.AWAIT_INITIALISATION)
        self.send(self._scheduler, msg.AnnounceJob(self._spec.job, self._job_profile()), cause)
        self.timer(msg.InitialisationDue(), self._ready_ms - self.now_ms, cause)

    def _begin_setup(self, cause: int) -> None:
        """Be set up, if there is a task for that; else let the maps run."""
        if not self._spec.setup_ms:
            self._submit_maps(cause)
            return
        self._change_state(JobChange.AWAIT_SETUP)
        self._submit_stage(SETUP, msg.PlainWork(self._spec.setup_ms), cause)

    def _submit_maps(self, cause: int) -> None:
        spec = self._spec
        replicas = self._placement.place_job_blocks(spec.job, spec.maps)
        work = msg.MapWork(spec.map_ms, spec.factors, _task_anomalies(spec, MAPS))
        self._submit_stage(MAPS, work, cause, self._placement.replication, replicas.tobytes())
        self._open_reduces_or_finish(cause)

    def _submit_reduces(self, cause: int) -> None:
        spec = self._spec
        times_ms = (spec.shuffle_ms, spec.shuffle_tail_ms, spec.reduce_ms)
        work = msg.ReduceWork(*times_ms, spec.factors, _task_anomalies(spec, REDUCES))
        self._submit_stage(REDUCES, work, cause)

    def _submit_stage(
        self, stage: Stage, work: msg.AnyWork, cause: int, replication: int = 0, blocks: bytes = b""
    ) -> None:
        what = (self._job_profile(), stage, work, replication, blocks)
        self.send(self._scheduler, msg.SubmitStage(self._spec.job, *what), cause)

    def _job_profile(self) -> msg.JobProfile:
        spec = self._spec
        who, tasks = (spec.user, spec.pool, spec.priority), (spec.maps, spec.reduces)
        return msg.JobProfile(*who, tasks, spec.demands, spec.only_on, spec.max_attempts)

    def _run_again(self, stage: Stage, task: TaskIndex) -> None:
        self.send(self._scheduler, msg.RunAgain(self._spec.job, stage, task), self.cause)

    def _open_reduces_or_finish(self, cause: int) -> None:
        """Let the reduces run when enough maps are done (slowstart), and end when all tasks are."""
        spec = self._spec
        if spec.reduces and self.state is _MAPPING:
            if self._done[MAPS] < self._slowstart_maps:
                return
            self._change_state(JobChange.OPEN_REDUCES)
            self._submit_reduces(cause)
        if self._are_maps_done() and self._done[REDUCES] == spec.reduces:
            self._begin_cleanup(cause)

    def _begin_cleanup(self, cause: int) -> None:
        """All tasks are done: clean up, if there is a task for that."""
        if not self._spec.cleanup_ms:
            self._end_job(_SUCCEED, cause)
            return
        self._change_state(JobChange.AWAIT_CLEANUP)
        self._submit_stage(CLEANUP, msg.PlainWork(self._spec.cleanup_ms), cause)

    def _are_maps_done(self) -> bool:
        return self._done[MAPS] == self._spec.maps

    def _let_reduce_fetch(self, fetch: msg.FetchOutputs) -> None:
        self._let_go.append(fetch)
        ready = msg.OutputsReady(fetch.attempt, self._hosts_of_outputs())
        self.send(fetch.slot_address, ready, self.cause, self._latency_ms)

    def _tell_obsolete(self, fetch: msg.FetchOutputs) -> None:
        self.send(
            fetch.slot_address, msg.OutputsObsolete(fetch.attempt), self.cause, self._latency_ms
        )

    def _forget_output(self, task: TaskIndex) -> None:
        node = self._outputs.pop(task, None)
        if node is not None:
            self._outputs_on[node] -= 1
            if not self._outputs_on[node]:
                del self._outputs_on[node]

    def _hosts_of_outputs(self) -> tuple[NodeId, ...]:
        """The hosts that have outputs, found once for all reduces that are told at one moment."""
        if self._hosts_ms != self.now_ms:
            self._hosts = tuple(sorted(self._outputs_on))
            self._hosts_ms = self.now_ms
        return self._hosts

    def _end_job(self, change: JobChange, cause: int) -> None:
        self._change_state(change)
        spec, outcome = self._spec, ev.OUTCOMES[self.state]
        end = ev.JobFinished(self.now_ms, spec.job, outcome, spec.submit_ms, cause=cause)
        event, done = self.note(end), msg.JobDone(spec.job, outcome)
        self.send(self._scheduler, done, event)
        self.send(CLIENT, done, event)
        self.retire()


def _task_anomalies(spec: JobSpec, stage: Stage) -> msg.TaskAnomalies | None:
    poisoned, hanging, skewed = spec.poisoned[stage], spec.hanging[stage], spec.skewed[stage]
    if not (poisoned or hanging or skewed):
        return None
    return msg.TaskAnomalies(poisoned, hanging, spec.fails_at, skewed, spec.skew)
