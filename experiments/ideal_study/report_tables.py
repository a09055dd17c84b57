"""Results as tables on the screen and as CSV files."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from rich import box
from rich.table import Table

from callboard.experiments.ideal_study.cells import Point, RunOutcome
from callboard.experiments.ideal_study.results import Results, SummaryLine
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.many.statistics import Interval


def study_tables(results: Results, against: str, points: tuple[Point, ...]) -> Iterator[Table]:
    """One table a trace, load and ratio, with a block of rows a sigma."""
    settings = dict.fromkeys((point.load, point.dn) for point in points)
    for trace in results.study.traces:
        for load, dn in settings:
            here = [point for point in points if (point.load, point.dn) == (load, dn)]
            yield _sojourn_table(results, trace, here, against)


def _sojourn_table(results: Results, trace: Trace, points: list[Point], against: str) -> Table:
    load, dn, _ = points[0]
    table = Table(
        title=f"{trace.name}: mean sojourn (s) at load {load:g}, d/n {dn:g}",
        caption=f"{results.study.runs} runs where σ > 0; ± is a 95 % interval over the runs;\n"
        f"differences are taken run by run, to {against} on the same errors",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("σ", justify="right", no_wrap=True)
    table.add_column("discipline", no_wrap=True)
    for name in ("mean", "median run", "worst run", f"minus {against}"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in points:
        for discipline in results.study.disciplines:
            line = results.summary_line(trace, discipline, point, against)
            table.add_row(f"{point.sigma:g}", *_row_cells(line))
        table.add_section()
    return table


def _row_cells(line: SummaryLine) -> list[str]:
    same = line.difference.mean == 0 and not line.difference.half
    return [
        line.discipline,
        _mean_with_half_width(line.mean, ""),
        _four_digits(line.spread.median),
        _four_digits(line.spread.greatest),
        "" if same else _mean_with_half_width(line.difference, "+"),
    ]


def _mean_with_half_width(found: Interval, sign: str) -> str:
    """The mean, and its interval where there is one, in columns that line up."""
    half = "" if found.half is None else f"± {_four_digits(found.half)}"
    return f"{_four_digits(found.mean, sign)} {half:<7}"


def _four_digits(seconds: float, sign: str = "") -> str:
    """Four significant digits, never with an exponent and never more than two decimals."""
    decimals = 2 if abs(seconds) < 99.995 else 1 if abs(seconds) < 999.95 else 0
    return f"{round(seconds, decimals) + 0.0:{sign}.{decimals}f}"  # no -0.00


def write_study_csv(results: Results, against: str, folder: Path) -> list[Path]:
    """`runs.csv`, a row a run, and `summary.csv`, a row a discipline and point."""
    runs, summary = folder / "runs.csv", folder / "summary.csv"
    write_csv_rows(runs, [*_HEAD, "run", *RunOutcome._fields], _run_rows(results))
    columns = ("runs", "mean_s", "half_s", "least_s", "median_s", "greatest_s")
    difference = (f"minus_{against}_s", f"minus_{against}_half_s")
    write_csv_rows(summary, [*_HEAD, *columns, *difference], _summary_rows(results, against))
    return [runs, summary]


_HEAD = ("trace", "size_model", "load", "dn", "sigma", "discipline")


def _run_rows(results: Results) -> Iterator[tuple[object, ...]]:
    study = results.study
    for trace, point, name in product(study.traces, study.points, study.disciplines):
        for run, outcome in enumerate(results.outcomes(trace, name, point)):
            yield (trace.name, study.model, *point, name, run, *outcome)


def _summary_rows(results: Results, against: str) -> Iterator[tuple[object, ...]]:
    study = results.study
    for trace in study.traces:
        for line in results.summary_lines(trace, against):
            mean, difference = line.mean, line.difference
            head = (trace.name, study.model, *line.point, line.discipline)
            half, other = ("" if i.half is None else i.half for i in (mean, difference))
            yield (*head, mean.runs, mean.mean, half, *line.spread, difference.mean, other)


def write_csv_rows(path: Path, header: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a file of these rows below the header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
