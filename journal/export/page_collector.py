"""Takes in a run's events for a page that plays it back, and refuses what no page can hold.

All is folded here, by the state that the terminal's screen goes by too; the page only adds up.
"""

from collections.abc import Iterable
from functools import cache
from typing import Self

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Importance
from callboard.journal.consistency import feed_consistent_events
from callboard.journal.event_limits import InconsistentEvents
from callboard.journal.export.change_log import (
    ChangeLog,
    CountRow,
)
from callboard.journal.replay.cluster_state import FORGETTING_FAULTS, ClusterState
from callboard.journal.replay.frame import (
    LogLine,
    NodeStatus,
    nodes_down,
)
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.journal.replay.job_rows import job_status
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.signs import NODE_SIGNS, node_sign
from callboard.journal.run_records import JobRecord
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import MAPS, SETUP, JobId, Millis, NodeId
from callboard.scheduler.text.quantities import printable

ATTEMPTS_MOST = 150_000
"""How many attempts a page plays back; it has some 80 bytes for each."""

SLOTS_MOST, JOBS_MOST = 50_000, 50_000
"""How many slots a page can draw in time, and how many jobs it lists."""

_NO_LEVEL = 3


class TooLargeForPageError(ValueError):
    """The run has more of something than a page can hold."""

    def __init__(self, what: str, most: int) -> None:
        super().__init__(
            f"it has more than {most:,} {what}, and a page holds no more; record less of the run"
            " (callboard run with --until or --jobs), or see all of it with callboard replay"
        )


class PageCollector:
    """A run's events as they are taken in: a recording of them, what changes of `slots`, `jobs` and
    `nodes` (rows as in `PageData`; those of slots with their attempt), policies, and the
    `decisions` in words.
    """

    def __init__(self, make_oracle: MakeOracle | None = None) -> None:
        self.recording = Recording(make_oracle)
        self._checked = RunState()
        self._narrator = Narrator(self._checked)
        self.slots = ChangeLog((0, 0, 0, 0, 0))
        self.jobs = ChangeLog((0, 0, 0, 0, 0, 0))
        self.nodes = ChangeLog((0, 0, 0, 0, 0, 0))
        self._held: dict[NodeId, list[tuple[int, int]]] = {}
        self._policy: tuple[str, bool] | None = None
        self.policies: list[tuple[Millis, str, bool]] = []
        self.decisions: list[LogLine] = []
        self.attempts = 0
        """How many have been launched."""

    @classmethod
    def of_events(
        cls, events: Iterable[ev.AnyEvent], make_oracle: MakeOracle | None = None
    ) -> Self:
        """All that the events tell.  TooLargeForPageError; ValueError, with the event's number, if
        no run can have had them, or if they do not begin with a run's start.
        """
        found = cls(make_oracle)
        feed_consistent_events(events, found._checked, found._collect_event)
        found.recording.closed = True
        return found

    def _collect_event(self, event: ev.AnyEvent) -> None:
        self._check_size(event)
        text = self._narrator.describe(event) if event.importance is Importance.DECISION else ""
        self._checked.observe(event)
        recording = self.recording
        recording.append(event)
        job, node = recording.jobs[-1], recording.nodes[-1]
        if text:
            line = LogLine(
                len(recording) - 1, event.at_ms, text, event.importance, event.mark, job, node
            )
            self.decisions.append(line)
        self._note_changes(event, job, node)

    def _check_size(self, event: ev.AnyEvent) -> None:
        """Numbers that a page cannot hold, before anything is made of them."""
        if isinstance(event, ev.RunStarted) is (self.recording.started is not None):
            raise InconsistentEvents("a run begins once, with its first event")
        match event:
            case ev.RunStarted():
                slots = sum(facts.map_slots + facts.reduce_slots for facts in event.nodes)
                if max(slots, len(event.nodes)) > SLOTS_MOST:
                    raise TooLargeForPageError("slots", SLOTS_MOST)
                if [facts.node for facts in event.nodes] != list(range(len(event.nodes))):
                    raise InconsistentEvents("its nodes are not numbered from 0 on")
            case ev.JobSubmitted() if max(event.job, len(self._checked.jobs)) >= JOBS_MOST:
                raise TooLargeForPageError("jobs", JOBS_MOST)
            case ev.AttemptLaunched():
                self.attempts += 1
                if self.attempts > ATTEMPTS_MOST:
                    raise TooLargeForPageError("attempts", ATTEMPTS_MOST)

    def _note_changes(self, event: ev.AnyEvent, job: JobId, node: NodeId) -> None:
        """Note what may have changed: of its job, of its node; of all nodes if it may have been
        forgotten which are given up.
        """
        cluster, at_ms = self.recording.last_state, event.at_ms
        row = cluster.run.jobs.get(job)
        if row is not None:
            self.jobs.note(at_ms, job, _job_row(row))
        if 0 <= node < len(cluster.node_status):
            self._note_slots(cluster, at_ms, node)
            self.nodes.note(at_ms, node, _node_row(cluster, node))
        self._note_policy(cluster, at_ms)
        if isinstance(event, ev.FaultStruck) and isinstance(event.fault, FORGETTING_FAULTS):
            for each in range(len(cluster.node_status)):
                self.nodes.note(at_ms, each, _node_row(cluster, each))

    def _note_slots(self, cluster: ClusterState, at_ms: Millis, node: NodeId) -> None:
        """Note the node's slots that have another state or another attempt than before."""
        first, end = cluster.first[node], cluster.first[node + 1]
        held = [*zip(cluster.states[first:end], cluster.holders[first:end], strict=True)]
        before = self._held.get(node)
        if held == before:
            return
        self._held[node] = held
        for number, slot in enumerate(held):
            if before is None or slot != before[number]:
                self.slots.note(at_ms, first + number, _slot_row(cluster, first + number))

    def _note_policy(self, cluster: ClusterState, at_ms: Millis) -> None:
        now = cluster.run.policy, cluster.run.paused
        if now != self._policy:
            self._policy = now
            self.policies.append((at_ms, printable(now[0]), now[1]))


def _job_row(row: JobRecord) -> CountRow:
    maps, reduces = row.phases.values()
    running = maps.running, reduces.running
    return job_status(row) + 1, maps.done, reduces.done, *running, row.suspended


def _node_row(cluster: ClusterState, node: NodeId) -> CountRow:
    look = _node_status_row(cluster.node_status[node], cluster.lost[node])
    return *look, cluster.suspended_by_node[node]


@cache
def _node_status_row(status: int, lost: int) -> CountRow:
    """Its sign, whether the master is wrong about it, whether it counts as down, is given up, is
    off.
    """
    sign, wrong = node_sign(status, lost)
    down = bool(nodes_down(bytes([status]))[0])
    return NODE_SIGNS.index(sign), int(wrong), int(down), lost, int(bool(status & NodeStatus.DOWN))


def _slot_row(cluster: ClusterState, place: int) -> CountRow:
    """The state, and the attempt with its job, task and locality."""
    attempt = cluster.attempt_in(place)
    if attempt is None:
        return 0, 0, 0, 0, 0
    launch = attempt.launch
    level = int(launch.level) if launch.stage == MAPS else _NO_LEVEL
    task = SETUP - 1 - launch.stage if attempt.unseen else launch.task
    return cluster.states[place], launch.attempt, launch.job, task, level
