"""What an experiment consists of: its points, and the figures drawn from them."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from callboard.experiments.ideal_study.cells import Point, StudyCell
from callboard.experiments.ideal_study.swim import REPORT_FILES, Trace
from callboard.scheduler.ideal import BLIND

LOAD, DN = 0.9, 4.0
"""The report's defaults (§2.2)."""

DEFAULT_DISCIPLINES = ("fifo", "ps", "las", "srpt", "fsp+fifo", "fsp+ps")
REPORT_DISCIPLINES = ("fifo", "ps", "srpt", "fsp+fifo", "fsp+ps")

REPORT_SIGMAS = (0.125, 0.25, 0.5, 1.0, 2.0)
REPORT_LOADS = tuple(round(0.1 * k, 1) for k in range(1, 21))
REPORT_DNS = tuple(float(k) for k in range(1, 11))
REPORT_RUNS = 100

Axis: TypeAlias = Literal["sigma", "load", "dn"]


class FigureSpec(NamedTuple):
    """Mean sojourn over one parameter: over sigma boxes for one trace, over load or d/n lines, a
    panel a trace.  `stem` is the file's name without its ending.
    """

    stem: str
    axis: Axis
    points: tuple[Point, ...]
    traces: tuple[str, ...]


class Study(NamedTuple):
    """An experiment: every discipline at every point on every trace, `runs` times."""

    traces: tuple[Trace, ...]
    model: str
    disciplines: tuple[str, ...]
    points: tuple[Point, ...]
    figures: tuple[FigureSpec, ...]
    runs: int
    seed: int

    def cell(self, trace: Trace, discipline: str, point: Point) -> StudyCell:
        """The cell of a discipline at a point."""
        sigma = 0.0 if discipline in BLIND else float(point.sigma)
        where = (float(point.load), float(point.dn), sigma)
        seed = self.seed if sigma else 0
        return StudyCell(trace.digest, self.model, discipline, *where, seed)

    def cells(self) -> Iterator[tuple[Trace, StudyCell]]:
        """Every cell once, with its trace."""
        every = product(self.traces, self.points, self.disciplines)
        traces = {self.cell(trace, name, point): trace for trace, point, name in every}
        return ((trace, cell) for cell, trace in traces.items())


def grid_points_and_figures(
    names: Sequence[str],
    sigmas: Sequence[float],
    loads: Sequence[float],
    dns: Sequence[float],
) -> tuple[tuple[Point, ...], tuple[FigureSpec, ...]]:
    """All combinations; boxes over sigma near the report's defaults, lines over longer lists."""
    points = tuple(Point(load, dn, sigma) for load in loads for dn in dns for sigma in sigmas)
    load, dn = _nearest_value(loads, LOAD), _nearest_value(dns, DN)
    row = tuple(Point(load, dn, sigma) for sigma in sigmas)
    figures = [FigureSpec(f"sojourn-vs-sigma-{name}", "sigma", row, (name,)) for name in names]
    for sigma in sigmas:
        if len(loads) > 1:
            figures.append(_line_figure("load", [Point(each, dn, sigma) for each in loads], names))
        if len(dns) > 1:
            figures.append(_line_figure("dn", [Point(load, each, sigma) for each in dns], names))
    return points, tuple(figures)


def report_points_and_figures(
    names: Sequence[str],
) -> tuple[tuple[Point, ...], tuple[FigureSpec, ...]]:
    """The report's figures 3.1 to 3.7, of those traces that are at hand."""
    over_sigma = tuple(Point(LOAD, DN, sigma) for sigma in REPORT_SIGMAS)
    figures = [
        FigureSpec(f"figure-3.{k}-sojourn-vs-sigma-{name}", "sigma", over_sigma, (name,))
        for k, name in enumerate(REPORT_FILES, 1)
        if name in names
    ]
    sigmas = (0.0, 0.5)
    drawn = [
        *(
            _line_figure("load", [Point(load, DN, s) for load in REPORT_LOADS], names)
            for s in sigmas
        ),
        *(_line_figure("dn", [Point(LOAD, dn, s) for dn in REPORT_DNS], names) for s in sigmas),
    ]
    figures += [each._replace(stem=f"figure-3.{k}-{each.stem}") for k, each in enumerate(drawn, 4)]
    points = dict.fromkeys(point for figure in figures for point in figure.points)
    return tuple(points), tuple(figures)


def _line_figure(axis: Axis, points: Sequence[Point], names: Sequence[str]) -> FigureSpec:
    stem = f"sojourn-vs-{axis}-sigma-{points[0].sigma:g}"
    return FigureSpec(stem, axis, tuple(points), tuple(names))


def _nearest_value(values: Sequence[float], wanted: float) -> float:
    return min(values, key=lambda value: (abs(value - wanted), value))
