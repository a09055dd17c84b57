"""Properties of when jobs end, against the ideal machine (`scheduler.ideal`): what can be proved of
disciplines there, and what is left of it on slots, where tasks are not interrupted.

Sizes are exact here: an order that learns them is asked with `size = "oracle"` instead.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, permutations

import msgspec

from callboard.fairness.applicability import why_order_overruled
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.figures import as_seconds, job_ends_ms, require_completed
from callboard.fairness.property import NotApplicable, PropertyViolated, Statement
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.fairness.variants import policy_with_parts
from callboard.scenarios.scenario_file import make_jobs
from callboard.scheduler import ideal
from callboard.scheduler.ideal.age_loop import AgeRanks
from callboard.scheduler.model import Millis, SlotKind
from callboard.scheduler.policy import Order, Policy

DISCIPLINE_OF_ORDER: Mapping[str, str] = {
    **{name: name for name in ("fifo", "srpt", "psjf", "sjf", "las", "ps")},
    **{name: name for name in ("fsp+fifo", "fsp+ps", "psbs")},
    "hfsp": "fsp+fifo",
    "gittins": "gittins",
}
"""Orders by name, and the disciplines of the ideal machine that they come to."""

_OTHERS = frozenset(DISCIPLINE_OF_ORDER.values()) - {"gittins"}
"""Those that can be asked of any jobs; Gittins' has to be told the law."""

FLUID: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, jobs=4, maps=3, lengths_s=(1.0, 4.0), stream_length=12
)

SAMPLES = 12
"""About how often the ideal machine is stopped and looked at."""

PROMPT_HEARTBEATS: ScenarioFamily = msgspec.structs.replace(
    FLUID, nodes=1, slots=2, prompt=True, stream_length=30
)

AT_ONCE: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, nodes=1, slots=1, jobs=6, arrivals=False, prompt=True
)


class _IdealMachineCase:
    """The jobs and the order's discipline as the ideal machine takes them."""

    def __init__(self, experiment: Experiment) -> None:
        self.jobs = make_jobs(experiment.scenario)
        order = experiment.fresh_policy().order
        self._order = order.name
        self.discipline = DISCIPLINE_OF_ORDER.get(order.name, "")
        self._ranks_ms: AgeRanks | None = getattr(order, "ranks_ms", None)
        self.arrivals_ms = [job.submit_ms for job in self.jobs]
        self._sizes_ms = [job.maps * job.map_ms for job in self.jobs]

    @property
    def discipline_in_words(self) -> str:
        """The order, and what it comes to on the ideal machine where that has another name."""
        same = self._order == self.discipline
        return self._order if same else f"{self._order} ({self.discipline} there)"

    def ends_ms(self, discipline: str, speed: int = 1) -> list[Fraction]:
        run = self._ideal_machine_run(discipline, self._sizes_ms, speed=speed)
        return [Fraction(end) for end in run.done]

    def work_left_ms(self, discipline: str, at_ms: Fraction) -> Fraction:
        """The work that is left at an instant of what has come by then."""
        left = self._ideal_machine_run(discipline, self._sizes_ms, until=at_ms).left
        came = zip(left, self.arrivals_ms, strict=True)
        return sum((each for each, arrival in came if arrival <= at_ms), Fraction(0))

    def ends_without_larger_ms(self, job: int) -> Fraction:
        """When the job is done if no job comes that is larger."""
        there = [n for n, size in enumerate(self._sizes_ms) if size <= self._sizes_ms[job]]
        arrivals = [self.arrivals_ms[n] for n in there]
        sizes = [self._sizes_ms[n] for n in there]
        done = ideal.exact(self.discipline, arrivals, sizes).done
        return Fraction(done[there.index(job)])

    def others_left_at_end_ms(self, job: int, times: Fraction) -> list[Fraction]:
        """What is left of the others when the job would be done if that many times as long."""
        at_ms = self.ends_ms(self.discipline)[job]
        sizes = [Fraction(size) for size in self._sizes_ms]
        sizes[job] *= times
        left = self._ideal_machine_run(self.discipline, sizes, until=at_ms).left
        return [each for other, each in enumerate(left) if other != job]

    def _ideal_machine_run(
        self,
        discipline: str,
        sizes: Sequence[Fraction | int],
        speed: int = 1,
        until: Fraction | None = None,
    ) -> ideal.Exact:
        if discipline == "gittins":
            assert self._ranks_ms is not None, "the order has ranks"
            return ideal.exact_by_age(self._ranks_ms, self.arrivals_ms, sizes, until)
        return ideal.exact(discipline, self.arrivals_ms, sizes, speed=speed, until=until)


def _why_no_discipline(policy: Policy) -> str | None:
    name = policy.order.name
    return (
        None if name in DISCIPLINE_OF_ORDER else f"`{name}` has no counterpart on the ideal machine"
    )


def _why_no_size_seen(policy: Policy) -> str | None:
    if DISCIPLINE_OF_ORDER.get(policy.order.name) in {*ideal.BLIND, "gittins"}:
        return f"`{policy.order.name}` sees no size"
    return _why_no_discipline(policy)


@Statement(
    says="on the ideal machine the work that is left depends on the arrivals alone",
    formula="V(t) = V^FIFO(t)",
    assumes="one divisible machine, no waste",
    source="F2",
    family=FLUID,
    misfit=_why_no_discipline,
)
def ideal_work(experiment: Experiment) -> int:
    case = _IdealMachineCase(experiment)
    moments = sorted({*case.ends_ms("fifo"), *map(Fraction, case.arrivals_ms)})
    for at_ms in moments[:: 1 + len(moments) // SAMPLES]:
        mine, its = (case.work_left_ms(each, at_ms) for each in (case.discipline, "fifo"))
        if mine != its:
            raise PropertyViolated(
                f"at {as_seconds(at_ms)} {as_seconds(mine)} are left to do,"
                f" and {as_seconds(its)} under fifo"
            )
    return len(moments)


@Statement(
    says="on the ideal machine no job ends later than if the machine were shared",
    formula="C_j ≤ C_j^PS for every j",
    assumes="one divisible machine, exact sizes, equal weights",
    source="F10; Friedman and Henderson 2003; PSBS",
    family=FLUID,
    misfit=_why_no_discipline,
)
def ideal_dominance(experiment: Experiment) -> int:
    case = _IdealMachineCase(experiment)
    ends = zip(case.jobs, case.ends_ms(case.discipline), case.ends_ms("ps"), strict=True)
    for job, mine, shared in ends:
        if mine > shared:
            raise PropertyViolated(
                f'"{job.name}" is done at {as_seconds(mine)} under {case.discipline_in_words},'
                f" and at {as_seconds(shared)} if the machine is shared"
            )
    return len(case.jobs)


@Statement(
    says="on the ideal machine no discipline has a smaller mean response time, or fewer jobs there"
    " at any time",
    formula="Σ T_j ≤ Σ T_j′ and N(t) ≤ N′(t) for all t and every other discipline",
    assumes="one divisible machine, exact sizes",
    source="F11; Schrage 1968",
    family=FLUID,
    misfit=_why_no_discipline,
)
def ideal_mean(experiment: Experiment) -> int:
    case = _IdealMachineCase(experiment)
    own, mine = case.discipline_in_words, case.ends_ms(case.discipline)
    for other in sorted(_OTHERS - {case.discipline}):
        its = case.ends_ms(other)
        if sum(mine) > sum(its):
            raise PropertyViolated(
                f"Σ C is {as_seconds(sum(mine))} under {own},"
                f" and {as_seconds(sum(its))} under {other}"
            )
        for at in sorted({*mine, *its}):
            here, there = (sum(end > at for end in ends) for ends in (mine, its))
            if here > there:
                raise PropertyViolated(
                    f"at {as_seconds(at)} {here} jobs are left under {own}, {there} under {other}"
                )
    return len(_OTHERS)


@Statement(
    says="on the ideal machine a job is done when it would be if no larger job came",
    formula="C_j = C_j of the jobs i with s_i ≤ s_j, for every j",
    assumes="one divisible machine, exact sizes",
    source="F19; PSJF: Harchol-Balter 2013, 32.3",
    family=FLUID,
    misfit=_why_no_size_seen,
)
def smaller_only(experiment: Experiment) -> int:
    case = _IdealMachineCase(experiment)
    ends = case.ends_ms(case.discipline)
    for number, (job, end) in enumerate(zip(case.jobs, ends, strict=True)):
        alone = case.ends_without_larger_ms(number)
        if end != alone:
            raise PropertyViolated(
                f'"{job.name}" is done at {as_seconds(end)}, and at {as_seconds(alone)} without the'
                " jobs that are larger"
            )
    return len(case.jobs)


@Statement(
    says="on the ideal machine a job's size changes nothing before the job is done",
    formula="what is left of i ≠ j at C_j is the same if s_j is half as much again",
    assumes="one divisible machine",
    source="F20; what Gittins' index may know: Aalto, Ayesta, Righter 2009",
    family=FLUID,
    misfit=_why_no_discipline,
)
def blind(experiment: Experiment) -> int:
    case = _IdealMachineCase(experiment)
    for number, job in enumerate(case.jobs):
        as_it_is = case.others_left_at_end_ms(number, Fraction(1))
        if as_it_is != case.others_left_at_end_ms(number, Fraction(3, 2)):
            raise PropertyViolated(
                f'what is left of the others when "{job.name}" is done depends on how long it is'
            )
    return len(case.jobs)


def policy_with_exact_sizes(policy: Policy) -> Policy:
    """The same parts, whose order goes by true sizes if it goes by sizes at all."""
    order = policy.order
    params: msgspec.Struct | None = getattr(order, "params", None)
    if params is None or "size" not in params.__struct_fields__:
        return policy
    make: type[Order] = type(order)
    exact = {"size": "oracle", **({"sigma": 0.0} if hasattr(params, "sigma") else {})}
    known = make(msgspec.structs.replace(params, **exact))  # type: ignore[call-arg]
    return policy_with_parts(policy, order=known)


def _run_with_exact_sizes(experiment: Experiment) -> ObservedRun:
    return require_completed(
        experiment.play(policy=policy_with_exact_sizes(experiment.fresh_policy()))
    )


def _slack_of_launch_gaps_ms(run: ObservedRun) -> Millis:
    """N δ: a gap for each task, and two more."""
    return (run.launch_gap_ms + 1) * (2 + sum(job.maps for job in run.jobs.values()))


@Statement(
    says="no job ends much later than if the cluster were shared: the largest is not starved by"
    " smaller ones that keep coming",
    formula="C_j ≤ C_j^PS + (2 − 1/m) p_max + N δ, N tasks in all",
    assumes="exact sizes, jobs with at least m tasks; no delay, preemption or speculation",
    bound="(2 − 1/m) p_max, and δ for every task",
    source="F10, F12; Friedman and Henderson 2003",
    family=PROMPT_HEARTBEATS,
    misfit=why_order_overruled,
)
def dominance(experiment: Experiment) -> int:
    case, run = _IdealMachineCase(experiment), _run_with_exact_sizes(experiment)
    slots = run.slot_count(SlotKind.MAP)
    if any(job.maps < slots for job in case.jobs):
        raise NotApplicable("a job has fewer tasks than there are slots")
    longest = max(job.map_ms for job in case.jobs)
    slack = (2 - Fraction(1, slots)) * longest + _slack_of_launch_gaps_ms(run)
    ends = job_ends_ms(run)
    for job, shared in zip(case.jobs, case.ends_ms("ps", slots), strict=True):
        if ends[job.job] > shared + slack:
            raise PropertyViolated(
                f'"{job.name}" ended at {as_seconds(ends[job.job])}; under processor sharing it'
                f" would have at {as_seconds(shared)}, and the bound is {as_seconds(slack)} more"
            )
    return len(case.jobs)


@Statement(
    says="of jobs that come together on one slot, the mean response time is the least there can be",
    formula="Σ C_j ≤ min over all orders of the jobs of Σ C_j + n N δ",
    assumes="one map slot, all jobs at once, exact sizes; compared with every order of the jobs",
    bound="δ for every task and job",
    source="F11, where SRPT is optimal on slots too",
    family=AT_ONCE,
    misfit=why_order_overruled,
)
def shortest_first(experiment: Experiment) -> int:
    run = _run_with_exact_sizes(experiment)
    if run.slot_count(SlotKind.MAP) > 1:
        raise NotApplicable("there is more than one map slot")
    sizes = [job.maps * job.map_ms for job in run.jobs.values()]
    least = min(sum(accumulate(order)) for order in permutations(sizes))
    total = sum(job_ends_ms(run).values())
    if total > least + len(sizes) * _slack_of_launch_gaps_ms(run):
        raise PropertyViolated(
            f"the jobs' ends add up to {as_seconds(total)}; {as_seconds(least)} could be"
        )
    return 1
