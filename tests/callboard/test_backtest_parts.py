"""`callboard backtest --train`: the first part of a history calibrates, the rest is predicted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.experiments.backtest.history_parts import (
    HistoryPart,
    calibration_of_part,
    run_with_typical_initialisation,
    trained_overrides,
    unparted_history,
)
from callboard.experiments.backtest.job_parts import JobMoments, difference_in_words
from callboard.histories.recording_file import import_files
from callboard.scheduler.text.quantities import with_sign
from tests.callboard.conftest import Run
from tests.callboard.test_backtest import WORLD
from tests.support.world import job, spec_of

pytest.importorskip("scipy")

JOBS = 17


@pytest.fixture
def history(callboard: Run, tmp_path: Path) -> Path:
    """A morning of our own making that ran under FIFO."""
    scenario, journal = tmp_path / "own.toml", tmp_path / "own.journal"
    scenario.write_text(WORLD.format(racks=3), encoding="utf-8")
    path = tmp_path / "own.history"
    run = ("run", str(scenario), "--policy", "fifo", "--seed", "5", "--journal", str(journal))
    assert callboard(*run)[0] == 0
    assert callboard("export", str(journal), "--to", str(path))[0] == 0
    return path


def backtested(callboard: Run, *arguments: str) -> dict[str, Any]:
    """What the command says of its one policy."""
    status, out, err = callboard("backtest", *arguments, "--json")
    assert status == 0, err
    (found,) = json.loads(out)
    assert isinstance(found, dict)
    return found


def without(history: Path, *jobs: int) -> Path:
    """The history without the files of these jobs."""
    head, *files = history.read_text().split("!!FILE=")
    kept = [each for number, each in enumerate(files) if number not in jobs]
    path = history.with_name("part.history")
    path.write_text("!!FILE=".join([head, *kept]))
    return path


def test_both_parts_have_their_figures_and_errors_by_cause(callboard: Run, history: Path) -> None:
    found = backtested(callboard, str(history), "--policy", "fair", "--train", "60%")
    first, rest = found["parts"]
    assert (first["jobs"], rest["jobs"]) == ([0, 10], [10, JOBS])
    for part, jobs in ((first, found["jobs"][:10]), (rest, found["jobs"][10:])):
        recorded = sum(each["recorded_ms"] for each in jobs)
        mean = sum(each["predicted_ms"] for each in jobs) / recorded - 1
        assert part["figures"]["of the mean"]["mean"] == pytest.approx(mean)
        causes = sum(each["mean"] for each in part["by_cause"].values())
        assert causes == pytest.approx(mean)


def test_what_is_held_back_is_not_looked_at(history: Path) -> None:
    """The first ten jobs tell the same, whether or not others follow them in the file."""
    part = HistoryPart("first 10", 0, 10)
    whole, cut = import_files([history]), import_files([without(history, *range(10, JOBS))])
    assert len(cut.recording.jobs) == 10
    assert calibration_of_part(whole, part).estimates == calibration_of_part(cut, part).estimates
    assert trained_overrides(calibration_of_part(whole, part)) == trained_overrides(
        calibration_of_part(cut, part)
    )


def test_jobs_that_are_held_back_are_initialised_as_the_first_were() -> None:
    """For the median of these, whatever they really took."""
    jobs = [
        msgspec.structs.replace(job(number), initialisation_ms=ms)
        for number, ms in enumerate((9000, 2000, 1000, 40_000, 0))
    ]
    parts = (HistoryPart("first 3", 0, 3), HistoryPart("held back", 3, 5))
    found = run_with_typical_initialisation(spec_of(jobs), parts).jobs
    assert [each.initialisation_ms for each in found] == [9000, 2000, 1000, 2000, 2000]
    assert run_with_typical_initialisation(spec_of(jobs), unparted_history(5)) == spec_of(jobs)


def test_every_job_says_in_which_part_it_is(callboard: Run, history: Path) -> None:
    asked = (str(history), "--policy", "fifo", "--jobs", "5", "--train", "60%")
    assert [each["part"] for each in backtested(callboard, *asked)["jobs"]] == [
        *["first 3"] * 3,
        *["held back"] * 2,
    ]
    _, out, _ = callboard("backtest", *asked)
    table = out[out.index("\njob ") :].splitlines()
    assert table[1].split()[-1] == "part"
    assert [row.split("%")[-1].strip() for row in table[2:7]] == [
        *["first 3"] * 3,
        *["held back"] * 2,
    ]
    assert max(map(len, table[1:7])) <= 80
    _, whole_history, _ = callboard("backtest", *asked[:-2])
    assert "part" not in whole_history.splitlines()[6]


def test_another_number_of_nodes_with_other_heartbeats_is_said(
    callboard: Run, history: Path
) -> None:
    """As `run` does (rule H1)."""
    asked = ("backtest", str(history), "--policy", "fifo", "--jobs", "2", "--nodes")
    _, out, _ = callboard(*asked, "400")
    assert "note: a heartbeat comes every 3 s on 10 nodes, 4 s on 400 nodes" in out
    _, out, _ = callboard(*asked, "12")
    assert "a heartbeat comes" not in out


def test_every_error_is_the_sum_of_its_causes(callboard: Run, history: Path) -> None:
    """And where nothing is off, no cause is."""
    for policy in ("fifo", "fair"):
        for each in backtested(callboard, str(history), "--policy", policy)["jobs"]:
            error_ms = each["predicted_ms"] - each["recorded_ms"]
            assert sum(each["causes"].values()) == error_ms
            assert policy == "fair" or set(each["causes"].values()) == {0}


def test_load_that_the_file_does_not_show_is_named_as_the_cause(
    callboard: Run, history: Path
) -> None:
    """Without the giant, whose 150 maps came first, the others waited while slots seem free."""
    asked = ("--policy", "fifo", "--set", "cluster.map_slots=2", "--set", "cluster.nodes=10")
    found = backtested(callboard, str(without(history, 0)), *asked)
    causes = found["parts"][0]["by_cause"]
    bias = found["parts"][0]["figures"]["of the mean"]["mean"]
    assert bias < -0.2
    assert causes["load not in the file"]["mean"] < 0.6 * bias


@pytest.mark.soak
def test_several_seeds_give_intervals(callboard: Run, history: Path) -> None:
    """With drawn phases of heartbeats predictions differ; the table says by how much."""
    drawn = ("--set", "cluster.heartbeat.phases_ms=[]")
    asked = (str(history), "--policy", "fifo", "--seeds", "3", *drawn)
    found = backtested(callboard, *asked)
    assert found["parts"][0]["figures"]["median error"]["half"] > 0
    assert found["jobs"][0]["predicted"]["runs"] == 3
    _, out, _ = callboard("backtest", *asked)
    assert "17 jobs compared with what was recorded, 3 seeds" in out
    assert " ± " in out
    assert "worst predicted, with the first seed" in out
    few = (*asked, "--jobs", "4")
    first = backtested(callboard, *few)["jobs"][0]
    _, out, _ = callboard("backtest", *few)
    off = first["predicted"]["mean"] / first["recorded_ms"] - 1
    row, *_ = [line for line in out.splitlines() if line.startswith(first["name"])]
    assert row.split()[-1] == with_sign(off, ",.1%")


def test_a_share_is_taken_as_a_number_too(callboard: Run, history: Path) -> None:
    asked = ("backtest", str(history), "--policy", "fair", "--json", "--train")
    assert callboard(*asked, "0.6") == callboard(*asked, "60%")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("x", "as in 60%"),
        ("0%", "of 17 jobs that leaves none to learn from"),
        ("100%", "as in 60%"),
        ("1%", "of 17 jobs that leaves none to learn from"),
        ("60", "60% or 0.6"),
    ],
)
def test_a_share_that_parts_nothing_is_refused(
    callboard: Run, history: Path, asked: str, words: str
) -> None:
    status, _, err = callboard("backtest", str(history), "--policy", "fifo", "--train", asked)
    assert (status, words in err) == (2, True), err


def test_a_long_wait_is_told_in_the_units_of_what_explains_it_too() -> None:
    """It took 0.6 s and 6,198 s, and `after 1 h 43 min` stood in the next line."""
    was = JobMoments(0, 0, 600, 600, 9_000, 0, 9_000, 9_000)
    for first_ms, told in (
        (6_198_000, "it took 0.6 s, and in the prediction 6,198 s (1 h 43 min)"),
        (45_000, "it took 0.600 s, and in the prediction 45.000 s"),
    ):
        end_ms = first_ms + 8_400
        other = JobMoments(0, 0, first_ms, first_ms, end_ms, 0, end_ms, end_ms)
        assert difference_in_words(was, other).endswith(told)
