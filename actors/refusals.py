"""What is said of a fault that an architecture has no answer to, in the words of the timeline."""

from collections.abc import Iterable, Sequence

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.architectures import architectures_knowing_fault
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import faults
from callboard.scheduler.model import Millis, NodeId

ENTRIES: dict[type[faults.Fault], str] = {
    faults.Crash: "crash",
    faults.Restart: "crash",
    faults.PauseNode: "pause",
    faults.ResumeNode: "pause",
    faults.Slow: "slow",
    faults.Drift: "drift",
    faults.Disturb: "link",
    faults.Partition: "split",
    faults.Flaky: "flaky",
    faults.Hang: "hang",
    faults.StickLaunches: "stuck",
    faults.KillJob: "kill-job",
    faults.SetPriority: "priority",
    faults.SetPool: "pool",
    faults.Drain: "drain",
    faults.SwitchPolicy: "policy",
    faults.PauseMaster: "master-pause",
    faults.ResumeMaster: "master-pause",
    faults.RestartMaster: "master-restart",
    faults.CrashScheduler: "scheduler-crash",
    faults.RestartScheduler: "scheduler-crash",
}
"""The entry of a timeline that brings a fault about, or ends it."""


def why_fault_refused(
    architecture: Architecture, each: ScheduledFault, script: Iterable[ScheduledFault]
) -> str:
    """Which entry it has no answer to, and what could be done."""
    who = _architecture_words(architecture)
    what, at_ms = _script_entry(each, script)
    names = architectures_knowing_fault(type(each.fault))
    others = ["a policy of the master" if name == CENTRAL else name for name in names]
    instead = f", or play {_joined_by_or(others)}" if others else ""
    return (
        f"{who} has no answer to `{what}` at {at_ms / 1000:g} s in the timeline; leave it out"
        f" (--no-faults leaves all out){instead}"
    )


def why_unconstrained(architecture: Architecture, job: JobSpec) -> str:
    """That it would run the job's tasks anywhere."""
    types = ", ".join(f'"{each}"' for each in job.only_on)
    return (
        f'{_architecture_words(architecture)} would run the tasks of job "{job.name}" anywhere,'
        f" which may run only on {types} (only_on); take that out, or play `sparrow`"
    )


def _architecture_words(architecture: Architecture) -> str:
    return "the central master" if architecture.name == CENTRAL else f"`{architecture.name}`"


def _script_entry(each: ScheduledFault, script: Iterable[ScheduledFault]) -> tuple[str, Millis]:
    """The word of an entry and its time: nodes that are off from 0 on have been written as `add`
    when they join later.
    """
    fault, word = each.fault, ENTRIES[type(each.fault)]
    if each.at_ms == 0 and isinstance(fault, faults.Crash):
        joins_ms = _joins_ms(fault.node, script)
        return (word, 0) if joins_ms is None else ("add", joins_ms)
    return word, each.at_ms


def _joins_ms(node: NodeId, script: Iterable[ScheduledFault]) -> Millis | None:
    starts = (each.at_ms for each in script if each.fault == faults.Restart(node))
    return next(starts, None)


def _joined_by_or(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
