"""The live lines under commands that take a while: of `callboard run` jobs done, virtual time,
messages a second and time left; of others the number of steps done.
"""

import time
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rich import progress as bar
from rich.console import Console

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.console import PlainConsole, plain, print_aside
from callboard.experiments.many.task_pool import SharedBoard
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.journal.tell.time_format import clock_time
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import clock, count

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun

_LOOKS_A_SECOND = 8
_WIDE, _RATED, _MEDIUM = 110, 96, 72
"""The least columns for a bar, for the messages a second, and for the virtual time."""

_TITLE_MAX = 32
_LEFT, _AT, _RATE = len("0:00:00 left"), len("at 1000d 00:00:00"), len("1,000,000 messages/s") + 2
"""The columns of the time left, which all terminals have, of the virtual time, and of the rate."""


class RunProgress(RunWatcher):
    """Watches one run, and has it told how many jobs have ended, the virtual time, and the messages
    so far, None where there are none; it changes nothing.
    """

    def __init__(self, tell: Callable[[int, Millis, int | None], None]) -> None:
        self._tell, self._done = tell, 0

    def observe(self, event: AnyEvent) -> None:
        """Count the jobs that have ended."""
        if type(event) is JobFinished:
            self._done += 1

    def on_progress(self, kernel: Kernel) -> None:
        self._tell(self._done, kernel.now_ms, kernel.messages)

    def on_twin_progress(self, run: "TwinRun") -> None:
        self._tell(run.ended_job_count, run.now_ms, None)


@contextmanager
def run_progress(
    console: Console, title: str, jobs: int, clock_s: Callable[[], float] = time.monotonic
) -> Iterator[RunProgress]:
    """A line for one run on a terminal, gone when the run has ended; elsewhere a new one every ten
    seconds.
    """
    if not console.is_terminal:
        lines, of = _PipedLines(console, title, clock_s), count(jobs, "job")
        yield RunProgress(
            lambda done, now_ms, _: lines.tell_if_due(
                lambda: f"{done:,} of {of}, at {clock_time(now_ms)}"
            )
        )
        return
    with bar.Progress(
        *_progress_columns(console.width), console=console, transient=True
    ) as progress:
        shown = _fitting_title(title, console, jobs)
        line = progress.add_task(shown, total=jobs, at="00:00:00", rate="-")
        began_s = looked_s = clock_s()

        def redraw(done: int, now_ms: Millis, messages: int | None) -> None:
            """A few times a second at most."""
            nonlocal looked_s
            now_s = clock_s()
            if now_s - looked_s < 1 / _LOOKS_A_SECOND:
                return
            looked_s = now_s
            rate = "-" if messages is None else f"{messages / (now_s - began_s):,.0f}"
            at = clock(now_ms).partition(".")[0]
            progress.update(line, completed=done, at=at, rate=rate)

        yield RunProgress(redraw)


def _progress_columns(width: int) -> Iterator[bar.ProgressColumn]:
    """The columns that there is room for."""
    yield bar.TextColumn("{task.description}", markup=False)
    if width >= _WIDE:
        yield bar.BarColumn(bar_width=_bar_width(width))
    yield bar.TextColumn("{task.completed:,.0f}/{task.total:,.0f} jobs")
    if width >= _MEDIUM:
        rate = "  {task.fields[rate]} messages/s" if width >= _RATED else ""
        yield bar.TextColumn(f"at {{task.fields[at]}}{rate}")
    yield bar.TimeRemainingColumn(compact=True)
    yield bar.TextColumn("left")


class ProgressLine(NamedTuple):
    """The line of one run among several: what it is called, and how many jobs it has."""

    title: str
    jobs: int


_LINES_MAX = 8
"""With more runs than these only the runs are counted."""


@contextmanager
def parallel_runs_progress(
    console: Console,
    lines: Sequence[ProgressLine],
    shared: SharedBoard,
    done: Sized,
    clock_s: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[], object]]:
    """Lines for runs that go on at the same time in other processes, which say on the board how far
    they are; with many runs one line that counts those in `done`.  What is yielded looks again.
    """
    if not console.is_terminal:
        piped, jobs = _PipedLines(console, "runs", clock_s), sum(each.jobs for each in lines)

        def told() -> str:
            ended = sum(int(shared.rows[3 * place]) for place in range(len(lines)))
            return f"{len(done)} of {len(lines)}, {ended:,} of {count(jobs, 'job')}"

        yield lambda: piped.tell_if_due(told)
        return
    if len(lines) > _LINES_MAX:
        with steps_progress("runs", len(lines), left=True) as move:
            counted = 0

            def count_finished() -> None:
                nonlocal counted
                more, counted = len(done) - counted, len(done)
                move("", more)

            yield count_finished
        return
    with bar.Progress(
        *_progress_columns(console.width), console=console, transient=True
    ) as progress:
        began_s = clock_s()
        rows = [
            progress.add_task(
                _fitting_title(line.title, console, line.jobs),
                total=line.jobs,
                at="00:00:00",
                rate="-",
            )
            for line in lines
        ]

        def look() -> None:
            spent_s = max(clock_s() - began_s, 0.001)
            for place, row in enumerate(rows):
                jobs, now_ms, messages = shared.rows[3 * place : 3 * place + 3]
                at, rate = clock(int(now_ms)).partition(".")[0], f"{messages / spent_s:,.0f}"
                progress.update(row, completed=jobs, at=at, rate=rate)

        yield look


def _bar_width(width: int) -> int:
    return width - _WIDE + 8


def _fitting_title(title: str, console: Console, jobs: int) -> str:
    """The title as far as there is room beside the figures; the time left is never cut."""
    width = console.width
    figures = [2 * len(f"{jobs:,}") + len("/ jobs"), _LEFT]
    figures += [_AT] if width >= _MEDIUM else []
    figures += [_RATE] if width >= _RATED else []
    figures += [_bar_width(width)] if width >= _WIDE else []
    room = width - sum(figures) - len(figures) - 1
    shown = plain(title)
    shown.truncate(max(min(room, _TITLE_MAX), 1), overflow="ellipsis")
    return shown.plain


_LONG_S = 10
"""Work that takes no longer needs no announcement."""


def announce_long_work(what: str, seconds: float) -> None:
    """Say on standard error, before long work, how much processor time it is likely to take."""
    if seconds >= _LONG_S:
        print_aside(f"{what} about {rough_time(seconds)} of processor time")


def rough_time(seconds: float) -> str:
    """In whole tens of seconds, whole minutes or whole hours, rounded up."""
    if seconds <= 60:
        return f"{10 * ceil(seconds / 10)} s"
    if seconds <= 3600:
        return f"{ceil(seconds / 60)} min"
    return f"{ceil(seconds / 3600)} h"


PIPED_LINE_S: float = 10
"""Where there is no terminal, a line at most so often, and none of what is done sooner."""


class _PipedLines:
    """Says in whole lines how far long work is, where nothing can be drawn over."""

    def __init__(self, console: Console, title: str, clock_s: Callable[[], float]) -> None:
        self._console, self._title = console, title
        self._clock_s, self._told_s = clock_s, clock_s()

    def tell_if_due(self, told: Callable[[], str]) -> None:
        """Say so, if it is time for another line."""
        now_s = self._clock_s()
        if now_s - self._told_s >= PIPED_LINE_S:
            self._told_s = now_s
            self._console.print(plain(f"{self._title}: {told()}"), soft_wrap=True)


@contextmanager
def steps_progress(
    title: str,
    total: int,
    done: int = 0,
    *,
    left: bool = False,
    clock_s: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[str, int], None]]:
    """A line, on a terminal, that counts steps; elsewhere a new one every ten seconds.

    The yielded function takes what is done now, in a word or two, and how many steps more are done.
    With `left` the line on a terminal has the time left.
    """
    console = PlainConsole(stderr=True)
    if not console.is_terminal:
        lines = _PipedLines(console, title, clock_s)

        def tell(what: str, more: int) -> None:
            nonlocal done
            done += more
            lines.tell_if_due(lambda: f"{done:,} of {total:,}{what and ', '}{what}")

        yield tell
        return
    columns: list[bar.ProgressColumn] = [bar.TextColumn("{task.description}", markup=False)]
    columns += [
        bar.BarColumn(),
        bar.MofNCompleteColumn(),
        *([bar.TimeRemainingColumn()] if left else []),
    ]
    with bar.Progress(*columns, console=console, transient=True) as progress:
        line = progress.add_task(title, total=total, completed=done)

        def move(what: str, more: int) -> None:
            progress.update(line, advance=more, description=f"{title}: {what}" if what else title)

        yield move
