"""Every run of the whole suite must meet all of the catalogue of `tests.support.sometimes`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import sometimes

HERE = Path(__file__).parent


def pytest_deselected(items: list[pytest.Item]) -> None:  # noqa: ARG001
    """Part of the suite is left out."""
    _Suite.whole = False


def pytest_collection_finish(session: pytest.Session) -> None:
    """See whether all files are there; the ideal machine's have nothing to meet."""
    found = {item.path for item in session.items}
    if not set(_files()) <= found or session.config.option.collectonly:
        _Suite.whole = False


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Fail if all tests passed and something was not met."""
    if exitstatus == 0 and _Suite.whole and sometimes.unmet():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        _Suite.failed = True
    yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not met."""
    if _Suite.failed:
        terminalreporter.section("situations that no test has met (tests/support/sometimes.py)")
        for what in sometimes.unmet():
            terminalreporter.line(what)


class _Suite:
    """What is known of this session."""

    whole = True
    failed = False


def _files() -> Iterator[Path]:
    return (path for path in HERE.rglob("test_*.py") if "ideal" not in path.parts)
