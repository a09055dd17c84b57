"""The live line under `callboard run`: jobs done, virtual time, messages a second, time left."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from actors.events import AnyEvent, JobFinished
from actors.kernel import Kernel
from journal.names import clock

_LOOKS_A_SECOND = 8


class RunProgress:
    """Watches one run and moves its line; it looks at the kernel's clock and touches nothing."""

    def __init__(self, progress: Progress, line: TaskID) -> None:
        self._progress = progress
        self._line = line
        self._done = 0
        self._looked_s = self._began_s = time.monotonic()

    def hear(self, event: AnyEvent) -> None:
        """Count the jobs that have ended."""
        if type(event) is JobFinished:
            self._done += 1

    def look(self, kernel: Kernel) -> None:
        """Redraw, a few times a second at most."""
        now_s = time.monotonic()
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
def run_progress(console: Console, title: str, jobs: int) -> Iterator[RunProgress]:
    """A line for one run on a terminal, gone when the run has ended."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("jobs  at {task.fields[at]}  {task.fields[rate]} messages/s"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        line = progress.add_task(title, total=jobs, at="00:00:00", rate="-")
        yield RunProgress(progress, line)
