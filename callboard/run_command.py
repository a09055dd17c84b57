"""`callboard run`."""

import argparse
import contextlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console

from actors.jobs import JobSpec
from callboard import plugins
from callboard.errors import InputError
from callboard.play import Options, Result, Watcher, play
from callboard.slowdown import slowdown, solo_times
from journal.names import count
from scenarios import spec as scenarios
from scenarios.build import node_facts
from scenarios.spec import Scenario
from tui.comparison import Run, comparison
from tui.progress import run_progress

SHORTCUTS = {
    "nodes": "cluster.nodes",
    "racks": "cluster.racks",
    "map_slots": "cluster.map_slots",
    "reduce_slots": "cluster.reduce_slots",
    "jobs": "workload.jobs",
    "seed": "seed",
}
"""Options that are short for a `--set`."""


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard run`."""
    parser.add_argument(
        "scenarios",
        nargs="*",
        default=[scenarios.DEFAULT],
        metavar="SCENARIO",
        help="a name from `callboard scenarios`, a scenario file (.toml) or a SWIM trace (.tsv);"
        f" {scenarios.DEFAULT} if none is given",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="POLICY",
        help="parts from `callboard policies`, as in `fair+delay(node=5)`, or of a file of yours,"
        " as in `./mine.py:MyOrder`; may be repeated; else the scenario's own",
    )
    _add_scenario_arguments(parser.add_argument_group("changing the scenario"))
    _add_playing_arguments(parser.add_argument_group("playing it"))
    _add_output_arguments(parser.add_argument_group("what comes out"))


def _add_scenario_arguments(group: argparse._ArgumentGroup) -> None:
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


def _add_playing_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--until", type=_seconds, metavar="SECONDS", help="end the run at this virtual time"
    )
    group.add_argument(
        "--tie-order",
        type=int,
        metavar="SEED",
        help="permute simultaneous events, to see how much hangs on their order",
    )
    group.add_argument(
        "--host",
        choices=("trio", "direct"),
        default="trio",
        help="what runs the actors: Trio tasks, or a plain loop with the same results",
    )


def _add_output_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", action="store_true", help="print JSON instead of the table")
    group.add_argument(
        "--journal",
        type=Path,
        metavar="FILE",
        help="record the run; several runs are told apart in the name (FILE-fair.journal)",
    )
    group.add_argument(
        "--slowdown",
        action="store_true",
        help="also compare each job with itself alone on the empty cluster",
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < 1e12:
        raise ValueError(text)
    return seconds


def run_command(options: argparse.Namespace) -> int:
    """Run every scenario under every policy."""
    console = Console(stderr=True)
    plans = [_plan(name, options) for name in options.scenarios]
    paths = _journal_paths(options.journal, plans)
    results: list[Result] = []
    for scenario, jobs, policies in plans:
        played = _play_all(scenario, jobs, policies, options, paths, console)
        results += played
        if not options.json:
            _print_table(scenario, jobs, played)
        if played[-1].interrupted:
            break
    if options.json:
        plain = [result.as_json() for result in results]
        print(json.dumps(plain[0] if len(plain) == 1 else plain, indent=2))
    for result in results:
        path = paths.get((result.summary.scenario, result.summary.policy))
        if path is not None:
            console.print(f"recorded in {path}", highlight=False, soft_wrap=True)
    return 130 if results[-1].interrupted else 0


Plan = tuple[Scenario, Sequence[JobSpec], Sequence[str]]


def _plan(name: str, options: argparse.Namespace) -> Plan:
    """A scenario with the command line's changes, its jobs, and the policies to run it under.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    path = scenarios.find(name)
    overrides = [
        f"{key}={value}"
        for option, key in SHORTCUTS.items()
        if (value := getattr(options, option)) is not None
    ]
    scenario = scenarios.load(path, [*overrides, *options.set])
    policies = [plugins.canonical(text) for text in options.policy or scenario.policies]
    return scenario, scenarios.make_jobs(scenario, path.parent), policies


def _journal_paths(path: Path | None, plans: Sequence[Plan]) -> dict[tuple[str, str], Path]:
    """The journal of each (scenario, policy); one run has the very name that was asked for."""
    if path is None:
        return {}
    runs = [(plan[0].name, policy) for plan in plans for policy in plan[2]]
    if len(set(runs)) < len(runs):
        raise InputError("--journal: the same scenario runs twice under the same policy")
    if len(runs) == 1:
        return {runs[0]: path}
    several = len(plans) > 1
    return {
        (name, policy): path.with_name(
            f"{path.stem}-{f'{name}-' if several else ''}{_in_a_name(policy)}{path.suffix}"
        )
        for name, policy in runs
    }


def _in_a_name(policy: str) -> str:
    """The policy as part of a file's name: a part of a user's file would bring its folders."""
    return re.sub(r"[^\w.+=,()-]+", "_", policy)


def _play_all(
    scenario: Scenario,
    jobs: Sequence[JobSpec],
    policies: Sequence[str],
    options: argparse.Namespace,
    paths: dict[tuple[str, str], Path],
    console: Console,
) -> list[Result]:
    """One run for each policy, until Ctrl-C."""
    played: list[Result] = []
    for policy in policies:
        how = Options(
            until_ms=None if options.until is None else round(options.until * 1000),
            tie_order=options.tie_order,
            host=options.host,
            journal=paths.get((scenario.name, policy)),
        )
        with _watcher(console, f"{scenario.name} · {policy}", len(jobs)) as watcher:
            played.append(play(scenario, jobs, policy, how, watcher))
        if played[-1].interrupted:
            return played
    if options.slowdown:
        alone = solo_times(scenario, jobs)
        played = [
            msgspec.structs.replace(each, slowdown=slowdown(each.metrics, alone)) for each in played
        ]
    return played


@contextlib.contextmanager
def _watcher(console: Console, title: str, jobs: int) -> Iterator[Watcher | None]:
    """A progress line where somebody can see it."""
    if not console.is_terminal:
        yield None
        return
    with run_progress(console, title, jobs) as watcher:
        yield watcher


def _print_table(scenario: Scenario, jobs: Sequence[JobSpec], played: Sequence[Result]) -> None:
    """The scenario in two lines, the table, and what names the runs."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    nodes = node_facts(scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    tasks = sum(job.maps for job in jobs), sum(job.reduces for job in jobs)
    console.print(f"[bold]{scenario.name}[/]  {scenario.story}", soft_wrap=True)
    console.print(
        f"{count(len(jobs), 'job')} ({count(tasks[0], 'map')}, {count(tasks[1], 'reduce')}) on"
        f" {count(len(nodes), 'node')} ({count(maps, 'map slot')},"
        f" {count(reduces, 'reduce slot')}), seed {scenario.seed}",
        soft_wrap=True,
    )
    runs = [
        Run(each.summary, each.wall_seconds, each.scheduling.us_per_decision, each.slowdown)
        for each in played
    ]
    console.print(comparison(runs))
    for each in played:
        console.print(_footnote(each), soft_wrap=True, style="dim")
    console.print()


def _footnote(result: Result) -> str:
    """What names the run, and how it ended if not by itself."""
    ending = {"until": ", stopped by --until", "interrupted": ", interrupted"}
    summary = result.summary
    return f"{summary.policy}: digest {summary.digest}{ending.get(summary.reason or '', '')}"
