"""Every run of the whole suite must meet all of the catalogue of `tests.support.sometimes`, in
whichever of its processes.

What Hypothesis draws hangs on the test alone, so that tests may be spread over processes as it
comes: by itself it also draws constants of the modules that happen to be loaded.
"""

import gc
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from callboard import progress_line
from tests.support import plain_asserts, sometimes  # noqa: F401

HERE = Path(__file__).parent
CONFIG = tempfile.mkdtemp(prefix="callboard-tests-")
"""Where programs look for configuration."""
FIRST = ("test_library", "test_small_jobs", "test_golden", "test_silence", "test_old_spellings")
"""What looks at the same runs of the library; those that want them with events before others."""


def pytest_configure(config: pytest.Config) -> None:
    """Started in the background by a shell, everything would be deaf to Ctrl-C, children too; and
    whoever runs the tests may have a config file.

    No module's constants are drawn; and what is collected is not looked through for garbage.  To
    compile the twin takes minutes, so only `make soak` does.
    """
    if config.option.markexpr != "soak":
        sys.modules["callboard.twin.compiled_play"] = _plain_twin()
    os.environ["XDG_CONFIG_HOME"] = CONFIG
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    # The same draws each time, and no test fails because the machine was busy.
    settings.register_profile("house", derandomize=True, deadline=None)
    settings.load_profile("house")
    vars(providers)["is_local_module_file"] = lambda _: False
    gc.disable()


def _plain_twin() -> ModuleType:
    """In place of the compiled loop the plain one, which plays small worlds as fast as actors do;
    loaded when it is asked for.
    """
    module = ModuleType("callboard.twin.compiled_play")

    def found(name: str) -> object:
        from callboard.twin.play_loop import play_instants

        plain = {"COMPILED_PLAY": play_instants, "draws_agree": lambda: True}
        if name not in plain:
            raise AttributeError(name)
        return plain[name]

    vars(module)["__getattr__"] = found
    return module


@pytest.fixture(scope="session", autouse=True)
def _no_lines_by_the_clock() -> None:
    """Where a machine is slow, commands say how far they are, and tests compare what is said."""
    progress_line.PIPED_LINE_S = math.inf


def pytest_unconfigure() -> None:
    """What the run's children, browsers among them, have left as their configuration goes too."""
    shutil.rmtree(CONFIG, ignore_errors=True)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Part of the suite is left out, and perhaps more than what is too long for it."""
    _Suite.whole &= all(item.get_closest_marker("soak") for item in items)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: processes that are done take from the ends of others."""
    items.sort(key=lambda item: (_turn(item.path), "whole" not in item.path.parts))


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than cores, since tests of screens and of other processes wait a good deal."""
    return (yield) + 1


def pytest_collection_finish(session: pytest.Session) -> None:
    """See whether all files are there; the ideal machine's have nothing to meet.  From here on
    garbage is looked for seldom: tests make more of it than they leave.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(500_000, 20, 100)
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


def _turn(path: Path) -> int:
    return FIRST.index(path.stem) if path.stem in FIRST else len(FIRST)


def _files() -> Iterator[Path]:
    return (path for path in HERE.rglob("test_*.py") if "ideal" not in path.parts)
