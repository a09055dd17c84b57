"""Where results are kept that nobody has named a file for."""

import os
from pathlib import Path


def default_path() -> Path:
    """`callboard/results.sqlite` in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`)."""
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "callboard" / "results.sqlite"
