"""A run with meters: observers of its events that measure what a run's summary does not tell."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import msgspec

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.many.computing import Call, refusal
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.result_store import key_of
from callboard.experiments.many.run_tasks import RunTask, SoloTask, play_task, read_solo_times
from callboard.experiments.many.task_pool import Interrupted, board
from callboard.experiments.reproduction.meters import METERS
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import RunResult, pack_result, unpack_result
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.solo_runs import any_at_once
from callboard.experiments.user_errors import InputError
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scheduler.policy import PolicySpecError

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

    `meters` are names of `METERS`; with `slowdown` it is also computed how long jobs take alone,
    once for all policies.  A run without meters is kept as a sweep keeps it, and either finds what
    the other has played.
    """

    scenario: str
    policy: str
    seed: int
    overrides: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    slowdown: bool = False

    def calls(self) -> list[Call]:
        """What is to be computed of it; what refuses it if it cannot be played."""
        try:
            run, solo = _keys_of(self)
        except (InputError, PolicySpecError, ScenarioError) as error:
            return [refusal(error, self)]
        play = play_metered if self.meters else play_unmetered
        alone = [Call(solo, play_alone, (self,))] if self.slowdown else []
        return [Call(run, play, (self,)), *alone]

    def read(self, found: Mapping[str, bytes]) -> "MeteredRun":
        """The run, from what was computed."""
        run, solo = _keys_of(self)
        packed, metered = found[run], dict[str, Any]()
        if self.meters:
            packed, metered = msgspec.msgpack.decode(packed, type=tuple[bytes, dict[str, Any]])
        result = unpack_result(packed)
        if self.slowdown:
            result = read_solo_times(found[solo]).of(result)
        return MeteredRun(result, metered)

    def spec(self) -> RunSpec:
        """The run."""
        spec = load_run(self.scenario, (*self.overrides, f"seed={self.seed}"))
        return msgspec.structs.replace(spec, policy=self.policy)


@cache
def _keys_of(task: MeteredTask) -> tuple[str, str]:
    """The keys of its run, and of its jobs alone."""
    spec = task.spec()
    run = task_key(RunTask(spec))
    if task.meters:
        run = key_of("metered", run, _meters_version(), task.meters)
    return run, task_key(_alone(spec)) if task.slowdown else ""


def _alone(spec: RunSpec) -> SoloTask:
    return SoloTask(spec, at_once=any_at_once([spec]))


class MeteredRun(msgspec.Struct, frozen=True):
    """A run's result, and what the meters say."""

    result: RunResult
    metered: Mapping[str, Metered]


def play_unmetered(task: MeteredTask) -> bytes:
    """Play the run, by the twin where it can: the figures are the same.  Interrupted if it is not
    wanted any more.
    """
    return play_task(RunTask(task.spec(), engine="auto"))


def play_alone(task: MeteredTask) -> bytes:
    """How long its jobs take alone."""
    return play_task(_alone(task.spec()))


def play_metered(task: MeteredTask) -> bytes:
    """Play the run with its meters; Interrupted if it is not wanted any more."""
    meters: dict[str, Meter] = {name: METERS[name]() for name in task.meters}
    result = RunTask(task.spec()).run(_Watcher(list(meters.values())))
    if result.interrupted:
        raise Interrupted
    metered = {name: dict(meter.figures()) for name, meter in meters.items()}
    return msgspec.msgpack.encode((pack_result(result), metered))


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


@cache
def _meters_version() -> str:
    here = Path(__file__)
    texts = (here.read_bytes(), here.with_name("meters.py").read_bytes())
    return blake2b(b"".join(texts), digest_size=8).hexdigest()
