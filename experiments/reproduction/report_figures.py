"""What is measured and drawn for the simulator report: mean sojourns on the ideal machine."""

from collections.abc import Sequence
from math import erf, log, sqrt
from statistics import fmean, median
from typing import Any

from callboard.experiments.ideal_study.cells import Point
from callboard.experiments.ideal_study.plots import AXES, draw_sojourn_boxes
from callboard.experiments.ideal_study.study import (
    DN,
    LOAD,
    REPORT_DISCIPLINES,
    REPORT_DNS,
    REPORT_LOADS,
    REPORT_SIGMAS,
    Axis,
)
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.pages.charts.chart_style import (
    LINE_STYLES,
    PAGE_INCHES,
    house_style,
    new_figure,
    plain_log_axis,
    shared_legend,
)
from callboard.experiments.reproduction.evidence import Ideal, Sojourns
from callboard.experiments.reproduction.paper_language import (
    Vocabulary,
    chart_vocabulary,
    sample_figure_vocabulary,
)

_TRACES = ("FB09-0", "FB09-1", "FB10")
_ONE = Point(LOAD, DN, 1.0)


def _points_over(axis: Axis, sigma: float = 1.0) -> tuple[Point, ...]:
    """The report's points along one parameter, the others being its defaults."""
    if axis == "load":
        return tuple(Point(load, DN, sigma) for load in REPORT_LOADS)
    if axis == "dn":
        return tuple(Point(LOAD, dn, sigma) for dn in REPORT_DNS)
    return tuple(Point(LOAD, DN, each) for each in REPORT_SIGMAS)


def ideal_over(axis: Axis, traces: Sequence[str], sigma: float = 1.0) -> Ideal:
    """The report's disciplines on its traces, over one parameter."""
    return Ideal(tuple(traces), REPORT_DISCIPLINES, _points_over(axis, sigma))


def jobs_of_trace(found: Trace) -> float:
    """How many jobs a trace has."""
    return float(len(found.submit_s))


# On one trace, where σ = 1.


def ratio_of_sojourns(means: Sojourns, trace: str, one: str, other: str) -> float:
    """One discipline's mean over the other's."""
    return means[trace, one, _ONE] / means[trace, other, _ONE]


def share_of_runs_below(samples: Sequence[Sojourns], trace: str, one: str, other: str) -> float:
    """The share of runs in which one discipline's mean is below the other's."""
    below = [each[trace, one, _ONE] < each[trace, other, _ONE] for each in samples]
    return sum(below) / len(below)


def ratio_of_worst_runs(samples: Sequence[Sojourns], trace: str, one: str, other: str) -> float:
    """The worst run of one discipline over that of the other."""
    worst = [max(each[trace, name, _ONE] for each in samples) for name in (one, other)]
    return worst[0] / worst[1]


# On all traces that are at hand.


def _traces_at_hand(samples: Sequence[Sojourns]) -> list[str]:
    there = {trace for trace, *_ in samples[0]}
    return [trace for trace in _TRACES if trace in there]


def _mean_sojourn(samples: Sequence[Sojourns], trace: str, discipline: str, point: Point) -> float:
    return fmean(each[trace, discipline, point] for each in samples)


def _mean_over_other(
    samples: Sequence[Sojourns], trace: str, one: str, other: str, point: Point
) -> float:
    means = (_mean_sojourn(samples, trace, name, point) for name in (one, other))
    return next(means) / next(means)


def greatest_ratio_to_best(
    samples: Sequence[Sojourns], one: str, others: Sequence[str], sigma: float
) -> float:
    """How far one discipline's mean is above the best of others, at the load where it is
    farthest.
    """
    return max(
        _mean_sojourn(samples, trace, one, point)
        / min(_mean_sojourn(samples, trace, other, point) for other in others)
        for trace in _traces_at_hand(samples)
        for point in _points_over("load", sigma)
    )


def least_ratio_over_traces(
    samples: Sequence[Sojourns], one: str, other: str, sigma: float
) -> float:
    """One discipline's mean over the other's, on the trace where that is least."""
    point = Point(LOAD, DN, sigma)
    traces = _traces_at_hand(samples)
    return min(_mean_over_other(samples, trace, one, other, point) for trace in traces)


def srpt_gap_growth_with_load(samples: Sequence[Sojourns], low: float, high: float) -> float:
    """How far SRPT is above FSP+PS at the higher load, over the same at the lower one."""

    def apart(load: float) -> float:
        point, traces = Point(load, DN, 0.5), _traces_at_hand(samples)
        return median(_mean_over_other(samples, each, "srpt", "fsp+ps", point) for each in traces)

    return apart(high) / apart(low)


def ratio_of_fsp_spreads(samples: Sequence[Sojourns], sigma: float) -> float:
    """How far FSP+FIFO's mean over PS's is from flat along d/n, over how far FSP+PS's is."""
    return _spread_over_dn(samples, "fsp+fifo", sigma) / _spread_over_dn(samples, "fsp+ps", sigma)


def _spread_over_dn(samples: Sequence[Sojourns], name: str, sigma: float) -> float:
    """The most over the least of a discipline's mean over PS's, the median of the traces."""
    spreads = []
    for trace in _traces_at_hand(samples):
        points = _points_over("dn", sigma)
        means = [_mean_over_other(samples, trace, name, "ps", point) for point in points]
        spreads.append(max(means) / min(means))
    return median(spreads)


def share_with_default_ranking(
    samples: Sequence[Sojourns], disciplines: Sequence[str], sigma: float
) -> float:
    """The share of traces and d/n at which the disciplines rank as at the default d/n."""
    same = []
    for trace in _traces_at_hand(samples):
        ranks = {
            point: sorted(disciplines, key=lambda name: _mean_sojourn(samples, trace, name, point))
            for point in _points_over("dn", sigma)
        }
        usual = next(rank for point, rank in ranks.items() if point.dn == DN)
        same += [rank == usual for rank in ranks.values()]
    return sum(same) / len(same)


# Charts.


def sojourn_boxes_by_sigma(samples: Sequence[Sojourns], trace: str) -> Any:
    """The runs' mean sojourns by σ."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.8)
        axes = figure.add_subplot()
        draw_sojourn_boxes(
            axes,
            REPORT_DISCIPLINES,
            _points_over("sigma"),
            lambda name, point: [each[trace, name, point] for each in samples],
        )
        axes.set_xlabel(AXES["sigma"])
        _set_log_sojourn_axis(axes)
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def mean_sojourn_lines(samples: Sequence[Sojourns], axis: Axis, sigma: float) -> Any:
    """The means over the runs, a panel a trace."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.6)
        traces = _traces_at_hand(samples)
        panels = figure.subplots(1, len(traces), sharey=True, squeeze=False)[0]
        points = _points_over(axis, sigma)
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
            axes.set_xlabel(AXES[axis])
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


REPORT_FIGURES: Vocabulary = {
    **sample_figure_vocabulary(
        ratio_of_fsp_spreads,
        greatest_ratio_to_best,
        jobs_of_trace,
        least_ratio_over_traces,
        ratio_of_sojourns,
        share_of_runs_below,
        share_with_default_ranking,
        srpt_gap_growth_with_load,
        ratio_of_worst_runs,
    ),
    **chart_vocabulary(sojourn_boxes_by_sigma, mean_sojourn_lines),
    "erf": erf,
    "ideal_over": ideal_over,
    "log": log,
    "sqrt": sqrt,
}
