"""Every property catches a bug within the quick profile."""

import pytest

from callboard.fairness.catalogue import BY_NAME
from callboard.fairness.effort import PROFILES
from callboard.fairness.search import find
from tests.fairness.bugs import BUGS


def test_every_property_has_its_bug() -> None:
    assert BUGS.keys() == BY_NAME.keys()


@pytest.mark.parametrize("name", BUGS)
def test_the_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suspect = BUGS[name](monkeypatch)
    found = find(suspect, BY_NAME[name], examples=PROFILES["quick"], seed=1, shrink=False)
    assert found is not None
    assert found.seen
