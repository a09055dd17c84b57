"""What an error says to a person, and the exit status it means."""

import glob
import os
import shlex
import shutil
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.kernel.kernel import ActorFailed, KernelError, Stalled
from callboard.experiments.user_errors import EXIT_BAD_INPUT, EXIT_FAILED, InputError, RunFailed
from callboard.journal.checks.findings import Violation
from callboard.journal.format import NOT_A_JOURNAL, JournalError
from callboard.scenarios.library_list import LIBRARY
from callboard.scheduler.policy import PartMisbehaves, PolicySpecError
from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.scheduler.text.quantities import clock
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.view import JobView

BAD_INPUT = ScenarioError, PolicySpecError, JournalError, InputError, MissingExtraError
"""What tells people of their own input, and needs no traceback."""

_RECORD = "`callboard run SCENARIO --journal FILE` writes a journal"
_APART_MAX = 4
"""So many journals are named in place of one."""

_PACKAGE = Path(__file__).parents[1]


def describe_error(error: Exception) -> tuple[str | None, int]:
    """The message and the exit status; no message for what is a bug of ours."""
    message, status = _message_and_status(error)
    return None if message is None else concise(with_own_pip(message)), status


def _message_and_status(error: Exception) -> tuple[str | None, int]:
    match error:
        case JournalError(problem=problem) if problem == NOT_A_JOURNAL:
            return f"{error}; {_how_to_record(error.path)}", EXIT_BAD_INPUT
        case _ if isinstance(error, BAD_INPUT):
            return str(error), EXIT_BAD_INPUT
        case RunFailed():
            return str(error), error.status
        case UnicodeEncodeError():
            return (
                "a file's name that is not text cannot be recorded; rename the file",
                EXIT_BAD_INPUT,
            )
        case FileNotFoundError(filename=name) if str(name).endswith(".journal"):
            return (
                f"{name}: {error.strerror}; {_separate_journals_hint(Path(name))}",
                EXIT_BAD_INPUT,
            )
        case FileNotFoundError(filename=name) if (LIBRARY / f"{name}.toml").is_file():
            record = f"`callboard run {name} --journal {name}.journal` records it"
            return (
                f"{name}: a scenario, of which nothing is recorded here; {record}",
                EXIT_BAD_INPUT,
            )
        case OSError(strerror=str() as reason):
            return f"{error.filename or 'output'}: {reason}", EXIT_BAD_INPUT
        case ActorFailed():
            return "\n".join(_failure_details(error)), EXIT_FAILED
        case KernelError() | Violation():
            first, *more = str(error).split("\n")
            if isinstance(error, Stalled):
                first = first.replace(f"{error.at_ms} ms", clock(error.at_ms), 1)
            return "\n".join([first, *_notes_of_run(error), *more]), EXIT_FAILED
    return None, EXIT_FAILED


def _how_to_record(path: Path) -> str:
    """How to have a journal in place of this file: one of its run, where it can be played."""
    from callboard.histories.recording_file import is_recording
    from callboard.scenarios.recording_scenario import name_without_suffixes

    if path.suffix != ".toml" and not is_recording(path):
        return _RECORD
    name = path.stem if path.suffix == ".toml" else name_without_suffixes(path)
    own, journal = shlex.quote(str(path)), shlex.quote(f"{name}.journal")
    return f"`callboard run {own} --journal {journal}` records one of it"


def _separate_journals_hint(path: Path) -> str:
    """The journals that are there as several runs leave them in place of this one, a policy or seed
    each (`journal_paths`), and how to record one.
    """
    with suppress(OSError, ValueError):  # no folder, or a name that none could have
        apart = sorted(
            each.name for each in path.parent.glob(f"{glob.escape(path.stem)}-*.journal")
        )
        if apart:
            more = ", …" if len(apart) > _APART_MAX else ""
            return f"there are {', '.join(apart[:_APART_MAX])}{more}; or {_RECORD}"
    return _RECORD


def _failure_details(error: ActorFailed) -> Iterator[str]:
    """What a policy's part has raised, when, in which run, and in which of its lines; of an error
    elsewhere in Callboard everything.
    """
    cause = error.__cause__ or error
    told = traceback.TracebackException.from_exception(cause)
    first = _first_policy_frame(told.stack)
    if first is None:
        yield str(error)
        yield from _notes_of_run(error)
        yield "".join(told.format()).rstrip()
        return
    misbehaves = isinstance(cause, PartMisbehaves)
    yield str(cause) if misbehaves else "".join(told.format_exception_only()).rstrip()
    yield f"  at {clock(error.at_ms)} of the run{''.join(_notes_of_run(error, ', '))}"
    if not misbehaves or _is_users_own_file(told.stack[first].filename):
        lines = traceback.StackSummary.from_list(told.stack[first:]).format()
        yield "".join(lines).rstrip()
    if isinstance(cause, AttributeError) and isinstance(cause.obj, BookedJob):
        members = (each for each in vars(JobView) if not each.startswith("_"))
        yield f"  a policy sees of a job: {', '.join(members)}"


_PARTS = ("  the order ", "  the locality rule ")


def failure_line(error: KernelError | Violation) -> str:
    """What made a run fail in a line, with the line of somebody's own file if it is one."""
    cause = error.__cause__
    first, *more = str(error).split("\n")
    if more and more[0].startswith(_PARTS):  # whose own fault it is that it is stuck
        return f"{first};{more[0][1:]}"
    if not isinstance(error, ActorFailed) or cause is None:
        return first
    told = traceback.TracebackException.from_exception(cause)
    place = _first_policy_frame(told.stack)
    if place is None:
        return first
    said = str(cause) if isinstance(cause, PartMisbehaves) else f"{type(cause).__name__}: {cause}"
    frame = told.stack[place]
    if not _is_users_own_file(frame.filename):
        return said
    return f"{said} ({Path(frame.filename).name}, line {frame.lineno}, in {frame.name})"


def _first_policy_frame(stack: traceback.StackSummary) -> int | None:
    """The first frame of somebody's own file; without any the first of the schedulers, where a
    part that cannot be called as it must shows.
    """
    files = [each.filename for each in stack]
    own = (place for place, file in enumerate(files) if _is_users_own_file(file))
    ours = (
        place
        for place, file in enumerate(files)
        if Path(file).is_relative_to(_PACKAGE / "scheduler")
    )
    return next(own, next(ours, None))


def traceback_from_own_file(error: BaseException) -> TracebackType | None:
    """The end of its traceback that begins in a file of somebody's own; all of it without any."""
    found = error.__traceback__
    while found is not None and not _is_users_own_file(found.tb_frame.f_code.co_filename):
        found = found.tb_next
    return found or error.__traceback__


def _notes_of_run(error: Exception, before: str = "  ") -> Iterator[str]:
    """In which run, where that is known."""
    return (before + note for note in getattr(error, "__notes__", ()))


def _is_users_own_file(file: str) -> bool:
    libraries = (sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib"))
    ours = any(Path(file).is_relative_to(each) for each in (str(_PACKAGE), *libraries))
    return not ours and not file.startswith("<")


def with_own_pip(message: str) -> str:
    """The message, in which `pip install` installs for this Python: where the shell's `pip` is that
    of another one, by its path.
    """
    pip = shutil.which("pip")
    python = Path(sys.executable)
    is_own = pip is not None and Path(pip).parent == python.parent
    if "pip install" not in message or is_own or not find_spec("pip"):
        return message
    near = os.path.relpath(python)
    called = near if len(near) < len(str(python)) and not near.startswith("..") else str(python)
    return message.replace("pip install", f"{shlex.quote(called)} -m pip install")
