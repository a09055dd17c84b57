"""The journal of a run that the twin plays."""

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import start_of
from callboard.journal.writer import JournalWriter
from callboard.twin.twin_run import TwinRun


class TwinJournal:
    """Records what `run` has played of `spec`.  Raises what `JournalWriter` does."""

    def __init__(self, path: Path, spec: RunSpec, run: TwinRun) -> None:
        self._run = run
        self._writer = JournalWriter(path, hashed=True)
        self._writer(start_of(spec))

    def record(self, events: Iterable[AnyEvent]) -> None:
        """Record what has happened since the last time."""
        self._writer.record(events)

    def end(self) -> None:
        """Record the end of the run."""
        self._writer(end_of(self._run, f"events-{self._writer.digest()}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._writer.close()


def end_of(run: TwinRun, digest: str = "") -> RunEnded:
    """The last event of what the twin has played."""
    return RunEnded(run.now_ms, run.reason or "interrupted", None, None, digest)
