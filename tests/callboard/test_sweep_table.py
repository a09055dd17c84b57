"""The table of a store: which columns it has, and what stands in them where runs have failed."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import callboard
from callboard.api import load, sweep
from callboard.commands import sweep_command
from callboard.console import PlainConsole, ReportConsole
from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.sweeps.played_cell import Place
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns, by_setting
from callboard.experiments.pages.report.report_source import source_of_store
from callboard.experiments.pages.report.result_tables import overview_table
from callboard.experiments.user_errors import InputError
from callboard.notebook import Sweep
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
            ("two-jobs", "--morris", "tasks.sigma=0..1", "--morris", "tasks.sigma=0..2"),
            "tasks.sigma: its ends are given twice; give them once",
        ),
        (
            ("two-jobs", "--vary", "tasks.sigma=0.1", "--set", "tasks.sigma=0.5"),
            "tasks.sigma: it is both varied and set to one value",
        ),
        (
            ("two-jobs", "--sobol", "tasks.sigma=0..1", "--set", "tasks.sigma=0.5"),
            "tasks.sigma: it is both varied and set to one value",
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


@pytest.mark.parametrize(
    "given",
    [
        *("two-jobs", "--policy fair", "--vary tasks.sigma=0", "--seeds 5", "--set tasks.sigma=0"),
        *("--map job=a", "--allocations f.xml", "--slowdown", "--no-faults", "--until 1h"),
        *("--samples 8", "--retry", "--design d.toml", "--until 0", "--cores 2"),
        *("--on dask://h:1", "--engine actors", "--trust"),
    ],
)
def test_what_is_to_be_played_is_refused_where_nothing_is(callboard: Run, given: str) -> None:
    """Runs of all policies and seeds were shown, as if those that were asked for."""
    status, _, err = callboard("sweep", "--show", "--store", "s.sqlite", *given.split())
    named = given.split()[0].replace("two-jobs", "a scenario")
    assert (status, err) == (2, f"callboard: --show plays nothing; leave out {named}\n")


def test_a_point_that_is_drawn_twice_counts_once(callboard: Run, tmp_path: Path) -> None:
    """In a new store ten of twelve runs were said to have been there before."""
    asked = ("two-jobs", "--policy", "fifo", "--sobol", "cluster.nodes=4..5", "--samples", "4")
    store = ("--cores", "1", "--store", str(tmp_path / "s.sqlite"))
    for told in ("2 runs played, 0 there before", "0 runs played, 2 there before"):
        assert told in callboard("sweep", *asked, *store)[2]


def test_a_key_is_drawn_between_whole_numbers_too_where_the_scenario_takes_them(
    callboard: Run, tmp_path: Path
) -> None:
    """`tasks.sigma=0..1`, as the help has it, played 0 and 1 alone, without a word."""
    export = tmp_path / "runs.csv"
    ranges = ("--sobol", "tasks.sigma=0..1", "--sobol", "cluster.nodes=4..12")
    where = ("--store", str(tmp_path / "s.sqlite"), "--export", str(export))
    callboard("sweep", "two-jobs", "--policy", "fifo", *ranges, "--samples", "4", *where)
    rows = list(csv.DictReader(export.read_text().splitlines()))
    assert any(0 < float(row["tasks.sigma"]) < 1 for row in rows)
    assert all(row["cluster.nodes"].isdigit() for row in rows)


def test_programs_and_notebooks_have_the_answers_too(callboard: Run, tmp_path: Path) -> None:
    """They were in the table alone; and `reproduce`, which may keep its outcomes in the same file,
    ended `--show` with a traceback.
    """
    path = tmp_path / "s.sqlite"
    store, ranges = ("--store", str(path)), {"tasks.sigma": (0, 1), "cluster.nodes": (4, 12)}
    told = [f"--morris={key}={low}..{high}" for key, (low, high) in ranges.items()]
    asked = ("sweep", "two-jobs", "--policy", "fifo", *told, "--samples", "2")
    found = json.loads(callboard(*asked, *store, "--json")[1])
    assert len(found["runs"]) == 2 * (2 + 1)
    (first, second) = found["indices"]
    assert (first["key"], first["low"], first["high"]) == ("tasks.sigma", 0, 1)
    assert first["mu_star_s"] == abs(first["mu_s"]) > 0  # by sigma jobs only get longer
    swept = sweep(
        "two-jobs", store=tmp_path / "p.sqlite", policies="fifo", morris=ranges, samples=2
    )
    for name, column in swept.indices.items():
        assert column.tolist() == [first[name], second[name]]
    callboard("reproduce", "hfsp-fig-2", "--cache", str(path))
    assert json.loads(callboard("sweep", "--show", *store, "--json")[1]) == found
    assert load(path).indices["key"].tolist() == list(ranges)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"sobol": {}}, "sobol: there is no key"),
        ({"samples": 4}, "samples are of Sobol's or Morris' method"),
        ({"sobol": {"a": (0, 1)}, "morris": {"a": (0, 1)}}, "two methods: choose one"),
        ({"sobol": {"tasks.sigma": (0, 1)}, "samples": 3}, "want a power of two"),
        ({"sobol": {"tasks.sigma": (1, 0)}}, "tasks.sigma=1..0: expected KEY=LO..HI with LO below"),
        ({"morris": {"a": (0, 1)}, "vary": {"b": [1]}}, "only `policy` can be varied"),
    ],
)
def test_what_no_method_takes_is_refused(named: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        sweep("two-jobs", store=tmp_path / "s.sqlite", **named)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_leaves_the_rows_that_were_exported_before(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    def half_written(_: object, to: Any, *_more: object) -> None:
        (to.write_text if ending == "parquet" else to.write)("scen")
        raise OSError(28, "No space left on device")

    export, store = tmp_path / f"runs.{ending}", ("--store", str(tmp_path / "s.sqlite"))
    export.write_text("the old ones")
    monkeypatch.setattr(sweep_command, "check_parquet", lambda: None)
    monkeypatch.setattr(sweep_command, f"write_{ending}", half_written)
    status, _, err = callboard(
        "sweep", "two-jobs", "--policy", "fifo", *store, "--export", str(export)
    )
    assert (status, f"{export}: No space left on device" in err) == (2, True)
    assert export.read_text() == "the old ones"


def test_runs_that_were_only_planned_are_none_of_a_store(callboard: Run, tmp_path: Path) -> None:
    """A sweep that was stopped leaves their places: 20 of 21 rows had no figures."""
    path, export = tmp_path / "s.sqlite", tmp_path / "runs.csv"
    places = (Place("two-jobs", (), "fifo", seed) for seed in range(1, 9))
    with ResultStore(path) as store:
        store.put_places((msgspec.json.encode(each).decode(), f"{each.seed}") for each in places)
    store_args = ("--store", str(path))
    assert "nothing in it yet" in callboard("sweep", "--show", *store_args)[1]
    _, out, _ = callboard("sweep", "two-jobs", "--policy", "fair", *store_args)
    assert "other sweeps" not in out
    assert "fifo" not in callboard("sweep", "--show", *store_args)[1]
    callboard("sweep", "--show", *store_args, "--export", str(export))
    assert len(list(csv.DictReader(export.read_text().splitlines()))) == 1
    assert len(json.loads(callboard("sweep", "--show", *store_args, "--json")[1])) == 1
    found = load(path)
    assert isinstance(found, Sweep)
    assert found.runs.rows == 1


def test_a_table_of_runs_that_were_cut_off_says_how_many_jobs_were_not_done(
    callboard: Run, tmp_path: Path
) -> None:
    """The mean was of those that happened to be done, and nothing said so."""
    both = ("--policy", "fair", "--policy", "fifo", "--store", str(tmp_path / "s.sqlite"))
    cut = callboard("sweep", "two-jobs", *both, "--until", "160")[1]
    whole = callboard("sweep", "two-jobs", *both)[1]
    assert "jobs not done" in cut
    assert "jobs not done" not in whole


def test_a_report_of_runs_that_were_cut_off_says_how_many_jobs_were_not_done(
    callboard: Run, tmp_path: Path
) -> None:
    """Its table gave 43.0 s for a setting in which half of the jobs were not done."""
    store = tmp_path / "s.sqlite"
    nodes = ("--vary", "cluster.nodes=4,6", "--store", str(store))
    callboard("sweep", "two-jobs", "--policy", "fair", *nodes, "--until", "160")
    table = overview_table(by_setting(source_of_store(store).cells))
    assert "jobs not done" in table.headings
    callboard("sweep", "two-jobs", "--policy", "fifo", *nodes)
    whole = [cell for cell in source_of_store(store).cells if cell.policy == "fifo"]
    assert "jobs not done" not in overview_table(by_setting(whole)).headings


@pytest.mark.parametrize("width", [80, 50])
def test_a_narrow_table_comes_in_parts_of_which_each_says_whose_its_rows_are(width: int) -> None:
    """At 70 columns each policy was `…`, at 60 there were figures alone."""
    policies = ("fair+delay(node=5,rack=5)", "fair+delay(node=5,rack=9)")
    runs = SeedRuns("two-jobs", policies, (1,), ((PLAYED, PLAYED),))
    group = SettingRuns("two-jobs", (("cluster.nodes", "10"),), runs, (0, 0), 0)
    other = group._replace(setting=(("cluster.nodes", "20"),))
    console = ReportConsole()
    console.width = width
    with console.capture() as capture:
        console.print_table_in_parts(sweep_table([group, other]))
    text = re.sub(r"\s", "", capture.get())
    parts = text.split("cluster.nodespolicy")[1:]
    assert len(parts) > 1
    assert "…" not in text
    for part in parts:
        assert re.search(r"10fair\+delay\(.*20fair\+delay\(.*", part)
