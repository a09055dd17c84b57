"""The hybrid paper (COSHH): its example, Tables I to IV, Figures 2 and 4."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.artefact_charts import Series, lines_over
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import (
    RunFigure,
    mean_of_responses_s,
    metered,
    of,
    ratio,
)
from callboard.experiments.reproduction.worked_examples import ExampleNumbers, Worked

COSHH = 'coshh(size="oracle")'
"""The paper's is given the time that each class's tasks take on each resource."""

_POLICIES = {"fifo": "fifo", "fair": "fair", "coshh": COSHH}
_HYBRID = {**_POLICIES, "hybrid": 'hybrid(size="oracle")'}

_FIRST_HEARTBEAT_MS = 500


def _end_s(run: MeteredRun, job: int) -> float:
    """When a job of the example ends on the figure's clock, which starts at the first heartbeat."""
    return (int(run.result.jobs.finished_ms[job]) - _FIRST_HEARTBEAT_MS) / 1000


def _mean_end_s(run: MeteredRun) -> float:
    return sum(_end_s(run, job) for job in range(3)) / 3


_EXAMPLE = Played(
    tuple(
        Cell(name=name, scenario="hybrid-example", policy=policy)
        for name, policy in _POLICIES.items()
    ),
    once=True,
)


def yahoo_cell(jobs: int, name: str, policy: str) -> Cell:
    """So many jobs of the Yahoo! workload under a policy."""
    return Cell(
        name=f"{name}, {jobs} jobs",
        scenario="hybrid-yahoo",
        policy=policy,
        overrides=(f"workload.jobs={jobs}",),
        meters=("users",),
    )


_COUNTS = (5, 15, 30, 60, 100)
_BY_JOBS = Played(
    tuple(yahoo_cell(jobs, name, policy) for jobs in _COUNTS for name, policy in _POLICIES.items())
)

_NODES_A_TYPE = (1, 3, 6, 9, 17)


def _resources(each: int, name: str, policy: str) -> Cell:
    """Six types of resources, so many of each."""
    return Cell(
        name=f"{name}, {6 * each} resources",
        scenario="hybrid-resources",
        policy=policy,
        overrides=tuple(f"cluster.group.{group}.nodes={each}" for group in range(6)),
        meters=("users",),
    )


_BY_RESOURCES = Played(
    tuple(
        _resources(each, name, policy)
        for each in _NODES_A_TYPE
        for name, policy in _POLICIES.items()
    )
)


def _facebook(jobs: int, name: str, policy: str) -> Cell:
    return Cell(
        name=f"{name}, {jobs} jobs",
        scenario="hybrid-facebook",
        policy=policy,
        overrides=(f"workload.jobs={jobs}",),
        meters=("switches", "users"),
    )


_FB_COUNTS = (5, 25, 45, 70, 100)
_BY_FB_JOBS = Played(
    tuple(_facebook(jobs, name, policy) for jobs in _FB_COUNTS for name, policy in _HYBRID.items())
)


class _Drawn(NamedTuple):
    """A figure of a run that is drawn over the number of jobs or of resources."""

    figure: RunFigure
    label: str
    log: bool = True


def _over(
    samples: Sequence[Runs], drawn: _Drawn, names: Sequence[str], counts: Sequence[int], unit: str
) -> Any:
    """A line a policy over what is counted."""
    series = [
        Series(
            name,
            [(n, [drawn.figure(runs[f"{name}, {n} {unit}"]) for runs in samples]) for n in counts],
        )
        for name in names
    ]
    return lines_over(series, unit, drawn.label, log=drawn.log)


_over_jobs = partial(_over, names=tuple(_POLICIES), counts=_COUNTS, unit="jobs")
_over_resources = partial(
    _over,
    names=tuple(_POLICIES),
    counts=tuple(6 * each for each in _NODES_A_TYPE),
    unit="resources",
)


def scheduling_s(run: MeteredRun) -> float | None:
    """The processor time that decisions took."""
    return run.result.scheduling.seconds


def switched_at(order: str) -> Callable[[Runs], float | None]:
    """How many jobs had been submitted when the hybrid order first put this order in force; 101
    where it never did.
    """

    def value(runs: Runs) -> float | None:
        at = runs["hybrid, 100 jobs"].metered["switches"].get(order)
        return at[0] if at else 101

    return value


def _table_number(label: str, printed: float, *, share: bool = False) -> Quantity[ExampleNumbers]:
    """A number of the tables: a share of the drawn jobs, or one that must be met exactly."""
    return Quantity(
        label=label,
        value=lambda found: found[label],
        printed=printed,
        share=share,
        exact=not share,
    )


_UNFAIRNESS = metered("users", "unfairness")
_RESPONSES = _Drawn(mean_of_responses_s, "mean response time (s)")
_SCHEDULING = _Drawn(scheduling_s, "scheduling (s of processor time)")
_UNEVEN = _Drawn(_UNFAIRNESS, "unfairness among users (slots)", log=False)


def _unfairness_a_slot(name: str, more: int, fewer: int) -> Callable[[Runs], float | None]:
    """The unfairness with more resources over that with fewer, each for each of its slots."""
    found = ratio(f"{name}, {more} resources", f"{name}, {fewer} resources", _UNFAIRNESS)

    def value(runs: Runs) -> float | None:
        slots = found(runs)
        return None if slots is None else slots * fewer / more

    return value


_NO_TIME = (
    "With few jobs the paper blames the time that COSHH's decisions take, which its mean"
    " completion times include. Here they take no virtual time, and it would not matter: for 5 jobs"
    " all decisions together take 0.04 s of processor time, and a job 100,000 s. With many jobs a"
    " handful of tasks on resources that do not suit them are most of the mean, so that seeds"
    " differ widely. That COSHH is best at 30 jobs wants its rates given; if it learns them it is"
    " no better than Fair, nor if slots that its matching suggests for nobody go to anybody"
    " (--explore)."
)

HYBRID_ARTEFACTS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="hybrid-fig-1",
        paper=Paper.HYBRID,
        place="Figure 1, III",
        says="Mean completion times of the example: FIFO 19.17, Fair 33.33, COSHH 15.",
        verdict_class=VerdictClass.WORKED,
        evidence=_EXAMPLE,
        quantities=(
            *(
                Quantity(
                    label=f"{name}, mean",
                    value=of(name, _mean_end_s),
                    printed=printed,
                    unit=" s",
                    exact=True,
                )
                for name, printed in (("fifo", 57.5 / 3), ("fair", 100 / 3), ("coshh", 15.0))
            ),
            Quantity(
                label="coshh over fair",
                value=lambda runs: _mean_end_s(runs["coshh"]) / _mean_end_s(runs["fair"]),
                printed=0.45,
                below=1,
            ),
        ),
        why="The figure's Fair is not Hadoop's: it gives each free slot to the next user in"
        " turn, however much that user runs. An order that does just that gives the figure's"
        " rows to the last task, and 33.33 (tests/whole/test_heterogeneous.py); Hadoop's"
        " gives the slot to who runs least. FIFO and COSHH are the print's to the last task.",
    ),
    Artefact(
        id="hybrid-tables-I-IV",
        paper=Paper.HYBRID,
        place="Tables I to IV",
        says="Eight categories of Yahoo!'s jobs and ten of Facebook's, a user each; six"
        " resources with 31 map slots and 23 reduce slots.",
        verdict_class=VerdictClass.INPUT,
        evidence=Worked("hybrid-tables"),
        quantities=(
            _table_number("hybrid-yahoo, users", 8),
            _table_number("hybrid-yahoo, map slots", 31),
            _table_number("hybrid-yahoo, reduce slots", 23),
            _table_number("hybrid-yahoo, small jobs", 114 / 200, share=True),
            _table_number("hybrid-facebook, users", 10),
            _table_number("hybrid-facebook, small jobs", 126 / 200, share=True),
        ),
    ),
    Artefact(
        id="hybrid-fig-2-i",
        paper=Paper.HYBRID,
        place="Figure 2 i, IV-B",
        says="Mean completion time by number of jobs (Yahoo!): COSHH's is the longest while few"
        " jobs are there, and the shortest from about 30 on.",
        evidence=_BY_JOBS,
        quantities=(
            Quantity(
                label="5 jobs, COSHH over Fair",
                value=ratio("coshh, 5 jobs", "fair, 5 jobs", mean_of_responses_s),
                above=1,
            ),
            *(
                Quantity(
                    label=f"{jobs} jobs, COSHH over {other}",
                    value=ratio(f"coshh, {jobs} jobs", f"{name}, {jobs} jobs", mean_of_responses_s),
                    below=1,
                )
                for jobs in (30, 60, 100)
                for other, name in (("Fair", "fair"), ("FIFO", "fifo"))
            ),
        ),
        why=_NO_TIME,
        draw=partial(_over_jobs, drawn=_RESPONSES),
        seeds=20,
    ),
    Artefact(
        id="hybrid-fig-2-ii",
        paper=Paper.HYBRID,
        place="Figure 2 ii, IV-B",
        says="Scheduling takes COSHH longer than Fair, and Fair longer than FIFO.",
        evidence=_BY_JOBS,
        quantities=(
            Quantity(
                label="100 jobs, COSHH over Fair, processor time",
                value=ratio("coshh, 100 jobs", "fair, 100 jobs", scheduling_s),
                above=1,
            ),
            Quantity(
                label="100 jobs, Fair over FIFO, processor time",
                value=ratio("fair, 100 jobs", "fifo, 100 jobs", scheduling_s),
                above=1,
            ),
        ),
        draw=partial(_over_jobs, drawn=_SCHEDULING),
        seeds=20,
    ),
    Artefact(
        id="hybrid-fig-2-iii",
        paper=Paper.HYBRID,
        place="Figure 2 iii, IV-B",
        says="Fair shares most evenly among users, and COSHH is competitive.",
        evidence=_BY_JOBS,
        quantities=(
            Quantity(
                label="100 jobs, unfairness, Fair over FIFO",
                value=ratio("fair, 100 jobs", "fifo, 100 jobs", _UNFAIRNESS),
                below=1,
            ),
            Quantity(
                label="100 jobs, unfairness, COSHH over FIFO",
                value=ratio("coshh, 100 jobs", "fifo, 100 jobs", _UNFAIRNESS),
                below=1,
            ),
            Quantity(
                label="100 jobs, unfairness, Fair over COSHH",
                value=ratio("fair, 100 jobs", "coshh, 100 jobs", _UNFAIRNESS),
                below=1,
            ),
        ),
        why="The paper prints no formula of its fairness. By the one in docs/journal.md (how"
        " far the users' shares lie from their mean, over time) COSHH, which shares among"
        " users by Fair's own rule, is as fair as Fair.",
        draw=partial(_over_jobs, drawn=_UNEVEN),
        seeds=20,
    ),
    Artefact(
        id="hybrid-fig-2-iv",
        paper=Paper.HYBRID,
        place="Figure 2 iv, IV-C",
        says="More resources shorten the mean completion time, down to a minimum at about 54;"
        " beyond that it rises slightly. COSHH's is the shortest.",
        evidence=_BY_RESOURCES,
        quantities=(
            *(
                Quantity(
                    label=f"{name}, 54 resources over 6",
                    value=ratio(
                        f"{name}, 54 resources", f"{name}, 6 resources", mean_of_responses_s
                    ),
                    below=1,
                )
                for name in _POLICIES
            ),
            *(
                Quantity(
                    label=f"{name}, 102 resources over 54",
                    value=ratio(
                        f"{name}, 102 resources", f"{name}, 54 resources", mean_of_responses_s
                    ),
                    above=1,
                )
                for name in _POLICIES
            ),
            Quantity(
                label="54 resources, COSHH over Fair",
                value=ratio("coshh, 54 resources", "fair, 54 resources", mean_of_responses_s),
                below=1,
            ),
        ),
        why="The mean does fall and then rise, but under FIFO and Fair it is least at about 18"
        " resources: with more slots free, more first tasks land on resources that do not"
        " suit them.",
        draw=partial(_over_resources, drawn=_RESPONSES),
        seeds=6,
    ),
    Artefact(
        id="hybrid-fig-2-v",
        paper=Paper.HYBRID,
        place="Figure 2 v, IV-C",
        says="With more resources scheduling takes COSHH and Fair longer, COSHH more than Fair.",
        evidence=_BY_RESOURCES,
        quantities=(
            Quantity(
                label="102 resources, COSHH over Fair, processor time",
                value=ratio("coshh, 102 resources", "fair, 102 resources", scheduling_s),
                above=1,
            ),
            Quantity(
                label="102 resources, Fair over FIFO, processor time",
                value=ratio("fair, 102 resources", "fifo, 102 resources", scheduling_s),
                above=1,
            ),
        ),
        draw=partial(_over_resources, drawn=_SCHEDULING),
        seeds=6,
    ),
    Artefact(
        id="hybrid-fig-2-vi",
        paper=Paper.HYBRID,
        place="Figure 2 vi, IV-C",
        says="With more resources every policy becomes fairer, and Fair is the fairest.",
        evidence=_BY_RESOURCES,
        quantities=(
            *(
                Quantity(
                    label=f"{name}, unfairness for each slot, 54 resources over 6",
                    value=_unfairness_a_slot(name, 54, 6),
                    below=1,
                )
                for name in _POLICIES
            ),
            *(
                Quantity(
                    label=f"54 resources, unfairness, Fair over {told}",
                    value=ratio("fair, 54 resources", f"{name}, 54 resources", _UNFAIRNESS),
                    below=1,
                )
                for told, name in (("FIFO", "fifo"), ("COSHH", "coshh"))
            ),
        ),
        why="The paper prints no formula of its fairness; see hybrid-fig-2-iii.",
        draw=partial(_over_resources, drawn=_UNEVEN),
        seeds=6,
    ),
    Artefact(
        id="hybrid-fig-4-i",
        paper=Paper.HYBRID,
        place="Figure 4 i, V",
        says="Mean completion time by number of jobs (Facebook): the hybrid follows FIFO, then"
        " Fair, then COSHH, whose mean is the shortest once the system is overloaded.",
        evidence=_BY_FB_JOBS,
        quantities=(
            *(
                Quantity(
                    label=f"{jobs} jobs, COSHH over Fair",
                    value=ratio(f"coshh, {jobs} jobs", f"fair, {jobs} jobs", mean_of_responses_s),
                    below=1,
                )
                for jobs in (45, 70, 100)
            ),
            Quantity(
                label="5 jobs, hybrid over FIFO",
                value=ratio("hybrid, 5 jobs", "fifo, 5 jobs", mean_of_responses_s),
                printed=1,
            ),
            Quantity(
                label="100 jobs, hybrid over Fair",
                value=ratio("hybrid, 100 jobs", "fair, 100 jobs", mean_of_responses_s),
                below=1,
            ),
        ),
        why="The hybrid serves by FIFO and Fair while slots are free. The few jobs that these"
        " put on resources that do not suit them make up most of the mean, and are there"
        " already when COSHH takes over.",
        draw=partial(_over, drawn=_RESPONSES, names=tuple(_HYBRID), counts=_FB_COUNTS, unit="jobs"),
    ),
    Artefact(
        id="hybrid-fig-4-switches",
        paper=Paper.HYBRID,
        place="Figure 4, V",
        says="The hybrid changes from FIFO to Fair at about 25 jobs, to COSHH at about 45.",
        evidence=_BY_FB_JOBS,
        quantities=(
            Quantity(
                label="jobs submitted at the first change to Fair (101: never)",
                value=switched_at("fair"),
                printed=25,
            ),
            Quantity(
                label="jobs submitted at the first change to COSHH (101: never)",
                value=switched_at("coshh"),
                printed=45,
            ),
        ),
        why="When the changes come depends on how soon jobs come after each other and on how"
        " the paper cut jobs of a million task-seconds down to six machines; it prints"
        " neither.",
    ),
)
