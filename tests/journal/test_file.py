"""The file: what is written can be read, a cut is no error, and no damage goes unnoticed."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callboard.actors.vocabulary.events import AnyEvent, JobSubmitted, RunStarted
from callboard.journal.format import (
    CHUNK_BYTES,
    HEADER,
    MAGIC,
    OLDEST_READ,
    RECORD_BYTES_MAX,
    VERSION,
    JournalError,
    record_head,
    seal,
)
from callboard.journal.reader import Journal
from callboard.journal.writer import FLUSH_SECONDS, JournalWriter
from callboard.scheduler.model import Priority
from tests.journal.stories import STORY
from tests.journal.strategies import any_event

repeatable = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def write(path: Path, events: list[AnyEvent] | tuple[AnyEvent, ...]) -> bytes:
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)
    return path.read_bytes()


def readable(path: Path) -> tuple[list[AnyEvent], JournalError | None, bool]:
    """The events up to the end or the damage, the damage, and whether the file was cut."""
    journal, events = Journal(path), []
    try:
        for event in journal:
            events.append(event)
    except JournalError as error:
        return events, error, journal.truncated
    return events, None, journal.truncated


def many(count: int) -> list[AnyEvent]:
    """Enough events for several chunks."""
    return [JobSubmitted(n, n, "x" * (n % 50), "u", "", Priority.LOW, n, 0) for n in range(count)]


class Hand:
    """A clock that stands still unless moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@repeatable
@given(st.lists(any_event, max_size=20))
def test_write_read_write_gives_the_same_events_and_bytes(
    tmp_path: Path, events: list[AnyEvent]
) -> None:
    first = write(tmp_path / "a.journal", events)
    again = list(Journal(tmp_path / "a.journal"))
    assert again == events
    assert write(tmp_path / "b.journal", again) == first


def test_a_complete_journal_says_so_and_can_be_read_twice(tmp_path: Path) -> None:
    write(tmp_path / "run.journal", STORY)
    journal = Journal(tmp_path / "run.journal")
    assert tuple(journal) == STORY
    assert tuple(journal) == STORY
    assert journal.complete
    assert not journal.truncated


def test_the_bytes_do_not_depend_on_when_they_were_flushed(tmp_path: Path) -> None:
    """Seals stand where the events put them, so a slow run's journal equals a fast one's."""
    events = many(4000)
    fast = write(tmp_path / "fast.journal", events)
    hand = Hand()
    with JournalWriter(tmp_path / "slow.journal", clock=hand) as sink:
        for event in events:
            hand.now += 0.3
            sink(event)
    assert len(fast) > 2 * CHUNK_BYTES
    assert (tmp_path / "slow.journal").read_bytes() == fast


def test_scenario_tables_keep_their_order(tmp_path: Path) -> None:
    """Of equal queues the first is served first: in the order of names it was another run."""
    started = RunStarted(0, "1", "s", "p", 1, {"b": {"d": 3, "c": 2}, "a": 1}, ())
    write(tmp_path / "a.journal", [started])
    (read,) = Journal(tmp_path / "a.journal")
    assert isinstance(read, RunStarted)
    assert str(read.scenario) == "{'b': {'d': 3, 'c': 2}, 'a': 1}"


def test_events_reach_the_file_within_a_second_of_the_next_event(tmp_path: Path) -> None:
    hand, path = Hand(), tmp_path / "run.journal"
    with JournalWriter(path, clock=hand) as sink:
        sink(STORY[0])
        assert list(Journal(path)) == []
        hand.now += FLUSH_SECONDS
        sink(STORY[1])
        assert tuple(Journal(path)) == STORY[:2]
        sink(STORY[2])
        sink.flush()
        assert tuple(Journal(path)) == STORY[:3]


def test_a_full_chunk_reaches_the_file_at_once(tmp_path: Path) -> None:
    hand, path = Hand(), tmp_path / "run.journal"
    with JournalWriter(path, clock=hand) as sink:
        for event in many(4000):
            sink(event)
        held_back = sink._chunk
        assert len(held_back) < CHUNK_BYTES
        assert path.stat().st_size > 2 * CHUNK_BYTES


def test_many_events_at_once_are_recorded_as_one_by_one(tmp_path: Path) -> None:
    """And named alike: the digest is of what is recorded, sealed or not."""
    events, digests = STORY * 1200, []  # of several chunks
    for name, step in (("one", 1), ("some", 7), ("all", len(events))):
        with JournalWriter(tmp_path / name, hashed=True) as sink:
            for first in range(0, len(events), step):
                part = events[first : first + step]
                sink(part[0]) if step == 1 else sink.record(part)
            digests.append(sink.digest())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "some").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "all").read_bytes()
    assert digests[0] == digests[1] == digests[2]


def test_cut_at_every_byte_the_prefix_is_readable(tmp_path: Path) -> None:
    """A killed run: whole records survive, the unfinished one is lost, nothing is an error."""
    path = tmp_path / "run.journal"
    whole = write(path, STORY)
    counts = []
    for size in range(len(HEADER), len(whole) + 1):
        path.write_bytes(whole[:size])
        events, error, truncated = readable(path)
        assert error is None
        assert tuple(events) == STORY[: len(events)]
        assert truncated == (size not in (len(HEADER), len(whole)))
        counts.append(len(events))
    assert counts == sorted(counts)
    assert set(counts) == set(range(len(STORY) + 1))


def test_a_cut_between_chunks_keeps_the_chunks_before(tmp_path: Path) -> None:
    path, events = tmp_path / "run.journal", many(4000)
    whole = write(path, events)
    path.write_bytes(whole[: len(whole) - len(whole) // 3])
    prefix, error, truncated = readable(path)
    assert error is None
    assert truncated
    assert 1000 < len(prefix) < 4000
    assert prefix == events[: len(prefix)]


def test_no_changed_byte_goes_unnoticed(tmp_path: Path) -> None:
    """Any one byte changed, anywhere in a closed journal: an error that names file and place."""
    path = tmp_path / "run.journal"
    whole = write(path, STORY)
    for place in range(len(whole)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= change
            path.write_bytes(damaged)
            events, error, _ = readable(path)
            assert error is not None, f"byte {place} ^ {change:#x}"
            assert error.offset <= place
            assert str(error).startswith(f"{path}: byte {error.offset}: ")
            assert events == []


@repeatable
@given(st.binary(max_size=400), st.booleans())
def test_garbage_is_refused_or_read_as_nothing(
    tmp_path: Path, garbage: bytes, with_header: bool
) -> None:
    path = tmp_path / "garbage"
    path.write_bytes((HEADER if with_header else b"") + garbage)
    events, error, truncated = readable(path)
    assert error is not None or truncated or not garbage
    assert not events


@repeatable
@given(st.integers(0, 4000 * 60), st.binary(min_size=1, max_size=9))
def test_damage_in_a_later_chunk_leaves_true_events_before_it(
    tmp_path: Path, place: int, junk: bytes
) -> None:
    path, events = tmp_path / "run.journal", many(4000)
    whole = write(path, events)
    damaged = whole[:place] + junk + whole[place + len(junk) :]
    path.write_bytes(damaged)
    prefix, error, truncated = readable(path)
    assert prefix == events[: len(prefix)]
    assert error is not None or truncated or damaged == whole


def test_what_is_no_journal_is_named_so(tmp_path: Path) -> None:
    for content in (b"", b"job\tsubmit\n", MAGIC, HEADER[:-1]):
        path = tmp_path / "other"
        path.write_bytes(content)
        with pytest.raises(JournalError, match="byte 0: this is not a Callboard journal"):
            list(Journal(path))


def test_a_newer_format_is_named_so(tmp_path: Path) -> None:
    path = tmp_path / "new.journal"
    path.write_bytes(MAGIC + (99).to_bytes(2, "little") + b"whatever comes")
    with pytest.raises(JournalError, match=rf"written in format 99, newer than the {VERSION}"):
        list(Journal(path))
    path.write_bytes(MAGIC + bytes(2))
    with pytest.raises(JournalError, match=rf"byte 8: written in format 0; only {OLDEST_READ} to"):
        list(Journal(path))


def test_a_journal_of_the_version_before_is_read(tmp_path: Path) -> None:
    """It has fewer kinds of events, all of them the same."""
    path = tmp_path / "old.journal"
    with JournalWriter(path) as journal:
        for event in STORY:
            journal(event)
    data = path.read_bytes()
    path.write_bytes(MAGIC + OLDEST_READ.to_bytes(2, "little") + data[len(HEADER) :])
    assert list(Journal(path)) == list(STORY)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\xc1", "not an event"),
        (msgspec.msgpack.encode(["NoSuchEvent", 5]), "Invalid value 'NoSuchEvent'"),
        (msgspec.msgpack.encode(["JobFinished", 5]), "at least length"),
        (b"\xdd\xff\xff\xff\xff", "not an event"),
        (msgspec.msgpack.encode(STORY[1]).replace(b"ads", b"\xd9ds"), "not an event.*utf-8"),
        (
            b"\x98\xaaRunStarted\x00\xa0\xa0\xa0\x00\x81\xa1a" + b"\x91" * 100_000,
            "recursion",
        ),
    ],
    ids=[
        "no msgpack",
        "unknown tag",
        "too few fields",
        "4 G elements claimed",
        "no UTF-8",
        "nested deep",
    ],
)
def test_a_sealed_record_that_is_no_event(tmp_path: Path, body: bytes, words: str) -> None:
    path = tmp_path / "odd.journal"
    good = msgspec.msgpack.encode(STORY[0])
    chunk = record_head(len(good)) + good + record_head(len(body)) + body
    path.write_bytes(HEADER + chunk + seal(chunk))
    with pytest.raises(JournalError, match=f"(?i){words}") as caught:
        list(Journal(path))
    assert caught.value.offset == len(HEADER) + 4 + len(good)


def test_a_chunk_must_be_sealed_when_full(tmp_path: Path) -> None:
    """Otherwise a file of records without seals would be gathered in memory whole."""
    record = msgspec.msgpack.encode(STORY[1])
    endless = (record_head(len(record)) + record) * 5000
    (tmp_path / "endless").write_bytes(HEADER + endless)
    with pytest.raises(JournalError, match="a seal is missing here") as caught:
        list(Journal(tmp_path / "endless"))
    assert caught.value.offset < len(HEADER) + CHUNK_BYTES + len(record) + 4


def test_a_length_without_its_check_byte_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "absurd").write_bytes(HEADER + b"\xff\xff\xff\xff" + b"x" * 100)
    with pytest.raises(JournalError, match="byte 10: damaged: no record begins here"):
        list(Journal(tmp_path / "absurd"))


def test_an_event_too_long_to_read_back_is_not_written(tmp_path: Path) -> None:
    """The longest record is read back; one byte more is refused, and nothing of it is written."""
    probe = JobSubmitted(0, 0, "x" * 2**17, "", "", Priority.LOW, 0, 0)
    room = RECORD_BYTES_MAX - (len(msgspec.msgpack.encode(probe)) - 2**17)
    longest = msgspec.structs.replace(probe, name="x" * room)
    giant = msgspec.structs.replace(probe, name="x" * (room + 1))
    path = tmp_path / "run.journal"
    with JournalWriter(path) as sink:
        sink(STORY[0])
        with pytest.raises(JournalError, match="too long to record"):
            sink(giant)
        sink(longest)
    assert list(Journal(path)) == [STORY[0], longest]


def test_a_long_event_is_a_chunk_of_its_own(tmp_path: Path) -> None:
    long = JobSubmitted(0, 0, "x" * 300_000, "", "", Priority.LOW, 0, 0)
    write(tmp_path / "run.journal", [STORY[0], long, STORY[1]])
    assert list(Journal(tmp_path / "run.journal")) == [STORY[0], long, STORY[1]]


class CtrlC:
    """A file on which the nth call of `write` or `flush` is interrupted, before or after it."""

    def __init__(self, file: object, at: int, *, before: bool) -> None:
        self.file, self.left, self.before = file, at, before

    def __getattr__(self, name: str) -> object:
        real = getattr(self.file, name)
        if name not in ("write", "flush"):
            return real

        def call(*args: object) -> object:
            self.left -= 1
            if self.left == 0 and self.before:
                raise KeyboardInterrupt
            result = real(*args)
            if self.left == 0:
                raise KeyboardInterrupt
            return result

        return call


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("at", range(1, 9))
def test_ctrl_c_within_a_write_neither_loses_nor_doubles(
    tmp_path: Path, at: int, before: bool
) -> None:
    """Interrupted anywhere, then closed: the events so far, each once, and sealed."""
    path, events, told = tmp_path / "run.journal", many(4500), 0
    sink = JournalWriter(path)
    sink._file = CtrlC(sink._file, at, before=before)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        for event in events:
            told += 1
            sink(event)
        sink.close()
        raise AssertionError("the interrupt never came")
    sink.close()
    assert readable(path) == (events[:told], None, False)
