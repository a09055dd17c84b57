"""In what one policy may look worse than another: numbers of a run, the larger the worse."""

from collections.abc import Callable, Mapping

from callboard.actors.vocabulary.events import AttemptEnded, JobFinished, Outcome
from callboard.fairness.experiment import ObservedRun
from callboard.scenarios.build import node_facts
from callboard.scheduler.model import JobId, Millis, TaskKind

Objective = Callable[[ObservedRun, ObservedRun], float]
"""By how much the first run is worse than the second: a ratio, or a difference of shares."""


def response_times_ms(run: ObservedRun) -> dict[JobId, Millis]:
    """The response time of each job."""
    return {event.job: event.at_ms - event.submitted_ms for event in run.all(JobFinished)}


def least_response_ms(run: ObservedRun, job: JobId) -> float:
    """The least that a job could take (F17): its longest chain, or its maps on all slots."""
    spec = run.jobs[job]
    fastest = max(node.speed for node in node_facts(run.scenario.cluster))
    chain = spec.map_ms + (spec.reduce_ms if spec.reduces else 0)
    return max(chain, spec.maps * spec.map_ms / run.slots(TaskKind.MAP)) / fastest


def _max_slowdown(run: ObservedRun) -> float:
    return max(ms / least_response_ms(run, job) for job, ms in response_times_ms(run).items())


def _mean_response(run: ObservedRun) -> float:
    responses = response_times_ms(run)
    return sum(responses.values()) / len(responses)


def longest_wait_ms(run: ObservedRun) -> Millis:
    """The longest time that a job had something to launch and nothing running."""
    since: dict[JobId, Millis] = {}
    longest = 0
    for look in run.observations:
        pending = [sum(each.get(job, 0) for each in look.pending) for job in look.pending[0]]
        for job, left in zip(look.pending[0], pending, strict=True):
            waits = left and not any(each.get(job, 0) for each in look.running)
            if not waits:
                longest = max(longest, look.at_ms - since.pop(job, look.at_ms))
            else:
                since.setdefault(job, look.at_ms)
    return longest


def _wasted(run: ObservedRun) -> float:
    """The share of held slot time that came to nothing."""
    held = wasted = 0
    for event in run.all(AttemptEnded):
        ran_ms = event.at_ms - event.started_ms - event.suspended_ms
        held += ran_ms
        wasted += ran_ms if event.outcome is not Outcome.SUCCEEDED else 0
    return wasted / max(held, 1)


def _ratio(of: Callable[[ObservedRun], float]) -> Objective:
    return lambda mine, its: of(mine) / max(of(its), 1e-9)


def _unfairness(mine: ObservedRun, its: ObservedRun) -> float:
    other: Mapping[JobId, Millis] = response_times_ms(its)
    return max(ms / max(other[job], 1) for job, ms in response_times_ms(mine).items())


def _starvation(mine: ObservedRun, its: ObservedRun) -> float:
    beat_ms = mine.period_ms
    return (longest_wait_ms(mine) + beat_ms) / (longest_wait_ms(its) + beat_ms)


OBJECTIVES: Mapping[str, tuple[str, Objective]] = {
    "max slowdown": (
        "the largest T_j / (the least it could take), over the other's largest",
        _ratio(_max_slowdown),
    ),
    "starvation time": (
        "the longest wait with nothing running, over the other's, a beat added to both",
        _starvation,
    ),
    "unfairness": ("the largest T_j over the same job's T_j under the other", _unfairness),
    "wasted work": (
        "the share of held slot time that came to nothing, less the other's",
        lambda mine, its: _wasted(mine) - _wasted(its),
    ),
    "mean response ratio": ("the mean T over the other's mean T", _ratio(_mean_response)),
}
"""What can be hunted for: what it means, and the number."""
