"""`callboard hunt`: look for the scenario in which a policy looks worst against another."""

import argparse
from pathlib import Path
from textwrap import wrap

import msgspec

from callboard.commands.check_command import (
    check_folder,
    command_to_repeat,
    search_progress,
    write_scenario,
)
from callboard.experiments import plugins
from callboard.experiments.journal_paths import slug
from callboard.experiments.user_errors import InputError
from callboard.fairness.hunt import WorstCase, hunt
from callboard.fairness.objectives import OBJECTIVES
from callboard.fairness.profiles import SEARCH_PROFILES
from callboard.fairness.scenario_family import scenario_size
from callboard.fairness.search import PolicyUnderTest, temporary_hypothesis_home
from callboard.journal.tell.names import count
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.registry.strict_decoder import suggestion


def hunt_command(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    goal: str = options.goal
    if goal not in OBJECTIVES:
        raise InputError(
            f"--goal {goal!r}: there is no such goal; {suggestion(goal, list(OBJECTIVES))}"
        )
    hunted, against = (plugins.canonical_policy(text) for text in (options.policy, options.against))
    if hunted == against:
        raise InputError(f"--against {against}: a policy is as good as itself")
    check_folder(options)
    examples = options.max_examples or SEARCH_PROFILES[options.profile]
    mine, its = (PolicyUnderTest(name, plugins.load_policy) for name in (hunted, against))
    with (
        temporary_hypothesis_home(),
        search_progress(2 * examples, f"{hunted} against {against}") as watch,
    ):
        prey, tried = hunt(mine, its, goal, examples=examples, seed=options.seed, on_progress=watch)
    path = _write(prey, hunted, against, options)
    nodes, jobs, _ = scenario_size(prey.scenario)
    print(f"{hunted} against {against}: {goal}, {OBJECTIVES[goal][0]}")
    print(f"  {prey.worse:,.2f} on {count(nodes, 'node')} with {count(jobs, 'job')}, the worst of")
    print(f"  {count(tried, 'scenario')} (seed {options.seed}), made smaller")
    print(f"  written to {path}; callboard run {path} compares the two")
    return 0


def _write(worst_case: WorstCase, hunted: str, against: str, options: argparse.Namespace) -> Path:
    goal: str = options.goal
    words = ["callboard", "hunt", hunted, "--against", against, "--goal", goal]
    remarks = [
        f"{hunted} looks bad against {against} here.",
        *wrap(f"{goal} ({OBJECTIVES[goal][0]}): {worst_case.worse:,.3f}", 96),
        "",
        *wrap(f"found by: {command_to_repeat(words, options)}", 96),
    ]
    scenario = msgspec.structs.replace(
        worst_case.scenario,
        name=slug(f"worst-{goal}"),
        story=f"Where {hunted} looks worst against {against}: {goal}.",
        policies=(hunted, against),
    )
    name = f"{slug(hunted)}-against-{slug(against)}-{slug(goal)}.toml"
    return write_scenario(to_toml(scenario, remarks), name, options)
