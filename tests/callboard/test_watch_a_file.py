"""`callboard check --watch`: tests again at each save, survives half a file, and Ctrl-C ends it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard import file_watch
from tests.callboard.conftest import Run

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "shortest_queue.py"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(EXAMPLE, "mine.py"))


def pauses(*edits: Callable[[], object]) -> Callable[[float], None]:
    """What happens while nothing is saved: an edit a pause, then Ctrl-C."""
    left = iter(edits)

    def pause(_seconds: float) -> None:
        edit = next(left, None)
        if edit is None:
            raise KeyboardInterrupt
        edit()

    return pause


def test_each_save_is_tested_and_a_file_that_cannot_be_read_is_told_of(
    callboard: Run, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = mine.read_text()
    broken = pauses(
        lambda: mine.write_text(text.replace("class ShortestQueue", "clas ShortestQueue")),
        lambda: mine.write_text(text + "\n"),
    )
    saves = file_watch.file_saves
    monkeypatch.setattr(
        "callboard.commands.check_command.file_saves", lambda files: saves(files, broken)
    )
    words = ("--property", "finishes", "--max-examples", "2", "--watch")
    status, out, err = callboard("check", "./mine.py:ShortestQueue", *words)
    assert status == 0
    assert out.count("no guarantee failed") == 2
    assert out.count("watching mine.py; Ctrl-C ends this") == 3
    assert err.count("callboard: ") == 1
    assert "mine.py, line 21: cannot be imported: SyntaxError" in err


def test_a_file_that_is_away_for_a_moment_counts_when_it_is_back(mine: Path) -> None:
    aside = Path("aside.py")
    edits = (lambda: mine.rename(aside), lambda: None, lambda: shutil.copy(aside, mine))
    saves = file_watch.file_saves([mine], pauses(*edits))
    assert (next(saves), next(saves)) == (0, 1)
    with pytest.raises(KeyboardInterrupt):
        next(saves)


def test_a_counterexample_is_tested_once(callboard: Run) -> None:
    status, _, err = callboard("check", "--replay", "found.toml", "--watch")
    assert status == 2
    assert "--replay FILE tests once" in err


def test_a_policy_without_a_file_cannot_be_watched(callboard: Run) -> None:
    status, _, err = callboard("check", "fair", "--watch")
    assert status == 2
    assert "fair has none; name one, as in `callboard check ./mine.py:Mine --watch`" in err
