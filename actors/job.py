"""A job: knows its tasks, what depends on what, and tells the master what may run, never where."""

from math import ceil

from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import CLIENT, MASTER, job_address
from callboard.actors.placement import Placement
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AuxiliaryPurpose, Outcome
from callboard.actors.vocabulary.lifecycle import JOB, JobChange, JobState, step
from callboard.scheduler.model import MAP, REDUCE, Millis, NodeId, TaskIndex, TaskKind

_MAPPING = JobState.MAPPING
_SUCCEED = JobChange.SUCCEED
_SUCCEEDED = Outcome.SUCCEEDED
_UNSUBMITTED = JobState.UNSUBMITTED

ATTEMPTS_MAX = 4  # mapred.*.max.attempts: this many failures of a task end the job
COMPLAINTS = 3  # JobInProgress.MAX_FETCH_FAILURES_NOTIFICATIONS
COMPLAINING_SHARE = 0.5  # of the running reduces: MAX_ALLOWED_FETCH_FAILURES_PERCENT


class Job(Actor):
    """One job of the workload, from its submission to its end."""

    def __init__(
        self,
        spec: JobSpec,
        *,
        placement: Placement,
        slowstart: float,
        latency_ms: Millis,
        hosts_asked: bool,
    ) -> None:
        super().__init__(job_address(spec.job), f"job {spec.job}")
        self.state = _UNSUBMITTED
        self._spec = spec
        self._placement = placement
        self._latency_ms = latency_ms
        self._slowstart_maps = ceil(slowstart * spec.maps)
        self._hosts_asked = hosts_asked
        self._forget()

    def _forget(self) -> None:
        self._done = [0, 0]
        self._fetching: list[msg.FetchOutputs] = []  # reduces that wait for the last map
        self._let_go: list[msg.FetchOutputs] = []  # those that have been told that it is done
        self._outputs: dict[TaskIndex, NodeId] = {}  # where they lie, if hosts are asked for them
        self._outputs_on: dict[NodeId, int] = {}  # how many lie on each host that has any
        self._hosts: tuple[NodeId, ...] = ()
        self._hosts_ms: Millis = -1
        self._troubles: dict[NodeId, int] = {}
        self._failures: dict[tuple[TaskKind, TaskIndex], int] = {}

    def on_enter_system(self, _: msg.EnterSystem) -> None:
        spec = self._spec
        self._change(JobChange.SUBMIT)
        what = (spec.job, spec.name, spec.user, spec.pool, spec.priority, spec.maps, spec.reduces)
        self._submit(ev.JobSubmitted(self.now_ms, *what))

    def on_auxiliary_done(self, done: msg.AuxiliaryDone) -> None:
        """Go on after the setup; end after the cleanup."""
        if done.purpose is AuxiliaryPurpose.CLEANUP:
            self._end(_SUCCEED)
            return
        self._change(JobChange.SET_UP)
        self._submit_tasks()

    def on_attempt_booked(self, news: msg.AttemptBooked) -> None:
        """Count what is done and what failed; ask for what must run again."""
        if news.outcome is not _SUCCEEDED:
            failed = news.outcome is Outcome.FAILED
            if not (failed and self._fails(news.kind, news.task)) and news.alone:
                self.send(MASTER, msg.RunAgain(self._spec.job, news.kind, news.task))
            return
        self._done[news.kind] += 1
        if news.kind is MAP and self._hosts_asked and self._spec.reduces:
            self._outputs[news.task] = news.node
            self._outputs_on[news.node] = self._outputs_on.get(news.node, 0) + 1
        if news.kind is MAP and self._maps_done():
            waiting, self._fetching = self._fetching, []
            for fetch in waiting:
                self._let_fetch(fetch)
        self._go_on()

    def on_fetch_outputs(self, fetch: msg.FetchOutputs) -> None:
        """Tell a shuffling reduce that every map output is there, now or when it is."""
        if self._maps_done():
            self._let_fetch(fetch)
            return
        self._fetching.append(fetch)
        if fetch.fetching:
            self._tell_obsolete(fetch)

    def on_outputs_lost(self, lost: msg.OutputsLost) -> None:
        """Have the maps run again; reduces that still fetch have to wait for them (rule T3)."""
        self._done[MAP] -= len(lost.tasks)
        if lost.failed and any(self._fails(MAP, task) for task in lost.tasks):
            return
        for task in lost.tasks:
            self._forget_output(task)
            self.send(MASTER, msg.RunAgain(self._spec.job, MAP, task))
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
            self.send(MASTER, msg.DropOutputs(self._spec.job, trouble.host))

    def on_kill_job(self, _: faults.KillJob) -> None:
        """Its user kills the job; before its submission that does nothing."""
        if self.state is not _UNSUBMITTED:
            self._end(JobChange.KILL)

    def on_master_restarted(self, restarted: msg.MasterRestarted) -> None:
        if not restarted.recover:
            self._end(JobChange.KILL)
            return
        self._change(JobChange.RESUBMIT)
        self._forget()
        self._submit(ev.JobResubmitted(self.now_ms, self._spec.job, cause=self.cause))

    def waits_for(self) -> str:
        spec = self._spec
        return (
            f"job {spec.job} ({spec.name}) waits: {self._done[MAP]} of {spec.maps} maps"
            f" and {self._done[REDUCE]} of {spec.reduces} reduces are done"
        )

    def _change(self, change: JobChange) -> None:
        self.state = step(JOB, self.state, change, self.name)

    def _submit(self, event: ev.JobSubmitted | ev.JobResubmitted) -> None:
        self.cause = self.note(event)
        if not self._spec.setup_ms:
            self._submit_tasks()
            return
        self._change(JobChange.AWAIT_SETUP)
        self._ask_for(AuxiliaryPurpose.SETUP, self._spec.setup_ms)

    def _ask_for(self, purpose: AuxiliaryPurpose, ms: Millis) -> None:
        work = msg.AuxiliaryWork(purpose, ms)
        self.send(MASTER, msg.RunAuxiliary(self._spec.job, work))

    def _submit_tasks(self) -> None:
        spec = self._spec
        replicas = self._placement.place(spec.job, spec.maps)
        tail_ms = spec.shuffle_ms // max(spec.maps, 1)
        map_work = msg.MapWork(spec.map_ms, spec.factors, _anomalies(spec, MAP))
        reduce_ms = (spec.shuffle_ms, tail_ms, spec.reduce_ms)
        reduce_work = msg.ReduceWork(*reduce_ms, spec.factors, _anomalies(spec, REDUCE))
        who = (spec.job, spec.user, spec.pool, spec.priority, spec.maps, spec.reduces)
        blocks = (self._placement.replication, replicas.tobytes())
        self.send(MASTER, msg.SubmitJob(*who, *blocks, map_work, reduce_work))
        self._go_on()

    def _go_on(self) -> None:
        spec = self._spec
        if spec.reduces and self.state is _MAPPING:
            if self._done[MAP] < self._slowstart_maps:
                return
            self._change(JobChange.OPEN_REDUCES)
            self.send(MASTER, msg.ReducesReady(spec.job))
        if self._maps_done() and self._done[REDUCE] == spec.reduces:
            self._finish()

    def _finish(self) -> None:
        """All tasks are done: clean up, if there is a task for that."""
        if not self._spec.cleanup_ms:
            self._end(_SUCCEED)
            return
        self._change(JobChange.AWAIT_CLEANUP)
        self._ask_for(AuxiliaryPurpose.CLEANUP, self._spec.cleanup_ms)

    def _fails(self, kind: TaskKind, task: TaskIndex) -> bool:
        """Count a failed attempt of a task; whether that ends the job."""
        if self.retired:
            return True
        failures = self._failures[kind, task] = self._failures.get((kind, task), 0) + 1
        if failures < ATTEMPTS_MAX:
            return False
        self._end(JobChange.FAIL)
        return True

    def _maps_done(self) -> bool:
        return self._done[MAP] == self._spec.maps

    def _let_fetch(self, fetch: msg.FetchOutputs) -> None:
        self._let_go.append(fetch)
        ready = msg.OutputsReady(fetch.attempt, self._hosts_of_outputs())
        self.send(fetch.slot_address, ready, self._latency_ms)

    def _tell_obsolete(self, fetch: msg.FetchOutputs) -> None:
        self.send(fetch.slot_address, msg.OutputsObsolete(fetch.attempt), self._latency_ms)

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

    def _end(self, change: JobChange) -> None:
        self._change(change)
        spec, outcome = self._spec, ev.OUTCOMES[self.state]
        end = ev.JobFinished(self.now_ms, spec.job, outcome, spec.submit_ms, cause=self.cause)
        self.cause = self.note(end)
        done = msg.JobDone(spec.job, outcome)
        self.send(MASTER, done)
        self.send(CLIENT, done)
        self.retire()


def _anomalies(spec: JobSpec, kind: TaskKind) -> msg.TaskAnomalies | None:
    poisoned, hanging, skewed = spec.poisoned[kind], spec.hanging[kind], spec.skewed[kind]
    if not (poisoned or hanging or skewed):
        return None
    return msg.TaskAnomalies(poisoned, hanging, spec.fails_at, skewed, spec.skew)
