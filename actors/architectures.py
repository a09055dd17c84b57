"""The architectures that ship beside the central master, by the names that spellings begin with."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.vocabulary.faults import Fault
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import ARCHITECTURE


def _loaded(module: str, name: str) -> type[Architecture]:
    loaded: type[Architecture] = getattr(import_module(f"callboard.actors.{module}"), name)
    return loaded


_CELL = "omega.shared_cell"
_PLACES = {
    "eagle": ("hawk.hawk", "Eagle"),
    "hawk": ("hawk.hawk", "Hawk"),
    "mesos": (_CELL, "Mesos"),
    "monolithic": (_CELL, "Monolithic"),
    "omega": (_CELL, "Omega"),
    "sparrow": ("sparrow.sparrow", "Sparrow"),
    "yarn": ("yarn.yarn", "Yarn"),
    CENTRAL: ("central.central", "Central"),
}
ARCHITECTURES: Mapping[str, Callable[[], type[Architecture]]] = {
    name: partial(_loaded, *place) for name, place in _PLACES.items() if name != CENTRAL
}
"""Each is loaded when it is asked for."""


def architecture_name(spelling: str) -> str:
    """The name of the architecture in a spelling; `central` for a policy."""
    name = spelling.partition("(")[0].strip()
    return name if name in ARCHITECTURES else CENTRAL


def architectures_knowing_fault(fault: type[Fault]) -> list[str]:
    """The names of those that have an answer to such a fault, the central one's last."""
    return [name for name, place in _PLACES.items() if issubclass(fault, _loaded(*place).knows)]


def shipped_catalogue(settings: parts.PartSettings) -> parts.Catalogue:
    """The parts and architectures that ship, with these settings.  PolicySpecError for others'."""
    return parts.Catalogue(PARTS, ARCHITECTURES).with_settings(settings)


def made_architecture(spelling: str, settings: parts.PartSettings) -> Architecture | None:
    """The fresh schedulers of an architecture that ships; None for a policy.  PolicySpecError for
    what does not ship, or is spelled wrongly.
    """
    chosen = parts.parse_policy(spelling, shipped_catalogue(settings)).get(ARCHITECTURE)
    if chosen is None:
        return None
    made = chosen.make()
    assert isinstance(made, Architecture)
    return made
