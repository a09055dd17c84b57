"""The Python calls: `callboard.run`, `callboard.compare`, `callboard.sweep`, `callboard.load`."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast, get_args

import msgspec

from callboard.actors.kernel.kernel import ActorFailed
from callboard.console import PlainConsole
from callboard.experiments.error_messages import BAD_INPUT, failure_line, traceback_from_own_file
from callboard.experiments.journal_paths import refuse_to_replace_played
from callboard.experiments.many.result_store import ResultStore, is_store
from callboard.experiments.many.run_tasks import RunTask, SoloTimes
from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.many.sweeps.design_file import override_value_text
from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.many.sweeps.sensitivity import (
    KeyRange,
    asked_method,
    keep_question,
    parse_range,
    question_about,
)
from callboard.experiments.many.sweeps.sweep import read_cells, run_sweep
from callboard.experiments.many.sweeps.sweep_plan import PlannedSweep, SweepPlan
from callboard.experiments.many.sweeps.variation import (
    POLICY,
    all_combinations,
    fixed_setting,
    spelled_alternatives,
)
from callboard.experiments.many.task_pool import OtherWorkers, Workers, cores_here, local_workers
from callboard.experiments.pages.report.run_commands import AskedWorld
from callboard.experiments.run.run_loading import RunSource, chosen_policies, load_run
from callboard.experiments.run.run_result import EngineName, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import DriverName
from callboard.experiments.run.solo_runs import solo_times
from callboard.experiments.run.trust import Trust
from callboard.experiments.user_errors import InputError
from callboard.journal.figures.metrics import Metrics
from callboard.journal.format import is_journal
from callboard.journal.reader import Journal
from callboard.notebook import Comparison, Run, Sweep
from callboard.playing import play_rows
from callboard.python_call_checks import check_choice, check_instances, check_texts, check_whole
from callboard.scenarios.library_list import DEFAULT_SCENARIO
from callboard.scenarios.recorded_workload import HISTORY_KEYS
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to run; only `until_ms`, `tie_order` and `patient` can change what happens: a patient run
    goes on although its preemption goes round.  With `check` the run is tested against every rule
    (`journal.checks`) as it goes, with `slowdown` it is also computed how long its jobs take alone.
    `engine` is who plays (see `compare`).  `journal` is the file in which the run is recorded,
    a path or its text.  `host` is the old name of `driver`.
    """

    until_ms: Millis | None = None
    tie_order: int | None = None
    driver: DriverName = "trio"
    journal: Path | None = None
    check: bool = False
    slowdown: bool = False
    patient: bool = False
    host: DriverName | None = None
    engine: EngineName = "actors"


Ends: TypeAlias = Mapping[str, tuple[float, float]]
"""Between what a key is varied, by dotted key."""

Overrides: TypeAlias = str | Sequence[str] | Mapping[str, object]
"""What `--set` takes, one or several, or values by dotted key."""

_Call = TypeVar("_Call", bound=Callable[..., object])


def _with_short_tracebacks(call: _Call) -> _Call:
    """Leave out of the traceback of bad input, and of a policy's own error, the ways that it took
    in here.
    """

    @wraps(call)
    def brief(*arguments: object, **named: object) -> object:
        try:
            return call(*arguments, **named)
        except BAD_INPUT as error:
            raise error.with_traceback(None) from None
        except ActorFailed as error:
            cause = error.__cause__
            if cause is not None:
                cause.__traceback__ = traceback_from_own_file(cause)
                error.add_note(failure_line(error))
            raise error.with_traceback(None) from cause

    return cast(_Call, brief)


@_with_short_tracebacks
def run(
    scenario: str | Path = DEFAULT_SCENARIO,
    policy: str | None = None,
    *,
    seed: int | None = None,
    overrides: Overrides = (),
    trust: bool = False,
    options: RunOptions | None = None,
) -> Run:
    """Play a scenario under one policy (its first one unless named), with a seed (its own).

    `scenario` is a name of the library, a scenario file, a SWIM trace or a journal; `overrides`
    are what `--set` takes (`"tasks.sigma=0.5"`), or values by key (`{"tasks.sigma": 0.5}`).  A
    policy in a Python file is meant if it is named here; one that the scenario or journal names
    needs `trust`.  Raises ScenarioError, PolicySpecError and InputError for bad input, ActorFailed
    where a policy's own code raises, Stalled for a run that cannot end, Violation for one that
    breaks a rule it was to be checked for, OSError for the journal (`callboard.errors`).
    """
    options = options or RunOptions()
    check_instances("options", [options], RunOptions)
    driver = options.host or options.driver
    _check_engine_and_cores(options.engine)
    check_choice("driver", driver, get_args(DriverName))
    check_whole("until_ms", options.until_ms, 0)
    check_whole("tie_order", options.tie_order, 0)
    meant = () if policy is None else _policies(policy)
    if len(meant) > 1:
        raise InputError(
            f"policy: one run has one, not {len(meant)}; `callboard.compare` takes more"
        )
    asked = [*_overrides(overrides), *_seed_override(seed)]
    spec = load_run(str(scenario), asked, trust=Trust(trust, meant))
    world = AskedWorld(str(scenario), fixed_setting(_overrides(overrides)), trust=trust)
    journal = None if options.journal is None else Path(options.journal)
    if journal is not None:
        refuse_to_replace_played(journal, [scenario])
    spec = msgspec.structs.replace(
        spec,
        policy=chosen_policies(spec, meant or [spec.policy])[0],
        until_ms=options.until_ms,
        tie_order=options.tie_order,
        patient=options.patient,
    )
    result = RunTask(spec, driver, journal, options.check, engine=options.engine).run()
    if options.slowdown:
        result = SoloTimes(solo_times(spec)).with_solo_times(result)
    return Run(spec, result, journal, world)


@_with_short_tracebacks
def compare(
    scenario: str | Path = DEFAULT_SCENARIO,
    policies: str | Sequence[str] = (),
    *,
    seeds: int | str | Sequence[int] = 10,
    overrides: Overrides = (),
    trust: bool = False,
    slowdown: bool = False,
    cores: int | None = None,
    engine: EngineName = "auto",
) -> Comparison:
    """Play a scenario under several policies (its own unless named) with the same seeds, on as many
    cores as there are.

    `engine` is who plays: the `actors`, their compiled `twin`, which does the same without
    messages, or `auto`, the twin where it can and that is worth it.
    `seeds` is how many, from the scenario's own on, or which: `"1001..1010"`, or a list.  Ctrl-C
    ends it with a KeyboardInterrupt.  Raises what `run` does, RunFailed for a run that fails in
    another process, InputError for bad seeds.
    """
    _check_engine_and_cores(engine, cores)
    asked, overrides = _policies(policies), _overrides(overrides)
    source = RunSource(str(scenario), trust=Trust(trust, asked))
    first = source.run(overrides)
    named = source.policies(first, asked)
    chosen = seeds_of(seeds, first.scenario.seed)
    specs = [source.run([*overrides, *_seed_override(seed)]) for seed in chosen]
    rows, interrupted = play_rows(
        [[msgspec.structs.replace(spec, policy=name) for name in named] for spec in specs],
        PlainConsole(stderr=True),
        slowdown=slowdown,
        cores=cores,
        engine=engine,
    )
    if interrupted:
        raise KeyboardInterrupt
    world = AskedWorld(str(scenario), fixed_setting(overrides), trust=trust)
    return Comparison(SeedRuns(first.scenario.name, named, chosen, tuple(rows)), first, world)


@_with_short_tracebacks
def sweep(
    scenarios: str | Path | Sequence[str | Path],
    *,
    store: str | Path,
    policies: str | Sequence[str] = (),
    vary: Mapping[str, object | Sequence[object]] | None = None,
    seeds: int | str = 1,
    overrides: Overrides = (),
    sobol: Ends | None = None,
    morris: Ends | None = None,
    samples: int | None = None,
    slowdown: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    cores: int | None = None,
    retry: bool = False,
    engine: EngineName = "auto",
) -> Sweep:
    """Play what is missing in a store: scenarios in every combination of the values to `vary`,
    under policies, with seeds.  What comes back are the runs of this sweep.

    `vary` has values by dotted key (`{"cluster.nodes": [20, 40]}`), or by `"policy"`; in a policy
    `{1,5}` stands for each of the two.  `sobol` or `morris` has two ends by key instead
    (`{"tasks.sigma": (0, 1)}`), between which settings are drawn from `samples` base points: then
    `indices` says how much each key matters.  `executor` is any of `concurrent.futures`, of Dask's
    clients or of others; without one the processes of this machine do it.  Raises what `run` does
    for the first setting; later ones that cannot be are among the `failed`.
    """
    _check_engine_and_cores(engine, cores)
    check_instances("vary", [vary or {}], Mapping)
    varied = {key: _as_tuple(values) for key, values in (vary or {}).items()}
    under = (*_policies(policies), *map(str, varied.get(POLICY, ())))
    named = tuple(map(str, _as_tuple(scenarios)))
    fixed = fixed_setting(_overrides(overrides))
    if not named:
        raise InputError("scenarios: there is none; name one, as in 'two-jobs'")
    check_whole("samples", samples, 2)
    for name, ends in (("sobol", sobol), ("morris", morris)):
        if ends is not None and not ends:
            raise InputError(
                f"{name}: there is no key; name its ends, as in {{'tasks.sigma': (0, 1)}}"
            )
    method = asked_method(sobol, morris, samples, varied, named)
    question = None
    if method is not None:
        source = RunSource(named[0], trust=Trust(trust, under))
        question = question_about(source, method, _key_ranges(sobol or morris), samples, fixed)
    plan = SweepPlan(
        scenarios=named,
        policies=tuple(each for policy in under for each in spelled_alternatives(policy)),
        settings=_setting_combinations(varied) if question is None else question.settings(),
        fixed=fixed,
        seeds=str(seeds),
        slowdown=slowdown,
        trust=trust,
        engine=engine,
    )
    planned = PlannedSweep(plan)
    wanted = set(planned.places())
    with ResultStore(Path(store)) as kept:
        if question is not None:
            keep_question(question, planned.scenario_name(named[0]), kept)
        with _worker_pool(executor, cores) as workers:
            run_sweep(planned, kept, workers, retry=retry)
        cells = read_cells(kept)
    return Sweep([cell for cell in cells if cell.place in wanted], Path(store))


@_with_short_tracebacks
def load(path: str | Path, *, trust: bool = False) -> Run | Sweep:
    """A recorded run from its journal, or the runs of a store; InputError or JournalError for any
    other file, ScenarioError for a journal that names a policy in a Python file without `trust`.
    A journal is read without the history that it plays; only what plays it again asks for that.
    """
    file = Path(path)
    if not file.exists():
        raise InputError(f"{path}: there is no such file")
    if is_store(file):
        with ResultStore(file, must_exist=True) as store:
            return Sweep([cell for cell in read_cells(store) if cell.was_played], file)
    if not is_journal(file):
        raise InputError(f"{path}: neither a journal nor a store of results")
    return _run_of_journal(file, Trust(trust))


def _run_of_journal(path: Path, trust: Trust) -> Run:
    metrics = Metrics.of(Journal(path))
    result = RunResult.of_recorded_run(
        metrics.summary(),
        metrics.jobs(),
        phase_sizes=metrics.phase_sizes(),
        map_locality=metrics.map_locality(),
    )
    try:
        spec: RunSpec | ScenarioError = load_run(str(path), trust=trust)
    except ScenarioError as error:
        if error.key not in HISTORY_KEYS:
            raise
        spec = error  # which is told when the run is to be played again
    return Run(spec, result, path)


def _key_ranges(ends: Ends | None) -> list[KeyRange]:
    """Each key and its two ends; InputError for what is none."""
    check_instances("sobol, morris", [ends], Mapping)
    return [
        parse_range(f"{key}={'..'.join(map(_range_end_text, _as_tuple(two)))}")
        for key, two in (ends or {}).items()
    ]


def _range_end_text(end: object) -> str:
    """As `--sobol` takes it; of any kind of number."""
    if isinstance(end, Integral):
        return str(int(end))
    return repr(float(end)) if isinstance(end, Real) else str(end)


def _setting_combinations(vary: Mapping[str, Sequence[object]]) -> tuple[Setting, ...]:
    others = [(key, values) for key, values in vary.items() if key != POLICY]
    return all_combinations(
        [(key, tuple(map(override_value_text, values))) for key, values in others]
    )


def _as_tuple(values: object) -> tuple[Any, ...]:
    """The values, of which one alone may be given as it is: a string is not its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return (values,)
    return tuple(values)


def _policies(policies: object) -> tuple[str, ...]:
    """Policies, each by its spelling."""
    found = _as_tuple(policies)
    for each in found:
        if not isinstance(each, str):
            told = f"the class {each.__name__}" if isinstance(each, type) else f"{each!r:.80}"
            problem = f"a policy is its spelling, as 'fair' or './mine.py:Mine'; got {told}"
            raise InputError(problem)
    return found


def _check_engine_and_cores(engine: str, cores: int | None = None) -> None:
    """InputError for an engine that there is not, or for no cores at all."""
    check_choice("engine", engine, get_args(EngineName))
    check_whole("cores", cores, 1)


def _overrides(overrides: object) -> tuple[str, ...]:
    """What `--set` takes, one or several, or values by key."""
    if isinstance(overrides, Mapping):
        return tuple(f"{key}={override_value_text(value)}" for key, value in overrides.items())
    found = _as_tuple(overrides)
    check_texts("overrides", found, "cluster.nodes=30")
    return found


def _seed_override(seed: int | None) -> list[str]:
    return [] if seed is None else [f"seed={seed}"]


@contextlib.contextmanager
def _worker_pool(executor: Executor | None, cores: int | None) -> Iterator[Workers]:
    if executor is not None:
        yield OtherWorkers(executor, cores or cores_here())
    else:
        with local_workers(cores) as workers:
            yield workers
