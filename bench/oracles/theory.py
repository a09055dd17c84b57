"""Mean response times by formula, beside those of `scheduler.ideal.mean_responses`.

A file is one object: from `M/G/1 | law | rho load` to the means of disciplines.  A law is
`Exp(mean 1)`, `Weibull(shape 0.5, mean 1)`, `Hyperexp(rate, rate, portion)`,
`BoundedPareto(alpha 1.5, hi/lo 1e+06, mean 1)`, `Uniform(lo 0, hi 2)` or `Lognormal(sigma 1, mean
1)`; a discipline with estimates has its sigma with it, as `PSJF-E(sigma 0.5)`.  `M/M/4` has four
servers of speed ¼.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.oracles.comparison import Cell
from callboard.scheduler.ideal.estimated_responses import EstimatedServer
from callboard.scheduler.ideal.mean_responses import FORMULAS, SingleServer, many_servers_fcfs
from callboard.scheduler.ideal.size_laws import (
    SizeLaw,
    bounded_pareto,
    exponential,
    hyperexponential,
    lognormal,
    uniform,
    weibull,
)

WITHIN = 1e-5
"""The released means have five digits behind the point, and are off by one in the last now and
then: the bounded Pareto's PSJF at a load of one half is 1.4659633, theirs 1.46597.
"""

_HEADING = re.compile(r"M/(?P<kind>[GM])/(?P<servers>\d+) \| (?P<law>.*) \| rho (?P<load>[\d.]+)")
_LAW = re.compile(r"(?P<name>\w+)\((?P<numbers>.*)\)")
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")

LAWS: dict[str, Callable[..., SizeLaw]] = {
    "Exp": exponential,
    "Weibull": weibull,
    "Hyperexp": hyperexponential,
    "BoundedPareto": bounded_pareto,
    "Uniform": uniform,
    "Lognormal": lognormal,
}
"""By their names in a file; the numbers stand in the same order."""


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
            yield Cell(what, theirs, ours, WITHIN)


def mean_response(heading: str, discipline: str) -> float:
    """Ours of one system; ValueError for what has no formula here."""
    match = _HEADING.fullmatch(heading)
    if match is None:
        raise ValueError("not a system")
    servers, load = int(match["servers"]), float(match["load"])
    law = law_of(match["law"])
    if servers > 1:
        if match["kind"] != "M" or discipline != "FCFS":
            raise ValueError("no formula for many servers but M/M/k's FCFS")
        return many_servers_fcfs(servers, load, servers * SingleServer(law, load).moment(1))
    server = SingleServer(law, load)
    if discipline in FORMULAS:
        return FORMULAS[discipline](server)
    return _with_estimates(server, discipline)


def law_of(written: str) -> SizeLaw:
    """The law as it is written; ValueError for another."""
    match = _LAW.fullmatch(written)
    if match is None or match["name"] not in LAWS:
        raise ValueError(f"no law {written}")
    numbers = [float(number) for number in _NUMBER.findall(match["numbers"])]
    try:
        return LAWS[match["name"]](*numbers)
    except TypeError:
        raise ValueError(f"too few or too many numbers in {written}") from None


def _with_estimates(server: SingleServer, discipline: str) -> float:
    name, _, rest = discipline.partition("-E")
    sigma = _NUMBER.search(rest)
    if name not in {"PSJF", "SRPT"} or sigma is None:
        raise ValueError("no formula")
    estimated = EstimatedServer(server, float(sigma[0]))
    return estimated.psjf() if name == "PSJF" else estimated.srpt()
