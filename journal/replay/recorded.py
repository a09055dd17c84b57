"""A recorded run as a source of frames."""

from collections.abc import Callable, Iterator
from itertools import islice

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal.follow import Follower, JournalStatus
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import Request


class RecordedSource:
    """A recorded run, which `read_on` reads in parts; what has been read can be asked for.

    `make_oracle` is as in `Recording`.
    """

    live = False

    def __init__(self, events: Iterator[AnyEvent], make_oracle: MakeOracle | None = None) -> None:
        self.recording = Recording(make_oracle)
        self.cursor = Cursor(self.recording)
        self._events: Iterator[AnyEvent] | None = events

    def read_on(self, count: int | None = None) -> bool:
        """Read `count` more events, or all; returns whether there may be more.

        Raises JournalError at the first damage.
        """
        if self._events is None:
            return False
        known = len(self.recording)
        for event in islice(self._events, count):
            self.recording.append(event)
        if len(self.recording) - known == count:
            return True
        self._events = None
        self.recording.closed = True
        return False

    @property
    def growing(self) -> bool:
        """Whether more may come later although all there is has been read."""
        return False

    def ask(self, request: Request, answer: Callable[[Frame], None]) -> None:
        self.cursor.move(request.move)
        answer(self.cursor.frame(request.view))

    def close(self) -> None:
        self._events = None


class FollowedSource(RecordedSource):
    """A recorded run that may still be going on in another process."""

    def __init__(self, follower: Follower, make_oracle: MakeOracle | None = None) -> None:
        super().__init__(iter(()), make_oracle)
        self.status = JournalStatus.WRITING
        self._follower = follower

    def read_on(self, count: int | None = None) -> bool:
        if self.recording.closed:
            return False
        taken = self._follower.take(count)
        for event in taken:
            self.recording.append(event)
        if taken and len(taken) == count:
            return True
        self.status = self._follower.status
        self.recording.closed = self.status is not JournalStatus.WRITING
        return False

    @property
    def growing(self) -> bool:
        return not self.recording.closed

    def close(self) -> None:
        self._follower.close()
