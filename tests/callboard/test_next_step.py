"""A wrong command line is answered with the next thing to type."""

import os
import re
import shutil
from pathlib import Path

import pytest

from callboard import stdio
from callboard.actors.architectures import ARCHITECTURES
from callboard.cli import run_command_line
from callboard.experiments.run.run_loading import chosen_policies, load_run
from callboard.scheduler.registry.shipped import PARTS
from tests.callboard.conftest import Run

TWO_CLASSES = "class Mine:\n    pass\n\n\nclass Other:\n    pass\n"


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("mine.py", "write `mine.py:Mine` or `mine.py:Other`"),
        ("./mine.py+kill", "write `./mine.py:Mine` or `./mine.py:Other`"),
        ("broken.py", "write `broken.py:MyOrder`"),
        ("empty.py", "`empty.py` names a file, and no class in it; it has no class"),
        ("none.py", "none.py: there is no such file, as seen from this folder; go where"),
        ("fair,hfsp", "write `--policy fair --policy hfsp`"),
        ("fiar", "did you mean `fair`?"),
    ],
)
def test_a_policy_that_is_none_yet(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(TWO_CLASSES)
    Path("broken.py").write_text("class Mine(:\n")
    Path("empty.py").write_text("raise SystemExit('this must not run')\n")
    status, out, err = callboard("run", "two-jobs", "--policy", policy)
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "none.toml"), "none.toml: there is no such file; `callboard scenarios` lists"),
        (("show", "none.journal"), "`callboard run SCENARIO --journal FILE` writes a journal"),
        (("diff", "a.journal", "b.journal"), "a.journal: No such file or directory; `callboard"),
    ],
)
def test_a_file_that_is_not_there(callboard: Run, words: tuple[str, ...], says: str) -> None:
    status, _, err = callboard(*words)
    assert status == 2
    assert says in err


def test_runs_that_were_recorded_apart_are_named(callboard: Run, tmp_path: Path) -> None:
    """`--journal two.journal` of two policies is two files, and neither is called that."""
    journal = tmp_path / "two.journal"
    asked = ("run", "two-jobs", "--policy", "fair", "--policy", "fifo", "--journal", str(journal))
    assert callboard(*asked)[0] == 0
    status, _, err = callboard("explain", str(journal))
    assert status == 2
    assert "there are two-fair.journal, two-fifo.journal; or `callboard run" in err


def test_explain_without_a_job_names_the_one_that_took_longest(
    callboard: Run, tmp_path: Path
) -> None:
    journal = tmp_path / "two.journal"
    assert callboard("run", "two-jobs", "--policy", "fair", "--journal", str(journal))[0] == 0
    status, out, err = callboard("explain", str(journal))
    assert (status, out) == (2, "")
    assert f"job-0 “long” took longest (3 min 34 s): `callboard explain {journal} 0`" in err
    status, _, err = callboard("explain", "two-jobs")
    assert status == 2
    assert "`callboard run two-jobs --journal two-jobs.journal` records it" in err


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("rnu", "did you mean `callboard run`?"),
        ("two-jobs", "did you mean `callboard run two-jobs`?"),
        ("README.md", "did you mean `callboard run README.md`?"),
        ("xyzzy", "`callboard help` lists them"),
    ],
)
def test_a_word_that_is_no_command(
    callboard: Run, capsys: pytest.CaptureFixture[str], word: str, says: str
) -> None:
    with pytest.raises(SystemExit) as leaving:
        callboard(word)
    assert leaving.value.code == 2
    assert says in capsys.readouterr().err


def test_a_missing_option_says_what_it_is(
    callboard: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leaving:
        callboard("backtest", "none.jhist")
    assert leaving.value.code == 2
    assert capsys.readouterr().err.endswith(
        "required: --policy\n"
        "  --policy: the policy that was in force, as in `fair`; repeated, all are compared\n"
    )


@pytest.mark.parametrize(
    ("help_words", "option_words"), [(("help",), ("--help",)), (("help", "diff"), ("diff", "-h"))]
)
def test_help_is_a_word_too(
    callboard: Run,
    capsys: pytest.CaptureFixture[str],
    help_words: tuple[str, ...],
    option_words: tuple[str, ...],
) -> None:
    told = []
    for words in (help_words, option_words):
        with pytest.raises(SystemExit) as leaving:
            callboard(*words)
        assert leaving.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] != ""


@pytest.mark.parametrize("command", ["policies", "scenarios"])
def test_lists_stay_aligned_in_a_pipe(callboard: Run, command: str) -> None:
    lines = callboard(command)[1].splitlines()
    width = max(len(line.split("  ", 1)[0]) for line in lines)
    assert len(lines) > 20
    assert all(line[width : width + 2] == "  " and line[width + 2] != " " for line in lines)
    assert not any(line.endswith(" ") for line in lines)


def test_an_empty_no_color_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    stdio.prepare_streams()
    assert "NO_COLOR" not in os.environ
    monkeypatch.setenv("NO_COLOR", "1")
    stdio.prepare_streams()
    assert os.environ["NO_COLOR"] == "1"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("run two-jobs --policy FIFO", "did you mean `fifo`?"),
        ("run two-jobs --polcy fifo", "did you mean `--policy`?"),
        ("run two-jobs --policy fair fifo", "it is a policy: write `--policy fifo`"),
        ("explain two-jobs 1", "`callboard run two-jobs --journal two-jobs.journal` records it"),
        ("sweep two-jobs --store s --varry a=1", "did you mean `--vary`?"),
        ("run two-jobs --seed -20%", "--seed: the scenario has no number to change by -20%"),
    ],
)
def test_what_is_nearly_right_is_told_what_to_type(
    asked: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = run_command_line(asked.split())
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    assert status == 2
    assert words in capsys.readouterr().err


def test_one_scenario_and_one_policy_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["scenarios", "rack-outage"]) == 0
    told = capsys.readouterr().out
    for words in ("A rack loses its power", "40 nodes in 4 racks", "crash rack-2", "--tour"):
        assert words in told
    assert run_command_line(["policies", "fair+delay(node=5)"]) == 0
    told = capsys.readouterr().out
    for words in ("fair (order)", "pool_by = unset", "delay (locality)", "skips = unset"):
        assert words in told
    assert run_command_line(["policies", "fairr"]) == 2
    assert "did you mean `fair`?" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*PARTS, *ARCHITECTURES])
def test_what_a_part_is_shown_beside_makes_a_policy(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`fair+preemptive` was shown, whose jobs share and have no ranks."""
    assert run_command_line(["policies", name]) == 0
    (shown,) = re.findall(r"callboard run --policy '(.+)'", capsys.readouterr().out)
    assert chosen_policies(load_run("two-jobs"), [shown])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("--policy", "fair"), "--policy: the tour tells of fifo and then fair"),
        (("--policy", "fair", "--policy", "fifo"), "--policy: the tour tells of fifo and then"),
        (("--no-faults",), "--no-faults: the tour tells of the scenario as it is"),
        (("--set", "cluster.nodes=9"), "--set: the tour tells of the scenario as it is"),
        (("--seed", "2"), "--seed: the tour tells of the scenario as it is"),
    ],
)
def test_a_tour_is_not_taken_of_another_world(
    callboard: Run, changed: tuple[str, ...], told: str
) -> None:
    """What it says would not be so."""
    status, _, err = callboard("watch", "two-jobs", "--tour", *changed)
    assert status == 2
    assert told in err


def test_the_file_of_a_scenario_can_be_opened_from_here(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the shorter of two ways, of a scenario of the library and of one's own."""
    library = Path(__file__).parents[2] / "scenarios" / "library"
    own = tmp_path / "own.toml"
    shutil.copy(library / "two-jobs.toml", own)
    for folder, asked, wanted in (
        (library.parents[1], "two-jobs", "scenarios/library/two-jobs.toml"),
        (tmp_path, "two-jobs", str(library / "two-jobs.toml")),
        (tmp_path, str(own), "own.toml"),
        (library, str(own), str(own)),
    ):
        monkeypatch.chdir(folder)
        last = callboard("scenarios", asked)[1].splitlines()[-2]
        assert last.startswith("its file: ")
        told = Path(last.removeprefix("its file: "))
        assert told.samefile(wanted)
        assert len(str(told)) <= len(wanted)


@pytest.mark.parametrize(
    ("change", "nodes"),
    [(["-20%"], 80), (["+50%"], 150), (["+4"], 104), (["-4"], 96), (["40"], 40)],
)
def test_more_or_fewer_nodes_by_a_share_or_a_number(
    change: list[str], nodes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """`small-jobs` has 100.  Four more were four."""
    asked = [
        "run",
        "small-jobs",
        "--nodes",
        *change,
        "--jobs",
        "1",
        "--policy",
        "fifo",
        "--no-faults",
    ]
    assert run_command_line(asked) == 0
    assert f" on {nodes} node" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("-100%", "--nodes -100% leaves none of 4"),
        ("-150%", "--nodes -150% leaves none of 4"),
        ("-4", "--nodes -4 leaves none of 4"),
        ("+1.5", "--nodes: expected a whole number, got 1.5"),
        ("120%", "--nodes 120%: a change has a sign, as in +20% or -20%"),
    ],
)
def test_what_is_no_share_of_the_nodes_is_refused(
    change: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["run", "two-jobs", "--nodes", change]) == 2
    assert capsys.readouterr().err == f"callboard: {told}\n"
