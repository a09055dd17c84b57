"""Properties of preemption over time: whether the same give way again and again, two jobs take from
each other, and chance decides how many give way.

Users of other schedulers ask for these (YARN's "preemption ping-pong").  What a rule promises of
them by its own statement is in docs/preemption.md.
"""

from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.figures import as_seconds, require_completed
from callboard.fairness.properties.preempting import LONG_TASKS
from callboard.fairness.property import PropertyViolated, Statement
from callboard.fairness.scenario_family import ScenarioFamily
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler.model import AttemptId, Millis
from callboard.scheduler.policy import AnyLocality, NoPreemption, Policy
from callboard.scheduler.reasons import Claimant, JobClaimant

TIE_ORDERS = (1, 2)
"""The orders of simultaneous messages that a run is compared under."""


MOVING_RANKS: ScenarioFamily = msgspec.structs.replace(
    LONG_TASKS, nodes=2, slots=4, min_slots=2, priorities=True, heartbeat_options=True
)
"""Jobs of any priority come while others run; nodes' heartbeats may come at one instant."""


def why_not_preempting(policy: Policy) -> str | None:
    """Speaks of policies that preempt, and give the slot to the job for which it was taken."""
    if isinstance(policy.preemption, NoPreemption):
        return "nothing is preempted"
    if policy.speculates:
        return "speculative attempts take slots too"
    if type(policy.locality) is not AnyLocality:
        return "a job may refuse the slot that was taken for it"
    return None


class Victim(NamedTuple):
    """An attempt that was told to give way, when, and for which claimant."""

    at_ms: Millis
    launch: ev.AttemptLaunched
    beneficiary: Claimant


def victims_of(run: ObservedRun) -> list[Victim]:
    """All that gave way to another job or pool, in order."""
    launches: dict[AttemptId, ev.AttemptLaunched] = {}
    found: list[Victim] = []
    for event in require_completed(run).events:
        match event:
            case ev.AttemptLaunched():
                launches[event.attempt] = event
            case ev.KillOrdered() | ev.SuspendOrdered() if event.why.beneficiary is not None:
                victim = Victim(event.at_ms, launches[event.attempt], event.why.beneficiary)
                found.append(victim)
    return found


@Statement(
    says="no task gives way twice for the same job or pool",
    formula="victims of task i for claimant j ≤ 1",
    assumes="maps alone, equal nodes, no faults, delay or speculation",
    source="M13; YARN's preemption ping-pong",
    family=MOVING_RANKS,
    misfit=why_not_preempting,
)
def victim_once(experiment: Experiment) -> int:
    seen: set[tuple[int, int, Claimant]] = set()
    victims = victims_of(experiment.run)
    for at_ms, launch, beneficiary in victims:
        address = launch.job, launch.task, beneficiary
        if address in seen:
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} map {launch.task} of job-{launch.job} gives way to"
                f" {claimant_name(beneficiary)} for the second time"
            )
        seen.add(address)
    return len(victims)


@Statement(
    says="two jobs do not take slots from each other, unless another has come in between",
    formula="i gives way for j at t, j for i at t′ > t ⇒ a job comes in (t, t′]",
    assumes="maps alone, equal nodes, no faults, delay or speculation",
    source="M13; YARN's preemption ping-pong",
    family=MOVING_RANKS,
    misfit=why_not_preempting,
)
def no_ping_pong(experiment: Experiment) -> int:
    victims = victims_of(experiment.run)
    arrivals = [event.at_ms for event in experiment.run.events_of_type(ev.JobSubmitted)]
    taken: dict[tuple[int, int], Millis] = {}
    for at_ms, launch, beneficiary in victims:
        if not isinstance(beneficiary, JobClaimant):
            continue
        mine, its = launch.job, beneficiary.job
        since_ms = taken.get((its, mine))
        if since_ms is not None and not any(since_ms < each <= at_ms for each in arrivals):
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} job-{mine} gives way to job-{its}, which gave way to it at"
                f" {as_seconds(since_ms)}; no job has come since"
            )
        taken[mine, its] = at_ms
    return len(victims)


@Statement(
    says="in whatever order simultaneous messages are answered, few more give way: no more than one"
    " for each job",
    formula="victims(other ties) ≤ victims + n",
    assumes="maps alone, equal nodes, no faults, delay or speculation",
    bound="one attempt for each job",
    source="M13",
    family=MOVING_RANKS,
    misfit=why_not_preempting,
)
def victims_and_ties(experiment: Experiment) -> int:
    usual = len(victims_of(experiment.run))
    most = usual + len(experiment.run.jobs)
    for order in TIE_ORDERS:
        others = len(victims_of(experiment.play(tie_order=order)))
        if others > most:
            raise PropertyViolated(
                f"{others} attempts give way with ties in the order {order}, and {usual} else"
            )
    return usual
