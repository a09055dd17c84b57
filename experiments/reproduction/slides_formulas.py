"""The slides' formulas, each held to the interval of a simulation of what it is about."""

from collections.abc import Sequence
from functools import partial
from math import ceil, exp, log
from typing import Any

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    OfCells,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.artefact_charts import Series, lines_over
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import difference, figure_of, local_share
from callboard.experiments.reproduction.worked_examples import (
    LONG_SHARES,
    WAITS,
    ExampleNumbers,
    SeededExample,
)

SKIPS = (1, 5, 10, 20, 40)
"""How many opportunities one-map jobs skip at most."""

_HELD = 0.09
"""The share f of nodes that hold the data of a job of three maps with three replicas."""


def one_map_jobs(skips: int, more: tuple[str, ...] = (), nodes: int = 100) -> Cell:
    """Jobs of one map with nine replicas for each of the slides' 100 nodes, all of whose slots a
    large job has taken before.  They come so rarely that they take a few of the freed slots
    themselves.
    """
    jobs = '{name="one",count=400,at_s=20,every_s=3.5,maps=1,map_s=60}'
    long = f'{{name="busy",count=1,maps={130 * nodes},map_s=60}}'
    cluster = (f"cluster.nodes={nodes}",) if nodes != 100 else ()
    return Cell(
        name=f"D = {skips}",
        scenario="small-jobs",
        policy=f"fair+delay(skips={skips})",
        overrides=(
            f"workload.job=[{jobs},{long}]",
            f"cluster.replication={round(_HELD * nodes)}",
            *cluster,
            *more,
        ),
    )


_FORMULA = Played(tuple(map(one_map_jobs, SKIPS)))


def non_local(skips: int) -> OfCells:
    """The share of one-map jobs that ran away from their data."""
    share = local_share("node", 1)

    def figure(run: MeteredRun) -> float | None:
        near = share(run)
        return None if near is None else 1 - near

    return figure_of(f"D = {skips}", figure)


def far_maps(offers: int) -> tuple[Quantity[Runs], ...]:
    """Non-local maps beside (1 − f)^D, where D counts the skips and that many `offers` more."""
    return tuple(
        Quantity(
            label=f"non-local maps, D = {skips + offers}",
            value=non_local(skips),
            printed=(1 - _HELD) ** (skips + offers),
            share=True,
        )
        for skips in SKIPS
    )


def _formula_chart(samples: Sequence[Runs], offers: int) -> Any:
    played = [(skips + offers, [non_local(skips)(runs) for runs in samples]) for skips in SKIPS]
    formula = [(skips, [(1 - _HELD) ** skips]) for skips in range(0, 45, 5)]
    series = [Series("simulated", played), Series("(1 − f)^D", formula)]
    return lines_over(series, "skipped opportunities D", "non-local maps", share=True)


_SLOTS, _BUSY_MAP_S = 500, 60


def _wait_of_non_local_s(skips: int) -> OfCells:
    """The mean wait of one-map jobs that ran away from their data: all have skipped D times."""

    def figure(run: MeteredRun) -> float | None:
        jobs, table = run.result.jobs, run.result.map_locality
        assert table is not None
        far = (jobs.maps == 1) & (table.node == 0) & (jobs.waiting_ms >= 0)
        return float(jobs.waiting_ms[far].mean()) / 1000 if far.any() else None

    return figure_of(f"D = {skips}", figure)


def _more_wait_s(skips: int) -> OfCells:
    """How much longer that is than with a single opportunity, which the job has to wait for too."""
    return difference(_wait_of_non_local_s(skips), _wait_of_non_local_s(1))


def longer_waits() -> tuple[Quantity[Runs], ...]:
    """The waits beside D·T/(ML)."""
    return tuple(
        Quantity(
            label=f"wait for D = {skips} opportunities more than for one",
            value=_more_wait_s(skips),
            printed=(skips - 1) * _BUSY_MAP_S / _SLOTS,
            unit=" s",
        )
        for skips in (10, 20, 40)
    )


def skips_for(locality: float, maps: int, nodes: int = 100, replicas: int = 3) -> int:
    """D ≥ −(M/R) ln(((1 − λ)N) / (1 + (1 − λ)N)): skips that make the share λ of N maps local."""
    far = (1 - locality) * maps
    return ceil(-nodes / replicas * log(far / (1 + far)))


WISHES = ((10, 0.8), (10, 0.95), (50, 0.9), (100, 0.95))
"""Jobs of that many maps, and the share of them that is to be local."""


def wished_locality_cell(
    maps: int, locality: float, times: float = 1, more: tuple[str, ...] = ()
) -> Cell:
    """Jobs of one size on a full cluster, with as many skips as the formula asks for, or that many
    times as many.
    """
    jobs = f'{{name="jobs",count={1800 // maps},every_s={maps / 10:g},maps={maps},map_s=50}}'
    return Cell(
        name=f"{maps} maps, λ = {locality:g}",
        scenario="small-jobs",
        policy=f"fair+delay(skips={ceil(times * skips_for(locality, maps))})",
        overrides=(f"workload.job=[{jobs}]", *more),
    )


_WISHED = Played(tuple(wished_locality_cell(*wish) for wish in WISHES))


def _gain_chart(samples: Sequence[ExampleNumbers]) -> Any:
    """E(gain) over the wait: drawn, and by the formula, in task lengths."""
    drawn = [(w, [found[f"gain {w:g}"] for found in samples]) for w in WAITS]
    steps = [k / 4 for k in range(41)]
    formula = [(w, [(1 - exp(-w)) * (1 - 1 / 24)]) for w in steps]
    series = [Series("simulated", drawn), Series("(1 − e^(−w/t)) (d − t)", formula)]
    return lines_over(series, "wait w / t", "E(gain) / d")


def _blocked_chart(samples: Sequence[ExampleNumbers]) -> Any:
    """The share of blocked blocks over the share of long tasks: drawn, and by the formula."""
    drawn = [(phi, [found[f"blocked {phi:g}"] for found in samples]) for phi in LONG_SHARES]
    formula = [(k / 100, [(k / 100) ** 18]) for k in range(50, 101, 2)]
    series = [Series("simulated", drawn), Series("φ^(RL)", formula)]
    return lines_over(series, "share φ of long tasks", "blocked blocks", share=True)


def promised_locality(skips: float, maps: int, nodes: int = 100, replicas: int = 3) -> float:
    """The share λ that the formula promises a job of that many maps for D skips."""
    rest = exp(-skips * replicas / nodes)
    return max(0.0, 1 - rest / (1 - rest) / maps)


def _wishes_chart(samples: Sequence[Runs]) -> Any:
    """The formula's locality over the skips, a curve a size of job, and what was simulated."""
    share = local_share("node")
    sizes = dict.fromkeys(maps for maps, _ in WISHES)
    curves = [
        Series(f"formula, {maps} maps", [(d, [promised_locality(d, maps)]) for d in range(1, 51)])
        for maps in sizes
    ]
    played = [
        Series(
            f"simulated, {maps} maps",
            [
                (
                    skips_for(wish, maps),
                    [share(runs[f"{maps} maps, λ = {wish:g}"]) for runs in samples],
                )
                for size, wish in WISHES
                if size == maps
            ],
        )
        for maps in sizes
    ]
    return lines_over([*curves, *played], "skipped opportunities D", "node-local maps", share=True)


SLIDES_FORMULAS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="slides-formula-skips",
        paper=Paper.SLIDES,
        place="Analysis: P(non-local) = (1 − f)^D",
        says="A job with data on a share f of the nodes runs away from them with a chance of (1"
        " − f)^D if D is the most opportunities that it skips; here f = 0.09.",
        verdict_class=VerdictClass.FORMULA,
        evidence=_FORMULA,
        quantities=far_maps(0),
        why="After D opportunities that were skipped the job takes the next one, wherever it is,"
        " and that may have its data too: the chance is (1 − f)^(D + 1).  The slides' formula is"
        " right if D counts the last one as well (slides-formula-opportunities).",
        draw=partial(_formula_chart, offers=0),
    ),
    Artefact(
        id="slides-formula-opportunities",
        paper=Paper.SLIDES,
        place="Analysis: P(non-local) = (1 − f)^D, D with the opportunity that is taken",
        says="The same where D is how many opportunities the job has in all, so that it skips D − 1"
        " of them.",
        why="Within a few seconds opportunities come on nodes that have not been passed yet, since"
        " a node's tasks take a minute.  So they are drawn without putting back: none of D has the"
        " data with a chance of C(91, D) / C(100, D), which is 83, 55, 33, 11 and 0.7 %.",
        verdict_class=VerdictClass.FORMULA,
        evidence=_FORMULA,
        quantities=far_maps(1),
        draw=partial(_formula_chart, offers=1),
    ),
    Artefact(
        id="slides-formula-wait",
        paper=Paper.SLIDES,
        place="Analysis: waiting time = D·T/(ML)",
        says="D opportunities pass in D·T/(ML) seconds; here M·L = 500 slots, T = 60 s.",
        verdict_class=VerdictClass.FORMULA,
        evidence=_FORMULA,
        quantities=longer_waits(),
        why="A heartbeat is one opportunity, however many slots it has: of 500 slots with maps of"
        " 60 s a node frees a quarter of one in 3 s, and an eighth of its heartbeats bring two."
        " With heartbeats every 0.3 s the formula holds.",
    ),
    Artefact(
        id="slides-formula-locality",
        paper=Paper.SLIDES,
        place="Analysis: D ≥ −(M/R) ln(((1−λ)N) / (1+(1−λ)N))",
        says="That many skips make at least the share λ of a job's N maps local.",
        verdict_class=VerdictClass.FORMULA,
        evidence=_WISHED,
        quantities=tuple(
            Quantity(
                label=f"node-local of {maps} maps, D = {skips_for(locality, maps)}",
                value=figure_of(f"{maps} maps, λ = {locality:g}", local_share("node")),
                printed=locality,
                share=True,
            )
            for maps, locality in WISHES
        ),
        why="The formula gives each map D opportunities of its own.  In the algorithm a job that"
        " has skipped D may launch anywhere until it launches a local map, so that after one map"
        " far from its data the next have no wait.",
        draw=_wishes_chart,
    ),
    Artefact(
        id="slides-formula-gain",
        paper=Paper.SLIDES,
        place="Analysis: E(gain) = (1 − e^(−w/t)) (d − t)",
        says="With 3 replicas and 8 tasks a node the next local opportunity comes after a 24th"
        " of a task; where waiting is worth it at all, waiting for ever is best.",
        verdict_class=VerdictClass.FORMULA,
        evidence=SeededExample("local-opportunities"),
        quantities=(
            Quantity(
                label="wait for the data of one map, in tasks",
                value=lambda found: found["wait"],
                printed=1 / 24,
            ),
            Quantity(
                label="gain of a long wait over a short one",
                value=lambda found: found["gain"],
                above=1,
            ),
        ),
        why="The first of 24 slots whose tasks end at random times comes after a 25th of a task:"
        " the slides' 24th is what a Poisson process gives, for which there must be many slots.",
        draw=_gain_chart,
    ),
    Artefact(
        id="slides-formula-blocked",
        paper=Paper.SLIDES,
        place="More analysis: P(all replicas blocked by long tasks) = φ^(RL)",
        says="With R = 3 replicas and L = 6 slots a node less than 2 % of the blocks are blocked"
        " while fewer than 80 % of the tasks are long.",
        verdict_class=VerdictClass.FORMULA,
        evidence=SeededExample("blocked-replicas"),
        quantities=(
            Quantity(
                label="blocks of which every slot of every replica is taken, φ = 0.8",
                value=lambda found: found["blocked 0.8"],
                printed=0.8**18,
                share=True,
                below=0.02,
            ),
        ),
        draw=_blocked_chart,
    ),
)
