"""Properties of shares: what an order says that everybody is due (`scheduler.entitlements`).

All jobs have come and none runs; demand is a job's number of maps.  Nothing is played, and shares
are exact fractions, so nothing is allowed for rounding.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import Property, PropertyViolated, without_entitlements
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.fairness.snapshot import fair_shares
from callboard.scenarios.build import node_facts
from callboard.scenarios.scenario_file import make_jobs
from callboard.scheduler.model import JobId

ALL_PRESENT: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, priorities=True, arrivals=False, nodes=4
)

ALL_PRESENT_EQUALS: ScenarioFamily = msgspec.structs.replace(ALL_PRESENT, priorities=False)


class _Case:
    """The jobs of a trial and its map slots, of which one can ask for shares."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self.jobs: Sequence[JobSpec] = make_jobs(experiment.scenario)
        self.slots = sum(node.map_slots for node in node_facts(experiment.scenario.cluster))

    def shares(
        self, jobs: Sequence[JobSpec] | None = None, slots: int | None = None
    ) -> Mapping[JobId, Fraction]:
        """What everybody is due, in a world that may differ."""
        asked = self.jobs if jobs is None else jobs
        try:
            return fair_shares(
                self._experiment.fresh_policy(), asked, self.slots if slots is None else slots
            )
        except Exception as error:
            raise PropertyViolated(f"`claims` raised {type(error).__name__}: {error}") from error

    def changed(self, place: int, maps: int) -> list[JobSpec]:
        """The jobs, one of which says that it has so many maps."""
        jobs = list(self.jobs)
        jobs[place] = msgspec.structs.replace(jobs[place], maps=maps)
        return jobs


def _pareto(experiment: Experiment) -> int:
    case = _Case(experiment)
    given = sum(case.shares().values())
    most = min(sum(job.maps for job in case.jobs), case.slots)
    if given != most:
        raise PropertyViolated(
            f"{_n(given)} of {case.slots} slots are somebody's share; {most} could be"
        )
    return 1


PARETO = Property(
    name="pareto",
    says="nobody could be due more without somebody else being due less",
    formula="Σ x = min(Σ d, m)",
    assumes="min shares that together do not exceed the slots",
    bound="exact",
    source="F6",
    check=_pareto,
    family=ALL_PRESENT,
    misfit=without_entitlements,
)


def _max_min_shares(experiment: Experiment) -> int:
    case = _Case(experiment)
    due, times = case.shares(), 0
    for job in case.jobs:
        for other in case.jobs:
            if due[job.job] < job.maps:
                times += job is not other
                if due[other.job] > due[job.job]:
                    raise PropertyViolated(
                        f'"{job.name}" wants {job.maps} and is due {_n(due[job.job])},'
                        f' "{other.name}" is due {_n(due[other.job])}'
                    )
    return times


MAX_MIN_SHARES = Property(
    name="max-min-shares",
    says="who is due less than it wants is due no less than anybody else",
    formula="x_i < d_i ⇒ x_i ≥ x_j",
    assumes="equal weights, no min shares",
    bound="exact",
    source="F3; Hadoop's computeFairShares, by exact water-filling",
    check=_max_min_shares,
    family=ALL_PRESENT_EQUALS,
    misfit=without_entitlements,
)


def _truthful(experiment: Experiment) -> int:
    case = _Case(experiment)
    honest, times = case.shares(), 0
    for place, job in enumerate(case.jobs):
        for lie in sorted({1, job.maps // 2, job.maps - 1, job.maps + 1, 2 * job.maps}):
            if lie < 1 or lie == job.maps:
                continue
            times += 1
            gained = min(case.shares(case.changed(place, lie))[job.job], Fraction(job.maps))
            if gained > honest[job.job]:
                raise PropertyViolated(
                    f'"{job.name}" has {job.maps} maps and is due {_n(honest[job.job])} slots;'
                    f" saying that it has {lie} it is due {_n(gained)}"
                )
    return times


TRUTHFUL = Property(
    name="truthful",
    says="nobody gets more of what it can use by saying that it wants more or less",
    formula="min(x′_i, d_i) ≤ x_i for every d′_i",
    assumes="one resource, one shot; demand is the number of maps",
    bound="exact",
    source="F7; Sprumont 1991",
    check=_truthful,
    family=ALL_PRESENT,
    misfit=without_entitlements,
)


def _unsplittable(experiment: Experiment) -> int:
    case = _Case(experiment)
    honest, times = case.shares(), 0
    for place, job in enumerate(case.jobs):
        if job.maps < 2:
            continue
        times += 1
        half = msgspec.structs.replace(job, job=len(case.jobs), maps=job.maps // 2)
        rest = case.changed(place, job.maps - half.maps)
        split = case.shares([*rest, half])
        together = split[job.job] + split[half.job]
        if together > honest[job.job]:
            raise PropertyViolated(
                f'"{job.name}" is due {_n(honest[job.job])} slots; cut into two jobs {_n(together)}'
            )
    return times


UNSPLITTABLE = Property(
    name="unsplittable",
    says="nobody gets more by cutting a job into two",
    formula="x′_i1 + x′_i2 ≤ x_i",
    assumes="the second half comes right behind all others",
    bound="exact",
    source="F7, its known failures",
    check=_unsplittable,
    family=ALL_PRESENT,
    misfit=without_entitlements,
)


def _population(experiment: Experiment) -> int:
    case = _Case(experiment)
    before, times = case.shares(), 0
    if len(case.jobs) == 1:
        return 0
    for place, gone in enumerate(case.jobs):
        left = [job for n, job in enumerate(case.jobs) if n != place]
        after = case.shares(left)
        for job in left:
            times += 1
            if after[job.job] < before[job.job]:
                raise PropertyViolated(
                    f'"{job.name}" is due {_n(before[job.job])} slots, and without'
                    f' "{gone.name}" {_n(after[job.job])}'
                )
    return times


POPULATION_MONOTONE = Property(
    name="population-monotone",
    says="when somebody leaves, nobody else is due less",
    formula="x_i(N ∖ j) ≥ x_i(N)",
    assumes="of shares; not of response times",
    bound="exact",
    source="F8; DRF",
    check=_population,
    family=ALL_PRESENT,
    misfit=without_entitlements,
)


def _resource(experiment: Experiment) -> int:
    case = _Case(experiment)
    before = case.shares()
    for more in (1, case.slots):
        after = case.shares(slots=case.slots + more)
        for job in case.jobs:
            if after[job.job] < before[job.job]:
                raise PropertyViolated(
                    f'"{job.name}" is due {_n(before[job.job])} of {case.slots} slots, and'
                    f" {_n(after[job.job])} of {case.slots + more}"
                )
    return 2 * len(case.jobs)


RESOURCE_MONOTONE = Property(
    name="resource-monotone",
    says="with more slots nobody is due less",
    formula="x_i(m + k) ≥ x_i(m)",
    assumes="one resource; of shares, not of response times (`more-nodes`)",
    bound="exact",
    source="F9",
    check=_resource,
    family=ALL_PRESENT,
    misfit=without_entitlements,
)


def _n(number: Fraction | int) -> str:
    return str(number)


SHARE_PROPERTIES = (
    MAX_MIN_SHARES,
    PARETO,
    POPULATION_MONOTONE,
    RESOURCE_MONOTONE,
    TRUTHFUL,
    UNSPLITTABLE,
)
