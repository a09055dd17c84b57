"""Standard output and error as they may really be: closed, full, a pipe nobody reads, not UTF-8."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from math import isfinite

from callboard.experiments.user_errors import EXIT_BAD_INPUT, InputError


def prepare_streams() -> None:
    """Make both streams writable.  InputError if there is no standard output.

    An empty NO_COLOR counts as unset, as its convention has it, whatever a library makes of it.
    """
    if os.environ.get("NO_COLOR") == "":
        del os.environ["NO_COLOR"]
    if sys.stderr is None:  # closed by the caller; opened, lest a journal becomes descriptor 2
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise InputError("standard output is closed; send it to a file or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_error(message: str) -> None:
    """Print a message on standard error, if that is open."""
    from callboard.scheduler.text.quantities import (
        printable,  # `callboard --help` is to load quickly
    )

    text = "\n".join(map(printable, message.split("\n")))
    with contextlib.suppress(OSError):
        print(f"callboard: {text}", file=sys.stderr, flush=True)


def print_json(found: object) -> None:
    """Print it as JSON, which has no NaN: the mean of nothing is null."""
    print(json.dumps(_with_nulls(found), indent=2, allow_nan=False))


def _with_nulls(found: object) -> object:
    if isinstance(found, Mapping):
        return {key: _with_nulls(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_with_nulls(each) for each in found]
    return None if isinstance(found, float) and not isfinite(found) else found


def flush_output(status: int, *, told: bool = False) -> int:
    """Write what is still buffered; the exit status, which is another one if that fails.

    `told` is whether a message has been printed already: only the first problem is reported.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, say `head`, has had enough
        discard_output()
    except OSError as error:
        discard_output()
        if not told:
            print_error(f"output: {error.strerror}")
        return status or EXIT_BAD_INPUT
    return status


def discard_output() -> None:
    """Send what is left of the output nowhere, so that Python's own last flush cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a stand-in for stdout has no descriptor
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
