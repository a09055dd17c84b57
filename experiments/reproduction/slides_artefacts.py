"""The slides on delay scheduling: small jobs, sticky slots, waits, formulas."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    OfCells,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.artefact_charts import (
    Series,
    lines_over,
    response_ecdfs,
)
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.run_figures import (
    SizeBin,
    figure_of,
    local_share,
    mean_response_of,
    node_local_of,
    ratio,
    ratio_of_figures,
)

WITH_DELAY = ((0.75, 0.94), (0.99, 0.99), (0.94, 0.99))
"""The slides' maps on their nodes and racks with delay scheduling, of jobs of 3, 10, 100 maps."""

DELAY_5S = "fair+delay(node=5,rack=5)"

_SIZES = (3, 10, 100)
_LEVELS = ("node", "rack")
"""What the slides count: a map on its data's node is on its rack too."""


def small_jobs(name: str, policy: str, *overrides: str) -> Cell:
    """The small jobs experiment under a policy."""
    return Cell(
        name=name,
        scenario="small-jobs",
        policy=policy,
        overrides=overrides,
    )


def printed_shares(
    cell: str, printed: Sequence[tuple[float, float]], fitted: Collection[str] = ()
) -> tuple[Quantity[Runs], ...]:
    """A cell's maps on their nodes and racks beside half of the slides' table."""
    return tuple(
        Quantity(
            label=(label := f"{maps} maps, {level}-local"),
            value=figure_of(cell, local_share(level, maps)),
            printed=share,
            share=True,
            verdict_class=VerdictClass.FITTED if label in fitted else None,
        )
        for maps, row in zip(_SIZES, printed, strict=True)
        for level, share in zip(_LEVELS, row, strict=True)
    )


def maps_of(map_s: int) -> tuple[str, ...]:
    """The small jobs, a third as many, with longer or shorter maps at the same load."""
    overrides = []
    for place, (jobs, every_s) in enumerate(((40, 7), (40, 7), (16, 17))):
        overrides += [
            f"workload.job.{place}.count={jobs}",
            f"workload.job.{place}.map_s={map_s}",
            f"workload.job.{place}.every_s={every_s * map_s / 80:g}",
        ]
    return tuple(overrides)


WAITS_S, _MAPS_S = (0, 1, 2, 5, 10), (20, 80, 300)


def _delay_policy(wait_s: int) -> str:
    return f"fair+delay(node={wait_s},rack={wait_s})" if wait_s else "fair"


WAITED = Played(
    tuple(
        small_jobs(f"{wait_s} s, maps of {map_s} s", _delay_policy(wait_s), *maps_of(map_s))
        for map_s in _MAPS_S
        for wait_s in WAITS_S
    )
)


def _locality_over_wait_chart(samples: Sequence[Runs]) -> Any:
    figure = local_share("node")
    series = [
        Series(
            f"maps of {map_s} s",
            [
                (wait_s, [figure(runs[f"{wait_s} s, maps of {map_s} s"]) for runs in samples])
                for wait_s in WAITS_S
            ],
        )
        for map_s in _MAPS_S
    ]
    return lines_over(series, "wait (s)", "node-local maps", share=True)


_CONCURRENT = (5, 10, 20, 50)


def _sticky_slots_cell(jobs: int, policy: str, name: str) -> Cell:
    """The slides' microbenchmark: that many jobs at once on 100 nodes of 4 slots."""
    overrides = (
        f"workload.job.0.count={jobs}",
        "cluster.nodes=100",
        "cluster.racks=4",
        "cluster.map_slots=4",
    )
    return Cell(
        name=f"{name}, {jobs} jobs",
        scenario="sticky-slots",
        policy=policy,
        overrides=overrides,
    )


_STICKY = Played(
    tuple(
        _sticky_slots_cell(jobs, policy, name)
        for name, policy in (("fair", "fair"), ("fair+delay", DELAY_5S))
        for jobs in _CONCURRENT
    )
)


def _sticky_chart(samples: Sequence[Runs]) -> Any:
    figure = local_share("node")
    series = [
        Series(
            name,
            [
                (jobs, [figure(runs[f"{name}, {jobs} jobs"]) for runs in samples])
                for jobs in _CONCURRENT
            ],
        )
        for name in ("fair", "fair+delay")
    ]
    return lines_over(series, "concurrent jobs", "node-local maps", share=True)


_MORNING = Played((Cell(name="fair", scenario="facebook-morning", policy="fair"),))


def _ratio_of_node_local(which: SizeBin, other: SizeBin) -> OfCells:
    """How much more often a bin's maps are node-local than another's."""
    return ratio_of_figures(*(figure_of("fair", node_local_of(each)) for each in (which, other)))


_MACRO_LOADS = {
    "io": (),
    "cpu": ("tasks.rack_factor=1.075", "tasks.off_rack_factor=1.3"),
    "mixed": ("tasks.rack_factor=1.16", "tasks.off_rack_factor=1.65"),
}
"""What a map loses away from its data: reading is all of an I/O-heavy map, little of others."""

_MACRO_POLICIES = {"fifo": "fifo", "fair": "fair", "fair+delay": DELAY_5S}
SMALL_JOBS, MEDIUM_JOBS, LARGE_JOBS = (
    SizeBin("small jobs", 1, 10),
    SizeBin("medium jobs", 50, 800),
    SizeBin("large jobs", 4800, 4800),
)


def macrobenchmark(load: str) -> Played:
    """The macrobenchmark under one of its three workloads."""
    return Played(
        tuple(
            Cell(
                name=name,
                scenario="macrobenchmark",
                policy=policy,
                overrides=(f"workload.sizes.load={load}", *_MACRO_LOADS[load]),
            )
            for name, policy in _MACRO_POLICIES.items()
        )
    )


def _macro_artefact(load: str) -> AnyArtefact:
    gains = (
        Quantity[Runs](
            label="small jobs, Fair over FIFO",
            value=ratio("fair", "fifo", mean_response_of(SMALL_JOBS)),
            below=1,
        ),
        Quantity[Runs](
            label="small jobs, Fair with delay over Fair",
            value=ratio("fair+delay", "fair", mean_response_of(SMALL_JOBS)),
            below=1,
        ),
        Quantity[Runs](
            label="node-local maps with delay",
            value=figure_of("fair+delay", local_share("node")),
            above=0.9,
            share=True,
        ),
    )
    return Artefact(
        id=f"slides-macro-{load}",
        paper=Paper.SLIDES,
        place=f"Macrobenchmark, {load} workload",
        says="Fair serves small jobs sooner than FIFO, and with waits of 5 s nearly every map"
        " (here: 90 %) runs beside its data, which shortens small jobs most.",
        evidence=macrobenchmark(load),
        quantities=gains,
        draw=partial(
            response_ecdfs, cells=tuple(_MACRO_POLICIES), bins=(SMALL_JOBS, MEDIUM_JOBS, LARGE_JOBS)
        ),
    )


SLIDES_ARTEFACTS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="slides-small-jobs",
        paper=Paper.SLIDES,
        place="Small jobs experiment, with delay scheduling",
        says="Maps on their data's node and rack: 75 and 94 % for jobs of 3 maps, 99 and 99 %"
        " for 10, 94 and 99 % for 100.",
        evidence=Played((small_jobs("delay", DELAY_5S),)),
        quantities=printed_shares("delay", WITH_DELAY, fitted={"3 maps, node-local"}),
        fitted_on="the 80 s of a map in `small-jobs`, on the 75 % of three maps with delay.",
        why="No length of map gives more than two of the six: 75 % for three maps want 80 s, 99 %"
        " for ten at most 60 s, 94 % for a hundred at least 120 s, and rack-local maps are nearly"
        " all at any length, since a job that waits 5 s for a node waits 5 s more for a rack.",
    ),
    Artefact(
        id="slides-small-jobs-default",
        paper=Paper.SLIDES,
        place="Small jobs experiment, default scheduler",
        says="2 and 50 % for jobs of 3 maps, 37 and 98 % for 10, 84 and 99 % for 100.",
        evidence=Played((small_jobs("fifo", "fifo"),)),
        quantities=printed_shares("fifo", ((0.02, 0.5), (0.37, 0.98), (0.84, 0.99))),
        why="A slot that falls free has data of a job with i maps left on its node with a chance of"
        " 1 − 0.97^i, on its rack with 1 − 0.5^i.  Node and rack of a row come out together, but"
        " for jobs that begin with 1, some 48, and 150 to 300 maps pending, not 3, 10 and 100: the"
        " rows of the table may be bins of sizes, or jobs that are not run one after the other.",
    ),
    Artefact(
        id="slides-sticky-slots",
        paper=Paper.SLIDES,
        place="Sticky slots microbenchmark",
        says="Under Fair locality falls as more jobs share the cluster, 5 to 50 (here: to half at"
        " most); waits of 5 s make nearly all maps local (here: 95 %).",
        evidence=_STICKY,
        quantities=(
            Quantity(
                label="fair, node-local with 50 jobs over 5 jobs",
                value=ratio("fair, 50 jobs", "fair, 5 jobs", local_share("node")),
                below=0.5,
            ),
            *(
                Quantity(
                    label=f"with delay, {jobs} jobs, node-local",
                    value=figure_of(f"fair+delay, {jobs} jobs", local_share("node")),
                    above=0.95,
                    share=True,
                )
                for jobs in _CONCURRENT
            ),
        ),
        draw=_sticky_chart,
    ),
    Artefact(
        id="slides-locality-by-size",
        paper=Paper.SLIDES,
        place="Locality vs. job size at Facebook",
        says="A fair decision hurts locality, and jobs with small inputs most (here: up to 10 maps"
        " are local at most half as often as of jobs of more than 100).",
        evidence=_MORNING,
        quantities=(
            Quantity(
                label="node-local, 1 to 10 maps over 11 to 100",
                value=_ratio_of_node_local(SizeBin("small", 1, 10), SizeBin("medium", 11, 100)),
                below=1,
            ),
            Quantity(
                label="node-local, 1 to 10 maps over more than 100",
                value=_ratio_of_node_local(SizeBin("small", 1, 10), SizeBin("large", 101)),
                below=0.5,
            ),
        ),
    ),
    *(_macro_artefact(load) for load in _MACRO_LOADS),
    Artefact(
        id="slides-waits",
        paper=Paper.SLIDES,
        place="Solution: delay scheduling",
        says="Waits of 1 to 5 s are enough for nearly 100 % locality (here: 95 % with 5 s).",
        evidence=WAITED,
        quantities=tuple(
            Quantity(
                label=f"waits of 5 s, maps of {map_s} s, node-local",
                value=figure_of(f"5 s, maps of {map_s} s", local_share("node")),
                above=0.95,
                share=True,
            )
            for map_s in _MAPS_S
        ),
        why="On a full cluster n slots with tasks of T seconds free n/T a second, and the"
        " slides' own formula has the same factor: 500 slots with maps of 300 s free 1.7 a"
        " second, eight in 5 s, where a job of 3 maps has its data on 9 of 100 nodes. The"
        " slides do not say how long their tasks take, but that most are short: what they say holds"
        " for maps of up to 80 s.",
        draw=_locality_over_wait_chart,
    ),
)
