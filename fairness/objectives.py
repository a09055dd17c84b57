"""By what one policy may look worse than another: numbers of a run, the larger the worse."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary.events import AttemptEnded, Outcome
from callboard.fairness.experiment import ObservedRun
from callboard.fairness.figures import least_response_ms, response_times_ms
from callboard.fairness.properties.repeated_victims import MOVING_RANKS, victims_of
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.reasons import JobClaimant

Objective = Callable[[ObservedRun, ObservedRun], float]
"""By how much the first run is worse than the second: a ratio, or a difference of shares."""


def _max_slowdown(run: ObservedRun) -> float:
    responses = response_times_ms(run).items()
    return max(ms / least_response_ms(run, run.jobs[job]) for job, ms in responses)


def _mean_response(run: ObservedRun) -> float:
    responses = response_times_ms(run)
    return sum(responses.values()) / len(responses)


def longest_wait_ms(run: ObservedRun) -> Millis:
    """The longest time that a job had something to launch and nothing running."""
    since: dict[JobId, Millis] = {}
    longest = 0
    for seen in run.observations:
        for job in seen.pending[0]:
            pending, running = (
                sum(each.get(job, 0) for each in counts) for counts in (seen.pending, seen.running)
            )
            if pending and not running:
                since.setdefault(job, seen.at_ms)
            else:
                longest = max(longest, seen.at_ms - since.pop(job, seen.at_ms))
    return longest


def _wasted_slot_share(run: ObservedRun) -> float:
    held = wasted = 0
    for event in run.events_of_type(AttemptEnded):
        ran_ms = event.at_ms - event.started_ms - event.suspended_ms
        held += ran_ms
        wasted += ran_ms if event.outcome is not Outcome.SUCCEEDED else 0
    return wasted / max(held, 1)


def most_mutual_preemptions(run: ObservedRun) -> int:
    """How often two jobs took slots from each other by turns, at the most; 0 where nobody takes
    back what was taken.
    """
    last: dict[frozenset[JobId], JobId] = {}
    turns: Counter[frozenset[JobId]] = Counter()
    for victim in victims_of(run):
        if isinstance(victim.beneficiary, JobClaimant):
            mine = victim.launch.job
            pair = frozenset((mine, victim.beneficiary.job))
            turns[pair] += last.get(pair, mine) != mine
            last[pair] = mine
    return max(turns.values(), default=0)


def blocked_user_share(run: ObservedRun) -> float:
    """The share of users who have something to launch and nothing running, on average over time,
    of those who have something to launch or to run.
    """
    blocked_ms = there_ms = 0
    for seen, following in pairwise(run.observations):
        waiting, running = (
            {run.jobs[job].user for counts in both for job, number in counts.items() if number}
            for both in (seen.pending, seen.running)
        )
        passed_ms = following.at_ms - seen.at_ms
        blocked_ms += passed_ms * len(waiting - running)
        there_ms += passed_ms * len(waiting | running)
    return blocked_ms / max(there_ms, 1)


def _ratio_of_figures(of: Callable[[ObservedRun], float]) -> Objective:
    return lambda mine, its: of(mine) / max(of(its), 1e-9)


def _greatest_response_ratio(mine: ObservedRun, its: ObservedRun) -> float:
    others = response_times_ms(its)
    return max(ms / max(others[job], 1) for job, ms in response_times_ms(mine).items())


def _longest_wait_ratio(mine: ObservedRun, its: ObservedRun) -> float:
    period_ms = mine.heartbeat_round_ms
    return (longest_wait_ms(mine) + period_ms) / (longest_wait_ms(its) + period_ms)


HUNT_FAMILY: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, jobs=6, reduces=True, lengths_s=(1.0, 4.0, 10.0, 30.0, 99.0), stream_length=10
)
"""What is hunted in: nothing goes wrong, and tasks take what they say."""


class HuntedFigure(NamedTuple):
    """What a hunt is for: in words, as a number, what that is where both are as good, among which
    scenarios it is begun, and the option with which `callboard run` shows it.
    """

    says: str
    worse: Objective
    alike: float = 0.0
    family: ScenarioFamily = HUNT_FAMILY
    shown_by: str = ""


OBJECTIVES: Mapping[str, HuntedFigure] = {
    "max slowdown": HuntedFigure(
        "the greatest slowdown (response time over the least possible), divided by the other"
        " policy's",
        _ratio_of_figures(_max_slowdown),
        alike=1.0,
        shown_by="--slowdown",
    ),
    "starvation time": HuntedFigure(
        "the longest wait with nothing running, divided by the other policy's, a heartbeat added"
        " to both",
        _longest_wait_ratio,
        alike=1.0,
    ),
    "unfairness": HuntedFigure(
        "the greatest ratio of a job's response time to that under the other policy",
        _greatest_response_ratio,
        alike=1.0,
    ),
    "wasted work": HuntedFigure(
        "the share of held slot time that came to nothing, less the other policy's",
        lambda mine, its: _wasted_slot_share(mine) - _wasted_slot_share(its),
    ),
    "flapping": HuntedFigure(
        "how often two jobs take slots from each other by turns, less that under the other policy",
        lambda mine, its: float(most_mutual_preemptions(mine) - most_mutual_preemptions(its)),
        family=MOVING_RANKS,
    ),
    "blocked users": HuntedFigure(
        "the share of users that wait with nothing running, over time, less the other policy's",
        lambda mine, its: blocked_user_share(mine) - blocked_user_share(its),
    ),
    "mean response ratio": HuntedFigure(
        "the mean response time, divided by the other policy's",
        _ratio_of_figures(_mean_response),
        alike=1.0,
    ),
}
"""What can be hunted for: its meaning, and the number."""
