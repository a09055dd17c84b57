"""Run each scenario under each policy and print one table that compares them.

examples:
  callboard run facebook-morning --policy fifo --policy fair --slowdown
  callboard run trace.tsv --nodes 100 --jobs 1000 --policy fair
  callboard run two-jobs --set tasks.sigma=0.3 --seed 7 --json
  callboard run two-jobs --policy fair --journal fair.journal
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from callboard.console import PlainConsole, ReportConsole, plain
from callboard.experiments.journal_paths import RunKey, journal_paths
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.simulation import RunResult, run_simulation
from callboard.experiments.solo_runs import first_of_shape, solo_times
from callboard.journal.checks.rule import RuleReport, Violation
from callboard.journal.figures.slowdown import slowdowns
from callboard.journal.tell.names import count
from callboard.policy_table import policy_table
from callboard.progress_line import run_progress
from callboard.run_arguments import PlannedRun, add_world_arguments, plan_runs
from callboard.scenarios.build import node_facts
from callboard.scenarios.scenario_file import DEFAULT_SCENARIO


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = (
        "a name from `callboard scenarios`, a scenario file (.toml), a SWIM trace (.tsv), a history"
        " that `callboard import` can read, or a journal, whose run is played again;"
        f" {DEFAULT_SCENARIO} if none is given"
    )
    add("scenarios", nargs="*", default=[], metavar="SCENARIO", help=what)
    policy = (
        "parts from `callboard policies`, as in `fair+delay(node=5)`, or of a file of yours,"
        " as in `./mine.py:MyOrder`; may be repeated; else the scenario's own"
    )
    add("--policy", action="append", metavar="POLICY", help=policy)
    add = add_world_arguments(parser).add_argument
    checked = "test every event against the rules S1 to S15, and stop at the first that is broken"
    add("--check", action="store_true", help=checked)
    driver = "what runs the actors: Trio tasks, or a plain loop with the same results"
    add("--driver", "--host", choices=("trio", "direct"), default="trio", help=driver)
    add = parser.add_argument_group("what comes out").add_argument
    add("--json", action="store_true", help="print JSON instead of the table")
    journal = "record the run; of several runs each has its own (f-fair.journal for f.journal)"
    add("--journal", metavar="FILE", help=journal)
    slowdown = "also compare each job with itself alone on the empty cluster"
    add("--slowdown", action="store_true", help=slowdown)


def run_command(options: argparse.Namespace) -> int:
    console = PlainConsole(stderr=True)
    plans = [
        plan_runs(name, options, options.policy) for name in options.scenarios or [DEFAULT_SCENARIO]
    ]
    paths = journal_paths(options.journal, [run.key for plan in plans for run in plan])
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


def _say_where(console: PlainConsole, path: Path | None) -> None:
    if path is not None:
        console.print(plain(f"recorded in {path}"), soft_wrap=True)


def _play_all(
    plan: Sequence[PlannedRun],
    options: argparse.Namespace,
    paths: dict[RunKey, Path],
    console: PlainConsole,
) -> tuple[list[RunResult], bool]:
    """One run for each policy until Ctrl-C, and whether that came."""
    played: list[RunResult] = []
    for run in plan:
        spec, journal = run.spec, paths.get(run.key)
        try:
            title = f"{spec.policy} · {spec.scenario.name}"
            with run_progress(console, title, len(spec.jobs)) as watcher:
                result = run_simulation(
                    spec,
                    policy=run.policy,
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
    shapes = len(first_of_shape(spec.jobs))
    with run_progress(console, f"measuring {count(shapes, 'job')} alone", shapes) as watcher:
        alone = solo_times(spec, watcher)
    return [
        msgspec.structs.replace(each, slowdown=slowdowns(each.metrics.jobs(), alone).statistics)
        for each in played
    ]


def _print_table(spec: RunSpec, played: Sequence[RunResult]) -> None:
    """The scenario in two lines, the table, and what names the runs."""
    console, scenario = ReportConsole(), spec.scenario
    console.print_line(plain(scenario.name, "bold") + plain(f"  {scenario.story}"))
    console.print_line(plain(_size(spec)))
    console.print(policy_table(played))
    for each in played:
        for line in (_footnote(each), *_checked(each.checks)):
            console.print_line(plain(line, "dim"))
    console.print()


def _size(spec: RunSpec) -> str:
    jobs, nodes = spec.jobs, node_facts(spec.scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    tasks = sum(job.maps for job in jobs), sum(job.reduces for job in jobs)
    return (
        f"{count(len(jobs), 'job')} ({count(tasks[0], 'map')}, {count(tasks[1], 'reduce')}) on"
        f" {count(len(nodes), 'node')} ({count(maps, 'map slot')},"
        f" {count(reduces, 'reduce slot')}), seed {spec.scenario.seed}"
    )


def _footnote(result: RunResult) -> str:
    """The run's policy and digest, and how it ended if not by itself."""
    ending = {"until": ", stopped by --until", "interrupted": ", interrupted"}
    summary = result.summary
    return f"{summary.policy}: digest {summary.digest}{ending.get(summary.reason or '', '')}"


def _checked(checks: Sequence[RuleReport]) -> list[str]:
    """Which rules the run was tested against, how often, and which had nothing to test."""
    if not checks:
        return []
    times = sum(check.times for check in checks)
    counts = ", ".join(f"{check.rule} {check.times:,}" for check in checks if check.times)
    idle = "; ".join(f"{check.rule}: {check.idle}" for check in checks if not check.times)
    used = sum(check.times > 0 for check in checks)
    first = f"  checked: {used} of {len(checks)} rules, {count(times, 'time')}, none broken"
    return [first, f"  {counts}", *([f"  not exercised: {idle}"] if idle else [])]
