"""`callboard replay` of a journal that another process still writes."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from callboard.journal.follow import Follower
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.writer import JournalWriter
from tests.callboard.support import environment
from tests.journal.replay.support import outage
from tests.tui.support import Screen, drive
from tests.tui.test_terminal import terminal

pytestmark = pytest.mark.soak


def followed(path: Path) -> RecordedSource:
    source = RecordedSource(Follower(path))
    source.read_on()
    return source


def test_a_growing_journal_is_read_on_and_ends_as_complete(tmp_path: Path) -> None:
    path, events = tmp_path / "a.journal", outage()
    half = len(events) // 2
    writer = JournalWriter(path)
    for event in events[:half]:
        writer(event)
    writer.flush()

    async def act(screen: Screen) -> None:
        screen.app.read_on()
        assert "still being written" in screen.text()
        await screen.press("end")  # and on with it
        assert screen.frame.index == half
        assert screen.playing()
        for event in events[half:]:
            writer(event)
        writer.flush()
        screen.app.read_on()
        await screen.tick(0.05)
        for _ in range(6):
            await screen.tick(0.05)
        assert screen.frame.index == len(events)
        writer.close()
        screen.app.read_on()
        await screen.until(lambda: bool(screen.said()))
        assert "the journal is complete" in screen.said()[-1]
        assert "still being written" not in screen.text()
        assert screen.frame.complete
        assert screen.app.playback.player.playing is False

    drive(followed(path), act)


def test_a_writer_that_goes_away_leaves_it_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    writer = JournalWriter(path)
    for event in outage()[:500]:
        writer(event)
    writer.flush()

    async def act(screen: Screen) -> None:
        screen.app.read_on()
        await screen.press("end")
        writer.close()
        screen.app.read_on()
        await screen.until(lambda: bool(screen.said()))
        assert "the journal is cut off: its writer is gone" in screen.said()[-1]
        assert "the journal is cut off here" in screen.text()

    drive(followed(path), act)


def test_a_recording_of_a_run_that_was_interrupted_is_not_said_to_have_ended(
    tmp_path: Path,
) -> None:
    path, events = tmp_path / "a.journal", outage()[:500]
    writer = JournalWriter(path)
    for event in events:
        writer(event)
    writer.flush()

    async def act(screen: Screen) -> None:
        screen.app.read_on()
        ended = msgspec.structs.replace(outage()[-1], at_ms=events[-1].at_ms, reason="interrupted")
        writer(ended)
        writer.close()
        screen.app.read_on()
        await screen.until(lambda: bool(screen.said()))
        assert "the journal is complete: the run was interrupted" in screen.said()[-1]

    drive(followed(path), act)


def test_following_waits_for_a_run_that_has_not_begun(tmp_path: Path) -> None:
    """The screen of a run that was left paused at its start writes nothing yet: it was refused."""
    path = tmp_path / "a.journal"
    writer = JournalWriter(path)
    writer.flush()
    with terminal("replay", "--follow", str(path), columns=160, lines=50) as screen:
        screen.until("the run has not begun yet; Ctrl-C ends the waiting")
        for event in outage()[:500]:
            writer(event)
        writer.flush()
        screen.until("still being written")
        screen.press("q")
        assert screen.leave() == 0
    writer.close()


WRITER = """
import sys
from callboard.journal.writer import JournalWriter
from tests.journal.replay.support import outage
events = outage()
with JournalWriter(sys.argv[1]) as writer:
    for at, event in enumerate(events):
        writer(event)
        if at in (500, 2500):
            writer.flush()
            print(at, flush=True)
            sys.stdin.readline()
"""


def test_two_processes_and_a_terminal(tmp_path: Path) -> None:
    """One writes, the other shows what has come, and then the rest."""
    path = tmp_path / "a.journal"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"500\n"
    with terminal("replay", "--follow", str(path), columns=160, lines=50) as screen:
        screen.until("still being written")
        os.write(process.stdin.fileno(), b"\n")
        assert process.stdout.readline() == b"2500\n"
        os.write(process.stdin.fileno(), b"\n")
        assert process.wait() == 0
        screen.until("the run is complete")
        screen.press("q")
        assert screen.leave() == 0
    process.stdin.close()
    process.stdout.close()
