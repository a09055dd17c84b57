"""Saving a run that was changed by hand: as a journal, or as a scenario whose timeline says what
was done.  Either, when played, gives the same run.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.job_names import job_name
from callboard.experiments.live.live_run import LiveRun
from callboard.experiments.run.run_loading import faults_not_among
from callboard.experiments.run.run_spec import RunSpec, spec_options
from callboard.experiments.whole_files import whole_file
from callboard.journal.lock import is_being_written
from callboard.journal.tell.names import node_name
from callboard.journal.tell.time_format import axis_time
from callboard.scenarios import timeline as tl
from callboard.scenarios.listed_jobs import PriorityName
from callboard.scenarios.scenario_file import Scenario, make_fault_script
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError


class CannotSave(Exception):
    """The run cannot be saved in this way; the message says why, and what to do."""


_JOURNAL_INSTEAD = "save a journal, which can hold it"


def save_journal(run: LiveRun, path: Path, play: Callable[..., LiveRun] = LiveRun) -> None:
    """Play the run once more, as far as it has come, into a journal; `play` makes such a run."""
    if is_being_written(path):
        raise CannotSave(f"another run is being recorded in {path}; choose another name")
    with whole_file(path) as part, play(run.spec, part) as again:
        again.go_to_moment(run.recording.end_ms)


def save_scenario(spec: RunSpec, path: Path) -> None:
    """Write the run as a scenario file; CannotSave where that would be another run."""
    scenario = scenario_with_interventions(spec, path)
    with whole_file(path) as part:
        part.write_text(to_toml(scenario, _scenario_comments(spec, path)), encoding="utf-8")


def scenario_with_interventions(spec: RunSpec, path: Path) -> Scenario:
    """The scenario, to be saved at `path`, that under its first policy is the run of this spec."""
    whole = spec.with_interventions_applied()
    own = make_fault_script(whole.scenario, whole.jobs, path.parent)
    by_hand = sorted(faults_not_among(whole.script, own), key=lambda fault: fault.at_ms)
    policies = dict.fromkeys((spec.policy, *whole.scenario.policies))
    scenario = msgspec.structs.replace(
        whole.scenario,
        name=path.stem,
        policies=tuple(policies),
        timeline=(*whole.scenario.timeline, *_timeline_entries(by_hand)),
    )
    _check_same_run(scenario, whole, path)
    return scenario


def _check_same_run(scenario: Scenario, whole: RunSpec, path: Path) -> None:
    """CannotSave unless the scenario's jobs and faults are those of the run, in the same order."""
    try:
        again = RunSpec.of(scenario, base_dir=path.parent)
    except ScenarioError as error:
        problem = f"as a scenario it could not be played: {error.problem}"
        raise CannotSave(f"{problem}; {_JOURNAL_INSTEAD}") from None
    script = sorted(whole.script, key=lambda fault: fault.at_ms)
    if again.jobs != whole.jobs or list(again.script) != script:
        same = "no timeline says the same in the same order"
        raise CannotSave(f"{same}; {_JOURNAL_INSTEAD}")


def _scenario_comments(spec: RunSpec, path: Path) -> Iterator[str]:
    yield f"{spec.scenario.name} as it was changed by hand on the screen, under {spec.policy}."
    if options := list(spec_options(spec)):
        command = f"callboard watch {path.name} {' '.join(options)}"
        yield f"It was played with options that no scenario holds:\n\n  {command}"


# From faults to entries of a timeline.

_Undone = tuple[type[faults.Fault], int]
"""What an entry is about: the fault that begins it, and the node, or -1."""


def _timeline_entries(by_hand: Iterable[ScheduledFault]) -> list[tl.AnyEntry]:
    """The timeline's entries for these faults, those of several nodes at once as one."""
    entries: list[tl.AnyEntry] = []
    begun: dict[_Undone, int] = {}
    for scheduled in by_hand:
        over = _undone_fault(scheduled.fault)
        if over is not None:
            place = begun.pop(over, None)
            if place is None:
                undone = "undoes what the scenario itself began"
                raise CannotSave(f"{_fault_words(scheduled)} {undone}; {_JOURNAL_INSTEAD}")
            entries[place] = _entry_with_duration(entries[place], scheduled.at_ms)
            continue
        begun[type(scheduled.fault), _node_of_fault(scheduled.fault)] = len(entries)
        entries.append(_timeline_entry(scheduled))
    _check_pauses_over(entries)
    return list(_merged_entries(entries))


def _undone_fault(fault: faults.AnyFault) -> _Undone | None:
    match fault:
        case faults.Restart(node=node):
            return faults.Crash, node
        case faults.ResumeNode(node=node):
            return faults.PauseNode, node
        case faults.Slow(node=node, factor=1.0) | faults.Drain(node=node, out=False):
            return type(fault), node
        case faults.ResumeMaster():
            return faults.PauseMaster, -1
        case _:
            return None


def _timeline_entry(scheduled: ScheduledFault) -> tl.AnyEntry:
    """The entry that makes a fault happen; how long it lasts is seen when it is undone."""
    at_s, fault = scheduled.at_ms / 1000, scheduled.fault
    match fault:
        case faults.Crash(node=node):
            return tl.CrashEntry(at_s=at_s, nodes=node_name(node))
        case faults.PauseNode(node=node):
            return tl.PauseEntry(at_s=at_s, nodes=node_name(node), for_s=_STILL)
        case faults.Slow(node=node, factor=factor):
            return tl.SlowEntry(at_s=at_s, nodes=node_name(node), factor=factor)
        case faults.Drain(node=node):
            return tl.DrainEntry(at_s=at_s, nodes=node_name(node))
        case faults.KillJob(job=job):
            return tl.KillJobEntry(at_s=at_s, job=job_name(job))
        case faults.SetPriority(job=job, priority=priority):
            return tl.PriorityEntry(
                at_s=at_s, job=job_name(job), priority=cast(PriorityName, priority.name.lower())
            )
        case faults.SetPool(job=job, pool=pool) if pool:
            return tl.PoolEntry(at_s=at_s, job=job_name(job), pool=pool)
        case faults.SwitchPolicy(policy=policy):
            return tl.PolicyEntry(at_s=at_s, policy=policy)
        case faults.PauseMaster():
            return tl.MasterPauseEntry(at_s=at_s, for_s=_STILL)
        case faults.CrashScheduler(scheduler=scheduler):
            return tl.SchedulerCrashEntry(at_s=at_s, scheduler=scheduler)
        case faults.RestartMaster(recover=recover):
            return tl.MasterRestartEntry(at_s=at_s, recover=recover)
        case _:
            raise CannotSave(
                f"{_fault_words(scheduled)}: no timeline says that; {_JOURNAL_INSTEAD}"
            )


_STILL = -1.0
"""How long a pause lasts that nobody has ended."""


def _entry_with_duration(entry: tl.AnyEntry, until_ms: Millis) -> tl.AnyEntry:
    began_s = entry.at_s
    assert isinstance(began_s, float)
    length_s = (until_ms - round(1000 * began_s)) / 1000
    return msgspec.structs.replace(entry, for_s=length_s)


def _check_pauses_over(entries: Iterable[tl.AnyEntry]) -> None:
    """A pause in a scenario has an end."""
    for entry in entries:
        if isinstance(entry, tl.PauseEntry | tl.MasterPauseEntry) and entry.for_s == _STILL:
            who = f"{entry.nodes} is" if isinstance(entry, tl.PauseEntry) else "the master is"
            hint = "let it go on first, or save a journal"
            raise CannotSave(f"{who} still paused, and a scenario says for how long; {hint}")


def _merged_entries(entries: Iterable[tl.AnyEntry]) -> Iterator[tl.AnyEntry]:
    """Entries that differ in nothing but their node, as one."""
    before: tl.AnyEntry | None = None
    for entry in entries:
        both = _entry_with_both_nodes(before, entry)
        if both is None and before is not None:
            yield before
        before = both or entry
    if before is not None:
        yield before


def _entry_with_both_nodes(before: tl.AnyEntry | None, entry: tl.AnyEntry) -> tl.AnyEntry | None:
    """The first one with the nodes of both, if they say the same."""
    if not isinstance(before, tl.NodesEntry) or not isinstance(entry, tl.NodesEntry):
        return None
    if msgspec.structs.replace(before, nodes=entry.nodes) != entry:
        return None
    return msgspec.structs.replace(
        before, nodes=(*tl.names_as_tuple(before.nodes), *tl.names_as_tuple(entry.nodes))
    )


def _node_of_fault(fault: faults.AnyFault) -> int:
    return fault.node if isinstance(fault, faults.NodeFault) else -1


def _fault_words(scheduled: ScheduledFault) -> str:
    match fault := scheduled.fault:
        case faults.NodeFault(node=node):
            who = node_name(node)
        case faults.JobFault(job=job):
            who = job_name(job)
        case faults.SchedulerFault(scheduler=scheduler):
            who = f"scheduler {scheduler}"
        case _:
            who = "the master"
    return f"{type(fault).__name__} of {who} at {axis_time(scheduled.at_ms)}"
