"""Whether a journal is still being written: its writer holds a lock on it for as long as it lives.

The lock is shared and advisory (flock), so it hinders no reader; the system releases it when the
writer closes the file or is killed in whatever way.  Where there is no flock, no journal counts as
being written.
"""

import contextlib
import sys
from typing import BinaryIO

if sys.platform == "win32":

    def hold(file: BinaryIO) -> None:
        """Mark this file as being written, for as long as it is open."""

    def is_held(file: BinaryIO) -> bool:  # noqa: ARG001
        """Whether a writer has the file open."""
        return False

else:
    import fcntl

    def hold(file: BinaryIO) -> None:
        """Mark this file as being written, for as long as it is open."""
        with contextlib.suppress(OSError):  # a pipe, or a file system without locks
            fcntl.flock(file, fcntl.LOCK_SH)

    def is_held(file: BinaryIO) -> bool:
        """Whether a writer has the file open."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        return False
