"""The front door: the command line and the public Python calls."""

from typing import TYPE_CHECKING

from callboard.version import __version__

if TYPE_CHECKING:
    from callboard.api import run

__all__ = ["__version__", "run"]


def __getattr__(name: str) -> object:
    """`run`, loaded when it is first asked for.

    The command line passes here first, and must be able to answer Ctrl-C before all is loaded.
    """
    if name == "run":
        from callboard.api import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
