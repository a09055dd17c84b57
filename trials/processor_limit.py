"""Work that is left when it has taken all the processor time that it may, or waits for nothing."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

WAIT_SECONDS = 120
"""So long, and ten times the limit, may pass by the clock: even where all processors are busy."""

_AGAIN_SECONDS = 1.0
"""Then the error is raised once more: where it was raised in a callback of the garbage collector it
was ignored.
"""


@contextmanager
def processor_limit(seconds: float, error: BaseException) -> Iterator[None]:
    """Raise the error in what takes more processor time than that; only in a main thread."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise error

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, WAIT_SECONDS + 10 * seconds),
    }
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, limit in timers.values():
        signal.setitimer(timer, limit, _AGAIN_SECONDS)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
