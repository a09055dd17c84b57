"""Every terminal of these tests has all colours, whatever the one that they are run in has; and
whoever presses keys waits for what they do, and not for a length of time.
"""

import pytest
import textual.app
import textual.pilot
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tests.tui.support import settled


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


_read: dict[tuple[object, ...], list[RuleSet]] = {}
_read_rules = Stylesheet._parse_rules


def _rules(
    sheet: Stylesheet,
    css: str,
    read_from: object,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """The rules of a style sheet, which is the same in every app and read once."""
    how = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (*how, tuple(sheet._variables.items()))
    if key not in _read:
        _read[key] = _read_rules(sheet, *how)  # type: ignore[arg-type]
    return _read[key]


@pytest.fixture(autouse=True)
def _sheets_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stylesheet, "_parse_rules", _rules)


@pytest.fixture(autouse=True)
def _no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual.app, "wait_for_idle", settled)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", settled)
