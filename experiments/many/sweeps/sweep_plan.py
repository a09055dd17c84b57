"""What a sweep plays: scenarios in settings, under policies, with seeds."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.experiments.many.run_tasks import RunTask, SoloTask, worthy_engine
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.many.sweeps.played_cell import CellOptions, Place, Setting
from callboard.experiments.run.run_hints import any_by_heartbeats, interval_hint
from callboard.experiments.run.run_loading import SHORTCUTS, RunSource
from callboard.experiments.run.run_result import EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.solo_runs import any_without_heartbeats
from callboard.experiments.run.trust import Trust
from callboard.experiments.user_errors import InputError
from callboard.scenarios.library_list import library_names
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.timeline import Timeline
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError

COLUMNS, _ = SHORTCUTS["--map"]
"""The key that says what the columns of a table mean: without it there is no history."""

SCHEDULER_KEYS = "parts."
"""Where the keys begin that set the scheduler, and do not change what was recorded."""

CELLS_MAX = 1_000_000
"""More runs than that are a mistake."""


class SweepPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Every scenario in every setting, under every policy, with every seed.

    `policies` are spellings; without any each scenario has its own.  `fixed` is what holds in all
    settings (as `--set` takes it).  `seeds` is a number of them or `LO..HI`; with `slowdown` it is
    also computed how long each world's jobs take alone.  `trust` is as in `experiments.trust`.
    `engine` says who plays, which changes no figure.
    """

    scenarios: tuple[str, ...]
    policies: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ((),)
    fixed: Setting = ()
    seeds: str = "1"
    slowdown: bool = False
    faults: bool = True
    trust: bool = False
    until_ms: Millis | None = None
    engine: EngineName = "auto"

    @property
    def options(self) -> CellOptions:
        """What is asked of each run beside its place."""
        return CellOptions(self.faults, self.until_ms)

    def __post_init__(self) -> None:
        if not self.scenarios:
            raise InputError("a sweep needs a scenario")
        if not self.settings:
            raise InputError("a sweep needs a setting; its grid is empty")
        if any(key == "seed" for setting in (self.fixed, *self.settings) for key, _ in setting):
            raise InputError("seed: seeds are not a key to vary; --seeds says which are played")
        varied = {key for setting in self.settings for key, _ in setting}
        if twice := next((key for key, _ in self.fixed if key in varied), ""):
            raise InputError(f"{twice}: it is both varied and set to one value; choose one of them")


class PlannedCell(NamedTuple):
    """A run that a sweep wants, or why it cannot be."""

    scenario: str
    setting: Setting
    policy: str
    seed: int
    task: RunTask | SoloTask | None
    error: str = ""


def settings_kept_for_history(settings: Sequence[str], source: RunSource) -> list[str]:
    """What of these settings holds for a history as it was: how it is read, the scheduler's, and
    what nodes have besides slots where the history tells nothing of that.
    """
    kept = [COLUMNS, SCHEDULER_KEYS]
    cluster = source.cluster([each for each in settings if each.startswith(COLUMNS)])
    if cluster is None or not (cluster.capacity or any(each.capacity for each in cluster.group)):
        kept.append("cluster.capacity")
    return [each for each in settings if each.startswith(tuple(kept))]


class SweptHistory(NamedTuple):
    """A recorded history of a sweep: its name, its recording, the folder that this lies in, and the
    timeline that its runs have; and the history as it was, with its own seed and the settings of
    the scheduler that hold throughout, under each policy.
    """

    name: str
    workload: RecordedWorkload
    base_dir: Path
    timeline: Timeline
    unchanged: Sequence[RunTask]
    stated: Sequence[str]
    """These settings, as options of a command."""


SOLO = ""
"""In place of a policy: the jobs of the world, each alone."""


class PlannedSweep:
    """A plan whose scenarios and policies have been found.

    ScenarioError or PolicySpecError where a scenario cannot be played in its first setting under a
    policy of the plan; what is wrong with later settings are cells that failed.
    """

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        trust = Trust(plan.trust, plan.policies)
        self._sources = {
            name: RunSource(name, faults=plan.faults, trust=trust) for name in plan.scenarios
        }
        self._first = {
            name: self._run_spec(name, plan.settings[0], None) for name in plan.scenarios
        }
        self.seeds = {
            name: seeds_of(plan.seeds, spec.scenario.seed) for name, spec in self._first.items()
        }
        self.policies = {name: self._policy_spellings(name) for name in plan.scenarios}
        for name, seeds in self.seeds.items():
            self._run_spec(name, plan.settings[0], seeds[-1])  # of a journal there is but one
        self._engine = self._worthy_engine()
        if len(self) > CELLS_MAX:
            raise InputError(f"the sweep has {len(self):,} runs; the limit is {CELLS_MAX:,}")

    def __len__(self) -> int:
        """How many runs it has."""
        of_worlds = (
            len(self.seeds[n]) * (len(self.policies[n]) + self.plan.slowdown) for n in self.seeds
        )
        return len(self.plan.settings) * sum(of_worlds)

    def scenario_name(self, scenario: str) -> str:
        """The name of a scenario that was asked for, as it says itself."""
        return self._first[scenario].scenario.name

    def file_of(self, scenario: str) -> Path | None:
        """The file that was asked for; None for one of the library."""
        return None if scenario in library_names() else Path(scenario)

    def first_run(self, scenario: str) -> RunSpec:
        """A scenario that was asked for, in the first setting, under its own first policy."""
        return self._first[scenario]

    def cells(self) -> Iterator[PlannedCell]:
        """Every run once, seed by seed, so that a sweep cut short has something of everything."""
        for world in self._planned_worlds():
            yield from self._cells_of_world(*world)

    def places(self) -> Iterator[Place]:
        """Where the runs stand, without a look at what they are; times alone are left out."""
        for name, setting, seed in self._planned_worlds():
            for policy in self.policies[name]:
                yield Place(self.scenario_name(name), (*self.plan.fixed, *setting), policy, seed)

    def _planned_worlds(self) -> Iterator[tuple[str, Setting, int]]:
        longest = max(map(len, self.seeds.values()))
        for place in range(longest):
            for name, setting in product(self.seeds, self.plan.settings):
                if place < len(self.seeds[name]):
                    yield name, setting, self.seeds[name][place]

    def _cells_of_world(self, name: str, setting: Setting, seed: int) -> Iterator[PlannedCell]:
        called, whole = self.scenario_name(name), (*self.plan.fixed, *setting)
        policies = self.policies[name]
        try:
            spec = self._run_spec(name, setting, seed)
        except (ScenarioError, InputError) as error:
            for policy in policies:
                yield PlannedCell(called, whole, policy, seed, None, str(error))
            return
        compared = [msgspec.structs.replace(spec, policy=policy) for policy in policies]
        for each in compared:
            yield PlannedCell(called, whole, each.policy, seed, RunTask(each, engine=self._engine))
        if self.plan.slowdown:
            alone = SoloTask(spec, at_once=any_without_heartbeats(compared))
            yield PlannedCell(called, whole, SOLO, seed, alone)

    def _worthy_engine(self) -> EngineName:
        tasks = sum(
            len(self.seeds[name]) * len(self.policies[name]) * spec.task_count
            for name, spec in self._first.items()
        )
        return worthy_engine(self.plan.engine, len(self.plan.settings) * tasks)

    def histories(self) -> Iterator[SweptHistory]:
        """The recorded histories among its scenarios."""
        for name, spec in self._first.items():
            workload, base_dir = spec.scenario.workload, self._sources[name].base_dir
            if not isinstance(workload, RecordedWorkload) or base_dir is None:
                continue
            fixed = [f"{key}={value}" for key, value in self.plan.fixed]
            read = settings_kept_for_history(fixed, self._sources[name])
            as_it_was = self._sources[name].unscripted_run(read)
            runs = (msgspec.structs.replace(as_it_was, policy=p) for p in self.policies[name])
            tasks = [RunTask(run, engine=self._engine) for run in runs]
            stated = [word for each in read for word in ("--set", each)]
            yield SweptHistory(name, workload, base_dir, spec.scenario.timeline, tasks, stated)

    def interval_hints(self) -> Iterator[str]:
        """What to know of scenarios whose settings have other numbers of nodes."""
        if not any(key == "cluster.nodes" for setting in self.plan.settings for key, _ in setting):
            return
        for name, source in self._sources.items():
            if not any_by_heartbeats(self.policies[name], self._first[name].scenario.parts):
                continue
            settings = list(self.plan.settings)
            if isinstance(self._first[name].scenario.workload, RecordedWorkload):
                settings.insert(0, ())  # the history's own cluster, which its back-test speaks of
            clusters = (source.cluster(self._override_texts(each)) for each in settings)
            if hint := interval_hint([each for each in clusters if each is not None]):
                yield hint

    def _override_texts(self, setting: Setting) -> list[str]:
        return [f"{key}={value}" for key, value in (*self.plan.fixed, *setting)]

    def _run_spec(self, name: str, setting: Setting, seed: int | None) -> RunSpec:
        overrides = self._override_texts(setting)
        if seed is not None and seed != self._first[name].scenario.seed:
            overrides.append(f"seed={seed}")
        return msgspec.structs.replace(
            self._sources[name].run(overrides), until_ms=self.plan.until_ms
        )

    def _policy_spellings(self, name: str) -> tuple[str, ...]:
        found = self._sources[name].policies(self._first[name], self.plan.policies)
        return tuple(dict.fromkeys(found))
