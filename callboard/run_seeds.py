"""`callboard run` with several seeds: those that were asked for, or as many as a question needs."""

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from callboard.console import PlainConsole, ReportConsole
from callboard.experiments.journal_paths import RunKey, journal_paths
from callboard.experiments.many.seed_runs import ResultRow, SeedRuns, mean_response_s
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.many.task_pool import cores_here
from callboard.experiments.pages.figure_rows import TABLE_ROWS, VERBOSE_ROWS, group_rows
from callboard.experiments.pages.report.report_words import (
    ONE_RUN_REMARK,
    found_sentence,
    skewed_remark,
)
from callboard.experiments.run.run_hints import switch_note
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.user_errors import InputError
from callboard.histories.quantiles import require_scipy
from callboard.playing import say_replaced
from callboard.run_arguments import PlannedWorld
from callboard.run_once import (
    WorldOutcome,
    backtest_words,
    outcome_of_world,
    play_as_asked,
    print_heading,
)
from callboard.scheduler.text.quantities import count
from callboard.tables.engine_lines import engine_lines
from callboard.tables.seed_table import difference_table, seed_table, seeds_json

MOST_SEEDS = 200
"""A question that needs more seeds than these is given up, unless --seeds allows more."""

FEWEST = 5
"""A question is not answered by fewer."""


def has_several_seeds(options: argparse.Namespace) -> bool:
    """Whether the options ask for more than the scenario's own seed."""
    return options.seeds is not None or options.precision is not None or options.best


if TYPE_CHECKING:
    from callboard.experiments.many.precision import Precision, PrecisionRule
    from callboard.experiments.many.selection import Selection, SelectionRule


class PlayedSeeds(NamedTuple):
    """What was played, what the rule that asked for seeds says of it, and whether Ctrl-C came."""

    runs: SeedRuns
    verdict: "Precision | Selection | None"
    interrupted: bool


def several_seeds_player(
    options: argparse.Namespace, worlds: Sequence[PlannedWorld]
) -> Callable[[PlannedWorld], WorldOutcome]:
    """What plays one of these scenarios with its seeds and prints its tables; InputError for bad
    arguments, MissingExtraError where no interval can be computed.
    """
    require_scipy()
    _check_options(options, worlds)
    paths: dict[RunKey, Path] = {}
    if options.journal is not None:
        keys = [
            (world.spec.scenario.name, policy, seed)
            for world in worlds
            for seed in _asked_seeds(options, world)
            for policy in world.policies
        ]
        paths = journal_paths(options.journal, keys, options.scenarios)
        say_replaced(paths.values(), PlainConsole(stderr=True))
    return lambda world: _play_and_print(world, options, paths)


def _check_options(options: argparse.Namespace, worlds: Sequence[PlannedWorld]) -> None:
    if options.precision is not None and options.best:
        raise InputError("--precision and --best are two questions; ask one of them")
    if options.steady:
        raise InputError("--steady looks into one long run; of several seeds there are intervals")
    asks = options.precision is not None or options.best
    if asks and options.journal is not None:
        raise InputError("--journal: it is not known yet how many seeds; name them by --seeds")
    if options.best and any(len(world.policies) < 2 for world in worlds):
        raise InputError("--best: name at least two policies, with --policy")
    for world in worlds:
        _stopping_rule(options, len(_asked_seeds(options, world)))
        world.run_with_seed(_asked_seeds(options, world)[-1])  # of a journal there is but one


def _asked_seeds(options: argparse.Namespace, world: PlannedWorld) -> tuple[int, ...]:
    return seeds_of(options.seeds or MOST_SEEDS, world.spec.scenario.seed)


def _stopping_rule(
    options: argparse.Namespace, most: int
) -> "PrecisionRule | SelectionRule | None":
    from callboard.experiments.many.stopping import FIRST_STAGE

    try:
        if options.precision is not None:
            from callboard.experiments.many.precision import PrecisionRule

            return PrecisionRule(
                options.precision, least=_first_stage_size(FIRST_STAGE, most), most=most
            )
        if options.best:
            from callboard.experiments.many.selection import SelectionRule

            asked = {"error": options.error, "share": options.indifference}
            stated = {name: value for name, value in asked.items() if value is not None}
            return SelectionRule(
                **stated, first_stage=_first_stage_size(FIRST_STAGE, most), most=most
            )
    except ValueError as error:
        raise InputError(f"--precision, --best: {error}") from None
    return None


def _first_stage_size(usual: int, most: int) -> int:
    """A first stage that --seeds has room for; of fewer than `FEWEST` no rule is made."""
    return min(usual, max(most, FEWEST))


def _play_and_print(
    world: PlannedWorld, options: argparse.Namespace, paths: Mapping[RunKey, Path]
) -> WorldOutcome:
    played = _play_seeds(world, options, paths)
    if not options.json:
        _print_results(world, played, options)
    everything = [each for row in played.runs.rows for each in row if each is not None]
    told = seeds_json(played.runs, options.by)
    for place, of_policy in enumerate(told):
        of_policy.update(_verdict_json(played, place))
    return outcome_of_world(told, everything, played.interrupted)


def _verdict_json(played: PlayedSeeds, place: int) -> dict[str, object]:
    """What the rule that asked for seeds says of the policy at that place, if one did."""
    verdict = played.verdict
    if verdict is None:
        return {}
    said = {"stopping": verdict.stopping.value, "says": verdict.sentence(played.runs.policies)}
    from callboard.experiments.many.selection import Selection

    if not isinstance(verdict, Selection):
        return {"precision": said}
    remains = place in verdict.survivors
    return {"best": {"is_best": verdict.best == place, "remains": remains, **said}}


def _play_seeds(
    world: PlannedWorld, options: argparse.Namespace, paths: Mapping[RunKey, Path]
) -> PlayedSeeds:
    """Play seeds until there are no more, or until the rule has enough."""
    seeds, rows = _asked_seeds(options, world), dict[int, ResultRow]()
    rule, verdict, interrupted = _stopping_rule(options, len(seeds)), None, False
    alive = tuple(range(len(world.policies)))
    while not interrupted:
        if rule is not None:
            verdict = rule.judge(_runs_so_far(world, rows).figures(mean_response_s))
        left = seeds[len(rows) :]
        wanted, alive = _next_seeds_and_policies(verdict, alive, options, len(left))
        batch = left[:wanted]
        if not batch:
            break
        specs = [[runs[place] for place in alive] for runs in map(world.runs, batch)]
        more, interrupted = play_as_asked(specs, options, paths)
        for seed, row in zip(batch, more, strict=True):
            if _all_runs_ended(row):
                rows[seed] = _row_with_gaps(row, alive, len(world.policies))
    return PlayedSeeds(_runs_so_far(world, rows), verdict, interrupted)


def _runs_so_far(world: PlannedWorld, rows: Mapping[int, ResultRow]) -> SeedRuns:
    name = world.spec.scenario.name
    return SeedRuns(name, world.policies, tuple(rows), tuple(rows.values()))


def _next_seeds_and_policies(
    verdict: "Precision | Selection | None",
    alive: tuple[int, ...],
    options: argparse.Namespace,
    left: int,
) -> tuple[int, tuple[int, ...]]:
    """How many more seeds, and under which policies: without a rule all that are left, with one at
    least enough to keep all cores busy.
    """
    if verdict is None:
        return left, alive
    from callboard.experiments.many.selection import Selection

    if isinstance(verdict, Selection) and verdict.seeds:
        alive = verdict.survivors
    together = math.ceil((options.cores or cores_here()) / max(len(alive), 1))
    return (max(verdict.wanted, together) if verdict.wanted else 0), alive


def _all_runs_ended(row: ResultRow) -> bool:
    """Whether all the runs of a seed have come to their end."""
    return all(result is not None and not result.interrupted for result in row)


def _row_with_gaps(row: ResultRow, alive: Sequence[int], policies: int) -> ResultRow:
    """The row with None for the policies that were not played any more."""
    results = dict(zip(alive, row, strict=True))
    return tuple(results.get(place) for place in range(policies))


def _print_results(world: PlannedWorld, played: PlayedSeeds, options: argparse.Namespace) -> None:
    """The scenario in two lines, the tables, and what they cannot tell."""
    console, runs = ReportConsole(), played.runs
    print_heading(world, _seeds_words(runs.seeds))
    if not runs.rows:
        console.print_line("no seed was played to its end")
        return
    told = runs.without_copies()
    console.print_table_in_parts(seed_table(told, VERBOSE_ROWS if options.verbose else TABLE_ROWS))
    for by in dict.fromkeys(options.by):
        everything = [
            each for place in range(len(runs.policies)) for each in runs.results_of_policy(place)
        ]
        console.print_table_in_parts(seed_table(told, group_rows(everything, by)))
    if len(runs.policies) > 1 and not switch_note(world.spec):
        if told is runs and (differences := difference_table(runs)).rows:
            console.print(differences)
        console.print_line(found_sentence(runs), "bold")
    first = [result for result in runs.rows[0] if result is not None]
    if tested := "" if played.interrupted else backtest_words(world, options, first):
        console.print_line(tested)
    console.print_lines(_remark_lines(played, options))
    console.print()


def _seeds_words(seeds: Sequence[int]) -> str:
    if len(seeds) < 2:
        return f"seed {seeds[0]}" if seeds else "no seed"
    return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]}; jobs counted with the first)"


def _checked_words(results: Sequence[RunResult]) -> list[str]:
    """How often the rules were checked in how many runs, if they were."""
    checks = [check for each in results for check in each.checks]
    if not checks:
        return []
    exercised = {check.rule for check in checks if check.times}
    rules = f"{len(exercised)} of {len({check.rule for check in checks})} rules"
    times = count(sum(check.times for check in checks), "time")
    where = f"in {count(len(results), 'run')}, {times}"
    return [f"checked: {rules} {where}, none broken (docs/checks.md says what they ask for)"]


def _what_seeds_tell(played: PlayedSeeds, options: argparse.Namespace) -> Iterator[str]:
    """What the rule says, what the intervals are, and which are wide, or of skewed figures; of
    seeds that are one run only that.
    """
    runs = played.runs
    if runs.are_seeds_copies:
        if len(runs.policies) == 1:  # else it is told with what was found
            yield ONE_RUN_REMARK
        return
    if len(runs.seeds) == 1:
        return  # what was found says so
    yield "± is half a 95 % interval of the mean over the seeds"
    if played.verdict is not None:
        yield played.verdict.sentence(runs.policies)
    wide = [runs.policies[place] for place in runs.roughly_known_policies(mean_response_s)]
    if wide and options.precision is None:
        which = f"the mean response time of {', '.join(wide)}"
        yield f"wide intervals: {which} is known to no better than ± 20 %; more seeds help"
    if skewed := skewed_remark(runs):
        yield skewed


def _remark_lines(played: PlayedSeeds, options: argparse.Namespace) -> list[str]:
    """What the seeds tell, who has played them, and how many."""
    runs = played.runs
    lines = list(_what_seeds_tell(played, options))
    results = [
        each for place in range(len(runs.policies)) for each in runs.results_of_policy(place)
    ]
    lines += [*_checked_words(results), *engine_lines(results)]
    if played.interrupted:
        lines.append(f"interrupted: {count(len(runs.seeds), 'seed')} played to the end")
    return lines
