"""What a task's answer depends on, as a key: equal keys have equal answers."""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.many.result_store import key_of
from callboard.experiments.many.run_tasks import SoloTask, WorkerTask
from callboard.experiments.run.plugins import part_classes
from callboard.experiments.run.run_spec import RunSpec
from callboard.scheduler.registry.parts import PartSettings

PLAYING = (
    "scheduler/**/*.py",
    "!scheduler/text/*.py",
    "scheduler/text/key_path.py",
    "scheduler/text/strict_decoder.py",
    "scheduler/text/toml_limits.py",
    "scheduler/text/toml_text.py",
    "actors/**/*.py",
    "twin/**/*.py",
    "journal/run_*.py",
    "journal/figures/*.py",
    "experiments/run/livelock.py",
    "experiments/run/run_result.py",
    "experiments/run/run_spec.py",
    "experiments/many/run_tasks.py",
    "experiments/run/run_watcher.py",
    "experiments/run/simulation.py",
    "experiments/run/solo_runs.py",
    "experiments/run/twin_play.py",
)
"""The files whose text can change what a run comes to whose jobs and script are known; less those
after a `!`, which say things in words.
"""

READING = (
    "scheduler/text/*.py",
    "!scheduler/text/quantities.py",
    "!scheduler/text/missing_extra.py",
    "histories/**/*.py",
    "!histories/played_*.py",
    "!histories/quantiles.py",
    "!histories/writers/*.py",
    "!histories/calibration/*.py",
    "histories/calibration/heartbeat_phases.py",
    "scenarios/**/*.py",
    "experiments/run/run_loading.py",
)
"""Those whose text can change which jobs and script a scenario comes to."""

PROGRAM = ("actors", "experiments", "histories", "journal", "scenarios", "scheduler", "twin")
"""The rooms of all that a worker computes."""

_HOUSE = Path(__file__).parents[2]


@cache
def model_version() -> str:
    """A digest of the code that decides what a run of known jobs and script comes to."""
    return code_digest(_HOUSE, PLAYING)


@cache
def scenario_version() -> str:
    """A digest of the code that decides what a scenario's run comes to: that which reads it, draws
    its jobs and script, and plays them.
    """
    return code_digest(_HOUSE, (*PLAYING, *READING))


@cache
def program_version() -> str:
    """A digest of all code that a worker may run, by which another version of it is known."""
    return code_digest(_HOUSE, [f"{room}/**/*.py" for room in PROGRAM])


def code_digest(house: Path, patterns: Sequence[str]) -> str:
    """A digest of the files that match, by name and text, and of NumPy's first draws."""
    digest, found = blake2b(digest_size=8), set[Path]()
    for pattern in patterns:
        take = found.difference_update if pattern.startswith("!") else found.update
        take(house.glob(pattern.removeprefix("!")))
    for path in sorted(found):
        digest.update(path.relative_to(house).as_posix().encode())
        digest.update(path.read_bytes())
    digest.update(np.random.Generator(np.random.PCG64(0)).standard_normal(8).tobytes())
    return digest.hexdigest()


def task_key(task: WorkerTask) -> str:
    """The key of a run, or of how long its jobs take alone, which no policy changes.

    In it is all that can change what happens: the jobs, the script, the cluster, the policy with
    the code of its parts, the version of the model; not what the scenario is called, who read
    it, nor which driver runs it.
    """
    spec = task.spec.with_interventions_applied()
    scenario = spec.scenario
    jobs = tuple(_plain_jobs(spec.jobs))
    world = (scenario.cluster, scenario.tasks, scenario.seed, jobs)
    if isinstance(task, SoloTask):
        return key_of("solo", model_version(), *map(_plain_data, (*world, task.at_once)))
    parts = dict(sorted(scenario.parts.items()))  # whose own order means nothing
    asked = (spec.script, parts, spec.policy, spec.until_ms, spec.tie_order, spec.patient)
    code = [_foreign_code_digests(policy, scenario.parts) for policy in _policies_in_force(spec)]
    return key_of("run", model_version(), *map(_plain_data, (*world, *asked)), code)


def _plain_data(part: object) -> object:
    return msgspec.to_builtins(part)


def _plain_jobs(jobs: Sequence[JobSpec]) -> Iterator[object]:
    """Each job, and of a history also what each of its tasks took."""
    for job in jobs:
        if job.recorded is None:
            yield _plain_data(job)
        else:
            own = msgspec.structs.replace(job, recorded=None)
            yield _plain_data(own), _plain_tasks(job.recorded)


def _plain_tasks(tasks: RecordedTasks) -> object:
    """Neither arrays nor tables by task, which no key can be made of."""
    rest = msgspec.structs.replace(tasks, failures={})
    return msgspec.to_builtins(rest, enc_hook=list), _plain_data(sorted(tasks.failures.items()))


def _policies_in_force(spec: RunSpec) -> Iterator[str]:
    """The policy, and those that are put in force later."""
    yield spec.policy
    for each in spec.script:
        if isinstance(each.fault, SwitchPolicy):
            yield each.fault.policy


def _foreign_code_digests(policy: str, parts: PartSettings) -> tuple[str, ...]:
    """A digest of the file of each of the policy's parts that does not ship with Callboard.  It is
    made anew for each run: in a notebook a file is edited between two.
    """
    modules = (part.__module__ for part in part_classes(policy, parts))
    return tuple(_module_digest(name) for name in modules if not name.startswith("callboard."))


def _module_digest(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return blake2b(Path(file).read_bytes() if file else b"", digest_size=8).hexdigest()
