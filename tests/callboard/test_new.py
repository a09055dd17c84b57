"""`callboard new`: what it writes runs and is clean, and nothing is ever overwritten."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.callboard.conftest import Run
from tests.callboard.support import ROOT
from tests.support.soak import one_in


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("file", "ref"),
    one_in(
        3,
        [
            ("mine.py", "./mine.py:Mine"),
            ("my_own-order.py", "./my_own-order.py:MyOwnOrder"),
            ("24.py", "./24.py:MyOrder"),
            ("a folder/größer.py", "a folder/größer.py:GrEr"),
        ],
    ),
)
def test_what_is_written_runs_and_keeps_what_it_guarantees(
    callboard: Run, file: str, ref: str
) -> None:
    Path("a folder").mkdir()
    status, out, _ = callboard("new", "policy", file)
    assert status == 0
    assert f"--policy {ref!r} " in out or f"--policy {ref} " in out
    assert callboard("run", "two-jobs", "--policy", ref, "--check")[0] == 0
    status, out, _ = callboard("check", ref, "--max-examples", "6")
    assert status == 0
    assert "no guarantee failed" in out
    _, out, _ = callboard("policies", ref)
    assert f"\ncallboard check {shlex.quote(ref)}\n" in out  # a line of its own, to be copied


@pytest.mark.parametrize("file", ["none.py", "true.py", "false.py"])
def test_a_file_called_as_a_word_of_python_holds_a_class_all_the_same(
    callboard: Run, file: str
) -> None:
    """`class None(KeyedOrder)` cannot be imported."""
    assert callboard("new", "policy", file)[0] == 0
    assert callboard("policies", f"./{file}:MyOrder")[0] == 0


def test_its_parent_folder_may_be_missing_and_a_file_is_never_overwritten(callboard: Run) -> None:
    Path("mine.py").write_text("precious")
    status, _, err = callboard("new", "policy", "mine.py")
    assert status == 2
    assert "mine.py: there is such a file" in err
    assert Path("mine.py").read_text() == "precious"
    assert callboard("new", "policy", "mine/own.py")[0] == 0
    assert Path("mine/own.py").is_file()
    status, _, err = callboard("new", "policy", "mine.py/own.py")
    assert status == 2
    assert "mine.py is a file, and no folder" in err
    status, _, err = callboard("new", "policy", "..")
    assert status == 2
    assert "this is a folder; name a file in it" in err


@pytest.mark.parametrize("file", ["mine.txt", "mine(1).py", "mine"])
def test_a_name_that_no_policy_could_have_is_refused(callboard: Run, file: str) -> None:
    status, _, err = callboard("new", "policy", file)
    assert status == 2
    assert "expected a name that ends in .py" in err
    assert not Path("mine.txt").exists()


def test_what_is_written_is_typed_and_tidy(callboard: Run) -> None:
    callboard("new", "policy", "mine.py")
    text = Path("mine.py").read_text()
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--config", f"{ROOT}/pyproject.toml", "-"]
        done = subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8", check=False, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
