"""`callboard run` as a user meets it: the table, the JSON, journals, limits, Ctrl-C, bad input."""

import json
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from callboard.actors.central.central import Central
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import RunEnded, RunStarted
from callboard.cli import run_command_line
from callboard.experiments.run import stopwatch
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import DriverName, run_simulation
from callboard.journal.reader import Journal
from callboard.scenarios import scenario_file
from callboard.scheduler.facts import JobArrived
from callboard.scheduler.registry.parts import make_policy
from callboard.tables.policy_table import policy_headings
from tests.callboard.conftest import Run
from tests.support.view import FakeCluster, FakeJob, FakeNode, heartbeat

CONTRACT: dict[str, tuple[str, ...]] = {
    "jobs": ("submitted", "completed", "failed", "killed"),
    "tasks": ("maps", "reduces"),
    "attempts": ("launched", "succeeded", "failed", "killed"),
    "response_seconds": ("mean", "median", "p95", "p99", "max"),
    "locality": ("node", "rack", "off_rack"),
    "slot_seconds": ("useful", "wasted", "idle"),
}
"""The keys that other programs may rely on (the JSON contract)."""

SCALARS = ("scenario", "policy", "seed", "digest", "virtual_seconds", "wall_seconds", "messages")


def test_two_policies_make_one_table(callboard: Run) -> None:
    status, out, err = callboard("run", "two-jobs")
    assert (status, err) == (0, "")
    assert "2 jobs (14 maps, 1 reduce) on 4 nodes (4 map slots, 4 reduce slots), seed 1" in out
    assert ["fifo", "fair"] in [line.split() for line in out.splitlines()]
    (mean,) = [line.split() for line in out.splitlines() if "response time, mean" in line]
    assert mean[-4:] == ["184", "s", "129", "s"]


def test_a_table_ends_with_what_was_found_and_keeps_messages_and_digests_for_verbose(
    callboard: Run,
) -> None:
    _, out, _ = callboard("run", "two-jobs")
    found = "Under fair a job took 129 s on average, 30% less than under fifo (184 s). This is one"
    assert out.rstrip().splitlines()[-1].startswith(found)
    internals = ("messages", "ties among them", "fifo: digest ", "fair: digest ")
    assert not any(word in out for word in internals)
    _, out, _ = callboard("run", "two-jobs", "--verbose")
    assert all(word in out for word in internals)
    _, out, _ = callboard("run", "two-jobs", "--seeds", "2", "--verbose")
    assert "messages" in out


def test_json_is_a_list_with_the_contracts_keys_one_object_a_run(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs", "--policy", "fair", "--json")
    (one,) = json.loads(out)
    _, out, _ = callboard("run", "two-jobs", "--json")
    several = json.loads(out)
    assert [each["policy"] for each in several] == ["fifo", "fair"]
    for run in (one, *several):
        assert all(key in run for key in (*SCALARS, "ties"))
        for key, parts in CONTRACT.items():
            assert set(parts) <= run[key].keys()
    assert one["digest"] == several[1]["digest"]


def test_shortcuts_and_set_change_the_scenario(callboard: Run) -> None:
    changes = ("--nodes", "3", "--racks", "1", "--map-slots", "2", "--reduce-slots", "1")
    _, out, _ = callboard(
        "run", "two-jobs", *changes, "--jobs", "1", "--seed", "9", "--set", "tasks.sigma=0.5"
    )
    assert "1 job (" in out
    assert "3 nodes (6 map slots, 3 reduce slots), seed 9" in out


def test_until_ends_the_run_and_says_so(callboard: Run) -> None:
    status, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--until", "0:30")
    assert status == 0
    assert "stopped by --until" in out
    _, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--until", "30", "--json")
    (run,) = json.loads(out)
    assert (run["reason"], run["virtual_seconds"], run["jobs"]["unfinished"]) == ("until", 30.0, 2)
    time = run["slot_ms"]["all"]
    assert time["unfinished"] > 0
    assert sum(time[k] for k in ("useful", "wasted", "idle", "unfinished")) == time["total"]


def test_tie_order_and_host_are_seen_in_the_digest_or_not(callboard: Run) -> None:
    def digest(*more: str) -> str:
        _, out, _ = callboard("run", "two-jobs", "--policy", "fair", "--json", *more)
        (run,) = json.loads(out)
        assert run["ties"] > 0
        return str(run["digest"])

    assert digest() == digest("--host", "direct")
    assert digest() != digest("--tie-order", "3")


def test_slowdown_compares_each_job_with_itself_alone(callboard: Run) -> None:
    """Under FIFO the first job of two has the cluster to itself: the least slowdown is about 1."""
    _, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--slowdown", "--json")
    (run,) = json.loads(out)
    assert run["slowdown"]["max"] > 3
    _, out, _ = callboard("run", "two-jobs", "--jobs", "1", "--slowdown", "--json")
    for run in json.loads(out):
        assert run["slowdown"]["mean"] == pytest.approx(1, abs=0.05)


def test_a_journal_is_recorded_shown_and_compared(callboard: Run, tmp_path: Path) -> None:
    journal = tmp_path / "two.journal"
    status, _, err = callboard("run", "two-jobs", "--journal", str(journal))
    fifo, fair = tmp_path / "two-fifo.journal", tmp_path / "two-fair.journal"
    assert status == 0
    assert all(str(path) in err for path in (fifo, fair))
    status, out, _ = callboard("show", str(fair), "--job", "1", "--limit", "3")
    assert status == 0
    assert "job-1" in out.splitlines()[0]
    assert callboard("diff", str(fair), str(fair))[0] == 0
    status, out, _ = callboard("diff", str(fifo), str(fair))
    assert status == 1
    assert "policy" in out


def test_all_heartbeats_or_needed_ones_is_no_divergence(callboard: Run, tmp_path: Path) -> None:
    paths = {send: tmp_path / f"{send}.journal" for send in ("all", "needed")}
    for send, path in paths.items():
        setting = f"cluster.heartbeat.send={send}"
        callboard("run", "two-jobs", "--policy", "fair", "--set", setting, "--journal", str(path))
    assert callboard("diff", str(paths["all"]), str(paths["needed"]))[0] == 0


def test_a_trace_runs_directly(callboard: Run, tmp_path: Path) -> None:
    trace = tmp_path / "small.tsv"
    trace.write_text("job0\t5\t5\t600000000\t2000000000\t1000\njob1\t9\t4\t10\t0\t10\n")
    status, out, _ = callboard("run", str(trace), "--nodes", "10", "--policy", "fair")
    assert status == 0
    assert "2 jobs (6 maps, 2 reduces) on 10 nodes" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "nosuch"), "nosuch"),
        (("run", "no/such.toml"), "no/such.toml"),
        (("run", "two-jobs", "--policy", "fiar"), "did you mean `fair`"),
        (("run", "two-jobs", "--policy", "fair+delay(nod=5)"), "did you mean `node`"),
        (("run", "two-jobs", "--policy", "fair+delay(node=5,skips=2)"), "cannot wait by both"),
        (("run", "two-jobs", "--set", 'policies=[{order="fair+delay"}]'), "names 2 parts"),
        (("run", "two-jobs", "--policy", "fair", "--policy", " fair ", "--journal", "j"), "twice"),
        (("explain", "/no/such.journal", "1"), "/no/such.journal"),
        (("run", "two-jobs", "--set", "cluster.nodez=4"), "did you mean"),
        (("run", "two-jobs", "--set", "nonsense"), "key=value"),
        (("run", "two-jobs", "--nodes", "many"), "--nodes: expected a whole number"),
        (
            ("run", "two-jobs", "--nodes", "-9"),
            "--nodes -9 leaves none of 4",
        ),
        (("run", "two-jobs", "--journal", "/dev/null/j"), "/dev/null is a file"),
        (("run", "two-jobs", "two-jobs", "--journal", "j"), "twice"),
        (("run", "two-jobs", "--policy", "fair", "--journal", "/dev/full"), "/dev/full: No space"),
        (("run", "two-jobs", "--journal", ""), "the name is empty"),
        (("run", "two-jobs", "--journal", "."), "--journal .: this is a folder"),
        (("run", "two-jobs", "--policy", "fair", "--journal", "."), "this is a folder"),
        (("run", "two-jobs", "--journal", "/"), "--journal /: this is a folder"),
        (("run", "two-jobs", "--policy", "fair", "--journal", "/"), "this is a folder"),
        (("run", "two-jobs", "--journal", "a\0b"), "NUL"),
        (("run", "two-jobs", "--journal", "/dev/null"), "only one run can be recorded there"),
        (("run", str(Path(__file__).parent)), "this is a folder"),
        (("run", "two-jobs", "--seed", "x"), "--seed: expected a whole number"),
        (("run", "two-jobs", "--jobs", "0"), "--jobs: expected a whole number of at least 1"),
        (("run", "two-jobs", "--racks", "9"), "--racks: 9 racks, but only 4 nodes"),
        (("run", "two-jobs", "--seed", "3", "--set", "seed=x"), "with your settings, seed: "),
        (
            ("run", "two-jobs", "--set", "tasks.sigma=-.3"),
            "--set, tasks.sigma: expected digits on both sides of the point, as in -0.3",
        ),
        (("run", "two-jobs", "--reduce-slots", "0"), "--reduce-slots: no node has a reduce slot"),
        (
            ("run", "two-jobs", "--set", "cluster.reduce_slots=0"),
            "two-jobs.toml with your settings, cluster.reduce",
        ),
        (("show", "/no/such.journal"), "/no/such.journal"),
        (("show", __file__), "not a Callboard journal"),
        (("show", __file__, "--job", "x"), "not a Callboard journal"),
        (("diff", __file__, __file__), "not a Callboard journal"),
    ],
)
def test_bad_input_is_one_message_and_status_2(
    callboard: Run, arguments: tuple[str, ...], said: str
) -> None:
    status, out, err = callboard(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("callboard: ")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [("run", "--until", "x"), ("run", "--host", "y"), ("sing",)])
def test_a_bad_option_is_explained_by_the_parser(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run_command_line(arguments)


def test_until_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("nan", "-1", "1e13", "soon", "9:99", "1:60:00", "1:2:3:4"):
        with pytest.raises(SystemExit, match="2"):
            run_command_line(["run", f"--until={text}"])
        said = capsys.readouterr().err
        wrong = "too late" if text == "1e13" else "no time; try 7:30"
        assert f"--until: {text!r} is {wrong}" in said


def test_two_dashes_are_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    """argparse takes them out, and hands on an empty list as the option's value."""
    with pytest.raises(SystemExit, match="2"):
        run_command_line(["run", "two-jobs", "--policy=--"])
    assert "argument --policy: `--` is no value" in capsys.readouterr().err


def test_scenarios_may_stand_between_and_after_options(
    callboard: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("run", "two-jobs", "--policy", "fifo", "hfsp-test", "--until", "9", "--json")
    runs = json.loads(callboard(*arguments)[1])
    assert [run["scenario"] for run in runs] == ["two-jobs", "hfsp-test"]
    with pytest.raises(SystemExit, match="2"):
        run_command_line([*arguments, "two-jobs", "--polcy", "fair"])
    error = capsys.readouterr().err
    assert error.startswith("usage: callboard run ")
    assert "unrecognized arguments: --polcy fair; did you mean `--policy`?\n" in error
    with pytest.raises(SystemExit, match="2"):
        run_command_line(["completion", "bash", "fair"])


@pytest.mark.parametrize("text", ["[/]", "[bold]hi", "[/bold]", ":smile:", "[link=x]a[/link]"])
def test_markup_in_the_users_text_is_text(callboard: Run, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "[dim]"
    folder.mkdir()
    changes = ("--set", f'name="{text}"', "--set", f'story="{text}"')
    journal = ("--policy", "fair", "--journal", str(folder / "a"))
    status, out, err = callboard("run", "two-jobs", *changes, *journal)
    assert status == 0
    assert out.startswith(f"{text}  {text}\n")
    assert err == f"recorded in {folder / 'a'}\n"


def test_control_characters_of_the_user_do_not_reach_the_terminal(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs", "--set", 'story="\\u001b[2J"')
    assert "\x1b" not in out
    assert "\\x1b[2J" in out


def test_the_table_shows_the_share_of_node_local_maps(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs")
    (line,) = [line.split() for line in out.splitlines() if "data-local maps" in line]
    assert line[-2:] == ["93%", "93%"]


def test_long_policies_leave_the_rows_their_labels(callboard: Run) -> None:
    """The footnotes have what no column has room for; columns that look alike are numbered."""
    pools = "fair(pools={production = {min_maps = 30, min_reduces = 2, weight = 1}})"
    policies = [f"{pools}+kill", f"{pools}+delay(node=5,rack=5)+kill(interval_s=1)"] * 2
    _, out, _ = callboard("run", "two-jobs", *(x for p in policies for x in ("--policy", p)))
    assert " response time, mean " in out
    assert max(map(len, out.split("fair(pools")[0].splitlines())) < 120
    whole = "fair(pools={production = {min_maps = 30, min_reduces = 2}})+kill"
    assert out.splitlines().count(whole) == 2
    assert policy_headings(policies) == [
        "fair(…)+kill #1",
        "fair(…)\n+delay(node=5,rack=5)\n+kill(interval_s=1) #1",
        "fair(…)+kill #2",
        "fair(…)\n+delay(node=5,rack=5)\n+kill(interval_s=1) #2",
    ]
    assert policy_headings(["fair+delay(node=5)"]) == ["fair+delay(node=5)"]


def test_the_stopwatch_counts_launches(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs", "--policy", "fair", "--json")
    (run,) = json.loads(out)
    assert run["scheduling"]["launches"] == run["attempts"]["launched"] == 15
    assert run["scheduling"]["decisions"] >= 15


def test_the_stopwatch_times_learning_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """COSHH solves its programs while it hears facts: part of the paper's scheduling time."""
    reads = iter(range(0, 10**9, 1_000_000))
    monkeypatch.setattr("callboard.experiments.run.stopwatch.perf_counter_ns", lambda: next(reads))
    policy, watch = make_policy("fifo"), stopwatch.Stopwatch()
    watch.begin(Kernel(), Central(policy, make_policy))
    cluster = FakeCluster([FakeNode(0, (1, 0))], [FakeJob(0, [1, 0])])
    for _ in range(3):
        policy.observe(JobArrived(0), cluster)
    assert heartbeat(policy, cluster, cluster.node(0))
    # A launch and a refusal, each asked twice but the last, and five facts, a millisecond each.
    assert watch.scheduling.decisions == 3
    assert watch.scheduling.us_per_decision == 1000
    assert watch.scheduling.seconds == pytest.approx(0.001 * (3 + 3 + 2))


def test_lists_in_a_pipe_are_one_plain_line_an_item(callboard: Run) -> None:
    for command in ("scenarios", "policies"):
        lines = callboard(command)[1].splitlines()
        assert all(line == line.strip() and "  " in line for line in lines)
    assert callboard("policies")[1].split()[:3] == ["order", "fifo", "first"]


def test_on_a_terminal_long_text_is_wrapped_at_words(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "dumb")
    words = " ".join(["seven77"] * 20)
    _, out, _ = callboard("run", "two-jobs", "--set", f'story="{words}"')
    lines = [line for line in out.splitlines() if "seven77" in line]
    assert len(lines) > 2
    assert all(line.rstrip().endswith("seven77") for line in lines), lines


def test_the_list_of_scenarios_has_a_line_for_each_at_80_columns(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    lines = [line.strip() for line in callboard("scenarios")[1].splitlines() if line.strip()]
    assert [line.split()[0] for line in lines] == [
        name for name, _, _ in scenario_file.library_scenarios()
    ]
    assert all(line.endswith((".", "?")) for line in lines)


def test_help_and_lists(callboard: Run) -> None:
    assert "facebook-morning" in callboard("scenarios")[1]
    assert "first come, first served" in callboard("policies")[1]
    assert "commands" in callboard()[1]


class CtrlC(Onlooker):
    """Somebody who presses Ctrl-C at the first look."""

    def on_progress(self, kernel: Kernel) -> None:
        assert kernel.reason is None
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("driver", ["trio", "direct"])
def test_ctrl_c_ends_the_run_in_good_order(tmp_path: Path, driver: DriverName) -> None:
    spec = msgspec.structs.replace(load_run("hfsp-test"), policy="fair")
    journal = tmp_path / "cut.journal"
    before = signal.getsignal(signal.SIGINT)
    result = run_simulation(spec, driver=driver, journal=journal, watcher=CtrlC())
    assert result.interrupted
    assert signal.getsignal(signal.SIGINT) is before
    events = list(Journal(journal))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].reason == "interrupted"
    assert result.summary.jobs.unfinished > 0


def test_the_python_call_is_the_same_run() -> None:
    import callboard

    result = callboard.run("two-jobs", policy="fair")
    assert result.as_json()["digest"] == result.summary.digest
    assert result.summary.policy == "fair"
    assert result.summary.jobs.completed == 2


def test_a_policy_that_the_scenario_misspells_is_told_with_its_place(
    callboard: Run, tmp_path: Path
) -> None:
    path = tmp_path / "it.toml"
    jobs = '[workload]\nkind = "jobs"\njob = [{maps = 1, map_s = 1}]\n'
    path.write_text(f'name = "it"\npolicies = ["fair", "fiar"]\n{jobs}')
    where = f"{path}, line 2, policies[1]: unknown policy `fiar`; did you mean `fair`?"
    for words in (("run",), ("run", "--seeds", "2"), ("sweep", "--store", str(tmp_path / "s"))):
        status, _, err = callboard(*words, str(path))
        assert status == 2
        assert where in err
        assert callboard(*words, str(path), "--policy", "fair")[0] == 0


def test_a_scenario_sets_up_parts_for_every_policy(callboard: Run, tmp_path: Path) -> None:
    """Also for one that the command line names, and for one that the timeline puts in force."""

    def mean(*more: str) -> float:
        _, out, _ = callboard("run", "two-jobs", "--json", *more)
        return float(json.loads(out)[0]["response_seconds"]["mean"])

    spelled, parts = "fair(max_jobs_per_user=1)", "parts.fair.max_jobs_per_user=1"
    journal = tmp_path / "run.journal"
    one = mean("--policy", "fair", "--set", parts, "--journal", str(journal))
    assert one == mean("--policy", spelled) != mean("--policy", "fair")
    started = next(iter(Journal(journal)))
    assert isinstance(started, RunStarted)
    assert (started.policy, started.scenario["parts"]) == (
        "fair",
        {"fair": {"max_jobs_per_user": 1}},
    )
    switch = 'timeline=[{what="policy",policy="%s",at_s=1}]'
    switched = mean("--policy", "fifo", "--set", parts, "--set", switch % "fair")
    assert switched == mean("--policy", "fifo", "--set", switch % spelled)
    assert switched != mean("--policy", "fifo", "--set", switch % "fair")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("parts.fare={}", "parts.fare: unknown policy part `fare`; did you mean `fair`?"),
        (
            "parts.fair.pool_bi=1",
            "parts.fair: `fair` has no parameter `pool_bi`; did you mean `pool_by`?",
        ),
        ("parts.fair=3", "parts.fair: expected a table, got 3"),
    ],
)
def test_parts_that_cannot_be_set_up_are_refused(callboard: Run, said: str, told: str) -> None:
    status, _, err = callboard("run", "two-jobs", "--set", said)
    assert status == 2
    assert told in err
