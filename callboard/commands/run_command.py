"""`callboard run`."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.console import PlainConsole, plain
from callboard.experiments import plugins
from callboard.experiments.journal_paths import RunKey, journal_paths
from callboard.experiments.run_loading import SHORTCUTS, load_run
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.simulation import RunResult, RunWatcher, run_simulation
from callboard.experiments.solo_runs import first_of_shape, slowdown_statistics, solo_times
from callboard.journal.checks.rule import RuleReport, Violation
from callboard.journal.tell.names import count
from callboard.policy_table import RunColumn, policy_table
from callboard.progress_line import run_progress
from callboard.scenarios.build import node_facts
from callboard.scenarios.scenario_file import DEFAULT_SCENARIO
from callboard.scheduler.policy import Policy

UNTIL_MAX_S = 1_000_000_000_000
"""Thirty thousand years: the clock stays a 64-bit number."""


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard run`."""
    parser.add_argument(
        "scenarios",
        nargs="*",
        default=[],
        metavar="SCENARIO",
        help="a name from `callboard scenarios`, a scenario file (.toml), a SWIM trace (.tsv), or a"
        f" journal, whose run is played again; {DEFAULT_SCENARIO} if none is given",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="POLICY",
        help="parts from `callboard policies`, as in `fair+delay(node=5)`, or of a file of yours,"
        " as in `./mine.py:MyOrder`; may be repeated; else the scenario's own",
    )
    add_scenario_arguments(parser.add_argument_group("changing the scenario"))
    playing = parser.add_argument_group("playing it")
    add_world_arguments(playing)
    _add_host_argument(playing)
    _add_output_arguments(parser.add_argument_group("what comes out"))


def add_scenario_arguments(group: argparse._ArgumentGroup) -> None:
    """What changes the scenario."""
    group.add_argument("--seed", metavar="N", help="the root of all randomness")
    group.add_argument("--nodes", metavar="N", help="how many nodes")
    group.add_argument("--racks", metavar="N", help="how many racks they stand in")
    group.add_argument("--map-slots", metavar="N", help="map slots a node")
    group.add_argument("--reduce-slots", metavar="N", help="reduce slots a node")
    group.add_argument("--jobs", metavar="N", help="only so many jobs")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any field of the scenario, as in `--set cluster.heartbeat.out_of_band=true`",
    )


def add_world_arguments(group: argparse._ArgumentGroup) -> None:
    """What changes what happens, apart from the scenario."""
    group.add_argument(
        "--no-faults",
        action="store_true",
        help="leave the scenario's timeline out: its calm twin, on the same draws",
    )
    group.add_argument(
        "--until", type=_seconds, metavar="SECONDS", help="end the run at this virtual time"
    )
    group.add_argument(
        "--tie-order",
        type=int,
        metavar="SEED",
        help="permute simultaneous events, to see how much hangs on their order",
    )


def _add_host_argument(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--check",
        action="store_true",
        help="hold every event against the rules S1 to S15, and stop at the first that is broken",
    )
    group.add_argument(
        "--driver",
        "--host",
        choices=("trio", "direct"),
        default="trio",
        help="what runs the actors: Trio tasks, or a plain loop with the same results",
    )


def _add_output_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", action="store_true", help="print JSON instead of the table")
    group.add_argument(
        "--journal",
        metavar="FILE",
        help="record the run; of several runs each has its own (f-fair.journal for f.journal)",
    )
    group.add_argument(
        "--slowdown",
        action="store_true",
        help="also compare each job with itself alone on the empty cluster",
    )


def until_ms(options: argparse.Namespace) -> int | None:
    """What `--until` says."""
    return None if options.until is None else round(options.until * 1000)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= UNTIL_MAX_S:  # nan is not in there either
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds from 0 to {UNTIL_MAX_S:,}, got {text!r}"
        )
    return seconds


class PlannedRun(NamedTuple):
    """A run that has been asked for, and its policy as it has been read."""

    spec: RunSpec
    policy: Policy


def run_command(options: argparse.Namespace) -> int:
    """Run every scenario under every policy."""
    console = PlainConsole(stderr=True)
    plans = [
        plan_runs(name, options, options.policy) for name in options.scenarios or [DEFAULT_SCENARIO]
    ]
    paths = journal_paths(options.journal, [run_key(run.spec) for plan in plans for run in plan])
    results: list[RunResult] = []
    interrupted = False
    for plan in plans:
        played, interrupted = _play_all(plan, options, paths, console)
        results += played
        if not options.json:
            _print_table(plan[0].spec, played)
        if interrupted:
            break
    if options.json:
        objects = [result.as_json() for result in results]
        print(json.dumps(objects[0] if len(objects) == 1 else objects, indent=2))
    for result in results:
        _say_where(console, paths.get((result.summary.scenario, result.summary.policy)))
    return 130 if interrupted else 0


def run_key(spec: RunSpec) -> RunKey:
    """What names a run among those of one command."""
    return spec.scenario.name, spec.policy


def _say_where(console: PlainConsole, path: Path | None) -> None:
    """Tell where a run is recorded, if it is."""
    if path is not None:
        console.print(plain(f"recorded in {path}"), soft_wrap=True)


def plan_runs(
    name: str, options: argparse.Namespace, asked: Sequence[str] | None
) -> list[PlannedRun]:
    """What to run of one scenario that was named: under the policies asked for, or its own.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    values = {option: getattr(options, _attribute(option)) for option in SHORTCUTS}
    given = {option: value for option, value in values.items() if value is not None}
    spec = load_run(name, options.set, given, faults=not options.no_faults)
    spec = msgspec.structs.replace(spec, until_ms=until_ms(options), tie_order=options.tie_order)
    policies = [
        plugins.read_policy(text, spec.scenario.parts) for text in asked or spec.scenario.policies
    ]
    return [
        PlannedRun(msgspec.structs.replace(spec, policy=spelling), policy)
        for spelling, policy in policies
    ]


def _attribute(option: str) -> str:
    """Where argparse keeps `--map-slots`: `map_slots`."""
    return option.removeprefix("--").replace("-", "_")


def _play_all(
    plan: Sequence[PlannedRun],
    options: argparse.Namespace,
    paths: dict[RunKey, Path],
    console: PlainConsole,
) -> tuple[list[RunResult], bool]:
    """One run for each policy, until Ctrl-C; and whether that came."""
    played: list[RunResult] = []
    for spec, policy in plan:
        journal = paths.get(run_key(spec))
        try:
            title = f"{spec.policy} · {spec.scenario.name}"
            with _watcher(console, title, len(spec.jobs)) as watcher:
                result = run_simulation(
                    spec,
                    policy=policy,
                    driver=options.driver,
                    journal=journal,
                    check=options.check,
                    watcher=watcher,
                )
        except Violation:
            _say_where(console, journal)
            raise
        played.append(result)
        if result.interrupted:
            return played, True
    if not options.slowdown:
        return played, False
    try:
        return _with_slowdown(plan[0].spec, played, console), False
    except KeyboardInterrupt:  # what has been played is still worth a table
        return played, True


def _with_slowdown(
    spec: RunSpec, played: Sequence[RunResult], console: PlainConsole
) -> list[RunResult]:
    """The results with their jobs compared with themselves alone."""
    shapes = len(first_of_shape(spec.jobs))
    with _watcher(console, f"measuring {count(shapes, 'job')} alone", shapes) as watcher:
        alone = solo_times(spec, watcher)
    return [
        msgspec.structs.replace(each, slowdown=slowdown_statistics(each.metrics, alone))
        for each in played
    ]


@contextlib.contextmanager
def _watcher(console: PlainConsole, title: str, jobs: int) -> Iterator[RunWatcher | None]:
    """A progress line where somebody can see it."""
    if not console.is_terminal:
        yield None
        return
    with run_progress(console, title, jobs) as watcher:
        yield watcher


def _print_table(spec: RunSpec, played: Sequence[RunResult]) -> None:
    """The scenario in two lines, the table, and what names the runs."""
    scenario, jobs = spec.scenario, spec.jobs
    terminal = sys.stdout.isatty()
    console = PlainConsole(width=None if terminal else 120)
    nodes = node_facts(scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    tasks = sum(job.maps for job in jobs), sum(job.reduces for job in jobs)
    heading = plain(scenario.name, "bold") + plain(f"  {scenario.story}")
    size = plain(
        f"{count(len(jobs), 'job')} ({count(tasks[0], 'map')}, {count(tasks[1], 'reduce')}) on"
        f" {count(len(nodes), 'node')} ({count(maps, 'map slot')},"
        f" {count(reduces, 'reduce slot')}), seed {scenario.seed}",
    )
    runs = [
        RunColumn(each.summary, each.wall_seconds, each.scheduling.us_per_decision, each.slowdown)
        for each in played
    ]
    # People read wrapped lines, programs whole ones.
    console.print(heading, soft_wrap=not terminal)
    console.print(size, soft_wrap=not terminal)
    console.print(policy_table(runs))
    for each in played:
        console.print(plain(_footnote(each), "dim"), soft_wrap=not terminal)
        for line in _checked(each.checks):
            console.print(plain(line, "dim"), soft_wrap=not terminal)
    console.print()


def _footnote(result: RunResult) -> str:
    """What names the run, and how it ended if not by itself."""
    ending = {"until": ", stopped by --until", "interrupted": ", interrupted"}
    summary = result.summary
    return f"{summary.policy}: digest {summary.digest}{ending.get(summary.reason or '', '')}"


def _checked(checks: Sequence[RuleReport]) -> list[str]:
    """What the run was held against, how often, and what there was nothing to hold against."""
    if not checks:
        return []
    times = sum(check.times for check in checks)
    counts = ", ".join(f"{check.rule} {check.times:,}" for check in checks if check.times)
    idle = "; ".join(f"{check.rule}: {check.idle}" for check in checks if not check.times)
    used = sum(check.times > 0 for check in checks)
    told = f"  checked: {used} of {len(checks)} rules, {count(times, 'time')}, none broken"
    lines = [told, f"  {counts}"]
    return [*lines, f"  not exercised: {idle}"] if idle else lines
