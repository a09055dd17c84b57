"""What the events of a run alone must not show, beside the rules S1 to S15.

Each oracle goes through the events once, beside the one fold of a run's state.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from callboard.actors.books.job_tasks import BLACKLISTING_SHARE
from callboard.actors.config import Cluster
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.run_state import RunState
from callboard.journal.told_scenario import told_scenario
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId, TaskIndex
from callboard.scheduler.reasons import Reason
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.speculation.late import Late


class Flaw(NamedTuple):
    """What is wrong with a world: which kind of thing (`S3`, `stuck`, ...), and in words."""

    kind: str
    told: str


class EventOracle:
    """Looks at each event before the run's state takes it in."""

    kind: ClassVar[str]

    def __init__(self, state: RunState) -> None:
        self.state = state

    def look(self, event: ev.AnyEvent) -> str | None:
        """What is wrong, in words."""
        raise NotImplementedError


class FewAreBlacklisted(EventOracle):
    """A job avoids less than a quarter of the cluster's nodes."""

    kind = "blacklist"

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._failing: Counter[JobId] = Counter()

    def look(self, event: ev.AnyEvent) -> str | None:
        if isinstance(event, ev.JobResubmitted):
            self._failing[event.job] = 0
        if not isinstance(event, ev.JobBlacklistedNode):
            return None
        self._failing[event.job] += 1
        avoided, nodes = self._failing[event.job], len(self.state.nodes)
        if event.in_force and avoided >= BLACKLISTING_SHARE * nodes:
            return f"job-{event.job} avoids {avoided} of {nodes} nodes"
        return None


class OutputsAreFetched(EventOracle):
    """No shuffle ends without the outputs on a host that was down all the time."""

    kind = "unfetched"

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._outputs: dict[JobId, dict[AttemptId, tuple[TaskIndex, NodeId]]] = {}

    def look(self, event: ev.AnyEvent) -> str | None:
        match event:
            case ev.JobSubmitted() | ev.JobResubmitted():
                self._outputs[event.job] = {}
            case ev.AttemptClosed(outcome=ev.Outcome.SUCCEEDED):
                launch = self.state.attempts[event.attempt].launch
                if not launch.kind:
                    self._outputs[launch.job][event.attempt] = launch.task, launch.node
            case ev.MapOutputsLost():
                for attempt in event.attempts:
                    self._outputs[event.job].pop(attempt, None)
            case ev.ShuffleEnded():
                return self._unfetched(event)
        return None

    def _unfetched(self, event: ev.ShuffleEnded) -> str | None:
        attempt = self.state.attempts[event.attempt]
        if attempt.closed is not None or attempt.started is None:
            return None
        for _, host in self._outputs[attempt.launch.job].values():
            node = self.state.nodes[host]
            if node.is_down_or_paused and node.since_ms < attempt.started.at_ms:
                return f"attempt {event.attempt} has fetched from node-{host}, which was halted"
        return None


class LostOutputsAreAwaited(EventOracle):
    """No shuffle ends without an output whose loss the reduce has been told of.  Where faults have
    struck the reduce's node, or the master stood still, it may have heard of it later.
    """

    kind = "unfetched"

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._maps: dict[AttemptId, TaskIndex] = {}
        self._lost: dict[JobId, dict[TaskIndex, Millis]] = {}
        self._struck: set[NodeId] = set()
        self._told_ms = 0

    def look(self, event: ev.AnyEvent) -> str | None:
        match event:
            case ev.RunStarted():
                self._told_ms = 2 * told_scenario(event).cluster.latency_ms + 1
            case ev.FaultStruck(fault=faults.NodeFault() as fault):
                self._struck.add(fault.node)
            case ev.JobSubmitted() | ev.JobResubmitted():
                self._lost[event.job] = {}
            case ev.MapOutputsLost():
                self._lost[event.job] |= {self._maps[each]: event.at_ms for each in event.attempts}
            case ev.AttemptClosed(outcome=ev.Outcome.SUCCEEDED):
                launch = self.state.attempts[event.attempt].launch
                if not launch.kind:
                    self._maps[event.attempt] = launch.task
                    self._lost[launch.job].pop(launch.task, None)
            case ev.ShuffleEnded():
                return self._unfetched(event)
        return None

    def _unfetched(self, event: ev.ShuffleEnded) -> str | None:
        attempt = self.state.attempts[event.attempt]
        launch = attempt.launch
        if attempt.closed is not None or launch.node in self._struck:
            return None
        for task, at_ms in self._lost[launch.job].items():
            if at_ms + self._told_ms < event.at_ms:
                return f"attempt {event.attempt} has all outputs, and map {task}'s is lost"
        return None


class HaltedNodesDoNothing(EventOracle):
    """Nothing begins or ends on a machine that is off, or stands still."""

    kind = "halted"

    def look(self, event: ev.AnyEvent) -> str | None:
        if not isinstance(event, _ON_SLOTS):
            return None
        number = self.state.attempts[event.attempt].launch.node
        node = self.state.nodes[number]
        if node.is_down_or_paused and node.since_ms < event.at_ms:
            return f"attempt {event.attempt} moves on node-{number}, which is halted"
        return None


_ON_SLOTS = (
    ev.AttemptStarted,
    ev.ShuffleEnded,
    ev.AttemptStalled,
    ev.AttemptSuspended,
    ev.AttemptResumed,
    ev.AttemptEnded,
)


class NodesBeginAnewOnce(EventOracle):
    """A member that joins anew has restarted: a node told to begin anew does so once."""

    kind = "begun anew"

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._restarts: Counter[NodeId] = Counter()

    def look(self, event: ev.AnyEvent) -> str | None:
        if isinstance(event, ev.FaultStruck) and isinstance(event.fault, faults.Restart):
            self._restarts[event.fault.node] += 1
        if isinstance(event, ev.NodeLost) and event.again:
            self._restarts[event.node] -= 1
            if self._restarts[event.node] < 0:
                return f"node-{event.node} has begun anew, and nobody has restarted it"
        return None


class PreemptedOnce(EventOracle):
    """Nobody who has been told to give way is told again, and nobody gives way to its own job."""

    kind = "preempted"

    def look(self, event: ev.AnyEvent) -> str | None:
        if not isinstance(event, ev.KillOrdered | ev.SuspendOrdered):
            return None
        if event.why.reason in (Reason.SUSPENDED_TOO_LONG,) or event.why.reason.is_the_masters:
            return None
        attempt = self.state.attempts[event.attempt]
        if attempt.kill_ordered:
            return f"attempt {event.attempt} is told twice to give way"
        job = getattr(event.why.beneficiary, "job", None)
        if job == attempt.launch.job:
            return f"attempt {event.attempt} of job-{job} gives way to its own job"
        return None


class LateWaits(EventOracle):
    """`late` gives no attempt a second one before it has run for `lag_s`."""

    kind = "too soon"

    def look(self, event: ev.AnyEvent) -> str | None:
        if not isinstance(event, ev.AttemptLaunched) or event.why.reason is not Reason.LONGEST_LEFT:
            return None
        rule = make_policy(self.state.policy).speculation
        ran_ms = event.at_ms - self.state.attempts[event.original].launch.at_ms
        if isinstance(rule, Late) and ran_ms < 1000 * rule.params.lag_s:
            return f"attempt {event.original} has run for {ran_ms} ms and gets a second"
        return None


ORACLES: tuple[type[EventOracle], ...] = (
    FewAreBlacklisted,
    OutputsAreFetched,
    LostOutputsAreAwaited,
    HaltedNodesDoNothing,
    NodesBeginAnewOnce,
    PreemptedOnce,
    LateWaits,
)


def event_flaws(events: Iterable[ev.AnyEvent]) -> Iterator[Flaw]:
    """The first flaw that each oracle finds."""
    state = RunState()
    oracles = [oracle(state) for oracle in ORACLES]
    for event in events:
        for oracle in [*oracles]:
            told = oracle.look(event)
            if told is not None:
                oracles.remove(oracle)
                yield Flaw(oracle.kind, f"at {event.at_ms} ms: {told}")
        state.observe(event)


# Bounds on time.

_HARMLESS = (
    faults.Slow,
    faults.Partition,
    faults.Flaky,
    faults.Hang,
    faults.StickLaunches,
    faults.Drain,
)
"""What neither stops a node nor keeps its heartbeats up."""


def given_up_late(events: Iterable[ev.AnyEvent], cluster: Cluster) -> Flaw | None:
    """A launch that has not begun has failed an expiry later, seen at one of three looks (H8), and
    a node whose first fault is a crash is given up as soon (T1).
    """
    expiry_ms, round_ms = cluster.heartbeat.expiry_ms, cluster.longest_heartbeat_cycle_ms()
    within_ms = expiry_ms + -(-expiry_ms // 3) + 2 * round_ms + 1
    due: dict[tuple[str, int], Millis] = {}
    launched: dict[AttemptId, ev.AttemptLaunched] = {}
    touched: set[NodeId] = set()
    for event in events:
        late = next((what for what, at_ms in due.items() if at_ms < event.at_ms), None)
        if late is not None:
            return Flaw("expiry", f"{late[0]} {late[1]} is not given up at {event.at_ms} ms")
        match event:
            case ev.AttemptLaunched():
                launched[event.attempt] = event
            case ev.AttemptStalled(why=ev.Stall.NOT_BEGUN):
                launch = launched[event.attempt]
                if launch.node not in touched:
                    due["launch", event.attempt] = event.at_ms + within_ms
            case ev.NodeLost():
                due.pop(("node", event.node), None)
            case ev.FaultStruck(fault=fault) if isinstance(fault, _HARMLESS):
                pass
            case ev.FaultStruck(fault=faults.NodeFault() as fault):
                due.pop(("node", fault.node), None)
                there = [a for w, a in due if w == "launch" and launched[a].node == fault.node]
                for attempt in there:
                    del due["launch", attempt]
                first = fault.node not in touched and event.at_ms > 2 * round_ms
                if isinstance(fault, faults.Crash) and first:
                    due["node", fault.node] = event.at_ms + within_ms
                touched.add(fault.node)
            case ev.AttemptEvent():
                due.pop(("launch", event.attempt), None)
    return None
