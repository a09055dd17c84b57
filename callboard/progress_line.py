"""The live lines under commands that take a while: of `callboard run` jobs done, virtual time,
messages a second and time left; of others the number of steps done.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as bar
from rich.console import Console

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.console import PlainConsole, plain
from callboard.journal.tell.names import clock

_LOOKS_A_SECOND = 8
_WIDE, _MEDIUM = 100, 72
"""The least columns for a bar, and for the virtual time and the messages a second."""

_TITLE_MAX = 32
_MEDIUM_FIGURES, _NARROW_FIGURES = 60, 28
"""The columns for the figures; Rich cuts longer ones (`100,000/100,000 jobs`), which are rare."""


class RunProgress:
    """Watches one run and moves its line; it reads the kernel's clock and changes nothing."""

    def __init__(
        self, progress: bar.Progress, line: bar.TaskID, clock_s: Callable[[], float]
    ) -> None:
        self._progress = progress
        self._line = line
        self._clock_s = clock_s
        self._done = 0
        self._looked_s = self._began_s = clock_s()

    def observe(self, event: AnyEvent) -> None:
        """Count the jobs that have ended."""
        if type(event) is JobFinished:
            self._done += 1

    def on_progress(self, kernel: Kernel) -> None:
        """Redraw, a few times a second at most."""
        now_s = self._clock_s()
        if now_s - self._looked_s < 1 / _LOOKS_A_SECOND:
            return
        self._looked_s = now_s
        self._progress.update(
            self._line,
            completed=self._done,
            at=clock(kernel.now_ms).partition(".")[0],
            rate=f"{kernel.messages / (now_s - self._began_s):,.0f}",
        )


@contextmanager
def run_progress(
    console: Console, title: str, jobs: int, clock_s: Callable[[], float] = time.monotonic
) -> Iterator[RunProgress | None]:
    """A line for one run on a terminal, gone when the run has ended; elsewhere none."""
    if not console.is_terminal:
        yield None
        return
    room = console.width - (_MEDIUM_FIGURES if console.width >= _MEDIUM else _NARROW_FIGURES)
    shown = plain(title)
    shown.truncate(max(min(room, _TITLE_MAX), 1), overflow="ellipsis")
    with bar.Progress(*_columns(console.width), console=console, transient=True) as progress:
        line = progress.add_task(shown.plain, total=jobs, at="00:00:00", rate="-")
        yield RunProgress(progress, line, clock_s)


def _columns(width: int) -> Iterator[bar.ProgressColumn]:
    """The columns that there is room for."""
    yield bar.TextColumn("{task.description}", markup=False)
    if width >= _WIDE:
        yield bar.BarColumn(bar_width=width - _WIDE + 8)
    yield bar.TextColumn("{task.completed:,.0f}/{task.total:,.0f} jobs")
    if width >= _MEDIUM:
        yield bar.TextColumn("at {task.fields[at]}  {task.fields[rate]} messages/s")
    yield bar.TimeRemainingColumn(compact=True)
    yield bar.TextColumn("left")


@contextmanager
def steps_progress(
    title: str, total: int, done: int = 0, *, left: bool = False
) -> Iterator[Callable[[str, int], None]]:
    """A line, on a terminal, that counts steps.  The yielded function takes what is done now, in a
    word or two, and how many steps more are done.  With `left` the line has the time left.
    """
    console = PlainConsole(stderr=True)
    columns: list[bar.ProgressColumn] = [bar.TextColumn("{task.description}", markup=False)]
    columns += [
        bar.BarColumn(),
        bar.MofNCompleteColumn(),
        *([bar.TimeRemainingColumn()] if left else []),
    ]
    hidden = not console.is_terminal
    with bar.Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        line = progress.add_task(title, total=total, completed=done)

        def move(what: str, more: int) -> None:
            progress.update(line, advance=more, description=f"{title}: {what}" if what else title)

        yield move
