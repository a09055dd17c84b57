"""Files that are none: a pipe that nobody writes to would be waited for without a word."""

import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def special_file(path: Path) -> str:
    """What the path leads to if that is neither a regular file nor a folder, as in `a named pipe`;
    empty for those, and where nothing is.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "")
