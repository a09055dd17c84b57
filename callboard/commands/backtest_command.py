"""Play a recorded history under a policy, and compare it with what happened, job by job.

Before a history is believed on what another policy would have done, the one that was in force
should predict what was.  Jobs that their users killed, or that did not succeed, are left out.
With --train only the first jobs calibrate the cluster, and the others are predicted.

examples:
  callboard backtest history/done --policy fair
  callboard backtest trace.json.gz --policy fifo --policy fair --figure occupancy.svg
  callboard backtest history/done --policy fair --train 60% --seeds 10
  callboard calibrate history/done --to mine.toml && callboard backtest mine.toml --policy fair
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from callboard.arguments import OneFile
from callboard.console import PlainConsole, ReportConsole, print_aside
from callboard.experiments.backtest.backtest import Backtest, backtest
from callboard.experiments.backtest.history_parts import (
    HistoryPart,
    calibration_of_part,
    part_name_of_job,
    parted_history,
    run_with_typical_initialisation,
    trained_overrides,
    unparted_history,
)
from callboard.experiments.backtest.recorded_history import (
    RecordedHistory,
    check_comparable,
    history_from_import,
    imported_history,
    partial_load_note,
    rare_heartbeats_note,
    recorded_busy,
    scripted_timeline_note,
    unplayed_jobs_note,
)
from callboard.experiments.backtest.seeds_backtest import FIGURES, PolicyBacktest
from callboard.experiments.journal_paths import file_path, refuse_journal_as_history
from callboard.experiments.many.run_tasks import worthy_engine
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.pages.charts.backtest_chart import Occupancy, backtest_chart
from callboard.experiments.pages.charts.chart_style import (
    CHART_ENDINGS,
    check_matplotlib,
    save_chart,
)
from callboard.experiments.run.run_hints import any_by_heartbeats
from callboard.experiments.run.run_result import EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.user_errors import EXIT_INTERRUPTED, InputError
from callboard.experiments.whole_files import replacement_words, whole_file
from callboard.histories.quantiles import require_scipy
from callboard.histories.recording_file import Imported
from callboard.progress_line import run_progress
from callboard.run_arguments import (
    PlannedWorld,
    add_engine_argument,
    add_world_arguments,
    plan_world,
    plan_world_silently,
)
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import find_scenario
from callboard.scheduler.registry.spelling import short_policy
from callboard.scheduler.text.quantities import count
from callboard.stdio import print_json
from callboard.tables.backtest_table import (
    cause_lines,
    error_lines,
    job_lines,
    skewed_error_words,
    worst_lines,
)
from callboard.tables.engine_lines import engine_lines

_JOBS_SHOWN = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "history", metavar="HISTORY", help="a history, a folder of one, or a scenario that plays it"
    )
    policy = "the policy that was in force, as in `fair`; repeated, all are compared"
    add("--policy", action="append", required=True, metavar="POLICY", help=policy)
    train = "calibrate on the first jobs, this share of them, and predict the rest: 60%% or 0.6"
    add("--train", metavar="SHARE", help=train)
    seeds = "play that many seeds, from the scenario's own on, or these (1001..1010)"
    add("--seeds", metavar="N|LO..HI", help=seeds)
    figure = f"draw what ran at once over time; {', '.join(CHART_ENDINGS)}"
    add("--figure", action=OneFile, metavar="FILE", help=figure)
    add_engine_argument(add)
    add("--json", action="store_true", help="print the comparison as JSON, with every job")
    add_world_arguments(parser)


def backtest_command(options: argparse.Namespace) -> int:
    figure = None if options.figure is None else _checked_figure(options.figure)
    planned, parts, imported = _planned_backtest(options)
    history, spec = history_from_import(imported), planned.spec
    asked = (_asked_seeds(options, spec), history, parts, options.engine)
    found = [each for each in _played_backtests(planned, *asked) if each.runs]
    if stopped := _unplayed_words(planned, asked[0], found):
        print_aside(f"callboard: {stopped}")
    if not found:
        return EXIT_INTERRUPTED
    warning = partial_load_note(spec, history)
    cut = history.recording.cut
    told = (
        cut,
        unplayed_jobs_note(spec, history),
        scripted_timeline_note(spec),
        planned.heartbeat_hint,
        warning,
        rare_heartbeats_note(spec)
        if any_by_heartbeats(planned.policies, spec.scenario.parts)
        else "",
    )
    notes = [each for each in told if each]
    if options.json:
        print_json([_as_json(each, parts, warning) for each in found])
    else:
        _print_backtest(spec, found, parts, [*notes, *_guesses_to_note(history, options)])
    if figure is not None:  # last: where it cannot be written, all else has been told
        replaces = replacement_words(figure)
        _draw_chart(spec, history, [each.runs[0] for each in found], figure)
        if not options.json:
            print(f"what ran at once drawn to {figure}{replaces}")
    return EXIT_INTERRUPTED if stopped else 0


def _planned_backtest(
    options: argparse.Namespace,
) -> tuple[PlannedWorld, tuple[HistoryPart, ...], Imported]:
    """What is to be played, the parts of the history, and the history."""
    world = plan_world(options.history, options, options.policy)
    path = find_scenario(options.history)
    if not isinstance(world.spec.scenario.workload, RecordedWorkload):
        refuse_journal_as_history(options.history, path)
    imported = imported_history(world.spec, path.parent)
    jobs = len(world.spec.jobs)
    check_comparable(imported, jobs)
    if options.train is None:
        return world, unparted_history(jobs), imported
    parts = parted_history(options.train, jobs)
    changes = [*trained_overrides(calibration_of_part(imported, parts[0])), *options.set]
    changed = argparse.Namespace(**{**vars(options), "set": changes})
    return plan_world_silently(options.history, changed, options.policy), parts, imported


def _asked_seeds(options: argparse.Namespace, spec: RunSpec) -> tuple[int, ...]:
    if options.seeds is None:
        return (spec.scenario.seed,)
    require_scipy()
    return seeds_of(options.seeds, spec.scenario.seed)


def _checked_figure(to: str) -> Path:
    """Where the figure goes; InputError, or MissingExtraError, before any work is done."""
    path = file_path("--figure", to)
    if path.suffix.lower() not in CHART_ENDINGS:
        raise InputError(f"--figure {to}: end the name in one of {', '.join(CHART_ENDINGS)}")
    check_matplotlib()
    return path


def _played_backtests(
    world: PlannedWorld,
    seeds: Sequence[int],
    history: RecordedHistory,
    parts: Sequence[HistoryPart],
    asked: EngineName,
) -> Iterator[PolicyBacktest]:
    """Policy by policy, the runs that came to their end before Ctrl-C."""
    console = PlainConsole(stderr=True)
    engine = worthy_engine(asked, len(world.policies) * len(seeds) * world.spec.task_count)
    for place, policy in enumerate(world.policies):
        runs: list[Backtest] = []
        for seed in seeds:
            try:
                spec = run_with_typical_initialisation(world.runs(seed)[place], parts)
                with run_progress(console, policy, len(spec.jobs)) as watcher:
                    run = backtest(spec, history, watcher, engine)
                stopped = run.result.interrupted
            except KeyboardInterrupt:  # beside the run, which ends in good order
                stopped = True
            if stopped:
                yield PolicyBacktest(policy, tuple(runs))
                return
            runs.append(run)
        yield PolicyBacktest(policy, tuple(runs))


def _unplayed_words(
    world: PlannedWorld, seeds: Sequence[int], found: Sequence[PolicyBacktest]
) -> str:
    """What Ctrl-C has kept from being played; empty if nothing."""
    played = {each.policy: len(each.runs) for each in found}
    left = [
        f"{played.get(policy, 0)} of {count(len(seeds), 'seed')} under {policy}"
        for policy in world.policies
        if played.get(policy, 0) < len(seeds)
    ]
    return f"interrupted: {', '.join(left)}" if left else ""


def _draw_chart(
    spec: RunSpec, history: RecordedHistory, found: Sequence[Backtest], path: Path
) -> None:
    until_ms = max(each.until_ms for one in found for each in one.busy)
    until_ms = max(until_ms, history.recording.span_ms)
    busy = recorded_busy(history, until_ms, spec.jobs[0].submit_ms)
    recorded = None if busy is None else Occupancy("recorded", busy)
    played = [Occupancy(short_policy(each.policy), each.busy) for each in found]
    chart = backtest_chart(spec.scenario.name, recorded, played)
    with whole_file(path) as part:
        save_chart(chart, part)


def _as_json(
    found: PolicyBacktest, parts: Sequence[HistoryPart], warning: str
) -> dict[str, object]:
    first = found.runs[0]
    errors = first.errors
    return {
        "policy": found.policy,
        "jobs": [
            each._asdict()
            | {
                "error": each.error,
                "part": part_name_of_job(each.job, parts),
                "causes": None if each.causes is None else each.causes._asdict(),
                "predicted": msgspec.to_builtins(found.predicted_response_ms(each)),
            }
            for each in errors.jobs
        ],
        "left_out": sum(first.left_out.values()),
        "left_out_why": first.left_out,
        "median_error": errors.error_percentile(50),
        "p95_error": errors.error_percentile(95),
        "mean_response_error": errors.mean_response_error,
        "rank_correlation": errors.rank_correlation,
        "parts": [_part_json(found, part) for part in parts],
        "worst": [
            {"job": each.error.job, "why": each.why, "explained": each.explained}
            for each in first.worst
        ],
        "partial_load": warning,
        "summary": msgspec.to_builtins(first.result.summary),
    }


def _part_json(found: PolicyBacktest, part: HistoryPart) -> dict[str, object]:
    figures = {name: found.figure_over_seeds(part, of) for name, of in FIGURES.items()}
    return {
        "part": part.name,
        "jobs": [part.first, part.behind],
        "figures": msgspec.to_builtins(figures),
        "by_cause": msgspec.to_builtins(found.bias_by_cause(part)),
    }


def _guesses_to_note(history: RecordedHistory, options: argparse.Namespace) -> list[str]:
    """What was guessed of the history, and may be wrong in what was compared; not its nodes and
    what they have, where these are stated.
    """
    keys = [each.partition("=")[0].strip() for each in options.set]
    keys += ["cluster.nodes"] if getattr(options, "--nodes") is not None else []
    stated = list(filter(None, map(_overridden_guess_pattern, keys)))
    guessed = [each for each in history.guessed if not any(re.match(of, each) for of in stated)]
    return [f"guessed on reading: {each}" for each in guessed]


def _overridden_guess_pattern(key: str) -> str:
    """How a guess begins that the key states instead; empty if there is none."""
    if key == "cluster.nodes":
        return r"[\d,]+ nodes?\b"
    if key == "cluster.capacity":
        return r"[\d,]+ amount of a node: "
    name = key.removeprefix("cluster.capacity.")
    return "" if name == key else rf"[\d,]+ amount of a node: {re.escape(name)} "


def _print_backtest(
    spec: RunSpec,
    found: Sequence[PolicyBacktest],
    parts: Sequence[HistoryPart],
    notes: Sequence[str],
) -> None:
    console = ReportConsole()

    first = found[0].runs[0]
    compared, left_out = len(first.errors.jobs), sum(first.left_out.values())
    why = "; ".join(f"{number:,} {reason}" for reason, number in first.left_out.items())
    out = f"; {left_out:,} left out: {why}" if left_out else ""
    seeds = len(found[0].runs)
    several = f", {seeds} seeds" if seeds > 1 else ""
    jobs = count(compared, "job")
    console.print_line(
        f"{spec.scenario.name}: {jobs} compared with what was recorded{several}{out}"
    )
    console.print_lines(f"note: {note}" for note in notes)
    if not compared:
        console.print_line(
            "no job that succeeded tells how long it took: there is nothing to compare"
        )
        return
    console.print_line()
    console.print_lines(error_lines(found, parts))
    console.print_line()
    console.print_lines(cause_lines(found, parts))
    if skewed := skewed_error_words(found, parts):
        console.print_line(skewed)
    for each in found:
        _print_jobs(console, each, parts, several=len(found) > 1)
    if played := list(engine_lines(run.result for each in found for run in each.runs)):
        console.print_line()
        console.print_lines(played)


def _print_jobs(
    console: ReportConsole,
    found: PolicyBacktest,
    parts: Sequence[HistoryPart],
    *,
    several: bool,
) -> None:
    first = found.runs[0]
    if not first.worst and len(first.errors.jobs) > _JOBS_SHOWN:
        return
    console.print_line()
    if several:
        console.print_line(f"{short_policy(found.policy)}:")
    if len(first.errors.jobs) <= _JOBS_SHOWN:
        console.print_lines(job_lines(found, parts))
        console.print_line()
    console.print_lines(worst_lines(first, of_seeds=len(found.runs) > 1))
