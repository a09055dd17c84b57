"""Reading a journal from its beginning to its end."""

from collections.abc import Iterator
from pathlib import Path

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.journal.format import CHUNK_BYTES, check_regular
from callboard.journal.record_decoder import RecordDecoder


class Journal:
    """A recorded run.  Iterating reads the file from its beginning, each time anew.

    Raises JournalError for what is not a journal, is of another format version, or is damaged;
    OSError if the file cannot be opened or read.  A file that just stops is no error: iteration
    ends after the last whole event, and then `truncated` is True.  `complete` says whether the
    last event read was `RunEnded`; a run that was killed lacks it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.truncated = False
        self.complete = False

    def __iter__(self) -> Iterator[AnyEvent]:
        """All events up to the end, the cut, or the first damage (JournalError)."""
        self.truncated = self.complete = False
        event: AnyEvent | None = None
        for event in self._read_events():
            yield event
        self.complete = isinstance(event, RunEnded)

    def _read_events(self) -> Iterator[AnyEvent]:
        decoder = RecordDecoder(self.path)
        check_regular(self.path)
        with self.path.open("rb", buffering=0) as file:
            while block := file.read(CHUNK_BYTES):
                yield from decoder.feed(block)
        decoder.check_header()
        self.truncated = decoder.ends_inside_chunk
        yield from decoder.unsealed_events()
