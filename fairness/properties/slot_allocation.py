"""Properties of who gets the next slot: max-min, envy, what a share is worth to join.

Slots are given away one at a time, so the fluid statements hold up to one slot, and of a decision:
what others' tasks do afterwards nobody can undo without preemption (F3).
"""

from collections.abc import Callable
from fractions import Fraction

import msgspec

from callboard.actors.vocabulary.events import AttemptEnded, AttemptStarted
from callboard.fairness.experiment import Experiment, LaunchDecision, ObservedRun
from callboard.fairness.property import (
    Property,
    PropertyViolated,
    as_seconds,
    completed,
    undisturbed,
)
from callboard.fairness.scenario_family import HOMOGENEOUS, WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.model import PRIORITY_WEIGHTS, JobId, TaskKind

EQUAL_JOBS: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, reduces=True, noise=True, locality_matters=True
)
"""Equal jobs: nothing but what they run tells them apart."""

WEIGHTED_JOBS: ScenarioFamily = msgspec.structs.replace(EQUAL_JOBS, priorities=True)


def _each_decision(
    test: Callable[[ObservedRun, LaunchDecision, JobId], str | None],
) -> Callable[[Experiment], int]:
    """A check of each launch against each other job that wanted the slot too."""

    def check(experiment: Experiment) -> int:
        run, times = completed(experiment.run), 0
        for decision in run.decisions:
            for other in decision.others:
                times += 1
                wrong = test(run, decision, other)
                if wrong is not None:
                    launch, kind = decision.launch, decision.launch.kind.name.lower()
                    raise PropertyViolated(
                        f"at {as_seconds(launch.at_ms)} a {kind} slot of node-{launch.node} went"
                        f' to "{_name(run, launch.job)}", which ran'
                        f' {decision.running[launch.job]}, and not to "{_name(run, other)}",'
                        f" which ran {decision.running[other]}{wrong}"
                    )
        return times

    return check


def _name(run: ObservedRun, job: JobId) -> str:
    return run.jobs[job].name


def _more_than(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:  # noqa: ARG001
    mine, its = decision.running[decision.launch.job], decision.running[other]
    return "" if mine > its else None


def _more_for_its_weight(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    mine, its = (
        Fraction(decision.running[job]) / PRIORITY_WEIGHTS[run.jobs[job].priority]
        for job in (decision.launch.job, other)
    )
    if mine <= its:
        return None
    return f": {float(mine):g} against {float(its):g} for each unit of weight"


def _beyond_the_split(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    kind = decision.launch.kind
    wanting = sum(bool(decision.pending[job] or decision.running[job]) for job in decision.pending)
    split = run.slots(kind) // wanting
    if decision.running[decision.launch.job] < split or decision.running[other] >= split:
        return None
    return f": {run.slots(kind)} slots split among {wanting} are {split} for each"


MAX_MIN = Property(
    name="max-min",
    says="no slot goes to a job that runs more than another that waits for one",
    formula="i is launched while j waits ⇒ a_i − 1 ≤ a_j, a after the launch",
    assumes="equal weights; every task may run on every node; no delay, preemption or copies",
    bound="one slot",
    source="F3",
    check=_each_decision(_more_than),
    family=EQUAL_JOBS,
    misfit=undisturbed,
)

WEIGHTED_MAX_MIN = Property(
    name="weighted-max-min",
    says="no slot goes to a job that runs more for its priority's weight than another that waits",
    formula="i is launched while j waits ⇒ (a_i − 1) / w_i ≤ a_j / w_j",
    assumes="weights 4, 2, 1, ½, ¼ by priority; else as max-min",
    bound="one slot of the one that got it (|a − f| < 1 does not hold with unequal weights)",
    source="F3",
    check=_each_decision(_more_for_its_weight),
    family=WEIGHTED_JOBS,
    misfit=undisturbed,
)

SHARING_INCENTIVE = Property(
    name="sharing-incentive",
    says="nobody would have more of a cluster of its own, 1/n of this one",
    formula="i is launched beyond ⌊m/n⌋ ⇒ every j that waits runs ≥ ⌊m/n⌋",
    assumes="n equal jobs with demand; as max-min",
    bound="⌊m/n⌋ whole slots",
    source="F4; Ghodsi et al., DRF, NSDI 2011, §3",
    check=_each_decision(_beyond_the_split),
    family=EQUAL_JOBS,
    misfit=undisturbed,
)


def _came_later(run: ObservedRun, decision: LaunchDecision, other: JobId) -> str | None:
    mine, its = run.jobs[decision.launch.job], run.jobs[other]
    if (mine.priority, mine.submit_ms, mine.job) < (its.priority, its.submit_ms, its.job):
        return None
    return ", though that is more urgent or came first"


FIRST_COME = Property(
    name="first-come",
    says="no slot goes to a job while one that is more urgent, or as urgent and came first, waits",
    formula="i is launched while j waits ⇒ (priority_i, t_i, i) < (priority_j, t_j, j)",
    assumes="every task may run on every node; no delay, preemption or copies",
    bound="exact",
    source="M11; JobQueueTaskScheduler's order of jobs",
    check=_each_decision(_came_later),
    family=msgspec.structs.replace(WITHOUT_FAULTS, heterogeneous=False),
    misfit=undisturbed,
)


def _envy(experiment: Experiment) -> int:
    run, times = completed(experiment.run), 0
    kind = TaskKind.MAP
    began = {event.attempt: event.at_ms for event in run.all(AttemptStarted)}
    longest = max(e.at_ms - began[e.attempt] for e in run.all(AttemptEnded))
    gap_ms = run.period_ms + run.scenario.cluster.latency_ms
    settled_ms = max(job.submit_ms for job in run.jobs) + longest + 2 * gap_ms
    for look in run.observations:
        running, pending = look.running[kind], look.pending[kind]
        if look.at_ms < settled_ms:
            continue
        for j in (job for job, left in pending.items() if left):
            for i, mine in running.items():
                times += i != j
                if mine - 1 > running[j]:
                    raise PropertyViolated(
                        f'at {as_seconds(look.at_ms)} "{_name(run, j)}" waits with {running[j]}'
                        f' map slots, and "{_name(run, i)}" has {mine}; the last job came'
                        f" {as_seconds(look.at_ms - settled_ms + longest + 2 * gap_ms)} ago"
                    )
    return times


ENVY_FREE = Property(
    name="envy-free",
    says="once the last task from before the last arrival is over, nobody who waits sees another"
    " with two slots more",
    formula="x_j ≥ x_i − 1 for j that waits, from t_last + p_max + 2δ on",
    assumes="equal weights, equal nodes, maps alone; no delay, preemption or copies",
    bound="one slot; p_max + 2δ after the last arrival",
    source="F5, F3; EF1: Parkes, Procaccia, Shah, EC 2012",
    check=_envy,
    family=HOMOGENEOUS,
    misfit=undisturbed,
)

ALLOCATION_PROPERTIES = (FIRST_COME, MAX_MIN, WEIGHTED_MAX_MIN, SHARING_INCENTIVE, ENVY_FREE)
