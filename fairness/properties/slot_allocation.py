"""Properties of the choice of the next job: max-min, envy, what a share is worth to join.

Slots are given away one at a time, so the fluid statements hold up to one slot, and of a decision:
what other tasks do afterwards cannot be undone without preemption (F3).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import wraps

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.fairness.applicability import why_order_overruled
from callboard.fairness.experiment import Experiment, LaunchDecision, ObservedRun
from callboard.fairness.figures import as_seconds, require_completed
from callboard.fairness.property import PropertyCheck, PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.model import PRIORITY_WEIGHTS, JobId, SlotKind

EQUAL_JOBS: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, reduces=True, noise=True, locality_matters=True
)
"""Equal jobs: nothing but what they run tells them apart."""

WEIGHTED_JOBS: ScenarioFamily = msgspec.structs.replace(EQUAL_JOBS, priorities=True)


def _check_of_each_decision(
    wrong: Callable[[ObservedRun, LaunchDecision, JobId], str | None],
) -> PropertyCheck:
    """Check each launch against all jobs that wanted the slot; `wrong` says why one was due."""

    @wraps(wrong)
    def check(experiment: Experiment) -> int:
        run, times = require_completed(experiment.run), 0
        for decision in run.launch_decisions:
            for other in decision.other_waiting_jobs:
                times += 1
                more = wrong(run, decision, other)
                if more is not None:
                    raise PropertyViolated(_passed_over_text(run, decision, other) + more)
        return times

    return check


def _passed_over_text(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str:
    launch, kind = decision.launch, decision.launch.kind.name.lower()
    return (
        f"at {as_seconds(launch.at_ms)} a {kind} slot of node-{launch.node} went to"
        f' "{run.jobs[launch.job].name}", which ran {decision.running[launch.job]}, and not to'
        f' "{run.jobs[other].name}", which ran {decision.running[other]}'
    )


@Statement(
    says="no slot goes to a job while one that is more urgent, or as urgent and came first, waits",
    formula="i is launched while j waits ⇒ (priority_i, t_i, i) < (priority_j, t_j, j)",
    assumes="every task may run on every node; no delay, preemption or speculation",
    source="M11; JobQueueTaskScheduler's order of jobs",
    family=msgspec.structs.replace(WITHOUT_FAULTS, heterogeneous=False),
    misfit=why_order_overruled,
)
@_check_of_each_decision
def first_come(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    mine, its = run.jobs[decision.launch.job], run.jobs[other]
    if (mine.priority, mine.submit_ms, mine.job) < (its.priority, its.submit_ms, its.job):
        return None
    return ", though that is more urgent or came first"


@Statement(
    says="no slot goes to a job that runs more than another that waits for one",
    formula="i is launched while j waits ⇒ a_i − 1 ≤ a_j, a after the launch",
    assumes="equal weights; every task may run on every node; no delay, preemption or speculation",
    bound="one slot",
    source="F3",
    family=EQUAL_JOBS,
    misfit=why_order_overruled,
)
@_check_of_each_decision
def max_min(_run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    return "" if decision.running[decision.launch.job] > decision.running[other] else None


@Statement(
    says="no slot goes to a job that runs more for its priority's weight than another that waits",
    formula="i is launched while j waits ⇒ (a_i − 1) / w_i ≤ a_j / w_j",
    assumes="weights 4, 2, 1, ½, ¼ by priority; else as max-min",
    bound="one slot of the one that got it (|a − f| < 1 does not hold with unequal weights)",
    source="F3",
    family=WEIGHTED_JOBS,
    misfit=why_order_overruled,
)
@_check_of_each_decision
def weighted_max_min(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    mine, its = (
        Fraction(decision.running[job]) / PRIORITY_WEIGHTS[run.jobs[job].priority]
        for job in (decision.launch.job, other)
    )
    if mine <= its:
        return None
    return f": {float(mine):g} against {float(its):g} for each unit of weight"


@Statement(
    says="no job would have more of a cluster of its own, 1/n of this one",
    formula="i is launched beyond ⌊m/n⌋ ⇒ every j that waits runs ≥ ⌊m/n⌋",
    assumes="n equal jobs with demand; as max-min",
    bound="⌊m/n⌋ whole slots",
    source="F4; Ghodsi et al., DRF, NSDI 2011, §3",
    family=EQUAL_JOBS,
    misfit=why_order_overruled,
)
@_check_of_each_decision
def sharing_incentive(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    slots = run.slot_count(decision.launch.kind)
    wanting = sum(bool(decision.pending[job] or decision.running[job]) for job in decision.pending)
    split = slots // wanting
    if decision.running[decision.launch.job] < split or decision.running[other] >= split:
        return None
    return f": {slots} slots split among {wanting} are {split} for each"


@Statement(
    says="once the last task from before the last arrival is over, no job that waits sees"
    " another with two slots more",
    formula="x_j ≥ x_i − 1 for j that waits, from t_last + p_max + 2δ on",
    assumes="equal weights, equal nodes, maps alone; no delay, preemption or speculation",
    bound="one slot; p_max + 2δ after the last arrival",
    source="F5, F3; EF1: Parkes, Procaccia, Shah, EC 2012",
    family=HOMOGENEOUS,
    misfit=why_order_overruled,
)
def envy_free(experiment: Experiment) -> int:
    run, times = require_completed(experiment.run), 0
    began = {event.attempt: event.at_ms for event in run.events_of_type(ev.AttemptStarted)}
    longest = max(e.at_ms - began[e.attempt] for e in run.events_of_type(ev.AttemptEnded))
    arrived_ms = max(job.submit_ms for job in run.jobs.values())
    settled_ms = arrived_ms + longest + 2 * run.launch_gap_ms
    for seen in (seen for seen in run.observations if seen.at_ms >= settled_ms):
        running, pending = seen.running[SlotKind.MAP], seen.pending[SlotKind.MAP]
        for envious in (job for job, left in pending.items() if left):
            for other, slots in running.items():
                times += other != envious
                if slots - 1 > running[envious]:
                    raise PropertyViolated(
                        f'at {as_seconds(seen.at_ms)} "{run.jobs[envious].name}" waits with'
                        f' {running[envious]} map slots, and "{run.jobs[other].name}" has {slots};'
                        f" the last job came {as_seconds(seen.at_ms - arrived_ms)} ago"
                    )
    return times
