"""`callboard import`: a scenario, a file of its tasks, and a report of what became of it all."""

import json
from pathlib import Path

import pytest

from callboard.commands import import_command
from callboard.scenarios.scenario_file import load_scenario
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return written(tmp_path, HADOOP1, "job_1_ann")


def digests(out: str) -> list[str]:
    return [line for line in out.splitlines() if "digest" in line]


def test_what_was_imported_plays_as_the_history_itself_does(
    callboard: Run, history: Path, tmp_path: Path
) -> None:
    status, out, _ = callboard("import", str(history), "--to", str(tmp_path / "mine"))
    assert status == 0
    assert "1 job, 3 tasks, 5 attempts in 45 s" in out
    assert "dropped:            1  killed attempt beside another of its task" in out
    scenario = tmp_path / "mine" / "job_1_ann.toml"
    assert (tmp_path / "mine" / "job_1_ann.tasks.gz").is_file()
    assert scenario.read_text().startswith("# Imported: Hadoop 1 job history.\n# read: ")
    imported, direct = (
        callboard("run", str(path), "--check", "--verbose") for path in (scenario, history)
    )
    assert imported[0] == direct[0] == 0
    assert digests(imported[1]) == digests(direct[1]) != []


def test_the_report_as_json_has_all_that_it_is_said_to_have(
    callboard: Run, history: Path, tmp_path: Path
) -> None:
    status, out, _ = callboard("import", str(history), "--to", str(tmp_path / "x"), "--json")
    report = json.loads(out)
    assert status == 0
    about = ["format", "jobs", "tasks", "attempts", "span_seconds", "hosts"]
    assert [*report] == [*about, "read", "inferred", "guessed", "dropped"]
    sizes = [report[key] for key in ("jobs", "tasks", "attempts", "span_seconds", "hosts")]
    assert sizes == [1, 3, 5, 45.0, 3]
    assert report["dropped"][0].keys() == {"what", "count", "first"}
    assert report["dropped"][0]["first"] == ["job_1_ann:11"]


def test_nothing_is_written_over(callboard: Run, history: Path, tmp_path: Path) -> None:
    to = str(tmp_path / "mine")
    assert callboard("import", str(history), "--to", to)[0] == 0
    status, _, err = callboard("import", str(history), "--to", to)
    assert (status, "is there already" in err) == (2, True)
    assert callboard("import", str(history), "--to", to, "--name", "again")[0] == 0
    status, _, err = callboard("import", str(history), "--to", to, "--name", "../x")
    assert (status, "without a folder" in err) == (2, True)


def test_what_is_wrong_with_a_history_is_told_before_what_is_there_already(
    callboard: Run, history: Path, tmp_path: Path
) -> None:
    to = str(tmp_path / "mine.toml")
    assert callboard("import", str(history), "--to", to)[0] == 0
    bad = written(tmp_path, HADOOP1.replace('"1200000029000"', '"soon"'), "bad")
    status, _, err = callboard("import", str(bad), "--to", to)
    assert (status, "line 22, FINISH_TIME" in err) == (2, True)


def test_a_file_in_place_of_a_folder_is_told(callboard: Run, history: Path) -> None:
    status, _, err = callboard("import", str(history), "--to", str(history))
    assert status == 2
    assert err == f"callboard: --to: {history} is a file, and no folder; choose another name\n"


def test_what_need_not_be_imported_is_told_how_to_be_played(
    callboard: Run, history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callboard("import", str(history), "--to", "day.toml")[0] == 0
    assert callboard("run", "day.toml", "--policy", "fifo", "--journal", "day.journal")[0] == 0
    for name, words in (
        ("day.toml", "this is a scenario already: `callboard run day.toml` plays it"),
        ("day.journal", "and `callboard export day.journal --to day.history` writes the history"),
        ("day.tasks.gz", "these are the tasks of an import already: `callboard run day.tasks.gz`"),
    ):
        status, _, err = callboard("import", name, "--to", "x")
        assert (status, words in err) == (2, True), err


def test_a_scenarios_file_is_where_to_write_and_what_it_is_called(
    callboard: Run, history: Path, tmp_path: Path
) -> None:
    """A folder called october.toml was made."""
    to = tmp_path / "mine" / "october.toml"
    assert callboard("import", str(history), "--to", str(to))[0] == 0
    assert sorted(each.name for each in to.parent.iterdir()) == ["october.tasks.gz", "october.toml"]
    assert load_scenario(to).name == "october"
    assert callboard("run", str(to), "--policy", "fifo")[0] == 0
    status, _, err = callboard("import", str(history), "--to", str(to), "--name", "other")
    assert (status, "october.toml is there already" in err) == (2, True)


def test_a_file_that_is_missing_or_bad_is_told_and_nothing_written(
    callboard: Run, tmp_path: Path
) -> None:
    to = tmp_path / "mine"
    bad = written(tmp_path, HADOOP1.replace('"1200000029000"', '"soon"'), "bad")
    for path, words in ((tmp_path / "none", "no such file"), (bad, "line 22, FINISH_TIME")):
        status, out, err = callboard("import", str(path), "--to", str(to))
        assert (status, out) == (2, "")
        assert words in err
        assert "Traceback" not in err
    assert not to.exists()


def test_a_journal_of_an_imported_run_is_played_again_while_its_tasks_are_there(
    callboard: Run, history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    callboard("import", str(history), "--name", "mine")
    _, played, _ = callboard(
        "run", "mine.toml", "--policy", "fair", "--journal", "mine.journal", "--verbose"
    )
    _, again, _ = callboard("run", "mine.journal", "--verbose")
    assert digests(played) == digests(again) != []
    assert callboard("show", "mine.journal")[0] == 0
    (tmp_path / "mine.tasks.gz").rename(tmp_path / "elsewhere")
    status, _, err = callboard("run", "mine.journal", "--verbose")
    assert (status, "mine.tasks.gz" in err) == (2, True)
    assert callboard("show", "mine.journal")[0] == 0


def test_the_tasks_of_another_import_are_not_played_in_silence(
    callboard: Run, history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the working folder were played, and any of the same name beside the scenario."""
    monkeypatch.chdir(tmp_path)
    callboard("import", str(history), "--to", "mine/day.toml")
    other = written(tmp_path, HADOOP1.replace("1200000029000", "1200000028000"), "other")
    callboard("import", str(other), "--to", "day.toml")
    assert callboard("calibrate", "mine/day.toml", "--to", "mine/fitted.toml")[0] == 0
    own, foreign = tmp_path / "mine" / "day.tasks.gz", tmp_path / "day.tasks.gz"
    own.rename(tmp_path / "away")
    for scenario in ("mine/day.toml", "mine/fitted.toml"):
        status, _, err = callboard("run", scenario)
        assert (status, "workload.path: there is no file of recorded tasks" in err) == (2, True)
    own.write_bytes(foreign.read_bytes())
    for scenario in ("mine/day.toml", "mine/fitted.toml"):
        status, _, err = callboard("run", scenario)
        assert (status, err.count("\n")) == (2, 1)
        assert 'workload.digest: "day.tasks.gz" is not the file that was imported with' in err
    (tmp_path / "away").rename(own)
    assert callboard("run", "mine/fitted.toml", "--policy", "fifo")[0] == 0


def test_a_scenario_of_before_that_has_no_digest_of_its_tasks_is_played(
    callboard: Run, history: Path, tmp_path: Path
) -> None:
    to = tmp_path / "day.toml"
    callboard("import", str(history), "--to", str(to))
    lines = to.read_text().splitlines(keepends=True)
    without = [line for line in lines if not line.startswith("digest = ")]
    assert len(without) == len(lines) - 1
    to.write_text("".join(without))
    assert callboard("run", str(to), "--policy", "fifo")[0] == 0


def test_a_folder_plays_without_being_imported(callboard: Run, tmp_path: Path) -> None:
    folder = tmp_path / "done"
    folder.mkdir()
    written(folder, HADOOP1, "a")
    written(folder, HADOOP1.replace("job_1", "job_2"), "b")
    status, out, _ = callboard("run", str(folder), "--nodes", "40", "--racks", "4")
    assert status == 0
    assert "2 jobs (4 maps, 2 reduces) on 40 nodes" in out


def test_scenarios_have_the_names_of_their_files_without_what_formats_add(
    callboard: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, HADOOP1, "day.json.gz")
    assert callboard("import", str(path), "--to", str(tmp_path / "mine"))[0] == 0
    for played in (path, tmp_path / "mine" / "day.toml", tmp_path / "mine" / "day.tasks.gz"):
        assert callboard("run", str(played))[1].startswith("day  1 recorded job (Hadoop 1 ")


def test_a_table_plays_with_a_map_of_its_columns(callboard: Run, tmp_path: Path) -> None:
    path = str(written(tmp_path, "id,begin,n,took\na,5,3,20\nb,9,1,4\n", "batch.csv"))
    columns = ("--map", "job=id,submit=begin,maps=n,map_time=took,unit=s")
    status, _, err = callboard("run", path)
    assert (status, "there are id, begin, n, took" in err) == (2, True)
    status, out, _ = callboard("run", path, *columns, "--check", "--verbose")
    assert (status, "2 jobs (4 maps, 0 reduces)" in out) == (0, True)
    assert callboard("import", path, *columns, "--to", str(tmp_path / "mine"))[0] == 0
    again = callboard("run", str(tmp_path / "mine" / "batch.toml"), "--verbose")
    assert digests(again[1]) == digests(out) != []
    status, _, err = callboard("run", "two-jobs", *columns)
    assert (status, err.startswith("callboard: --map: unknown field")) == (2, True)


def test_a_recorded_run_of_a_table_remembers_its_columns(callboard: Run, tmp_path: Path) -> None:
    path = str(written(tmp_path, "id,begin,n,took\na,5,3,20\nb,9,1,4\n", "batch.csv"))
    columns = "job=id,submit=begin,maps=n,map_time=took,unit=s"
    journal = str(tmp_path / "run.journal")
    asked = ("--map", columns, "--policy", "fifo", "--journal", journal, "--verbose")
    played = callboard("run", path, *asked)
    assert played[0] == 0
    assert digests(callboard("run", journal, "--verbose")[1]) == digests(played[1]) != []


@pytest.mark.parametrize("command", ["import", "calibrate"])
def test_a_swim_trace_is_sent_to_the_command_that_plays_it(
    callboard: Run, tmp_path: Path, command: str
) -> None:
    """It was asked which of its columns, called 49 and 740773, tell how long tasks take."""
    trace = tmp_path / "day.tsv"
    trace.write_text("job0\t49\t49\t740773\t2339561\t627471\n")
    status, _, err = callboard(command, str(trace))
    assert status == 2
    assert "a SWIM trace: it tells sizes of jobs and no attempts; `callboard run " in err
    assert "--map" not in err


@pytest.mark.parametrize(
    ("ms", "told"), [(45_000, "45 s"), (7_180_000, "7,180 s"), (87_076_342_000, "1007 d 20 h")]
)
def test_a_history_of_years_is_told_in_days(ms: int, told: str) -> None:
    assert import_command._span_text(ms) == told
