"""`callboard backtest`: a history against what a policy would have made of it."""

import json
import re
import sys
from pathlib import Path

import pytest

from callboard import backtest_sentences
from callboard.commands import backtest_command
from callboard.console import aligned_lines
from callboard.playing import PlayedTasks
from tests.callboard.conftest import Run
from tests.callboard.test_capacity_file import MINE, xml
from tests.histories.readers.samples import HADOOP1, SWF, written

WORLD = """
name = "own"
[cluster]
nodes = 10
racks = {racks}
map_slots = 2
reduce_slots = 1
[tasks]
sigma = 0.4
straggler_share = 0.03
[workload]
kind = "jobs"
job = [
  {{ name = "giant", at_s = 6.5, maps = 150, map_s = 25, reduces = 4, reduce_s = 20 }},
  {{ name = "small", count = 12, every_s = 15.0, at_s = 10.0, maps = 8, map_s = 9.0 }},
  {{ name = "some", count = 4, every_s = 30.0, at_s = 20.0, maps = 12, map_s = 9.0, reduces = 1 }},
]
"""


CRASH = '\n[[timeline]]\nwhat = "crash"\nnodes = "node-1"\nat_s = 20\nfor_s = 60\n'
TRACE = '\n[[timeline]]\nwhat = "trace"\npath = "down.csv"\n'


@pytest.fixture(params=[("fifo", 1), ("fair", 3)], ids=["fifo", "fair"])
def history(callboard: Run, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """A history of our own making, and the policy that was in force."""
    policy, racks = request.param
    scenario, journal = tmp_path / "own.toml", tmp_path / "own.journal"
    scenario.write_text(WORLD.format(racks=racks), encoding="utf-8")
    path = tmp_path / "own.history"
    run = ("run", str(scenario), "--policy", policy, "--seed", "5", "--journal", str(journal))
    assert callboard(*run)[0] == 0
    assert callboard("export", str(journal), "--to", str(path))[0] == 0
    return path, policy


def test_a_fault_free_world_predicts_itself_and_a_wrong_policy_is_told(
    callboard: Run, history: tuple[Path, str]
) -> None:
    """Every job to the millisecond under the right one: jobs find the heartbeats where they found
    them, whatever the seed that drew these and whenever the first job came.  Under the other the
    median is off by more than a fifth, and the order of jobs is not the same.
    """
    path, right = history
    wrong = "fair" if right == "fifo" else "fifo"
    asked = ("--policy", right, "--policy", wrong, "--json")
    status, out, _ = callboard("backtest", str(path), *asked)
    good, bad = json.loads(out)
    assert status == 0
    assert (good["policy"], bad["policy"]) == (right, wrong)
    assert len(good["jobs"]) == 17
    assert [each["predicted_ms"] for each in good["jobs"]] == [
        each["recorded_ms"] for each in good["jobs"]
    ]
    assert bad["median_error"] > 0.2
    assert bad["rank_correlation"] < 0.9
    assert good["partial_load"] == ""


@pytest.mark.soak
def test_what_it_prints_names_the_worst_jobs_and_why(
    callboard: Run, history: tuple[Path, str], tmp_path: Path
) -> None:
    path, right = history
    wrong, figure = "fair" if right == "fifo" else "fifo", tmp_path / "busy.svg"
    asked = ("--policy", wrong, "--figure", str(figure))
    status, out, _ = callboard("backtest", str(path), *asked)
    assert status == 0
    assert "17 jobs compared with what was recorded" in out
    worst = out.split("worst predicted")[1]
    assert worst.count("and in the prediction") == 5
    assert "its first task is launched, after" in worst
    assert figure.read_text().startswith("<?xml")


def test_where_no_figure_can_be_drawn_that_is_said_before_the_work(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(backtest_command, "_planned_backtest", None)
    path, figure = str(written(tmp_path, HADOOP1, "job_1")), tmp_path / "busy.svg"
    for more in ((), ("--json",)):
        asked = ("backtest", path, "--policy", "fifo", "--figure", str(figure), *more)
        status, out, err = callboard(*asked)
        assert (status, out) == (2, "")
        assert "pip install 'callboard[experiments]'" in err
    assert not figure.exists()


def test_nodes_that_are_stated_are_not_told_as_guessed(callboard: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,submit,start,end,n\n1,0,0,100,4\n2,10,10,50,2\n")
    columns = "job=id,submit=submit,start=start,end=end,maps=n,unit=s"
    asked = ("backtest", str(table), "--map", columns, "--policy", "fifo")
    told = "guessed on reading: 3 nodes of 2 slots a kind"
    assert told in callboard(*asked)[1]
    for stated in (("--nodes", "48"), ("--set", "cluster.nodes=48")):
        assert told not in callboard(*asked, *stated)[1]


def test_memory_of_a_node_that_is_guessed_is_told_until_it_is_stated(
    callboard: Run, tmp_path: Path
) -> None:
    """With its amount: more than the nodes had lets too many containers run at once."""
    table = tmp_path / "t.csv"
    table.write_text("id,submit,start,end,n,mb\n1,0,0,100,4,4000\n2,10,10,50,2,1000\n")
    columns = "job=id,submit=submit,start=start,end=end,maps=n,memory=mb,unit=s"
    asked = ("backtest", str(table), "--map", columns, "--policy", "fifo")
    told = "guessed on reading: 1 amount of a node: memory 16,000, what the largest containers take"
    assert told in callboard(*asked)[1]
    assert told not in callboard(*asked, "--set", "cluster.capacity.memory=8000")[1]


def test_that_so_many_nodes_ask_for_work_seldom_is_told(callboard: Run, tmp_path: Path) -> None:
    """It made predictions too long, below a note by which they were too short."""
    path = str(written(tmp_path, HADOOP1, "job_1"))
    told = "a heartbeat comes every 12 s on 1,200 nodes (Hadoop's rule): predictions are too long"
    asked = ("backtest", path, "--policy", "fifo", "--nodes", "1200")
    assert told in callboard(*asked)[1]
    often = callboard(*asked, "--set", "cluster.heartbeat.interval_ms=3000")[1]
    assert "a heartbeat comes every" not in often


def test_a_history_of_little_on_a_large_cluster_says_what_that_does(
    callboard: Run, tmp_path: Path
) -> None:
    """Three hosts are named, and hold the inputs; one map runs at a time on one of them."""
    path = str(written(tmp_path, HADOOP1.replace("h3", "h9"), "job_1"))
    status, out, _ = callboard("backtest", path, "--policy", "fifo")
    assert status == 0
    assert "1 job compared" in out
    assert "job_1" in out
    grown = ("--set", "cluster.map_slots=4")
    status, out, _ = callboard("backtest", path, "--policy", "fifo", *grown)
    assert "only a part of the cluster's load" in out


def test_a_job_has_one_prediction_wherever_it_is_told(callboard: Run, tmp_path: Path) -> None:
    """The table rounded it, 12 min 32 s, and the list of the worst cut it off, 12 min 31 s."""
    table = tmp_path / "sacct.txt"
    table.write_text("id,came,ended,maps\n4711,5,759,16\n4713,130,954,8\n")
    columns = "job=id,submit=came,end=ended,map_time=ended,maps=maps,unit=s"
    _, out, _ = callboard("backtest", str(table), "--policy", "fifo", "--map", columns)
    worst = re.findall(r"^  (\S+): .*, predicted (.+) \(", out, re.MULTILINE)
    assert len(worst) == 2
    for job, predicted in worst:
        (row,) = re.findall(rf"^{job} .*$", out, re.MULTILINE)
        assert f"  {predicted}  " in row


def test_jobs_that_their_users_killed_are_left_out(callboard: Run, tmp_path: Path) -> None:
    """And where no other is left, that is said before anything is played."""
    killed = HADOOP1.replace('45000" JOB_STATUS="SUCCESS"', '30000" JOB_STATUS="KILLED"')
    second = killed.replace("job_1", "job_2").replace("_1_", "_2_")
    asked = ("backtest", str(written(tmp_path, HADOOP1 + second)), "--policy", "fifo", "--json")
    status, out, _ = callboard(*asked)
    (found,) = json.loads(out)
    assert (status, len(found["jobs"]), found["left_out"]) == (0, 1, 1)
    assert found["left_out_why"] == {"that were killed, or failed": 1}
    assert "; 1 left out: 1 that were killed, or failed" in callboard(*asked[:-1])[1]
    status, out, err = callboard("backtest", str(written(tmp_path, killed)), "--policy", "fifo")
    assert (status, out) == (2, "")
    assert "no job that succeeded tells how long it took: there is nothing to compare" in err


def test_a_log_that_tells_no_responses_is_refused_before_it_is_played(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of the Standard Workload Format with unknown waits."""
    (unknown,) = (line for line in SWF.splitlines() if line.startswith("  2 50  -1"))
    path = written(tmp_path, f"; Version: 2.2\n; MaxProcs: 8\n{unknown}\n", "log.swf")
    monkeypatch.setattr(backtest_command, "backtest", None)
    status, out, err = callboard("backtest", str(path), "--policy", "fifo")
    assert (status, out) == (2, "")
    assert "there is nothing to compare" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("two-jobs", "--policy", "fifo"), "only a recorded history can be backtested"),
        (("absent", "--policy", "fifo"), "no"),
        (("two-jobs", "--policy", "nonsense"), "nonsense"),
        (("two-jobs", "--policy", "fifo", "--figure", "x.txt"), "end the name in one of"),
    ],
)
def test_what_cannot_be_backtested_is_told(
    callboard: Run, arguments: tuple[str, ...], words: str
) -> None:
    status, _, err = callboard("backtest", *arguments)
    assert (status, words in err) == (2, True), err


def test_an_imported_or_calibrated_history_can_be_backtested(
    callboard: Run, history: tuple[Path, str], tmp_path: Path
) -> None:
    path, right = history
    mine = tmp_path / "mine"
    assert callboard("import", str(path), "--to", str(mine))[0] == 0
    assert callboard("calibrate", str(path), "--to", str(mine / "calibrated.toml"))[0] == 0
    (imported,) = (each for each in mine.glob("*.toml") if each.stem != "calibrated")
    for scenario in (imported, mine / "calibrated.toml"):
        status, out, _ = callboard("backtest", str(scenario), "--policy", right, "--json")
        (found,) = json.loads(out)
        assert (status, found["median_error"] < 0.02) == (0, True)


def test_what_was_guessed_of_a_history_is_told(callboard: Run, tmp_path: Path) -> None:
    """Job 2 of this log does not say how long it waited."""
    status, out, _ = callboard("backtest", str(written(tmp_path, SWF, "a.swf")), "--policy", "fifo")
    assert status == 0
    assert "note: guessed on reading: 1 job of unknown wait" in out


def test_an_initialisation_is_played_exported_and_predicted(callboard: Run, tmp_path: Path) -> None:
    """To the millisecond; without it its time is missing, but for a heartbeat that then brings the
    setup, and it is named as the cause.
    """
    journal, again = str(tmp_path / "one.journal"), str(tmp_path / "again.history")
    played = ("--policy", "fifo", "--set", "workload.initialisation=4.321", "--journal", journal)
    assert callboard("run", str(written(tmp_path, HADOOP1)), *played)[0] == 0
    assert callboard("export", journal, "--to", again)[0] == 0
    found = []
    for said in ("recorded", "none"):
        changed = ("--set", f'workload.initialisation="{said}"')
        status, out, _ = callboard("backtest", again, "--policy", "fifo", *changed, "--json")
        assert status == 0
        found.append(json.loads(out)[0]["jobs"][0])
    with_it, without = found
    assert with_it["error"] == 0
    assert without["predicted_ms"] < with_it["predicted_ms"]
    assert abs(without["causes"]["initialised"] + 4321) < 3002
    assert set(with_it["causes"].values()) == {0}


def test_columns_stand_apart_however_wrong_a_prediction_is() -> None:
    """3025.6%55352.3%, stood there."""
    rows = [("", "median error", "p95"), ("fair", "3,025.6%", "55,352.3%")]
    head, row = aligned_lines(rows, figures=True)
    assert row.split() == ["fair", "3,025.6%", "55,352.3%"]
    assert len(head) == len(row)


def test_a_what_if_says_how_far_the_unchanged_history_is_off(
    callboard: Run, history: tuple[Path, str]
) -> None:
    """The unchanged history is played for it: within 1 % under the policy that was in force."""
    path, right = history
    asked = ("--policy", "fifo", "--policy", "fair")
    _, out, _ = callboard("run", str(path), "--nodes", "5", *asked)
    assert (
        f"Back-test: on the unchanged history, played once, {right}, the nearest of these, is "
        in out
    )
    (line,) = [line for line in out.splitlines() if line.startswith("Back-test: ")]
    mean, median = (float(each) for each in re.findall(r"([+-]?\d+\.\d)%", line))
    assert abs(mean) < 1
    assert median < 1
    _, same, _ = callboard("run", str(path), *asked)
    assert line in same
    _, seeds, _ = callboard("run", str(path), "--nodes", "5", *asked, "--seeds", "2")
    assert line in seeds, "that of the scenario's own seed"
    _, other, _ = callboard("run", "two-jobs")
    assert "Back-test" not in other


@pytest.mark.soak
def test_a_sweep_of_a_history_says_how_far_it_is_off(
    callboard: Run, history: tuple[Path, str], tmp_path: Path
) -> None:
    """So do its store, whenever it is shown, and a report of it, beside what was found."""
    path, right = history
    store, page = str(tmp_path / "s.sqlite"), tmp_path / "s.html"
    asked = ("--policy", "fifo", "--policy", "fair")
    _, run, _ = callboard("run", str(path), *asked)
    (line,) = [line for line in run.splitlines() if line.startswith("Back-test: ")]
    assert f"unchanged history, played once, {right}, " in line
    _, out, _ = callboard("sweep", str(path), *asked, "--set", "cluster.nodes=5", "--store", store)
    assert line in out.splitlines()
    _, shown, _ = callboard("sweep", "--show", "--store", store)
    assert line in shown.splitlines()
    callboard("report", store, "--to", str(page))
    lead = page.read_text(encoding="utf-8").partition('class="lead">')[2].partition("</p>")[0]
    assert line in lead


def test_a_scheduler_that_was_set_is_set_so_for_the_back_test_too(
    callboard: Run, history: tuple[Path, str], tmp_path: Path
) -> None:
    """A sweep told of the error in queues that nobody had asked about, and `run` of its own."""
    path, _ = history
    queues = "parts.capacity.queues={default={user_limit_factor=0.4}}"
    asked = (str(path), "--policy", "capacity", "--set", queues)
    store = ("--store", str(tmp_path / "s.sqlite"))
    (as_it_was,), (smaller,), (swept,), (other,) = (
        [line for line in callboard(*each)[1].splitlines() if line.startswith("Back-test: ")]
        for each in (
            ("run", *asked),
            ("run", *asked, "--nodes", "5"),
            ("sweep", *asked, "--set", "cluster.nodes=5", *store),
            ("run", str(path), "--policy", "capacity", "--nodes", "5"),
        )
    )
    assert "unchanged history, played once with the scheduler set as here, capacity " in as_it_was
    assert as_it_was == smaller == swept
    assert "set as here" not in other
    assert re.findall(r"[+-]?\d+\.\d%", other) != re.findall(r"[+-]?\d+\.\d%", swept)


def test_of_a_journal_it_is_told_how_it_becomes_a_history(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`calibrate` took it for no text, and `backtest` for no history."""
    monkeypatch.chdir(tmp_path)
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", "my run.journal")[0] == 0
    for command in (("calibrate",), ("import", "--to", "x"), ("backtest", "--policy", "fifo")):
        status, _, err = callboard(*command, "my run.journal")
        assert status == 2
        assert "`callboard export 'my run.journal' --to 'my run.history'` writes the history" in err
    assert callboard("export", "my run.journal", "--to", "my run.history")[0] == 0
    assert callboard("run", "my run.history", "--policy", "fifo", "--journal", "a.journal")[0] == 0
    assert callboard("backtest", "a.journal", "--policy", "fifo")[0] == 0


def test_a_journal_that_is_called_a_history_is_exported_to_another_name(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`callboard export foo.history --to foo.history` was the remedy, and was refused."""
    monkeypatch.chdir(tmp_path)
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", "foo.history")[0] == 0
    status, _, err = callboard("backtest", "--policy", "fifo", "foo.history")
    assert status == 2
    assert "`callboard export foo.history --to foo-2.history` writes the history" in err
    assert callboard("export", "foo.history", "--to", "foo-2.history")[0] == 0


@pytest.mark.parametrize("entries", [CRASH, TRACE + CRASH, TRACE])
def test_what_is_scripted_does_not_happen_to_the_unchanged_history(
    callboard: Run, history: tuple[Path, str], tmp_path: Path, entries: str
) -> None:
    """A crash that was asked about stood as an error of 5.8 % of the simulator; and `--no-faults`
    was the remedy also where it leaves out the recorded outages, which did happen.
    """
    path, right = history
    (tmp_path / "down.csv").write_text("10,node-2,down\n40,node-2,up\n", encoding="utf-8")
    to = tmp_path / "cal.toml"
    assert callboard("calibrate", str(path), "--to", str(to))[0] == 0
    to.write_text(to.read_text("utf-8") + entries, encoding="utf-8")
    played = ("--policy", right)
    lines = [
        line
        for asked in (("run",), ("sweep", "--store", str(tmp_path / "s.sqlite")))
        for line in callboard(asked[0], str(to), *played, *asked[1:])[1].splitlines()
        if line.startswith("Back-test: ")
    ]
    assert lines[0] == lines[1]
    assert ("and with its recorded outages" in lines[0]) == (TRACE in entries)
    assert ("and without what is scripted" in lines[0]) == (CRASH in entries)
    assert ("0.0% off in the mean" in lines[0]) == (entries == CRASH)
    _, table, _ = callboard("backtest", str(to), *played)
    assert ("scripts is played too (crash)" in table) == (CRASH in entries)
    said = " ".join(table.split())
    assert ("--no-faults plays the history without it" in said) == (entries == CRASH)
    assert ("Take it out of the file" in said) == (entries == TRACE + CRASH)


def test_what_is_off_beyond_measure_is_told_in_words(callboard: Run, tmp_path: Path) -> None:
    """3585090.1%, stood there.  Forty jobs of a second each on one processor, of which the log says
    that none had to wait.
    """
    rows = (f"{job} 0 0 1 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1" for job in range(1, 41))
    path = written(tmp_path, "\n".join(["; MaxProcs: 1", *rows]), "far.swf")
    _, out, _ = callboard("run", str(path), "--policy", "fifo")
    (line,) = [line for line in out.splitlines() if line.startswith("Back-test: ")]
    assert "half of the jobs are over tenfold off. What is predicted" in line
    _, table, _ = callboard("backtest", str(path), "--policy", "fifo")
    assert "over tenfold" in table
    assert not re.search(r"\d{4,}(\.\d)?%|\d,\d+(\.\d)?%", table)


@pytest.mark.parametrize("limit", ["REPLAYED_TASKS_MAX", "REPLAYED_MESSAGES_MAX"])
def test_a_history_that_would_take_long_is_not_played_again_for_it(
    callboard: Run, history: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """For its tasks, or for its heartbeats: a queue with next to nothing held fifty jobs on 1,680
    nodes for four hours, which took minutes after a table that was made in seconds.
    """
    monkeypatch.setattr(backtest_sentences, limit, 10)
    asked = ("run", str(history[0]), "--nodes", "5", "--policy", "fifo", "--engine", "actors")
    _, out, _ = callboard(*asked)
    assert f"How far it is off: callboard backtest {history[0]} --policy fifo\n" in out
    assert "Back-test: " not in out


def test_a_history_of_many_silent_nodes_does_not_take_long(
    callboard: Run, history: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its tasks need was taken for what its nodes send, three times as many, and a run of a
    second was left out: of 2,163 messages here 7,210 were expected.
    """
    monkeypatch.setattr(backtest_sentences, "REPLAYED_MESSAGES_MAX", 5_000)
    asked = ("run", str(history[0]), "--nodes", "3", "--policy", "fifo", "--engine", "actors")
    assert "Back-test: " in callboard(*asked)[1]


def test_a_run_that_is_cut_short_has_the_back_test_of_the_whole(
    callboard: Run, history: tuple[Path, str]
) -> None:
    """Of what ended in five minutes it was 0.0% off, under a policy that was not the right one."""
    asked = ("run", str(history[0]), "--policy", "fifo")
    whole, cut = callboard(*asked)[1], callboard(*asked, "--until", "2:00")[1]
    lines = [[line for line in out.splitlines() if "Back-test: " in line] for out in (whole, cut)]
    assert lines[0] == lines[1]
    assert lines[0]


def test_a_back_test_that_proves_long_is_given_up(
    callboard: Run, history: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a run that is cut short nobody can tell: under `yarn`, and with a queue of nothing, one of
    two minutes had a back-test of nine and more.  What is to be asked instead has the same queues.
    """
    monkeypatch.setattr(backtest_sentences, "REPLAYED_MESSAGES_MAX", 400)
    stated = xml({f"{MINE}default.capacity": "100"})
    queues = str(written(history[0].parent, stated, "capacity-scheduler.xml"))
    asked = ("run", str(history[0]), "--policy", "capacity", "--allocations", queues)
    _, out, _ = callboard(*asked, "--until", "1:00", "--set", "parts.late.cap=0.2")
    told = f"--policy capacity --allocations {queues} --set parts.late.cap=0.2"
    assert "Under capacity the unchanged history takes long. How far it is off: " in out
    assert f"callboard backtest {history[0]} {told}\n" in out


def test_queues_of_memory_have_nodes_with_memory_in_the_back_test_too(
    callboard: Run, history: tuple[Path, str]
) -> None:
    """The table was there, and then it was refused for what had just been given."""
    path = history[0].parent / "fair-scheduler.xml"
    least = "<minResources>1024 mb, 1 vcores</minResources>"
    path.write_text(f'<allocations><queue name="default">{least}</queue></allocations>')
    asked = ("run", str(history[0]), "--policy", "yarn", "--allocations", str(path))
    capacity = ("--set", "cluster.capacity={memory=8192,vcores=8}")
    status, out, _ = callboard(*asked, *capacity, "--nodes", "9")
    assert status == 0
    assert "Back-test: on the unchanged history, played once with the scheduler" in out
    status, _, err = callboard(*asked)
    assert status == 2
    assert "`cluster.capacity={memory=…}` says how much each has" in err


def test_jobs_that_are_left_out_are_no_error_of_what_is_predicted(
    callboard: Run, history: tuple[Path, str]
) -> None:
    """Of ten jobs alone the back-test was 65 % off, which the thirty others had held up."""
    path, right = str(history[0]), history[1]
    _, out, _ = callboard("run", path, "--jobs", "2", "--policy", right)
    _, whole, _ = callboard("run", path, "--policy", right)
    (line,) = [line for line in out.splitlines() if line.startswith("Back-test: ")]
    assert line in whole.splitlines()
    note = "note: only the first 2 of "
    assert note in callboard("backtest", path, "--jobs", "2", "--policy", right)[1]
    assert note not in callboard("backtest", path, "--policy", right)[1]


def test_ctrl_c_leaves_out_the_back_test_and_nothing_else(
    callboard: Run, history: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of it was taken for the whole."""
    monkeypatch.setattr(backtest_sentences, "play", lambda *_: PlayedTasks({}, interrupted=True))
    status, out, _ = callboard("run", str(history[0]), "--nodes", "5", "--policy", "fifo")
    assert status == 0
    assert " response time, mean" in out
    assert "The back-test was stopped. How far it is off: callboard backtest" in out


def test_a_file_without_hosts_tells_the_causes_too(callboard: Run, tmp_path: Path) -> None:
    """It was said not to tell when its tasks ran, of which it tells start and end."""
    status, out, _ = callboard("backtest", str(written(tmp_path, SWF)), "--policy", "fifo")
    assert status == 0
    assert "of the mean, by cause" in out
    assert "the file does not tell when its tasks ran" not in out
