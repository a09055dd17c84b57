"""Draw figures of one or more recorded runs, several policies in one picture.

figures (all of them if none is named):
  ecdf         the share of jobs done within a time
  slowdown     slowdown by the size of jobs
  jobs         jobs in the system over time
  gantt        what each slot did when; in a large cluster, how busy each node was
  shares       slots held beside slots due, by pool
  utilisation  slots held over time
  locality     how near to their data maps ran

The end of the file's name says the format: .svg, .png or .pdf.

examples:
  callboard plot fifo.journal fair.journal ecdf --to ecdf.pdf
  callboard plot fair.journal --to fair.svg      # all: fair-ecdf.svg, fair-jobs.svg, …
  callboard plot fair.journal --to figures/      # all, in a folder: figures/ecdf.svg, …
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from callboard.console import PlainConsole, plain
from callboard.experiments.charts.chart_catalogue import (
    RUN_CHARTS,
    read_chart_runs,
    with_solo_times,
)
from callboard.experiments.charts.chart_run import ChartRun, NothingToDraw
from callboard.experiments.charts.chart_style import CHART_ENDINGS, check_matplotlib, save_chart
from callboard.experiments.journal_paths import file_path
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import whole_file
from callboard.progress_line import run_progress
from callboard.scenarios.scenario_error import ScenarioError

_FORMATS = [ending.removeprefix(".") for ending in CHART_ENDINGS]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "what `callboard run --journal` has written, and which figures to draw"
    add("words", nargs="+", metavar="JOURNAL|FIGURE", help=what)
    to = "the file to write; of several figures each has its name put in, or is put into a folder"
    add("--to", required=True, metavar="FILE", help=to)
    add("--format", choices=_FORMATS, help="of figures in a folder (default: svg)")


def plot_command(options: argparse.Namespace) -> int:
    figures = [word for word in options.words if word in RUN_CHARTS]
    journals = [_journal(word) for word in options.words if word not in RUN_CHARTS]
    if not journals:
        raise InputError(f"{' '.join(figures)}: name a journal too, of which to draw this")
    files = _files(options.to, figures, options.format)
    _refuse_to_overwrite(files.values(), journals)
    check_matplotlib()
    try:
        runs = read_chart_runs(journals, with_shares="shares" in files)
    except ValueError as error:
        raise InputError(str(error)) from None
    return _draw(runs, journals, files, asked=bool(figures))


def _journal(word: str) -> Path:
    path = Path(word)
    if not path.exists():
        names = ", ".join(RUN_CHARTS)
        raise InputError(f"{word}: no such file, and no figure is called so; figures are {names}")
    return path


def _files(to: str, figures: Sequence[str], form: str | None) -> dict[str, Path]:
    """The file of each figure, by its name; InputError where there can be none."""
    names = list(dict.fromkeys(figures or RUN_CHARTS))
    if to.endswith("/") or (to and Path(to).is_dir()):
        if not Path(to).is_dir():
            raise InputError(f"--to {to}: there is no such folder; make it first")
        return {name: Path(to) / f"{name}.{form or 'svg'}" for name in names}
    path = file_path("--to", to)
    if path.suffix.lower() not in CHART_ENDINGS:
        endings = ", ".join(CHART_ENDINGS)
        raise InputError(f"--to {to}: end the name in one of {endings}, or name a folder")
    if form is not None and path.suffix.lower() != f".{form}":
        raise InputError(f"--format {form}: the name says {path.suffix}; leave one of them out")
    if not path.parent.is_dir():
        raise InputError(f"--to {to}: there is no folder {path.parent}; make it first")
    if len(figures) == 1:
        return {names[0]: path}
    return {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names}


def _refuse_to_overwrite(files: Iterable[Path], journals: Sequence[Path]) -> None:
    for path in files:
        if path.is_dir():
            raise InputError(f"{path}: this is a folder, and a figure was to be written there")
        if any(path.exists() and path.samefile(journal) for journal in journals):
            raise InputError(f"{path}: this is the journal itself; choose another name")


def _draw(
    runs: Sequence[ChartRun], journals: Sequence[Path], files: dict[str, Path], *, asked: bool
) -> int:
    """Draw what can be drawn; InputError if that is nothing, or not all that was asked for."""
    say, written = PlainConsole(stderr=True), 0
    for run in runs:
        if run.summary.reason is None:
            _say(say, f"{run.label}: the run is not complete, and is drawn as far as it goes")
    for name, path in files.items():
        try:
            figure = _figure(name, runs, journals)
        except (NothingToDraw, ScenarioError, OSError) as error:
            problem = f"{name}: nothing to draw: {error}"
            if asked:
                raise InputError(problem) from None
            _say(say, problem)
            continue
        with whole_file(path) as part:
            save_chart(figure, part)
        written += 1
        print(f"{name} written to {path}")
    if not written:
        raise InputError("no figure was drawn")
    return 0


def _say(console: PlainConsole, text: str) -> None:
    console.print(plain(text), soft_wrap=True)


def _figure(name: str, runs: Sequence[ChartRun], journals: Sequence[Path]) -> Any:
    chart = RUN_CHARTS[name]
    if not chart.needs_solo or not any(run.jobs.completed.any() for run in runs):
        return chart.draw(runs)
    console = PlainConsole(stderr=True)
    with run_progress(console, "measuring jobs alone", len(runs[0].jobs.job)) as watcher:
        alone = with_solo_times(runs, journals, watcher)
    return chart.draw(alone)
