"""Every property catches a bug within the quick profile."""

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.profiles import SEARCH_PROFILES
from callboard.fairness.search import find_counterexample
from tests.fairness.bugs import BUGS


def test_every_property_has_its_bug() -> None:
    assert BUGS.keys() == PROPERTIES_BY_NAME.keys()


LONG = {
    *("attempts", "counts", "dead-nodes", "dominance", "fair-share-timeout", "min-share-timeout"),
    *("more-nodes", "no-timeout", "patient", "shuffles"),
}
"""Whose bug takes more than a second to find."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in LONG else ()) for name in BUGS]
)
def test_the_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suspect = BUGS[name](monkeypatch)
    found = find_counterexample(
        suspect, PROPERTIES_BY_NAME[name], examples=SEARCH_PROFILES["quick"], seed=1, shrink=False
    )
    assert found is not None
    assert found.seen
