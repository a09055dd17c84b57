"""Mean response times of one server by formula: M/G/1 under six disciplines, and M/M/k.

Jobs come at rate λ as a Poisson process; X is a size, F its distribution, f its density; the
load is ρ = λE[X], that of jobs up to x is ρ(x) = λ∫₀ˣ t f(t) dt.  The formulas of the disciplines
are in their methods; they are those of Harchol-Balter, Performance Modeling and Design of Computer
Systems (2013), chapters 29 to 33.
"""

from collections.abc import Callable
from functools import cached_property
from math import log

import numpy as np

from callboard.scheduler.ideal.panel_grid import GridValues, PanelGrid
from callboard.scheduler.ideal.size_laws import SizeLaw

MASS_WITHIN = 1e-8
"""How far a law may be from one job a job."""


def check_load(load: float) -> None:
    """Refuse a load under which no mean is finite, or no job comes."""
    if not 0 < load < 1:
        raise ValueError(f"a load of {load}: it has to be above 0 and below 1")


class SingleServer:
    """A server of speed 1, and what comes to it; ValueError for a load that is not between 0 and 1
    or a law that is none.
    """

    def __init__(self, law: SizeLaw, load: float) -> None:
        check_load(load)
        self.law = law
        self.load = load
        self.grid = PanelGrid(log(law.lowest), log(law.highest))
        self.x: GridValues = np.exp(self.grid.points)
        self.jobs: GridValues = self.x * law.density(self.x)
        """The density of the logarithm of a size."""
        mass = self.grid.integral(self.jobs)
        if not abs(mass - 1) < MASS_WITHIN:
            raise ValueError(f"the density of sizes integrates to {mass}, not to 1")
        self.rate = load / self.moment(1)

    def mean_over_jobs(self, of_size: GridValues) -> float:
        """The mean over all jobs of what is given by their size."""
        return self.grid.integral(of_size * self.jobs)

    def moment(self, power: int) -> float:
        """E[X^power]."""
        return self.mean_over_jobs(self.x**power)

    def partial_moment(self, power: int) -> GridValues:
        """∫₀ˣ t^power f(t) dt at every x."""
        return self.grid.running_integral(self.x**power * self.jobs)

    @cached_property
    def longer(self) -> GridValues:
        """1 − F(x)."""
        return self.grid.remaining_integral(self.jobs)

    @cached_property
    def idle_for(self) -> GridValues:
        """1 − ρ(x): what is left by jobs up to x."""
        return 1 - self.rate * self.partial_moment(1)

    def fcfs(self) -> float:
        """λE[X²] / 2(1 − ρ) + E[X]."""
        return self.rate * self.moment(2) / (2 * (1 - self.load)) + self.moment(1)

    def fcfs_by_heartbeats(self, interval: float) -> float:
        """FCFS's mean on one slot of a cluster whose node is heard every `interval`, in the unit of
        the sizes: an end is told, and a job begun, at heartbeats only.

        A job then takes X' = h⌈X/h⌉, and waits h/2 for a heartbeat: h/2 + λE[X'²] / 2(1 − λE[X']) +
        E[X'] (a queue in slots of time: the work at the start of one is the work before, less 1,
        and what came meanwhile).  ValueError where λE[X'] is 1 or more.
        """
        _, first, second = self._heartbeat_moments(interval)
        return interval / 2 + self.rate * second / (2 * (1 - self.rate * first)) + first

    def sjf_by_heartbeats(self, interval: float) -> float:
        """SJF's mean where ends are told and jobs begun at heartbeats only: of the jobs that have
        come by one the smallest is begun.

        With ρ'(x) = λE[X' 1(X ≤ x)] a job of size x waits
        (h(1 − λE[X']) + λE[X'²]) / 2(1 − ρ'(x))², and then takes X'; as `fcfs_by_heartbeats`.
        """
        longer, first, second = self._heartbeat_moments(interval)
        lasts = interval * np.arange(1, len(longer) + 1)
        jobs = longer - np.append(longer[1:], 0.0)
        left = 1 - self.rate * np.cumsum(lasts * jobs)
        before = left + self.rate * lasts * jobs
        # Within a cell the share of smaller jobs grows evenly: ∫ du / (b − cu)² = u / b(b − cu).
        waits = float((jobs / (before * left)).sum())
        at_first = interval * (1 - self.rate * first) + self.rate * second
        return at_first / 2 * waits + first

    def _heartbeat_moments(self, interval: float) -> tuple[GridValues, float, float]:
        """P(X > 0), P(X > h), P(X > 2h), …, and E[X'], E[X'²]; ValueError for too much load."""
        starts = interval * np.arange(int(self.law.highest / interval) + 1)
        with np.errstate(divide="ignore"):
            longer = self.grid.values_at(self.longer, np.log(starts))
        longer = np.where(starts < self.law.lowest, 1.0, longer)
        first = interval * float(longer.sum())
        second = interval**2 * float(((2 * np.arange(len(starts)) + 1) * longer).sum())
        load = self.rate * first
        if not load < 1:
            raise ValueError(
                f"by heartbeats every {interval:g} the load is {load:.3g}, not below 1"
            )
        return longer, first, second

    def ps(self) -> float:
        """E[X] / (1 − ρ)."""
        return self.moment(1) / (1 - self.load)

    def sjf(self) -> float:
        """λE[X²] / 2(1 − ρ(x))² + x: the smallest that waits, to its end."""
        return self.mean_over_jobs(self.rate * self.moment(2) / (2 * self.idle_for**2) + self.x)

    def psjf(self) -> float:
        """λ∫₀ˣ t²f / 2(1 − ρ(x))² + x / (1 − ρ(x)): the smallest by its whole size."""
        waiting = self.rate * self.partial_moment(2) / (2 * self.idle_for**2)
        return self.mean_over_jobs(waiting + self.x / self.idle_for)

    def srpt(self) -> float:
        """λ(∫₀ˣ t²f + x²(1 − F(x))) / 2(1 − ρ(x))² + ∫₀ˣ dt / (1 − ρ(t))."""
        residual = self.partial_moment(2) + self.x**2 * self.longer
        waiting = self.mean_over_jobs(self.rate * residual / (2 * self.idle_for**2))
        # Of the second term, the mean over x is ∫ (1 − F(t)) / (1 − ρ(t)) dt.
        return waiting + self.law.lowest + self.grid.integral(self.x * self.longer / self.idle_for)

    def fb(self) -> float:
        """λE[min(X, x)²] / 2(1 − r)² + x / (1 − r), r = λE[min(X, x)]: least attained service."""
        cut = [self.partial_moment(n) + self.x**n * self.longer for n in (1, 2)]
        left = 1 - self.rate * cut[0]
        return self.mean_over_jobs(self.rate * cut[1] / (2 * left**2) + self.x / left)


FORMULAS: dict[str, Callable[[SingleServer], float]] = {
    "FCFS": SingleServer.fcfs,
    "PS": SingleServer.ps,
    "SJF": SingleServer.sjf,
    "PSJF": SingleServer.psjf,
    "SRPT": SingleServer.srpt,
    "FB": SingleServer.fb,
}
"""By the names that the literature has."""


def erlang_c(servers: int, load: float) -> float:
    """The probability that a job of M/M/k waits, at this load of each server."""
    offered = servers * load
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return blocked / (1 - load * (1 - blocked))


def many_servers_fcfs(servers: int, load: float, mean: float = 1.0) -> float:
    """The mean response of M/M/k, first come first served, where a job takes `mean` by itself;
    ValueError for a load not between 0 and 1.
    """
    check_load(load)
    return mean * (1 + erlang_c(servers, load) / (servers * (1 - load)))
