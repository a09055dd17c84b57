"""How a law of sizes is spelled: `exponential`, `weibull(shape=0.5, mean=60)`."""

import re
from collections.abc import Callable
from inspect import Parameter, signature

import numpy as np

from callboard.scheduler.ideal import size_laws
from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.ideal.size_laws import SizeLaw

LAW_MAKERS: dict[str, Callable[..., SizeLaw]] = {
    "exponential": size_laws.exponential,
    "hyperexponential": size_laws.hyperexponential,
    "weibull": size_laws.weibull,
    "bounded-pareto": size_laws.bounded_pareto,
    "uniform": size_laws.uniform,
    "lognormal": size_laws.lognormal,
}

_SPELLING = re.compile(r"(?P<name>[\w-]+)\s*(?:\((?P<numbers>[^()]*)\))?")


def law_named(text: str) -> SizeLaw:
    """The law; ValueError, which says what it takes, for any that is none."""
    match = _SPELLING.fullmatch(text.strip())
    maker = LAW_MAKERS.get(match["name"]) if match else None
    if match is None or maker is None:
        raise ValueError(f"there are {', '.join(map(law_usage, LAW_MAKERS))}")
    words = [word for word in (match["numbers"] or "").split(",") if word.strip()]
    pairs = [word.partition("=")[::2] for word in words]
    try:
        numbers = {name.strip(): float(value) for name, value in pairs}
        with np.errstate(all="ignore"):
            law = maker(**numbers)
            SingleServer(law, 0.5)
        if not 0 < law.lowest < law.highest:
            raise ValueError
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"it is {law_usage(match['name'])}, of numbers that make a law") from None
    return law


def law_usage(name: str) -> str:
    """As in `weibull(shape, mean=1)`: what has no default has to be given."""
    told = []
    for each in signature(LAW_MAKERS[name]).parameters.values():
        given = "" if each.default is Parameter.empty else f"={each.default:g}"
        told.append(f"{each.name}{given}")
    return f"{name}({', '.join(told)})"
