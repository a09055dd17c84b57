"""`callboard run` with one seed: each policy once, and a table that compares them."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.actors.config import node_facts
from callboard.console import PlainConsole, ReportConsole, plain, print_aside
from callboard.experiments.journal_paths import RunKey, journal_paths
from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.steady_state import steady_state_of
from callboard.experiments.pages.figure_rows import (
    TABLE_ROWS,
    VERBOSE_ROWS,
    group_rows,
    run_as_json,
)
from callboard.experiments.pages.report.report_words import (
    ONE_RUN_REMARK,
    ONE_SEED_REMARK,
    found_sentence,
)
from callboard.experiments.run.run_hints import switch_note, unreached_note
from callboard.experiments.run.run_result import LIVELOCK, TWIN, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.seed_draws import draws_nothing
from callboard.histories.quantiles import require_scipy
from callboard.journal.checks.findings import RuleReport
from callboard.playing import PlayedRows, play_rows, say_replaced
from callboard.run_arguments import PlannedWorld, run_key
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scheduler.model import Millis
from callboard.scheduler.registry.spelling import short_policy
from callboard.scheduler.text.quantities import count
from callboard.tables.engine_lines import engine_lines
from callboard.tables.policy_table import policy_table
from callboard.tables.steady_table import steady_json, steady_lines, steady_table


class WorldOutcome(NamedTuple):
    """What came of a scenario as plain data, whether Ctrl-C has cut it short, and whether the
    preemption of one of its runs went round.
    """

    objects: list[dict[str, object]]
    interrupted: bool
    livelocked: bool


SEEDS_HINT = "--seeds 10 gives intervals."


def single_seed_player(
    options: argparse.Namespace, worlds: Sequence[PlannedWorld]
) -> Callable[[PlannedWorld], WorldOutcome]:
    """What plays one of these scenarios and prints its table; InputError for bad arguments."""
    if options.steady:
        require_scipy()
    keys = [run_key(spec) for world in worlds for spec in world.runs()]
    paths = journal_paths(options.journal, keys, options.scenarios)
    say_replaced(paths.values(), PlainConsole(stderr=True))
    return lambda world: _play_and_print(world, options, paths)


def _play_and_print(
    world: PlannedWorld, options: argparse.Namespace, paths: Mapping[RunKey, Path]
) -> WorldOutcome:
    rows, interrupted = play_as_asked([world.runs()], options, paths)
    played = [result for result in rows[0] if result is not None]
    if told := _mismatch_with_journal(world, options, played):
        print_aside(told)
    if not options.json:
        _print_results(world, played, options, interrupted=interrupted)
    return outcome_of_world(
        [_result_json(result, options) for result in played], played, interrupted
    )


def play_as_asked(
    rows: Sequence[Sequence[RunSpec]], options: argparse.Namespace, paths: Mapping[RunKey, Path]
) -> PlayedRows:
    """Play and record rows of runs as the arguments say."""
    return play_rows(
        rows,
        PlainConsole(stderr=True),
        driver=options.driver,
        check=options.check,
        paths=paths,
        slowdown=options.slowdown,
        cores=options.cores,
        engine=options.engine,
    )


def _mismatch_with_journal(
    world: PlannedWorld, options: argparse.Namespace, played: Sequence[RunResult]
) -> str:
    """That a journal's run has not come out as it is recorded; empty where it has, where another
    one was asked for, or where its digest names no messages, as that of a run that the twin has
    played.
    """
    ended, policy = world.source.recorded_end, world.spec.policy
    if ended is None or options.tie_order is not None or options.patient:
        return ""
    if ended.reason != "complete" or ended.digest.startswith("events-"):
        return ""
    digests = {
        each.summary.digest
        for each in played
        if (each.summary.policy, each.summary.reason) == (policy, "complete")
        and each.engine != TWIN
    }
    if digests <= {ended.digest}:
        return ""
    changed = "the policy's code or Callboard" if ".py:" in policy else "Callboard"
    told = f"callboard: note: the journal has another run of {policy}: {changed} has changed since"
    return f"{told} (or it was recorded with --tie-order)"


def backtest_words(
    world: PlannedWorld, options: argparse.Namespace, played: Sequence[RunResult]
) -> str:
    """How far the back-test of a history is off with the scenario's own seed, with which `played`
    are; empty for what is none.
    """
    if not isinstance(world.spec.scenario.workload, RecordedWorkload):
        return ""
    from callboard.backtest_sentences import backtest_sentence

    return backtest_sentence(world, options, played)


def outcome_of_world(
    objects: list[dict[str, object]], played: Sequence[RunResult], interrupted: bool
) -> WorldOutcome:
    """What came of these runs, after saying which were ended because their preemption went round,
    and how it came to that.
    """
    went_round = [result for result in played if result.livelock]
    for result in went_round:
        for line in f"callboard: {result.summary.policy}: {result.livelock}".split("\n"):
            print_aside(line)
    return WorldOutcome(objects, interrupted, livelocked=bool(went_round))


def _result_json(result: RunResult, options: argparse.Namespace) -> dict[str, object]:
    steady = {"steady_state": steady_json(steady_state_of(result))} if options.steady else {}
    return run_as_json(result, options.by) | steady


def print_heading(world: PlannedWorld, seeds: str) -> None:
    """The scenario in two lines, and what to know before it is compared with another."""
    console, spec = ReportConsole(), world.spec
    scenario = spec.scenario
    console.print_line(plain(scenario.name, "bold") + plain(f"  {scenario.story}"))
    console.print_line(f"{_size_words(spec)}, {seeds}")
    if world.note:
        console.print_line(f"note: {world.note}")
    for hint in (switch_note(spec), world.heartbeat_hint):
        if hint:
            console.print_line(hint)


def _print_results(
    world: PlannedWorld,
    played: Sequence[RunResult],
    options: argparse.Namespace,
    *,
    interrupted: bool,
) -> None:
    """The scenario in two lines, the tables, what was found and how far it may be off, which may
    take as long again, and what there is to say of a run.
    """
    console = ReportConsole()
    print_heading(world, f"seed {world.spec.scenario.seed}")
    console.print_table_in_parts(
        policy_table(played, VERBOSE_ROWS if options.verbose else TABLE_ROWS)
    )
    for by in dict.fromkeys(options.by):
        console.print_table_in_parts(policy_table(played, group_rows(played, by)))
    if options.steady:
        _print_steady(console, played)
    if len(played) > 1 and not switch_note(world.spec):
        console.print_line(_comparison_words(world.spec, played), "bold")
    if tested := "" if interrupted else backtest_words(world, options, played):
        console.print_line(tested)
    if unreached := unreached_note(world.spec, _run_ends_ms(played)):
        console.print_line(f"note: {unreached}")
    for each in played:
        told = _footnotes(each, verbose=options.verbose)
        console.print_lines(
            (*told, *_thinking_lines(each), *_checked_rule_lines(each.checks)), "dim"
        )
    console.print_lines(engine_lines(each for each in played if each.engine != TWIN), "dim")
    console.print()


def _run_ends_ms(played: Sequence[RunResult]) -> dict[str, Millis]:
    """When runs came to their end, by policy; not those that were stopped."""
    return {
        short_policy(each.summary.policy): round(1000 * each.summary.virtual_seconds)
        for each in played
        if each.summary.reason == "complete"
    }


def _print_steady(console: ReportConsole, played: Sequence[RunResult]) -> None:
    """What each run tells of a system that goes on and on."""
    found = [(short_policy(each.summary.policy), steady_state_of(each)) for each in played]
    if (table := steady_table(found)) is not None:
        console.print(table)
    console.print_lines(steady_lines(found))


def _comparison_words(spec: RunSpec, played: Sequence[RunResult]) -> str:
    """What was found, where all runs have come to their end, and what one seed cannot tell."""
    policies = tuple(result.summary.policy for result in played)
    is_drawn = not draws_nothing(spec, policies)
    if any(result.summary.reason != "complete" for result in played):
        return f"{ONE_SEED_REMARK} {SEEDS_HINT}" if is_drawn else ONE_RUN_REMARK
    runs = SeedRuns(spec.scenario.name, policies, (spec.scenario.seed,), (tuple(played),))
    found = found_sentence(runs, is_drawn=is_drawn)
    return f"{found} {SEEDS_HINT}" if is_drawn else found


def _size_words(spec: RunSpec) -> str:
    jobs, nodes = spec.jobs, node_facts(spec.scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    tasks = sum(job.maps for job in jobs), sum(job.reduces for job in jobs)
    return (
        f"{count(len(jobs), 'job')} ({count(tasks[0], 'map')}, {count(tasks[1], 'reduce')}) on"
        f" {count(len(nodes), 'node')} ({count(maps, 'map slot')},"
        f" {count(reduces, 'reduce slot')})"
    )


_ENDINGS = {
    "until": "stopped by --until",
    "interrupted": "interrupted",
    LIVELOCK: "ended because its preemption goes round",
}
"""How a run ended that did not end by itself."""


def _footnotes(result: RunResult, *, verbose: bool) -> list[str]:
    """A line with the run's policy and what there is to say: its digest if that was asked for, how
    it ended if not by itself, that the twin has played it, or all of a policy whose column cuts it.
    """
    summary = result.summary
    told = ["played by the twin, without messages"] if result.engine == TWIN else []
    told += [f"digest {summary.digest}"] if verbose and not told else []
    told += [_ENDINGS[summary.reason]] if summary.reason in _ENDINGS else []
    below = result.checks or result.thoughts
    named = told or below or short_policy(summary.policy) != summary.policy
    return [": ".join(filter(None, (summary.policy, ", ".join(told))))] if named else []


def _thinking_lines(result: RunResult) -> Iterator[str]:
    """How busy schedulers that share a cell were, and what conflicts cost them."""
    run_ms = round(1000 * result.summary.virtual_seconds)
    for each in result.thoughts:
        thoughts = each.useful + each.wasted + each.in_vain
        lost = f"{each.wasted:,} in conflict ({each.wasted_ms / 1000:,.1f} s)"
        tried = f"{count(thoughts, 'thought')}, {lost}, {each.in_vain:,} without room"
        first_s, whole_s = each.mean_waits_s
        waits = f"its jobs queue for {first_s:,.1f} s until the first, {whole_s:,.1f} s in all"
        yield f"  scheduler {each.scheduler}: {each.busyness(run_ms):.1%} busy, {tried}; {waits}"


def _checked_rule_lines(checks: Sequence[RuleReport]) -> list[str]:
    """Which rules the run was tested against, how often, and which had nothing to test."""
    if not checks:
        return []
    times = sum(check.times for check in checks)
    counts = ", ".join(f"{check.rule} {check.times:,}" for check in checks if check.times)
    idle = "; ".join(f"{check.rule}: {check.idle}" for check in checks if not check.times)
    used = sum(check.times > 0 for check in checks)
    first = f"  checked: {used} of {len(checks)} rules, {count(times, 'time')}, none broken"
    return [first, f"  {counts}", *([f"  not exercised: {idle}"] if idle else [])]
