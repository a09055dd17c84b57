"""What is known of one attempt, job or node by the events of a run (`journal.run_state`).

Their strings explain a violation to people.
"""

import msgspec
from msgspec.structs import replace

from callboard.actors.network import HEALTHY
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import lifecycle as lc
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.worker.machine import MACHINE_CHANGES
from callboard.scheduler.model import (
    MAPS,
    REDUCES,
    STAGE_NAMES,
    AttemptId,
    Millis,
    Priority,
    Stage,
)

NEVER: Millis = -1
NO_SLOT = -1

_S = lc.AttemptState
_STALLED = frozenset(
    {_S.AWAITING_INPUT, _S.MAP_STUCK, _S.REDUCE_STUCK, _S.HANGING, _S.SUSPENDED_HANGING}
)


class AttemptRecord(msgspec.Struct, gc=False):
    """One attempt: its real state, the one booked, and the events of it; None has not happened.

    `slot` is the one that it holds since `began_ms`, or that it left at `left_ms` when it was
    suspended or ended; `held_ms` is how long it held slots until `left_ms`, `fetching_ms` how much
    of that a reduce shuffled.  `beaten` says that another attempt has done the task; `rival` is
    that other attempt, or the one that runs beside this.  `unseen` ones set their job up, or clean
    up after it.  `reclaimed` says that YARN's resource manager had it killed.  `suspend_ordered`
    holds until it is ordered to go on, `resume_ordered` until it does.
    """

    launch: ev.AttemptLaunched
    version: int
    state: lc.AttemptState = lc.AttemptState.UNASSIGNED
    booked: lc.BookedState = lc.BookedState.LAUNCHED
    started: ev.AttemptStarted | None = None
    shuffled: ev.ShuffleEnded | None = None
    stalled: ev.AttemptStalled | None = None
    suspended: ev.AttemptSuspended | None = None
    ended: ev.AttemptEnded | None = None
    closed: ev.AttemptClosed | None = None
    slot: int = NO_SLOT
    began_ms: Millis = NEVER
    left_ms: Millis = NEVER
    held_ms: Millis = 0
    fetching_ms: Millis = 0
    rival: AttemptId = 0
    unseen: bool = False
    beaten: bool = False
    kill_ordered: bool = False
    reclaimed: bool = False
    suspend_ordered: bool = False
    resume_ordered: bool = False

    @property
    def holds_slot(self) -> bool:
        return self.began_ms != NEVER and self.left_ms == NEVER

    @property
    def is_suspended(self) -> bool:
        """Whether its node keeps it without a slot."""
        return self.left_ms != NEVER and self.ended is None

    @property
    def is_stalled(self) -> bool:
        """Whether it makes no progress, for the reason that `stalled` tells."""
        return self.state in _STALLED

    def held_ms_until(self, at_ms: Millis) -> Millis:
        return self.held_ms + (at_ms - self.began_ms if self.holds_slot else 0)

    def __str__(self) -> str:
        place = f" in slot {self.slot}" if self.holds_slot else ""
        launch = self.launch
        told = f"attempt {launch.attempt} on node-{launch.node}: {self.state}{place}"
        return f"{told}, booked as {self.booked}"


class PhaseRecord(msgspec.Struct, gc=False):
    """The maps of a job, or its reduces, as the master has booked them.

    `open` attempts are not closed, and of these `spare` that another has beaten, or that run beside
    another; `lost` are those that were done before and must run again.
    Attempts that succeeded held slots for `held_ms`, `fetching_ms` of it for their shuffles.  The
    order took all of it for `estimated_ms` when it had measured it.
    """

    done: int = 0
    lost: int = 0
    open: int = 0
    spare: int = 0
    held_ms: Millis = 0
    fetching_ms: Millis = 0
    estimated_ms: Millis = NEVER

    @property
    def running(self) -> int:
        """How many tasks have an attempt that is not closed and that no other has beaten."""
        return self.open - self.spare

    @property
    def succeeded(self) -> int:
        """How many attempts have succeeded, of tasks that are done or of such as were."""
        return self.done + self.lost

    @property
    def usual_ms(self) -> float | None:
        """How long an attempt has held slots on average; None where none has succeeded."""
        return self.held_ms / self.succeeded if self.succeeded else None

    @property
    def work_ms(self) -> Millis:
        return self.held_ms - self.fetching_ms


class JobRecord(msgspec.Struct, gc=False):
    """One job; `phases` are its maps and its reduces, `levels` its launched maps by locality, and
    `unseen` attempts that set it up or clean up after it are open.

    `pool` and `priority` are those of now, `submission` has the first.  `suspended` attempts are
    kept by their nodes; `wasted_ms` is how long attempts held slots that failed or were killed.
    `speculative` attempts were launched, which `last_launch` leaves out; `preempted` is how often
    an attempt had to give way to another job.
    """

    submission: ev.JobSubmitted
    version: int
    pool: str
    priority: Priority
    state: lc.JobState = lc.JobState.MAPPING
    phases: dict[Stage, PhaseRecord] = msgspec.field(
        default_factory=lambda: {MAPS: PhaseRecord(), REDUCES: PhaseRecord()}
    )
    finished: ev.JobFinished | None = None
    unseen: int = 0
    suspended: int = 0
    levels: list[int] = msgspec.field(default_factory=lambda: [0, 0, 0])
    wasted_ms: Millis = 0
    speculative: int = 0
    preempted: int = 0
    first_launch_ms: Millis | None = None
    last_launch: ev.AttemptLaunched | None = None
    last_preemption: ev.KillOrdered | ev.SuspendOrdered | None = None

    def total(self, stage: Stage) -> int:
        return self.submission.maps if stage == MAPS else self.submission.reduces

    @property
    def open_attempts(self) -> int:
        """How many attempts the master has not closed."""
        return self.phases[MAPS].open + self.phases[REDUCES].open + self.unseen

    @property
    def finished_ms(self) -> Millis | None:
        return None if self.finished is None else self.finished.at_ms

    def end_or(self, at_ms: Millis) -> Millis:
        """When it left, or `at_ms` while it has not."""
        return at_ms if self.finished is None else self.finished.at_ms

    @property
    def outcome(self) -> Outcome | None:
        return None if self.finished is None else self.finished.outcome

    def changeable_copy(self, version: int) -> "JobRecord":
        """A copy that can be changed."""
        phases = {stage: replace(phase) for stage, phase in self.phases.items()}
        return replace(self, version=version, phases=phases, levels=self.levels.copy())

    def __str__(self) -> str:
        parts = [
            f"{phase.done} of {self.total(stage)} {STAGE_NAMES[stage]}s done, {phase.running}"
            f" being run in {phase.open} attempts"
            for stage, phase in self.phases.items()
        ]
        return f"job-{self.submission.job}, {self.state}: {'; '.join(parts)}"


class NodeRecord(msgspec.Struct, frozen=True, gc=False):
    """One node: its machine, in this state since `since_ms`, and its state in the books.

    `down_ms` is how long it was down before that; the master, or a scheduler, gave it up last at
    `lost_ms`.  Where there are several schedulers, those in `given_up_by` have no contact with it.
    Work takes `factor` times as long.  `absent` nodes have been down since before the run.
    """

    facts: ev.NodeFacts
    machine: lc.MachineState = lc.MachineState.UP
    since_ms: Millis = 0
    down_ms: Millis = 0
    booked: lc.BookedNodeState = lc.BookedNodeState.IN_SERVICE
    lost_ms: Millis = NEVER
    given_up_by: frozenset[int] = frozenset()
    absent: bool = False
    factor: float = 1.0
    link_disturbed: bool = False
    partitioned: bool = False
    drained: bool = False

    @property
    def is_down(self) -> bool:
        return self.machine is lc.MachineState.DOWN

    @property
    def is_down_or_paused(self) -> bool:
        return self.machine is not lc.MachineState.UP

    @property
    def is_lost(self) -> bool:
        return self.booked is lc.BookedNodeState.LOST

    @property
    def is_given_up(self) -> bool:
        """Whether the master has given it up, or a scheduler of several has."""
        return self.is_lost or bool(self.given_up_by)

    def down_ms_until(self, at_ms: Millis) -> Millis:
        return self.down_ms + (at_ms - self.since_ms if self.is_down else 0)

    def after_fault(self, fault: faults.NodeFault, at_ms: Millis) -> "NodeRecord":
        """The node after a fault; what makes no sense for its machine changes nothing."""
        change = MACHINE_CHANGES.get(type(fault))
        if change is not None and (self.machine, change) in lc.MACHINE:
            machine, down_ms = lc.step(lc.MACHINE, self.machine, change), self.down_ms_until(at_ms)
            absent = isinstance(fault, faults.Crash) and at_ms == 0
            return replace(self, machine=machine, since_ms=at_ms, down_ms=down_ms, absent=absent)
        match fault:
            case faults.Slow():
                return replace(self, factor=fault.factor)
            case faults.Disturb():
                return replace(self, link_disturbed=not fault.up == fault.down == HEALTHY)
            case faults.Partition():
                return replace(self, partitioned=bool(fault.others))
            case faults.Drain():
                return replace(self, drained=fault.out)
            case _:
                return self

    def __str__(self) -> str:
        told = f"node-{self.facts.node}: {self.machine} since {self.since_ms} ms"
        return f"{told}, booked as {self.booked}"
