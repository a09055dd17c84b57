"""Of which policies properties speak, where one did speak of too many."""

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.scheduler.registry.parts import make_policy


def test_an_order_that_spares_what_it_measures_does_not_promise_newest_first() -> None:
    newest_first = PROPERTIES_BY_NAME["newest-first"]
    assert newest_first.misfit(make_policy("fair+kill")) is None
    assert newest_first.misfit(make_policy("hfsp+kill")) == (
        "`hfsp` spares the attempts that it measures"
    )
