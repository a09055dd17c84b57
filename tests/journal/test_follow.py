"""A journal that is read while it is written: all of it, once, in order, and how it stands."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal.follow import Follower, JournalStatus
from callboard.journal.format import HEADER, JournalError
from callboard.journal.lock import is_held
from callboard.journal.reader import Journal
from callboard.journal.writer import JournalWriter
from tests.callboard.support import environment
from tests.journal.stories import STORY
from tests.journal.test_file import many, repeatable, write


def standing(follower: Follower) -> JournalStatus:
    """How it stands by now."""
    return follower.status


@repeatable
@given(cuts=st.lists(st.integers(0, 200_000), max_size=12), count=st.integers(1, 3000))
def test_however_it_grows_each_event_is_told_once(
    tmp_path: Path, cuts: list[int], count: int
) -> None:
    """The file as it stands after each of some bytes: a record cut in two is not there yet."""
    events = [*many(2500), STORY[-1]]
    whole = write(tmp_path / "whole.journal", events)
    path = tmp_path / "growing.journal"
    with path.open("wb") as file:
        held = JournalWriter(path)  # somebody writes it
        file.truncate(0)
        follower, told = Follower(path), list[AnyEvent]()
        for cut in [*sorted(cut for cut in cuts if cut < len(whole)), len(whole)]:
            file.seek(file.tell())
            file.write(whole[file.tell() : cut])
            file.flush()
            while taken := follower.take_events(count):
                told += taken
            assert told == events[: len(told)]
        held._file.close()
    assert told == events
    assert standing(follower) is JournalStatus.COMPLETE


def test_it_is_being_written_as_long_as_its_writer_lives(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    writer = JournalWriter(path)
    follower = Follower(path)
    assert follower.take_events() == []
    for event in STORY[:5]:
        writer(event)
    writer.flush()
    assert follower.take_events() == list(STORY[:5])
    assert follower.take_events() == []
    assert standing(follower) is JournalStatus.WRITING
    for event in STORY[5:]:
        writer(event)
    writer.close()
    assert follower.take_events() == list(STORY[5:])
    assert standing(follower) is JournalStatus.COMPLETE


def test_a_run_that_ends_without_its_last_event_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with JournalWriter(path) as writer:
        for event in STORY[:-1]:
            writer(event)
        writer.flush()
        follower = Follower(path)
        assert len(follower.take_events()) == len(STORY) - 1
        assert standing(follower) is JournalStatus.WRITING
    assert follower.take_events() == []
    assert standing(follower) is JournalStatus.CUT_OFF


KILLED = """
import sys
from callboard.journal.writer import JournalWriter
from tests.journal.stories import STORY
writer = JournalWriter(sys.argv[1])
for event in STORY[:7]:
    writer(event)
writer.flush()
print("written", flush=True)
sys.stdin.read()
"""


def test_a_writer_that_is_killed_writes_no_more(tmp_path: Path) -> None:
    """Another process, and the hardest of ends."""
    path = tmp_path / "a.journal"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"written\n"
    follower = Follower(path)
    assert follower.take_events() == list(STORY[:7])
    assert standing(follower) is JournalStatus.WRITING
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    assert follower.take_events() == []
    assert standing(follower) is JournalStatus.CUT_OFF


@pytest.mark.parametrize("place", [20, 70_000, -20])
def test_damage_is_found(tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.journal"
    content = bytearray(write(path, [*many(2500), STORY[-1]]))
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(JournalError, match="damaged"):
        Follower(path).take_events()


def test_a_seal_must_fit_what_was_told_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with JournalWriter(path) as writer:
        for event in STORY:
            writer(event)
        writer.flush()
        follower = Follower(path)
        told = follower.take_events(3)
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(JournalError, match="do not fit their checksum"):
        follower.take_events()
    assert told == list(STORY[:3])


def test_another_run_in_the_same_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    write(path, STORY[:-1])
    with JournalWriter(path) as first:
        for event in STORY[:9]:
            first(event)
        first.flush()
        follower = Follower(path)
        follower.take_events()
    with JournalWriter(path), pytest.raises(JournalError, match="another run has begun"):
        follower.take_events()


def test_a_second_writer_is_refused_and_the_first_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with JournalWriter(path) as first:
        for event in STORY[:9]:
            first(event)
        first.flush()
        with pytest.raises(OSError, match="another run is being recorded in it") as refused:
            JournalWriter(path)
        assert refused.value.filename == str(path)
        for event in STORY[9:]:
            first(event)
    assert list(Journal(path)) == list(STORY)
    with JournalWriter(path):  # which is free again
        pass
    assert not list(Journal(path))


def test_a_reader_who_looks_is_no_writer(tmp_path: Path) -> None:
    """Whether it is held: asked by any number of readers, and never taken for a writer."""
    path = tmp_path / "a.journal"
    write(path, STORY)
    with path.open("rb") as one, path.open("rb") as other:
        assert not is_held(one)
        assert not is_held(other)
        with JournalWriter(path):
            assert is_held(one)
            assert is_held(other)
        assert not is_held(one)


def test_any_number_of_runs_go_to_devices() -> None:
    with JournalWriter("/dev/null") as one, JournalWriter("/dev/null") as other:
        for event in STORY:
            one(event)
            other(event)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    for content in (b"", HEADER[:4], b"text, and a good deal of it"):
        path = tmp_path / "a.journal"
        path.write_bytes(content)
        with pytest.raises(JournalError, match="not a Callboard journal"):
            Follower(path).take_events()


def test_a_closed_journal_is_read_alike(tmp_path: Path) -> None:
    """Whole or cut anywhere: the same events as `Journal` reads."""
    content = write(tmp_path / "whole.journal", [*many(2500), STORY[-1]])
    path = tmp_path / "cut.journal"
    for length in (len(HEADER), 1000, 65_700, 90_000, len(content) - 1, len(content)):
        path.write_bytes(content[:length])
        journal, follower = Journal(path), Follower(path)
        assert follower.take_events() == list(journal)
        assert (follower.status is JournalStatus.COMPLETE) is journal.complete
