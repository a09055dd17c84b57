"""The hybrid paper (COSHH): its example, Tables I to IV, Figure 2."""

from collections.abc import Callable
from functools import partial

from callboard.experiments.reproduction.artefact import (
    MORE_SEEDS,
    AnyArtefact,
    Artefact,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.hybrid_cells import (
    HETEROGENEOUS_POLICIES,
    RESPONSES_DRAWN,
    SCHEDULING_DRAWN,
    UNEVEN_DRAWN,
    lines_over_counts,
    resources_cell,
    scheduling_s,
    yahoo_cell,
)
from callboard.experiments.reproduction.hybrid_fairness import (
    COSHH_OVER_FIFO,
    FAIR_OVER_COSHH,
    FAIR_OVER_FIFO,
    fairer_with_resources,
    fairness_quantities,
)
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import mean_of_responses_s, ratio
from callboard.experiments.reproduction.sample_figure import figure_of
from callboard.experiments.reproduction.worked_examples import ExampleNumbers, Worked

_FIRST_HEARTBEAT_MS = 500


def _end_s(run: MeteredRun, job: int) -> float:
    """When a job of the example ends on the figure's clock, which starts at the first heartbeat."""
    return (int(run.result.jobs.finished_ms[job]) - _FIRST_HEARTBEAT_MS) / 1000


def _mean_end_s(run: MeteredRun) -> float:
    return sum(_end_s(run, job) for job in range(3)) / 3


_EXAMPLE = Played(
    tuple(
        Cell(name=name, scenario="hybrid-example", policy=policy)
        for name, policy in HETEROGENEOUS_POLICIES.items()
    ),
    once=True,
)


_COUNTS = (5, 15, 30, 60, 100)
_BY_JOBS = Played(
    tuple(
        yahoo_cell(jobs, name, policy)
        for jobs in _COUNTS
        for name, policy in HETEROGENEOUS_POLICIES.items()
    )
)

FIFO_COUNTS = (20, 30, 40, 50)
"""Between which FIFO's mean rises and falls in print."""
_FIFO_BY_JOBS = Played(tuple(yahoo_cell(jobs, "fifo", "fifo") for jobs in FIFO_COUNTS))

_NODES_A_TYPE = (1, 3, 6, 9, 17)

_BY_RESOURCES = Played(
    tuple(
        resources_cell(each, name, policy)
        for each in _NODES_A_TYPE
        for name, policy in HETEROGENEOUS_POLICIES.items()
    )
)


_over_jobs = partial(
    lines_over_counts, names=tuple(HETEROGENEOUS_POLICIES), counts=_COUNTS, unit="jobs"
)
_over_resources = partial(
    lines_over_counts,
    names=tuple(HETEROGENEOUS_POLICIES),
    counts=tuple(6 * each for each in _NODES_A_TYPE),
    unit="resources",
)


def _example_number(name: str) -> Callable[[ExampleNumbers], float]:
    return lambda found: found[name]


def _table_number(label: str, printed: float, *, share: bool = False) -> Quantity[ExampleNumbers]:
    """A number of the tables: a share of the drawn jobs, or one that must be met exactly."""
    return Quantity(
        label=label,
        value=_example_number(label),
        printed=printed,
        share=share,
        exact=not share,
    )


_NO_TIME = (
    "With few jobs the paper blames the time that COSHH's decisions take, which its mean"
    " completion times include. Here they take no virtual time, and it would not matter: for 5 jobs"
    " all decisions together take 0.04 s of processor time, and a job 100,000 s. With many jobs a"
    " handful of tasks on resources that do not suit them are most of the mean, so that seeds"
    " differ widely. That COSHH is best at 30 jobs wants its rates given; if it learns them it is"
    " no better than Fair, nor if slots that its matching suggests for nobody go to anybody"
    " (--explore)."
)


def fairness_by_resources() -> tuple[Quantity[Runs], ...]:
    """Figure 2 vi: how fairness changes with resources, and who is fairest."""
    return (
        *fairer_with_resources(),
        *fairness_quantities("54 resources", FAIR_OVER_FIFO, FAIR_OVER_COSHH),
    )


def fifo_rise_and_fall() -> tuple[Quantity[Runs], ...]:
    """FIFO's mean from 20 to 30 jobs, and from 40 to 50."""
    return tuple(
        Quantity(
            label=f"FIFO, {more} jobs over {fewer}",
            value=ratio(f"fifo, {more} jobs", f"fifo, {fewer} jobs", mean_of_responses_s),
            below=below,
            above=above,
        )
        for more, fewer, below, above in ((30, 20, None, 1), (50, 40, 1, None))
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
                    value=figure_of(name, _mean_end_s),
                    printed=printed,
                    unit=" s",
                    exact=True,
                )
                for name, printed in (("fifo", 57.5 / 3), ("fair", 100 / 3), ("coshh", 15.0))
            ),
            Quantity(
                label="coshh over fair",
                value=ratio("coshh", "fair", _mean_end_s),
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
        id="hybrid-class-sets",
        paper=Paper.HYBRID,
        place="III-C",
        says="The matching of the example suggests classes {1, 2} to the first two resources,"
        " {2, 3} to the other two.",
        verdict_class=VerdictClass.WORKED,
        evidence=Worked("hybrid-class-sets"),
        quantities=tuple(
            Quantity(
                label=f"{resource}, classes suggested otherwise than in print",
                value=_example_number(resource),
                printed=0,
                exact=True,
            )
            for resource in ("R1", "R2", "R3", "R4")
        ),
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
        draw=partial(_over_jobs, drawn=RESPONSES_DRAWN),
        seeds=MORE_SEEDS,
    ),
    Artefact(
        id="hybrid-fifo-rise",
        paper=Paper.HYBRID,
        place="Figure 2 i, IV-B",
        says="FIFO's mean completion time rises when the large jobs enter, between 20 and 30 jobs,"
        " and falls between 40 and 50, when many small ones have come.",
        evidence=_FIFO_BY_JOBS,
        quantities=fifo_rise_and_fall(),
        why="In the paper's trace the largest jobs enter between 20 and 30.  Here all jobs are"
        " drawn alike, and while slots are free tasks land on nodes that do not suit them, of the"
        " first jobs most: the mean falls from the start.",
        draw=partial(
            lines_over_counts,
            drawn=RESPONSES_DRAWN,
            names=("fifo",),
            counts=FIFO_COUNTS,
            unit="jobs",
        ),
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
        draw=partial(_over_jobs, drawn=SCHEDULING_DRAWN),
    ),
    Artefact(
        id="hybrid-fig-2-iii",
        paper=Paper.HYBRID,
        place="Figure 2 iii, IV-B",
        says="Fair shares most evenly among users, and COSHH is competitive.",
        evidence=_BY_JOBS,
        quantities=fairness_quantities(
            "100 jobs", FAIR_OVER_FIFO, COSHH_OVER_FIFO, FAIR_OVER_COSHH
        ),
        why="The paper prints no formula of its fairness. By the one in docs/journal.md (how"
        " far the users' shares lie from their mean, over time) COSHH, which shares among"
        " users by Fair's own rule, is as fair as Fair.",
        draw=partial(_over_jobs, drawn=UNEVEN_DRAWN),
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
                for name in HETEROGENEOUS_POLICIES
            ),
            *(
                Quantity(
                    label=f"{name}, 102 resources over 54",
                    value=ratio(
                        f"{name}, 102 resources", f"{name}, 54 resources", mean_of_responses_s
                    ),
                    above=1,
                )
                for name in HETEROGENEOUS_POLICIES
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
        draw=partial(_over_resources, drawn=RESPONSES_DRAWN),
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
        draw=partial(_over_resources, drawn=SCHEDULING_DRAWN),
    ),
    Artefact(
        id="hybrid-fig-2-vi",
        paper=Paper.HYBRID,
        place="Figure 2 vi, IV-C",
        says="With more resources every policy becomes fairer, and Fair is the fairest.",
        evidence=_BY_RESOURCES,
        quantities=fairness_by_resources(),
        why="The paper prints no formula of its fairness; see hybrid-fig-2-iii.",
        draw=partial(_over_resources, drawn=UNEVEN_DRAWN),
    ),
)
