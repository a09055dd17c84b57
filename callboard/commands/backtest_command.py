"""Play a recorded history under a policy, and compare it with what happened, job by job.

Before a history is believed on what another policy would have done, the one that was in force
should predict what was.  Jobs that their users killed, or that did not succeed, are left out.

examples:
  callboard backtest history/done --policy fair
  callboard backtest trace.json.gz --policy fifo --policy fair --figure occupancy.svg
  callboard calibrate history/done --to mine.toml && callboard backtest mine.toml --policy fair
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from callboard.console import PlainConsole, ReportConsole, plain
from callboard.experiments.backtest.backtest import (
    Backtest,
    RecordedHistory,
    backtest,
    partial_load,
    read_history,
    recorded_busy,
)
from callboard.experiments.charts.backtest_chart import Occupancy, backtest_chart
from callboard.experiments.charts.chart_style import CHART_ENDINGS, check_matplotlib, save_chart
from callboard.experiments.journal_paths import file_path
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import instead, whole_file
from callboard.journal.tell.names import count, duration
from callboard.progress_line import run_progress
from callboard.run_arguments import PlannedWorld, add_world_arguments, plan_world
from callboard.scenarios.scenario_file import find_scenario
from callboard.scheduler.registry.spelling import short_policy

_JOBS_SHOWN = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "history", metavar="HISTORY", help="a history, a folder of one, or a scenario that plays it"
    )
    policy = "the policy that was in force, as in `fair`; repeated, all are compared"
    add("--policy", action="append", required=True, metavar="POLICY", help=policy)
    figure = f"draw what ran at once over time; {', '.join(CHART_ENDINGS)}"
    add("--figure", metavar="FILE", help=figure)
    add("--json", action="store_true", help="print the comparison as JSON, with every job")
    add_world_arguments(parser)


def backtest_command(options: argparse.Namespace) -> int:
    figure = None if options.figure is None else _checked_figure(options.figure)
    world = plan_world(options.history, options, options.policy)
    history = read_history(world.spec, find_scenario(options.history).parent)
    found = _played(world, history)
    replaces = ""
    if figure is not None:
        replaces = instead(figure)
        _draw(world.spec, history, found, figure)
    warning = partial_load(world.spec, history)
    if options.json:
        print(json.dumps([_as_json(each, warning) for each in found], indent=2))
    else:
        _print(world.spec, found, [*_guesses(history), *([warning] if warning else [])])
        if figure is not None:
            print(f"what ran at once drawn to {figure}{replaces}")
    return 130 if any(each.result.interrupted for each in found) else 0


def _checked_figure(to: str) -> Path:
    path = file_path("--figure", to)
    if path.suffix.lower() not in CHART_ENDINGS:
        raise InputError(f"--figure {to}: end the name in one of {', '.join(CHART_ENDINGS)}")
    check_matplotlib()
    return path


def _played(world: PlannedWorld, history: RecordedHistory) -> list[Backtest]:
    found: list[Backtest] = []
    console = PlainConsole(stderr=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="callboard-")))
        for number, spec in enumerate(world.runs()):
            with run_progress(console, spec.policy, len(spec.jobs)) as watcher:
                found.append(backtest(spec, history, folder / f"{number}.journal", watcher))
            if found[-1].result.interrupted:
                break
    return found


def _draw(spec: RunSpec, history: RecordedHistory, found: Sequence[Backtest], path: Path) -> None:
    until_ms = max(each.until_ms for one in found for each in one.busy)
    until_ms = max(until_ms, history.recording.span_ms)
    busy = recorded_busy(history, until_ms)
    recorded = None if busy is None else Occupancy("recorded", busy)
    played = [Occupancy(short_policy(each.policy), each.busy) for each in found]
    chart = backtest_chart(spec.scenario.name, recorded, played)
    with whole_file(path) as part:
        save_chart(chart, part)


def _as_json(found: Backtest, warning: str) -> dict[str, object]:
    return {
        "policy": found.policy,
        "jobs": [each._asdict() | {"error": each.error} for each in found.errors],
        "left_out": found.left_out,
        "median_error": found.share(50),
        "p95_error": found.share(95),
        "mean_response_error": found.bias,
        "rank_correlation": found.rank_correlation,
        "worst": [
            {"job": each.error.job, "why": each.why, "explained": each.explained}
            for each in found.worst
        ],
        "partial_load": warning,
        "summary": msgspec.to_builtins(found.result.summary),
    }


def _guesses(history: RecordedHistory) -> list[str]:
    """What was guessed of the history, and may be wrong in what was compared."""
    return [f"guessed on reading: {each}" for each in history.guessed]


def _print(spec: RunSpec, found: Sequence[Backtest], notes: Sequence[str]) -> None:
    console = ReportConsole()

    def say(text: str = "") -> None:
        console.print_line(plain(text))

    compared, left_out = len(found[0].errors), found[0].left_out
    out = f", {left_out:,} left out" if left_out else ""
    say(f"{spec.scenario.name}: {count(compared, 'job')} compared with what was recorded{out}")
    say()
    rows = [(short_policy(each.policy), *_figures(each)) for each in found]
    for line in aligned(("", "median error", "p95", "of the mean", "rank correlation"), rows):
        say(line)
    for each in found:
        _say_jobs(say, each, several=len(found) > 1)
    if notes:
        say()
    for note in notes:
        say(f"note: {note}")


def _job_rows(found: Backtest) -> list[tuple[str, ...]]:
    return [
        (
            each.name[:29],
            duration(each.recorded_ms),
            duration(each.predicted_ms),
            _share(each.error, signed=True),
        )
        for each in found.errors
    ]


def _figures(found: Backtest) -> tuple[str, ...]:
    correlation = found.rank_correlation
    ranks = "" if correlation is None else f"{correlation:.3f}"
    bias = _share(found.bias, signed=True)
    return _share(found.share(50)), _share(found.share(95)), bias, ranks


def aligned(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The rows under their heads, figures to the right, however long they are."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    widths[0] = max(widths[0], 22)
    for row in (head, *rows):
        name, *cells = row
        figures = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join((name.ljust(widths[0]), *figures)).rstrip()


def _share(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return ""
    return f"{value:+,.1%}" if signed else f"{value:,.1%}"


def _say_jobs(say: Callable[[str], None], found: Backtest, *, several: bool) -> None:
    if not found.worst and len(found.errors) > _JOBS_SHOWN:
        return
    say("")
    if several:
        say(f"{short_policy(found.policy)}:")
    if len(found.errors) <= _JOBS_SHOWN:
        for line in aligned(("job", "recorded", "predicted", "error"), _job_rows(found)):
            say(line)
        say("")
    if found.worst:
        say("worst predicted")
    for worst in found.worst:
        error = worst.error
        times = f"{duration(error.recorded_ms)}, predicted {duration(error.predicted_ms)}"
        say(f"  {error.name}: {times} ({_share(error.error, signed=True)})")
        say(f"    {worst.why}")
        for line in worst.explained:
            say(f"    {line}")
