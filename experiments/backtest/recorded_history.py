"""What happened, as far as the history tells: the jobs, every attempt, and what ran at once."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from callboard.actors.config import node_facts
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.user_errors import InputError
from callboard.histories.model.attempt_log import AttemptLog
from callboard.histories.model.tasks_file import ClusterRecording
from callboard.histories.recording_file import Imported, load_recording_with_attempts
from callboard.journal.figures.steps import Steps, steps
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.timeline import recorded_entries
from callboard.scheduler.model import KINDS, MAP, Millis
from callboard.scheduler.text.quantities import count

_PART_SHARE = 0.5  # of the slots in use at most: then others can have held what is not seen


class RecordedHistory(NamedTuple):
    """What happened: the recording, and where the file tells of attempts their log and the first
    submission by its clock; what had to be `guessed` on reading it.
    """

    recording: ClusterRecording
    log: AttemptLog | None
    begin_ms: Millis
    guessed: tuple[str, ...] = ()


def imported_history(spec: RunSpec, base_dir: Path) -> Imported:
    """The history that a spec plays; InputError for one that plays none."""
    workload = spec.scenario.workload
    if not isinstance(workload, RecordedWorkload):
        raise InputError("only a recorded history can be backtested: there is nothing to compare")
    return load_recording_with_attempts(workload.located_file(base_dir), workload.columns)


RESPONSE_TOLD_BY = (
    "A table of jobs tells it by `end`, or by `start` and `duration`; one of tasks by `submit`,"
    " `start` and `end`; an SWF by its waits"
)


def check_comparable(found: Imported, jobs: int) -> None:
    """InputError if of none of the first `jobs` a response is told that could be predicted."""
    if any(job.tells_response for job in found.recording.jobs[:jobs]):
        return
    raise InputError(
        "no job that succeeded tells how long it took: there is nothing to compare;"
        f" `callboard run` plays it all the same.  {RESPONSE_TOLD_BY}"
    )


def history_from_import(found: Imported) -> RecordedHistory:
    """What of an imported history is compared."""
    guessed = tuple(
        f"{each.count:,} {each.in_words}" for each in found.remarks.with_fate("guessed")
    )
    return RecordedHistory(found.recording, found.log, found.begin_ms, guessed)


def recorded_busy(
    history: RecordedHistory, until_ms: Millis, first_ms: Millis = 0, held_on_ms: Millis = 0
) -> tuple[Steps, Steps] | None:
    """How many tasks of each kind ran at once by the history, in which the first job is submitted
    at `first_ms`; None where it does not tell.  Each is counted for `held_on_ms` after its end.
    """
    log = history.log
    if log is None or not (log.timed_rows(KINDS[0]) | log.timed_rows(KINDS[1])).any():
        return None
    found, begin_ms = [], history.begin_ms - first_ms
    for kind in KINDS:
        kept = log.timed_rows(kind)
        begins = np.clip(log.begin_ms[kept] - begin_ms, 0, until_ms)
        ends = np.clip(log.end_ms[kept] - begin_ms + held_on_ms, 0, until_ms)
        found.append(steps(begins, ends, until_ms))
    return found[0], found[1]


_SELDOM_MS = 10_000
"""Nodes that ask for work less often than that delay short jobs by more than they take."""


def rare_heartbeats_note(spec: RunSpec) -> str:
    """What it means that so many nodes ask for work that seldom; empty if they ask often enough, or
    as often as the scenario says.
    """
    cluster = spec.scenario.cluster
    nodes, period_ms = cluster.node_count(), cluster.period_ms()
    if cluster.heartbeat.interval_ms is not None or period_ms < _SELDOM_MS:
        return ""
    return (
        f"a heartbeat comes every {period_ms / 1000:,.0f} s on {nodes:,} nodes (Hadoop's rule):"
        " predictions are too long by that, most of all of short jobs, if nodes asked more often."
        " --set cluster.heartbeat.interval_ms=3000 plays it every 3 s"
    )


def scripted_timeline_note(spec: RunSpec) -> str:
    """That the scenario scripts what the history may not have had; empty if it scripts nothing."""
    timeline = spec.scenario.timeline
    recorded = recorded_entries(timeline)
    scripted = [each for each in timeline if each not in recorded]
    if not scripted:
        return ""
    what = ", ".join(dict.fromkeys(str(each.__struct_config__.tag) for each in scripted))
    leave_out = (
        "Take it out of the file to play the history without it; --no-faults would leave out what"
        " was recorded (trace) as well"
        if recorded
        else "--no-faults plays the history without it"
    )
    return (
        f"what the scenario's timeline scripts is played too ({what}): if it never happened, these"
        f" errors contain what comes of it. {leave_out}"
    )


def unplayed_jobs_note(spec: RunSpec, history: RecordedHistory) -> str:
    """That only the first jobs of the history are played; empty if all are."""
    played, recorded = len(spec.jobs), len(history.recording.jobs)
    if played >= recorded:
        return ""
    return (
        f"only the first {played:,} of {count(recorded, 'job')} are played: these errors contain"
        " what the others did to them"
    )


def partial_load_note(spec: RunSpec, history: RecordedHistory) -> str:
    """What it means that the history shows only a part of the cluster's load; empty if it shows as
    much as the cluster had room for.
    """
    busy = recorded_busy(history, max(history.recording.span_ms, 1))
    if busy is None:
        return ""
    nodes = node_facts(spec.scenario.cluster)
    slots = sum(node.map_slots for node in nodes)
    most = busy[MAP].peak()
    if most > _PART_SHARE * slots:
        return ""
    return (
        f"the history shows at most {most:,} maps at once on {slots:,} map slots: only a part of"
        " the cluster's load, or one that was idle. What else ran is not played, so that jobs wait"
        " for nobody: predictions are too short by the waits that others caused, and policies"
        " hardly differ. With --nodes it is played on fewer, as many as its jobs may have had"
    )
