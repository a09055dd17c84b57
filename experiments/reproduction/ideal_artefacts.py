"""The simulator report: its figures 3.1 to 3.7, each held to the sentences about it."""

from collections.abc import Callable, Sequence
from functools import partial
from math import erf, log, sqrt
from statistics import fmean, median
from typing import Any

from callboard.experiments.ideal_study.cells import Point
from callboard.experiments.ideal_study.study import (
    DN,
    LOAD,
    REPORT_DISCIPLINES,
    REPORT_DNS,
    REPORT_LOADS,
    REPORT_SIGMAS,
)
from callboard.experiments.pages.charts.chart_style import (
    LINE_STYLES,
    PAGE_INCHES,
    house_style,
    new_figure,
    plain_log_axis,
    shared_legend,
)
from callboard.experiments.reproduction.artefact import (
    MORE_SEEDS,
    SEEDS,
    AnyArtefact,
    Artefact,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.evidence import Ideal, Sojourns, TraceFile
from callboard.experiments.reproduction.worked_examples import SeededExample

_TRACES = ("FB09-0", "FB09-1", "FB10")
_ONE = Point(LOAD, DN, 1.0)
_HALF = Point(LOAD, DN, 0.5)

_OVER_SIGMA = tuple(Point(LOAD, DN, sigma) for sigma in REPORT_SIGMAS)


def _traces_at_hand(samples: Sequence[Sojourns]) -> list[str]:
    there = {trace for trace, *_ in samples[0]}
    return [trace for trace in _TRACES if trace in there]


def _points_over_load(sigma: float) -> tuple[Point, ...]:
    return tuple(Point(load, DN, sigma) for load in REPORT_LOADS)


def _points_over_dn(sigma: float) -> tuple[Point, ...]:
    return tuple(Point(LOAD, dn, sigma) for dn in REPORT_DNS)


def _ratio_of_sojourns(
    trace: str, one: str, other: str, point: Point
) -> Callable[[Sojourns], float]:
    return lambda means: means[trace, one, point] / means[trace, other, point]


def _share_of_runs_below(trace: str, one: str, other: str, point: Point) -> Callable[..., float]:
    """The share of runs in which one discipline's mean is below the other's."""

    def share(samples: Sequence[Sojourns]) -> float:
        below = [each[trace, one, point] < each[trace, other, point] for each in samples]
        return sum(below) / len(below)

    return share


def _worst_ratio(trace: str, one: str, other: str, point: Point) -> Callable[..., float]:
    """The worst run of one discipline over that of the other."""

    def ratio(samples: Sequence[Sojourns]) -> float:
        worst = [max(each[trace, name, point] for each in samples) for name in (one, other)]
        return worst[0] / worst[1]

    return ratio


def _artefact_over_errors(
    number: int, trace: str, why: str = "", seeds: int = SEEDS
) -> AnyArtefact:
    """Figure 3.1, 3.2 or 3.3."""
    return Artefact(
        id=f"report-3.{number}",
        paper=Paper.REPORT,
        place=f"Figure 3.{number}, 3.1",
        says=f"{trace}: FIFO is worse than PS by orders of magnitude; FSP+PS stays below PS"
        " consistently even where σ = 1; SRPT and FSP+FIFO suffer more from errors, FSP+FIFO in a"
        " few runs.",
        evidence=Ideal((trace,), REPORT_DISCIPLINES, _OVER_SIGMA),
        quantities=(
            Quantity(
                label="FIFO over PS",
                value=_ratio_of_sojourns(trace, "fifo", "ps", _ONE),
                unit="×",
                above=10,
            ),
            Quantity(
                label="FSP+PS over PS, σ = 1",
                value=_ratio_of_sojourns(trace, "fsp+ps", "ps", _ONE),
                below=1,
            ),
            Quantity(
                label="runs in which FSP+PS is below PS, σ = 1",
                pooled=_share_of_runs_below(trace, "fsp+ps", "ps", _ONE),
                above=0.95,
                share=True,
            ),
            Quantity(
                label="SRPT over FSP+PS, σ = 1",
                value=_ratio_of_sojourns(trace, "srpt", "fsp+ps", _ONE),
                above=1,
            ),
            Quantity(
                label="worst run of FSP+FIFO over that of FSP+PS, σ = 1",
                pooled=_worst_ratio(trace, "fsp+fifo", "fsp+ps", _ONE),
                above=1,
            ),
        ),
        why=why,
        draw=partial(_box_figure, trace=trace),
        seeds=seeds,
    )


def _greatest_ratio_to_best(
    one: str, others: Sequence[str], points: Sequence[Point]
) -> Callable[..., float]:
    """How far one discipline's mean is above the best of others, where it is farthest."""

    def ratio(samples: Sequence[Sojourns]) -> float:
        found = [
            _mean_sojourn(samples, trace, one, point)
            / min(_mean_sojourn(samples, trace, other, point) for other in others)
            for trace in _traces_at_hand(samples)
            for point in points
        ]
        return max(found)

    return ratio


def _mean_sojourn(samples: Sequence[Sojourns], trace: str, discipline: str, point: Point) -> float:
    return fmean(each[trace, discipline, point] for each in samples)


def _least_ratio(one: str, other: str, point: Point) -> Callable[..., float]:
    def ratio(samples: Sequence[Sojourns]) -> float:
        return min(
            _mean_sojourn(samples, trace, one, point) / _mean_sojourn(samples, trace, other, point)
            for trace in _traces_at_hand(samples)
        )

    return ratio


def _srpt_gap_over_loads(low: float, high: float) -> Callable[..., float]:
    """How far SRPT is above FSP+PS at the higher load, over the same at the lower one."""

    def ratio(samples: Sequence[Sojourns]) -> float:
        def apart(load: float) -> float:
            point = Point(load, DN, 0.5)
            return median(
                _mean_sojourn(samples, trace, "srpt", point)
                / _mean_sojourn(samples, trace, "fsp+ps", point)
                for trace in _traces_at_hand(samples)
            )

        return apart(high) / apart(low)

    return ratio


def _spread_over_points(samples: Sequence[Sojourns], name: str, points: Sequence[Point]) -> float:
    """How far a discipline's mean over PS's is from flat: the most over the least, the median of
    the traces.
    """
    spreads = []
    for trace in _traces_at_hand(samples):
        means = [
            _mean_sojourn(samples, trace, name, point) / _mean_sojourn(samples, trace, "ps", point)
            for point in points
        ]
        spreads.append(max(means) / min(means))
    return median(spreads)


def _fifo_spread_over_ps(samples: Sequence[Sojourns]) -> float:
    points = _points_over_dn(0.5)
    return _spread_over_points(samples, "fsp+fifo", points) / _spread_over_points(
        samples, "fsp+ps", points
    )


_LESS_FLAT = Quantity[Sojourns](
    label="most over least along d/n, FSP+FIFO's over FSP+PS's",
    pooled=_fifo_spread_over_ps,
    above=1,
)


def _share_of_same_rank(
    disciplines: Sequence[str], points: Sequence[Point]
) -> Callable[..., float]:
    """The share of traces and points at which the disciplines rank as at the default d/n."""

    def share(samples: Sequence[Sojourns]) -> float:
        same = []
        for trace in _traces_at_hand(samples):
            ranks = {
                point: sorted(
                    disciplines,
                    key=lambda name: _mean_sojourn(samples, trace, name, point),
                )
                for point in points
            }
            usual = next(rank for point, rank in ranks.items() if point.dn == DN)
            same += [rank == usual for rank in ranks.values()]
        return sum(same) / len(same)

    return share


# Figures.


def _box_figure(samples: Sequence[Sojourns], trace: str) -> Any:
    """The runs' mean sojourns by σ."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.8)
        axes = figure.add_subplot()
        sighted = [name for name in REPORT_DISCIPLINES if name not in ("fifo", "ps")]
        for place, name in enumerate(sighted):
            look = LINE_STYLES[name]
            rows = [[each[trace, name, point] for each in samples] for point in _OVER_SIGMA]
            at = [group + (place - 1) * 0.25 for group in range(len(rows))]
            drawn = axes.boxplot(
                rows, positions=at, widths=0.2, whis=(5, 95), patch_artist=True, manage_ticks=False
            )
            for box in drawn["boxes"]:
                box.set(facecolor=look.colour, edgecolor=look.colour, alpha=0.55)
            for line in drawn["medians"]:
                line.set(color="#000000")
            for line in drawn["fliers"]:
                line.set(marker=".", markersize=3, markeredgecolor=look.colour)
            drawn["boxes"][0].set_label(look.label)
        for name in ("fifo", "ps"):
            look = LINE_STYLES[name]
            level = samples[0][trace, name, _OVER_SIGMA[0]]
            axes.axhline(level, color=look.colour, linestyle=look.dashes, label=look.label)
        axes.set_xticks(range(len(_OVER_SIGMA)), [f"{point.sigma:g}" for point in _OVER_SIGMA])
        axes.set_xlabel("error σ")
        _set_log_sojourn_axis(axes)
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def _line_figure(samples: Sequence[Sojourns], points: Sequence[Point], axis: str) -> Any:
    """The means over the runs, a panel a trace."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.6)
        traces = _traces_at_hand(samples)
        panels = figure.subplots(1, len(traces), sharey=True, squeeze=False)[0]
        for axes, trace in zip(panels, traces, strict=True):
            for name in REPORT_DISCIPLINES:
                look = LINE_STYLES[name]
                axes.plot(
                    [getattr(point, axis) for point in points],
                    [_mean_sojourn(samples, trace, name, point) for point in points],
                    color=look.colour,
                    linestyle=look.dashes,
                    label=look.label,
                )
            axes.set_title(trace)
            axes.set_xlabel({"load": "load", "dn": "d/n"}[axis])
            _set_log_sojourn_axis(axes)
        for axes in panels[1:]:
            axes.set_ylabel("")
        shared_legend(figure, *panels[0].get_legend_handles_labels())
    return figure


def _set_log_sojourn_axis(axes: Any) -> None:
    axes.set_yscale("log")
    plain_log_axis(axes.yaxis)
    axes.set_ylabel("mean sojourn (s)")
    axes.grid(axis="y")


_OTHERS = ("fifo", "ps", "srpt", "fsp+fifo")

IDEAL_ARTEFACTS: tuple[AnyArtefact, ...] = (
    *(
        Artefact(
            id=f"report-jobs-{trace}",
            paper=Paper.REPORT,
            place="3",
            says=f"{trace} has {jobs:,} jobs.",
            verdict_class=VerdictClass.INPUT,
            evidence=TraceFile(trace),
            quantities=(
                Quantity(
                    label="jobs",
                    value=lambda found: float(len(found.submit_s)),
                    printed=jobs,
                    exact=True,
                ),
            ),
        )
        for trace, jobs in (("FB09-0", 5894), ("FB09-1", 6638), ("FB10", 24_442))
    ),
    Artefact(
        id="report-half-off",
        paper=Paper.REPORT,
        place="3.1",
        says="Where σ = 1 around half of the sizes are taken for twice as much or more, or for half"
        " or less: 2 (1 − Φ(ln 2)).",
        verdict_class=VerdictClass.FORMULA,
        evidence=SeededExample("half-off"),
        quantities=(
            Quantity(
                label="estimates wrong by a factor of 2 or more",
                value=lambda found: found["off by 2"],
                printed=1 - erf(log(2) / sqrt(2)),
                share=True,
            ),
        ),
    ),
    _artefact_over_errors(1, "FB09-0"),
    _artefact_over_errors(2, "FB09-1"),
    _artefact_over_errors(3, "FB10", seeds=MORE_SEEDS),
    Artefact(
        id="report-3.4",
        paper=Paper.REPORT,
        place="Figure 3.4, 3.2",
        says="Without errors FSP and SRPT are remarkably similar at every load (here: FSP's mean at"
        " most a quarter above SRPT's); FIFO is worse than PS by orders of magnitude on all three"
        " traces.",
        evidence=Ideal(_TRACES, REPORT_DISCIPLINES, _points_over_load(0.0)),
        quantities=(
            Quantity(
                label="FSP over SRPT, the most at any load",
                pooled=_greatest_ratio_to_best("fsp+ps", ("srpt",), _points_over_load(0.0)),
                below=1.25,
            ),
            Quantity(
                label="FIFO over PS at load 0.9, the least of the traces",
                pooled=_least_ratio("fifo", "ps", Point(LOAD, DN, 0.0)),
                unit="×",
                above=10,
            ),
        ),
        draw=partial(_line_figure, points=_points_over_load(0.0), axis="load"),
        seeds=1,
    ),
    Artefact(
        id="report-3.5",
        paper=Paper.REPORT,
        place="Figure 3.5, 3.2",
        says="With σ = 0.5 FSP+PS is always best (here: nowhere more than 1 % above the best of the"
        " others); beyond load 1 the differences become smaller.",
        evidence=Ideal(_TRACES, REPORT_DISCIPLINES, _points_over_load(0.5)),
        quantities=(
            Quantity(
                label="FSP+PS over the best other, the most at any load",
                pooled=_greatest_ratio_to_best("fsp+ps", _OTHERS, _points_over_load(0.5)),
                below=1.01,
            ),
            Quantity(
                label="SRPT over FSP+PS, load 2 against load 0.9",
                pooled=_srpt_gap_over_loads(0.9, 2.0),
                below=1,
            ),
        ),
        draw=partial(_line_figure, points=_points_over_load(0.5), axis="load"),
    ),
    *(
        Artefact(
            id=f"report-3.{number}",
            paper=Paper.REPORT,
            place=f"Figure 3.{number}, 3.3",
            says=f"d/n plays no important role for scheduling ({told}; here: at 90 % of the points"
            " disciplines rank as at d/n = 4). With errors FSP+FIFO's line is much less flat than"
            " the others, for its outliers.",
            evidence=Ideal(_TRACES, REPORT_DISCIPLINES, _points_over_dn(sigma)),
            quantities=(
                Quantity(
                    label=f"points at which {', '.join(map(str.upper, steady))} rank as at d/n = 4",
                    pooled=_share_of_same_rank(steady, _points_over_dn(sigma)),
                    above=0.9,
                    share=True,
                ),
                *((_LESS_FLAT,) if sigma else ()),
            ),
            draw=partial(_line_figure, points=_points_over_dn(sigma), axis="dn"),
            seeds=1 if not sigma else 10,
        )
        for number, sigma, told, steady in (
            (6, 0.0, "no error", ("fifo", "ps", "srpt", "fsp+ps")),
            (7, 0.5, "σ = 0.5", ("fifo", "ps", "fsp+ps")),  # a few runs are most of SRPT's mean
        )
    ),
)
