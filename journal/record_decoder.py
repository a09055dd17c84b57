"""Bytes into events: the header, the records of the open chunk, and its seal."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal import format as fmt
from callboard.journal.event_limits import InconsistentEvents, check_numbers
from callboard.journal.format import HEAD_BYTES, SEAL_BYTES, SEAL_HEAD, JournalError, length_of
from callboard.journal.old_events import OWN_EVENTS_UP_TO, EventRenewal, OldEvent

_decode: Callable[[memoryview], AnyEvent] = msgspec.msgpack.Decoder(AnyEvent).decode
_decode_old: Callable[[memoryview], OldEvent] = msgspec.msgpack.Decoder(OldEvent).decode


class RecordDecoder:
    """The events of the journal at `path`, from its bytes in parts of any length.

    What is not a whole record yet is left for later.  Nothing is believed before it is checked: a
    chunk's events come when its seal has been found right.  Memory is bounded by what was fed at
    once, one chunk and the longest record.  Each event comes once.  All raise JournalError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._raw = bytearray()
        """What is no whole record yet."""
        self._needed = len(fmt.HEADER)
        """How much of it there must be before it is worth a look."""
        self._begun = False
        """Whether the header was read."""
        self._renewal: EventRenewal | None = None
        """What tells the events of an older format as of today's."""
        self._begin = self._end = len(fmt.HEADER)
        """Where in the file the open chunk begins, and where its records end so far."""
        self._records: list[bytes] = []
        self._given = 0

    @property
    def ends_inside_chunk(self) -> bool:
        """Whether the bytes end anywhere but at the end of a chunk."""
        return bool(self._raw or self._records)

    def feed(self, block: bytes) -> Iterator[AnyEvent]:
        """Take the next bytes in; the events of the chunks that they seal."""
        self._raw += block
        if len(self._raw) < self._needed:
            return
        self.check_header()
        raw, at, self._needed = bytes(self._raw), 0, HEAD_BYTES
        self._raw.clear()
        while len(head := raw[at : at + HEAD_BYTES]) == HEAD_BYTES:
            is_seal = head == SEAL_HEAD
            length = SEAL_BYTES if is_seal else self._record_length(head)
            if len(raw) < at + length:
                self._needed = length
                break
            record = raw[at : at + length]
            at += length
            if is_seal:
                yield from self._events_of_sealed_chunk(record)
            else:
                self._records.append(record)
                self._end += length
        self._raw += raw[at:]

    def unsealed_events(self) -> list[AnyEvent]:
        """The events that no seal covers yet, checked by their own form and numbers alone."""
        events: list[AnyEvent] = []
        try:
            for record in self._records[self._given :]:
                event = self._decoded_event(memoryview(record)[HEAD_BYTES:])
                check_numbers(event)
                events.append(event)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._error_at_event(len(events), f"damaged: not an event ({error})") from None
        except InconsistentEvents as error:
            problem = f"no run has recorded this: {error}"
            raise self._error_at_event(len(events), problem) from None
        self._given = len(self._records)
        return events

    def _decoded_event(self, record: memoryview) -> AnyEvent:
        if self._renewal is None:
            return _decode(record)
        return self._renewal.renewed(_decode_old(record))

    def _error_at_event(self, place: int, problem: str) -> JournalError:
        """What is wrong with the open chunk's event at this place, after those given."""
        before = sum(map(len, self._records[: self._given + place]))
        return JournalError(self.path, self._begin + before, problem)

    def _damage_error(self, offset: int, problem: str) -> JournalError:
        """Bytes from this offset on that nobody has written so, and how to keep those before."""
        keep = f"; what comes before is whole, `head -c {offset}` of the file keeps it"
        known = keep if offset > len(fmt.HEADER) else ""
        return JournalError(self.path, offset, f"damaged: {problem}{known}")

    def check_header(self) -> None:
        """Read the header, if that has not been done."""
        if not self._begun:
            version = _version_of(self.path, bytes(self._raw[: len(fmt.HEADER)]))
            if version <= OWN_EVENTS_UP_TO:
                self._renewal = EventRenewal()
            del self._raw[: len(fmt.HEADER)]
            self._begun = True

    def _record_length(self, head: bytes) -> int:
        """The length of the record with this head, its head included."""
        length = length_of(head)
        if length is None:
            raise self._damage_error(self._end, "no record begins here")
        if self._end - self._begin >= fmt.CHUNK_BYTES:
            raise self._damage_error(self._end, "a seal is missing here")
        return HEAD_BYTES + length

    def _events_of_sealed_chunk(self, seal: bytes) -> list[AnyEvent]:
        """The events of the open chunk, if the seal fits its bytes; another one begins."""
        if fmt.seal(b"".join(self._records)) != seal:
            length = self._end - self._begin
            problem = f"the {length} bytes from here do not fit their checksum, the seal"
            raise self._damage_error(self._begin, problem)
        events = self.unsealed_events()
        self._begin = self._end = self._end + SEAL_BYTES
        self._records, self._given = [], 0
        return events


def _version_of(path: Path, header: bytes) -> int:
    """The format that the journal is written in.  JournalError for one that cannot be read."""
    if len(header) < len(fmt.HEADER) or not header.startswith(fmt.MAGIC):
        raise JournalError(path, 0, fmt.NOT_A_JOURNAL)
    version = int.from_bytes(header[len(fmt.MAGIC) :], "little")
    known = fmt.VERSION
    if version > known:
        problem = f"written in format {version}, newer than the {known} that is known here"
        raise JournalError(path, len(fmt.MAGIC), problem)
    if version < fmt.OLDEST_READ or version in fmt.NEVER_WRITTEN:
        problem = f"written in format {version}; only {fmt.OLDEST_READ} to {known} can be read"
        raise JournalError(path, len(fmt.MAGIC), problem)
    return version
