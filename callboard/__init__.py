"""The front door: the command line and the public Python calls."""

from callboard.api import run
from callboard.version import __version__

__all__ = ["__version__", "run"]
