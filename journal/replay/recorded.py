"""A recorded run as a source of frames."""

from collections.abc import Callable, Iterator
from itertools import islice

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal.consistency import check_begins_with_start
from callboard.journal.follow import Follower, JournalStatus
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo, Request, Stay
from callboard.scheduler.model import Millis


class RecordedSource:
    """A recorded run, which `read_on` reads in parts; what has been read can be asked for.

    A `Follower` may have more events later.  `make_oracle` is as in `Recording`.
    """

    live = False

    def __init__(
        self, events: Follower | Iterator[AnyEvent], make_oracle: MakeOracle | None = None
    ) -> None:
        self.recording = Recording(make_oracle)
        self.cursor = Cursor(self.recording)
        self._events = events
        self._goal_ms: Millis | None = 0
        """Where the last move was to go that what has been read falls short of."""

    def read_on(self, count: int | None = None) -> bool:
        """Read `count` more events, or all; returns whether there may be more at once.

        Raises JournalError at the first damage, and where the start of the run is missing.
        """
        if self.recording.closed:
            return False
        known, events = len(self.recording), self._events
        for event in (
            events.take_events(count) if isinstance(events, Follower) else islice(events, count)
        ):
            if not self.recording.times and isinstance(events, Follower):
                check_begins_with_start(event, events.path)
            self.recording.append(event)
        self._go_on_to_goal()
        if len(self.recording) - known == count:
            return True
        grows = isinstance(events, Follower) and events.status is JournalStatus.WRITING
        self.recording.closed = not grows
        return False

    def _go_on_to_goal(self) -> None:
        """Go on to where a move leads that was asked for before all was read."""
        if self._goal_ms is not None and len(self.recording):
            self.cursor.go_to_ms(self._goal_ms)
            if self.recording.end_ms >= self._goal_ms:
                self._goal_ms = None

    @property
    def is_growing(self) -> bool:
        """Whether more may come later although all there is has been read."""
        return not self.recording.closed

    def ask_frame(self, request: Request, answer: Callable[[Frame], None]) -> None:
        if not isinstance(request.move, Stay):
            goes_to = request.move.at_ms if isinstance(request.move, GoTo) else None
            self._goal_ms = None if self.recording.closed else goes_to
        self.cursor.move(request.move)
        answer(self.cursor.frame(request.view))

    def close(self) -> None:
        if isinstance(self._events, Follower):
            self._events.close()
