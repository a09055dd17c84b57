"""What happens to the world in a scenario: the tables `[[timeline]]`, as strikes of faults.

An entry says what happens (`what`), to which nodes, when, for how long and how often.  Draws are
made at the entry's own place in the file and the number of its repetition, so that an entry more
changes no other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import ceil, inf
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, NoReturn, TypeAlias

import msgspec
from msgspec import Meta
from sortedcontainers import SortedList

from actors.events import NodeFacts
from actors.faults import (
    AnyFault,
    Crash,
    Disturb,
    Drain,
    Flaky,
    KillJob,
    Pause,
    PauseMaster,
    Restart,
    RestartMaster,
    Resume,
    ResumeMaster,
    Separate,
    Slow,
    SwitchPolicy,
)
from actors.injector import Strike
from actors.network import HEALTHY, Way
from actors.streams import Stream
from scenarios.errors import ScenarioError
from scenarios.failures import Law, Outage, drawn, recorded
from scenarios.fields import Factor, PositiveSeconds, Seconds, Share, to_ms
from scenarios.strict import suggestion
from scenarios.traces import locate
from scheduler.model import JobId, Millis, NodeId

STRIKES_MAX = 1_000_000
"""Of one entry: its `times`, each on every node."""

Times = Annotated[int, Meta(ge=1, le=STRIKES_MAX)]
Target = Annotated[str, Meta(min_length=1, max_length=200)]


class Timed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all entries have: when, how often.

    The entry begins at `at_s`, or `after_s` after the entry before it began, and happens `times`
    times, every `every_s`; with `gaps = "exponential"` that is the mean of drawn gaps.
    """

    at_s: Seconds | None = None
    after_s: Seconds | None = None
    every_s: PositiveSeconds | None = None
    times: Times = 1
    gaps: Literal["fixed", "exponential"] = "fixed"


class Entry(Timed, frozen=True, kw_only=True):
    """Something that happens to nodes, and lasts `for_s` or for ever.

    `nodes` are names (`node-3`), patterns (`node-1*`), racks (`rack-2`), `all`, a share of all
    nodes (`10%`) or a number of any (`3 any`); the last two are drawn anew each time.  Of several
    nodes each next one, in the order of their numbers, is struck `stagger_s` later.
    """

    nodes: Target | tuple[Target, ...]
    stagger_s: Seconds = 0.0
    for_s: PositiveSeconds | None = None

    subject: ClassVar[str]
    """What of a node it concerns: two entries may not change the same of one node at once."""

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:
        """What happens to a node; `others` are all that are not struck with it."""
        raise NotImplementedError

    def ends(self, node: NodeId) -> AnyFault:
        """What brings it back."""
        raise NotImplementedError

    def length_ms(self) -> Millis | None:
        """How long it lasts; None for ever."""
        return None if self.for_s is None else to_ms(self.for_s)


class CrashEntry(Entry, frozen=True, kw_only=True, tag="crash", tag_field="what"):
    """Nodes crash, and start again `for_s` later; without it never."""

    subject = "power"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        return Crash(node)

    def ends(self, node: NodeId) -> AnyFault:
        return Restart(node)


class PauseEntry(Entry, frozen=True, kw_only=True, tag="pause", tag_field="what"):
    """Nodes stand still for `for_s`."""

    for_s: PositiveSeconds
    subject = "power"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        return Pause(node)

    def ends(self, node: NodeId) -> AnyFault:
        return Resume(node)


class SlowEntry(Entry, frozen=True, kw_only=True, tag="slow", tag_field="what"):
    """Whatever runs on the nodes takes `factor` times as long, for `for_s` or for ever."""

    factor: Factor
    subject = "speed"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        return Slow(node, self.factor)

    def ends(self, node: NodeId) -> AnyFault:
        return Slow(node, 1.0)


class LinkEntry(Entry, frozen=True, kw_only=True, tag="link", tag_field="what"):
    """The links between the nodes and the master are disturbed, for `for_s` or for ever.

    `cut` is a partition; else `loss` and `duplicate` are shares of the messages, and `delay_s`
    the mean of an exponential delay.  `way` says which direction: `up` is to the master.
    """

    cut: bool = False
    loss: Share = 0.0
    duplicate: Share = 0.0
    delay_s: Seconds = 0.0
    way: Literal["both", "up", "down"] = "both"
    subject = "link"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        way = Way(self.cut, self.loss, self.duplicate, to_ms(self.delay_s))
        up, down = self.way in ("both", "up"), self.way in ("both", "down")
        return Disturb(node, way if up else HEALTHY, way if down else HEALTHY)

    def ends(self, node: NodeId) -> AnyFault:
        return Disturb(node, HEALTHY, HEALTHY)


class SplitEntry(Entry, frozen=True, kw_only=True, tag="split", tag_field="what"):
    """The nodes and all others cannot fetch from each other, for `for_s`; beats get through."""

    for_s: PositiveSeconds
    subject = "peers"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:
        return Separate(node, others)

    def ends(self, node: NodeId) -> AnyFault:
        return Separate(node, ())


class FlakyEntry(Entry, frozen=True, kw_only=True, tag="flaky", tag_field="what"):
    """Of the attempts that start on the nodes, the share `failing` fails on its way."""

    failing: Share
    subject = "flakiness"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        return Flaky(node, self.failing)

    def ends(self, node: NodeId) -> AnyFault:
        return Flaky(node, 0.0)


class FailuresEntry(Timed, frozen=True, kw_only=True, tag="failures", tag_field="what"):
    """Nodes crash and start again by chance until `until_s`: up for a Weibull time of mean `mtbf_s`
    and `shape` (1 is exponential, below 1 failures come in clusters), down for an exponential one
    of mean `mttr_s`; each by itself, or rack by rack.
    """

    mtbf_s: PositiveSeconds
    mttr_s: PositiveSeconds
    until_s: PositiveSeconds
    nodes: Target | tuple[Target, ...] = "all"
    shape: Annotated[float, Meta(ge=0.1, le=10)] = 1.0
    by: Literal["node", "rack"] = "node"


class TraceEntry(Timed, frozen=True, kw_only=True, tag="trace", tag_field="what"):
    """Nodes crash and start again as a file says: lines of `seconds,node-3,down` or `up`."""

    path: Target


class AddEntry(Entry, frozen=True, kw_only=True, tag="add", tag_field="what"):
    """Nodes of the cluster that are off from the start, and join at `at_s`."""

    subject = "power"


class DrainEntry(Entry, frozen=True, kw_only=True, tag="drain", tag_field="what"):
    """Nodes are taken out of service, for `for_s` or for ever; what runs on them goes on."""

    subject = "service"

    def begins(self, node: NodeId, others: tuple[NodeId, ...]) -> AnyFault:  # noqa: ARG002
        return Drain(node, True)

    def ends(self, node: NodeId) -> AnyFault:
        return Drain(node, False)


class KillJobEntry(Timed, frozen=True, kw_only=True, tag="kill-job", tag_field="what"):
    """The user of a job kills it, if it is there."""

    job: Target


class PolicyEntry(Timed, frozen=True, kw_only=True, tag="policy", tag_field="what"):
    """Another policy is put in force; `policy` is its spelling."""

    policy: Target


class MasterPauseEntry(Timed, frozen=True, kw_only=True, tag="master-pause", tag_field="what"):
    """The master stands still for `for_s`."""

    for_s: PositiveSeconds


class MasterRestartEntry(Timed, frozen=True, kw_only=True, tag="master-restart", tag_field="what"):
    """The master starts again, knowing nothing; jobs come again with `recover`, else are lost."""

    recover: bool = False


Timeline: TypeAlias = tuple[
    CrashEntry
    | PauseEntry
    | SlowEntry
    | LinkEntry
    | SplitEntry
    | FlakyEntry
    | FailuresEntry
    | TraceEntry
    | AddEntry
    | DrainEntry
    | KillJobEntry
    | PolicyEntry
    | MasterPauseEntry
    | MasterRestartEntry,
    ...,
]
"""All `[[timeline]]` tables, told apart by `what`."""


class Spell(NamedTuple):
    """A time in which something of a node is not as it should be; `place` is the entry's."""

    begin_ms: float
    end_ms: float
    place: int


MASTER = -1
"""Where a node's number stands for spells of nodes."""


class Spells:
    """All of them, by node and by what of it is concerned."""

    def __init__(self) -> None:
        self.of: dict[tuple[NodeId, str], SortedList[Spell]] = {}

    def meeting(self, node: NodeId, subject: str, begin_ms: float, end_ms: float) -> Spell | None:
        """One that falls into a time, if any does; there never are two at once."""
        spells = self.of.get((node, subject))
        if spells is None:
            return None
        at = spells.bisect_left(Spell(end_ms, -1, -1)) - 1  # the last that begins before the end
        return spells[at] if at >= 0 and spells[at].end_ms > begin_ms else None

    def add(self, node: NodeId, subject: str, spell: Spell) -> None:
        """One more; ScenarioError where there is one already."""
        other = self.meeting(node, subject, spell.begin_ms, spell.end_ms)
        if other is not None:
            when = max(spell.begin_ms, other.begin_ms) / 1000
            who = "the master" if node == MASTER else f"node-{node}"
            problem = f"{who} is struck by timeline[{other.place}] already at {when:,g} s"
            _refuse(f"{problem}; let one end before the other begins", spell.place, "nodes")
        self.of.setdefault((node, subject), SortedList()).add(spell)


def script(
    timeline: Timeline,
    nodes: Sequence[NodeFacts],
    seed: int,
    jobs: Mapping[str, JobId] | None = None,
    base_dir: str | Path | None = None,
) -> tuple[Strike, ...]:
    """Every strike, in the order of time; of one instant, what ends before what begins.

    `jobs` are the workload's by name, `base_dir` is where traces are looked for; without them
    what concerns jobs, and traces, are left out.

    ScenarioError where an entry names no node, two want the same of one node at one time, or all
    nodes with a kind of slot would be gone for ever.
    """
    begins: list[Strike] = []
    ends: list[Strike] = []
    spells = Spells()
    began_ms = 0
    for place, entry in enumerate(timeline):
        _check(entry, place, len(nodes))
        began_ms = _start_ms(entry, began_ms)
        for repeat, at_ms in enumerate(_instants(entry, began_ms, place, seed)):
            if isinstance(entry, KillJobEntry):
                if jobs is not None:
                    begins.append(Strike(at_ms, KillJob(_job(entry.job, jobs, place))))
                continue
            if isinstance(entry, PolicyEntry):
                begins.append(Strike(at_ms, SwitchPolicy(entry.policy)))
                continue
            if isinstance(entry, MasterRestartEntry):
                begins.append(Strike(at_ms, RestartMaster(entry.recover)))
                continue
            if isinstance(entry, MasterPauseEntry):
                over_ms = at_ms + to_ms(entry.for_s)
                spells.add(MASTER, "power", Spell(at_ms, over_ms, place))
                begins.append(Strike(at_ms, PauseMaster()))
                ends.append(Strike(over_ms, ResumeMaster()))
                continue
            if isinstance(entry, FailuresEntry | TraceEntry):
                for outage in _outages(entry, at_ms, nodes, place, seed, base_dir):
                    end = inf if outage.end_ms is None else outage.end_ms
                    spells.add(outage.node, "power", Spell(outage.begin_ms, end, place))
                    begins.append(Strike(outage.begin_ms, Crash(outage.node)))
                    if outage.end_ms is not None:
                        ends.append(Strike(outage.end_ms, Restart(outage.node)))
                continue
            if isinstance(entry, AddEntry):
                for nth, node in enumerate(_named_all(entry, nodes, place)):
                    joins_ms = at_ms + nth * to_ms(entry.stagger_s)
                    spells.add(node, entry.subject, Spell(0, joins_ms, place))
                    begins.append(Strike(0, Crash(node)))
                    ends.append(Strike(joins_ms, Restart(node)))
                continue
            length_ms = entry.length_ms()
            draw = Stream(seed, f"timeline/{place}/{repeat}")
            struck = _struck(entry, at_ms, nodes, place, draw, spells)
            others = tuple(sorted({facts.node for facts in nodes}.difference(struck)))
            for nth, node in enumerate(struck):
                begin_ms = at_ms + nth * to_ms(entry.stagger_s)
                end_ms = inf if length_ms is None else begin_ms + length_ms
                spells.add(node, entry.subject, Spell(begin_ms, end_ms, place))
                begins.append(Strike(begin_ms, entry.begins(node, others)))
                if length_ms is not None:
                    ends.append(Strike(begin_ms + length_ms, entry.ends(node)))
    _check_some_left(spells, nodes)
    return tuple(sorted([*ends, *begins], key=lambda strike: strike.at_ms))


def _job(name: str, jobs: Mapping[str, JobId], place: int) -> JobId:
    """The job of a name."""
    if name not in jobs:
        _refuse(
            f'no job of the workload is called "{name}"; {suggestion(name, list(jobs))}',
            place,
            "job",
        )
    return jobs[name]


def _check(entry: Timed, place: int, nodes: int) -> None:
    """ScenarioError where fields of an entry contradict each other."""
    if entry.times * nodes > STRIKES_MAX:
        most = max(1, STRIKES_MAX // nodes)
        _refuse(f"so often on {nodes:,} nodes is too much; at most {most:,}", place, "times")
    if entry.at_s is not None and entry.after_s is not None:
        _refuse("`at_s` and `after_s` both say when; keep one", place, "after_s")
    if entry.times > 1 and entry.every_s is None:
        _refuse("`times` without `every_s`: how far apart?", place, "times")
    if isinstance(entry, AddEntry):
        if not (entry.at_s or entry.after_s):
            _refuse("nodes that join at once need no entry; say when", place, "at_s")
        if entry.times > 1 or entry.for_s is not None:
            what = "times" if entry.times > 1 else "for_s"
            _refuse("a node joins once; use `crash` or `drain` for what comes later", place, what)
    if isinstance(entry, LinkEntry):
        if not (entry.cut or entry.loss or entry.duplicate or entry.delay_s):
            _refuse("nothing happens: set `cut`, `loss`, `duplicate` or `delay_s`", place, "what")
        if entry.cut and (entry.loss or entry.duplicate or entry.delay_s):
            _refuse("a link that is cut delivers nothing that could be delayed", place, "cut")


def _start_ms(entry: Timed, before_ms: Millis) -> Millis:
    """When the entry begins; `before_ms` is when the one before it did."""
    if entry.at_s is not None:
        return to_ms(entry.at_s)
    return before_ms + to_ms(entry.after_s or 0.0)


def _instants(entry: Timed, start_ms: Millis, place: int, seed: int) -> Iterator[Millis]:
    """When it happens, every time."""
    every_s = entry.every_s or 0.0
    gaps = Stream(seed, f"timeline/{place}/gap")
    at_ms = start_ms
    for repeat in range(entry.times):
        yield at_ms
        drawn = entry.gaps == "exponential"
        at_ms += max(1, to_ms(gaps.exponential(every_s, repeat) if drawn else every_s))


def _struck(
    entry: Entry,
    at_ms: Millis,
    nodes: Sequence[NodeFacts],
    place: int,
    draw: Stream,
    spells: Spells,
) -> list[NodeId]:
    """The nodes that an entry strikes this time, by number.

    Draws leave out nodes that something of the same sort has already befallen.
    """
    named = (entry.nodes,) if isinstance(entry.nodes, str) else entry.nodes
    chosen: set[NodeId] = set()
    for nth, target in enumerate(named):
        wanted = _drawn_number(target, len(nodes))
        if wanted is None:
            chosen.update(_named(target, nodes, place))
            continue
        until_ms = at_ms + len(nodes) * to_ms(entry.stagger_s) + (entry.length_ms() or inf)
        free = [
            facts.node
            for facts in nodes
            if facts.node not in chosen
            and spells.meeting(facts.node, entry.subject, at_ms, until_ms) is None
        ]
        free.sort(key=lambda node: (draw.bits(nth, node), node))
        chosen.update(free[:wanted])
    return sorted(chosen)


def _outages(
    entry: FailuresEntry | TraceEntry,
    at_ms: Millis,
    nodes: Sequence[NodeFacts],
    place: int,
    seed: int,
    base_dir: str | Path | None,
) -> Iterator[Outage]:
    """What an entry says of when nodes are down; a trace says nothing without its folder."""
    if isinstance(entry, TraceEntry):
        if base_dir is not None:
            names = {f"node-{facts.node}": facts.node for facts in nodes}
            for outage in recorded(_file(entry, base_dir, place), names):
                end_ms = None if outage.end_ms is None else outage.end_ms + at_ms
                yield Outage(outage.node, outage.begin_ms + at_ms, end_ms)
        return
    until_ms = to_ms(entry.until_s)
    mean_s = entry.mtbf_s + entry.mttr_s
    if len(nodes) * max(until_ms - at_ms, 0) / 1000 / mean_s > STRIKES_MAX:
        _refuse(f"more than {STRIKES_MAX:,} failures are to be expected", place, "mtbf_s")
    struck = set(_named_all(entry, nodes, place))
    chosen = [facts for facts in nodes if facts.node in struck]
    law = Law(entry.mtbf_s, entry.shape, entry.mttr_s, entry.by == "rack")
    yield from drawn(law, chosen, at_ms, until_ms, seed, place)


def _file(entry: TraceEntry, base_dir: str | Path, place: int) -> Path:
    return locate(entry.path, Path(base_dir), f"timeline[{place}].path")


def _named_all(
    entry: AddEntry | FailuresEntry, nodes: Sequence[NodeFacts], place: int
) -> list[NodeId]:
    """The nodes of an entry in which they have to be named."""
    named = (entry.nodes,) if isinstance(entry.nodes, str) else entry.nodes
    if any(_drawn_number(target, len(nodes)) is not None for target in named):
        _refuse("these nodes have to be named, not drawn", place, "nodes")
    return sorted({node for target in named for node in _named(target, nodes, place)})


def _drawn_number(target: str, nodes: int) -> int | None:
    """How many nodes a drawn target means; None for one that names them."""
    if match := re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?) ?%", target):
        return min(nodes, ceil(nodes * float(match[1]) / 100))
    if match := re.fullmatch(r"(\d{1,6}) any", target):
        return min(nodes, int(match[1]))
    return None


def _named(target: str, nodes: Sequence[NodeFacts], place: int) -> list[NodeId]:
    """The nodes that a name, a rack or a pattern means."""
    if target == "all":
        return [facts.node for facts in nodes]
    if target.startswith("rack-"):
        found = [facts.node for facts in nodes if fnmatchcase(f"rack-{facts.rack}", target)]
        there = f"rack-0 to rack-{max(facts.rack for facts in nodes)}"
    else:
        found = [facts.node for facts in nodes if fnmatchcase(f"node-{facts.node}", target)]
        there = f"node-0 to node-{len(nodes) - 1}"
    if not found:
        ways = "a name, a pattern such as `node-1*`, `rack-2`, `all`, `10%` or `3 any`"
        _refuse(f'"{target}" is no node of this cluster; expected {ways} ({there})', place, "nodes")
    return found


def _check_some_left(spells: Spells, nodes: Sequence[NodeFacts]) -> None:
    """ScenarioError where no node with a kind of slot would be left in the end."""
    gone: dict[NodeId, int] = {}
    for (node, subject), struck in spells.of.items():
        if node == MASTER:
            continue
        for spell in struck:
            if subject in ("power", "link", "peers", "service") and spell.end_ms == inf:
                gone[node] = max(gone.get(node, 0), spell.place)
    if not gone:
        return
    place = max(gone.values())
    for what in ("map", "reduce"):
        having = [facts for facts in nodes if getattr(facts, f"{what}_slots")]
        if having and all(facts.node in gone for facts in having):
            problem = f"every node with a {what} slot would be gone for ever, so jobs could not end"
            _refuse(f"{problem}; give one `for_s`", place, "nodes")


def _refuse(problem: str, place: int, field: str) -> NoReturn:
    raise ScenarioError(problem, key=f"timeline[{place}].{field}")
