"""Draw the pictures of runs in `docs/figures/`: `python -m bench.figures`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.charts.chart_catalogue import RUN_CHARTS, alone_of
from callboard.experiments.charts.chart_run import ChartRun, chart_run, labelled_runs
from callboard.experiments.charts.chart_style import save_chart
from callboard.experiments.run_loading import load_run
from callboard.experiments.simulation import Simulation
from callboard.experiments.solo_runs import solo_times

FOLDER = Path(__file__).parents[1] / "docs" / "figures"


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
        runs.append(replace(run, solo_ms=alone_of(run.jobs, solo_ms)))
    return labelled_runs(runs)


def main() -> None:
    for example in EXAMPLES:
        runs = played(example.scenario, example.policies)
        for name in example.figures:
            path = FOLDER / f"{name}-{example.scenario}.svg"
            save_chart(RUN_CHARTS[name].draw(runs), path)
            print(path.relative_to(FOLDER.parents[1]), f"{path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
