"""The report's figures: boxes over sigma, lines over load and d/n, on a log scale.

matplotlib is the optional extra `ideal`; nothing else here needs it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from callboard.ideal.cells import Point
from callboard.ideal.results import Results
from callboard.ideal.study import FigureSpec
from callboard.ideal.swim import Trace
from scheduler.ideal import BLIND


class Look(NamedTuple):
    """How a discipline is drawn, the same in every figure."""

    label: str
    colour: str
    marker: str
    dashes: Any


# Okabe and Ito's colours, which the colour-blind tell apart; print tells by marker and dash.
LOOKS = {
    "fifo": Look("FIFO", "#000000", "s", (0, (1, 1.2))),
    "ps": Look("PS", "#7a7a7a", "D", (0, (5, 2))),
    "gps": Look("GPS", "#7a7a7a", "D", (0, (5, 2))),
    "las": Look("LAS", "#cc79a7", "v", (0, (5, 1.5, 1, 1.5))),
    "srpt": Look("SRPT", "#d55e00", "^", "solid"),
    "srpt+ps": Look("SRPT+PS", "#e69f00", ">", "solid"),
    "fsp+fifo": Look("FSP+FIFO", "#56b4e9", "o", "solid"),
    "fsp+ps": Look("FSP+PS", "#0072b2", "P", "solid"),
    "fsp+las": Look("FSP+LAS", "#009e73", "X", "solid"),
    "psbs": Look("PSBS", "#8b6508", "*", "solid"),
}

AXES = {"sigma": "error σ", "load": "load", "dn": "d/n"}
RC = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "callboard",
}


def draw(results: Results, folder: Path, formats: Sequence[str]) -> Iterator[Path]:
    """Draw the study's figures into `folder`.  Raises `ImportError` without matplotlib."""
    from matplotlib import rc_context

    by_name = {trace.name: trace for trace in results.study.traces}
    for spec in results.study.figures:
        traces = [by_name[name] for name in spec.traces if name in by_name]
        with rc_context(RC):
            figure = (
                _boxes(results, spec, traces[0])
                if spec.axis == "sigma"
                else _lines(results, spec, traces)
            )
            for ending in formats:
                path = folder / f"{spec.stem}.{ending}"
                # Without a date the same results are the same file.
                metadata = {"Date": None} if ending == "svg" else {}
                figure.savefig(path, dpi=160, metadata=metadata)
                yield path


def _boxes(results: Results, spec: FigureSpec, trace: Trace) -> Any:
    """Boxes of the runs' mean sojourns, a group a sigma; blind disciplines as level lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    sighted = [name for name in results.study.disciplines if name not in BLIND]
    width = 0.8 / max(1, len(sighted))
    for k, name in enumerate(sighted):
        rows = [results.means(trace, name, point) for point in spec.points]
        places = [g + (k - (len(sighted) - 1) / 2) * width for g in range(len(rows))]
        _box(axes, rows, places, 0.82 * width, LOOKS[name])
    for name in results.study.disciplines:
        if name in BLIND:
            level = results.means(trace, name, spec.points[0])[0]
            look = LOOKS[name]
            axes.axhline(level, color=look.colour, linestyle=look.dashes, label=look.label)
    axes.set_xticks(range(len(spec.points)), [f"{point.sigma:g}" for point in spec.points])
    axes.set_xlim(-0.55, len(spec.points) - 0.45)
    axes.tick_params(axis="x", length=0)
    load, dn, _ = spec.points[0]
    axes.set_title(f"{trace.name}, load {load:g}, d/n {dn:g}", fontsize=9, loc="left")
    _finish(figure, axes, spec, results.study.disciplines)
    return figure


def _box(axes: Any, rows: list[list[float]], places: list[float], width: float, look: Look) -> None:
    """Quartiles and median; whiskers to the 5th and 95th percentile; the other runs as dots."""
    drawn = axes.boxplot(
        rows, positions=places, widths=width, whis=(5, 95), patch_artist=True, manage_ticks=False
    )
    for box in drawn["boxes"]:
        box.set(facecolor=look.colour, edgecolor=look.colour, alpha=0.55)
    for part in ("whiskers", "caps"):
        for line in drawn[part]:
            line.set(color=look.colour, linewidth=1)
    for line in drawn["medians"]:
        line.set(color="black", linewidth=1.3)
    for line in drawn["fliers"]:
        line.set(marker=".", markersize=3, markeredgecolor=look.colour, alpha=0.7)
    drawn["boxes"][0].set_label(look.label)


def _lines(results: Results, spec: FigureSpec, traces: list[Trace]) -> Any:
    """The mean over the runs of the mean sojourn, a panel a trace on one common scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.2 + 3.1 * len(traces), 3.5), layout="constrained")
    panels = figure.subplots(1, len(traces), sharey=True, squeeze=False)[0]
    for axes, trace in zip(panels, traces, strict=True):
        for name in results.study.disciplines:
            _line(axes, results, spec.points, spec.axis, trace, name)
        axes.set_title(trace.name, fontsize=9, loc="left")
        _finish(figure if axes is panels[0] else None, axes, spec, results.study.disciplines)
        if axes is not panels[0]:
            axes.set_ylabel("")
    return figure


def _line(
    axes: Any, results: Results, points: tuple[Point, ...], axis: str, trace: Trace, name: str
) -> None:
    look = LOOKS[name]
    at = [getattr(point, axis) for point in points]
    means = [results.line(trace, name, point, name).mean.mean for point in points]
    axes.plot(
        at,
        means,
        color=look.colour,
        linestyle=look.dashes,
        marker=look.marker,
        markersize=4,
        markevery=max(1, len(at) // 10),
        linewidth=1.3,
        label=look.label,
    )


def _finish(figure: Any, axes: Any, spec: FigureSpec, disciplines: Sequence[str]) -> None:
    """Scale, grid and labels; the legend, in the order of the disciplines, if `figure` is given."""
    axes.set_yscale("log")
    axes.grid(axis="y", which="major", linewidth=0.5, color="#cccccc")
    axes.set_xlabel(AXES[spec.axis])
    axes.set_ylabel("mean sojourn (s)")
    if figure is not None:
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        labels = [LOOKS[name].label for name in disciplines]
        figure.legend([handles[label] for label in labels], labels, loc="outside right upper")
