"""The kinds of evidence: runs of the library's scenarios, runs of the ideal machine, and examples
that are worked through once.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from callboard.experiments.ideal_study.cells import Point, program_digest, run_outcomes
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.swim import REPORT_FILES, Trace, load_trace
from callboard.experiments.many.computing import Call
from callboard.experiments.many.result_store import key_of
from callboard.experiments.reproduction.artefact import Evidence
from callboard.experiments.reproduction.metered_run import MeteredRun, MeteredTask
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import ACTORS
from callboard.experiments.run.run_spec import RunSpec

Runs = Mapping[str, MeteredRun]
"""A sample of played worlds: a run for each cell, by name, all with one seed."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A world under a policy; it is played with every seed.  If its decisions are `timed` the
    actors play it, whichever engine plays the others.
    """

    name: str
    scenario: str
    policy: str
    overrides: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    slowdown: bool = False
    timed: bool = False

    def calls(self, seed: int) -> list[Call]:
        """What is to be computed with a seed."""
        return self.task(seed).calls()

    def task(self, seed: int) -> MeteredTask:
        """What is played with a seed."""
        return MeteredTask(
            self.scenario,
            self.policy,
            seed,
            self.overrides,
            self.meters,
            self.slowdown,
            ACTORS if self.timed else "auto",
        )


class Played(Evidence[Runs], frozen=True):
    """Worlds of the library, played.  `once` is for worlds that no seed changes."""

    cells: tuple[Cell, ...]
    once: bool = False

    @property
    def varies_with_seed(self) -> bool:
        return not self.once

    @property
    def cell_names(self) -> list[str]:
        return [cell.name for cell in self.cells]

    def only(self, *names: str) -> "Played":
        """The cells of these names, in this order."""
        by_name = {cell.name: cell for cell in self.cells}
        return Played(tuple(by_name[name] for name in names), self.once)

    def changed(self, *overrides: str, **fields: Any) -> "Played":
        """The same cells with these overrides, in place of those of the same keys, and with other
        `fields`.
        """
        cells = (
            msgspec.structs.replace(
                cell, overrides=_without_repeats((*cell.overrides, *overrides)), **fields
            )
            for cell in self.cells
        )
        return Played(tuple(cells), self.once)

    def played_seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        return seeds[:1] if self.once else seeds

    def calls(self, seeds: Sequence[int]) -> list[Call]:
        return [
            call
            for seed in self.played_seeds(seeds)
            for cell in self.cells
            for call in cell.calls(seed)
        ]

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> list[Runs]:
        return [
            {cell.name: cell.task(seed).read(found) for cell in self.cells}
            for seed in self.played_seeds(seeds)
        ]

    def digests(self, samples: Sequence[Runs]) -> list[tuple[str, int, str]]:
        return [
            (name, run.result.summary.seed, run.result.summary.digest or "-")
            for runs in samples
            for name, run in runs.items()
        ]


def _without_repeats(overrides: Sequence[str]) -> tuple[str, ...]:
    """The last override of each key, where the first stands."""
    return tuple({each.partition("=")[0]: each for each in overrides}.values())


class Drawn(Evidence[RunSpec], frozen=True):
    """What a scenario's workload comes to with each seed; nothing is played."""

    scenario: str
    overrides: tuple[str, ...] = ()

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> list[RunSpec]:  # noqa: ARG002
        return [load_run(self.scenario, (*self.overrides, f"seed={seed}")) for seed in seeds]


TRACES_VARIABLE = "CALLBOARD_TRACES"
"""The environment's name of the folder with SWIM's traces."""

RUNS_A_SEED = 10
"""Draws of the estimates' errors that a seed stands for on the ideal machine."""

Sojourns = Mapping[tuple[str, str, Point], float]
"""A sample of the ideal machine: mean sojourn in seconds by trace, discipline and point."""


class Ideal(Evidence[Sojourns], frozen=True):
    """The ideal machine on traces of the simulator report, by the report's names: on those of them
    that are at hand.
    """

    traces: tuple[str, ...]
    disciplines: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def traces_at_hand(self) -> list[str]:
        return [name for name in self.traces if _trace_path(name) is not None]

    def absent(self) -> str:
        if self.traces_at_hand:
            return ""
        files = " or ".join(REPORT_FILES[name] for name in self.traces)
        return f"it needs {files}, traces of SWIM; --traces says in which folder"

    def calls(self, seeds: Sequence[int]) -> list[Call]:
        return [
            Call(
                self._result_key(name, discipline, seed),
                play_ideal,
                self._call_arguments(name, discipline, seed),
            )
            for seed in seeds
            for name in self.traces_at_hand
            for discipline in self.disciplines
        ]

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> Sequence[Sojourns]:
        samples: list[dict[tuple[str, str, Point], float]] = []
        for seed in seeds:
            drawn: list[dict[tuple[str, str, Point], float]] = [{} for _ in range(RUNS_A_SEED)]
            for name in self.traces_at_hand:
                for discipline in self.disciplines:
                    data = found[self._result_key(name, discipline, seed)]
                    for point, means in zip(self.points, msgspec.msgpack.decode(data), strict=True):
                        for run, into in enumerate(drawn):
                            into[name, discipline, point] = means[run % len(means)]
            samples += drawn
        return samples

    def _call_arguments(self, name: str, discipline: str, seed: int) -> tuple[object, ...]:
        return str(_trace_path(name) or ""), discipline, self.points, seed

    def _result_key(self, name: str, discipline: str, seed: int) -> str:
        path = _trace_path(name)
        digest = "" if path is None else _loaded_trace(str(path)).digest
        return key_of("ideal-report", program_digest(), digest, discipline, self.points, seed)


class TraceFile(Evidence[Trace], frozen=True):
    """A trace of the simulator report as it is."""

    trace: str

    @property
    def varies_with_seed(self) -> bool:
        return False

    def absent(self) -> str:
        return Ideal((self.trace,), (), ()).absent()

    def samples(self, seeds: Sequence[int], found: Mapping[str, bytes]) -> list[Trace]:  # noqa: ARG002
        return [_loaded_trace(str(_trace_path(self.trace)))]


def play_ideal(path: str, discipline: str, points: Sequence[Point], seed: int) -> bytes:
    """The mean sojourns of each draw at each point."""
    trace = _loaded_trace(path)
    study = Study((trace,), "report", (discipline,), tuple(points), (), RUNS_A_SEED, seed)
    means = []
    for point in points:
        cell = study.cell(trace, discipline, point)
        means.append([run.mean_s for run in run_outcomes(trace, cell, cell.runs(RUNS_A_SEED))])
    return msgspec.msgpack.encode(means)


@cache
def _loaded_trace(path: str) -> Trace:
    return load_trace(Path(path))


def _trace_path(name: str) -> Path | None:
    path = Path(os.environ.get(TRACES_VARIABLE) or ".") / REPORT_FILES[name]
    return path if path.is_file() else None
