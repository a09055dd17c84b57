"""What the slides do not print: lengths of maps, pending maps, heartbeats."""

from collections.abc import Collection
from math import ceil

from msgspec.structs import replace

from callboard.experiments.reproduction.artefact import Quantity, VerdictClass
from callboard.experiments.reproduction.catalogue_of_artefacts import (
    SLIDES,
    played_for,
    quantities_of,
)
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.run_figures import local_share
from callboard.experiments.reproduction.sample_figure import figure_of
from callboard.experiments.reproduction.slides_figures import skips_for
from callboard.experiments.reproduction.worked_examples import (
    FEW_AND_MANY_SLOTS,
    ExampleNumbers,
    Worked,
)

_MAPS_A_SECOND = 7.74
"""What the jobs of `small-jobs` bring together, a little more than the cluster can do."""

_PENDING = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 100, 150, 200, 300)


def _jobs_with_maps(maps: int) -> Played:
    """The small jobs under FIFO, all with that many maps."""
    count, every_s = max(30, 6000 // maps), maps / _MAPS_A_SECOND
    jobs = f'{{name="row",count={count},every_s={every_s:.3f},maps={maps},map_s=80}}'
    overrides = (f"workload.job=[{jobs}]",)
    cell = Cell(name="fifo", scenario="small-jobs", policy="fifo", overrides=overrides)
    return Played((cell,))


def _pending_maps_exploration(row: int, node: float, rack: float) -> Exploration:
    """A row of the slides' table over the maps that a job has pending when it begins."""
    printed = {"node": node, "rack": rack}
    return Exploration(
        artefact="slides-small-jobs-default",
        assumption=f"how many maps the jobs have pending that the table calls jobs of {row}",
        plausible="from one to three times the largest of the table's jobs",
        settings={str(maps): _jobs_with_maps(maps) for maps in _PENDING},
        quantities=tuple(
            Quantity[Runs](
                label=f"row of {row} maps, {level}-local",
                value=figure_of("fifo", local_share, level),
                printed=share,
                share=True,
            )
            for level, share in printed.items()
        ),
    )


def _one_map_jobs(skips: Collection[int] = (1, 5, 10, 20, 40), nodes: int = 100) -> Played:
    return SLIDES.played(
        "one_map_jobs",
        skipped=[{"skips": each} for each in skips],
        nodes=nodes,
        more_nodes=f"cluster.nodes={nodes}" if nodes != 100 else "",
    )


def _by_heartbeat_interval(interval_ms: int) -> Played:
    jobs = _one_map_jobs((1, 10, 20, 40))
    return jobs.changed(f"cluster.heartbeat.interval_ms={interval_ms}")


_HEARTBEATS = Exploration(
    artefact="slides-formula-wait",
    assumption="how often a node's freed slots are offered",
    plausible="Hadoop's 3 s, down to a slot at a time as in the slides' analysis",
    settings={f"{ms / 1000:g} s": _by_heartbeat_interval(ms) for ms in (3000, 1500, 750, 300)},
    quantities=quantities_of("slides-formula-wait"),
)


def _waits_of_5_s(name: str, map_s: int) -> Played:
    """The small jobs with maps of another length."""
    waits = [{"wait_s": 5, "policy": "fair+delay"}]
    return SLIDES.played("waited", maps=[{"map_s": map_s}], waits=waits).changed(name=name)


_WITH_DELAY = Exploration(
    artefact="slides-small-jobs",
    assumption="how long a map takes, in seconds (here: 80)",
    plausible="blocks of 64 MB at 5 s, to jobs that would take longer than the experiment",
    settings={
        f"{map_s} s": _waits_of_5_s("delay", map_s)
        for map_s in (5, 10, 20, 40, 60, 80, 120, 160, 300)
    },
    quantities=tuple(
        replace(each, verdict_class=None) for each in quantities_of("slides-small-jobs")
    ),
    picture="explored-slides-small-jobs.svg",
)

_WAITS = Exploration(
    artefact="slides-waits",
    assumption="how long a map takes, in seconds",
    plausible="the slides say that most tasks are short; Facebook's median job takes 84 s",
    settings={
        f"{map_s} s": _waits_of_5_s("5 s", map_s)
        for map_s in (20, 40, 60, 80, 100, 120, 160, 200, 300)
    },
    quantities=(
        Quantity[Runs](
            label="waits of 5 s, node-local",
            value=figure_of("5 s", local_share, "node"),
            above=0.95,
            share=True,
        ),
    ),
)


_NODES = {f"{nodes} nodes": _one_map_jobs(nodes=nodes) for nodes in (100, 200, 400)}
_NODES_WORDS = (
    "how many nodes there are (here: 100), of which the same 9 % hold a job's data, and so how many"
    " opportunities pass before a node offers again"
)
_NODES_RANGE = "towards the 600 nodes of Facebook's cluster"

_SKIPPED = Exploration(
    artefact="slides-formula-skips",
    assumption=_NODES_WORDS,
    plausible=_NODES_RANGE,
    settings=_NODES,
    quantities=quantities_of("slides-formula-skips"),
)

_OPPORTUNITIES = Exploration(
    artefact="slides-formula-opportunities",
    assumption=_NODES_WORDS,
    plausible=_NODES_RANGE,
    settings=_NODES,
    quantities=quantities_of("slides-formula-opportunities"),
    picture="explored-slides-formula-opportunities.svg",
)


_WISHES = ((10, 0.8), (10, 0.95), (50, 0.9), (100, 0.95))
"""Jobs of that many maps, and the share of them that is to be local."""


def _played_with_formula_skips(times: float, *more: str) -> Played:
    """So many times the skips that the formula asks for."""
    cells = played_for("slides-formula-locality").changed(*more).cells
    skips = (ceil(times * skips_for(share, maps)) for maps, share in _WISHES)
    changed = zip(cells, skips, strict=True)
    return Played(tuple(replace(cell, policy=f"fair+delay(skips={n})") for cell, n in changed))


_LOCALITY = Exploration(
    artefact="slides-formula-locality",
    assumption="how many times the formula's skips a job may skip, and how often slots are offered"
    " (here: every 3 s)",
    plausible="up to three times; a slot at a time, as in the slides' analysis",
    settings={
        "as it is": _played_with_formula_skips(1),
        "every 0.3 s": _played_with_formula_skips(1, "cluster.heartbeat.interval_ms=300"),
        **{f"{times:g} times": _played_with_formula_skips(times) for times in (1.25, 1.5, 2, 3)},
        "2 times, every 0.3 s": _played_with_formula_skips(2, "cluster.heartbeat.interval_ms=300"),
    },
    quantities=tuple(
        Quantity[Runs](
            label=f"node-local of {maps} maps",
            value=figure_of(f"{maps} maps, λ = {share:g}", local_share, "node"),
            above=share,
            share=True,
        )
        for maps, share in _WISHES
    ),
)

_GAIN = Exploration(
    artefact="slides-formula-gain",
    assumption="of how many slots a job waits for the first (printed: 24)",
    plausible="from a replica on eight slots to a job with data on hundreds of nodes",
    settings={str(slots): Worked(f"first-of-{slots}") for slots in FEW_AND_MANY_SLOTS},
    quantities=(
        Quantity[ExampleNumbers](
            label="wait for the data of one map, times the slots over a task's length",
            value=lambda found: found["wait"],
            printed=1,
            verdict_class=VerdictClass.FORMULA,
        ),
    ),
)

SLIDES_EXPLORATIONS = (
    _WITH_DELAY,
    _pending_maps_exploration(3, 0.02, 0.5),
    _pending_maps_exploration(10, 0.37, 0.98),
    _pending_maps_exploration(100, 0.84, 0.99),
    _WAITS,
    _SKIPPED,
    _OPPORTUNITIES,
    _HEARTBEATS,
    _LOCALITY,
    _GAIN,
)
