"""What an error says to a person, and the exit status it means."""

import os
import shlex
import shutil
import sys
import sysconfig
import traceback
from importlib.util import find_spec
from pathlib import Path

from callboard.actors.kernel.kernel import ActorFailed, KernelError
from callboard.experiments.user_errors import EXIT_BAD_INPUT, EXIT_FAILED, InputError, RunFailed
from callboard.journal.checks.findings import Violation
from callboard.journal.format import JournalError
from callboard.journal.missing_extra import MissingExtraError
from callboard.scenarios.library_list import LIBRARY
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scheduler.policy import PartMisbehaves, PolicySpecError
from callboard.scheduler.registry.concise import concise

BAD_INPUT = ScenarioError, PolicySpecError, JournalError, InputError, MissingExtraError
"""What tells people of their own input, and needs no traceback."""

_PACKAGE = Path(__file__).parents[1]


def describe_error(error: Exception) -> tuple[str | None, int]:
    """The message and the exit status; no message for what is a bug of ours."""
    message, status = _described(error)
    return None if message is None else concise(with_own_pip(message)), status


def _described(error: Exception) -> tuple[str | None, int]:
    match error:
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
            hint = "`callboard run SCENARIO --journal FILE` writes a journal"
            return f"{name}: {error.strerror}; {hint}", EXIT_BAD_INPUT
        case FileNotFoundError(filename=name) if (LIBRARY / f"{name}.toml").is_file():
            record = f"`callboard run {name} --journal {name}.journal` records it"
            return (
                f"{name}: a scenario, of which nothing is recorded here; {record}",
                EXIT_BAD_INPUT,
            )
        case OSError(strerror=str() as reason):
            return f"{error.filename or 'output'}: {reason}", EXIT_BAD_INPUT
        case ActorFailed():
            told = (str(error), _traced(error.__cause__ or error))
            return "\n".join(filter(None, told)), EXIT_FAILED
        case KernelError() | Violation():
            return str(error), EXIT_FAILED
    return None, EXIT_FAILED


def _traced(cause: BaseException) -> str:
    """Where it happened: from the first line on that is not Callboard's, which is a policy's; all
    of it where there is none, and nothing where the message says what a part has done.
    """
    told = traceback.TracebackException.from_exception(cause)
    others = next((n for n, each in enumerate(told.stack) if _is_foreign(each.filename)), None)
    if others is None and isinstance(cause, PartMisbehaves):
        return ""
    told.stack = traceback.StackSummary.from_list(told.stack[others or 0 :])
    return "".join(told.format()).rstrip()


def _is_foreign(file: str) -> bool:
    ours = (str(_PACKAGE), *(sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib")))
    return not file.startswith(ours) and not file.startswith("<")


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
