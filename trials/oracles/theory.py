"""Mean response times by formula, beside those of `scheduler.ideal.mean_responses`.

A file is one object: from `M/G/1 | law | rho load` to the means of disciplines.  A law is
`Exp(mean 1)`, `Weibull(shape 0.5, mean 1)`, `Hyperexp(rate, rate, portion)`,
`BoundedPareto(alpha 1.5, hi/lo 1e+06, mean 1)`, `Uniform(lo 0, hi 2)`, `Lognormal(sigma 1, mean 1)`
or `Deterministic(1)`; a discipline with estimates has its sigma with it, as `PSJF-E(sigma 0.5)`.
`M/M/4` has four servers of speed ¼.

What has no formula is played where a simulation tells it: SRPT on several servers, and FCFS there
but for exponential sizes.
"""

import re
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, NamedTuple

from callboard.experiments.ideal_study.law_systems import (
    LawRun,
    LawSystem,
    ServedBy,
    play_law,
)
from callboard.experiments.many.control_variates import controlled_interval
from callboard.scheduler.ideal.estimated_responses import EstimatedServer
from callboard.scheduler.ideal.gittins_index import gittins_mean
from callboard.scheduler.ideal.law_names import LAW_MAKERS, law_named
from callboard.scheduler.ideal.mean_responses import (
    FORMULAS,
    SingleServer,
    check_load,
    many_servers_fcfs,
)
from callboard.scheduler.ideal.size_laws import SizeLaw
from callboard.scheduler.numba_cache import numba_is_installed
from trials.oracles.comparison import Cell

WITHIN = 1e-5
"""The released means have five digits behind the point, and are off by one in the last now and
then: the bounded Pareto's PSJF at a load of one half is 1.4659633, theirs 1.46597.
"""

WITHIN_OF_INDEX = 1e-3
"""Gittins' ranks are those of ages cut into cells, here and there; ours, of this width, are off by
1 in 10,000.
"""
_CELL = 0.02

WITHIN_OF_PLAYED = 0.01
"""Of what is played: and our own interval has to be within a half of that."""
_RUNS, _JOBS = 12, 250_000

_HEADING = re.compile(r"M/(?P<kind>[GMD])/(?P<servers>\d+) \| (?P<law>.*) \| rho (?P<load>[\d.]+)")
_LAW = re.compile(r"(?P<name>\w+)\((?P<numbers>.*)\)")
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")

LAWS: dict[str, str] = {
    "Exp": "exponential",
    "Weibull": "weibull",
    "Hyperexp": "hyperexponential",
    "BoundedPareto": "bounded-pareto",
    "Uniform": "uniform",
    "Lognormal": "lognormal",
}
"""From their names in a file to ours; the numbers stand in the same order."""

CONSTANT = ("Deterministic", "Det", "D", "Constant")
"""All jobs of one size."""

ON_SERVERS = {"FCFS": "fifo", "SRPT": "srpt"}
"""What can be played on several servers."""


class Mean(NamedTuple):
    """Ours, and how far theirs may be from it, as a share."""

    value: float
    within: float = WITHIN


def is_theory(found: Mapping[str, Any]) -> bool:
    """Whether the keys of a file are headings of systems."""
    return bool(found) and all(_HEADING.fullmatch(key) for key in found)


def cells(found: Mapping[str, Mapping[str, float]]) -> list[Cell]:
    """A cell a mean."""
    return [cell for heading, means in found.items() for cell in _cells(heading, means)]


def _cells(heading: str, means: Mapping[str, float]) -> Iterator[Cell]:
    for discipline, theirs in means.items():
        what = f"{heading} | {discipline}"
        try:
            ours = mean_response(heading, discipline)
        except ValueError as error:
            yield Cell(f"{what}: {error}", theirs, None)
        else:
            yield Cell(what, theirs, ours.value, ours.within)


def mean_response(heading: str, discipline: str) -> Mean:
    """Ours of one system; ValueError for what has no formula here and cannot be played."""
    match = _HEADING.fullmatch(heading)
    if match is None:
        raise ValueError("not a system")
    servers, load = int(match["servers"]), float(match["load"])
    if servers > 1:
        return _on_servers(servers, match["law"], load, discipline)
    if (size := _constant(match["law"])) is not None:
        return _of_one_size(size, load, discipline)
    server = SingleServer(law_of(match["law"]), load)
    if discipline == "Gittins":
        return Mean(gittins_mean(server, _CELL), WITHIN_OF_INDEX)
    if discipline in FORMULAS:
        return Mean(FORMULAS[discipline](server))
    return Mean(_with_estimates(server, discipline))


def law_of(written: str) -> SizeLaw:
    """The law as it is written; ValueError for another."""
    return law_named(law_text(written))


def law_text(written: str) -> str:
    """The law as we spell it; ValueError for another."""
    match = _LAW.fullmatch(written)
    if match is None or match["name"] not in LAWS:
        raise ValueError(f"no law {written}")
    name, numbers = LAWS[match["name"]], _NUMBER.findall(match["numbers"])
    fields = list(signature(LAW_MAKERS[name]).parameters)
    if not 0 < len(numbers) <= len(fields):
        raise ValueError(f"too few or too many numbers in {written}")
    pairs = zip(fields, numbers, strict=False)
    return f"{name}({', '.join(f'{field}={number}' for field, number in pairs)})"


def _constant(written: str) -> float | None:
    match = _LAW.fullmatch(written)
    if match is None or match["name"] not in CONSTANT:
        return None
    numbers = _NUMBER.findall(match["numbers"])
    return float(numbers[0]) if numbers else 1.0


def _of_one_size(size: float, load: float, discipline: str) -> Mean:
    """M/D/1: whoever looks at sizes serves jobs as they come; PS and FB share."""
    check_load(load)
    as_they_come = size * (1 + load / (2 * (1 - load)))
    if discipline in ("FCFS", "SJF", "PSJF", "SRPT", "Gittins"):
        return Mean(as_they_come)
    if discipline in ("PS", "FB"):
        return Mean((size if discipline == "PS" else as_they_come) / (1 - load))
    raise ValueError("no formula")


def _on_servers(servers: int, law: str, load: float, discipline: str) -> Mean:
    """Theirs are slower by their number, so that responses are longer."""
    text = law_text(law)
    if discipline == "FCFS" and text.startswith("exponential"):
        mean = servers * SingleServer(law_named(text), load).moment(1)
        return Mean(many_servers_fcfs(servers, load, mean))
    if discipline not in ON_SERVERS:
        raise ValueError(f"on several servers there are {' and '.join(ON_SERVERS)}")
    if not numba_is_installed():
        raise ValueError("it is played where numba is installed")
    return Mean(servers * _played(LawSystem(text, load, servers), discipline), WITHIN_OF_PLAYED)


def _played(system: LawSystem, discipline: str) -> float:
    served = (ServedBy(ON_SERVERS[discipline]),)
    runs = [play_law(LawRun(system, served, _JOBS, 1, run)) for run in range(_RUNS)]
    found = controlled_interval([run.means[0] for run in runs], [run.controls for run in runs])
    if found.half is None or found.half > WITHIN_OF_PLAYED / 2 * found.mean:
        raise ValueError(f"{_RUNS} runs of {_JOBS:,} jobs do not tell it")
    return found.mean


def _with_estimates(server: SingleServer, discipline: str) -> float:
    name, _, rest = discipline.partition("-E")
    sigma = _NUMBER.search(rest)
    if name not in {"PSJF", "SRPT"} or sigma is None:
        raise ValueError("no formula")
    estimated = EstimatedServer(server, float(sigma[0]))
    return estimated.psjf() if name == "PSJF" else estimated.srpt()
