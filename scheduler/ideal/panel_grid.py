"""Integrals of smooth functions over an interval, running ones too, by Gauss and Legendre.

The interval is cut into panels; a function is known by its values at the nodes of each, and
between them it is the polynomial through those.
"""

from math import ceil

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

GridValues = NDArray[np.float64]
"""A row a panel, a column a node; or points anywhere, in any shape."""

NODES = 12


class PanelGrid:
    """Panels of about one width from `low` to `high`."""

    def __init__(self, low: float, high: float, width: float = 0.5) -> None:
        self.low, self.high = low, high
        count = max(ceil((high - low) / width), 1)
        points, weights = legendre.leggauss(NODES)
        self._half = (high - low) / count / 2
        self.edges: GridValues = np.linspace(low, high, count + 1)
        """Where panels begin and end."""
        centres = low + self._half * (2 * np.arange(count) + 1)
        self.points: GridValues = centres[:, None] + self._half * points
        self.weights: GridValues = self._half * weights
        """By node, the same in every panel."""
        self._fit = np.linalg.inv(legendre.legvander(points, NODES - 1))
        primitives = legendre.legint(np.eye(NODES), lbnd=-1)
        self._running = self._half * legendre.legval(points, primitives).T @ self._fit

    def integral(self, values: GridValues) -> float:
        """Over the whole interval."""
        return float((values @ self.weights).sum())

    def running_integral(self, values: GridValues) -> GridValues:
        """From `low` to each node."""
        ends = np.cumsum(values @ self.weights)
        before = np.concatenate([[0.0], ends[:-1]])
        return np.asarray(before[:, None] + values @ self._running.T)

    def remaining_integral(self, values: GridValues) -> GridValues:
        """From each node to `high`; what is little beside the whole is not lost."""
        panels = values @ self.weights
        after = np.cumsum(panels[::-1])[::-1]
        return np.asarray(after[:, None] - values @ self._running.T)

    def values_at(self, values: GridValues, points: GridValues) -> GridValues:
        """A function at other points of the interval; those outside count as its ends."""
        inside = np.clip(points, self.low, self.high)
        place = (inside - self.low) / (2 * self._half)
        panel = np.minimum(place.astype(np.int64), len(self.points) - 1)
        terms = legendre.legvander(2 * (place - panel) - 1, NODES - 1)
        coefficients = values @ self._fit.T
        return np.asarray(np.einsum("...k,...k->...", coefficients[panel], terms))
