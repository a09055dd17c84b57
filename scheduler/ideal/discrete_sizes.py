"""Mean responses of one server whose jobs have one of a few sizes: laws without a density.

Jobs of one size are a class of priority; of equal ones the job that came first is served, so that
with one size SJF, PSJF and SRPT are FCFS.  The classical formulas of such classes (Harchol-Balter
2013, chapters 31 to 33), which for many sizes close to each other are those of `SingleServer` where
no two jobs are equal.
"""

from collections.abc import Mapping

import numpy as np

from callboard.scheduler.ideal.panel_grid import GridValues


class DiscreteServer:
    """A server of speed 1, and jobs of these sizes, each by its share of all jobs; ValueError for a
    load that is not between 0 and 1, or shares that are none.
    """

    def __init__(self, sizes: Mapping[float, float], load: float) -> None:
        if not 0 < load < 1:
            raise ValueError(f"a load of {load}: it has to be above 0 and below 1")
        self.x: GridValues = np.array(sorted(sizes))
        self.jobs: GridValues = np.array([sizes[each] for each in self.x])
        if not (self.x > 0).all() or not (self.jobs > 0).all() or abs(self.jobs.sum() - 1) > 1e-9:
            raise ValueError("sizes are above 0, and their shares of all jobs sum to 1")
        self.load = load
        self.rate = load / self.moment(1)
        up_to = np.cumsum(self.x * self.jobs)
        self._left = 1 - self.rate * up_to
        """What jobs up to a size leave of the server."""
        self._left_by_smaller = self._left + self.rate * self.x * self.jobs

    def moment(self, power: int) -> float:
        """E[X^power]."""
        return float((self.x**power * self.jobs).sum())

    def fcfs(self) -> float:
        """λE[X²] / 2(1 − ρ) + E[X]."""
        return self.rate * self.moment(2) / (2 * (1 - self.load)) + self.moment(1)

    def ps(self) -> float:
        """E[X] / (1 − ρ)."""
        return self.moment(1) / (1 - self.load)

    def sjf(self) -> float:
        """λE[X²] / 2(1 − ρ(<x))(1 − ρ(≤x)) + x."""
        return self._mean_over_jobs(
            self._mean_waiting(np.full_like(self.x, self.moment(2))) + self.x
        )

    def psjf(self) -> float:
        """λE[X² 1(X ≤ x)] / 2(1 − ρ(<x))(1 − ρ(≤x)) + x / (1 − ρ(<x))."""
        smaller = np.cumsum(self.x**2 * self.jobs)
        return self._mean_over_jobs(self._mean_waiting(smaller) + self.x / self._left_by_smaller)

    def srpt(self) -> float:
        """λ(E[X² 1(X ≤ x)] + x² P(X > x)) / 2(1 − ρ(<x))(1 − ρ(≤x)) + ∫₀ˣ dt / (1 − ρ(<t))."""
        longer = 1 - np.cumsum(self.jobs)
        ahead = np.cumsum(self.x**2 * self.jobs) + self.x**2 * longer
        steps = np.diff(self.x, prepend=0.0) / self._left_by_smaller
        return self._mean_over_jobs(self._mean_waiting(ahead) + np.cumsum(steps))

    def fb(self) -> float:
        """λE[min(X, x)²] / 2(1 − r)² + x / (1 − r), r = λE[min(X, x)]."""
        cut = np.minimum(self.x[:, None], self.x[None, :])
        left = 1 - self.rate * (cut @ self.jobs)
        return self._mean_over_jobs(
            self.rate * (cut**2 @ self.jobs) / (2 * left**2) + self.x / left
        )

    def _mean_waiting(self, ahead_squared: GridValues) -> GridValues:
        return self.rate * ahead_squared / (2 * self._left_by_smaller * self._left)

    def _mean_over_jobs(self, of_size: GridValues) -> float:
        return float((of_size * self.jobs).sum())
