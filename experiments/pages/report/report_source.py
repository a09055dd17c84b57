"""What a report tells of, read from journals or from a store."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

import msgspec

from callboard.actors.config import Cluster
from callboard.experiments.many.sweeps.played_cell import CellOptions, PlayedCell, Setting
from callboard.experiments.many.sweeps.sensitivity import Question
from callboard.experiments.pages.charts.cell_table import CellTable
from callboard.experiments.pages.charts.chart_catalogue import (
    StoredSweep,
    read_chart_runs,
    read_store,
    with_solo_times,
)
from callboard.experiments.pages.charts.chart_run import ChartRun
from callboard.experiments.pages.charts.chart_style import unused_name
from callboard.experiments.pages.charts.run_labels import labelled_runs, run_settings
from callboard.experiments.pages.report.run_commands import backtest_command_line, journal_command
from callboard.experiments.pages.report.world_facts import (
    WorldFacts,
    facts_of_cell,
    facts_of_journal,
)
from callboard.experiments.run.run_hints import (
    any_by_heartbeats,
    interval_hint,
    recorded_switch_note,
)
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.user_errors import InputError
from callboard.journal.format import JournalError
from callboard.journal.tell.time_format import seconds_in_full
from callboard.journal.told_scenario import told_part_settings, told_scenario, told_scenario_table
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.quantities import as_sentence, count
from callboard.scheduler.text.scenario_error import ScenarioError

_LINES_MAX = 200
_BACKTEST = "The jobs are those of a recorded history. How far predictions of it are off:"


class ReportSource(msgspec.Struct, frozen=True, kw_only=True):
    """What a report tells of.

    `cells` are the runs; `drawn` are those whose slots are known, from their journals.  `worlds`
    describe the scenarios by name; `within_s` is the time that matters to the reader, if one does.
    `again` are the commands that give the same, `notes` what the reader must know about the input,
    `errors` how far predictions of a history may be off.
    """

    cells: Sequence[PlayedCell]
    drawn: Sequence[ChartRun] = ()
    questions: Sequence[Question] = ()
    worlds: Mapping[str, WorldFacts] = {}
    within_s: float | None = None
    again: Sequence[str] = ()
    notes: Sequence[str] = ()
    errors: Sequence[str] = ()
    recorded_by: Sequence[str] = ()
    """The versions of Callboard that journals name."""

    @property
    def run_results(self) -> list[RunResult]:
        return [cell.result for cell in self.cells if cell.result is not None]

    @property
    def played_count(self) -> int:
        """How many of the runs have been played, those that failed with them."""
        return sum(cell.was_played for cell in self.cells)


def source_of_journals(paths: Sequence[Path], within_s: float | None = None) -> ReportSource:
    """Runs from their journals, with times alone where their worlds can be played again.

    Raises what `read_chart_runs` does.
    """
    runs = read_chart_runs(paths)
    notes = [
        f"{path}: the run is not complete, and is told of as far as it goes."
        for run, path in zip(runs, paths, strict=True)
        if run.summary.reason is None
    ]
    try:
        runs = with_solo_times(runs, paths)
    except (ScenarioError, InputError, JournalError, OSError) as error:
        notes.append(no_slowdowns_note(error))
    if hint := interval_hint(_clusters_with_heartbeats(runs)):
        notes.append(as_sentence(hint))
    files = shlex.join(map(str, paths))
    again = [
        *(journal_command(path, run.policy) for path, run in zip(paths, runs, strict=True)),
        f"callboard report {files}{_within_option(within_s)} --to report.html",
    ]
    source = source_of_runs(runs, within_s)
    return msgspec.structs.replace(source, notes=notes, again=again, errors=_backtest_advice(runs))


def _clusters_with_heartbeats(runs: Sequence[ChartRun]) -> Iterator[Cluster]:
    """Those of runs whose policy goes by heartbeats, as far as journals tell."""
    for run in runs:
        started = run.slot_history.started
        with suppress(PolicySpecError):  # a policy's file that is not there
            cluster = told_scenario_table(started, "cluster", Cluster)
            if cluster is not None and any_by_heartbeats([run.policy], told_part_settings(started)):
                yield cluster


def no_slowdowns_note(why: Exception) -> str:
    """Why the page has no slowdowns."""
    return f"Slowdowns are left out, since the jobs cannot be played alone: {why}"


def _backtest_advice(runs: Sequence[ChartRun]) -> list[str]:
    """How to learn how far predictions are off, where jobs are a history's."""
    worlds = (told_scenario(run.slot_history.started) for run in runs)
    if not any(each.plays_history for each in worlds):
        return []
    policies = dict.fromkeys(run.policy for run in runs)
    return [f"{_BACKTEST} {backtest_command_line('HISTORY', policies)}"]


def source_of_runs(runs: Sequence[ChartRun], within_s: float | None = None) -> ReportSource:
    """Runs whose slots are known."""
    labelled = labelled_runs(runs)
    started = [run.slot_history.started for run in labelled]
    worlds = {each.name: facts_of_journal(each) for each in reversed(started)}
    for name, world in worlds.items():
        mine = {run.label: run.slot_history for run in labelled if run.summary.scenario == name}
        by_hand = recorded_switch_note(
            {label: told.switches for label, told in mine.items()}, world.switched_at
        )
        notes = [note for note in (world.switches, by_hand) if note]
        worlds[name] = msgspec.structs.replace(world, switches="; ".join(notes))
    return ReportSource(
        cells=_cells_of_runs(labelled),
        drawn=labelled,
        worlds=worlds,
        within_s=within_s,
        recorded_by=sorted({each.version for each in started}),
    )


def _within_option(within_s: float | None) -> str:
    return f" --slo {within_s:.15g}" if within_s else ""


def _cells_of_runs(runs: Sequence[ChartRun]) -> list[PlayedCell]:
    """The runs as cells; of several of one scenario, setting, policy and seed later ones have a
    number.
    """
    names: dict[tuple[str, Setting, int], list[str]] = {}
    cells = []
    for run, setting in zip(runs, run_settings(runs), strict=True):
        summary = run.summary
        taken = names.setdefault((summary.scenario, setting, summary.seed), [])
        taken.append(unused_name(summary.policy, taken))
        result = RunResult.of_recorded_run(summary, run.jobs, run.solo_ms)
        cells.append(PlayedCell(summary.scenario, setting, taken[-1], summary.seed, result))
    return cells


def source_of_store(path: Path, within_s: float | None = None) -> ReportSource:
    """The runs of a sweep's store.  Raises what `read_store` does."""
    sweep = read_store(path)
    return source_of_sweep(sweep, within_s, path)


def source_of_sweep(
    sweep: StoredSweep, within_s: float | None = None, store: Path | None = None
) -> ReportSource:
    """All that is known of a sweep, which is perhaps in a store."""
    first = {cell.scenario: cell for cell in reversed(sweep.cells)}
    worlds = {
        name: facts_of_cell(cell, sweep.sources.get(name, name)) for name, cell in first.items()
    }
    cut = {cell.scenario for cell in sweep.cells if cell.options is None}
    notes = list(_lost_world_notes(worlds, sweep.sources, perhaps_cut=cut))
    if store is not None:
        notes += _unknown_options_note(sweep.cells)
    return ReportSource(
        cells=sweep.cells,
        questions=sweep.questions,
        worlds=worlds,
        within_s=within_s,
        again=[] if store is None else _store_commands(sweep, store, within_s),
        notes=notes,
        errors=notes_with_scenario(sweep.cells, sweep.notes),
    )


def _unknown_options_note(cells: Sequence[PlayedCell]) -> list[str]:
    unknown = sum(cell.options is None for cell in cells)
    if not unknown:
        return []
    whose = "these runs" if unknown == len(cells) else f"{count(unknown, 'run')} of these"
    return [
        f"An earlier version of Callboard has kept {whose}, and not whether --until or --no-faults"
        " was given: the commands that play them again are without."
    ]


def _lost_world_notes(
    worlds: Mapping[str, WorldFacts], sources: Mapping[str, str], perhaps_cut: Collection[str]
) -> Iterator[str]:
    """Which scenarios cannot be told of, since their file is not there or says something else."""
    for name, world in worlds.items():
        if world == WorldFacts() and (file := sources.get(name, name)) != name:
            why = f"{file} is not there"
            if Path(file).exists():
                why = f"its runs are not those of {file} as it is now"
                why += ", or they were cut short" if name in perhaps_cut else ""
            yield f"{name}: its cluster cannot be told: {why}."


def notes_with_scenario(cells: Sequence[PlayedCell], notes: Mapping[str, str]) -> list[str]:
    """The notes of a store, each with the scenario that it is about where there are several."""
    several = len({cell.scenario for cell in cells}) > 1
    return [f"{name}: {note}" if several else note for name, note in notes.items()]


def _store_commands(sweep: StoredSweep, store: Path, within_s: float | None) -> list[str]:
    made = f"callboard report {shlex.quote(str(store))}{_within_option(within_s)} --to report.html"
    return [*sweep_command_lines(sweep.cells, str(store), sweep.sources), made]


def sweep_command_lines(
    cells: Sequence[PlayedCell], store: str, sources: Mapping[str, str] | None = None
) -> list[str]:
    """The commands that fill such a store, and play nothing else: a grid if the settings are one,
    else a line each.  `sources` are how scenarios were asked for, by their names.
    """
    lines = []
    for mine in _cells_of_each_sweep(cells):
        scenario, seeds = mine[0].scenario, sorted({cell.seed for cell in mine})
        words = ["callboard", "sweep", (sources or {}).get(scenario, scenario)]
        for policy in dict.fromkeys(cell.policy for cell in mine):
            words += ["--policy", policy]
        slowdown = all(cell.result is None or cell.result.solo_ms is not None for cell in mine)
        alone = ["--slowdown"] if slowdown else []
        for low, high in _unbroken_ranges(seeds):
            told = [*words, "--seeds", f"{low}..{high}", *alone, *_option_words(mine[0])]
            lines += [
                shlex.join([*told, *more, "--store", store]) for more in _setting_options(mine)
            ]
    return lines


def _option_words(cell: PlayedCell) -> Iterator[str]:
    """What was asked of its sweep beside places, as far as that is known."""
    options = cell.options or CellOptions()
    if not options.faults:
        yield "--no-faults"
    if options.until_ms is not None:
        yield from ("--until", seconds_in_full(options.until_ms))


def _unbroken_ranges(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted seeds as ranges from one to another."""
    begins = [seed for seed in seeds if seed - 1 not in seeds]
    return list(zip(begins, [seed for seed in seeds if seed + 1 not in seeds], strict=True))


def _cells_of_each_sweep(cells: Sequence[PlayedCell]) -> Iterator[Sequence[PlayedCell]]:
    """The cells that one sweep may have filled: of one scenario with the same options, in settings
    of the same keys, each under the same policies with the same seeds.
    """
    seeds: dict[_SeedRow, list[int]] = {}
    for cell in cells:
        seeds.setdefault(_seed_row(cell), []).append(cell.seed)
    policies: dict[tuple[str, CellOptions | None, Setting, tuple[int, ...]], list[str]] = {}
    for (scenario, options, setting, policy), played in seeds.items():
        alike = (scenario, options, setting, tuple(sorted(played)))
        policies.setdefault(alike, []).append(policy)
    sweeps: dict[object, set[_SeedRow]] = {}
    for (scenario, options, setting, in_order), names in policies.items():
        keys = tuple(key for key, _ in setting)
        mine = sweeps.setdefault((scenario, options, keys, in_order, tuple(names)), set())
        mine |= {(scenario, options, setting, name) for name in names}
    for mine in sweeps.values():
        yield [cell for cell in cells if _seed_row(cell) in mine]


_SeedRow = tuple[str, CellOptions | None, Setting, str]
"""What cells have in common that differ in their seeds alone."""


def _seed_row(cell: PlayedCell) -> _SeedRow:
    return cell.scenario, cell.options, cell.setting, cell.policy


def _setting_options(cells: Sequence[PlayedCell]) -> Iterator[list[str]]:
    """The options for the settings of cells of one scenario."""
    table = CellTable(cells)
    varied = table.varied
    grid = list(product(*varied.values()))
    found = {tuple(dict(setting).get(key, "") for key in varied) for setting in table.settings}
    held = [(key, value) for key, value in table.settings[0] if key not in varied]
    fixed = [word for key, value in held for word in ("--set", f"{key}={value}")]
    if set(grid) == found and not any("," in value for each in grid for value in each):
        options = [("--vary", f"{key}={','.join(values)}") for key, values in varied.items()]
        yield [*fixed, *(word for option in options for word in option)]
        return
    for setting in table.settings[:_LINES_MAX]:
        yield [word for key, value in setting for word in ("--set", f"{key}={value}")]
