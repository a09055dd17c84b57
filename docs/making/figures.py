"""Draw the pictures of runs and of a sweep in `docs/figures/`: `python -m docs.making.figures`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.pages.charts.chart_catalogue import (
    RUN_CHARTS,
    STORE_CHARTS,
    StoredSweep,
)
from callboard.experiments.pages.charts.chart_run import ChartRun, chart_run
from callboard.experiments.pages.charts.chart_style import save_chart
from callboard.experiments.pages.charts.measures import MEASURES
from callboard.experiments.pages.charts.run_labels import labelled_runs
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation, run_simulation
from callboard.experiments.run.solo_runs import solo_times, solo_times_of_jobs

FOLDER = Path(__file__).parents[1] / "figures"


class Example(NamedTuple):
    """Figures of a scenario of the library under some policies."""

    scenario: str
    policies: Sequence[str]
    figures: Sequence[str]


EXAMPLES = (
    Example("facebook-morning", ("fifo", "fair", "hfsp"), ("ecdf", "slowdown", "jobs")),
    Example("two-jobs", ("fifo", "fair"), ("gantt",)),
    Example("rack-outage", ("fair",), ("gantt",)),
    Example("preemption-storm", ("fair+kill", "fair+global"), ("shares",)),
    Example("preemption-storm", ("fair", "fair+kill", "fair+kill(most_per_check=5)"), ("debt",)),
    Example("small-jobs", ("fifo", "fair", "fair+delay"), ("locality",)),
)


def played(scenario: str, policies: Sequence[str]) -> list[ChartRun]:
    """The scenario's runs under these policies."""
    spec, runs = load_run(scenario), []
    solo_ms = solo_times(spec)
    for policy in policies:
        events: list[AnyEvent] = []
        Simulation(msgspec.structs.replace(spec, policy=policy), [events.append]).run()
        run = chart_run(events)
        runs.append(replace(run, solo_ms=solo_times_of_jobs(run.jobs, solo_ms)))
    return labelled_runs(runs)


class SweptExample(NamedTuple):
    """Figures of a scenario of the library, changed by overrides, over seeds from 1 on."""

    scenario: str
    seeds: int
    figures: Sequence[str]
    overrides: Sequence[str] = ()
    policies: Sequence[str] = ("fifo", "fair", "hfsp")


SWEPT = (
    SweptExample("hfsp-test", 10, ("intervals", "differences")),
    SweptExample(
        "facebook-morning", 5, ("intervals",), ("cluster.nodes=20", "workload.jobs=40")
    ),  # what `make run` plays
)


def swept(example: SweptExample) -> StoredSweep:
    """The scenario under each policy, with each seed."""
    cells = []
    for seed in range(1, 1 + example.seeds):
        spec = load_run(example.scenario, [*example.overrides, f"seed={seed}"])
        for policy in example.policies:
            result = run_simulation(msgspec.structs.replace(spec, policy=policy), driver="direct")
            cells.append(PlayedCell(example.scenario, (), policy, seed, result))
    return StoredSweep(cells)


def _save(figure: Any, name: str, scenario: str) -> None:
    path = FOLDER / f"{name}-{scenario}.svg"
    save_chart(figure, path)
    print(path.relative_to(FOLDER.parents[1]), f"{path.stat().st_size:,} bytes")


def main() -> None:
    for each in SWEPT:
        sweep = swept(each)
        for name in each.figures:
            _save(STORE_CHARTS[name].draw(sweep, MEASURES["mean"]), name, each.scenario)
    for example in EXAMPLES:
        runs = played(example.scenario, example.policies)
        for name in example.figures:
            _save(RUN_CHARTS[name].draw(runs), name, example.scenario)


if __name__ == "__main__":
    main()
