"""Files that are there whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path that becomes the file once all is written, so there is never half a file; but a pipe
    or a device is written to directly.  OSError, of the file itself, as files do.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    part = path.with_name(f".{os.getpid()}.part.{path.name}")
    try:
        yield part
        part.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
