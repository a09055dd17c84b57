"""The front door: the command line and the public Python calls.

The folders beside this one are its rooms: `callboard/actors` is a link to `actors`, and so on, so
everything is imported as `callboard.…` and nothing gets in the way of a user's own modules.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callboard.api import RunOptions, compare, load, run, sweep

    Options = RunOptions

__all__ = ["Options", "RunOptions", "__version__", "compare", "load", "run", "sweep"]

if not Path(__file__).with_name("actors").is_dir():
    sys.exit(
        "callboard: this clone has no symbolic links (callboard/actors should be one): on Windows"
        " switch on Developer Mode, `git config core.symlinks true`, `git checkout -- callboard`"
    )

from callboard.actors.version import __version__


def __dir__() -> list[str]:
    """What a notebook offers: the calls, though they are not loaded yet."""
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """The calls and `RunOptions` (before: `Options`), loaded when asked for: the command line comes
    by here first, and must answer Ctrl-C before all is loaded.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from callboard import api

    return getattr(api, "RunOptions" if name == "Options" else name)
