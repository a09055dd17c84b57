"""The cluster at one moment: the run's state, and what else a screen needs.

Its size is that of the cluster and of the list of jobs, however long the run, so it can be copied
and kept as a snapshot.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from copy import copy
from itertools import accumulate
from typing import Any, Self

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.replay.frame import HUES, NodeStatus, SlotState
from callboard.journal.replay.schedulers_at_work import SchedulersAtWork
from callboard.journal.run_records import NEVER, NO_SLOT, AttemptRecord, JobRecord, NodeRecord
from callboard.journal.run_state import RunState
from callboard.journal.waiting_reservations import WaitingReservations
from callboard.scheduler.model import MAPS, STAGES, AttemptId, JobId, Millis, NodeId, stage_on
from callboard.scheduler.orders.fair.fair import DEFAULT_POOL
from callboard.scheduler.reasons import Refusal

_SUCCEEDED = Outcome.SUCCEEDED
_IDLE, _MAP = SlotState.IDLE, SlotState.MAP
_SHUFFLE, _REDUCE = SlotState.SHUFFLE, SlotState.REDUCE


class _TimesOfAttempts:
    """A time for each attempt, 0 where none is noted, in 8 bytes: their numbers come in blocks, one
    a scheduler.  All copies are one: a time is written when it is told, and asked for later.
    """

    _BLOCK = 4096

    def __init__(self) -> None:
        self._blocks: defaultdict[int, array[int]] = defaultdict(
            lambda: array("q", bytes(8 * self._BLOCK))
        )

    def copy(self) -> Self:
        return self

    def note(self, attempt: AttemptId, time_ms: Millis) -> None:
        block, place = divmod(attempt, self._BLOCK)
        self._blocks[block][place] = time_ms

    def of(self, attempt: AttemptId) -> Millis:
        block, place = divmod(attempt, self._BLOCK)
        return self._blocks[block][place] if block in self._blocks else 0


class ClusterState:
    """Everything that is so at one moment of a run; `observe` takes the next event in.

    The areas are in ms up to the last event: `busy_ms` for which slots of a kind were held,
    `wasted_ms` by attempts that failed or were killed, or whose output was lost, `jobs_ms` for
    which jobs were in the system.  `peaks` are the most slots of each kind that were held, and the
    most jobs that were in the system, together and for a while.

    There are `slots` of each kind, those of a node from `first` on.  Columns have an entry for each
    slot: `owners` are jobs (their number + 1, 0 for none), `holders` the attempts that have it or
    had it last, `reduce_slots` has 1 for those of reduces; or they have one for each node.
    """

    def __init__(self) -> None:
        self.run = RunState()
        self.first: list[int] = [0]
        self.slots = [0, 0]
        self.reduce_slots = b""
        self.states = bytearray()
        self.owners = array("i")
        self.since = array("q")
        self.holders = array("q")
        self.node_status = bytearray()
        self.lost = bytearray()
        self.suspended_by_node = bytearray()
        self.busy_ms = [0, 0]
        self.hues = bytearray()
        """The number of each job's colour."""
        self.pools: dict[str, int] = {}
        """The pools of jobs, as they first came; one that states none is in `default`."""
        self.users: dict[str, int] = {}
        self.pool_hues = bytearray()
        self.user_hues = bytearray()
        """The number of the colour of each job's pool, and of its user."""
        self._hue_given = [-1] * HUES
        """The job that got each colour last."""
        self.jobs_ms = 0
        self.peaks = [0, 0, 0]
        self.wasted_ms = 0
        self._held_ms = _TimesOfAttempts()
        """How long each map held its slot that succeeded."""
        self._done_ms: Counter[JobId] = Counter()
        """The slot time of what each job has done, its setup included, and has not lost again."""
        self.skips: dict[JobId, tuple[ev.AttemptLaunched, Refusal]] = {}
        """The launch that passed a job over last, and the reason."""
        self.reservations = WaitingReservations()
        self.bound: Counter[NodeId] = Counter()
        """How many attempts each node has been given that have not begun."""
        self.schedulers = SchedulersAtWork()
        self.done = dict.fromkeys(STAGES, (0, 0))
        """The work in ms of the maps and reduces that succeeded, and how many there were."""

    def copy(self) -> Self:
        """The same, to be changed independently."""
        twin = copy(self)
        for name, value in vars(self).items():
            if not isinstance(value, int | bytes):
                vars(twin)[name] = value.copy() if hasattr(value, "copy") else value[:]
        return twin

    def observe(self, event: ev.AnyEvent) -> AttemptRecord | None:
        """Take in the next event; the attempt that it is about, as it is now."""
        run = self.run
        passed = event.at_ms - run.now_ms
        if passed:  # as `busy_and_jobs_ms`, but this is for every event
            self.busy_ms[0] += run.busy[0] * passed
            self.busy_ms[1] += run.busy[1] * passed
            self.jobs_ms += len(run.live) * passed
            self._note_peaks()
        attempt = run.observe_if_possible(event)
        if type(event) in _OF_QUEUES:
            self.reservations.observe(event, attempt)
        if type(event) in _OF_SCHEDULERS:
            self.schedulers.observe(event)
        if attempt is not None:
            look = _OF_ATTEMPT.get(type(event))
            if look is not None:
                look(self, event, attempt)
        elif isinstance(event, ev.JobSubmitted):
            self._give_hue(event.job)
            self._give_pool_and_user_hues(event.job)
        elif isinstance(event, ev.JobChanged):
            self._give_pool_and_user_hues(event.job)
        elif isinstance(event, ev.MapOutputsLost):
            self._waste_done_work(event.job, sum(map(self._held_ms.of, event.attempts)))
        elif isinstance(event, ev.JobResubmitted):
            self._waste_done_work(event.job, self._done_ms[event.job])
        elif isinstance(event, ev.RunStarted):
            self._run_started(event)
        elif isinstance(event, ev.FaultStruck | ev.NodeEvent):
            self._show_nodes(event)
        return attempt

    def _note_peaks(self) -> None:
        (maps, reduces), live, peaks = self.run.busy, len(self.run.live), self.peaks
        if maps > peaks[0]:
            peaks[0] = maps
        if reduces > peaks[1]:
            peaks[1] = reduces
        if live > peaks[2]:
            peaks[2] = live

    def busy_and_jobs_ms(self, at_ms: Millis) -> tuple[int, int, int]:
        """`busy_ms` of both kinds, and `jobs_ms`, at a moment up to which nothing happens."""
        passed, (maps, reduces) = at_ms - self.run.now_ms, self.run.busy
        return (
            self.busy_ms[0] + maps * passed,
            self.busy_ms[1] + reduces * passed,
            self.jobs_ms + len(self.run.live) * passed,
        )

    def expected_size_ms(self, job: JobRecord) -> float | None:
        """The job's size as `size="online"` has it: its tasks times the mean of its own that have
        succeeded, else of all; None without any.
        """
        size_ms = 0.0
        for stage, phase in job.phases.items():
            own = phase.work_ms, phase.succeeded
            total_ms, count = own if phase.succeeded else self.done[stage]
            if job.total(stage) and not count:
                return None
            size_ms += job.total(stage) * total_ms / max(count, 1)
        return size_ms

    def attempt_in(self, place: int) -> AttemptRecord | None:
        """The attempt that the slot holds, or that the master believes it to hold."""
        if self.states[place] == _IDLE:
            return None
        return self.run.attempts.get(self.holders[place])

    def queue_length_at(self, node: NodeId) -> int:
        """How many reservations and how many tasks wait at a node for a slot."""
        return self.reservations.by_node[node] + self.bound[node]

    def _give_hue(self, job: JobId) -> None:
        """The colour that the fewest jobs in the system have; of several, the longest unused."""
        used = [0] * HUES
        for other in self.run.live:
            if other != job:
                used[self.hues[other]] += 1
        hue = min(range(HUES), key=lambda each: (used[each], self._hue_given[each]))
        self.hues.extend(bytes(max(job + 1 - len(self.hues), 0)))
        self.hues[job], self._hue_given[hue] = hue, job

    def _give_pool_and_user_hues(self, job: JobId) -> None:
        row = self.run.jobs.get(job)
        if row is None:
            return
        user = row.submission.user
        for name, groups, hues in (
            (row.pool or DEFAULT_POOL, self.pools, self.pool_hues),
            (user, self.users, self.user_hues),
        ):
            hues.extend(bytes(max(job + 1 - len(hues), 0)))
            hues[job] = groups.setdefault(name, len(groups)) % HUES

    def _run_started(self, event: ev.RunStarted) -> None:
        self.first = slot_offsets(event.nodes)
        self.slots = [
            sum(n.map_slots for n in event.nodes),
            sum(n.reduce_slots for n in event.nodes),
        ]
        slots, nodes = self.first[-1], len(event.nodes)
        self.reduce_slots = b"".join(
            bytes(n.map_slots) + b"\1" * n.reduce_slots for n in event.nodes
        )
        self.states, self.owners = bytearray(slots), array("i", bytes(4 * slots))
        self.since, self.holders = array("q", bytes(8 * slots)), array("q", bytes(8 * slots))
        self.node_status, self.lost = bytearray(nodes), bytearray(nodes)
        self.suspended_by_node = bytearray(nodes)

    # Attempts, and the slots that they have.

    def _note_launch(self, event: ev.AttemptLaunched, attempt: AttemptRecord) -> None:  # noqa: ARG002
        for skip in event.why.skipped:
            self.skips[skip.job] = event, skip.refusal
        self.bound[event.node] += 1

    def _show_slot_taken(
        self, event: ev.AttemptStarted | ev.AttemptResumed, attempt: AttemptRecord
    ) -> None:
        if isinstance(event, ev.AttemptResumed):
            self._count_suspended(event.node, -1)
        elif attempt.closed is None:  # else it was taken off when it was closed
            self.bound[event.node] -= 1
        place = self.first[event.node] + event.slot
        self.since[place], self.holders[place] = event.at_ms, event.attempt
        self.states[place] = slot_state(attempt)
        self.owners[place] = attempt.launch.job + 1

    def _show_slot_left(
        self, event: ev.AttemptSuspended | ev.AttemptEnded, attempt: AttemptRecord
    ) -> None:
        node, ended = attempt.launch.node, attempt.ended is not None
        if attempt.slot == NO_SLOT or not ended:
            self._count_suspended(node, -1 if ended else 1)
        if attempt.slot != NO_SLOT:
            self.since[self.first[node] + attempt.slot] = event.at_ms
            self._update_slot_of(event, attempt)
            closed = attempt.closed
            if closed is not None and closed.outcome is not _SUCCEEDED:  # it ran on in vain
                self.wasted_ms += event.at_ms - max(closed.at_ms, attempt.began_ms)

    def _note_closing(self, event: ev.AttemptClosed, attempt: AttemptRecord) -> None:
        held_ms = attempt.held_ms_until(event.at_ms)
        if attempt.started is None:
            self.bound[attempt.launch.node] -= 1
        if event.outcome is _SUCCEEDED:
            self._note_done_work(attempt, held_ms)
        else:
            self.wasted_ms += held_ms
        self._update_slot_of(event, attempt)

    def _note_done_work(self, attempt: AttemptRecord, held_ms: Millis) -> None:
        launch = attempt.launch
        self._done_ms[launch.job] += held_ms
        if attempt.unseen:
            return
        stage = stage_on(launch.kind)
        total_ms, count = self.done[stage]
        self.done[stage] = total_ms + held_ms - attempt.fetching_ms, count + 1
        if stage is MAPS:
            self._held_ms.note(launch.attempt, held_ms)

    def _waste_done_work(self, job: JobId, held_ms: Millis) -> None:
        self.wasted_ms += held_ms
        self._done_ms[job] -= held_ms

    def _update_slot_of(self, event: ev.AttemptEvent, attempt: AttemptRecord) -> None:
        """Update the slot that the attempt has, or had last."""
        place = self.first[attempt.launch.node] + attempt.slot
        if attempt.slot != NO_SLOT and self.holders[place] == event.attempt:
            state = self.states[place] = slot_state(attempt)
            if state is _IDLE:
                self.owners[place] = 0

    def _count_suspended(self, node: NodeId, change: int) -> None:
        self.suspended_by_node[node] = max(0, min(self.suspended_by_node[node] + change, 255))

    # Nodes.

    def _show_nodes(self, event: ev.FaultStruck | ev.NodeEvent) -> None:
        about = event.fault if isinstance(event, ev.FaultStruck) else event
        nodes = self.run.nodes
        shown = [getattr(about, "node", -1)]
        if isinstance(about, FORGETTING_FAULTS):
            shown = list(nodes)
        for number in shown:
            if number in nodes:
                self.node_status[number] = _node_status(nodes[number])
                self.lost[number] = nodes[number].is_given_up


FORGETTING_FAULTS = (faults.MasterFault, faults.CrashScheduler)
"""After these the master, or a scheduler, may have forgotten which nodes it had given up."""

_OF_QUEUES = frozenset(
    {
        *(ev.JobSubmitted, ev.JobResubmitted, ev.JobFinished),
        *(ev.ReservationsSent, ev.ReservationsStolen),
        *(ev.AttemptLaunched, ev.AttemptClosed, ev.MapOutputsLost, ev.FaultStruck, ev.ContactLost),
    }
)
"""What reservations come and go by."""

_OF_SCHEDULERS = frozenset(
    {
        *(ev.ThoughtBegun, ev.SchedulingAttempted, ev.NodesProbed, ev.ProbesAnswered),
        ev.FaultStruck,
    }
)
"""What schedulers do that think, or ask nodes."""

_OF_ATTEMPT: dict[type[ev.Event], Callable[[ClusterState, Any, AttemptRecord], None]] = {
    ev.AttemptLaunched: ClusterState._note_launch,
    ev.AttemptStarted: ClusterState._show_slot_taken,
    ev.AttemptResumed: ClusterState._show_slot_taken,
    ev.ShuffleEnded: ClusterState._update_slot_of,
    ev.AttemptSuspended: ClusterState._show_slot_left,
    ev.AttemptEnded: ClusterState._show_slot_left,
    ev.AttemptClosed: ClusterState._note_closing,
}


def slot_state(attempt: AttemptRecord) -> SlotState:
    """What the slot of an attempt is shown as: the one that it has, or had last."""
    if attempt.left_ms != NEVER:
        ghost = attempt.ended is not None and attempt.closed is None
        return SlotState.GHOST if ghost else _IDLE
    if attempt.closed is not None:
        return SlotState.ORPHAN
    if attempt.launch.original:
        return SlotState.COPY
    if not attempt.launch.kind:
        return _MAP
    return _SHUFFLE if attempt.shuffled is None else _REDUCE


def _node_status(node: NodeRecord) -> NodeStatus:
    """How a node really is."""
    told = {
        NodeStatus.DOWN: node.is_down,
        NodeStatus.ABSENT: node.absent,
        NodeStatus.PAUSED: node.is_down_or_paused and not node.is_down,
        NodeStatus.SLOW: node.factor != 1,
        NodeStatus.CUT: node.link_disturbed,
        NodeStatus.DRAINED: node.drained,
        NodeStatus.APART: node.partitioned,
    }
    return NodeStatus(sum(flag for flag, is_so in told.items() if is_so))


def slot_offsets(nodes: Sequence[ev.NodeFacts]) -> list[int]:
    """Where each node's slots begin among all; the last entry is how many slots there are."""
    return [0, *accumulate(facts.map_slots + facts.reduce_slots for facts in nodes)]
