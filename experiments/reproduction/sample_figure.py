"""Figures of a sample that say of which runs they are, and what is made of several."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, isfinite
from statistics import fmean
from typing import Any

import msgspec


class SampleFigure(msgspec.Struct, frozen=True):
    """A figure of a sample; `cells` are the names of the runs that it is made of, none if the
    sample is not of runs.  Called with a sample it gives the figure, None where there is none.

    One divided by another, or less it, is a figure too, without a value where either has none.
    """

    cells: tuple[str, ...]
    figure: Callable[[Any], float | None]

    def __call__(self, sample: Any) -> float | None:
        return self.figure(sample)

    def __truediv__(self, whole: "SampleFigure | float") -> "SampleFigure":
        return _combined_figure((self, _as_figure(whole)), _ratio_of)

    def __sub__(self, other: "SampleFigure | float") -> "SampleFigure":
        return _combined_figure((self, _as_figure(other)), _difference_of)

    def __rsub__(self, whole: float) -> "SampleFigure":
        return _as_figure(whole) - self


def figure_of(cell: str, figure: Callable[..., float | None], *more: object) -> SampleFigure:
    """The figure of the run of one cell; it is given the run, and `more` that it takes."""
    return SampleFigure((cell,), lambda runs: figure(runs[cell], *more))


def example_number(found: Mapping[str, float], key: str) -> float:
    """What an example comes to, of which `key` says what."""
    return found[key]


def total_of(figures: Iterable[SampleFigure]) -> SampleFigure:
    """The sum of figures, if there are all."""
    return _combined_figure(tuple(figures), lambda *found: None if None in found else fsum(found))


def mean_of(figures: Iterable[SampleFigure]) -> SampleFigure:
    """The mean of figures, if there are all."""
    return _combined_figure(tuple(figures), lambda *found: None if None in found else fmean(found))


def _ratio_of(value: float | None, whole: float | None) -> float | None:
    """Their ratio; None where there is none."""
    if value is None or not whole:
        return None
    found = value / whole
    return found if isfinite(found) else None


def _difference_of(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _as_figure(value: object) -> SampleFigure:
    if isinstance(value, int | float):
        return SampleFigure((), lambda _: value)
    if isinstance(value, SampleFigure):
        return value
    raise TypeError(f"expected a figure or a number, got {value!r}")


def _combined_figure(
    figures: Sequence[SampleFigure], combine: Callable[..., float | None]
) -> SampleFigure:
    """A figure that is made of others, which `combine` is given in this order."""
    cells = tuple(cell for each in figures for cell in each.cells)
    return SampleFigure(cells, lambda sample: combine(*(each(sample) for each in figures)))
