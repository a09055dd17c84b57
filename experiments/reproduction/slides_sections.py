"""What the slides name or draw and print neither number nor sentence of: ours is held to what they
say elsewhere of the same.
"""

from functools import partial
from itertools import pairwise

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    OfCells,
    Paper,
    Quantity,
)
from callboard.experiments.reproduction.artefact_charts import response_ecdfs
from callboard.experiments.reproduction.evidence import Cell, Played
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import (
    SizeBin,
    figure_of,
    local_share,
    mean_response_of,
    node_local_of,
    ratio,
    ratio_of_figures,
)
from callboard.experiments.reproduction.slides_artefacts import (
    LARGE_JOBS,
    MEDIUM_JOBS,
    SMALL_JOBS,
    WAITED,
    WAITS_S,
    macrobenchmark,
)
from callboard.experiments.reproduction.worked_examples import SeededExample

_BINS = (SMALL_JOBS, MEDIUM_JOBS, LARGE_JOBS)


def _delay_gain(which: SizeBin) -> OfCells:
    return ratio("fair+delay", "fair", mean_response_of(which))


def _ratio_of_delay_gains(which: SizeBin, other: SizeBin) -> OfCells:
    """How much more delay scheduling takes off one bin's mean than off another's."""
    return ratio_of_figures(_delay_gain(which), _delay_gain(other))


_POOLS = (("one", 1, 2400), ("many/x", 1, 1200), ("many/y", 3, 400))
"""Pools of the second level, how many jobs each has, and a job's maps: so many that all end at once
if `one` and `many` share evenly, then `x` and `y`, then the jobs of `y`.
"""


def _jobs_in_pools() -> tuple[str, ...]:
    jobs = ",".join(
        f'{{name="{pool[-1]}",pool="{pool}",count={count},maps={maps},map_s=20}}'
        for pool, count, maps in _POOLS
    )
    cluster = ("cluster.nodes=100", "cluster.racks=4", "cluster.map_slots=4")
    return (f"workload.job=[{jobs}]", *cluster)


_HIERARCHY = Played(
    tuple(
        Cell(
            name=name,
            scenario="sticky-slots",
            policy=f"{order}+delay(node=5,rack=5)",
            overrides=_jobs_in_pools(),
        )
        for name, order in (("pools", 'fair(pool_by="pool")'), ("flat", "fair"))
    )
)


def _first_over_last_end(run: MeteredRun) -> float | None:
    """When the first job ends over when the last does, since all came."""
    jobs = run.result.jobs
    return float(jobs.response_ms.min() / jobs.response_ms.max())


SLIDES_SECTIONS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="slides-macro-io-2",
        paper=Paper.SLIDES,
        place="Results for IO-heavy workload, the second slide",
        says="A picture without a word or number (here: what the talk says of the workload, by"
        " size: with delay 90 % of the maps are local at each size, and small jobs gain most).",
        evidence=macrobenchmark("io"),
        quantities=(
            *(
                Quantity(
                    label=f"{which.name}, node-local maps with delay",
                    value=figure_of("fair+delay", node_local_of(which)),
                    above=0.9,
                    share=True,
                )
                for which in _BINS
            ),
            *(
                Quantity(
                    label=f"mean with delay over without, {SMALL_JOBS.name} over {which.name}",
                    value=_ratio_of_delay_gains(SMALL_JOBS, which),
                    below=1,
                )
                for which in _BINS[1:]
            ),
        ),
        draw=partial(response_ecdfs, cells=("fair", "fair+delay"), bins=_BINS),
    ),
    Artefact(
        id="slides-sensitivity",
        paper=Paper.SLIDES,
        place="Sensitivity analysis",
        says="The slide is a picture without a word or number (here: what the analysis says, that"
        " fewer maps run away from their data the longer jobs wait, with maps of 80 s).",
        evidence=WAITED,
        quantities=tuple(
            Quantity(
                label=f"node-local maps, waits of {more} s over {fewer} s",
                value=ratio(
                    f"{more} s, maps of 80 s", f"{fewer} s, maps of 80 s", local_share("node")
                ),
                above=1,
            )
            for fewer, more in pairwise(WAITS_S)
        ),
    ),
    Artefact(
        id="slides-overhead",
        paper=Paper.SLIDES,
        place="Evaluation: scheduler overhead",
        says="It is named among what was evaluated, and nothing of it is printed (here: with delay"
        " the master answers at most a tenth more offers for each map that it launches).",
        evidence=SeededExample("offers-a-map"),
        quantities=(
            Quantity(
                label="offers for each launched map, with delay over without",
                value=lambda found: found["offers a map"],
                below=1.1,
            ),
        ),
    ),
    Artefact(
        id="slides-hierarchy",
        paper=Paper.SLIDES,
        place="Evaluation: hierarchical fair scheduling; Conclusions",
        says="Delay scheduling serves a hierarchical policy as well (here: pools in a pool; jobs"
        " whose work is their share end within a tenth of each other's time, and 95 % of the maps"
        " are local).",
        evidence=_HIERARCHY,
        quantities=(
            Quantity(
                label="first end over last end, shared by pools",
                value=figure_of("pools", _first_over_last_end),
                above=0.9,
            ),
            Quantity(
                label="the same with all jobs alike, over that",
                value=ratio("flat", "pools", _first_over_last_end),
                below=0.9,
            ),
            Quantity(
                label="node-local maps, shared by pools",
                value=figure_of("pools", local_share("node")),
                above=0.95,
                share=True,
            ),
        ),
    ),
)
