"""A scenario's timeline as strikes of faults, and as the jobs of its bursts.

Draws are made at an entry's own place in the file and the number of its repetition, so that an
entry more changes no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec
from sortedcontainers import SortedList

from actors.events import NodeFacts
from actors.faults import (
    Crash,
    PauseMaster,
    Restart,
    RestartMaster,
    ResumeMaster,
    SwitchPolicy,
)
from actors.injector import Strike
from actors.jobs import JobSpec
from actors.streams import Stream
from scenarios import joblist
from scenarios.failures import Law, Outage, drawn, recorded
from scenarios.fields import JOBS_MAX, to_ms
from scenarios.files import dotted
from scenarios.strict import suggestion
from scenarios.targets import drawn_number, named, named_all, refuse
from scenarios.timeline import (
    STRIKES_MAX,
    AddEntry,
    BurstEntry,
    Entry,
    FailuresEntry,
    JobFaultEntry,
    LinkEntry,
    MasterPauseEntry,
    MasterRestartEntry,
    PolicyEntry,
    SplitEntry,
    Timed,
    Timeline,
    TraceEntry,
)
from scenarios.traces import locate
from scheduler.model import JobId, Millis, NodeId


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
            refuse(f"{problem}; let one end before the other begins", spell.place, "nodes")
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
    strikes = pairs = 0
    for place, entry in enumerate(timeline):
        each = len(nodes) * len(entry.targets()) if isinstance(entry, Entry) else 1
        strikes += entry.times * each
        _check(entry, place, len(nodes), strikes)
        began_ms = _start_ms(entry, began_ms)
        if isinstance(entry, BurstEntry):
            continue  # jobs come by the workload's way
        for repeat, at_ms in enumerate(_instants(entry, began_ms, place, seed)):
            if isinstance(entry, JobFaultEntry):
                struck_jobs = () if jobs is None else _jobs(entry.job, jobs, place)
                begins += [Strike(at_ms, entry.fault(job)) for job in struck_jobs]
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
                for nth, node in enumerate(named_all(entry, nodes, place)):
                    joins_ms = at_ms + nth * to_ms(entry.stagger_s)
                    spells.add(node, entry.subject, Spell(0, joins_ms, place))
                    begins.append(Strike(0, Crash(node)))
                    ends.append(Strike(joins_ms, Restart(node)))
                continue
            length_ms = entry.length_ms()
            draw = Stream(seed, f"timeline/{place}/{repeat}")
            struck = _struck(entry, at_ms, nodes, place, draw, spells)
            others: tuple[NodeId, ...] = ()
            if isinstance(entry, SplitEntry):
                others = tuple(sorted({facts.node for facts in nodes}.difference(struck)))
                pairs += len(struck) * len(others)
                if pairs > STRIKES_MAX:
                    refuse(f"more than {STRIKES_MAX:,} pairs of nodes are split", place, "nodes")
            for nth, node in enumerate(struck):
                begin_ms = at_ms + nth * to_ms(entry.stagger_s)
                end_ms = inf if length_ms is None else begin_ms + length_ms
                spells.add(node, entry.subject, Spell(begin_ms, end_ms, place))
                begins.append(Strike(begin_ms, entry.begins(node, others)))
                if length_ms is not None:
                    ends.append(Strike(begin_ms + length_ms, entry.ends(node)))
    _check_some_left(spells, timeline, nodes)
    return tuple(sorted([*ends, *begins], key=lambda strike: strike.at_ms))


def bursts(timeline: Timeline, seed: int, first: JobId) -> list[JobSpec]:
    """The jobs that come in bursts, with ids from `first` on: those of the workload keep theirs.

    ScenarioError where there are too many.
    """
    specs: list[JobSpec] = []
    began_ms = 0
    for place, entry in enumerate(timeline):
        began_ms = _start_ms(entry, began_ms)
        if not isinstance(entry, BurstEntry):
            continue
        if entry.times * entry.job.count > JOBS_MAX:
            refuse(f"more than {JOBS_MAX:,} jobs", place, "times")
        joblist.check_tasks(entry.job, f"timeline[{place}].job")
        for repeat, at_ms in enumerate(_instants(entry, began_ms, place, seed)):
            name = entry.job.name or f"burst-{place + 1}"
            if entry.times > 1:
                name = f"{name}-{repeat + 1}"
            named = msgspec.structs.replace(entry.job, name=name)
            for spec in joblist.specs_of(named, place):
                late_ms = spec.submit_ms + at_ms
                number = first + len(specs)
                specs.append(msgspec.structs.replace(spec, job=number, submit_ms=late_ms))
    return specs


def kinds_named(timeline: Timeline) -> Iterator[tuple[str, str]]:
    """(kind of node, key) of every factor of a burst's job."""
    for place, entry in enumerate(timeline):
        if isinstance(entry, BurstEntry):
            for kind in entry.job.on:
                yield kind, dotted(("timeline", place, "job", "on", kind))


def _jobs(name: str, jobs: Mapping[str, JobId], place: int) -> list[JobId]:
    """The jobs of a name or a pattern."""
    found = [jobs[name]] if name in jobs else []
    if not found and any(sign in name for sign in "*?["):
        found = [job for each, job in jobs.items() if fnmatchcase(each, name)]
    if not found:
        hint = suggestion(name, list(jobs))
        refuse(f'no job of the workload is called "{name}"; {hint}', place, "job")
    return found


def _check(entry: Timed, place: int, nodes: int, strikes: int) -> None:
    """ScenarioError where fields of an entry contradict each other, or all together are too much.

    `strikes` are those of this entry and all before it.
    """
    if strikes > STRIKES_MAX:
        most = f"times × names × {nodes:,} nodes may be {STRIKES_MAX:,} in the whole timeline"
        refuse(f"this is too much; {most}, and come to {strikes:,} here", place, "times")
    if entry.at_s is not None and entry.after_s is not None:
        refuse("`at_s` and `after_s` both say when; keep one", place, "after_s")
    if entry.times > 1 and entry.every_s is None:
        refuse("`times` without `every_s`: how far apart?", place, "times")
    if isinstance(entry, AddEntry):
        if not (entry.at_s or entry.after_s):
            refuse("nodes that join at once need no entry; say when", place, "at_s")
        if entry.times > 1 or entry.for_s is not None:
            what = "times" if entry.times > 1 else "for_s"
            refuse("a node joins once; use `crash` or `drain` for what comes later", place, what)
    if isinstance(entry, LinkEntry):
        if not (entry.cut or entry.loss or entry.duplicate or entry.delay_s):
            refuse("nothing happens: set `cut`, `loss`, `duplicate` or `delay_s`", place, "what")
        if entry.cut and (entry.loss or entry.duplicate or entry.delay_s):
            refuse("a link that is cut delivers nothing that could be delayed", place, "cut")


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
    chosen: set[NodeId] = set()
    for nth, target in enumerate(entry.targets()):
        wanted = drawn_number(target, len(nodes))
        if wanted is None:
            chosen.update(named(target, nodes, place))
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
        refuse(f"more than {STRIKES_MAX:,} failures are to be expected", place, "mtbf_s")
    struck = set(named_all(entry, nodes, place))
    chosen = [facts for facts in nodes if facts.node in struck]
    law = Law(entry.mtbf_s, entry.shape, entry.mttr_s, entry.by == "rack")
    yield from drawn(law, chosen, at_ms, until_ms, seed, place)


def _file(entry: TraceEntry, base_dir: str | Path, place: int) -> Path:
    return locate(entry.path, Path(base_dir), f"timeline[{place}].path")


def _check_some_left(spells: Spells, timeline: Timeline, nodes: Sequence[NodeFacts]) -> None:
    """ScenarioError where no node with a kind of slot would be left in the end."""
    gone: dict[NodeId, int] = {}
    for (node, _), struck in spells.of.items():
        if node == MASTER:
            continue
        for spell in struck:
            if spell.end_ms == inf and timeline[spell.place].takes_away():
                gone[node] = max(gone.get(node, 0), spell.place)
    if not gone:
        return
    place = max(gone.values())
    for what in ("map", "reduce"):
        having = [facts for facts in nodes if getattr(facts, f"{what}_slots")]
        if having and all(facts.node in gone for facts in having):
            problem = f"every node with a {what} slot would be gone for ever, so jobs could not end"
            refuse(f"{problem}; give one `for_s`", place, "nodes")
