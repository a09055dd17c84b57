"""Play scenarios in many settings, under policies, with several seeds; keep every result in a file,
and play only what is missing in it.

examples:
  callboard sweep small-jobs --vary cluster.nodes=60,80,100 --seeds 5 --store s.sqlite
  callboard sweep small-jobs --vary 'policy=fair,fair+delay(node={1,5,15})' --seeds 1001..1010 \\
    --store s.sqlite
  callboard sweep --design grid.toml --store s.sqlite
  callboard sweep --show --store s.sqlite --export s.csv
  callboard sweep hfsp-test --sobol tasks.sigma=0..1 --sobol cluster.nodes=10..30 --store t.sqlite
  callboard sweep small-jobs --seeds 100 --store s.sqlite --on dask://10.0.0.1:8786

Stop it at any time, however hard: the same command goes on from there.  The exit status is 1 if
runs have failed.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import msgspec

from callboard.arguments import OneFile, parse_moment, whole_number_type
from callboard.backtest_sentences import swept_backtest_sentence
from callboard.console import ReportConsole, print_aside
from callboard.experiments.journal_paths import file_path
from callboard.experiments.many.result_store import NOTHING_YET, ResultStore
from callboard.experiments.many.sweeps.design_file import read_design
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.many.sweeps.sensitivity import (
    Question,
    asked_method,
    few_points_note,
    index_rows,
    indices_by_policy,
    keep_question,
    parse_range,
    question_about,
    questions_of,
    without_points,
)
from callboard.experiments.many.sweeps.sweep import SweepCounts, read_cells, run_sweep
from callboard.experiments.many.sweeps.sweep_plan import COLUMNS, PlannedSweep, SweepPlan
from callboard.experiments.many.sweeps.sweep_rows import (
    TEXT_FIGURES,
    SettingRuns,
    by_setting,
    columns_of_runs,
    number_or_text,
)
from callboard.experiments.many.sweeps.variation import (
    POLICY,
    all_combinations,
    fixed_setting,
    parse_variation,
)
from callboard.experiments.many.task_pool import SharedBoard, Workers, dask_workers, local_workers
from callboard.experiments.pages.report.report_source import notes_with_scenario
from callboard.experiments.pages.report.report_words import seed_copies_note, skewed_remark
from callboard.experiments.run.run_hints import switch_note
from callboard.experiments.run.run_loading import RunSource
from callboard.experiments.run.simulation import stopping_on_ctrl_c
from callboard.experiments.run.trust import Trust
from callboard.experiments.user_errors import EXIT_FAILED, EXIT_INTERRUPTED, InputError
from callboard.experiments.whole_files import replacement_words, whole_file
from callboard.histories.quantiles import require_scipy
from callboard.journal.export.table_files import check_parquet, write_csv, write_parquet
from callboard.progress_line import steps_progress
from callboard.queue_files import queue_overrides
from callboard.run_arguments import (
    add_allocations_argument,
    add_engine_argument,
    add_trust_argument,
    tell_before_play,
)
from callboard.scheduler.text.quantities import count
from callboard.stdio import print_json
from callboard.tables.engine_lines import engine_lines
from callboard.tables.sweep_table import index_table, sweep_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenarios", nargs="*", default=[], metavar="SCENARIO", help="as for `callboard run`")
    add("--store", type=Path, required=True, metavar="FILE", help="where results are kept")
    add = parser.add_argument_group("what is played").add_argument
    policy = "as for `callboard run`; may be repeated; else each scenario's own"
    add("--policy", action="append", default=[], metavar="POLICY", help=policy)
    vary = "a key of the scenario, or `policy`, and its values; may be repeated, for a grid"
    add("--vary", action="append", default=[], metavar="KEY=V1,V2", help=vary)
    columns = "what the columns of a table mean (`callboard import --help`)"
    add("--map", metavar="MEANING=COLUMN,...", help=columns)
    fixed = "a field of the scenario that is the same in all settings"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=fixed)
    add_allocations_argument(add)
    add("--seeds", metavar="N|LO..HI", help="how many seeds, or a range of them (default: 1)")
    add("--slowdown", action="store_true", help="also compare each job with itself alone")
    add("--no-faults", action="store_true", help="leave out the scenarios' timelines")
    add("--until", type=parse_moment, metavar="TIME", help="end each run at this virtual time")
    add_trust_argument(parser)
    design = "a TOML file with all of this (docs/experiments.md)"
    add("--design", type=Path, metavar="FILE", help=design)
    add = parser.add_argument_group("which keys matter").add_argument
    ranged = "vary the key between two values, and say how much of the variance it explains"
    add("--sobol", action="append", default=[], metavar="KEY=LO..HI", help=ranged)
    effects = "the same by Morris' elementary effects, which takes fewer runs"
    add("--morris", action="append", default=[], metavar="KEY=LO..HI", help=effects)
    samples = (
        "base points: n (k + 2) settings of k keys by Sobol (default: 64), n (k + 1) by Morris"
    )
    add("--samples", type=whole_number_type(2, 100_000), metavar="N", help=samples)
    _add_worker_arguments(parser)


def _add_worker_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("who plays it").add_argument
    add(
        "--cores",
        type=whole_number_type(1, 10_000),
        metavar="N",
        help="processes (default: all cores)",
    )
    add("--on", metavar="dask://HOST:PORT", help="the workers of a Dask cluster")
    add_engine_argument(add)
    add("--retry", action="store_true", help="play again what has failed")
    add = parser.add_argument_group("what comes out").add_argument
    add(
        "--show",
        action="store_true",
        help="play nothing; show all settings that the store has, as they were played last",
    )
    export = "also write a row for each run, as CSV or, by the name's ending, Parquet"
    add("--export", action=OneFile, metavar="FILE", help=export)
    listed = (
        "print a list of runs in JSON instead of the table; with --sobol or --morris `runs`, and"
        " `indices` of each policy and key"
    )
    add("--json", action="store_true", help=listed)


def sweep_command(options: argparse.Namespace) -> int:
    require_scipy()
    export = _export_path(options)
    if options.show:
        _refuse_plan_with_show(options)
        with ResultStore(options.store, must_exist=True) as store:
            return _print_results(read_cells(store), questions_of(store), store, options, export)
    plan, question = _plan(options)
    sweep = PlannedSweep(plan)
    for name in plan.scenarios:
        tell_before_play(sweep.first_run(name), sweep.policies[name], options.allocations)
    with ResultStore(options.store) as store:
        questions = []
        if question is not None:
            questions = [keep_question(question, sweep.scenario_name(plan.scenarios[0]), store)]
        counts, stopped = _play(sweep, store, options)
        known = {cell.place: cell for cell in read_cells(store)}
        asked = dict.fromkeys(sweep.places())  # points of a question may be drawn twice
        cells = [known[place] for place in asked if place in known]
        status = _print_results(cells, questions, store, options, export)
        if not options.json:
            if others := sum(each.was_played for each in known.values() if each.place not in asked):
                told = f"the store has {count(others, 'run')} of other sweeps, too"
                ReportConsole().print_line(f"{told}; --show shows all")
            switches = (switch_note(sweep.first_run(name)) for name in plan.scenarios)
            ReportConsole().print_lines(filter(None, (*switches, *sweep.interval_hints())))
        _print_counts(counts, stopped=stopped)
    if stopped:
        return EXIT_INTERRUPTED
    return EXIT_FAILED if counts.failed else status


_IN_A_DESIGN = ("scenarios", "vary", "policy", "seeds", "set", "slowdown")
"""The options of which a design says the same."""

_IN_NO_DESIGN = ("sobol", "morris", "samples", "map", "no_faults", "until", "allocations")
"""Those for which it has no place."""


_FOR_PLAYING = ("design", "retry", "trust", "cores", "on")
"""Those that say where the plan is, or who plays it."""


def _refuse_plan_with_show(options: argparse.Namespace) -> None:
    given = _first_given((*_IN_A_DESIGN, *_IN_NO_DESIGN, *_FOR_PLAYING), options)
    if given or options.engine != "auto":
        raise InputError(f"--show plays nothing; leave out {_as_typed(given or 'engine')}")


def _first_given(names: Iterable[str], options: argparse.Namespace) -> str:
    """The first of the arguments that is given, be it a time of 0; empty if none is."""
    return next((each for each in names if not _is_default(vars(options)[each])), "")


def _is_default(value: object) -> bool:
    return value is None or value is False or value == []


def _as_typed(name: str) -> str:
    return "a scenario" if name == "scenarios" else f"--{name.replace('_', '-')}"


def _plan(options: argparse.Namespace) -> tuple[SweepPlan, Question | None]:
    """The sweep that the arguments ask for, and the question behind it."""
    if options.design is not None:
        if beside := _first_given((*_IN_A_DESIGN, *_IN_NO_DESIGN), options):
            there = ", or write it there" if beside in _IN_A_DESIGN else ""
            raise InputError(f"--design says what is played; leave out {_as_typed(beside)}{there}")
        plan = read_design(options.design)
        changes = {"trust": options.trust, "engine": options.engine}
        return msgspec.structs.replace(plan, **changes), None
    if not options.scenarios:
        raise InputError("name a scenario, as in `callboard sweep small-jobs --store s.sqlite`")
    varied = [parse_variation(text) for text in options.vary]
    spelled = [parse_variation(f"{POLICY}={text}")[1] for text in options.policy]
    policies = [name for key, values in varied if key == POLICY for name in values]
    fixed = _fixed(options)
    question = _sensitivity_question(options, [key for key, _ in varied], fixed)
    under = tuple(dict.fromkeys([*(name for names in spelled for name in names), *policies]))
    settings = all_combinations([each for each in varied if each[0] != POLICY])
    if question is not None:
        settings = question.settings()
    plan = SweepPlan(
        scenarios=tuple(dict.fromkeys(options.scenarios)),
        policies=under,
        settings=settings,
        fixed=fixed,
        seeds=options.seeds or "1",
        slowdown=options.slowdown,
        faults=not options.no_faults,
        trust=options.trust,
        until_ms=options.until,
        engine=options.engine,
    )
    return plan, question


def _sensitivity_question(
    options: argparse.Namespace, varied: Sequence[str], fixed: Setting
) -> Question | None:
    """The sensitivity that is asked for, if any, beside the `varied` keys."""
    given = options.sobol, options.morris, options.samples
    method = asked_method(*given, varied, options.scenarios)
    if method is None:
        return None
    source = RunSource(options.scenarios[0], trust=Trust(options.trust, tuple(options.policy)))
    ranges = [parse_range(text) for text in options.sobol or options.morris]
    return question_about(source, method, ranges, options.samples, fixed)


def _fixed(options: argparse.Namespace) -> Setting:
    columns, allocations = options.map, options.allocations
    queues = [] if allocations is None else queue_overrides(allocations, options.policy)
    return fixed_setting([f"{COLUMNS}={columns}"] * bool(columns) + queues + options.set)


def _play(
    sweep: PlannedSweep, store: ResultStore, options: argparse.Namespace
) -> tuple[SweepCounts, bool]:
    """Play what is missing, and note how far histories are off; how many runs there were, and
    whether Ctrl-C came.
    """
    shared = SharedBoard(0)
    with ExitStack() as stack:
        if options.on is None:
            stack.enter_context(stopping_on_ctrl_c(shared.request_stop))
        workers = stack.enter_context(_worker_pool(options, shared))
        move = stack.enter_context(steps_progress("runs", len(sweep), left=True))
        counts = run_sweep(
            sweep,
            store,
            workers,
            lambda more: move("", more),
            retry=options.retry,
            stopped=lambda: bool(shared.stop.value),
        )
        stopped = bool(shared.stop.value)
        for history in () if stopped else sweep.histories():
            store.put_note(
                sweep.scenario_name(history.name), swept_backtest_sentence(history, store, workers)
            )
    return counts, stopped


def _worker_pool(
    options: argparse.Namespace, shared: SharedBoard
) -> AbstractContextManager[Workers]:
    if options.on is not None:
        return dask_workers(options.on)
    return local_workers(options.cores, shared)


def _print_counts(counts: SweepCounts, *, stopped: bool) -> None:
    """What was played, on standard error."""
    alone = f" (and the jobs of {count(counts.alone, 'world')} alone)" * bool(counts.alone)
    told = f"{count(counts.played, 'run')} played{alone}, {counts.found} there before"
    told += f", {counts.failed} of them failed (--retry plays those again)" * bool(counts.failed)
    changed = "their policy, their scenario or --until is another now"
    told += f"; {counts.outdated} of before left out: {changed}" * bool(counts.outdated)
    told += "; stopped: the same command goes on from there" * stopped
    print_aside(told)


def _print_results(
    cells: Sequence[PlayedCell],
    questions: Sequence[Question],
    store: ResultStore,
    options: argparse.Namespace,
    export: Path | None,
) -> int:
    """The table of these runs but points of questions, what failed, and the answers to these."""
    played = [cell for cell in cells if cell.was_played]
    if export is not None:
        _export(played, export)
    if options.json:
        runs = [_as_json(cell) for cell in played]
        print_json({"runs": runs, "indices": index_rows(questions, cells)} if questions else runs)
        return 0
    console = ReportConsole()
    if not played:
        console.print_line(f"{options.store}: {NOTHING_YET}")
        return 0
    groups = by_setting(without_points(played, questions))
    if groups:
        console.print_table_in_parts(sweep_table([group.without_copies() for group in groups]))
    results = (cell.result for cell in cells if cell.result is not None)
    notes = notes_with_scenario(cells, store.notes())
    copies = filter(None, [seed_copies_note(groups)])
    console.print_lines(
        (
            *_failure_lines(cells),
            *copies,
            *_skewed_settings_lines(groups),
            *notes,
            *engine_lines(results),
        )
    )
    for question in questions:
        known = indices_by_policy(question, cells)
        for policy, indices in known.items():
            console.print(index_table(question, policy, indices))
            if few := few_points_note(question, indices):
                console.print_line(few)
        if not known:
            of = count(len(question.settings_with_fixed()), "setting")
            console.print_line(f"{question.method}: some of its {of} have not been played")
    return 0


def _skewed_settings_lines(groups: Sequence[SettingRuns]) -> Iterator[str]:
    """How many settings are of too few seeds for how skewed they are, where they are more than a
    fifth; about a tenth is chance.
    """
    skewed = sum(bool(skewed_remark(group.runs)) for group in groups)
    if skewed > len(groups) / 5:
        told = f"mean response times of {skewed} of {count(len(groups), 'setting')}"
        yield f"a few seeds differ much from the rest ({told}): 95 % intervals may be too narrow"


def _failure_lines(cells: Sequence[PlayedCell]) -> Iterator[str]:
    """The messages of failed runs, each once, with how many it stands for."""
    messages: dict[str, list[PlayedCell]] = {}
    for cell in cells:
        if cell.error:
            messages.setdefault(cell.error_in_short, []).append(cell)
    for message, failed in messages.items():
        first = failed[0]
        setting = (f"{key}={value}" for key, value in first.setting)
        where = f"{' '.join((*setting, first.policy))}, seed {first.seed}"
        yield f"{count(len(failed), 'run')} failed: {message} (first: {where})"


def _as_json(cell: PlayedCell) -> dict[str, object]:
    head: dict[str, object] = {
        "scenario": cell.scenario,
        "setting": {key: number_or_text(text) for key, text in cell.setting},
        "policy": cell.policy,
        "seed": cell.seed,
        "key": cell.key,
        "error": cell.error or None,
    }
    return {**head, "run": None if cell.result is None else cell.result.as_json()}


def _export_path(options: argparse.Namespace) -> Path | None:
    """Where rows are to be written; InputError for a name that says no format."""
    if options.export is None:
        return None
    path = file_path("--export", options.export)
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"--export {path}: the name must end in .csv or .parquet")
    if path.suffix == ".parquet":
        check_parquet()
    return path


def _export(cells: Sequence[PlayedCell], path: Path) -> None:
    columns, replaces = columns_of_runs(cells), replacement_words(path)
    with whole_file(path) as part:
        if path.suffix == ".parquet":
            write_parquet(columns, part, {}, TEXT_FIGURES)
        else:
            with part.open("w", encoding="utf-8", newline="") as file:
                write_csv(columns, file)
    print_aside(f"wrote {count(len(cells), 'row')} to {path}{replaces}")
