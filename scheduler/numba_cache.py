"""Plain functions compiled by numba, with its cache where nothing stale is found.

Nothing is written twice: the plain functions are handed to numba as they are, so both paths do the
same operations in the same order.  What they compile to releases the interpreter's lock.

numba keeps what it compiled on disk and checks only the file of the function it was asked for, so
the cache folder's name carries a digest of all files of the package.  It lies under
`NUMBA_CACHE_DIR` if that is set, else in the package's `__pycache__`, else in the user's cache
folder (`XDG_CACHE_HOME`); where none can be written, each process compiles anew.  Of several
processes that want a loop at once the first compiles it, and the others wait for that.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, update_wrapper
from hashlib import blake2b
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

Loop = Callable[..., Any]


def package_digest(folder: Path) -> str:
    """Sixteen hexadecimal digits over a package's text, for results and code kept on disk."""
    digest = blake2b(digest_size=8)
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def numba_is_installed() -> bool:
    """Whether there is numba to compile with."""
    from importlib.util import find_spec

    return find_spec("numba") is not None


def compiled_loops(
    name: str,
    folder: Path,
    helpers: Iterable[ModuleType],
    plain: Mapping[str, Loop],
    *,
    inline: bool,
    wait: str = "",
) -> dict[str, Loop]:
    """The loops of the package in a folder by name; numba compiles each, or reads it from disk,
    when first called.  `helpers` are the modules of the functions that they call.

    The loops allocate nothing, so numba's reference counts on the rows they pass about are pure
    cost: without them FSP runs about 30 times as fast (`bench/ideal.py`).  To `inline` every helper
    is faster for few rows, and takes long to compile for large loops.  What `wait` says is told on
    a terminal before what takes long is compiled.

    The cache is pointed at a folder that can be written only meanwhile: call this while a module is
    imported, which one thread does.
    """
    import numba
    from numba.core import config
    from numba.extending import register_jitable

    for module in helpers:
        for helper in _own_functions(module):
            if helper not in plain.values():
                register_jitable(_nrt=False, forceinline=inline, no_cfunc_wrapper=True)(helper)
    given = config.CACHE_DIR
    kept = next((path for path in _cache_folders(given, name, folder) if _can_write(path)), None)
    config.CACHE_DIR = given if kept is None else str(kept)
    try:
        compiled = numba.njit(nogil=True, _nrt=False, cache=kept is not None)
        loops = {each: compiled(loop) for each, loop in plain.items()}
    finally:
        config.CACHE_DIR = given
    if kept is None:
        return loops
    return {each: _compiled_once(loop, kept / f"{each}.done", wait) for each, loop in loops.items()}


def _compiled_once(loop: Loop, done: Path, wait: str) -> Loop:
    """The loop, which is compiled before its first call by one process at a time until one is
    `done` with it; the others then read from disk what it has compiled.
    """
    from numba import typeof

    ready = done.exists()

    def call(*args: Any) -> Any:
        nonlocal ready
        if not ready:
            with _process_lock(done.with_suffix(".lock")):
                if not done.exists():
                    _tell_of_compiling(wait)
                loop.compile(tuple(typeof(each) for each in args))  # type: ignore[attr-defined]
                with suppress(OSError):
                    done.touch()
            ready = True
        return loop(*args)

    return update_wrapper(call, loop, updated=())


@cache
def _tell_of_compiling(wait: str) -> None:
    """Say it on a terminal; of several loops that are compiled, with the first."""
    if wait and sys.stderr.isatty():
        print(f"\r\x1b[K{wait}", file=sys.stderr, flush=True)  # in place of a progress line


@contextmanager
def _process_lock(lock: Path) -> Iterator[None]:
    """Have this to itself among all processes of the machine, where the system has such locks."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(stack.enter_context(lock.open("w")), fcntl.LOCK_EX)
        yield


def _own_functions(module: ModuleType) -> list[Loop]:
    functions = [each for each in vars(module).values() if isfunction(each)]
    return [each for each in functions if each.__module__ == module.__name__]


def _cache_folders(given: str, name: str, folder: Path) -> list[Path]:
    called = f"callboard-{name}-{package_digest(folder)}"
    if given:
        return [Path(given) / called]
    user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = folder / "__pycache__" / called
    return [own, Path(user).expanduser() / "callboard" / called]


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
