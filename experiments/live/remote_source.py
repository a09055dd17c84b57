"""A source in another process: requests and frames go through a pipe as msgpack.  The screen's
event loop reads the answers, so nothing here waits, except for the rest of a frame.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection

import msgspec

from callboard.experiments.live.live_requests import AnyRequest
from callboard.journal.replay.frame import Frame


class RemoteSource:
    """The near end of a connection; `on_loss` is called once if the far end goes away."""

    live = True

    def __init__(self, connection: Connection, on_close: Callable[[], None]) -> None:
        self.on_loss: Callable[[], None] = lambda: None
        self._connection = connection
        self._on_close = on_close
        self._answers: deque[Callable[[Frame], None]] = deque()
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(Frame).decode
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_left = False

    def ask_frame(self, request: AnyRequest, answer: Callable[[Frame], None]) -> None:
        if self._is_left:
            return  # by a screen that was left before its first picture
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._connection.fileno(), self._read_answer)
        self._answers.append(answer)
        try:
            self._connection.send_bytes(self._encode(request))
        except OSError:
            self._report_loss()

    def _read_answer(self) -> None:
        try:
            frame = self._decode(self._connection.recv_bytes())
        except (EOFError, OSError):
            self._report_loss()
            return
        self._answers.popleft()(frame)

    def _report_loss(self) -> None:
        self._stop_reading()
        on_loss, self.on_loss = self.on_loss, lambda: None
        on_loss()

    def _stop_reading(self) -> None:
        if self._loop is not None and not self._connection.closed:
            self._loop.remove_reader(self._connection.fileno())

    def close(self) -> None:
        self._is_left = True
        if self._connection.closed:
            return
        self._stop_reading()
        self._connection.close()
        self._on_close()
