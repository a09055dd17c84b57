"""`--engine`: who plays, and that the commands say it."""

import json
from pathlib import Path

import pytest
from msgspec import structs

from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.run import twin_play
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.tables.engine_lines import engine_lines
from tests.callboard.conftest import Run
from tests.support.world import job, spec_of

pytestmark = pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")


def test_a_seed_by_the_twin_has_the_actors_figures(callboard: Run) -> None:
    told = []
    for engine in ("actors", "twin"):
        status, out, _ = callboard(
            "run", "two-jobs", "--policy", "fair", "--engine", engine, "--json"
        )
        assert status == 0
        told += json.loads(out)
    actors, twin = told
    assert actors["response_seconds"] == twin["response_seconds"]
    assert actors["slot_ms"] == twin["slot_ms"]
    assert (twin["engine"], twin["digest"], twin["messages"]) == ("twin", None, None)


def test_seeds_say_who_has_played(callboard: Run) -> None:
    asked = ("run", "two-jobs", "--seeds", "2", "--policy", "fair")
    _, out, _ = callboard(*asked, "--policy", "fair+kill", "--engine", "actors")
    assert "played by" not in out
    _, out, _ = callboard(*asked, "--engine", "twin")
    assert "played by the twin: fair" in out


def test_policies_that_the_twin_refuses_for_one_reason_share_a_line() -> None:
    policies = ("fair+suspend", "fair", "fifo+suspend", "fair+suspend")
    specs = [structs.replace(spec_of([job(0)]), policy=policy) for policy in policies]
    results = [RunTask(spec, engine="auto").run() for spec in specs]
    assert list(engine_lines(results)) == [
        "played by the twin: fair",
        "played by the actors: fair+suspend, fifo+suspend (the twin: it does not know `suspend`)",
    ]


def test_what_only_the_actors_can_play_is_refused(callboard: Run) -> None:
    status, _, err = callboard("run", "two-jobs", "--policy", "fair+suspend", "--engine", "twin")
    assert status == 2
    assert "the twin cannot play fair+suspend: it does not know `suspend`" in err


def test_a_remedy_is_named_only_where_it_helps(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever installed numba for Sparrow was then told that the twin does not play it."""
    monkeypatch.setattr(twin_play, "numba_is_installed", lambda: False)
    told = {
        policy: callboard("run", "two-jobs", "--policy", policy, "--engine", "twin")[2]
        for policy in ("sparrow", "fair")
    }
    assert "the twin cannot play sparrow: it plays the central master only" in told["sparrow"]
    assert "numba is not installed: " in told["fair"]


@pytest.mark.soak
def test_a_sweep_has_one_table_whoever_has_played(callboard: Run, tmp_path: Path) -> None:
    shown = []
    for engine in ("actors", "twin"):
        store = str(tmp_path / f"{engine}.sqlite")
        asked = ("sweep", "two-jobs", "--seeds", "2", "--cores", "1", "--store", store)
        shown.append(callboard(*asked, "--engine", engine)[1].rstrip("\n"))
    actors, twin = shown
    assert twin == f"{actors}\nplayed by the twin: fifo, fair"


def test_a_backtest_compares_the_same_whoever_has_played(callboard: Run, tmp_path: Path) -> None:
    path, journal = str(tmp_path / "one.history"), str(tmp_path / "one.journal")
    callboard("run", "two-jobs", "--policy", "fair", "--journal", journal)
    callboard("export", journal, "--to", path)
    shown = []
    for engine in ("actors", "twin"):
        asked = ("backtest", path, "--policy", "fair", "--policy", "fifo", "--engine", engine)
        shown.append(callboard(*asked)[1].rstrip("\n"))
    actors, twin = shown
    assert twin == f"{actors}\n\nplayed by the twin: fair, fifo"
