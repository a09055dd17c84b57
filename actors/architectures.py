"""The architectures that ship beside the central master, by the names that spellings begin with."""

from collections.abc import Callable, Mapping

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.vocabulary.faults import Fault
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import ARCHITECTURE


def _central_class() -> type[Architecture]:
    from callboard.actors.central.central import Central

    return Central


def _sparrow_class() -> type[Architecture]:
    from callboard.actors.sparrow.sparrow import Sparrow

    return Sparrow


def _hawk_class() -> type[Architecture]:
    from callboard.actors.hawk.hawk import Hawk

    return Hawk


def _eagle_class() -> type[Architecture]:
    from callboard.actors.hawk.hawk import Eagle

    return Eagle


def _omega_class() -> type[Architecture]:
    from callboard.actors.omega.shared_cell import Omega

    return Omega


def _monolithic_class() -> type[Architecture]:
    from callboard.actors.omega.shared_cell import Monolithic

    return Monolithic


def _mesos_class() -> type[Architecture]:
    from callboard.actors.omega.shared_cell import Mesos

    return Mesos


def _yarn_class() -> type[Architecture]:
    from callboard.actors.yarn.yarn import Yarn

    return Yarn


ARCHITECTURES: Mapping[str, Callable[[], type[Architecture]]] = {
    "eagle": _eagle_class,
    "hawk": _hawk_class,
    "mesos": _mesos_class,
    "monolithic": _monolithic_class,
    "omega": _omega_class,
    "sparrow": _sparrow_class,
    "yarn": _yarn_class,
}
"""Each is loaded when it is asked for."""


def architecture_name(spelling: str) -> str:
    """The name of the architecture in a spelling; `central` for a policy."""
    name = spelling.partition("(")[0].strip()
    return name if name in ARCHITECTURES else CENTRAL


def architectures_knowing_fault(fault: type[Fault]) -> list[str]:
    """The names of those that have an answer to such a fault, the central one's last."""
    loads = {**ARCHITECTURES, CENTRAL: _central_class}
    return [name for name, load in loads.items() if issubclass(fault, load().knows)]


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
