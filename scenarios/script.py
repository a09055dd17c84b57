"""A scenario's timeline as scheduled faults (its bursts: `scenarios.bursts`).

What is to happen to a rack, or to any group of nodes, is a fault for each of them.
Draws are made at an entry's own place in the file and the number of its repetition, so that an
entry more changes no other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.job_names import find_job
from callboard.histories.model.outage import Outage
from callboard.scenarios import distributions
from callboard.scenarios import timeline as tl
from callboard.scenarios.failures import drawn_outages, recorded_outages
from callboard.scenarios.fields import to_ms
from callboard.scenarios.file_lookup import locate_trace
from callboard.scenarios.intervals import MASTER_AS_NODE, FaultInterval, FaultIntervals
from callboard.scenarios.targets import drawn_count, nodes_named, nodes_of_entry, refuse_entry
from callboard.scenarios.timeline import SCHEDULED_FAULTS_MAX
from callboard.scheduler.model import JobId, Millis, NodeId


def fault_script(
    timeline: tl.Timeline,
    nodes: Sequence[NodeFacts],
    seed: int,
    jobs: Mapping[JobId, str] | None = None,
    base_dir: str | Path | None = None,
) -> tuple[ScheduledFault, ...]:
    """Every fault, in the order of time; of one instant, what ends before what begins.

    `jobs` are the names of jobs, `base_dir` is the traces' folder; faults that need what is not
    given are left out. ScenarioError where an entry names no node, two want the same of one node at
    one time, or all nodes with a kind of slot would be gone for ever.
    """
    written = _FaultScript(nodes, seed, jobs, base_dir)
    scheduled = 0
    for place, entry, began_ms in tl.entries_with_starts(timeline, seed):
        each = len(nodes) * len(entry.targets()) if isinstance(entry, tl.NodesEntry) else 1
        scheduled += entry.times * each
        _check_entry(entry, place, len(nodes), scheduled)
        if not isinstance(entry, tl.BurstEntry):
            for repeat, at_ms in entry.instants(began_ms, place, seed):
                written.add(entry, place, repeat, at_ms)
    written.intervals.check_slots_left(timeline, nodes)
    return tuple(sorted([*written.ends, *written.begins], key=lambda fault: fault.at_ms))


def recorded_kills(jobs: Iterable[JobSpec]) -> list[ScheduledFault]:
    """The jobs that their users killed when they were recorded, in the order of time."""
    kills = [
        ScheduledFault(job.submit_ms + job.killed_ms, faults.KillJob(job.job))
        for job in jobs
        if job.killed_ms is not None
    ]
    return sorted(kills, key=lambda kill: kill.at_ms)


class _FaultScript:
    """What entries come to: faults that begin something, those that end it, and when it lasts."""

    def __init__(
        self,
        nodes: Sequence[NodeFacts],
        seed: int,
        jobs: Mapping[JobId, str] | None,
        base_dir: str | Path | None,
    ) -> None:
        self.begins: list[ScheduledFault] = []
        self.ends: list[ScheduledFault] = []
        self.intervals = FaultIntervals()
        self._pairs = self._uncounted = 0
        self._named: dict[int, list[JobId]] = {}
        self._nodes = nodes
        self._seed = seed
        self._jobs = jobs
        self._base_dir = base_dir

    def add(self, entry: tl.TimelineEntry, place: int, repeat: int, at_ms: Millis) -> None:
        """What the entry does when it happens for the `repeat`th time from 0."""
        match entry:
            case tl.JobFaultEntry():
                self._add_to_jobs(entry, place, at_ms)
            case tl.PolicyEntry():
                now = FaultInterval(at_ms, at_ms + 1, place)
                self.intervals.add(MASTER_AS_NODE, "policy", now, "the policy is set", "at_s")
                self.begins.append(ScheduledFault(at_ms, faults.SwitchPolicy(entry.policy)))
            case tl.MasterRestartEntry():
                self.begins.append(ScheduledFault(at_ms, faults.RestartMaster(entry.recover)))
            case tl.SchedulerCrashEntry():
                self._crash_scheduler(entry, place, repeat, at_ms)
            case tl.MasterPauseEntry():
                draw = Stream(self._seed, f"timeline/{place}/length")
                over_ms = at_ms + distributions.duration_ms(entry.for_s, draw, repeat)
                paused, what = FaultInterval(at_ms, over_ms, place), "the master is affected"
                self.intervals.add(MASTER_AS_NODE, "power", paused, what, "at_s")
                self.begins.append(ScheduledFault(at_ms, faults.PauseMaster()))
                self.ends.append(ScheduledFault(over_ms, faults.ResumeMaster()))
            case tl.FailuresEntry():
                self._add_outages(self._drawn_outages(entry, place, at_ms), place, "mtbf_s")
            case tl.TraceEntry():
                self._add_outages(self._recorded_outages(entry, place, at_ms), place, "path")
            case tl.AddEntry():
                for nth, node in enumerate(nodes_of_entry(entry, self._nodes, place)):
                    joins_ms = max(1, at_ms) + nth * to_ms(entry.stagger_s)
                    self.intervals.add(node, entry.subject, FaultInterval(0, joins_ms, place))
                    self.begins.append(ScheduledFault(0, faults.Crash(node)))
                    self.ends.append(ScheduledFault(joins_ms, faults.Restart(node)))
            case tl.NodeFaultEntry() | tl.SplitEntry():
                self._add_to_nodes(entry, place, repeat, at_ms)

    def _crash_scheduler(
        self, entry: tl.SchedulerCrashEntry, place: int, repeat: int, at_ms: Millis
    ) -> None:
        number, over_ms = entry.scheduler, inf
        if entry.for_s is not None:
            draw = Stream(self._seed, f"timeline/{place}/length")
            ends_ms = at_ms + distributions.duration_ms(entry.for_s, draw, repeat)
            self.ends.append(ScheduledFault(ends_ms, faults.RestartScheduler(number)))
            over_ms = ends_ms
        gone = FaultInterval(at_ms, over_ms, place)
        what = f"scheduler {number} is affected"
        self.intervals.add(MASTER_AS_NODE, f"scheduler/{number}", gone, what, "at_s")
        self.begins.append(ScheduledFault(at_ms, faults.CrashScheduler(number)))

    def _add_to_jobs(self, entry: tl.JobFaultEntry, place: int, at_ms: Millis) -> None:
        if self._jobs is None:
            return
        if place not in self._named:
            self._named[place] = _jobs_meant_by(entry.job, self._jobs, place)
        self._count_unforeseen(len(self._named[place]), place, "times")
        for job in self._named[place]:
            now = FaultInterval(at_ms, at_ms + 1, place)
            what = f'the {entry.subject} of job "{self._jobs[job]}" is set'
            self.intervals.add(MASTER_AS_NODE, f"{entry.subject}/{job}", now, what, "at_s")
            self.begins.append(ScheduledFault(at_ms, entry.fault(job)))

    def _count_unforeseen(self, more: int, place: int, field: str) -> None:
        """That many faults more, which only a trace, a draw or the names of jobs could tell."""
        self._uncounted += more
        if self._uncounted > SCHEDULED_FAULTS_MAX:
            refuse_entry(f"this comes to more than {SCHEDULED_FAULTS_MAX:,} faults", place, field)

    def _recorded_outages(
        self, entry: tl.TraceEntry, place: int, at_ms: Millis
    ) -> Iterator[Outage]:
        """What a trace says of when nodes are down, `at_ms` later; nothing without its folder."""
        if self._base_dir is not None:
            path = locate_trace(entry.path, Path(self._base_dir), f"timeline[{place}].path")
            for node, begin_ms, end_ms in self._outages_in(path, place):
                yield Outage(node, begin_ms + at_ms, None if end_ms is None else end_ms + at_ms)

    def _outages_in(self, path: Path, place: int) -> Iterator[Outage]:
        from callboard.histories.model.import_report import Remarks
        from callboard.histories.readers.opendc import is_failure_trace, outages_of_failure_trace

        if path.is_file() and is_failure_trace(path):
            return outages_of_failure_trace(path, place, len(self._nodes), Remarks())
        return recorded_outages(path, {f"node-{each.node}": each.node for each in self._nodes})

    def _drawn_outages(
        self, entry: tl.FailuresEntry, place: int, at_ms: Millis
    ) -> Iterator[Outage]:
        nodes, mean_s = self._nodes, entry.mtbf_s + entry.mttr_s
        long_ms = max(to_ms(entry.until_s) - at_ms, 0)
        if len(nodes) * long_ms / 1000 / mean_s > SCHEDULED_FAULTS_MAX:
            problem = f"more than {SCHEDULED_FAULTS_MAX:,} failures are to be expected"
            refuse_entry(problem, place, "mtbf_s")
        affected = set(nodes_of_entry(entry, nodes, place))
        chosen = [facts for facts in nodes if facts.node in affected]
        return drawn_outages(entry, chosen, at_ms, self._seed, place)

    def _add_outages(self, outages: Iterable[Outage], place: int, field: str) -> None:
        for node, begin_ms, end_ms in outages:
            self._count_unforeseen(1, place, field)
            end = inf if end_ms is None else end_ms
            self.intervals.add(node, "power", FaultInterval(begin_ms, end, place))
            self.begins.append(ScheduledFault(begin_ms, faults.Crash(node)))
            if end_ms is not None:
                self.ends.append(ScheduledFault(end_ms, faults.Restart(node)))

    def _add_to_nodes(
        self, entry: tl.NodeFaultEntry | tl.SplitEntry, place: int, repeat: int, at_ms: Millis
    ) -> None:
        draw = Stream(self._seed, f"timeline/{place}/length")
        lengths = {
            facts.node: None
            if entry.for_s is None
            else distributions.duration_ms(entry.for_s, draw, repeat, facts.node)
            for facts in self._nodes
        }
        affected = self._affected_nodes(entry, place, repeat, at_ms, lengths)
        others = (
            self._other_side_of_split(entry, place, affected)
            if isinstance(entry, tl.SplitEntry)
            else ()
        )
        for nth, node in enumerate(affected):
            begin_ms, length = at_ms + nth * to_ms(entry.stagger_s), lengths[node]
            end_ms = inf if length is None else begin_ms + length
            self.intervals.add(node, entry.subject, FaultInterval(begin_ms, end_ms, place))
            begin: faults.AnyFault = faults.Partition(node, others)
            end: faults.AnyFault = faults.Partition(node, ())
            if not isinstance(entry, tl.SplitEntry):
                begin, end = entry.fault(node, begins=True), entry.fault(node, begins=False)
            self.begins.append(ScheduledFault(begin_ms, begin))
            if length is not None:
                self.ends.append(ScheduledFault(begin_ms + length, end))

    def _other_side_of_split(
        self, entry: tl.SplitEntry, place: int, affected: list[NodeId]
    ) -> tuple[NodeId, ...]:
        named = (nodes_named(target, self._nodes, place) for target in entry.other_targets())
        others = set().union(*named).difference(affected)
        self._pairs += len(affected) * len(others)
        if self._pairs > SCHEDULED_FAULTS_MAX:
            problem = f"more than {SCHEDULED_FAULTS_MAX:,} pairs of nodes are split"
            refuse_entry(problem, place, "nodes")
        if not others:
            refuse_entry("no node is split from another: name others", place, "nodes")
        return tuple(sorted(others))

    def _affected_nodes(
        self,
        entry: tl.NodeFaultEntry | tl.SplitEntry,
        place: int,
        repeat: int,
        at_ms: Millis,
        lengths: Mapping[NodeId, Millis | None],
    ) -> list[NodeId]:
        """The nodes affected this time, by number; none is drawn that has the same subject then."""
        nodes = self._nodes
        draw = Stream(self._seed, f"timeline/{place}/{repeat}")
        all_begun_ms = at_ms + len(nodes) * to_ms(entry.stagger_s)
        chosen: set[NodeId] = set()
        if not entry.targets():
            refuse_entry("no node is named", place, "nodes")
        for nth, target in enumerate(entry.targets()):
            wanted = drawn_count(target, len(nodes))
            if wanted == 0:
                refuse_entry(f'"{target}" is no node', place, "nodes")
            if wanted is None:
                chosen.update(nodes_named(target, nodes, place))
                continue
            free = [
                facts.node
                for facts in nodes
                if facts.node not in chosen
                and self.intervals.overlapping(
                    facts.node, entry.subject, at_ms, all_begun_ms + (lengths[facts.node] or inf)
                )
                is None
            ]
            free.sort(key=lambda node: (draw.bits(nth, node), node))
            chosen.update(free[:wanted])
        return sorted(chosen)


def _jobs_meant_by(text: str, names: Mapping[JobId, str], place: int) -> list[JobId]:
    try:
        return [find_job(text, names)]
    except LookupError as error:
        is_pattern = text not in names.values() and any(sign in text for sign in "*?[")
        found = [job for job, name in names.items() if is_pattern and fnmatchcase(name, text)]
        if not found:
            refuse_entry(str(error), place, "job")
        return found


def _check_entry(entry: tl.TimelineEntry, place: int, nodes: int, scheduled: int) -> None:
    """ScenarioError where fields contradict each other, or too many faults are `scheduled`."""
    if scheduled > SCHEDULED_FAULTS_MAX:
        most = f"times × names × {nodes:,} nodes may be {SCHEDULED_FAULTS_MAX:,} in all entries"
        refuse_entry(f"this is too much; {most}, and come to {scheduled:,} here", place, "times")
    if entry.at_s is not None and entry.after_s is not None:
        refuse_entry("`at_s` and `after_s` both say when; keep one", place, "after_s")
    for field in ("at_s", "after_s", "every_s", "for_s"):
        distributions.check_distribution(getattr(entry, field, None), f"timeline[{place}].{field}")
    if entry.gaps == "exponential" and not isinstance(entry.every_s, float | None):
        refuse_entry("`every_s` says by what law gaps are drawn; keep one", place, "gaps")
    if entry.times > 1 and entry.every_s is None:
        refuse_entry("`times` without `every_s`: how far apart?", place, "times")
    if isinstance(entry, tl.AddEntry):
        if not (entry.at_s or entry.after_s):
            refuse_entry("nodes that join at once need no entry; say when", place, "at_s")
        if entry.times > 1 or entry.for_s is not None:
            what = "times" if entry.times > 1 else "for_s"
            refuse_entry(
                "a node joins once; use `crash` or `drain` for what comes later", place, what
            )
    if isinstance(entry, tl.LinkEntry):
        some = entry.loss or entry.duplicate or entry.delay_s or entry.reorder
        if not (entry.cut or some):
            ways = "`cut`, `loss`, `duplicate`, `reorder` or `delay_s`"
            refuse_entry(f"nothing happens: set {ways}", place, "what")
        if entry.cut and some:
            refuse_entry("a link that is cut delivers nothing that could be delayed", place, "cut")
