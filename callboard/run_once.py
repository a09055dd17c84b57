"""`callboard run` with one seed: each policy once, and a table that compares them."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.actors.config import node_facts
from callboard.console import PlainConsole, ReportConsole, plain
from callboard.experiments.figure_rows import GroupKey, group_rows, groups_of
from callboard.experiments.journal_paths import RunKey, journal_paths
from callboard.experiments.run_result import LIVELOCK, TWIN, RunResult
from callboard.experiments.run_spec import RunSpec
from callboard.journal.checks.findings import RuleReport
from callboard.journal.tell.names import count
from callboard.playing import play_rows, say_replaced
from callboard.run_arguments import PlannedWorld, run_key
from callboard.tables.policy_table import policy_table


class Told(NamedTuple):
    """What came of a scenario as plain data, whether Ctrl-C has cut it short, and whether the
    preemption of one of its runs went round.
    """

    objects: list[dict[str, object]]
    interrupted: bool
    livelocked: bool


ONE_SEED = "one seed: chance is not told from policy; --seeds 10 gives intervals"


def plan_once(
    options: argparse.Namespace, worlds: Sequence[PlannedWorld]
) -> Callable[[PlannedWorld], Told]:
    """What plays one of these scenarios and prints its table; InputError for bad arguments."""
    keys = [run_key(spec) for world in worlds for spec in world.runs()]
    paths = journal_paths(options.journal, keys, options.scenarios)
    say_replaced(paths.values(), PlainConsole(stderr=True))
    return lambda world: _play(world, options, paths)


def _play(world: PlannedWorld, options: argparse.Namespace, paths: Mapping[RunKey, Path]) -> Told:
    console = PlainConsole(stderr=True)
    rows, interrupted = play_rows(
        [world.runs()],
        console,
        driver=options.driver,
        check=options.check,
        paths=paths,
        slowdown=options.slowdown,
        cores=options.cores,
        engine=options.engine,
    )
    played = [result for result in rows[0] if result is not None]
    if not options.json:
        _print_table(world.spec, played, options.by)
    tell_livelocks(played, console)
    livelocked = any(result.livelock for result in played)
    return Told([_object(result, options.by) for result in played], interrupted, livelocked)


def tell_livelocks(played: Sequence[RunResult], console: PlainConsole) -> None:
    """Say which runs were ended because their preemption went round, and how it came to that."""
    for result in played:
        if result.livelock:
            told = f"callboard: {result.summary.policy}: {result.livelock}"
            for line in told.split("\n"):
                console.print(plain(line), soft_wrap=True)


def _object(result: RunResult, by: GroupKey | None) -> dict[str, object]:
    groups = {} if by is None else {f"by_{by}": groups_of(result, by)}
    return result.as_json() | groups


def print_heading(spec: RunSpec, seeds: str) -> None:
    """The scenario in two lines."""
    console, scenario = ReportConsole(), spec.scenario
    console.print_line(plain(scenario.name, "bold") + plain(f"  {scenario.story}"))
    console.print_line(plain(f"{_size(spec)}, {seeds}"))


def _print_table(spec: RunSpec, played: Sequence[RunResult], by: GroupKey | None) -> None:
    """The scenario in two lines, the tables, and what names the runs."""
    console = ReportConsole()
    print_heading(spec, f"seed {spec.scenario.seed}")
    console.print(policy_table(played))
    if by is not None:
        console.print(policy_table(played, group_rows(played, by)))
    for each in played:
        for line in (_footnote(each), *_checked(each.checks)):
            console.print_line(plain(line, "dim"))
    if len(played) > 1:
        console.print_line(plain(ONE_SEED, "dim"))
    console.print()


def _size(spec: RunSpec) -> str:
    jobs, nodes = spec.jobs, node_facts(spec.scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    tasks = sum(job.maps for job in jobs), sum(job.reduces for job in jobs)
    return (
        f"{count(len(jobs), 'job')} ({count(tasks[0], 'map')}, {count(tasks[1], 'reduce')}) on"
        f" {count(len(nodes), 'node')} ({count(maps, 'map slot')},"
        f" {count(reduces, 'reduce slot')})"
    )


def _footnote(result: RunResult) -> str:
    """The run's policy, its digest if it has one, and how it ended if not by itself."""
    ending = {"until": ", stopped by --until", "interrupted": ", interrupted"}
    ending[LIVELOCK] = ", ended because its preemption goes round"
    summary = result.summary
    named = "played by the twin, without messages" if result.engine == TWIN else None
    named = named or f"digest {summary.digest}"
    why = f" (the twin: {result.why_actors})" if result.why_actors else ""
    return f"{summary.policy}: {named}{ending.get(summary.reason or '', '')}{why}"


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
