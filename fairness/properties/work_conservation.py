"""Properties of work: that slots are not left empty, and how soon all of it can be done."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.fairness import figures
from callboard.fairness.applicability import why_order_overruled, why_preempts_or_speculates
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.figures import as_seconds, require_completed
from callboard.fairness.property import PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, WITHOUT_FAULTS
from callboard.journal.checks.delay_scheduling import delay_waits_ms
from callboard.scheduler.locality import Delay
from callboard.scheduler.model import KINDS, Millis, SlotKind
from callboard.scheduler.policy import AnyLocality, Policy


class Gap(NamedTuple):
    """A time in which a slot of the kind was free, a task waited, and nothing was launched."""

    from_ms: Millis
    to_ms: Millis


def idle_gaps(run: ObservedRun, kind: SlotKind) -> Iterator[Gap]:
    """All such times of a run without preemption: a slot is taken from the decision to launch until
    its attempt has really ended; the waiting tasks are those that the master believes to wait.
    """
    launches = [event for event in run.events_of_type(ev.AttemptLaunched) if event.kind is kind]
    attempts = {launch.attempt for launch in launches}
    launched = Counter(launch.at_ms for launch in launches)
    ended = Counter(e.at_ms for e in run.events_of_type(ev.AttemptEnded) if e.attempt in attempts)
    waits = {seen.at_ms: sum(seen.pending[kind].values()) for seen in run.observations}
    free, waiting = run.slot_count(kind), 0
    since: Millis | None = None
    for at_ms in sorted({*launched, *ended, *waits}):
        free += ended[at_ms] - launched[at_ms]
        waiting = waits.get(at_ms, waiting)
        goes_on = free > 0 and waiting > 0
        if since is not None and (launched[at_ms] or not goes_on):
            yield Gap(since, at_ms)
            since = None
        if goes_on and since is None:
            since = at_ms


def longest_delay_ms(run: ObservedRun) -> Millis:
    """How long the policy's locality rule may keep all jobs waiting for a map."""
    rule = run.policy.locality
    if not isinstance(rule, Delay):
        return 0
    if rule.params.skips is not None:
        return (rule.params.skips + 1) * run.heartbeat_round_ms
    cluster = run.scenario.cluster
    return sum(delay_waits_ms(rule.params, cluster.period_ms())) + run.heartbeat_round_ms


def _why_delay_is_unknown(policy: Policy) -> str | None:
    """Speaks of policies whose locality rule says how long it may keep jobs waiting."""
    rule = policy.locality
    own = f"how long jobs may be passed over by `{rule.name}` is known to it alone"
    return why_preempts_or_speculates(policy) or (
        None if type(rule) in (AnyLocality, Delay) else own
    )


@Statement(
    says="while a slot is free and a task waits, one is launched within a heartbeat",
    formula="free > 0 ∧ waiting > 0 throughout [t, t′] without a launch ⇒ t′ − t ≤ δ",
    assumes="no faults, preemption or speculation; a heartbeat may take many tasks",
    bound="δ = H + 3ℓ; with `delay` T1 + T2 (or skips + 1 heartbeats) and H + 2ℓ more for maps",
    source="F1",
    family=msgspec.structs.replace(WITHOUT_FAULTS, heartbeat_options=False),
    misfit=_why_delay_is_unknown,
)
def work_conserving(experiment: Experiment) -> int:
    run, times = require_completed(experiment.run), 0
    for kind in KINDS:
        delay_ms = longest_delay_ms(run) if kind is SlotKind.MAP else 0
        most_ms = run.launch_gap_ms + delay_ms
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


@Statement(
    says="jobs that come together are done within Graham's bound",
    formula="C_max ≤ Σ S / m + (1 − 1/m) p_max, with p + ℓ + δ for each p",
    assumes="maps alone, all jobs at once, equal nodes; no delay, preemption or speculation",
    bound="ℓ + δ = H + 4ℓ a task, and one heartbeat at the start",
    source="F18; Graham 1969",
    family=msgspec.structs.replace(HOMOGENEOUS, arrivals=False),
    misfit=why_order_overruled,
)
def makespan(experiment: Experiment) -> int:
    """Each task p counts as ℓ + p + δ: its launch is under way, and then its slot waits a heartbeat
    for the next.
    """
    run = require_completed(experiment.run)
    gap_ms = run.scenario.cluster.latency_ms + run.launch_gap_ms + 1
    slots = run.slot_count(SlotKind.MAP)
    work = sum(job.maps * (job.map_ms + gap_ms) for job in run.jobs.values())
    longest = max(job.map_ms for job in run.jobs.values()) + gap_ms
    most = Fraction(work, slots) + Fraction(slots - 1, slots) * longest
    # The first heartbeats, the last report, and the way from the client to the master and back.
    most += max(job.submit_ms for job in run.jobs.values())
    most += run.heartbeat_round_ms + 4 * run.scenario.cluster.latency_ms
    took = max(figures.job_ends_ms(run).values())
    if took > most:
        raise PropertyViolated(
            f"all was done at {as_seconds(took)}; Graham's bound is {as_seconds(most)}"
        )
    return 1


@Statement(
    says="no job is faster than its longest chain of tasks, or than its work on the whole cluster",
    formula="T_j ≥ max(map + reduce, S_j / m) at the fastest node's speed",
    assumes="no noise",
    bound="rounding to whole ms",
    source="F17",
    family=msgspec.structs.replace(WITHOUT_FAULTS, noise=False),
    universal=True,
    architectures=None,
)
def lower_bound(experiment: Experiment) -> int:
    run = require_completed(experiment.run)
    responses = figures.response_times_ms(run)
    for job in run.jobs.values():
        took, least = responses[job.job], figures.least_response_ms(run, job)
        # Tasks take whole milliseconds, at least one each, rounded on nodes of other speeds.
        if took + 2 + job.maps < least:
            raise PropertyViolated(
                f'"{job.name}" took {as_seconds(took)}, and cannot take less than'
                f" {as_seconds(least)}"
            )
    return len(run.jobs)
