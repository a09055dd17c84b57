"""The journal of a run that the twin plays."""

from pathlib import Path
from types import TracebackType
from typing import Self

from callboard.actors.vocabulary.events import RunEnded
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import start_of
from callboard.journal.writer import JournalWriter
from callboard.twin.told_events import ToldEvents
from callboard.twin.twin_run import TwinRun


class TwinJournal:
    """Records what `run`, which keeps its log, has played of `spec`.  Raises what `JournalWriter`
    does.
    """

    def __init__(self, path: Path, spec: RunSpec, run: TwinRun) -> None:
        self._run = run
        self._events = ToldEvents(run)
        self._writer = JournalWriter(path, hashed=True)
        self._writer(start_of(spec))

    def record(self) -> None:
        """Record what has happened since the last time."""
        self._writer.record(self._events.take())

    def end(self) -> None:
        """Record the end of the run."""
        run, write = self._run, self._writer
        reason = run.reason or "interrupted"
        write(RunEnded(run.now_ms, reason, None, None, f"events-{write.digest()}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._writer.close()
