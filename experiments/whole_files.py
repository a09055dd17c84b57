"""Files that are there whole or not at all."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from callboard.experiments.user_errors import InputError


def replacement_words(path: Path) -> str:
    """What to say, beside its name, of a file that is going to be written: that it replaces one."""
    return ", in place of the file that was there" if path.is_file() else ""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path that becomes the file once all is written, so there is never half a file; but a pipe
    or a device is written to directly.  Of a symbolic link it is the file that this leads to.  A
    missing folder is made.  OSError, of the file itself, as files do; InputError for a named pipe
    that nobody reads.
    """
    if path.exists() and not path.is_file():
        with _named_pipe_held_open(path) if path.is_fifo() else contextlib.nullcontext():
            yield path
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = part_beside(target)
    try:
        yield part
        part.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


_NAME_END = 50
"""So much of a file's name its part has, which has to be no longer than a name can be."""


def part_beside(target: Path) -> Path:
    """The name, in the same folder, of a file that this process is still writing."""
    return target.with_name(f".{os.getpid()}.part.{target.name[-_NAME_END:]}")


@contextlib.contextmanager
def _named_pipe_held_open(path: Path) -> Iterator[None]:
    """InputError for a named pipe that nobody reads, which would be waited for.  It is kept open
    meanwhile, or its reader would see an end.
    """
    try:
        kept = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise InputError(f"{path}: nobody reads this named pipe") from None
        raise
    try:
        yield
    finally:
        os.close(kept)
