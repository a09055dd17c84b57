"""Look for the scenario in which POLICY looks worst against another, by drawing scenarios, climbing
and breeding; make it smaller while it stays nearly as bad, and write it as a scenario file.

objectives: max slowdown, starvation time, unfairness, wasted work, flapping, blocked users,
  mean response ratio

examples:
  callboard hunt fifo --against fair --objective 'max slowdown'
  callboard hunt fair+kill --against fair --objective 'wasted work' --profile thorough
  callboard hunt psbs+preemptive --against psbs --objective flapping
"""

import argparse
from functools import partial
from pathlib import Path
from textwrap import wrap

import msgspec

from callboard import search_arguments
from callboard.experiments.journal_paths import check_folder, slug
from callboard.experiments.run import plugins
from callboard.experiments.run.trust import trust_option
from callboard.experiments.user_errors import EXIT_FAILED, InputError
from callboard.experiments.whole_files import replacement_words
from callboard.fairness.experiment import Experiment
from callboard.fairness.hunt import WorstCase, hunt
from callboard.fairness.objectives import OBJECTIVES
from callboard.fairness.scenario_family import scenario_size
from callboard.fairness.search import temporary_hypothesis_home
from callboard.progress_line import announce_long_work, steps_progress
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.strict_decoder import suggestion

_SECONDS_A_SCENARIO = 0.1
"""What one takes on a core, played under both policies and made smaller: 65 ms for `fifo` against
`fair`, more for preemption.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("policy", metavar="POLICY", help="as `callboard run --policy` takes it")
    add("--against", required=True, metavar="POLICY", help="the policy that it is compared with")
    objective = "the figure in which it is to look bad (default: max slowdown)"
    add("--objective", "--goal", default="max slowdown", help=objective)
    bred = "making the worst one smaller takes more still"
    search_arguments.add_search_arguments(parser, " drawn, and as many bred of them at most", bred)


def hunt_command(options: argparse.Namespace) -> int:
    objective: str = options.objective
    if objective not in OBJECTIVES:
        raise InputError(
            f"--objective {objective!r}: there is no such objective;"
            f" {suggestion(objective, list(OBJECTIVES))}"
        )
    hunted, against = (plugins.canonical_policy(text) for text in (options.policy, options.against))
    if hunted == against:
        raise InputError(f"--against {against}: a policy is as good as itself")
    check_folder("--to", options.to)
    examples = search_arguments.example_count(options)
    mine, its = (partial(Experiment, policy=name) for name in (hunted, against))
    title, steps = f"{hunted} against {against}", 2 * examples
    announce_long_work(f"{title}: up to {count(steps, 'scenario')},", steps * _SECONDS_A_SCENARIO)
    progress = steps_progress(title, steps)
    with temporary_hypothesis_home(), progress as watch:
        result = hunt(mine, its, objective, examples=examples, seed=options.seed, on_progress=watch)
    found, scenarios = result.worst, count(result.tried, "scenario")
    goal = OBJECTIVES[objective]
    print(f"{hunted} against {against}: {objective}")
    print(f"  {goal.says}")
    for policy, times in result.failures.items():
        where = f"{times:,} of {scenarios}, which say nothing here"
        print(f"  {policy} did not come to its end in {where}; the first time:")
        first = result.first_failures[policy]
        print(f"    {first.why}")
        print(f"  callboard check {policy} --property {first.shown_by} makes that small")
    if round(found.worse, 2) <= goal.alike:
        print(
            f"  worse in none of {scenarios} (seed {options.seed}); --profile thorough tries more"
        )
        return EXIT_FAILED if result.failures else 0
    path, replaced = _write_worst_case(found, hunted, against, options)
    nodes, jobs, _ = scenario_size(found.scenario)
    print(f"  {found.worse:,.2f} on {count(nodes, 'node')} with {count(jobs, 'job')}, the worst of")
    print(f"  {scenarios} (seed {options.seed}), made smaller")
    shown_by = trust_option(hunted, against) + (goal.shown_by and f" {goal.shown_by}")
    print(f"  written to {path}{replaced}; callboard run {path}{shown_by} compares the two")
    return 0


def _write_worst_case(
    worst_case: WorstCase, hunted: str, against: str, options: argparse.Namespace
) -> tuple[Path, str]:
    """The file that it is written to, and that another one was there."""
    objective: str = options.objective
    words = ["callboard", "hunt", hunted, "--against", against, "--objective", objective]
    remarks = [
        f"{hunted} looks bad against {against} here.",
        *wrap(f"{objective} {worst_case.worse:,.3f}: {OBJECTIVES[objective].says}", 96),
        "",
        *wrap(f"found by: {search_arguments.command_to_repeat(words, options)}", 96),
    ]
    scenario = msgspec.structs.replace(
        worst_case.scenario,
        name=slug(f"worst-{objective}"),
        story=f"Where {hunted} looks worst against {against}: {objective}.",
        policies=(hunted, against),
    )
    name = f"{slug(hunted)}-against-{slug(against)}-{slug(objective)}.toml"
    replaced = replacement_words(options.to / name)
    return search_arguments.write_scenario(to_toml(scenario, remarks), name, options), replaced
