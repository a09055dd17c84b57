"""The figures of runs by name, and how to get from journals to files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from callboard.experiments.charts import gantt_chart, job_charts, slot_charts
from callboard.experiments.charts.chart_run import ChartRun, chart_run, labelled_runs
from callboard.experiments.run_loading import load_run
from callboard.experiments.simulation import RunWatcher
from callboard.experiments.solo_runs import solo_times
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.journal.reader import Journal
from callboard.scheduler.model import JobId, Millis

DrawRuns = Callable[[Sequence[ChartRun]], Any]


class RunChart(NamedTuple):
    """A figure of runs: what it shows, how it is drawn, and what it needs of `ChartRun`."""

    shows: str
    draw: DrawRuns
    needs_solo: bool = False
    needs_shares: bool = False


RUN_CHARTS: Mapping[str, RunChart] = {
    "ecdf": RunChart("the share of jobs done within a time", job_charts.ecdf_chart),
    "slowdown": RunChart(
        "slowdown by the size of jobs", job_charts.slowdown_chart, needs_solo=True
    ),
    "jobs": RunChart("jobs in the system over time", job_charts.jobs_chart),
    "gantt": RunChart("what each slot did when", gantt_chart.gantt_chart),
    "shares": RunChart(
        "slots held beside slots due, by pool", slot_charts.shares_chart, needs_shares=True
    ),
    "utilisation": RunChart("slots held over time", slot_charts.utilisation_chart),
    "locality": RunChart("how near to their data maps ran", slot_charts.locality_chart),
}
"""What can be drawn of runs."""


def read_chart_runs(paths: Sequence[Path], *, with_shares: bool = True) -> list[ChartRun]:
    """The runs of journals, labelled so that they can be told apart.

    Raises JournalError for what is no journal or is damaged, OSError, and ValueError (with the
    journal's name) for one without a run or with events that contradict each other.
    """
    runs: list[ChartRun] = []
    for path in paths:
        try:
            runs.append(chart_run(Journal(path), with_shares=with_shares))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return labelled_runs(runs)


def alone_of(jobs: JobColumns, solo_ms: Mapping[JobId, Millis]) -> Ints:
    """The times alone in the order of the jobs; 0 for a job of which there is none."""
    return np.array([solo_ms.get(job, 0) for job in jobs.job.tolist()], np.int64)


def with_solo_times(
    runs: Sequence[ChartRun], paths: Sequence[Path], watcher: RunWatcher | None = None
) -> list[ChartRun]:
    """The runs with how long their jobs take alone, computed once for each world among them.

    Raises what `load_run` does where a world cannot be played again, as when its trace is gone.
    """
    return list(_with_solo_times(runs, paths, watcher))


def _with_solo_times(
    runs: Sequence[ChartRun], paths: Sequence[Path], watcher: RunWatcher | None
) -> Iterator[ChartRun]:
    known: list[tuple[object, dict[JobId, Millis]]] = []
    for run, path in zip(runs, paths, strict=True):
        spec = load_run(str(path))
        world = spec.jobs, spec.scenario.cluster, spec.scenario.tasks, spec.scenario.seed
        solo_ms = next((times for other, times in known if other == world), None)
        if solo_ms is None:
            solo_ms = solo_times(spec, watcher)
            known.append((world, solo_ms))
        yield replace(run, solo_ms=alone_of(run.jobs, solo_ms))
