"""The table of a store: which columns it has, and what stands in them where runs have failed."""

import json
import re
from pathlib import Path

import pytest

import callboard
from callboard.console import PlainConsole
from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns
from callboard.tables.sweep_table import sweep_table
from tests.callboard.conftest import Run

pytestmark = pytest.mark.usefixtures("in_this_process")

PLAYED = callboard.run("two-jobs", "fifo").result


def printed(*policies: str, failed: int) -> list[list[str]]:
    """The cells of two settings: of the second, and of the second policy of the first, no run; of
    the last policy of the second so many failed.
    """
    other = (PLAYED, *[None] * (len(policies) - 1))
    none = (0,) * len(policies)
    fails = (*none[1:], failed)
    groups = [
        SettingRuns(
            "two-jobs", (("a", "1"),), SeedRuns("two-jobs", policies, (1,), (other,)), none, 0
        ),
        SettingRuns("two-jobs", (("a", "2"),), SeedRuns("two-jobs", policies, (), ()), fails, 0),
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
def test_failures_stand_beside_their_policy(failed: int) -> None:
    head, *rows = printed("fifo", "fair", failed=failed)
    last = ["failed"] if failed else []
    assert head == ["a", "policy", "seeds", "mean response", "p95", "against the first", *last]
    told = ["3"] if failed else []
    assert rows[1:] == [
        ["1", "fair", "0", "-", "-", "-"],
        ["2", "fifo", "0", "-", "-"],
        ["2", "fair", "0", "-", "-", "-", *told],
    ]


RAISES = """
from callboard.scheduler.orders.keyed import KeyedOrder


class Mine(KeyedOrder):
    name = "mine"
    summary = "raises"

    def key(self, job, kind):
        raise ValueError("oops")

    def score(self, key):
        return 0.0
"""


def test_runs_that_failed_are_counted_beside_their_policy_told_in_a_line_and_end_with_1(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(RAISES, encoding="utf-8")
    policies = ("--policy", "fifo", "--policy", "./bad.py:Mine")
    asked = ("two-jobs", *policies, "--seeds", "2", "--cores", "1", "--store", "s.sqlite")
    status, out, _ = callboard("sweep", *asked)
    assert status == 1
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert not rows["fifo"].rstrip().endswith("2")
    assert rows["./bad.py:Mine"].rstrip().endswith("2")
    assert "2 runs failed: ValueError: oops (bad.py, line 10, in key) (first: " in out
    assert callboard("sweep", "--show", "--store", "s.sqlite")[0] == 0


@pytest.mark.soak
def test_runs_that_were_not_asked_for_are_told_and_not_shown(
    callboard: Run, tmp_path: Path
) -> None:
    """A store keeps what other sweeps have played: it was in the means, the export, the JSON."""
    sweep = ("sweep", "two-jobs", "--policy", "fifo", "--cores", "1", "--seeds", "1..2", "--store")
    store = str(tmp_path / "s.sqlite")
    _, first, _ = callboard(*sweep, store, "--vary", "tasks.sigma=0.1")
    _, second, _ = callboard(*sweep, store, "--vary", "tasks.sigma=0.2")
    assert "other sweeps" not in first
    assert "the store has 2 runs of other sweeps, too" in second
    assert "0.1" not in second
    _, shown, _ = callboard("sweep", "--show", "--store", store)
    assert "other sweeps" not in shown
    assert "0.1" in shown
    points = ("--sobol", "cluster.nodes=4..5", "--samples", "4")  # some points are drawn twice
    assert "has 4 runs of other sweeps" in callboard(*sweep, store, *points)[1]
    export = tmp_path / "runs.csv"
    asked = (*sweep[:4], "--cores", "1", "--seeds", "7..8", "--policy", "fair", "--store", store)
    _, out, _ = callboard(*asked, "--vary", "tasks.sigma=0.2", "--export", str(export), "--json")
    assert [each["seed"] for each in json.loads(out)] == [7, 7, 8, 8]
    assert len(export.read_text().splitlines()) == 1 + 4


DESIGN = """scenarios = ["two-jobs"]
policies = ["fair"]
seeds = 2
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--design", "d.toml", "--seeds", "4"), "leave out --seeds, or write it there"),
        (("--design", "d.toml", "--policy", "fifo"), "leave out --policy, or write it there"),
        (("--design", "d.toml", "--no-faults"), "leave out --no-faults\n"),
        (("--design", "d.toml", "two-jobs"), "leave out a scenario, or write it there"),
        (
            ("two-jobs", "--vary", "tasks.sigma=0.1", "--set", "tasks.sigma=0.5"),
            "tasks.sigma: --vary and --set both say what it is",
        ),
    ],
)
def test_what_is_said_twice_is_refused(
    callboard: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: str,
) -> None:
    """The one was left out without a word."""
    monkeypatch.chdir(tmp_path)
    Path("d.toml").write_text(DESIGN, encoding="utf-8")
    status, _, err = callboard("sweep", "--store", "s.sqlite", *words)
    assert (status, told in err) == (2, True)
    assert not Path("s.sqlite").exists()


def test_a_point_that_is_drawn_twice_counts_once(callboard: Run, tmp_path: Path) -> None:
    """In a new store ten of twelve runs were said to have been there before."""
    asked = ("two-jobs", "--policy", "fifo", "--sobol", "tasks.sigma=0..1", "--samples", "4")
    store = ("--cores", "1", "--store", str(tmp_path / "s.sqlite"))
    for told in ("2 runs played, 0 there before", "0 runs played, 2 there before"):
        assert told in callboard("sweep", *asked, *store)[2]
