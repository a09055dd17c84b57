"""Draw figures of recorded runs, several policies in one picture, or of a sweep's store.

figures of journals (all of them if none is named):
  ecdf         the share of jobs done within a time
  slowdown     slowdown by the size of jobs
  jobs         jobs in the system over time
  gantt        what each slot did when; in a large cluster, how busy each node was
  shares       slots held beside slots due, by pool
  debt         what each pool is owed of its fair share
  utilisation  slots held over time
  locality     how near to their data maps ran
  measure      one figure of each run, side by side: --of says which

figures of a store that `callboard sweep` has filled:
  intervals    means by setting and policy, with 95 % intervals
  differences  differences to the first policy, seed by seed, with intervals
  tornado      how much each key matters, after --sobol or --morris, of several the last
  ecdf         the share of jobs done within a time, of all seeds together
  slowdown     slowdown by the size of jobs, of all seeds together, after --slowdown

The end of the file's name says the format: .svg, .png or .pdf; a gantt may also be a page to zoom
in a browser, .html.

examples:
  callboard plot fifo.journal fair.journal ecdf --to ecdf.pdf
  callboard plot fair.journal --to fair.svg      # all: fair-ecdf.svg, fair-jobs.svg, …
  callboard plot fair.journal --to figures/      # all, in a folder: figures/ecdf.svg, …
  callboard plot fifo.journal fair.journal measure --of p99 --to p99.svg
  callboard plot fifo.journal fair.journal gantt --to gantt.html
  callboard plot sweep.sqlite intervals --of p95 --to p95.pdf
  callboard plot fair.journal gantt --size 10x4 --dpi 300 --title 'A night' --to night.png
"""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from callboard.arguments import OneFile, whole_number_type
from callboard.console import print_aside
from callboard.experiments.journal_paths import check_folder, file_path, is_one_of, refuse_twice
from callboard.experiments.many.result_store import is_store
from callboard.experiments.many.sweeps.sensitivity import without_points
from callboard.experiments.pages.charts.chart_catalogue import (
    MEASURE_CHART,
    RUN_CHARTS,
    STORE_CHARTS,
    draw_run_chart,
    read_chart_runs,
    read_store,
    takes_solo_times,
    with_solo_times,
)
from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw
from callboard.experiments.pages.charts.chart_style import (
    CHART_DPI,
    CHART_ENDINGS,
    check_matplotlib,
    retitle,
    save_chart,
)
from callboard.experiments.pages.charts.gantt_page import gantt_page
from callboard.experiments.pages.charts.measures import MEASURES, Measure, measure_named
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import replacement_words, whole_file
from callboard.scheduler.text.likely_file import likely_file
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import nearest

_RUNS_MAX = 12
"""Runs in one figure: more have no looks that can be told apart."""

_FORMATS = [ending.removeprefix(".") for ending in CHART_ENDINGS]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = (
        "what `callboard run --journal` has written, or the store of `callboard sweep`, and which"
        " figures to draw"
    )
    add("words", nargs="+", metavar="JOURNAL|STORE|FIGURE", help=what)
    to = "the file to write; of several figures each has its name put in, or is put into a folder"
    add("--to", action=OneFile, required=True, metavar="FILE", help=to)
    add("--format", choices=_FORMATS, help="of figures in a folder (default: svg)")
    measure = (
        f"what `measure`, intervals and differences are of: {', '.join(MEASURES)}, or any figure of"
        " a run's JSON, as in attempts.failed (default: mean, the mean response time)"
    )
    add("--of", metavar="MEASURE", help=measure)
    size = "width and height in inches, as in 7x3 (default: a paper's column or page)"
    add("--size", type=_parse_size_in_inches, metavar="WxH", help=size)
    dpi = f"pixels an inch, in .png (default: {CHART_DPI})"
    add("--dpi", type=whole_number_type(20, 1200), metavar="N", help=dpi)
    add("--title", metavar="TEXT", help="a title of your own")


_INCHES_LEAST, _INCHES_MOST, _PIXELS_MOST = 2.0, 60.0, 20_000


def _parse_size_in_inches(text: str) -> tuple[float, float]:
    """An argparse `type`: a width and a height, as in `7x3` or `7.1x3.5`."""
    parts = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)[x×](\d{1,3}(?:\.\d+)?)", text)
    size = (float(parts[1]), float(parts[2])) if parts else (0.0, 0.0)
    if not all(_INCHES_LEAST <= side <= _INCHES_MOST for side in size):
        raise argparse.ArgumentTypeError(f"expected 2 to 60 inches each, as in 7x3, got {text!r}")
    return size


def plot_command(options: argparse.Namespace) -> int:
    known = {*RUN_CHARTS, *STORE_CHARTS}
    figures = [word for word in options.words if word in known]
    paths = [_input_path(word) for word in options.words if word not in known]
    if not paths:
        raise InputError(f"{' '.join(figures)}: name a journal or a store too, to draw this of")
    charts: Mapping[str, object] = STORE_CHARTS if any(map(is_store, paths)) else RUN_CHARTS
    measure = None if options.of is None else measure_named(options.of)
    if measure is not None and charts is RUN_CHARTS and not figures:
        figures = [MEASURE_CHART]
    _check_drawable_together(paths, figures, charts, options.of)
    refuse_twice(paths)
    _check_pixels(options)
    if options.to.lower().endswith(".html"):
        return _write_gantt_page(options, figures, paths)
    files = _figure_files(options.to, figures or list(charts), options.format, several=not figures)
    _refuse_to_overwrite_inputs(files.values(), paths)
    check_matplotlib()
    measure = measure or MEASURES["mean"]
    draw = (
        _store_drawer(paths[0], measure)
        if charts is STORE_CHARTS
        else _run_drawer(paths, files, measure)
    )
    return _draw_figures(
        _with_size_and_title(draw, options), files, options.dpi or CHART_DPI, asked=bool(figures)
    )


_NOT_OF_A_PAGE = ("format", "size", "dpi")


def _write_gantt_page(
    options: argparse.Namespace, figures: Sequence[str], journals: Sequence[Path]
) -> int:
    """The gantt as a page."""
    if list(figures) != ["gantt"] or any(map(is_store, journals)):
        raise InputError(f"--to {options.to}: only the gantt of journals is drawn as a page")
    for name in _NOT_OF_A_PAGE:
        if vars(options)[name] is not None:
            raise InputError(f"--{name}: it is for pictures, and .html is a page; leave it out")
    path = file_path("--to", options.to)
    _refuse_to_overwrite_inputs([path], journals)
    try:
        page = gantt_page(_read_runs(journals, with_shares=False), options.title)
    except NothingToDraw as error:
        raise InputError(f"gantt: nothing to draw: {error}") from None
    replaces = replacement_words(path)
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")
    print(f"gantt written to {path}{replaces}")
    return 0


def _input_path(word: str) -> Path:
    path = Path(word)
    if not path.exists():
        names = dict.fromkeys((*RUN_CHARTS, *STORE_CHARTS))
        meant = nearest(word, names) or likely_file(path)
        told = f"did you mean `{meant}`?" if meant else f"figures are {', '.join(names)}"
        raise InputError(f"{word}: no such file, and no figure is called so; {told}")
    return path


def _check_drawable_together(
    paths: Sequence[Path], figures: Sequence[str], charts: Mapping[str, object], of: str | None
) -> None:
    """InputError where what was named cannot be drawn together."""
    whose = "a store" if charts is STORE_CHARTS else "a journal"
    if charts is STORE_CHARTS and len(paths) > 1:
        raise InputError("a store is drawn alone: name it, and no other file")
    if len(paths) > _RUNS_MAX:
        several = "draw many seeds from the store of `callboard sweep`"
        raise InputError(f"{len(paths)} journals are too many for one figure; {several}")
    for name in figures:
        if name not in charts:
            raise InputError(f"{name}: no figure of {whose}; these are {', '.join(charts)}")
    if of is not None and charts is RUN_CHARTS and MEASURE_CHART not in figures:
        raise InputError(f"--of says what the figure {MEASURE_CHART} is of; name it too")


def _check_pixels(options: argparse.Namespace) -> None:
    """InputError for a picture larger than programs show."""
    side = max(options.size or (0.0,)) * (options.dpi or CHART_DPI)
    if side > _PIXELS_MOST:
        raise InputError(f"--size, --dpi: {side:,.0f} pixels; {_PIXELS_MOST:,} are the most")


def _figure_files(
    to: str, figures: Sequence[str], form: str | None, *, several: bool
) -> dict[str, Path]:
    """The file of each figure, by its name; InputError where there can be none."""
    names = list(dict.fromkeys(figures))
    if to.endswith("/") or (to and Path(to).is_dir()):
        check_folder("--to", Path(to))
        return {name: Path(to) / f"{name}.{form or 'svg'}" for name in names}
    path = file_path("--to", to)
    if path.suffix.lower() not in CHART_ENDINGS:
        endings = ", ".join(CHART_ENDINGS)
        raise InputError(f"--to {to}: end the name in one of {endings}, or a folder's in /")
    if form is not None and path.suffix.lower() != f".{form}":
        raise InputError(f"--format {form}: the name says {path.suffix}; leave one of them out")
    if len(names) == 1 and not several:
        return {names[0]: path}
    return {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names}


def _refuse_to_overwrite_inputs(files: Iterable[Path], inputs: Sequence[Path]) -> None:
    for path in files:
        if path.is_dir():
            raise InputError(f"{path}: this is a folder, and a figure was to be written there")
        if is_one_of(path, inputs):
            raise InputError(f"{path}: this is what is to be drawn; choose another name")


_Drawer = Callable[[str], Any]
"""Draws the figure of a name."""


def _with_size_and_title(draw: _Drawer, options: argparse.Namespace) -> _Drawer:
    """The same with the size and the title that were asked for."""

    def dressed(name: str) -> Any:
        figure = draw(name)
        if options.size is not None:
            figure.set_size_inches(*options.size)
        if options.title is not None:
            retitle(figure, options.title)
        return figure

    return dressed


def _run_drawer(journals: Sequence[Path], files: Mapping[str, Path], measure: Measure) -> _Drawer:
    """Read the journals; what draws their figures."""
    runs = _read_runs(journals, with_shares=any(RUN_CHARTS[name].needs_shares for name in files))
    return lambda name: _run_figure(name, runs, journals, measure)


def _read_runs(journals: Sequence[Path], *, with_shares: bool) -> list[ChartRun]:
    """The runs, of which those that are not complete are told of."""
    try:
        runs = read_chart_runs(journals, with_shares=with_shares)
    except ValueError as error:
        raise InputError(str(error)) from None
    for run in runs:
        if run.summary.reason in {None, "interrupted"}:
            print_aside(f"{run.label}: the run is not complete, and is drawn as far as it goes")
    return runs


def _run_figure(
    name: str, runs: Sequence[ChartRun], journals: Sequence[Path], measure: Measure
) -> Any:
    if takes_solo_times(name, measure) and any(run.jobs.completed.any() for run in runs):
        runs = with_solo_times(runs, journals)
    return draw_run_chart(name, runs, measure)


def _store_drawer(path: Path, measure: Measure) -> _Drawer:
    """Read the store; what draws its figures."""
    sweep = read_store(path)
    failed = sum(bool(cell.error) for cell in sweep.cells)
    if failed:
        print_aside(f"{count(failed, 'run')} of the store failed and cannot be drawn")
    points = len(sweep.cells) - len(without_points(sweep.cells, sweep.questions))
    if 0 < points < len(sweep.cells):
        print_aside(
            f"{count(points, 'run')} at points of --sobol or --morris are in the tornado alone"
        )
    return lambda name: STORE_CHARTS[name].draw(sweep, measure)


def _draw_figures(draw: _Drawer, files: Mapping[str, Path], dpi: int, *, asked: bool) -> int:
    """Draw what can be drawn; InputError if that is nothing, or not all that was asked for."""
    written = 0
    for name, path in files.items():
        try:
            figure = draw(name)
        except (NothingToDraw, ScenarioError, InputError, OSError) as error:
            problem = f"{name}: nothing to draw: {error}"
            if asked:
                raise InputError(problem) from None
            print_aside(problem)
            continue
        replaces = replacement_words(path)
        with whole_file(path) as part:
            save_chart(figure, part, dpi=dpi)
        written += 1
        print(f"{name} written to {path}{replaces}")
    if not written:
        raise InputError("no figure was drawn")
    return 0
