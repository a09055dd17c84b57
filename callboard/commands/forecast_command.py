"""Say when the jobs of a cluster will end, from what is known at a moment.

What had not ended by then is drawn anew, many times: lengths of tasks from those that had ended
(those that run are known to be longer than they have run), jobs still to come from those that had
come.  Up to the moment every such run is the one that happened, and by how far it is off the real
jobs that are over, the others are taken to be off too.  An interval holds the ends of 90 % of these
runs.  Of a history that is over, --test tells how many intervals held what happened.  A scenario is
played first, and its history taken.

examples:
  callboard forecast history/done --policy fair --at 1:00:00
  callboard forecast history/done --policy fair --at 90m --job nightly --runs 400
  callboard forecast facebook-morning --policy fair --at 20m --jobs 60 --nodes 30
  callboard forecast history/done --policy fair --test 20
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from callboard.actors.vocabulary.events import AnyEvent
from callboard.arguments import parse_moment, whole_number_type
from callboard.console import ReportConsole, aligned_lines
from callboard.experiments.backtest.recorded_history import imported_history
from callboard.experiments.forecast.continuations import Continuations
from callboard.experiments.forecast.forecast import (
    LEVEL,
    Coverage,
    Forecast,
    Forecaster,
    coverage,
    spread_instants,
)
from callboard.experiments.forecast.known_state import KnownState, known_states
from callboard.experiments.input_places import input_replicas
from callboard.experiments.many.run_tasks import worthy_engine
from callboard.experiments.many.task_pool import Workers, local_workers
from callboard.experiments.run.run_result import EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.experiments.user_errors import InputError
from callboard.histories.model.tasks_file import RecordedJob
from callboard.histories.played_recording import played_recording
from callboard.journal.export.run_history import played_history_of_run
from callboard.journal.tell.time_format import clock_time
from callboard.progress_line import steps_progress
from callboard.run_arguments import add_world_arguments, plan_world
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.recording_scenario import scenario_of
from callboard.scenarios.scenario_file import find_scenario, from_dict
from callboard.scheduler.model import STAGES, JobId, Millis
from callboard.scheduler.text.quantities import and_more, count, duration
from callboard.scheduler.text.strict_decoder import suggestion
from callboard.stdio import print_json

_RUNS, _RUNS_LEAST = 100, 20
_FEW = f"the 5% beyond either end of an interval of {LEVEL:.0%} are one of 20"
_FAULTS_NOTE = (
    "of the scenario's faults only the attempts that they ended are known: nodes that are down are"
    " taken to be up"
)
_NAMES_SHOWN = 3
"""Jobs that a note has by name, at most."""

_TESTED_AT_ONCE = 5
"""Jobs of an instant that a test forecasts, at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("world", metavar="HISTORY|SCENARIO", help="a history, a folder of one, or a scenario")
    add("--policy", action="append", required=True, metavar="POLICY", help="what schedules")
    at = "the moment, as in 7:30, 1:07:30, 90s or 1h30m"
    when = parser.add_mutually_exclusive_group(required=True)
    when.add_argument("--at", type=parse_moment, metavar="TIME", help=at)
    test = "forecast at that many moments of what is over, and count the intervals that held it"
    when.add_argument("--test", type=whole_number_type(1, 1000), metavar="N", help=test)
    add("--job", action="append", metavar="NAME", help="only this job; repeated, these")
    runs = f"how often what is not known is drawn anew (default: {_RUNS})"
    add(
        "--runs",
        type=whole_number_type(_RUNS_LEAST, 100_000, why=_FEW),
        default=_RUNS,
        metavar="N",
        help=runs,
    )
    none = "no job comes any more; else jobs come on as they have come"
    add("--no-arrivals", action="store_true", help=none)
    cores = "how many processes play at once (default: one a core)"
    add("--cores", type=whole_number_type(1, 4096), metavar="N", help=cores)
    add("--json", action="store_true", help="print the forecasts as JSON")
    add_world_arguments(parser)


class _World(NamedTuple):
    """What is forecast: a run of recorded jobs, when they ended as far as the history tells, and by
    how much its clock is ahead of the asked one.
    """

    name: str
    spec: RunSpec
    ended_ms: dict[JobId, Millis]
    ahead_ms: Millis = 0
    note: str = ""


def forecast_command(options: argparse.Namespace) -> int:
    if len(options.policy) > 1:
        raise InputError("forecast: one --policy, the one that schedules")
    world = _world_to_forecast(options)
    with local_workers(options.cores) as workers:
        if options.test is not None:
            return _test_forecasts(world, workers, options)
        at_ms = max(options.at + world.ahead_ms, 0)
        if not options.job and _is_surely_empty(world, at_ms):
            return _tell_nobody_there(world, at_ms, world.ended_ms, options)
        (state,) = known_states(world.spec, [at_ms])
        forecaster = Forecaster(
            Continuations(world.spec, state, _last_arrival_ms(state, options)), world.ended_ms
        )
        targets = _jobs_to_forecast(world, state, forecaster, options.job)
        if not targets:
            return _tell_nobody_there(
                world, at_ms, {**state.finished_ms, **world.ended_ms}, options
            )
        with steps_progress("continuations", options.runs, left=True) as moved:
            engine = _engine_for_forecasts(world, options)
            found = list(forecaster.forecasts(targets, options.runs, workers, moved, engine))
        if options.json:
            print_json([_as_json(world, each) for each in found])
        else:
            _print_forecasts(world, state, found, len(forecaster.in_system))
    return 0


# What is forecast.


def _world_to_forecast(options: argparse.Namespace) -> _World:
    """The world as recorded jobs; of a scenario that plays none, the history of its run."""
    planned = plan_world(options.world, options, options.policy)
    (spec,) = planned.runs(planned.spec.scenario.seed)
    source = find_scenario(options.world)
    if isinstance(spec.scenario.workload, RecordedWorkload):
        recording = imported_history(spec, source.parent).recording
        world = _world_of_history(spec.scenario.name, spec, recording.jobs)
        return world._replace(note=recording.cut)
    return _world_of_played_run(spec, source)


def _world_of_played_run(spec: RunSpec, source: Path) -> _World:
    """A run as a history: what is known of a scenario beyond that is not used."""
    events: list[AnyEvent] = []
    Simulation(spec, [events.append]).run()
    played = played_history_of_run(events)
    imported = played_recording(played, input_replicas(played.started, source))
    recorded = from_dict(scenario_of(imported, spec.scenario.name, ""))
    assert isinstance(recorded.workload, RecordedWorkload)
    of_history = recorded.workload.jobs_of(imported.recording.jobs)
    named = zip(of_history, played.jobs.values(), strict=True)
    jobs = tuple(replace(job, name=played.title) for job, played in named)
    run = RunSpec(recorded, jobs, (), spec.policy)
    world = _world_of_history(spec.scenario.name, run, imported.recording.jobs)
    ahead_ms = jobs[0].submit_ms - spec.jobs[0].submit_ms
    return world._replace(ahead_ms=ahead_ms, note=_FAULTS_NOTE if spec.script else "")


def _world_of_history(name: str, spec: RunSpec, recorded: Sequence[RecordedJob]) -> _World:
    ended_ms = {}
    for job, was in zip(spec.jobs, recorded, strict=False):
        if was.tells_response and was.response_ms is not None:
            ended_ms[job.job] = job.submit_ms + was.response_ms
    return _World(name, spec, ended_ms)


def _jobs_to_forecast(
    world: _World, state: KnownState, forecaster: Forecaster, names: Sequence[str] | None
) -> list[JobId]:
    there = forecaster.in_system
    if names is None:
        return there
    _check_job_names(world, names)
    named = {job.name: job.job for job in world.spec.jobs}
    for name in names:
        if named[name] not in there:
            come = named[name] in state.submitted
            raise InputError(f"--job {name[:60]}: it {'is over' if come else 'has not come'} then")
    return [named[name] for name in names]


def _check_job_names(world: _World, names: Sequence[str]) -> None:
    """InputError for a name that no job has."""
    known = dict.fromkeys(job.name for job in world.spec.jobs)
    for name in names:
        if name not in known:
            raise InputError(f"--job {name[:60]}: no job is called so; {suggestion(name, known)}")


def _is_surely_empty(world: _World, at_ms: Millis) -> bool:
    """Whether nobody is there, as can be known without playing: by the history's own ends."""
    return all(
        job.submit_ms > at_ms or world.ended_ms.get(job.job, at_ms + 1) <= at_ms
        for job in world.spec.jobs
    )


def _tell_nobody_there(
    world: _World, at_ms: Millis, ended_ms: Mapping[JobId, Millis], options: argparse.Namespace
) -> int:
    """Say that nobody is there, and who was last, or will be first."""
    if options.json:
        print_json([])
        return 0
    over = {job: ms for job, ms in ended_ms.items() if ms <= at_ms}
    if over:
        last = max(over, key=lambda job: (over[job], job))
        why = f"the last job, {world.spec.jobs[last].name}, ended at"
        when_ms = over[last]
    else:
        first = min(world.spec.jobs, key=lambda job: job.submit_ms)
        why, when_ms = f"the first job, {first.name}, comes at", first.submit_ms
    at, when = (clock_time(max(each - world.ahead_ms, 0)) for each in (at_ms, when_ms))
    told = f"{world.name}: nothing is in the system at {at}: {why} {when}"
    ReportConsole().print_line(told)
    return 0


def _last_arrival_ms(state: KnownState, options: argparse.Namespace) -> Millis | None:
    """When the last job comes, where that is known."""
    return state.at_ms if options.no_arrivals else None


def _engine_for_forecasts(world: _World, options: argparse.Namespace) -> EngineName:
    return worthy_engine("auto", world.spec.task_count * options.runs)


# How good forecasts were.


def _test_forecasts(world: _World, workers: Workers, options: argparse.Namespace) -> int:
    """Of a history that is over it is known that no job came after its last one."""
    names = options.job or ()
    _check_job_names(world, names)
    states = known_states(world.spec, spread_instants(world.spec, options.test))
    found: list[tuple[Forecast, Millis]] = []
    with steps_progress("continuations", len(states) * options.runs, left=True) as moved:
        for state in states:
            last_ms = state.at_ms if options.no_arrivals else world.spec.jobs[-1].submit_ms
            forecaster = Forecaster(Continuations(world.spec, state, last_ms), world.ended_ms)
            known = [job for job in forecaster.in_system if job in world.ended_ms]
            if names:
                known = [job for job in known if world.spec.jobs[job].name in names]
            engine = _engine_for_forecasts(world, options)
            targets = known[-_TESTED_AT_ONCE:]
            for each in forecaster.forecasts(targets, options.runs, workers, moved, engine):
                found.append((each, world.ended_ms[each.job]))
    told = coverage(found)
    if options.json:
        rows = [
            _as_json(world, each) | {"held": None if each.why_open else each.holds(end)}
            for each, end in found
        ]
        found_all = told._asdict() | {"falls_short": told.falls_short, "each": rows}
        print_json(found_all)
        return 0
    asked = f"{count(told.forecasts, 'forecast')} at {count(len(states), 'moment')}"
    if told.median_error is None:
        said = f"{world.name}: {asked}"
    else:
        error = f"the median error was {told.median_error:.0%} of what was left"
        said = f"{world.name}: of {asked} {_coverage_words(told)}; {error}"
    ReportConsole().print_line(said)
    if told.falls_short:
        wrong = f"do not trust these intervals here: far fewer than {LEVEL:.0%} held what happened"
        ReportConsole().print_line(wrong)
    if world.note:
        ReportConsole().print_line(f"note: {world.note}")
    return 0


def _coverage_words(told: Coverage) -> str:
    """How many intervals held what happened, and of how many forecasts there was none to tell."""
    held = f"{count(told.held, 'interval')} of {LEVEL:.0%} held what happened"
    share = f", {told.held / told.intervals:.0%}" if told.intervals else ""
    without = told.forecasts - told.intervals
    return f"{held}{share}" + (f" ({without} had none: too little was known)" if without else "")


# Telling.


def _as_json(world: _World, each: Forecast) -> dict[str, object]:
    def seconds(at_ms: Millis | None) -> float | None:
        return None if at_ms is None else (at_ms - world.ahead_ms) / 1000

    return {
        "job": world.spec.jobs[each.job].name,
        "at_s": seconds(each.at_ms),
        "ends_s": seconds(each.median_ms),
        "interval_s": None if each.why_open else [seconds(each.low_ms), seconds(each.high_ms)],
        "why_no_interval": each.why_open or None,
        "ended_s": seconds(world.ended_ms.get(each.job)),
    }


def _print_forecasts(
    world: _World, state: KnownState, found: Sequence[Forecast], there: int
) -> None:
    """The forecasts `found`, of as many jobs as are `there` or of those that were asked for."""
    console = ReportConsole()

    def clocked(at_ms: Millis | None) -> str:
        return "never" if at_ms is None else clock_time(at_ms - world.ahead_ms)

    at = clocked(state.at_ms)
    shown = "" if len(found) == there else f", {len(found)} of them shown"
    told = f"{world.name} at {at}: {count(there, 'job')} in the system{shown}"
    console.print_line(told)
    if world.note:
        console.print_line(f"note: {world.note}")
    if played := _departure_from_history_note(world, state):
        console.print_line(f"note: {played}")
    for why in dict.fromkeys(each.why_open for each in found if each.why_open):
        names = [world.spec.jobs[each.job].name for each in found if each.why_open == why]
        some = and_more(names[:_NAMES_SHOWN], len(names) - _NAMES_SHOWN)
        console.print_line(f"note: no interval for {some}: {why}")
    rows = [("job", "done", "left", "ends", f"{LEVEL:.0%} of the ends", "ended")]
    for each in found:
        job = world.spec.jobs[each.job]
        left = "never" if each.median_ms is None else duration(each.median_ms - state.at_ms)
        is_over = each.job in state.finished_ms  # as it is played, and by the history it is not
        rows.append(
            (
                job.name[:29],
                _done_tasks_text(state, each.job, job.maps, job.reduces),
                "-" if is_over else left,
                "-" if is_over else clocked(each.median_ms),
                "-" if each.why_open else f"{clocked(each.low_ms)} – {clocked(each.high_ms)}",
                clocked(world.ended_ms[each.job]) if each.job in world.ended_ms else "",
            )
        )
    console.print_line("")
    console.print_lines(aligned_lines(rows, figures=True))


def _departure_from_history_note(world: _World, state: KnownState) -> str:
    """By how many jobs the moment is another than the history's; empty where it is that."""
    over = {job for job, ended_ms in world.ended_ms.items() if ended_ms <= state.at_ms}
    played = state.finished_ms.keys() & world.ended_ms.keys()
    if over == played:
        return ""
    late, early = len(over - played), len(played - over)
    ended, not_yet = count(len(over), "job"), count(early, "job")
    has = "has" if early == 1 else "have"
    told = [f"{late} of {ended} that had ended by then go on here"] if late else []
    told += [f"{not_yet} that had not ended then {has} ended here"] if early else []
    what = " and ".join(told)
    return f"the time until then is played, not read: {what}; `callboard backtest` tells more"


def _done_tasks_text(state: KnownState, job: JobId, maps: int, reduces: int) -> str:
    """How many of its maps, and of its reduces, have ended."""
    stages = zip(STAGES, (maps, reduces), strict=True)
    return " + ".join(f"{len(state.ended_tasks(job, stage, n))}/{n}" for stage, n in stages)
