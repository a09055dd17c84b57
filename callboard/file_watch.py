"""Files of a policy that is being written, and when they are saved."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

from callboard.experiments.run.plugins import installed_parts
from callboard.experiments.user_errors import InputError
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import FILE_PART, split_spelling

LOOK_S = 0.2
"""How long apart the files are looked at."""

FileStates: TypeAlias = tuple[tuple[int, int, int] | None, ...]


def policy_files(policy: str) -> list[Path]:
    """The Python files that a policy names; InputError if it names none."""
    pieces = split_spelling(policy, [*PARTS, *installed_parts()])
    found = [match["path"] for piece in pieces if (match := FILE_PART.fullmatch(piece.name))]
    if not found:
        raise InputError(
            f"--watch looks at a policy's file, and {policy} has none; name one, as in"
            " `callboard check ./mine.py:Mine --watch` (`callboard new policy mine.py` writes it)"
        )
    return list(map(Path, dict.fromkeys(found)))


def file_saves(
    paths: Sequence[Path], pause: Callable[[float], object] = time.sleep
) -> Iterator[int]:
    """The numbers 0, 1, 2, …: at once, and then each time that a file was saved since it was read.

    A file that is away for a moment, as editors have it when they save, counts when it is back.
    """
    seen = _file_states(paths)
    for number in count():
        yield number
        while (now := _file_states(paths)) == seen or None in now:
            pause(LOOK_S)
        seen = now


def _file_states(paths: Sequence[Path]) -> FileStates:
    return tuple(map(_file_state, paths))


def _file_state(path: Path) -> tuple[int, int, int] | None:
    """What differs after a save: when, how long, and which file it is now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
