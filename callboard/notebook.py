"""What the Python calls give: a run, a comparison over seeds, a sweep."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, RenderableType

from callboard.actors.vocabulary.events import AnyEvent
from callboard.column_table import ColumnTable
from callboard.experiments.live.live_server import start_runs
from callboard.experiments.many.seed_runs import Figure, SeedRuns, mean_response_s
from callboard.experiments.many.statistics import Interval, PairedComparison
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.many.sweeps.sensitivity import index_rows
from callboard.experiments.many.sweeps.sweep_rows import (
    SettingRuns,
    as_numbers,
    by_setting,
    columns_of_runs,
)
from callboard.experiments.pages.charts.chart_catalogue import (
    StoredSweep,
    read_store,
    takes_solo_times,
)
from callboard.experiments.pages.charts.chart_run import ChartRun, chart_run
from callboard.experiments.pages.charts.measures import measure_named
from callboard.experiments.pages.report.report_source import (
    ReportSource,
    no_slowdowns_note,
    source_of_runs,
    source_of_sweep,
)
from callboard.experiments.pages.report.run_commands import (
    AskedWorld,
    comparison_commands,
    journal_command,
    spec_command,
)
from callboard.experiments.pages.report.world_facts import facts_of_scenario
from callboard.experiments.pages.report.write_report import write_report
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.experiments.run.solo_runs import solo_times, solo_times_of_jobs
from callboard.experiments.run.stopwatch import SchedulingCost
from callboard.experiments.user_errors import InputError
from callboard.journal.checks.findings import RuleReport
from callboard.journal.export.export_data import ExportData
from callboard.journal.export.rows import TOLD_OF_JOBS, attempt_columns, job_result_columns
from callboard.journal.figures.slowdown import Slowdowns
from callboard.journal.figures.summary import Summary
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.names import class_name_in_words
from callboard.journal.tell.sentences import Narrator
from callboard.picture import Picture, picture_of_runs, picture_of_sweep
from callboard.python_call_checks import check_instances, check_positive
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.screen import show_on_screen
from callboard.tables.policy_table import policy_table
from callboard.tables.seed_table import difference_table, seed_table
from callboard.tables.sweep_table import sweep_table
from callboard.terminal import check_terminal
from callboard.tui.user_config import check_theme, load_config

_PAGE_WIDTH = 110


class Run:
    """One run: its figures, its jobs, and, when they are asked for, its tasks and events.

    These are read from the journal where the run is recorded.  Otherwise the run is played again,
    which gives the same events, and costs as long as before.  `result` has all that was counted
    (`RunResult`).  Of a journal whose history is not beside it `spec` is the error that says so.
    """

    def __init__(
        self,
        spec: RunSpec | ScenarioError,
        result: RunResult,
        journal: Path | None = None,
        asked: AskedWorld | None = None,
    ) -> None:
        self._spec = spec
        self.result = result
        self.journal = journal
        self._asked = asked
        self._data: ExportData | None = None
        self._events: list[AnyEvent] | None = None

    @property
    def spec(self) -> RunSpec:
        """What is played; ScenarioError where the history that it plays is not there."""
        if isinstance(self._spec, ScenarioError):
            raise self._spec
        return self._spec

    @property
    def summary(self) -> Summary:
        """All figures of the run."""
        return self.result.summary

    @property
    def slowdown(self) -> Slowdowns | None:
        """Each completed job against itself alone; None unless asked for."""
        return self.result.slowdown

    @property
    def checks(self) -> tuple[RuleReport, ...]:
        """The rules that were tested; none unless asked for."""
        return self.result.checks

    @property
    def scheduling(self) -> SchedulingCost:
        """What the policy has cost."""
        return self.result.scheduling

    @property
    def wall_seconds(self) -> float:
        """How long computing the run took."""
        return self.result.wall_seconds

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C has ended it."""
        return self.result.interrupted

    @property
    def jobs(self) -> ColumnTable:
        """A row for each job: whose it is, its tasks, and its times in virtual ms."""
        return ColumnTable(_job_columns(self.result))

    @property
    def tasks(self) -> ColumnTable:
        """A row for each attempt that was launched (docs/export.md says what the columns are)."""
        if self._data is None:
            self._data = ExportData.of_events(self._all_events())
        return ColumnTable(attempt_columns(self._data, self._data.attempts()))

    @property
    def events(self) -> ColumnTable:
        """A row for each event: when, its kind, and in words."""
        state = RunState()
        narrator, text = Narrator(state), list[str]()
        for event in self._all_events():
            text.append(narrator.describe(event))
            state.observe(event)
        return ColumnTable(
            {
                "at_ms": [event.at_ms for event in self._all_events()],
                "event": [class_name_in_words(type(event)) for event in self._all_events()],
                "text": text,
            }
        )

    def _all_events(self) -> Sequence[AnyEvent]:
        """The events, from the journal or played again."""
        if self._events is None and self.journal is not None:
            self._events = list(Journal(self.journal))
        elif self._events is None:
            self._events = []
            Simulation(self.spec, [self._events.append]).run()
        return self._events

    def plot(self, figure: str = "ecdf", *beside: "Run", of: str = "mean") -> Picture:
        """A figure by its name (docs/figures.md), of this run and of others beside it; `of` is what
        the figure `measure` is of.

        InputError for an unknown name, NothingToDraw, MissingExtraError without matplotlib.
        """
        check_instances("plot", beside, Run)
        alone = takes_solo_times(figure, measure_named(of))
        runs = [run.chart_run(alone=alone) for run in (self, *beside)]
        return picture_of_runs(figure, runs, of)

    def report(self, to: str | Path, *beside: "Run", within_s: float | None = None) -> Path:
        """Write a page about this run and others beside it (docs/report.md), and say where.

        With `within_s` it says which share of the jobs was done within that time.  OSError as
        files do, MissingExtraError.
        """
        check_instances("report", beside, Run)
        check_positive("within_s", within_s)
        notes: list[str] = []
        try:
            runs = [run.chart_run(alone=True) for run in (self, *beside)]
        except ScenarioError as error:
            runs = [run.chart_run() for run in (self, *beside)]
            notes.append(no_slowdowns_note(error))
        again = list(filter(None, (run._command_to_repeat() for run in (self, *beside))))
        source = source_of_runs(runs, within_s)
        source = msgspec.structs.replace(source, again=again, notes=notes)
        write_report(source, Path(to))
        return Path(to)

    def _command_to_repeat(self) -> str:
        """What plays the run again; empty where nobody can tell."""
        if self.journal is not None:
            return journal_command(self.journal, self.summary.policy)
        return "" if self._asked is None else spec_command(self._asked, self.spec)

    def chart_run(self, *, alone: bool = False) -> ChartRun:
        """What charts are drawn from; with how long each job takes alone, if that is wanted."""
        run, solo_ms = chart_run(self._all_events()), self.result.solo_ms
        if solo_ms is None and alone:
            solo_ms = solo_times_of_jobs(run.jobs, solo_times(self.spec))
        return replace(run, solo_ms=solo_ms)

    def watch(self, theme: str = "") -> None:
        """Show the run on the terminal's screen, from its beginning.  Without a `theme` it has that
        of the user's config file; InputError where there is no terminal.
        """
        check_terminal()
        config = load_config()
        config = msgspec.structs.replace(config, theme=check_theme(theme)) if theme else config
        source = start_runs([self.spec], [None])
        try:
            show_on_screen(source, config)
        finally:
            source.close()

    def as_json(self) -> dict[str, object]:
        """The run as plain data, as `callboard run --json` prints it."""
        return self.result.as_json()

    def __repr__(self) -> str:
        summary = self.summary
        mean = summary.response_seconds.mean
        told = "no job completed" if mean is None else f"mean response {mean:,.1f} s"
        jobs = f"{summary.jobs.completed} of {summary.jobs.submitted} jobs"
        return f"<{summary.scenario} under {summary.policy}, seed {summary.seed}: {jobs}, {told}>"

    def _repr_html_(self) -> str:
        return _rendered_html(policy_table([self.result]))


class Comparison:
    """Policies on the same seeds of one scenario."""

    def __init__(self, runs: SeedRuns, spec: RunSpec, asked: AskedWorld) -> None:
        self.seed_runs = runs
        self._spec = spec
        self._asked = asked

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the order in which they were asked for."""
        return self.seed_runs.policies

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, in that order too."""
        return self.seed_runs.seeds

    @property
    def runs(self) -> ColumnTable:
        """A row for each run, with its main figures."""
        return ColumnTable(columns_of_runs(self._played_cells()))

    @property
    def jobs(self) -> ColumnTable:
        """A row for each job of each run, as `Run` has them, with the policy and the seed."""
        return _jobs_table(self._played_cells())

    def mean(self, policy: str, figure: Figure = mean_response_s) -> Interval:
        """The mean of a figure over the seeds with its 95 % interval; of the mean response time in
        seconds unless another is named, such as `lambda run: run.summary.utilisation.map`.
        """
        return self.seed_runs.mean(self._policy_index(policy), figure)

    def difference(self, policy: str, figure: Figure = mean_response_s) -> PairedComparison:
        """A policy against the first, seed by seed, in such a figure."""
        return self.seed_runs.against_first(self._policy_index(policy), figure)

    def plot(self, figure: str = "intervals", of: str = "mean") -> Picture:
        """A figure by its name, as of a store (docs/figures.md); `of` is what intervals are of.

        InputError for an unknown name, NothingToDraw, MissingExtraError without matplotlib.
        """
        return picture_of_sweep(figure, StoredSweep(self._played_cells()), of)

    def report(self, to: str | Path, within_s: float | None = None) -> Path:
        """Write a page about the comparison (docs/report.md), and say where.  Errors as `Run`'s."""
        check_positive("within_s", within_s)
        write_report(self._report_source(within_s), Path(to))
        return Path(to)

    def _report_source(self, within_s: float | None) -> ReportSource:
        cells = self._played_cells(self._asked.setting)
        slowdown = all(each.result is None or each.result.solo_ms is not None for each in cells)
        return ReportSource(
            cells=cells,
            worlds={self.seed_runs.scenario: facts_of_scenario(self._spec.scenario)},
            within_s=within_s,
            again=comparison_commands(self._asked, self.policies, self.seeds, slowdown=slowdown),
        )

    def _policy_index(self, policy: str) -> int:
        if policy not in self.policies:
            known = ", ".join(self.policies)
            raise InputError(f"{policy}: not among the policies compared ({known})")
        return self.policies.index(policy)

    def _played_cells(self, setting: Setting = ()) -> list[PlayedCell]:
        runs = self.seed_runs
        return [
            PlayedCell(runs.scenario, setting, policy, seed, result)
            for seed, row in zip(runs.seeds, runs.rows, strict=True)
            for policy, result in zip(runs.policies, row, strict=True)
        ]

    def __repr__(self) -> str:
        named = ", ".join(self.policies)
        return f"<{self.seed_runs.scenario} under {named}: {count(len(self.seeds), 'seed')}>"

    def _repr_html_(self) -> str:
        return _rendered_html(seed_table(self.seed_runs), difference_table(self.seed_runs))


class Sweep:
    """The runs of a store, or of a sweep."""

    def __init__(self, cells: Sequence[PlayedCell], store: Path | None = None) -> None:
        self.cells = tuple(cells)
        self.store = store

    @property
    def runs(self) -> ColumnTable:
        """A row for each run, with its setting and main figures."""
        return ColumnTable(columns_of_runs(self.cells))

    @property
    def jobs(self) -> ColumnTable:
        """A row for each job of each run, as `Run` has them, with its setting, policy and seed."""
        return _jobs_table(self.cells)

    @property
    def indices(self) -> ColumnTable:
        """How much each key matters for the mean response time, after `sobol` or `morris`: a row
        for each policy and key, with their figures as the method calls them.
        """
        rows = index_rows(self._stored_sweep().questions, self.cells)
        names = dict.fromkeys(name for row in rows for name in row)
        return ColumnTable({name: [row.get(name) for row in rows] for name in names})

    @property
    def failed(self) -> tuple[PlayedCell, ...]:
        """The runs that failed, each with its `error`."""
        return tuple(cell for cell in self.cells if cell.error)

    def settings(self) -> list[SettingRuns]:
        """The runs side by side, by scenario and setting."""
        return by_setting(self.cells)

    def plot(self, figure: str = "intervals", of: str = "mean") -> Picture:
        """A figure by its name (docs/figures.md); `of` is what intervals are of.

        InputError for an unknown name, NothingToDraw, MissingExtraError without matplotlib.
        """
        return picture_of_sweep(figure, self._stored_sweep(), of)

    def report(self, to: str | Path, within_s: float | None = None) -> Path:
        """Write a page about the sweep (docs/report.md), and say where.  Errors as `Run`'s."""
        check_positive("within_s", within_s)
        write_report(source_of_sweep(self._stored_sweep(), within_s, self.store), Path(to))
        return Path(to)

    def _stored_sweep(self) -> StoredSweep:
        """The runs, and what was asked of the store."""
        if self.store is None:
            return StoredSweep(self.cells)
        return read_store(self.store)._replace(cells=self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        settings = count(len(self.settings()), "setting")
        return f"<{count(len(self.cells), 'run')} in {settings}{failed}>"

    def _repr_html_(self) -> str:
        return _rendered_html(sweep_table(self.settings()))


def _jobs_table(cells: Sequence[PlayedCell]) -> ColumnTable:
    """The jobs of all runs below each other."""
    played = [(cell, _job_columns(cell.result)) for cell in cells if cell.result is not None]
    keys = list(dict.fromkeys(key for cell, _ in played for key, _ in cell.setting))
    columns: dict[str, list[Any]] = {
        "scenario": [cell.scenario for cell, jobs in played for _ in jobs["job"]]
    }
    for key in keys:
        columns[key] = as_numbers(
            [dict(cell.setting).get(key) for cell, jobs in played for _ in jobs["job"]]
        )
    columns["policy"] = [cell.policy for cell, jobs in played for _ in jobs["job"]]
    columns["seed"] = [cell.seed for cell, jobs in played for _ in jobs["job"]]
    names = list(TOLD_OF_JOBS)
    if played and all("solo_ms" in jobs for _, jobs in played):
        names.append("solo_ms")
    for name in names:
        columns[name] = [value for _, jobs in played for value in jobs[name]]
    return ColumnTable(columns)


def _job_columns(result: RunResult) -> dict[str, Any]:
    """The jobs of one run, with their times in virtual ms; `solo_ms` is there where it is known."""
    columns: dict[str, Any] = dict(job_result_columns(result.jobs))
    if result.solo_ms is not None:
        columns["solo_ms"] = result.solo_ms
    return columns


def _rendered_html(*shown: RenderableType) -> str:
    """What a terminal would show, as HTML for a notebook; Rich is not to show it there too."""
    nowhere = io.StringIO()
    console = Console(
        record=True, width=_PAGE_WIDTH, file=nowhere, highlight=False, force_jupyter=False
    )
    for each in shown:
        console.print(each)
    return console.export_html(code_format="<pre>{code}</pre>", inline_styles=True)
