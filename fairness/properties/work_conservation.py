"""Properties of work: that slots are not left empty, and how soon all of it can be done."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptSuspended,
    JobFinished,
)
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.property import (
    Property,
    PropertyViolated,
    as_seconds,
    completed,
    undisturbed,
    unpreempted,
)
from callboard.fairness.scenario_family import HOMOGENEOUS, WITHOUT_FAULTS
from callboard.scenarios.build import node_facts
from callboard.scenarios.validation import node_count
from callboard.scheduler.locality import Delay, auto_wait_ms
from callboard.scheduler.model import KINDS, Millis, TaskKind


class Gap(NamedTuple):
    """A time in which a slot of the kind was free, a task waited, and nothing was launched."""

    kind: TaskKind
    from_ms: Millis
    to_ms: Millis


def idle_gaps(run: ObservedRun, kind: TaskKind) -> Iterator[Gap]:
    """All such times.  A slot is taken from a launch's decision on, and free when its attempt has
    really ended; what waits is what the master believes to wait.
    """
    since: Millis | None = None
    for at_ms, free, waiting, launched in _moments(run, kind):
        goes_on = free > 0 and waiting > 0
        if since is not None and (launched or not goes_on):
            yield Gap(kind, since, at_ms)
            since = None
        if goes_on and since is None:
            since = at_ms


class _Moment(NamedTuple):
    at_ms: Millis
    free: int
    waiting: int
    launched: bool


def _moments(run: ObservedRun, kind: TaskKind) -> Iterator[_Moment]:
    """Every instant at which something changed, with what held after it."""
    kinds = {e.attempt: e.kind for e in run.all(AttemptLaunched)}
    taken: dict[Millis, int] = {}
    launched: set[Millis] = set()
    for event in run.events:
        match event:
            case AttemptLaunched(kind=of) if of is kind:
                taken[event.at_ms] = taken.get(event.at_ms, 0) + 1
                launched.add(event.at_ms)
            case AttemptEnded(attempt=attempt) | AttemptSuspended(attempt=attempt):
                if kinds[attempt] is kind:
                    taken[event.at_ms] = taken.get(event.at_ms, 0) - 1
            case AttemptResumed(attempt=attempt):
                if kinds[attempt] is kind:
                    taken[event.at_ms] = taken.get(event.at_ms, 0) + 1
                    launched.add(event.at_ms)
    waits: dict[Millis, int] = {}
    for look in run.observations:
        waits[look.at_ms] = sum(look.pending[kind].values())
    held = waiting = 0
    for at_ms in sorted({*taken, *waits}):
        held += taken.get(at_ms, 0)
        waiting = waits.get(at_ms, waiting)
        yield _Moment(at_ms, run.slots(kind) - held, waiting, at_ms in launched)


def longest_delay_ms(run: ObservedRun) -> Millis:
    """How long the policy's locality rule may keep everybody waiting for a map."""
    rule = run.policy.locality
    if not isinstance(rule, Delay):
        return 0
    if rule.params.skips is not None:
        return (rule.params.skips + 1) * run.period_ms
    cluster = run.scenario.cluster
    auto_ms = auto_wait_ms(cluster.heartbeat.period_ms(node_count(cluster)))
    waits = (rule.params.node, rule.params.rack)
    return sum(auto_ms if s is None else round(1000 * s) for s in waits) + run.period_ms


def _work_conserving(experiment: Experiment) -> int:
    run, times = completed(experiment.run), 0
    for kind in KINDS:
        most_ms = run.period_ms + run.scenario.cluster.latency_ms
        most_ms += longest_delay_ms(run) if kind is TaskKind.MAP else 0
        for gap in idle_gaps(run, kind):
            times += 1
            if gap.to_ms - gap.from_ms > most_ms:
                what = kind.name.lower()
                raise PropertyViolated(
                    f"from {as_seconds(gap.from_ms)} to {as_seconds(gap.to_ms)} a {what} slot was"
                    f" free, a {what} waited and none was launched;"
                    f" a heartbeat comes within {as_seconds(most_ms)}"
                )
    return times


WORK_CONSERVING = Property(
    name="work-conserving",
    says="while a slot is free and a task waits, one is launched within a heartbeat",
    formula="free > 0 ∧ waiting > 0 throughout [t, t′] without a launch ⇒ t′ − t ≤ δ",
    assumes="no faults, preemption or copies; a beat may take many tasks",
    bound="δ = H + 3ℓ; with `delay` T1 + T2 (or skips + 1 beats) and H + 2ℓ more for maps",
    source="F1",
    check=_work_conserving,
    family=msgspec.structs.replace(WITHOUT_FAULTS, heartbeat_options=False),
    misfit=unpreempted,
)


def _lower_bound(experiment: Experiment) -> int:
    run = completed(experiment.run)
    fastest = max(node.speed for node in node_facts(run.scenario.cluster))
    ends = {event.job: event for event in run.all(JobFinished)}
    for job in run.jobs.values():
        least = min([1.0, *(factor for _, factor in job.factors)])
        chain = job.map_ms * least / fastest
        chain += job.reduce_ms * least / fastest if job.reduces else 0
        work = job.maps * job.map_ms * least / fastest / run.slots(TaskKind.MAP)
        took = ends[job.job].at_ms - ends[job.job].submitted_ms
        # Tasks take whole milliseconds, at least one each, rounded on nodes of other speeds.
        if took + 2 + job.maps < max(chain, work):
            raise PropertyViolated(
                f'"{job.name}" took {as_seconds(took)}, and cannot take less than {chain / 1000}'
            )
    return len(run.jobs)


LOWER_BOUND = Property(
    name="lower-bound",
    says="no job is faster than its longest chain of tasks, or than its work on the whole cluster",
    formula="T_j ≥ max(map + reduce, S_j / m) at the fastest node's speed",
    assumes="no noise",
    bound="rounding to whole ms",
    source="F17",
    check=_lower_bound,
    family=msgspec.structs.replace(WITHOUT_FAULTS, noise=False),
    universal=True,
)


def _makespan(experiment: Experiment) -> int:
    """Graham's bound with each task p taken for p + δ: its slot waits a beat for the next."""
    run = completed(experiment.run)
    cluster = run.scenario.cluster
    gap_ms = run.period_ms + cluster.latency_ms + 1
    slots = run.slots(TaskKind.MAP)
    work = sum(job.maps * (job.map_ms + gap_ms) for job in run.jobs.values())
    longest = max(job.map_ms for job in run.jobs.values()) + gap_ms
    most = Fraction(work, slots) + Fraction(slots - 1, slots) * longest
    begin = max(job.submit_ms for job in run.jobs.values())
    # The first beats, the last report, and the way from the client to the master and back.
    most += begin + run.period_ms + 4 * cluster.latency_ms
    took = max(event.at_ms for event in run.all(JobFinished))
    if took > most:
        raise PropertyViolated(
            f"all was done at {as_seconds(took)}; Graham's bound is {float(most) / 1000:.3f} s"
        )
    return 1


MAKESPAN = Property(
    name="makespan",
    says="jobs that come together are done within Graham's bound",
    formula="C_max ≤ Σ S / m + (1 − 1/m) p_max, with p + δ for each p",
    assumes="maps alone, all jobs at once, equal nodes; no delay, preemption or copies",
    bound="δ = H + 3ℓ a task, and one beat at the start",
    source="F18; Graham 1969",
    check=_makespan,
    family=msgspec.structs.replace(HOMOGENEOUS, arrivals=False),
    misfit=undisturbed,
)


WORK_PROPERTIES = (WORK_CONSERVING, MAKESPAN, LOWER_BOUND)
