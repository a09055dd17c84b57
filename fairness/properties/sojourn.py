"""Properties of when jobs end, against the ideal machine (`scheduler.ideal`): what can be proved of
disciplines there, and what is left of it on slots, where tasks are not interrupted.

Sizes are exact here: an order that learns them is asked with `size = "oracle"` instead.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

import msgspec

from callboard.actors.events import JobFinished
from callboard.actors.jobs import JobSpec
from callboard.fairness.property import Broken, Property, SaysNothing, moment, undisturbed, whole
from callboard.fairness.trial import Run, Trial
from callboard.fairness.worlds import PLAIN, Worlds
from callboard.scenarios.spec import make_jobs
from callboard.scheduler import ideal
from callboard.scheduler.model import Millis, TaskKind
from callboard.scheduler.policy import Order, Policy

TWINS = {
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

FLUID: Worlds = msgspec.structs.replace(PLAIN, jobs=4, maps=3, lengths_s=(1.0, 4.0), streams=12)

LOOKS = 12
"""The ideal machine is stopped and looked at about so often."""

PROMPT: Worlds = msgspec.structs.replace(
    PLAIN, nodes=1, slots=2, jobs=4, maps=3, lengths_s=(1.0, 4.0), prompt=True, streams=30
)

AT_ONCE: Worlds = msgspec.structs.replace(
    PLAIN, nodes=1, slots=1, jobs=6, arrivals=False, prompt=True
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


def _fluid(trial: Trial) -> _Fluid:
    jobs = make_jobs(trial.scenario)
    return _Fluid(jobs, [j.submit_ms for j in jobs], [j.maps * j.map_ms for j in jobs])


def _twin(trial: Trial) -> str:
    return TWINS[trial.make().order.name]


def _no_twin(policy: Policy) -> str | None:
    name = policy.order.name
    return None if name in TWINS else f"`{name}` has no twin on the ideal machine"


def _ideal_dominance(trial: Trial) -> int:
    case, twin = _fluid(trial), _twin(trial)
    pairs = zip(case.jobs, case.done(twin), case.done("ps"), strict=True)
    for job, mine, shared in pairs:
        if mine > shared:
            raise Broken(
                f'"{job.name}" is done at {moment(mine)} under {twin}, and at {moment(shared)}'
                " if the machine is shared"
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
    worlds=FLUID,
    misfit=_no_twin,
)


def _ideal_mean(trial: Trial) -> int:
    case, twin = _fluid(trial), _twin(trial)
    mine = case.done(twin)
    for other in sorted(set(TWINS.values()) - {twin}):
        its = case.done(other)
        if sum(mine) > sum(its):
            raise Broken(
                f"Σ C is {moment(sum(mine))} under {twin}, and {moment(sum(its))} under {other}"
            )
        for at in sorted({*mine, *its}):
            here, there = (sum(end > at for end in ends) for ends in (mine, its))
            if here > there:
                raise Broken(
                    f"at {moment(at)} {here} jobs are left under {twin}, {there} under {other}"
                )
    return len(TWINS) - 1


IDEAL_MEAN = Property(
    name="ideal-mean",
    says="on the ideal machine no discipline has a smaller mean response time, or fewer jobs there"
    " at any time",
    formula="Σ T_j ≤ Σ T_j′ and N(t) ≤ N′(t) for all t and every other discipline",
    assumes="one divisible machine, exact sizes",
    bound="exact",
    source="F11; Schrage 1968",
    check=_ideal_mean,
    worlds=FLUID,
    misfit=_no_twin,
)


def _ideal_work(trial: Trial) -> int:
    case, twin = _fluid(trial), _twin(trial)
    moments = sorted({*case.done("fifo"), *map(Fraction, case.arrivals)})
    for at_ms in moments[:: 1 + len(moments) // LOOKS]:
        mine, its = case.left(twin, at_ms), case.left("fifo", at_ms)
        if mine != its:
            raise Broken(
                f"at {moment(at_ms)} {moment(mine)} are left to do, and {moment(its)} under fifo"
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
    worlds=FLUID,
    misfit=_no_twin,
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


def _gap_ms(run: Run) -> Millis:
    return run.period_ms + run.scenario.cluster.latency_ms + 1


def _dominance(trial: Trial) -> int:
    case = _fluid(trial)
    run = whole(trial.play(policy=with_exact_sizes(trial.make())))
    slots = run.slots(TaskKind.MAP)
    if any(job.maps < slots for job in case.jobs):
        raise SaysNothing("a job has fewer tasks than there are slots")
    longest = max(job.map_ms for job in case.jobs)
    slack = (2 - Fraction(1, slots)) * longest
    slack += _gap_ms(run) * (2 + sum(job.maps for job in case.jobs))
    ends = _ends(run)
    for job, shared in zip(case.jobs, case.done("ps", slots), strict=True):
        if ends[job.job] > shared + slack:
            raise Broken(
                f'"{job.name}" ended at {moment(ends[job.job])}; under processor sharing it'
                f" would have at {moment(shared)}, and the bound is {moment(slack)} more"
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
    worlds=PROMPT,
    misfit=undisturbed,
)


def _shortest_first(trial: Trial) -> int:
    run = whole(trial.play(policy=with_exact_sizes(trial.make())))
    if run.slots(TaskKind.MAP) > 1:
        raise SaysNothing("there is more than one map slot")
    ends, sizes = _ends(run), [job.maps * job.map_ms for job in run.jobs]
    least = min(sum(_one_by_one(order)) for order in permutations(sizes))
    most = least + len(sizes) * _gap_ms(run) * (2 + sum(job.maps for job in run.jobs))
    total = sum(ends.values())
    if total > most:
        raise Broken(f"the jobs' ends add up to {moment(total)}; {moment(least)} could be")
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
    worlds=AT_ONCE,
    misfit=undisturbed,
)


def _ends(run: Run) -> dict[int, Millis]:
    return {event.job: event.at_ms for event in run.all(JobFinished)}


PROPERTIES = (IDEAL_WORK, IDEAL_DOMINANCE, IDEAL_MEAN, DOMINANCE, SHORTEST_FIRST)
