"""The live lines under commands that take a while.

Under `callboard run`: jobs done, virtual time, messages a second, time left.  Under the others:
how many steps are done.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
)
from rich.progress import TimeRemainingColumn as TimeColumn

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.console import PlainConsole, plain
from callboard.journal.tell.names import clock

_LOOKS_A_SECOND = 8
_WIDE = 100
"""From so many columns on there is room for a bar, and a title of `_TITLE_MAX`."""

_MEDIUM = 72
"""From so many on, for the virtual time and the messages a second."""

_TITLE_MAX = 32
_MEDIUM_FIGURES = 60
"""What the figures take at most: `100,000/100,000 jobs`, and so on, is rare and cut by Rich."""

_NARROW_FIGURES = 28


class RunProgress:
    """Watches one run and moves its line; it looks at the kernel's clock and touches nothing."""

    def __init__(
        self, progress: Progress, line: TaskID, clock_s: Callable[[], float] = time.monotonic
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
) -> Iterator[RunProgress]:
    """A line for one run on a terminal, gone when the run has ended."""
    with Progress(*_columns(console.width), console=console, transient=True) as progress:
        line = progress.add_task(
            _shortened(title, console.width), total=jobs, at="00:00:00", rate="-"
        )
        yield RunProgress(progress, line, clock_s)


def _columns(width: int) -> list[ProgressColumn]:
    """What there is room for: jobs and time left always, the bar last."""
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} jobs"),
    ]
    if width >= _WIDE:
        columns.insert(1, BarColumn(bar_width=width - _WIDE + 8))
    if width >= _MEDIUM:
        columns.append(TextColumn("at {task.fields[at]}"))
        columns.append(TextColumn("{task.fields[rate]} messages/s"))
    return [*columns, TimeColumn(compact=True), TextColumn("left")]


def _shortened(title: str, width: int) -> str:
    """As much of the title as leaves the figures their room."""
    room = width - (_MEDIUM_FIGURES if width >= _MEDIUM else _NARROW_FIGURES)
    text = plain(title)
    text.truncate(max(min(room, _TITLE_MAX), 1), overflow="ellipsis")
    return text.plain


@contextmanager
def steps_progress(
    title: str, total: int, done: int = 0, *, left: bool = False
) -> Iterator[Callable[[str, int], None]]:
    """A line where somebody can see it, of steps all alike; it is moved by what is done now, in a
    word or two, and so many steps more.  With `left` it says how much time is left.
    """
    console = PlainConsole(stderr=True)
    columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False), BarColumn()]
    columns += [MofNCompleteColumn(), *([TimeColumn()] if left else [])]
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        line = progress.add_task(title, total=total, completed=done)

        def move(what: str, more: int) -> None:
            progress.update(line, advance=more, description=f"{title}: {what}" if what else title)

        yield move
