"""Every run of the whole suite must meet all of the catalogue of `tests.support.sometimes`, in
whichever of its processes.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import sometimes

HERE = Path(__file__).parent


def pytest_configure() -> None:
    """Started in the background by a shell, everything would be deaf to Ctrl-C, children too; and
    whoever runs the tests may have a config file.
    """
    os.environ["XDG_CONFIG_HOME"] = str(HERE / "no-such-folder")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_deselected(items: list[pytest.Item]) -> None:  # noqa: ARG001
    """Part of the suite is left out."""
    _Suite.whole = False


def pytest_collection_finish(session: pytest.Session) -> None:
    """See whether all files are there; the ideal machine's have nothing to meet."""
    found = {item.path for item in session.items}
    if not set(_files()) <= found or session.config.option.collectonly:
        _Suite.whole = False


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear what one of several processes has not met; each of them sees all of the suite."""
    told = getattr(node, "workeroutput", {})  # one that has crashed tells nothing
    _Suite.whole &= told.get("whole", False)
    _Suite.elsewhere.append(told.get("unmet", []))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Fail if all tests passed and something was not met."""
    yield
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput |= {"whole": _Suite.whole, "unmet": sometimes.unmet()}
    elif exitstatus == 0 and _Suite.whole and _unmet():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        _Suite.failed = True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not met."""
    if _Suite.failed:
        terminalreporter.section("situations that no test has met (tests/support/sometimes.py)")
        for what in _unmet():
            terminalreporter.line(what)


class _Suite:
    """What is known of this session."""

    whole = True
    failed = False
    elsewhere: list[list[str]] = []  # noqa: RUF012
    """What each of several processes has not met."""


def _unmet() -> list[str]:
    """What neither this process nor another has met."""
    return [what for what in sometimes.unmet() if all(what in each for each in _Suite.elsewhere)]


def _files() -> Iterator[Path]:
    return (path for path in HERE.rglob("test_*.py") if "ideal" not in path.parts)
