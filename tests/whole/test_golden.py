"""Every scenario of the library comes to what it came to before, under FIFO, Fair and HFSP."""

import pytest

from tests.support.soak import one_in
from tests.whole import golden

RENEW = "if that is meant: python -m tests.whole.golden, and say why in the commit"


LONG = ("facebook-morning", "gp-busy", "hfsp-calibrated", "macrobenchmark", "sparrow-100ms")
"""What takes seconds to play."""

RUNS = [(name, policy) for name in golden.names() for policy in golden.policies_of(name)]
IN_SUITE = one_in(5, [run for run in RUNS if run[0] not in LONG])
IN_SOAK = [pytest.param(*run, marks=pytest.mark.soak) for run in RUNS if run[0] in LONG]


@pytest.mark.parametrize(("name", "policy"), [*IN_SUITE, *IN_SOAK])
def test_a_scenario_comes_to_what_it_came_to_before(name: str, policy: str) -> None:
    before, now = golden.stored().get(name, {}).get(policy), golden.played(name, policy)
    assert before is not None, f"{name} is not in the file; {RENEW} {name}"
    if now["events"] != before["events"]:
        pytest.fail(f"{name} under {policy} was {before}, is {now}; {RENEW} {name}")
    assert now["messages"] == before["messages"], f"the same happens by other messages; {RENEW}"
    assert now == before


def test_the_file_has_no_scenario_that_is_gone() -> None:
    assert set(golden.stored()) == set(golden.names())
