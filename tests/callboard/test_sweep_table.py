"""The table of a store: which columns it has, and what stands in them where runs have failed."""

import re

import pytest

import callboard
from callboard.console import PlainConsole
from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns
from callboard.tables.sweep_table import sweep_table

PLAYED = callboard.run("two-jobs", "fifo").result


def printed(*policies: str, failed: int) -> list[list[str]]:
    """The cells of two settings: of the second, and of the second policy of the first, no run."""
    other = (PLAYED, *[None] * (len(policies) - 1))
    groups = [
        SettingRuns(
            "two-jobs", (("a", "1"),), SeedRuns("two-jobs", policies, (1,), (other,)), 0, 0
        ),
        SettingRuns("two-jobs", (("a", "2"),), SeedRuns("two-jobs", policies, (), ()), failed, 0),
    ]
    console = PlainConsole(width=200)
    with console.capture() as capture:
        console.print(sweep_table(groups))
    head, _, *rows = capture.get().strip().splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in (head, *rows)]


def test_a_single_policy_is_compared_with_none() -> None:
    took = PLAYED.summary.response_seconds
    assert took.mean is not None
    assert took.p95 is not None
    assert printed("fifo", failed=0) == [
        ["a", "policy", "seeds", "mean response", "p95"],
        ["1", "fifo", "1", f"{took.mean:.0f} s", f"{took.p95:.0f} s"],
        ["2", "fifo", "0", "-", "-"],
    ]


@pytest.mark.parametrize("failed", [0, 3])
def test_failures_stand_beside_the_first_policy_of_their_setting(failed: int) -> None:
    head, *rows = printed("fifo", "fair", failed=failed)
    last = ["failed"] if failed else []
    assert head == ["a", "policy", "seeds", "mean response", "p95", "against the first", *last]
    told = ["3"] if failed else []
    assert rows[1:] == [
        ["1", "fair", "0", "-", "-", "-"],
        ["2", "fifo", "0", "-", "-", *told],
        ["2", "fair", "0", "-", "-", "-"],
    ]
