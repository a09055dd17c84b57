"""Properties of when jobs end, against the ideal machine (`scheduler.ideal`): what can be proved of
disciplines there, and what is left of it on slots, where tasks are not interrupted.

Sizes are exact here: an order that learns them is asked with `size = "oracle"` instead.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import JobFinished
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.property import (
    NotApplicable,
    Property,
    PropertyViolated,
    as_seconds,
    completed,
    undisturbed,
)
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.scenarios.scenario_file import make_jobs
from callboard.scheduler import ideal
from callboard.scheduler.model import Millis, TaskKind
from callboard.scheduler.policy import Order, Policy

DISCIPLINE_OF_ORDER = {
    "fifo": "fifo",
    "srpt": "srpt",
    "las": "las",
    "ps": "ps",
    "fsp+fifo": "fsp+fifo",
    "fsp+ps": "fsp+ps",
    "psbs": "psbs",
    "hfsp": "fsp+fifo",
}
"""Orders by name, and the disciplines of the ideal machine that they come to."""

FLUID: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, jobs=4, maps=3, lengths_s=(1.0, 4.0), stream_length=12
)

SAMPLES = 12
"""The ideal machine is stopped and looked at about so often."""

PROMPT_HEARTBEATS: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS,
    nodes=1,
    slots=2,
    jobs=4,
    maps=3,
    lengths_s=(1.0, 4.0),
    prompt=True,
    stream_length=30,
)

AT_ONCE: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, nodes=1, slots=1, jobs=6, arrivals=False, prompt=True
)


class _Fluid(NamedTuple):
    """The jobs of a scenario as the ideal machine takes them, in ms."""

    jobs: Sequence[JobSpec]
    arrivals: list[int]
    sizes: list[int]

    def done(self, discipline: str, speed: int = 1) -> list[Fraction]:
        """When each job is done."""
        ends = ideal.exact(discipline, self.arrivals, self.sizes, speed=speed).done
        return [Fraction(end) for end in ends]

    def left(self, discipline: str, at_ms: Fraction) -> Fraction:
        """All that is left at an instant of what has come by then."""
        left = ideal.exact(discipline, self.arrivals, self.sizes, until=at_ms).left
        came = zip(left, self.arrivals, strict=True)
        return sum((each for each, arrival in came if arrival <= at_ms), Fraction(0))


def _fluid(experiment: Experiment) -> _Fluid:
    jobs = make_jobs(experiment.scenario)
    return _Fluid(jobs, [j.submit_ms for j in jobs], [j.maps * j.map_ms for j in jobs])


def _discipline(experiment: Experiment) -> str:
    return DISCIPLINE_OF_ORDER[experiment.fresh_policy().order.name]


def _no_discipline(policy: Policy) -> str | None:
    name = policy.order.name
    return None if name in DISCIPLINE_OF_ORDER else f"`{name}` has no twin on the ideal machine"


def _ideal_dominance(experiment: Experiment) -> int:
    case, twin = _fluid(experiment), _discipline(experiment)
    pairs = zip(case.jobs, case.done(twin), case.done("ps"), strict=True)
    for job, mine, shared in pairs:
        if mine > shared:
            raise PropertyViolated(
                f'"{job.name}" is done at {as_seconds(mine)} under {twin},'
                f" and at {as_seconds(shared)} if the machine is shared"
            )
    return len(case.jobs)


IDEAL_DOMINANCE = Property(
    name="ideal-dominance",
    says="on the ideal machine no job ends later than if the machine were shared",
    formula="C_j ≤ C_j^PS for every j",
    assumes="one divisible machine, exact sizes, equal weights",
    bound="exact",
    source="F10; Friedman and Henderson 2003; PSBS",
    check=_ideal_dominance,
    family=FLUID,
    misfit=_no_discipline,
)


def _ideal_mean(experiment: Experiment) -> int:
    case, twin = _fluid(experiment), _discipline(experiment)
    mine = case.done(twin)
    for other in sorted(set(DISCIPLINE_OF_ORDER.values()) - {twin}):
        its = case.done(other)
        if sum(mine) > sum(its):
            raise PropertyViolated(
                f"Σ C is {as_seconds(sum(mine))} under {twin},"
                f" and {as_seconds(sum(its))} under {other}"
            )
        for at in sorted({*mine, *its}):
            here, there = (sum(end > at for end in ends) for ends in (mine, its))
            if here > there:
                raise PropertyViolated(
                    f"at {as_seconds(at)} {here} jobs are left under {twin}, {there} under {other}"
                )
    return len(DISCIPLINE_OF_ORDER) - 1


IDEAL_MEAN = Property(
    name="ideal-mean",
    says="on the ideal machine no discipline has a smaller mean response time, or fewer jobs there"
    " at any time",
    formula="Σ T_j ≤ Σ T_j′ and N(t) ≤ N′(t) for all t and every other discipline",
    assumes="one divisible machine, exact sizes",
    bound="exact",
    source="F11; Schrage 1968",
    check=_ideal_mean,
    family=FLUID,
    misfit=_no_discipline,
)


def _ideal_work(experiment: Experiment) -> int:
    case, twin = _fluid(experiment), _discipline(experiment)
    moments = sorted({*case.done("fifo"), *map(Fraction, case.arrivals)})
    for at_ms in moments[:: 1 + len(moments) // SAMPLES]:
        mine, its = case.left(twin, at_ms), case.left("fifo", at_ms)
        if mine != its:
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} {as_seconds(mine)} are left to do,"
                f" and {as_seconds(its)} under fifo"
            )
    return len(moments)


IDEAL_WORK = Property(
    name="ideal-work",
    says="on the ideal machine the work that is left hangs on the arrivals alone",
    formula="V(t) = V^FIFO(t)",
    assumes="one divisible machine, no waste",
    bound="exact",
    source="F2",
    check=_ideal_work,
    family=FLUID,
    misfit=_no_discipline,
)


def with_exact_sizes(policy: Policy) -> Policy:
    """The same parts, whose order goes by true sizes if it goes by sizes at all."""
    order = policy.order
    params: msgspec.Struct | None = getattr(order, "params", None)
    if params is None or "size" not in params.__struct_fields__:
        return policy
    make: type[Order] = type(order)
    truth = {"size": "oracle", **({"sigma": 0.0} if hasattr(params, "sigma") else {})}
    known = make(msgspec.structs.replace(params, **truth))  # type: ignore[call-arg]
    return Policy(known, policy.locality, policy.preemption, policy.speculation)


def _gap_ms(run: ObservedRun) -> Millis:
    return run.period_ms + run.scenario.cluster.latency_ms + 1


def _dominance(experiment: Experiment) -> int:
    case = _fluid(experiment)
    run = completed(experiment.play(policy=with_exact_sizes(experiment.fresh_policy())))
    slots = run.slots(TaskKind.MAP)
    if any(job.maps < slots for job in case.jobs):
        raise NotApplicable("a job has fewer tasks than there are slots")
    longest = max(job.map_ms for job in case.jobs)
    slack = (2 - Fraction(1, slots)) * longest
    slack += _gap_ms(run) * (2 + sum(job.maps for job in case.jobs))
    ends = _ends(run)
    for job, shared in zip(case.jobs, case.done("ps", slots), strict=True):
        if ends[job.job] > shared + slack:
            raise PropertyViolated(
                f'"{job.name}" ended at {as_seconds(ends[job.job])}; under processor sharing it'
                f" would have at {as_seconds(shared)}, and the bound is {as_seconds(slack)} more"
            )
    return len(case.jobs)


DOMINANCE = Property(
    name="dominance",
    says="no job ends much later than if the cluster were shared: the largest is not starved by"
    " smaller ones that keep coming",
    formula="C_j ≤ C_j^PS + (2 − 1/m) p_max + N δ, N tasks in all",
    assumes="exact sizes, jobs with at least m tasks; no delay, preemption or copies",
    bound="(2 − 1/m) p_max, and δ for every task",
    source="F10, F12; Friedman and Henderson 2003",
    check=_dominance,
    family=PROMPT_HEARTBEATS,
    misfit=undisturbed,
)


def _shortest_first(experiment: Experiment) -> int:
    run = completed(experiment.play(policy=with_exact_sizes(experiment.fresh_policy())))
    if run.slots(TaskKind.MAP) > 1:
        raise NotApplicable("there is more than one map slot")
    ends, sizes = _ends(run), [job.maps * job.map_ms for job in run.jobs.values()]
    least = min(sum(_one_by_one(order)) for order in permutations(sizes))
    most = least + len(sizes) * _gap_ms(run) * (2 + sum(job.maps for job in run.jobs.values()))
    total = sum(ends.values())
    if total > most:
        raise PropertyViolated(
            f"the jobs' ends add up to {as_seconds(total)}; {as_seconds(least)} could be"
        )
    return 1


def _one_by_one(sizes: Sequence[Millis]) -> Iterator[Millis]:
    """When each is done if they are served in this order."""
    now_ms = 0
    for size_ms in sizes:
        now_ms += size_ms
        yield now_ms


SHORTEST_FIRST = Property(
    name="shortest-first",
    says="of jobs that come together on one slot, the mean response time is the least there can be",
    formula="Σ C_j ≤ min over all orders of the jobs of Σ C_j + n N δ",
    assumes="one map slot, all jobs at once, exact sizes; compared with every order of the jobs",
    bound="δ for every task and job",
    source="F11, where SRPT is optimal on slots too",
    check=_shortest_first,
    family=AT_ONCE,
    misfit=undisturbed,
)


def _ends(run: ObservedRun) -> dict[int, Millis]:
    return {event.job: event.at_ms for event in run.all(JobFinished)}


SOJOURN_PROPERTIES = (IDEAL_WORK, IDEAL_DOMINANCE, IDEAL_MEAN, DOMINANCE, SHORTEST_FIRST)
