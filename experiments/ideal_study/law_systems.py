"""Queueing systems: Poisson arrivals, sizes of a named law; their means by formula, and played."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from callboard.experiments.ideal_study.law_option import parse_law_option
from callboard.scheduler.ideal import simulate, simulate_by_age, simulate_servers
from callboard.scheduler.ideal.estimated_responses import EstimatedServer
from callboard.scheduler.ideal.gittins_index import gittins_mean, gittins_ranks
from callboard.scheduler.ideal.mean_responses import SingleServer, many_servers_fcfs
from callboard.scheduler.ideal.panel_grid import GridValues
from callboard.scheduler.ideal.size_laws import truncated_law

GITTINS = "gittins"
"""Of which the ideal machine has to be told the law, where others look at sizes."""

LAW_DISCIPLINES: dict[str, Callable[[SingleServer], float]] = {
    "fifo": SingleServer.fcfs,
    "ps": SingleServer.ps,
    "las": SingleServer.fb,
    GITTINS: gittins_mean,
    "sjf": SingleServer.sjf,
    "psjf": SingleServer.psjf,
    "srpt": SingleServer.srpt,
}
"""The ideal machine's disciplines of which theory knows the mean."""

BY_ESTIMATE: dict[str, Callable[[EstimatedServer], float]] = {
    "psjf": EstimatedServer.psjf,
    "srpt": EstimatedServer.srpt,
}
"""Those of which it knows the mean by estimates too."""

WARM_UP = 0.1
"""The share of a run's jobs that is left out, since the machine is idle when the first comes."""

RARE = 20
"""Jobs of a kind of which fewer are expected in all runs are too rare to judge their part."""

_PURPOSE = int.from_bytes(b"law", "big")


class LawSystem(NamedTuple):
    """A law as it is spelled, the load of each server, and how many there are."""

    law: str
    load: float
    servers: int = 1

    @property
    def single_server(self) -> SingleServer:
        return _make_single_server(self.law, self.load)


class ServedBy(NamedTuple):
    """A discipline, by estimates with errors of this deviation; 0: by the sizes themselves."""

    discipline: str
    sigma: float = 0.0


class LawRun(NamedTuple):
    """A run to be played: all disciplines on the same jobs."""

    system: LawSystem
    served: tuple[ServedBy, ...]
    jobs: int
    seed: int
    run: int


class LawMeans(NamedTuple):
    """Mean responses of a run, discipline by discipline; and what is known of its jobs: mean gap,
    mean size and mean squared size, as shares of their expectations, less 1.
    """

    means: tuple[float, ...]
    controls: tuple[float, float, float]


def exact_mean(system: LawSystem, served: ServedBy) -> float | None:
    """By formula; None where there is none: on several servers, but of M/M/k first come first
    served.
    """
    if system.servers == 1:
        return _mean_by_formula(system.single_server, served)
    if served.discipline != "fifo" or not system.law.startswith("exponential"):
        return None
    return many_servers_fcfs(system.servers, system.load, system.single_server.moment(1))


def mean_without_rare(system: LawSystem, served: ServedBy, jobs: int) -> float:
    """The mean if there were no jobs so large that of `jobs` fewer than `RARE` are expected."""
    one = system.single_server
    longer, x = one.longer.ravel()[::-1], one.x.ravel()[::-1]
    highest = float(np.interp(RARE / jobs, longer, x))
    cut = truncated_law(one.law, highest)
    load = one.rate * SingleServer(cut, one.load).moment(1)
    return _mean_by_formula(SingleServer(cut, load), served)


class DrawnJobs(NamedTuple):
    """A run's jobs, drawn at (seed, "law", run), and their errors as standard normal numbers."""

    arrivals: GridValues
    sizes: GridValues
    errors: GridValues


def draw_jobs(system: LawSystem, jobs: int, seed: int, run: int) -> DrawnJobs:
    """That many of them, in the order of their arrival."""
    key = np.random.SeedSequence([seed, _PURPOSE, run])
    rng = np.random.Generator(np.random.Philox(key))
    gaps = rng.standard_exponential(jobs) / (system.single_server.rate * system.servers)
    sizes = system.single_server.law.draw(rng, jobs)
    return DrawnJobs(np.cumsum(gaps), sizes, rng.standard_normal(jobs))


def completion_times(
    system: LawSystem,
    served: ServedBy,
    arrivals: GridValues,
    sizes: GridValues,
    estimates: GridValues,
) -> GridValues:
    """When the ideal machine, or several servers, have done each job."""
    if system.servers > 1:
        return simulate_servers(system.servers, arrivals, sizes, served.discipline)
    if served.discipline == GITTINS:
        return simulate_by_age(gittins_ranks(system.single_server.law), arrivals, sizes)
    return simulate(served.discipline, arrivals, sizes, estimates)


def play_law(task: LawRun) -> LawMeans:
    """What a worker does."""
    system, one = task.system, task.system.single_server
    arrivals, sizes, errors = draw_jobs(system, task.jobs, task.seed, task.run)
    first = int(WARM_UP * task.jobs)
    means = []
    for served in task.served:
        estimates = sizes * np.exp(served.sigma * errors)
        done = completion_times(system, served, arrivals, sizes, estimates)
        means.append(float((done - arrivals)[first:].mean()))
    gaps = np.diff(arrivals, prepend=0.0) * one.rate * system.servers
    known = (gaps, sizes / one.moment(1), sizes**2 / one.moment(2))
    controls = tuple(float(each.mean()) - 1 for each in known)
    return LawMeans(tuple(means), (controls[0], controls[1], controls[2]))


def disciplines_with_sigmas(
    disciplines: Sequence[str], sigmas: Sequence[float]
) -> tuple[ServedBy, ...]:
    """Each discipline by sizes where sigma 0 is asked for or it is blind; by estimates for the
    others.
    """
    wanted = (
        ServedBy(name, sigma)
        for name in disciplines
        for sigma in (sigmas if name in BY_ESTIMATE else (0.0,))
    )
    return tuple(dict.fromkeys(wanted))


def _mean_by_formula(one: SingleServer, served: ServedBy) -> float:
    if served.sigma:
        return BY_ESTIMATE[served.discipline](EstimatedServer(one, served.sigma))
    return LAW_DISCIPLINES[served.discipline](one)


@lru_cache(maxsize=256)
def _make_single_server(law: str, load: float) -> SingleServer:
    return SingleServer(parse_law_option(law), load)
