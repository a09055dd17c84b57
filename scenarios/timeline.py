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
    """What all entries have: it begins at `at_s`, or `after_s` after the entry before it began, and
    happens `times` times, every `every_s`; with `gaps = "exponential"` that is the mean of drawn
    gaps.  A distribution (`scenarios.distributions`) is drawn once, for each gap or node.
    """

    at_s: When | None = None
    after_s: When | None = None
    every_s: Duration | None = None
    times: RepeatCount = 1
    gaps: Literal["fixed", "exponential"] = "fixed"

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
    """Something that happens to nodes, and lasts `for_s` or for ever.  `nodes` are names
    (`node-3`), patterns (`node-1*`), racks (`rack-2`), `all`, a share (`10%`) or a number of any
    (`3 any`); the last two are drawn anew each time.  In the order of numbers, each follows
    `stagger_s` later.
    """

    nodes: ShortText | tuple[ShortText, ...]
    stagger_s: Seconds = 0.0
    for_s: Duration | None = None

    subject: ClassVar[str]
    """What of a node it concerns: two entries may not change the same of one node at once."""

    def targets(self) -> tuple[str, ...]:
        return listed(self.nodes)


class NodeFaultEntry(NodesEntry, frozen=True, kw_only=True):
    """A fault of nodes, which one of the same class undoes in the end."""

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        """What happens to a node when it begins, or what undoes it in the end."""
        raise NotImplementedError


class CrashEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="crash"):
    """Nodes crash, and start again `for_s` later; without it never."""

    subject = "power"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Crash(node) if begins else faults.Restart(node)


class PauseEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="pause"):
    """Nodes stand still for `for_s`."""

    for_s: Duration
    subject = "power"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.PauseNode(node) if begins else faults.ResumeNode(node)


class SlowEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="slow"):
    """Whatever runs on the nodes takes `factor` times as long, for `for_s` or for ever."""

    factor: Factor
    subject = "speed"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Slow(node, self.factor if begins else 1.0)


class LinkEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="link"):
    """The links to the master are disturbed: `cut`, or the shares `loss`, `duplicate` and `reorder`
    of the messages and an exponential delay of mean `delay_s`. `way` is the direction: `up` is to
    the master.
    """

    cut: bool = False
    loss: Share = 0.0
    duplicate: Share = 0.0
    reorder: Share = 0.0
    delay_s: Seconds = 0.0
    way: Literal["both", "up", "down"] = "both"
    subject = "link"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        if not begins:
            return faults.Disturb(node, HEALTHY, HEALTHY)
        shares = (self.loss, self.duplicate, to_ms(self.delay_s), self.reorder)
        bad = LinkConditions(self.cut, *shares)
        up, down = self.way in ("both", "up"), self.way in ("both", "down")
        return faults.Disturb(node, bad if up else HEALTHY, bad if down else HEALTHY)


class SplitEntry(NodesEntry, frozen=True, kw_only=True, tag="split"):
    """The nodes and `others` (unset: all others) cannot fetch from each other; heartbeats pass."""

    for_s: Duration
    others: ShortText | tuple[ShortText, ...] | None = None
    subject = "peers"

    def other_targets(self) -> tuple[str, ...]:
        return ("all",) if self.others is None else listed(self.others)


class FlakyEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="flaky"):
    """The share `failing` of the attempts that start there fails, at `progress` or a drawn one."""

    failing: Share
    progress: Share | None = None
    subject = "flakiness"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Flaky(node, self.failing, self.progress) if begins else faults.Flaky(node, 0)


class HangEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="hang"):
    """The share `hanging` of the attempts that start there hangs, at `progress` or a drawn one."""

    hanging: Share
    progress: Share | None = None
    subject = "hanging"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Hang(node, self.hanging, self.progress) if begins else faults.Hang(node, 0)


class StuckEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="stuck"):
    """Of the attempts that are launched on the nodes, the share `sticking` never begins."""

    sticking: Share
    subject = "launching"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.StickLaunches(node, self.sticking if begins else 0.0)


class DriftEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="drift"):
    """The nodes' clocks go `rate` times as fast, for `for_s` or for ever."""

    rate: Annotated[float, Meta(ge=0.1, le=10)]
    subject = "clock"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Drift(node, self.rate if begins else 1.0)


class FailuresEntry(TimelineEntry, frozen=True, kw_only=True, tag="failures"):
    """Nodes crash by chance until `until_s`, each by itself or rack by rack: up for a Weibull time
    of mean `mtbf_s` and `shape` (below 1 failures come in clusters), down for an exponential one.
    """

    mtbf_s: PositiveSeconds
    mttr_s: PositiveSeconds
    until_s: PositiveSeconds
    nodes: ShortText | tuple[ShortText, ...] = "all"
    shape: WeibullShape = 1.0
    by: Literal["node", "rack"] = "node"


class TraceEntry(TimelineEntry, frozen=True, kw_only=True, tag="trace"):
    """Nodes crash and start again as a file says: lines of `seconds,node-3,down` or `up`, or
    OpenDC's trace of failures, for whose shares nodes are drawn.
    """

    path: ShortText


class AddEntry(NodesEntry, frozen=True, kw_only=True, tag="add"):
    """Nodes of the cluster that are off from the start, and join at `at_s`."""

    subject = "power"


class DrainEntry(NodeFaultEntry, frozen=True, kw_only=True, tag="drain"):
    """Nodes are taken out of service, for `for_s` or for ever; what runs on them goes on."""

    subject = "service"

    def fault(self, node: NodeId, *, begins: bool) -> faults.AnyFault:
        return faults.Drain(node, begins)


class BurstEntry(TimelineEntry, frozen=True, kw_only=True, tag="burst"):
    """Jobs come that are not in the workload; the `at_s` of `job` counts from the entry's time."""

    job: ListedJob


class JobFaultEntry(TimelineEntry, frozen=True, kw_only=True):
    """Something happens to jobs, if they are there; `job` is a number, a name or a pattern."""

    job: ShortText

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
    subject = "priority"

    def fault(self, job: JobId) -> faults.AnyFault:
        return faults.SetPriority(job, Priority[self.priority.upper()])


class PoolEntry(JobFaultEntry, frozen=True, kw_only=True, tag="pool"):
    """A job is put into another pool."""

    pool: ShortText
    subject = "pool"

    def fault(self, job: JobId) -> faults.AnyFault:
        return faults.SetPool(job, self.pool)


class PolicyEntry(TimelineEntry, frozen=True, kw_only=True, tag="policy"):
    """Another policy is put in force; `policy` is its spelling."""

    policy: ShortText


class MasterPauseEntry(TimelineEntry, frozen=True, kw_only=True, tag="master-pause"):
    """The master stands still for `for_s`."""

    for_s: Duration


class MasterRestartEntry(TimelineEntry, frozen=True, kw_only=True, tag="master-restart"):
    """The master starts again, knowing nothing; jobs come again with `recover`, else are lost."""

    recover: bool = False


_OfMachines: TypeAlias = CrashEntry | PauseEntry | SlowEntry
_OfLinks: TypeAlias = LinkEntry | SplitEntry
_OfAttempts: TypeAlias = FlakyEntry | HangEntry | StuckEntry
_OfTheCluster: TypeAlias = DriftEntry | FailuresEntry | TraceEntry | AddEntry | DrainEntry
_OfJobs: TypeAlias = BurstEntry | KillJobEntry | PriorityEntry | PoolEntry
_OfTheMaster: TypeAlias = PolicyEntry | MasterPauseEntry | MasterRestartEntry

AnyEntry: TypeAlias = _OfMachines | _OfLinks | _OfAttempts | _OfTheCluster | _OfJobs | _OfTheMaster
Timeline: TypeAlias = tuple[AnyEntry, ...]
"""All `[[timeline]]` tables, told apart by `what`."""


def started(timeline: Timeline, seed: int) -> Iterator[tuple[int, AnyEntry, Millis]]:
    """Every entry, with its place before it and the time when it begins after it."""
    began_ms = 0
    for place, entry in enumerate(timeline):
        began_ms = entry.start_ms(began_ms, place, seed)
        yield place, entry, began_ms


def listed(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """One name, or several, as several."""
    return (names,) if isinstance(names, str) else names
