"""The figures of runs and of sweeps by name, and how journals and stores are read for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from callboard.experiments.many.result_store import NOTHING_YET, ResultStore
from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.many.sweeps.sensitivity import (
    KeyIndex,
    Question,
    indices_by_policy,
    questions_of,
    without_points,
)
from callboard.experiments.many.sweeps.sweep import read_cells
from callboard.experiments.pages.charts import gantt_chart, job_charts, slot_charts, store_charts
from callboard.experiments.pages.charts.cell_table import PARAMS_MAX
from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw, chart_run
from callboard.experiments.pages.charts.measure_chart import measure_chart
from callboard.experiments.pages.charts.measures import NOT_ALONE, Measure
from callboard.experiments.pages.charts.pooled_runs import pooled_runs
from callboard.experiments.pages.charts.run_labels import labelled_runs
from callboard.experiments.pages.charts.store_charts import Sensitivity, tornado_chart
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.solo_runs import (
    any_without_heartbeats,
    solo_times,
    solo_times_of_jobs,
)
from callboard.experiments.run.trust import NO_CODE
from callboard.experiments.user_errors import InputError
from callboard.journal.reader import Journal
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.registry.spelling import short_policy

DrawRuns = Callable[[Sequence[ChartRun]], Any]

MEASURE_CHART = "measure"
"""The one that can be of another measure than mean response time."""


class RunChart(NamedTuple):
    """A figure of runs: what it shows, how it is drawn, and what it needs of `ChartRun`."""

    shows: str
    draw: DrawRuns
    needs_solo: bool = False
    needs_shares: bool = False


class StoreChart(NamedTuple):
    """A figure of a sweep: what it shows, and how it is drawn."""

    shows: str
    draw: Callable[["StoredSweep", Measure], Any]


class StoredSweep(NamedTuple):
    """All that a store knows of: the runs, what was asked of them, and of a scenario, by its name,
    what a reader has to know and how it was asked for.
    """

    cells: Sequence[PlayedCell]
    questions: Sequence[Question] = ()
    notes: Mapping[str, str] = {}
    sources: Mapping[str, str] = {}


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
    "debt": RunChart(
        "what each pool is owed of its fair share", slot_charts.debt_chart, needs_shares=True
    ),
    "utilisation": RunChart("slots held over time", slot_charts.utilisation_chart),
    "locality": RunChart("how near to their data maps ran", slot_charts.locality_chart),
    MEASURE_CHART: RunChart("one figure of each run, side by side", measure_chart),
}
"""What can be drawn of runs."""


def takes_solo_times(name: str, measure: Measure) -> bool:
    """Whether this figure of runs, or the measure that it is of, takes jobs played alone."""
    if name == MEASURE_CHART:
        return measure.of_summary is None
    return name in RUN_CHARTS and RUN_CHARTS[name].needs_solo


def draw_run_chart(name: str, runs: Sequence[ChartRun], measure: Measure) -> Any:
    """The figure of runs of that name, `measure` of this measure."""
    return measure_chart(runs, measure) if name == MEASURE_CHART else RUN_CHARTS[name].draw(runs)


STORE_CHARTS: Mapping[str, StoreChart] = {
    "intervals": StoreChart(
        "means by setting and policy, with intervals",
        lambda sweep, measure: store_charts.intervals_chart(_cells_to_draw(sweep), measure),
    ),
    "differences": StoreChart(
        "differences to the first policy, seed by seed",
        lambda sweep, measure: store_charts.differences_chart(_cells_to_draw(sweep), measure),
    ),
    "tornado": StoreChart(
        "how much each key matters, after --sobol or --morris, of several the last",
        lambda sweep, _: _tornado_chart(sweep),
    ),
    "ecdf": StoreChart(
        "the share of jobs done within a time, of all seeds together",
        lambda sweep, _: job_charts.ecdf_chart(pooled_runs(sweep.cells)),
    ),
    "slowdown": StoreChart(
        "slowdown by the size of jobs, of all seeds together, after --slowdown",
        lambda sweep, _: _slowdown_chart(pooled_runs(sweep.cells)),
    ),
}
"""What can be drawn of a store."""


def _cells_to_draw(sweep: StoredSweep) -> Sequence[PlayedCell]:
    """The runs that have a row or a place in a figure; NothingToDraw if there are none."""
    cells = without_points(sweep.cells, sweep.questions)
    if sweep.cells and not cells:
        raise NothingToDraw("all runs are at points of --sobol or --morris; tornado draws those")
    return cells


def _slowdown_chart(runs: Sequence[ChartRun]) -> Any:
    if any(run.solo_ms is None for run in runs):
        raise NothingToDraw(NOT_ALONE)
    return job_charts.slowdown_chart(runs)


def _tornado_chart(sweep: StoredSweep) -> Any:
    """The last question's answer, under the first policy that has one."""
    for question in reversed(sweep.questions):
        for policy, found in indices_by_policy(question, sweep.cells).items():
            return sensitivity_chart(question, policy, found)
    raise NothingToDraw("nothing was asked by --sobol or --morris, or not all runs are there yet")


def sensitivity_chart(question: Question, policy: str, found: Sequence[KeyIndex]) -> Any:
    """The tornado of a question's answer under one policy."""
    title = f"{question.scenario}, {short_policy(policy, PARAMS_MAX)}"
    if question.method == "sobol":
        bars = [Sensitivity(e.key, e.total, e.other, e.main, e.main_half) for e in found]
        label = "share of the variance of mean response"
        return tornado_chart(bars, "with others", "alone", title, label)
    bars = [Sensitivity(each.key, each.main, each.main_half) for each in found]
    return tornado_chart(bars, "mean effect μ* on mean response (s)", title=title)


def read_store(path: Path) -> StoredSweep:
    """The runs and questions of a sweep's store.  InputError for what is none, or has none."""
    with ResultStore(path, must_exist=True) as store:
        cells, questions = read_cells(store), questions_of(store)
        notes, sources = store.notes(), store.scenario_sources()
    if not cells:
        raise InputError(f"{path}: {NOTHING_YET}")
    return StoredSweep(cells, questions, notes, sources)


def read_chart_runs(paths: Sequence[Path], *, with_shares: bool = True) -> list[ChartRun]:
    """The runs of journals, labelled so that they can be told apart.

    Raises InputError for an empty file, which may be a store to come, JournalError for what is no
    journal or is damaged, OSError, and ValueError (with the journal's name) for one without a run
    or with events that contradict each other.
    """
    runs: list[ChartRun] = []
    for path in paths:
        if path.is_file() and not path.stat().st_size:
            raise InputError(f"{path}: {NOTHING_YET}")
        try:
            runs.append(chart_run(Journal(path), with_shares=with_shares))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return labelled_runs(runs)


def with_solo_times(runs: Sequence[ChartRun], paths: Sequence[Path]) -> list[ChartRun]:
    """The runs with how long their jobs take alone, computed once for each world among them.

    Raises what `load_run` does where a world cannot be played again, as when its trace is gone,
    and InputError where it has not the jobs that were recorded.
    """
    known: list[tuple[object, dict[JobId, Millis]]] = []
    found: list[ChartRun] = []
    specs = [load_run(str(path), trust=NO_CODE) for path in paths]
    at_once = any_without_heartbeats(specs)
    for run, path, spec in zip(runs, paths, specs, strict=True):
        world = spec.jobs, spec.scenario.cluster, spec.scenario.tasks, spec.scenario.seed
        solo_ms = next((times for other, times in known if other == world), None)
        if solo_ms is None:
            solo_ms = solo_times(spec, at_once=at_once)
            known.append((world, solo_ms))
        alone_ms = solo_times_of_jobs(run.jobs, solo_ms)
        if not alone_ms[run.jobs.completed].all():
            raise InputError(f"{path}: its scenario does not give the jobs that it has recorded")
        found.append(replace(run, solo_ms=alone_ms))
    return found
