"""A figure in a notebook or a script, and which figures there are by name."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from callboard.experiments.pages.charts.chart_catalogue import (
    RUN_CHARTS,
    STORE_CHARTS,
    StoredSweep,
    draw_run_chart,
)
from callboard.experiments.pages.charts.chart_run import ChartRun
from callboard.experiments.pages.charts.chart_style import (
    CHART_DPI,
    CHART_ENDINGS,
    check_matplotlib,
    house_style,
    save_chart,
)
from callboard.experiments.pages.charts.measures import measure_named
from callboard.experiments.pages.charts.run_labels import labelled_runs
from callboard.experiments.user_errors import InputError

_Named = TypeVar("_Named")


class Picture:
    """A figure that shows itself in a notebook; `figure` is matplotlib's, to be changed at will."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def save(self, path: str | Path, dpi: int = CHART_DPI) -> Path:
        """Write it as `.svg`, `.png` or `.pdf`, with `dpi` pixels an inch; InputError for another
        ending, OSError.
        """
        to = Path(path)
        if to.suffix.lower() not in CHART_ENDINGS:
            raise InputError(f"{path}: end the name in one of {', '.join(CHART_ENDINGS)}")
        save_chart(self.figure, to, dpi=dpi)
        return to

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches()
        return f"<figure of {width:g} × {height:g} inches>"

    def _repr_svg_(self) -> str:
        buffer = io.StringIO()
        with house_style():
            self.figure.savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()


def picture_of_runs(figure: str, runs: Sequence[ChartRun], of: str = "mean") -> Picture:
    """A figure of runs by its name, `measure` of a measure by its; InputError for a name that
    there is not, NothingToDraw.
    """
    _known_figure(figure, RUN_CHARTS)
    return Picture(draw_run_chart(figure, labelled_runs(runs), measure_named(of)))


def picture_of_sweep(figure: str, sweep: StoredSweep, of: str) -> Picture:
    """A figure of a sweep by its name, of a measure by its; errors as `picture_of_runs`."""
    chart, measure = _known_figure(figure, STORE_CHARTS), measure_named(of)
    return Picture(chart.draw(sweep, measure))


def _known_figure(name: str, known: Mapping[str, _Named]) -> _Named:
    check_matplotlib()
    if name not in known:
        raise InputError(f"{name}: there is no such figure; there are {', '.join(known)}")
    return known[name]
