"""Figures of a run that several properties and objectives go by."""

from fractions import Fraction

from callboard.actors.config import node_facts
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import JobFinished
from callboard.fairness.experiment import ObservedRun
from callboard.fairness.property import RunSpoilt
from callboard.scheduler.model import JobId, Millis, SlotKind


def as_seconds(ms: float | Fraction) -> str:
    """A moment or a length of time for people: `1,234.567 s`."""
    return f"{float(ms) / 1000:,.3f} s"


def require_completed(run: ObservedRun) -> ObservedRun:
    """The run itself; RunSpoilt if it did not come to its end, or was given up before."""
    if run.violation is not None:
        raise RunSpoilt.by_rule(run.violation.rule)
    if run.trouble is not None or run.end_event.reason != "complete":
        raise RunSpoilt("the run did not come to its end")
    return run


def job_ends_ms(run: ObservedRun) -> dict[JobId, Millis]:
    """When each job ended."""
    return {event.job: event.at_ms for event in require_completed(run).events_of_type(JobFinished)}


def response_times_ms(run: ObservedRun) -> dict[JobId, Millis]:
    """The response time of each job."""
    return {
        event.job: event.at_ms - event.submitted_ms for event in run.events_of_type(JobFinished)
    }


def least_response_ms(run: ObservedRun, job: JobSpec) -> float:
    """The least that a job could take (F17): its longest chain, or its maps on all slots."""
    fastest = max(node.speed for node in node_facts(run.scenario.cluster))
    chain = job.map_ms + (job.reduce_ms if job.reduces else 0)
    factor = min([1.0, *(factor for _, factor in job.factors)])
    return max(chain, job.maps * job.map_ms / run.slot_count(SlotKind.MAP)) * factor / fastest
