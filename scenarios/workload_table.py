"""The table `[workload]`: what each of its kinds has to say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from callboard.actors.job_spec import JobSpec
from callboard.scenarios.fields import TableOfKind


class WorkloadTable(TableOfKind, frozen=True, kw_only=True):
    """A workload of any kind; ScenarioErrors name the field that is wrong."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:
        """The jobs by submit time, with ids 0, 1, 2, ... in that order; ScenarioError where fields
        contradict each other or a trace, looked for in `base_dir` first, cannot be read.
        """
        raise NotImplementedError

    def with_load_as_gap(self, speed: float) -> Self:  # noqa: ARG002
        """With what hangs on the cluster worked out: its map slots do `speed` seconds of work a
        second in all.
        """
        return self

    def check(self) -> None:
        """ScenarioError where fields contradict each other; reads no file."""

    def node_types(self) -> Iterator[tuple[str, str]]:
        """(node type, key) of every factor that is stated for a node type."""
        return iter(())
