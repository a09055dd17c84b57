"""What may stand in a scenario's `[[timeline]]`: an entry says what happens (`what`), to which
nodes or jobs, when, for how long and how often.  `scenarios.script` makes faults of it.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary import faults
from callboard.scenarios.distributions import Duration, Exponential, WeibullShape, When, when_ms
from callboard.scenarios.fields import Factor, PositiveSeconds, Seconds, Share, to_ms
from callboard.scenarios.listed_jobs import ListedJob, PriorityName
from callboard.scheduler.model import JobId, Millis, NodeId, Priority

SCHEDULED_FAULTS_MAX = 200_000
"""Of all entries: `times` × names × nodes, and pairs of nodes that are split; they take seconds."""

RepeatCount = Annotated[int, Meta(ge=1, le=SCHEDULED_FAULTS_MAX)]
ShortText = Annotated[str, Meta(min_length=1, max_length=200)]


class TimelineEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="what"
):
    """What all entries have.  A time that is drawn (`scenarios.distributions`) is the same under
    every policy: a beginning is drawn once for the entry, `every_s` for each gap, `for_s` for each
    node.
    """

    at_s: When | None = None
    """When it begins, from the run's start."""
    after_s: When | None = None
    """Or so long after the entry before this one began; 0 unless said."""
    every_s: Duration | None = None
    """How far apart it happens."""
    times: RepeatCount = 1
    """How often it happens."""
    gaps: Literal["fixed", "exponential"] = "fixed"
    """With `exponential`, `every_s` is the mean of drawn gaps."""

    def start_ms(self, before_ms: Millis, place: int, seed: int) -> Millis:
        """When it begins; `before_ms` is when the entry before it did, `place` its own."""
        draw = Stream(seed, f"timeline/{place}/start")
        if self.at_s is not None:
            return when_ms(self.at_s, draw)
        return before_ms + when_ms(self.after_s or 0.0, draw)

    def instants(self, start_ms: Millis, place: int, seed: int) -> Iterator[tuple[int, Millis]]:
        """When it happens: (number of the repetition from 0, time)."""
        every_s = self.every_s or 0.0
        if self.gaps == "exponential" and isinstance(every_s, float) and every_s:
            every_s = Exponential(every_s)
        gaps, at_ms = Stream(seed, f"timeline/{place}/gap"), start_ms
        for repeat in range(self.times):
            yield repeat, at_ms
            at_ms += max(1, when_ms(every_s, gaps, repeat))


class NodesEntry(TimelineEntry, frozen=True, kw_only=True):
    """Something that happens to nodes."""

    nodes: ShortText | tuple[ShortText, ...]
    """A name (`node-3`), a pattern (`node-1*`), a rack (`rack-2`), `all`, a share (`10%`), a number
    (`3 any`), or a list of these.  Shares and numbers are drawn anew each time, among nodes free of
    the same sort of fault.
    """
    stagger_s: Seconds = 0.0
    """Of several nodes each next one so much later, in the order of their numbers."""
    for_s: Duration | None = None
    """How long it lasts; unset, for ever."""

    subject: ClassVar[str]
    """What of a node it concerns: two entries may not change the same of one node at once."""

    def targets(self) -> tuple[str, ...]:
        return names_as_tuple(self.nodes)


class NodeFaultEntry(NodesEntry, frozen=True, kw_only=True):
    """A fault of nodes, which one of the same class undoes in the end."""

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        """What happens to a node when it begins, or what undoes it in the end."""
        raise NotImplementedError


class CrashEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="crash"):
    """Nodes stop dead, and start again, empty, `for_s` later; what ran on them and what they had
    stored is gone.
    """

    subject = "power"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Crash(node) if begins else faults.Restart(node)


class PauseEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="pause"):
    """Nodes stand still: nothing is lost, all is late."""

    for_s: Duration
    """How long it lasts."""
    subject = "power"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.PauseNode(node) if begins else faults.ResumeNode(node)


class SlowEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="slow"):
    """Whatever runs on the nodes takes longer."""

    factor: Factor
    """How many times as long."""
    subject = "speed"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Slow(node, self.factor if begins else 1.0)


class LinkEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="link"):
    """The links between the nodes and the master are disturbed."""

    cut: bool = False
    """Whether no message passes: a partition."""
    loss: Share = 0.0
    """The share of the messages that is lost."""
    duplicate: Share = 0.0
    """The share that comes twice."""
    reorder: Share = 0.0
    """The share that is held back until another has passed it."""
    delay_s: Seconds = 0.0
    """The mean of an exponential delay."""
    way: Literal["both", "up", "down"] = "both"
    """The direction: `up` is to the master."""
    subject = "link"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        if not begins:
            return faults.Disturb(node, HEALTHY, HEALTHY)
        shares = (self.loss, self.duplicate, to_ms(self.delay_s), self.reorder)
        bad = LinkConditions(self.cut, *shares)
        up, down = self.way in ("both", "up"), self.way in ("both", "down")
        return faults.Disturb(node, bad if up else HEALTHY, bad if down else HEALTHY)


class SplitEntry(NodesEntry, frozen=True, kw_only=True, tag="split"):
    """The nodes and others cannot fetch map outputs from each other; heartbeats pass."""

    for_s: Duration
    """How long it lasts."""
    others: ShortText | tuple[ShortText, ...] | None = None
    """Only from these, named as in `nodes` but not drawn; unset, from all others."""
    subject = "peers"

    def other_targets(self) -> tuple[str, ...]:
        return ("all",) if self.others is None else names_as_tuple(self.others)


class FlakyEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="flaky"):
    """A share of the attempts that start on the nodes fails on its way."""

    failing: Share
    """The share."""
    progress: Share | None = None
    """How far they come; unset, drawn."""
    subject = "flakiness"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Flaky(node, self.failing, self.progress) if begins else faults.Flaky(node, 0)


class HangEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="hang"):
    """A share of the attempts that start on the nodes stands still on its way, until its
    timeout."""

    hanging: Share
    """The share."""
    progress: Share | None = None
    """How far they come; unset, drawn."""
    subject = "hanging"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Hang(node, self.hanging, self.progress) if begins else faults.Hang(node, 0)


class StuckEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="stuck"):
    """A share of the attempts launched on the nodes never begins, until the master gives them up
    (rule H8).
    """

    sticking: Share
    """The share."""
    subject = "launching"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.StickLaunches(node, self.sticking if begins else 0.0)


class DriftEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="drift"):
    """The nodes' clocks go wrong: heartbeats, timeouts and what they measure go by them, work does
    not.
    """

    rate: Annotated[float, Meta(ge=0.1, le=10)]
    """How many times as fast."""
    subject = "clock"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Drift(node, self.rate if begins else 1.0)


class FailuresEntry(TimelineEntry, frozen=True, kw_only=True, tag="failures"):
    """Nodes crash and start again by chance: up for a Weibull time, down for an exponential one."""

    mtbf_s: PositiveSeconds
    """The mean time that a node is up."""
    mttr_s: PositiveSeconds
    """The mean time that it is down."""
    until_s: PositiveSeconds
    """When this ends."""
    nodes: ShortText | tuple[ShortText, ...] = "all"
    """As of other entries, but named, not drawn."""
    shape: WeibullShape = 1.0
    """Of the Weibull time: 1 is exponential, below it failures come in clusters."""
    by: Literal["node", "rack"] = "node"
    """Whether nodes fail each by itself, or a rack as a whole."""


class TraceEntry(TimelineEntry, frozen=True, kw_only=True, tag="trace"):
    """Nodes crash and start again as a file says."""

    path: ShortText
    """Lines of `seconds,node-3,down` or `up` in the order of time, from the entry's beginning; or
    OpenDC's trace of failures (Parquet), for whose shares nodes are drawn.  Looked up like a
    workload's trace.
    """


class AddEntry(NodesEntry, frozen=True, kw_only=True, tag="add"):
    """Nodes of the cluster that are off from the start, and join at `at_s`."""

    subject = "power"


class DrainEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="drain"):
    """Nodes are taken out of service: they get no more tasks; what runs on them goes on."""

    subject = "service"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Drain(node, begins)


class BurstEntry(TimelineEntry, frozen=True, kw_only=True, tag="burst"):
    """Jobs come that are not in the workload; their numbers follow its own."""

    job: ListedJob
    """A table like `[[workload.job]]`, whose `at_s` counts from the entry's time; each repetition
    adds `-1`, `-2`, … to its `name`.
    """


class JobFaultEntry(TimelineEntry, frozen=True, kw_only=True):
    """Something happens to jobs, if they are there."""

    job: ShortText
    """A number (`12`, `job-12`), a name, or a pattern of names (`etl-*`)."""

    subject: ClassVar[str]
    """What of a job it concerns: two entries may not set the same at one moment."""

    def fault(self, job: JobId) -> faults.AnyFault:
        """What happens to one of them."""
        raise NotImplementedError


class KillJobEntry(JobFaultEntry, frozen=True, kw_only=True, tag="kill-job"):
    """The user of a job kills it."""

    subject = "end"

    def fault(self, job: JobId) -> faults.AnyFault:
        return faults.KillJob(job)


class PriorityEntry(JobFaultEntry, frozen=True, kw_only=True, tag="priority"):
    """A job is given another priority."""

    priority: PriorityName
    """The new one."""
    subject = "priority"

    def fault(self, job: JobId) -> faults.AnyFault:
        return faults.SetPriority(job, Priority[self.priority.upper()])


class PoolEntry(JobFaultEntry, frozen=True, kw_only=True, tag="pool"):
    """A job is put into another pool."""

    pool: ShortText
    """The new one."""
    subject = "pool"

    def fault(self, job: JobId) -> faults.AnyFault:
        return faults.SetPool(job, self.pool)


class PolicyEntry(TimelineEntry, frozen=True, kw_only=True, tag="policy"):
    """Another policy is put in force, which learns who is there and what runs, and no more of the
    past.
    """

    policy: ShortText
    """Its spelling."""


class MasterPauseEntry(TimelineEntry, frozen=True, kw_only=True, tag="master-pause"):
    """The master stands still; no node is lost for heartbeats that waited."""

    for_s: Duration
    """How long."""


class MasterRestartEntry(TimelineEntry, frozen=True, kw_only=True, tag="master-restart"):
    """The master starts again, knowing nothing: what runs is killed, nodes join anew, unfinished
    jobs are lost.
    """

    recover: bool = False
    """Whether these are submitted again, whole."""


class SchedulerCrashEntry(TimelineEntry, frozen=True, kw_only=True, tag="scheduler-crash"):
    """One scheduler of several ends: what it knew is lost, what it had begun is killed, and its
    jobs go to the next.
    """

    scheduler: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Its number."""
    for_s: Duration | None = None
    """How long it is gone; for ever unless said."""


_OfMachines: TypeAlias = CrashEntry | PauseEntry | SlowEntry
_OfLinks: TypeAlias = LinkEntry | SplitEntry
_OfAttempts: TypeAlias = FlakyEntry | HangEntry | StuckEntry
_OfTheCluster: TypeAlias = DriftEntry | FailuresEntry | TraceEntry | AddEntry | DrainEntry
_OfJobs: TypeAlias = BurstEntry | KillJobEntry | PriorityEntry | PoolEntry
_OfTheMaster: TypeAlias = PolicyEntry | MasterPauseEntry | MasterRestartEntry
_OfSchedulers: TypeAlias = SchedulerCrashEntry | _OfTheMaster

AnyEntry: TypeAlias = _OfMachines | _OfLinks | _OfAttempts | _OfTheCluster | _OfJobs | _OfSchedulers
Timeline: TypeAlias = tuple[AnyEntry, ...]
"""All `[[timeline]]` tables, told apart by `what`."""


def recorded_entries(timeline: Timeline) -> Timeline:
    """Those that play what was recorded of a cluster's outages; all others are scripted."""
    return tuple(each for each in timeline if isinstance(each, TraceEntry))


def entries_with_starts(timeline: Timeline, seed: int) -> Iterator[tuple[int, AnyEntry, Millis]]:
    """Every entry, with its place before it and the time when it begins after it."""
    began_ms = 0
    for place, entry in enumerate(timeline):
        began_ms = entry.start_ms(began_ms, place, seed)
        yield place, entry, began_ms


def names_as_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """One name, or several, as several."""
    return (names,) if isinstance(names, str) else names
