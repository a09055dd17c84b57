"""What to know of a run before it is believed, or waited for, in a line; empty for nothing."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.faults import Crash, Restart, SwitchPolicy
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.tell.time_format import clock_time
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.timeline import PolicyEntry, entries_with_starts
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.quantities import duration

_INTERVALS_LEAST = 10
"""Of fewer there is no telling how long nodes stay up."""
_TOO_LONG = 2.0
"""A task of so many times as a node stays up on average ends in one of seven attempts."""


def frequent_outages_hint(spec: RunSpec) -> str:
    """What to know before a run in which at least half of the nodes fail again and again, too often
    for its longest task; else empty.
    """
    up_ms, failing = _up_times(spec.script)
    nodes = spec.scenario.cluster.node_count()
    if len(up_ms) < _INTERVALS_LEAST or 2 * failing < nodes:
        return ""
    mean_ms = round(fmean(up_ms))
    longest_ms = max(
        (max(job.map_ms if job.maps else 0, job.reduce_ms) for job in spec.jobs), default=0
    )
    if longest_ms < _TOO_LONG * mean_ms:
        return ""
    return (
        f"a task takes {duration(longest_ms)}, and a node stays up for {duration(mean_ms)} on"
        " average: it begins again and again, and this may take long. `--no-faults` leaves the"
        " outages out; if the number of nodes was guessed, `--nodes` says it"
    )


def _up_times(script: Iterable[ScheduledFault]) -> tuple[list[Millis], int]:
    """How long nodes were up between two crashes, and of how many nodes that tells."""
    up_since: dict[NodeId, Millis] = {}
    up_ms: list[Millis] = []
    failing: set[NodeId] = set()
    for at_ms, fault in ((each.at_ms, each.fault) for each in script):
        if isinstance(fault, Restart):
            up_since[fault.node] = at_ms
        elif isinstance(fault, Crash) and fault.node in up_since:
            up_ms.append(at_ms - up_since.pop(fault.node))
            failing.add(fault.node)
    return up_ms, len(failing)


def cut_history_note(scenario: Scenario, base_dir: Path | None) -> str:
    """Which of the files that it plays is cut off; empty if none is, or it plays no history, or is
    a journal's, which has no `base_dir`.
    """
    workload = scenario.workload
    if base_dir is None or not isinstance(workload, RecordedWorkload):
        return ""
    return workload.recording(base_dir).cut


def interval_hint(clusters: Iterable[Cluster]) -> str:
    """What to know before these clusters are compared, of which the first is the one that the
    others are set against; empty if all have one interval, or if theirs are stated.

    By Hadoop's rule the heartbeat interval grows with the cluster (rule H1): on fewer nodes a free
    slot is noticed sooner, so that a smaller cluster can be the faster one.
    """
    ruled = [each for each in clusters if each.heartbeat.interval_ms is None]
    found = {each.period_ms(): each.node_count() for each in ruled[::-1]}
    if len(found) < 2:
        return ""
    first_ms = ruled[0].period_ms()
    told = ", ".join(f"{ms / 1000:g} s on {found[ms]:,} nodes" for ms in sorted(found))
    return (
        f"a heartbeat comes every {told} (Hadoop's rule): what differs may come of that, and not of"
        f" the nodes. --set cluster.heartbeat.interval_ms={first_ms} holds it fixed"
    )


def any_by_heartbeats(
    policies: Iterable[str], parts: Mapping[str, Mapping[str, object]] | None
) -> bool:
    """Whether under any of them nodes tell only at heartbeats, as often as the cluster says."""
    return any(load_architecture(each, parts).heartbeats for each in policies)


def switch_note(spec: RunSpec) -> str:
    """To which policy the script changes, and when; empty if it does not."""
    script = spec.with_interventions_applied().script
    faults = ((each.at_ms, each.fault) for each in script)
    return _switch_sentence(
        (at, fault.policy) for at, fault in faults if isinstance(fault, SwitchPolicy)
    )


def timeline_switch_note(scenario: Scenario) -> str:
    """The same of a scenario whose run is not at hand."""
    return _switch_sentence(timeline_switches(scenario))


def timeline_switches(scenario: Scenario) -> Iterator[tuple[Millis, str]]:
    """When its timeline changes the policy, and to which."""
    seed = scenario.seed
    for place, entry, began_ms in entries_with_starts(scenario.timeline, seed):
        if isinstance(entry, PolicyEntry):
            for _, at_ms in entry.instants(began_ms, place, seed):
                yield at_ms, entry.policy


def recorded_switch_note(
    switches: Mapping[str, Iterable[tuple[Millis, str]]], scripted: Collection[tuple[Millis, str]]
) -> str:
    """The same of recorded runs, by what they are called: what is not `scripted` was by hand."""
    by_hand = {
        run: [each for each in made if each not in scripted] for run, made in switches.items()
    }
    told = [
        f"of {run} to {_switches_in_words(made)}" if len(switches) > 1 else _switches_in_words(made)
        for run, made in by_hand.items()
        if made
    ]
    return f"the policy was changed by hand: {'; '.join(told)}. {_NAMED}" if told else ""


def _switch_sentence(switches: Iterable[tuple[Millis, str]]) -> str:
    told = _switches_in_words(switches)
    changes = f"the scenario's own timeline changes the policy: {told}"
    return concise(f"{changes}. {_NAMED}") if told else ""


_NAMED = "Columns are named by what each run begins under"


def _switches_in_words(switches: Iterable[tuple[Millis, str]]) -> str:
    return ", ".join(f"{policy} from {clock_time(at_ms)} on" for at_ms, policy in sorted(switches))


def unreached_note(spec: RunSpec, ended_ms: Mapping[str, Millis]) -> str:
    """Which entries of the timeline begin only after runs under these policies had ended; empty if
    all were reached.
    """
    told = []
    for place, entry, began_ms in entries_with_starts(spec.scenario.timeline, spec.scenario.seed):
        without = [policy for policy, end_ms in ended_ms.items() if end_ms < began_ms]
        under = "" if len(without) == len(ended_ms) else f" under {', '.join(without)}"
        if without:
            what = f"{entry.__struct_config__.tag}, from {clock_time(began_ms)} on"
            told.append(f"timeline[{place}]{under} ({what})")
    return f"not reached before the run ended: {_first_few(told)}" if told else ""


def demands_note(spec: RunSpec, policies: Sequence[str]) -> str:
    """Which of the policies go by slots alone where tasks demand more of a node.  Of recorded jobs
    nothing is said: their slots are made of what they demanded.
    """
    if isinstance(spec.scenario.workload, RecordedWorkload):
        return ""
    demanded = {name: None for job in spec.jobs for each in job.demands for name, _ in each}
    if not demanded:
        return ""
    parts = spec.scenario.parts
    blind = [each for each in policies if not load_architecture(each, parts).goes_by_demands]
    if not blind:
        return ""
    goes = "goes" if len(blind) == 1 else "go"
    told = f"{', '.join(blind)} {goes} by slots alone, whatever tasks demand besides"
    return concise(f"{told} ({', '.join(demanded)})")


def idle_fields_note(scenario: Scenario) -> str:
    """What is said of entries of the timeline and of listed jobs that changes nothing, since
    another field is missing.
    """
    idle = [*_idle_timeline_fields(scenario), *_idle_job_fields(scenario)]
    return f"without effect: {_first_few(idle)}" if idle else ""


def _first_few(told: Sequence[str]) -> str:
    """The first of these, and how many more there are."""
    more = f", and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return f"{'; '.join(told[:_SHOWN])}{more}"


_SHOWN = 3


def _idle_timeline_fields(scenario: Scenario) -> Iterator[str]:
    for place, entry in enumerate(scenario.timeline):
        if entry.every_s is not None and entry.times == 1:
            yield f"timeline[{place}].every_s, as it happens once (`times` says how often)"


def _idle_job_fields(scenario: Scenario) -> Iterator[str]:
    if not isinstance(scenario.workload, ListedWorkload):
        return
    for place, job in enumerate(scenario.workload.job):
        key = f"workload.job[{place}]"
        if job.every_s and job.count == 1:
            yield f"{key}.every_s, as there is one such job (`count`)"
        if (job.reduce_s or job.shuffle_s) and not job.reduces:
            yield f"{key}.{'reduce_s' if job.reduce_s else 'shuffle_s'}, as it has no `reduces`"
        if job.skew != 1 and not (job.skewed_maps or job.skewed_reduces):
            yield f"{key}.skew, as no task is skewed (`skewed_maps`)"
