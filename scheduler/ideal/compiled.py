"""The same loops, compiled by numba (the optional extra `ideal`).

Nothing is written twice: the plain functions are handed to numba as they are, so both paths do the
same operations in the same order.  The compiled loops release the interpreter's lock.

numba keeps what it compiled on disk and checks only the file of the function it was asked for, so
the cache folder's name carries a digest of all our files.  It lies under `NUMBA_CACHE_DIR` if that
is set, else in `__pycache__` here, else in the user's cache folder (`XDG_CACHE_HOME`); where none
can be written, each process compiles anew.
"""

import os
import tempfile
from collections.abc import Callable
from inspect import isfunction
from pathlib import Path

import numba
from numba.core import config
from numba.extending import register_jitable

from callboard.scheduler.ideal import fsp, heap, loops, sharing_queues
from callboard.scheduler.ideal.digest import source_digest
from callboard.scheduler.ideal.disciplines import PLAIN_LOOPS

_HERE = Path(__file__).parent

# The loops allocate nothing, so numba's reference counts on the rows they pass about are pure
# cost: without them FSP runs about 30 times as fast (`bench/ideal.py`).
for _module in (heap, sharing_queues, loops, fsp):
    for _helper in vars(_module).values():
        is_its_own = isfunction(_helper) and _helper.__module__ == _module.__name__
        if is_its_own and _helper not in PLAIN_LOOPS.values():
            register_jitable(_nrt=False, forceinline=True)(_helper)


def _folders(given: str) -> list[Path]:
    name = f"callboard-ideal-{source_digest()}"
    if given:
        return [Path(given) / name]
    user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return [_HERE / "__pycache__" / name, Path(user).expanduser() / "callboard" / name]


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _set_up() -> dict[str, Callable[..., None]]:
    """The compiled loops by name; numba compiles each, or reads it from disk, when first called.
    Its cache is pointed at a folder that can be written only meanwhile.
    """
    given = config.CACHE_DIR
    folder = next((path for path in _folders(given) if _can_be_written(path)), None)
    config.CACHE_DIR = given if folder is None else str(folder)
    try:
        compiled = numba.njit(nogil=True, _nrt=False, cache=folder is not None)
        return {name: compiled(plain) for name, plain in PLAIN_LOOPS.items()}
    finally:
        config.CACHE_DIR = given


COMPILED_LOOPS = _set_up()
"""The compiled loops by name.  Set up while this module is imported, which one thread does."""
