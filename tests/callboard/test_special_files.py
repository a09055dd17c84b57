"""Named pipes and other files that are none: told at once, never waited for."""

import os
from pathlib import Path

import pytest

from callboard.journal.follow import Follower
from callboard.journal.format import JournalError
from callboard.journal.writer import JournalWriter
from tests.callboard.conftest import Run
from tests.journal.stories import STORY

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")

COMMANDS = [
    ("run", "{pipe}"),
    ("run", "{pipe}.toml"),
    ("run", "{pipe}.tsv"),
    ("run", "two-jobs", "--policy", "{pipe}.py:Mine"),
    ("run", "two-jobs", "--policy", "fifo", "--journal", "{pipe}"),
    ("check", "{pipe}.py:Mine"),
    ("hunt", "{pipe}.py:Mine", "--against", "fifo"),
    ("show", "{pipe}"),
    ("explain", "{pipe}", "0"),
    ("diff", "{pipe}", "{pipe}"),
    ("export", "{pipe}", "--to", "x.csv"),
    ("export", "{journal}", "--format", "csv", "--to", "{pipe}"),
    ("ideal", "{pipe}"),
]


@pytest.fixture
def names(tmp_path: Path) -> dict[str, str]:
    """A named pipe, under several names, and a journal."""
    for name in ("pipe", "pipe.toml", "pipe.tsv", "pipe.py"):
        os.mkfifo(tmp_path / name)
    with JournalWriter(tmp_path / "a.journal") as sink:
        for event in STORY:
            sink(event)
    return {"pipe": str(tmp_path / "pipe"), "journal": str(tmp_path / "a.journal")}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_named_pipe_is_refused_at_once(
    callboard: Run, names: dict[str, str], command: tuple[str, ...]
) -> None:
    status, out, err = callboard(*(word.format(**names) for word in command))
    assert (status, out) == (2, "")
    assert "named pipe" in err
    assert err.count("\n") == 1


def test_a_follower_does_not_wait_for_one(names: dict[str, str]) -> None:
    with pytest.raises(JournalError, match="this is a named pipe"):
        Follower(names["pipe"]).take_events()


def test_a_pipe_that_is_read_takes_an_export(callboard: Run, names: dict[str, str]) -> None:
    reader = os.open(names["pipe"], os.O_RDONLY | os.O_NONBLOCK)
    assert callboard("export", names["journal"], "--format", "csv", "--to", names["pipe"])[0] == 0
    assert os.read(reader, 1 << 16).startswith(b"attempt,job,")
    os.close(reader)


def test_devices_are_no_scenarios_and_dev_null_takes_a_journal(callboard: Run) -> None:
    status, _, err = callboard("run", "/dev/zero")
    assert (status, err) == (2, "callboard: /dev/zero: this is a device; name a regular file\n")
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", "/dev/null")[0] == 0
