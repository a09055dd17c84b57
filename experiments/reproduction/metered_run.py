"""A run with meters: observers of its events that measure what a run's summary does not tell."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.many.computing import Call, call_raising_error
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.result_store import key_of
from callboard.experiments.many.run_tasks import (
    RunTask,
    SoloTask,
    board_watcher,
    play_task,
    unpack_solo_times,
    worthy_engine,
)
from callboard.experiments.many.task_pool import Interrupted
from callboard.experiments.reproduction.meters import METERS
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import (
    ACTORS,
    EngineName,
    RunResult,
    pack_result,
    unpack_result,
)
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Sink, fan_out
from callboard.experiments.run.solo_runs import any_without_heartbeats
from callboard.experiments.user_errors import InputError
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError

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
    the other has played.  `engine` says who plays, which changes no figure but how long decisions
    take: a run that the actors have to play is kept apart.
    """

    scenario: str
    policy: str
    seed: int
    overrides: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    slowdown: bool = False
    engine: EngineName = "auto"

    def calls(self) -> list[Call]:
        """What is to be computed of it; what refuses it if it cannot be played."""
        try:
            run, solo = _run_and_solo_keys(self)
        except (InputError, PolicySpecError, ScenarioError) as error:
            return [call_raising_error(error, self)]
        play = play_metered if self.meters else play_unmetered
        alone = [Call(solo, play_alone, (self,))] if self.slowdown else []
        return [Call(run, play, (self,)), *alone]

    def read(self, found: Mapping[str, bytes]) -> "MeteredRun":
        """The run, from what was computed."""
        run, solo = _run_and_solo_keys(self)
        packed, metered = found[run], dict[str, Any]()
        if self.meters:
            packed, metered = msgspec.msgpack.decode(packed, type=tuple[bytes, dict[str, Any]])
        result = unpack_result(packed)
        if self.slowdown:
            result = unpack_solo_times(found[solo]).with_solo_times(result)
        return MeteredRun(result, metered)

    def spec(self) -> RunSpec:
        """The run."""
        spec = load_run(self.scenario, (*self.overrides, f"seed={self.seed}"))
        return msgspec.structs.replace(spec, policy=self.policy)


@cache
def _run_and_solo_keys(task: MeteredTask) -> tuple[str, str]:
    spec = task.spec()
    run = task_key(RunTask(spec))
    if task.meters:
        run = key_of("metered", run, _meters_version(), task.meters)
    if task.engine == ACTORS:
        run = key_of("by the actors", run)
    return run, task_key(_solo_task(spec)) if task.slowdown else ""


def _solo_task(spec: RunSpec) -> SoloTask:
    return SoloTask(spec, at_once=any_without_heartbeats([spec]))


class MeteredRun(msgspec.Struct, frozen=True):
    """A run's result, and what the meters say."""

    result: RunResult
    metered: Mapping[str, Metered]


def calls_with_engine(calls: Iterable[Call], engine: EngineName) -> list[Call]:
    """The calls, their runs played by this engine, but for those that name one; `auto` where there
    is enough to play.
    """
    calls = list(calls)
    runs = [each.arguments[0] for each in calls if _is_for_any_engine(each)]
    worthy = worthy_engine(engine, sum(each.spec().task_count for each in runs))
    return [_call_with_engine(each, worthy) if _is_for_any_engine(each) else each for each in calls]


def _is_for_any_engine(call: Call) -> bool:
    return call.function in _PLAYS and call.arguments[0].engine == "auto"


def _call_with_engine(call: Call, engine: EngineName) -> Call:
    task = msgspec.structs.replace(call.arguments[0], engine=engine)
    return call._replace(arguments=(task,))


def play_unmetered(task: MeteredTask) -> bytes:
    """Play the run; Interrupted if it is not wanted any more."""
    return play_task(RunTask(task.spec(), engine=task.engine))


def play_alone(task: MeteredTask) -> bytes:
    """How long its jobs take alone."""
    return play_task(_solo_task(task.spec()))


def play_metered(task: MeteredTask) -> bytes:
    """Play the run with its meters; Interrupted if it is not wanted any more."""
    meters: dict[str, Meter] = {}

    def listen() -> Sink:
        meters.update((name, METERS[name]()) for name in task.meters)
        return fan_out([each.observe for each in meters.values()])

    result = RunTask(task.spec(), engine=task.engine).run(board_watcher(), listen)
    if result.interrupted:
        raise Interrupted
    metered = {name: dict(meter.figures()) for name, meter in meters.items()}
    return msgspec.msgpack.encode((pack_result(result), metered))


_PLAYS = (play_unmetered, play_metered)


@cache
def _meters_version() -> str:
    here = Path(__file__)
    texts = (here.read_bytes(), here.with_name("meters.py").read_bytes())
    return blake2b(b"".join(texts), digest_size=8).hexdigest()
