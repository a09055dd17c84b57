"""A node (Hadoop's TaskTracker): sends heartbeats, starts and stops attempts, reports their ends.

`actors.elided_heartbeats` says when heartbeats are due and which need not be sent; what the node
has to tell rides on the next. From the first fault on every one is sent, and sent again without an
answer (rule H5). A node that was given up is told to begin anew (rule T4), and one that starts
again after a crash does so by itself (rule T5): what ran on it is forgotten, and it joins.

What a slot hands back of a suspended attempt stays in the node's memory and goes on in any free
slot of its kind, on this node only. Map outputs stay on the node that made them, for reduces
anywhere to fetch, until it crashes or begins anew.
"""

import heapq
from typing import NamedTuple

from msgspec.structs import replace

from callboard.actors.elided_heartbeats import HeartbeatSchedule
from callboard.actors.kernel.address import MASTER, node_address, slot_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.network import Link
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts, Outcome
from callboard.actors.vocabulary.lifecycle import AttemptState, MachineState
from callboard.actors.worker.machine import Machine
from callboard.actors.worker.progress import ProgressClock
from callboard.scheduler.model import MAP, REDUCE, AttemptId, JobId, Millis

_KILLED = Outcome.KILLED
_SHUFFLING = AttemptState.SHUFFLING
_UP = MachineState.UP

_NO_EFFECT_ON_THE_LINK = (faults.Slow, faults.Partition, faults.Flaky, faults.Hang)
"""Faults that can neither delay nor lose a heartbeat."""


class SuspendedAttempt(NamedTuple):
    """What the node keeps of a suspended attempt; `progress` if it is tracked."""

    checkpoint: msg.Checkpoint
    since_ms: Millis
    progress: ProgressClock | None


class Node(Machine):
    """One worker machine and its slots."""

    __slots__ = (
        "_asked",
        "_awaiting_reply",
        "_elided_response",
        "_facts",
        "_first_slot",
        "_free",
        "_heartbeats",
        "_held",
        "_joined",
        "_keeps_outputs",
        "_last_heartbeat",
        "_latency_ms",
        "_life",
        "_orphans",
        "_outputs",
        "_plan",
        "_progress",
        "_reports",
        "_response",
        "_retry_ms",
        "_schedule",
        "_seed",
        "_sends_all",
        "_suspended",
        "_uplink",
    )

    def __init__(
        self,
        facts: NodeFacts,
        schedule: HeartbeatSchedule,
        *,
        latency_ms: Millis,
        retry_ms: Millis,
        keeps_outputs: bool,
        seed: int,
    ) -> None:
        super().__init__(node_address(facts.node), f"node {facts.node}")
        self._facts = facts
        self._schedule = schedule
        self._latency_ms = latency_ms
        self._retry_ms = retry_ms
        self._keeps_outputs = keeps_outputs
        self._seed = seed
        self._first_slot = slot_address(facts.node, 0)
        # The conversation with the master.
        self._reports: list[msg.AnyReport] = []
        self._life = 0
        self._response = 0
        self._elided_response = 0
        self._joined = False
        self._awaiting_reply = False
        self._sends_all = False  # since a fault
        self._heartbeats = 0
        self._last_heartbeat: msg.Heartbeat | None = None
        self._plan = 0
        self._uplink: Link | None = None
        # What is on the machine.
        self._outputs: set[JobId] = set()
        self._free = self._all_free()
        self._held: dict[AttemptId, int] = {}
        self._orphans: set[AttemptId] = set()  # held, but of an earlier life
        self._suspended: dict[AttemptId, SuspendedAttempt] = {}
        self._progress: dict[AttemptId, ProgressClock] = {}
        self._asked: set[AttemptId] = set()  # to be tracked, but its slot has not answered

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        if self.state is _UP:
            self._plan_heartbeat(self._schedule.next_ms)

    # Heartbeats and their answers.

    def on_heartbeat_due(self, due: msg.HeartbeatDue) -> None:
        if due.plan != self._plan:
            return
        joins = None if self._joined else self._facts
        clocks, now_ms = self._progress.values(), self._kernel.now_ms
        progress = tuple([each.progress(now_ms, self._clock) for each in clocks])
        reports = tuple(self._reports)
        self._reports.clear()
        self._joined = True
        self._heartbeats += 1
        self._awaiting_reply = not self._schedule.elides or joins is not None
        self._send_heartbeat(self._new_heartbeat(reports, joins, progress))
        if not self._awaiting_reply:
            self._elided_response = self._response + 1
            self._schedule.send(now_ms)
            if self._tracks():
                self._plan_heartbeat(self._schedule.next_ms)

    def on_heartbeat_reply(self, reply: msg.HeartbeatReply) -> None:
        """Do what the master says, and plan the next heartbeat from now (rule H3)."""
        if reply.life != self._life or reply.response <= self._response:
            return  # meant for an earlier life, or a repetition
        self._response = reply.response
        self._schedule.interval_ms = reply.interval_ms
        tracked = self._tracks()
        self._obey(reply)
        if self._awaiting_reply:
            self._awaiting_reply = False
            self._plan_after_reply()
        elif not self._reports and not tracked and self._tracks():
            self._schedule.skip_to(self.now_ms)
            self._plan_heartbeat(self._schedule.next_ms)

    def on_elided_reply_due(self, _: msg.ElidedReplyDue) -> None:
        """A reply that is left out would come; where one is waited for, it will plan the next."""
        if not self._awaiting_reply:
            self._plan_after_reply()

    def on_retry_heartbeat(self, retry: msg.RetryHeartbeat) -> None:
        if self._awaiting_reply and retry.heartbeat == self._heartbeats:
            assert self._last_heartbeat is not None
            self._send_heartbeat(self._last_heartbeat)

    def on_reinitialize(self, order: msg.Reinitialize) -> None:
        """The master has given this life up: drop what runs, and join again (rule T4)."""
        if order.life != self._life:
            return
        self._orphans.update(self._held)
        for attempt in self._held:
            self._pass_on(msg.KillTask(attempt, self.cause))
        self._begin_life()

    def _report(self, report: msg.AnyReport) -> None:
        self._reports.append(report)
        if self._awaiting_reply or len(self._reports) > 1:
            return  # the heartbeat that will tell it is planned, or the reply will plan it
        due = self._schedule.to_report(self._kernel.now_ms)
        if due is None:
            return
        if due.reply:
            self.timer(msg.ElidedReplyDue(), due.at_ms - self.now_ms)
        else:
            self._plan_heartbeat(due.at_ms)

    def _tracks(self) -> bool:
        return bool(self._progress or self._asked)

    def _new_heartbeat(
        self,
        reports: tuple[msg.AnyReport, ...] = (),
        joins: NodeFacts | None = None,
        progress: tuple[msg.AttemptProgress, ...] = (),
    ) -> msg.Heartbeat:
        """A new one, by the number of the last reply, that came or was left out."""
        response = self._response = max(self._response, self._elided_response)
        return msg.Heartbeat(self._facts.node, response, reports, joins, self._life, progress)

    def _send_heartbeat(self, heartbeat: msg.Heartbeat) -> None:
        """Send it as the link allows; since a fault, send it again if it is not answered."""
        self._last_heartbeat = heartbeat
        if self._uplink is None:
            self.send(MASTER, heartbeat, self._latency_ms)
        else:
            for delay_ms, each in self._uplink.carry(heartbeat):
                self.send(MASTER, each, delay_ms)
        if self._sends_all:
            self._await_reply()

    def _await_reply(self) -> None:
        retry_ms = self._clock.real_ms(self._retry_ms)
        self.timer(msg.RetryHeartbeat(self._heartbeats), retry_ms)

    def _plan_after_reply(self) -> None:
        schedule, reports = self._schedule, bool(self._reports)
        wait_ms = self._clock.real_ms(schedule.interval_ms)
        next_ms = schedule.after_reply(self._kernel.now_ms, wait_ms, reports=reports)
        if not schedule.elides or reports or self._tracks():
            self._plan_heartbeat(next_ms)

    def _plan_heartbeat(self, at_ms: Millis) -> None:
        """Send a heartbeat at `at_ms`, and not when any earlier plan said."""
        self._plan += 1
        self.timer(msg.HeartbeatDue(self._plan), at_ms - self._kernel.now_ms)

    def _send_all(self) -> None:
        """From now on send every heartbeat; those that were left out have had their effect."""
        if self._sends_all:
            return
        self._sends_all = True
        if self._schedule.elides:
            self._schedule.elides = False
            if self._joined and not self._awaiting_reply:
                self._end_silence()
        if self._awaiting_reply:
            self._await_reply()
        resumed = msg.HeartbeatsResumed(self._facts.node, self._schedule.left_out_ms)
        self.send(MASTER, resumed)

    def _end_silence(self) -> None:
        """Plan a heartbeat if none is planned; send an elided one that would be under way.  One
        that is under way will be answered.
        """
        schedule = self._schedule
        if schedule.is_under_way(self.now_ms):
            self._plan += 1  # the reply plans the next, and may be lost
            self._awaiting_reply = True
            return
        if not self._reports and not self._tracks():
            schedule.skip_to(self.now_ms)
            self._plan_heartbeat(schedule.next_ms)
        under_way = schedule.under_way(self.now_ms)
        if under_way is None:
            return
        wait_ms = under_way.at_ms - self.now_ms
        if under_way.reply:
            self.timer(msg.ElidedReplyDue(), wait_ms)
            return
        self._plan += 1  # its reply plans the next, and may be lost
        self._awaiting_reply = True
        self._last_heartbeat = self._new_heartbeat()
        self.send(MASTER, self._last_heartbeat, wait_ms)

    # What the master orders.

    def _obey(self, reply: msg.HeartbeatReply) -> None:
        for attempt in reply.tracks:
            self._track(attempt)
        for kill in reply.kills:
            self._kill(kill)
        for suspend in reply.suspends:
            self._pass_on(suspend)
        for launch in reply.launches:
            if isinstance(launch, msg.LaunchTask):
                self._launch(launch)
            else:
                self._resume(launch)

    def _launch(self, launch: msg.LaunchTask) -> None:
        slot = heapq.heappop(self._free[launch.kind])
        self._held[launch.attempt] = slot
        if launch.tracked:
            self._progress[launch.attempt] = ProgressClock(launch.attempt, self.now_ms)
        self.cause = launch.cause
        self.send(self._first_slot + slot, launch)

    def _resume(self, resume: msg.ResumeTask) -> None:
        saved, since_ms, progress = self._suspended.pop(resume.attempt)
        slot = heapq.heappop(self._free[saved.launch.kind])
        self._held[resume.attempt] = slot
        if progress is not None:
            self._progress[resume.attempt] = progress.later(self.now_ms - since_ms)
        self.cause = resume.cause
        self.send(self._first_slot + slot, msg.ResumeAttempt(saved))

    def _track(self, attempt: AttemptId) -> None:
        memory = self._suspended.get(attempt)
        if memory is not None:
            launch = replace(memory.checkpoint.launch, tracked=True)
            saved, since_ms = replace(memory.checkpoint, launch=launch), memory.since_ms
            left_ms = None if saved.state is _SHUFFLING else saved.left_ms
            told = msg.ProgressTold(attempt, saved.ran_ms, saved.shuffled_ms, left_ms, saved.done)
            clock = ProgressClock.of(told, since_ms)
            self._suspended[attempt] = SuspendedAttempt(saved, since_ms, clock)
        elif attempt in self._held:
            self._asked.add(attempt)
            self._pass_on(msg.TrackProgress(attempt))

    def _kill(self, kill: msg.KillTask) -> None:
        memory = self._suspended.pop(kill.attempt, None)
        if memory is None:
            self._pass_on(kill)
            return
        self.cause = kill.cause
        ended, saved = self._drop(kill.attempt, memory), memory.checkpoint
        self._report(self._end_report(kill.attempt, _KILLED, saved, ended))

    def _drop(self, attempt: AttemptId, memory: SuspendedAttempt) -> int:
        """Here ends a suspended attempt; the number of the event."""
        saved = memory.checkpoint
        times = saved.started_ms, self.now_ms - saved.started_ms - saved.ran_ms
        end = ev.AttemptEnded(self.now_ms, attempt, _KILLED, *times, cause=self.cause)
        return self.note(end)

    def _pass_on(self, order: msg.KillTask | msg.SuspendTask | msg.TrackProgress) -> None:
        """Tell the attempt's slot; an attempt that ended meanwhile is past it."""
        slot = self._held.get(order.attempt)
        if slot is not None:
            if not isinstance(order, msg.TrackProgress):
                self.cause = order.cause
            self.send(self._first_slot + slot, order)

    # What slots tell, and what they ask of each other's nodes.

    def on_phase_began(self, began: msg.PhaseBegan) -> None:
        progress = self._progress.get(began.attempt)
        if progress is not None:  # and not of an earlier life
            self._progress[began.attempt] = progress.in_phase(began, self.now_ms)

    def on_progress_told(self, told: msg.ProgressTold) -> None:
        if told.attempt in self._asked:  # and not of an earlier life
            self._asked.remove(told.attempt)
            self._progress[told.attempt] = ProgressClock.of(told, self.now_ms)

    def on_not_begun(self, told: msg.NotBegun) -> None:
        if told.attempt not in self._orphans:
            self._report(told)

    def on_fetch_failure(self, failure: msg.FetchFailure) -> None:
        self._report(failure)

    def on_attempt_finished(self, over: msg.AttemptFinished) -> None:
        """Free the slot; the news rides on the next heartbeat, unless it is of an earlier life."""
        report = over.report
        attempt = report.attempt
        self._release(over.slot, attempt)
        self._progress.pop(attempt, None)
        self._asked.discard(attempt)
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            return
        if over.output_of is not None and self._keeps_outputs:
            self._outputs.add(over.output_of)
        if self._clock.wrong:
            report = self._end_report(attempt, report.outcome, report, report.cause)
        self._report(report)

    def on_attempt_checkpointed(self, suspended: msg.AttemptCheckpointed) -> None:
        """Keep the attempt and free its slot; the news rides on the next heartbeat."""
        saved = suspended.checkpoint
        attempt = saved.launch.attempt
        self._release(suspended.slot, attempt)
        memory = SuspendedAttempt(saved, self.now_ms, self._progress.pop(attempt, None))
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            self._drop(attempt, memory)
            return
        self._suspended[attempt] = memory
        times = self._clock.measured(self.now_ms, saved.ran_ms, saved.shuffled_ms)
        self._report(msg.SuspensionReport(attempt, *times, self.cause))

    def on_fetch(self, fetch: msg.Fetch) -> None:
        """Hand over what the job's maps have left here; without it there is no answer."""
        if fetch.job in self._outputs and fetch.node not in self._unreachable:
            answer = msg.Fetched(fetch.attempt, self._facts.node)
            self.send(fetch.slot_address, answer, self._latency_ms)

    def _end_report(
        self, attempt: AttemptId, outcome: Outcome, ran: msg.EndReport | msg.Checkpoint, cause: int
    ) -> msg.EndReport:
        """What the master is told of an attempt's end; times are by the machine's clock."""
        times = self._clock.measured(self.now_ms, ran.ran_ms, ran.shuffled_ms)
        return msg.EndReport(attempt, outcome, *times, cause)

    def _release(self, slot: int, attempt: AttemptId) -> None:
        kind = MAP if slot < self._facts.map_slots else REDUCE
        heapq.heappush(self._free[kind], slot)
        del self._held[attempt]

    # What happens to the machine.

    def on_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        if not isinstance(fault, _NO_EFFECT_ON_THE_LINK):
            self._send_all()
        if isinstance(fault, faults.Disturb):
            if self._uplink is None:
                self._uplink = Link(self._seed, f"up/{self._facts.node}", self._latency_ms)
            self._uplink.conditions = fault.up
        super().on_fault(fault)

    def crash(self) -> None:
        self._plan += 1  # nothing planned will happen
        self._held.clear()
        self._orphans.clear()
        self._free = self._all_free()
        self._forget()

    def restart(self) -> None:
        self._begin_life()

    def waits_for(self) -> str | None:
        attempts = "1 attempt" if len(self._held) == 1 else f"{len(self._held)} attempts"
        if not self._suspended:
            return f"{self.name} runs {attempts}" if self._held else None
        return f"{self.name} runs {attempts} and holds {len(self._suspended)} suspended"

    def _begin_life(self) -> None:
        """Be a node that the master has never heard of, and say so at once."""
        self._forget()
        self._reports.clear()
        self._life += 1
        self._response = self._elided_response = 0
        self._joined = False
        self._awaiting_reply = False
        self._plan_heartbeat(self.now_ms)

    def _forget(self) -> None:
        """What is kept of attempts that have no slot is gone."""
        for attempt, memory in self._suspended.items():
            self._drop(attempt, memory)
        self._suspended.clear()
        self._progress.clear()
        self._asked.clear()
        self._outputs.clear()

    def _all_free(self) -> tuple[list[int], list[int]]:
        maps, reduces = self._facts.map_slots, self._facts.reduce_slots
        return list(range(maps)), list(range(maps, maps + reduces))
