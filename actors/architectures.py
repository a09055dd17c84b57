"""The architectures that ship beside the central master, by the names that spellings begin with."""

from collections.abc import Callable, Mapping

from callboard.actors.architecture import CENTRAL, Architecture


def _sparrow() -> type[Architecture]:
    from callboard.actors.sparrow.sparrow import Sparrow

    return Sparrow


ARCHITECTURES: Mapping[str, Callable[[], type[Architecture]]] = {"sparrow": _sparrow}
"""Each is loaded when it is asked for."""


def architecture_name(spelling: str) -> str:
    """The name of the architecture that a spelling means; `central` if it is none that ships."""
    name = spelling.partition("(")[0].strip()
    return name if name in ARCHITECTURES else CENTRAL
