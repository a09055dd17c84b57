"""A node (Hadoop's TaskTracker): starts and stops attempts, and keeps what they leave.

It speaks with its schedulers by its dialogue (`actors.worker.dialogue`), which belongs to
the architecture.  A slot's actor is made when it is first used; what strikes the machine is passed
on to all that there are.  After a crash, or when it is told to begin anew, what ran is forgotten.

What a slot hands back of a suspended attempt stays in the node's memory and goes on in any free
slot of its kind, on this node only. Map outputs stay on the node that made them, for reduces
anywhere to fetch, until it crashes or begins anew.
"""

import heapq
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from callboard.actors.kernel.actor import Answer
from callboard.actors.kernel.address import node_address, slot_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts, Outcome
from callboard.actors.vocabulary.lifecycle import AttemptState, MachineState
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.worker.machine import Machine
from callboard.actors.worker.progress import ProgressClock
from callboard.actors.worker.slot import Slot
from callboard.scheduler.model import MAP, MAPS, REDUCE, AttemptId, JobId, Millis

_KILLED = Outcome.KILLED
_SHUFFLING = AttemptState.SHUFFLING
_UP = MachineState.UP

MakeSlot = Callable[[NodeFacts, int], Slot]
"""Makes the actor of a node's slot of this number, maps first."""


class SuspendedAttempt(NamedTuple):
    """What the node keeps of a suspended attempt; `progress` if it is tracked."""

    checkpoint: msg.Checkpoint
    since_ms: Millis
    progress: ProgressClock | None


class Node(Machine):
    """One worker machine and its slots."""

    __slots__ = (
        "_asked",
        "_first_slot",
        "_free",
        "_held",
        "_keeps_outputs",
        "_latency_ms",
        "_make_slot",
        "_orphans",
        "_outputs",
        "_progress",
        "_slots",
        "_suspended",
        "dialogue",
        "facts",
    )

    def __init__(
        self,
        facts: NodeFacts,
        dialogue: Dialogue,
        make_slot: MakeSlot,
        *,
        latency_ms: Millis,
        keeps_outputs: bool,
    ) -> None:
        super().__init__(node_address(facts.node), f"node {facts.node}")
        self.facts = facts
        self.dialogue = dialogue
        self.answers = _answers_with_dialogue(type(dialogue))
        self._make_slot = make_slot
        self._latency_ms = latency_ms
        self._keeps_outputs = keeps_outputs
        self._first_slot = slot_address(facts.node, 0)
        self._slots: set[int] = set()  # those that have an actor
        self._free = _all_slots(facts)
        self._held: dict[AttemptId, int] = {}
        self._orphans: set[AttemptId] = set()  # held, but of an earlier life
        self._outputs: set[JobId] = set()
        self._suspended: dict[AttemptId, SuspendedAttempt] = {}
        self._progress: dict[AttemptId, ProgressClock] = {}
        self._asked: set[AttemptId] = set()  # to be tracked, but its slot has not answered

    def join(self, kernel: Kernel[AnyEvent]) -> None:
        super().join(kernel)
        self.dialogue.attach(self)
        if self.state is _UP:
            self.dialogue.begin()

    # What the dialogue asks and orders.

    @property
    def tracks(self) -> bool:
        """Whether the progress of any attempt is to be told."""
        return bool(self._progress or self._asked)

    def progress(self) -> tuple[msg.AttemptProgress, ...]:
        """How far the tracked attempts are now."""
        clocks, now_ms = self._progress.values(), self._kernel.now_ms
        return tuple([each.progress(now_ms, self.clock) for each in clocks])

    def launch(self, launch: msg.LaunchTask) -> None:
        if launch.tracked:
            self._progress[launch.attempt] = ProgressClock(launch.attempt, self.now_ms)
        self._give_slot(launch, launch, launch.cause)

    def resume_attempt(self, resume: msg.ResumeTask) -> None:
        saved, since_ms, progress = self._suspended.pop(resume.attempt)
        if progress is not None:
            self._progress[resume.attempt] = progress.later(self.now_ms - since_ms)
        self._give_slot(saved.launch, msg.ResumeAttempt(saved), resume.cause)

    def _give_slot(
        self, launch: msg.LaunchTask, order: msg.LaunchTask | msg.ResumeAttempt, cause: int
    ) -> None:
        """Have a free slot of the attempt's kind run it, the lowest."""
        slot = heapq.heappop(self._free[launch.kind])
        self._held[launch.attempt] = slot
        if slot not in self._slots:
            self._slots.add(slot)
            actor = self._make_slot(self.facts, slot)
            actor.begin_like(self)
            self.spawn(actor)
        self.send(self._first_slot + slot, order, cause)

    def kill(self, kill: msg.KillTask) -> None:
        memory = self._suspended.pop(kill.attempt, None)
        if memory is None:
            self._pass_on_to_slot(kill, kill.cause)
            return
        ended, saved = self._drop_suspended(kill.attempt, memory, kill.cause), memory.checkpoint
        self.dialogue.report(self._end_report(kill.attempt, _KILLED, saved, ended))

    def suspend(self, suspend: msg.SuspendTask) -> None:
        self._pass_on_to_slot(suspend, suspend.cause)

    def track(self, attempt: AttemptId) -> None:
        memory = self._suspended.get(attempt)
        if memory is not None:
            launch = replace(memory.checkpoint.launch, tracked=True)
            saved, since_ms = replace(memory.checkpoint, launch=launch), memory.since_ms
            left_ms = None if saved.state is _SHUFFLING else saved.left_ms
            if launch.stage == MAPS:  # one that was stuck or had no input has no shuffle either
                left_ms = left_ms or 0
            told = msg.ProgressTold(attempt, saved.ran_ms, saved.shuffled_ms, left_ms, saved.done)
            clock = ProgressClock.of_told(told, since_ms)
            self._suspended[attempt] = SuspendedAttempt(saved, since_ms, clock)
        elif attempt in self._held:
            self._asked.add(attempt)
            self._pass_on_to_slot(msg.TrackProgress(attempt), self.cause)

    def drop_all_attempts(self, cause: int) -> None:
        """Drop all that runs, and tell nobody of it."""
        self._orphans.update(self._held)
        for attempt in self._held:
            self._pass_on_to_slot(msg.KillTask(attempt, cause), cause)
        self._forget_attempts(cause)

    def _pass_on_to_slot(
        self, order: msg.KillTask | msg.SuspendTask | msg.TrackProgress, cause: int
    ) -> None:
        """Tell the attempt's slot; an attempt that ended meanwhile is past it."""
        slot = self._held.get(order.attempt)
        if slot is not None:
            self.send(self._first_slot + slot, order, cause)

    # What slots tell, and what they ask of each other's nodes.

    def on_phase_began(self, began: msg.PhaseBegan) -> None:
        progress = self._progress.get(began.attempt)
        if progress is not None:  # and not of an earlier life
            self._progress[began.attempt] = progress.in_phase(began, self.now_ms)

    def on_progress_told(self, told: msg.ProgressTold) -> None:
        if told.attempt in self._asked:  # and not of an earlier life
            self._asked.remove(told.attempt)
            self._progress[told.attempt] = ProgressClock.of_told(told, self.now_ms)

    def on_trouble(self, trouble: msg.NotBegun | msg.FetchFailure) -> None:
        if isinstance(trouble, msg.FetchFailure) or trouble.attempt not in self._orphans:
            self.dialogue.report(trouble)

    def on_attempt_finished(self, over: msg.AttemptFinished) -> None:
        """Free the slot and report the end, unless the attempt is of an earlier life."""
        report = over.report
        attempt = report.attempt
        if not self._release_slot(over.slot, attempt):
            return
        self._progress.pop(attempt, None)
        self._asked.discard(attempt)
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            return
        if over.output_of is not None and self._keeps_outputs:
            self._outputs.add(over.output_of)
        if self.clock.wrong:
            report = self._end_report(attempt, report.outcome, report, report.cause)
        self.dialogue.report(report)

    def on_attempt_checkpointed(self, suspended: msg.AttemptCheckpointed) -> None:
        """Keep the attempt, free its slot and report it."""
        saved, cause = suspended.checkpoint, self.cause
        attempt = saved.launch.attempt
        if not self._release_slot(suspended.slot, attempt):
            return
        memory = SuspendedAttempt(saved, self.now_ms, self._progress.pop(attempt, None))
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            self._drop_suspended(attempt, memory, cause)
            return
        self._suspended[attempt] = memory
        times = self.clock.measured(self.now_ms, saved.ran_ms, saved.shuffled_ms)
        self.dialogue.report(msg.SuspensionReport(attempt, *times, cause))

    def on_fetch(self, fetch: msg.Fetch) -> None:
        """Hand over what the job's maps have left here; without it there is no answer."""
        if fetch.job in self._outputs and fetch.node not in self._unreachable:
            answer = msg.Fetched(fetch.attempt, self.facts.node)
            self.send(fetch.slot_address, answer, self.cause, self._latency_ms)

    def _end_report(
        self, attempt: AttemptId, outcome: Outcome, ran: msg.EndReport | msg.Checkpoint, cause: int
    ) -> msg.EndReport:
        """What is told of an attempt's end; times are by the machine's clock."""
        times = self.clock.measured(self.now_ms, ran.ran_ms, ran.shuffled_ms)
        return msg.EndReport(attempt, outcome, *times, cause)

    def _release_slot(self, slot: int, attempt: AttemptId) -> bool:
        """Have the slot back, unless the machine has crashed and started since, at this instant."""
        if self._held.pop(attempt, None) is None:
            return False
        kind = MAP if slot < self.facts.map_slots else REDUCE
        heapq.heappush(self._free[kind], slot)
        return True

    # What happens to the machine.

    def on_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        self.dialogue.take_in_fault(fault)
        super().on_fault(fault)
        if isinstance(fault, faults.NodeFault) and not isinstance(fault, faults.Disturb):
            for slot in sorted(self._slots):
                self.send(self._first_slot + slot, fault, self.cause)

    def crash(self) -> None:
        self.dialogue.end_life()
        self._held.clear()
        self._orphans.clear()
        self._free = _all_slots(self.facts)
        self._forget_attempts(self.cause)

    def restart(self) -> None:
        self.dialogue.begin_life(self.cause)

    def waiting_reason(self) -> str | None:
        attempts = "1 attempt" if len(self._held) == 1 else f"{len(self._held)} attempts"
        if not self._suspended:
            return f"{self.name} runs {attempts}" if self._held else None
        return f"{self.name} runs {attempts} and holds {len(self._suspended)} suspended"

    def _forget_attempts(self, cause: int) -> None:
        """What is kept of attempts that have no slot is gone."""
        for attempt, memory in self._suspended.items():
            self._drop_suspended(attempt, memory, cause)
        self._suspended.clear()
        self._progress.clear()
        self._asked.clear()
        self._outputs.clear()

    def _drop_suspended(self, attempt: AttemptId, memory: SuspendedAttempt, cause: int) -> int:
        """Here ends a suspended attempt; the number of the event."""
        saved = memory.checkpoint
        times = saved.started_ms, self.now_ms - saved.started_ms - saved.ran_ms
        end = ev.AttemptEnded(self.now_ms, attempt, _KILLED, *times, cause=cause)
        return self.note(end)


def _all_slots(facts: NodeFacts) -> tuple[list[int], list[int]]:
    """The numbers of a node's map slots, and of its reduce slots."""
    maps, reduces = facts.map_slots, facts.reduce_slots
    return list(range(maps)), list(range(maps, maps + reduces))


@cache
def _answers_with_dialogue(dialogue: type[Dialogue]) -> dict[type[msgspec.Struct], Answer]:
    """The answers of nodes with such a dialogue, whose messages it answers itself."""

    def passed_on(answer: Answer) -> Answer:
        def answer_by_dialogue(node: Any, message: Any) -> None:
            answer(node.dialogue, message)

        return answer_by_dialogue

    own = {kind: passed_on(answer) for kind, answer in dialogue.handlers.items()}
    return Node.handlers | own
