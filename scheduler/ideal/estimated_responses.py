"""Mean response times where sizes are estimated: PSJF-E and SRPT-E by formula.

A job of size X has the estimate Z = X·exp(σN), N standard normal.  PSJF-E serves the least
estimate; SRPT-E the least estimate less attained service, and once that is used up nobody preempts
the job.  Both by SOAP (Scully, Harchol-Balter, Scheller-Wolf 2018); with ρ_z = λE[X 1(Z ≤ z)]:

- PSJF-E: λE[X² 1(Z ≤ z)] / 2(1 − ρ_z)² + x / (1 − ρ_z)
- SRPT-E: λ(E[X² 1(Z ≤ z)] + E[((X − (Z − z))⁺)² 1(Z > z)]) / 2(1 − ρ_z)² + ∫₀ˣ da / (1 − ρ_{z−a})

Six digits are right, and more where the density is smooth; where it begins or ends with a jump, as
the bounded Pareto's, fewer below a sigma of a quarter.
"""

from collections.abc import Callable

import numpy as np

from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.ideal.panel_grid import GridValues, PanelGrid

REACH = 8.0
"""How many deviations of an error count; beyond are 10⁻¹⁵ of the jobs."""


class EstimatedServer:
    """A server whose jobs are served by estimates with errors of deviation sigma; ValueError if
    that is not above 0.
    """

    def __init__(self, server: SingleServer, sigma: float) -> None:
        if not sigma > 0:
            raise ValueError(f"sigma is {sigma}: it has to be above 0")
        self.server = server
        self._errors = PanelGrid(-REACH, REACH, 1.0)  # no error is the end of a panel
        self._factors: GridValues = np.exp(sigma * self._errors.points)
        self._odds: GridValues = np.exp(-(self._errors.points**2) / 2) / np.sqrt(2 * np.pi)
        self._by_size = [server.partial_moment(power) for power in range(3)]
        reach = REACH * sigma
        self.grid = PanelGrid(server.grid.low - reach, server.grid.high + reach)
        self.z: GridValues = np.exp(self.grid.points)
        self.smaller_squared = self._mean_over_errors(lambda z, c: self._partial_moment(2, z / c))
        """E[X² 1(Z ≤ z)] at every z."""
        smaller = self._mean_over_errors(lambda z, c: self._partial_moment(1, z / c))
        self.idle_for: GridValues = 1 - server.rate * smaller
        """1 − ρ_z at every z."""

    def psjf(self) -> float:
        """PSJF-E's mean response."""
        return self._mean_waiting(self.smaller_squared) + self._mean_over_jobs(
            lambda x, z: x / self.grid.values_at(self.idle_for, np.log(z))
        )

    def srpt(self) -> float:
        """SRPT-E's mean response."""
        residual = self._mean_over_errors(self._residual_squared)
        served = self.grid.running_integral(self.z / self.idle_for) + self.z[0, 0]
        return self._mean_waiting(self.smaller_squared + residual) + self._mean_over_jobs(
            lambda x, z: self._time_to_rank(served, z) - self._time_to_rank(served, z - x)
        )

    def _mean_waiting(self, ahead_squared: GridValues) -> float:
        """What a job waits for what is ahead of it, given by its estimate."""
        waiting = self.server.rate * ahead_squared / (2 * self.idle_for**2)
        return self._mean_over_jobs(lambda _, z: self.grid.values_at(waiting, np.log(z)))

    def _time_to_rank(self, served: GridValues, rank: GridValues) -> GridValues:
        """∫₀ db / (1 − ρ_b) up to a rank; below 0 nobody interferes."""
        safe = np.maximum(rank, self.z[0, 0])
        return np.where(rank < self.z[0, 0], rank, self.grid.values_at(served, np.log(safe)))

    def _residual_squared(self, z: GridValues, factor: float) -> GridValues:
        """E[((X − (Z − z))⁺)² 1(Z > z)] for jobs that are estimated `factor` times their size.

        What is left of such a job when its rank has fallen to z is (1 − c)X + z.
        """
        first = z / factor
        last = z / (factor - 1) if factor > 1 else np.full_like(z, np.inf)
        moments = [self._partial_moment(n, last) - self._partial_moment(n, first) for n in range(3)]
        slope = 1 - factor
        return slope**2 * moments[2] + 2 * slope * z * moments[1] + z**2 * moments[0]

    def _partial_moment(self, power: int, x: GridValues) -> GridValues:
        """∫₀ˣ t^power f(t) dt, for any x."""
        grid = self.server.grid
        with np.errstate(divide="ignore"):
            found = grid.values_at(self._by_size[power], np.log(x))
        return np.where(x < self.server.law.lowest, 0.0, found)

    def _mean_over_errors(self, given: Callable[[GridValues, float], GridValues]) -> GridValues:
        """At every z, the mean over all errors of what is given for a factor."""
        total = np.zeros_like(self.z)
        weights = self._errors.weights * self._odds
        for factor, weight in zip(self._factors.flat, weights.flat, strict=True):
            total += weight * given(self.z, float(factor))
        return total

    def _mean_over_jobs(self, of_job: Callable[[GridValues, GridValues], GridValues]) -> float:
        """The mean over all jobs of what is given by size and estimate."""
        x = self.server.x
        weights = self._errors.weights * self._odds
        return sum(
            float(weight) * self.server.mean_over_jobs(of_job(x, x * factor))
            for factor, weight in zip(self._factors.flat, weights.flat, strict=True)
        )
