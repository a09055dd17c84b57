"""A run with meters: observers of its events that measure what a run's summary does not tell."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.many.result_store import key_of
from callboard.experiments.many.run_tasks import RunTask, SoloTimes
from callboard.experiments.many.sweeps.content_key import scenario_version
from callboard.experiments.many.task_pool import board
from callboard.experiments.reproduction.meters import METERS
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import (
    ACTORS,
    EngineName,
    RunResult,
    pack_result,
    unpack_result,
)
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.solo_runs import solo_times
from callboard.scenarios.scenario_file import find_scenario

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun

Metered = Mapping[str, Sequence[float]]
"""What a meter has measured: named columns of numbers."""


class Meter(Protocol):
    """An observer of a run."""

    def observe(self, event: AnyEvent) -> None:
        """Take note of an event."""

    def figures(self) -> Metered:
        """What was measured, once the run has ended."""


class MeteredTask(msgspec.Struct, frozen=True):
    """A scenario with overrides, as `--set` takes them, under a policy with a seed.

    `meters` are names of `METERS`; with `slowdown` it is also computed how long jobs take alone.
    """

    scenario: str
    policy: str
    seed: int
    overrides: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    slowdown: bool = False

    @property
    def key(self) -> str:
        """What its answer is kept under: it has the scenario's text and the code that plays it."""
        return key_of("metered", scenario_version(), _meters_version(), _text(self.scenario), self)


class MeteredRun(msgspec.Struct, frozen=True):
    """A run's result, and what the meters say."""

    result: RunResult
    metered: Mapping[str, Metered]


class Interrupted(Exception):
    """The board has said that nothing more is to be computed."""


def play_metered(task: MeteredTask) -> bytes:
    """Play the task; its answer as bytes.  Interrupted if that is not wanted any more.

    What no meter looks at the twin plays where it can: the figures are the same.
    """
    spec = load_run(task.scenario, (*task.overrides, f"seed={task.seed}"))
    spec = msgspec.structs.replace(spec, policy=task.policy)
    meters: dict[str, Meter] = {name: METERS[name]() for name in task.meters}
    engine: EngineName = ACTORS if meters else "auto"
    result = RunTask(spec, engine=engine).run(_Watcher(list(meters.values())))
    if result.interrupted:
        raise Interrupted
    if task.slowdown:
        result = SoloTimes(solo_times(spec)).of(result)
    metered = {name: dict(meter.figures()) for name, meter in meters.items()}
    return msgspec.msgpack.encode((pack_result(result), metered))


def read_metered(data: bytes) -> MeteredRun:
    """The answer again."""
    packed, metered = msgspec.msgpack.decode(data, type=tuple[bytes, dict[str, Any]])
    return MeteredRun(unpack_result(packed), metered)


class _Watcher(RunWatcher):
    """Tells all meters, and stops the run when the board says so."""

    def __init__(self, meters: Sequence[Meter]) -> None:
        self._meters: Sequence[Callable[[AnyEvent], None]] = [each.observe for each in meters]

    def observe(self, event: AnyEvent) -> None:
        for tell in self._meters:
            tell(event)

    def on_progress(self, kernel: Kernel) -> None:
        shared = board()
        if shared is not None and shared.stop.value:
            kernel.stop("interrupted")

    def on_twin(self, run: "TwinRun") -> None:
        shared = board()
        if shared is not None and shared.stop.value:
            run.interrupt()


@cache
def _meters_version() -> str:
    here = Path(__file__)
    texts = (here.read_bytes(), here.with_name("meters.py").read_bytes())
    return blake2b(b"".join(texts), digest_size=8).hexdigest()


@cache
def _text(scenario: str) -> str:
    return blake2b(find_scenario(scenario).read_bytes(), digest_size=8).hexdigest()
