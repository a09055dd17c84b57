"""Properties of shares: what an order says that each job is due (`scheduler.entitlements`).

All jobs have come and none runs; demand is a job's number of maps.  Nothing is played, and shares
are exact fractions, so nothing is allowed for rounding.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

import msgspec

from callboard.actors.books.ledger import Ledger
from callboard.actors.config import Tasks, node_facts
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.fairness.applicability import with_entitlements
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.scenarios.scenario_file import make_jobs
from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.facts import JobArrived
from callboard.scheduler.model import MAPS, JobId, SlotKind
from callboard.scheduler.policy import Policy

ALL_PRESENT: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, priorities=True, arrivals=False, nodes=4
)

ALL_PRESENT_EQUALS: ScenarioFamily = msgspec.structs.replace(ALL_PRESENT, priorities=False)

_axiom = partial(Statement, family=ALL_PRESENT, misfit=with_entitlements)


class _ShareCase:
    """The jobs of an experiment and its map slots, and what each job is due of them."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self.jobs: Sequence[JobSpec] = make_jobs(experiment.scenario)
        self.slots = sum(node.map_slots for node in node_facts(experiment.scenario.cluster))
        self.due = self.shares_due(self.jobs, self.slots)

    def shares_due(self, jobs: Sequence[JobSpec], slots: int) -> Mapping[JobId, Fraction]:
        """What each would be due if the jobs or the slots were these."""
        try:
            return _entitled_shares(self._experiment.fresh_policy(), jobs, slots)
        except Exception as error:
            raise PropertyViolated(
                f"`entitlements` raised {type(error).__name__}: {error}"
            ) from error

    def jobs_with_claimed_maps(self, place: int, maps: int) -> list[JobSpec]:
        """The jobs, one of which says that it has `maps` maps."""
        jobs = list(self.jobs)
        jobs[place] = msgspec.structs.replace(jobs[place], maps=maps)
        return jobs


def _entitled_shares(
    policy: Policy, jobs: Sequence[JobSpec], slots: int
) -> Mapping[JobId, Fraction]:
    """What each job is due of the map slots of one node when all have just come to a master."""
    assert isinstance(policy.order, EntitlingOrder)
    if policy.wants_oracle:
        policy.set_oracle(WorkloadOracle(jobs, Tasks(), 1))
    ledger = Ledger(racks=1, heartbeat_ms=3000)
    ledger.members.join_node(NodeFacts(node=0, rack=0, map_slots=slots, reduce_slots=0, speed=1.0))
    for spec in jobs:
        ledger.submit_stage(_map_stage_submission(spec), NO_CAUSE)
        policy.order.observe(JobArrived(spec.job), ledger)
    entitlements = policy.order.entitlements(SlotKind.MAP, ledger, "job")
    due = {job: each.share for each in entitlements for job in each.jobs}
    return {spec.job: due.get(spec.job, Fraction(0)) for spec in jobs}


def _map_stage_submission(spec: JobSpec) -> msg.SubmitStage:
    """Maps alone, whose blocks are all on node 0."""
    profile = msg.JobProfile(spec.user, spec.pool, spec.priority, (spec.maps, 0))
    blocks = (1, bytes(4 * spec.maps))
    return msg.SubmitStage(spec.job, profile, MAPS, msg.MapWork(0), *blocks)


@_axiom(
    says="a job that is due less than it wants is due no less than any other",
    formula="x_i < d_i ⇒ x_i ≥ x_j",
    assumes="equal weights, no min shares",
    source="F3; Hadoop's computeFairShares, by exact water-filling",
    family=ALL_PRESENT_EQUALS,
)
def max_min_shares(experiment: Experiment) -> int:
    case, times = _ShareCase(experiment), 0
    short = [job for job in case.jobs if case.due[job.job] < job.maps]
    for job in short:
        due = case.due[job.job]
        for other in case.jobs:
            times += job is not other
            if case.due[other.job] > due:
                raise PropertyViolated(
                    f'"{job.name}" wants {job.maps} and is due {due},'
                    f' "{other.name}" is due {case.due[other.job]}'
                )
    return times


@_axiom(
    says="no job could be due more without another being due less",
    formula="Σ x = min(Σ d, m)",
    assumes="min shares that together do not exceed the slots",
    source="F6",
)
def pareto(experiment: Experiment) -> int:
    case = _ShareCase(experiment)
    given = sum(case.due.values())
    most = min(sum(job.maps for job in case.jobs), case.slots)
    if given != most:
        raise PropertyViolated(f"{given} of {case.slots} slots are due to jobs; {most} could be")
    return 1


def _check_none_is_due_less(case: _ShareCase, after: Mapping[JobId, Fraction], change: str) -> None:
    for job in case.jobs:
        due = case.due[job.job]
        if after.get(job.job, due) < due:
            raise PropertyViolated(
                f'"{job.name}" is due {due} of {case.slots} slots, and {after[job.job]} {change}'
            )


@_axiom(
    says="when a job leaves, no other is due less",
    formula="x_i(N ∖ j) ≥ x_i(N)",
    assumes="of shares; not of response times",
    source="F8; DRF",
)
def population_monotone(experiment: Experiment) -> int:
    case = _ShareCase(experiment)
    if len(case.jobs) == 1:
        return 0
    for gone in case.jobs:
        left = [job for job in case.jobs if job is not gone]
        _check_none_is_due_less(case, case.shares_due(left, case.slots), f'without "{gone.name}"')
    return len(case.jobs) * (len(case.jobs) - 1)


@_axiom(
    says="with more slots no job is due less",
    formula="x_i(m + k) ≥ x_i(m)",
    assumes="one resource; of shares, not of response times (`more-nodes`)",
    source="F9",
)
def resource_monotone(experiment: Experiment) -> int:
    case = _ShareCase(experiment)
    for slots in (case.slots + 1, 2 * case.slots):
        _check_none_is_due_less(case, case.shares_due(case.jobs, slots), f"of {slots} slots")
    return 2 * len(case.jobs)


@_axiom(
    says="no job gets more of what it can use by saying that it wants more or less",
    formula="min(x′_i, d_i) ≤ x_i for every d′_i",
    assumes="one resource, one shot; demand is the number of maps",
    source="F7; Sprumont 1991",
)
def truthful(experiment: Experiment) -> int:
    case, times = _ShareCase(experiment), 0
    for place, job in enumerate(case.jobs):
        lies = {1, job.maps // 2, job.maps - 1, job.maps + 1, 2 * job.maps} - {0, job.maps}
        for lie in sorted(lies):
            times += 1
            due = case.shares_due(case.jobs_with_claimed_maps(place, lie), case.slots)[job.job]
            useful = min(due, Fraction(job.maps))
            if useful > case.due[job.job]:
                raise PropertyViolated(
                    f'"{job.name}" has {job.maps} maps and is due {case.due[job.job]} slots;'
                    f" saying that it has {lie} it is due {useful}"
                )
    return times


@_axiom(
    says="no user gets more by cutting a job into two",
    formula="x′_i1 + x′_i2 ≤ x_i",
    assumes="the second half comes right behind all others",
    source="F7, its known failures",
)
def unsplittable(experiment: Experiment) -> int:
    case, times = _ShareCase(experiment), 0
    for place, job in enumerate(case.jobs):
        if job.maps < 2:
            continue
        times += 1
        half = msgspec.structs.replace(job, job=len(case.jobs), maps=job.maps // 2)
        rest = case.jobs_with_claimed_maps(place, job.maps - half.maps)
        split = case.shares_due([*rest, half], case.slots)
        together = split[job.job] + split[half.job]
        if together > case.due[job.job]:
            raise PropertyViolated(
                f'"{job.name}" is due {case.due[job.job]} slots; cut into two jobs {together}'
            )
    return times
