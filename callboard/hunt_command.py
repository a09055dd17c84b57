"""`callboard hunt`: look for the scenario in which a policy looks worst against another."""

import argparse
from pathlib import Path
from textwrap import wrap

import msgspec

from callboard import plugins
from callboard.check_command import check_folder, command_line, watched, write
from callboard.errors import InputError
from callboard.fairness.effort import PROFILES
from callboard.fairness.goals import GOALS
from callboard.fairness.hunt import Prey, hunt
from callboard.fairness.search import Suspect, leaving_no_folder
from callboard.fairness.worlds import size
from callboard.journal.names import count
from callboard.journals import slug
from callboard.scenarios.strict import suggestion
from callboard.scenarios.writing import to_toml


def hunt_command(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    goal: str = options.goal
    if goal not in GOALS:
        raise InputError(f"--goal {goal!r}: there is no such goal; {suggestion(goal, list(GOALS))}")
    hunted, against = (plugins.canonical(text) for text in (options.policy, options.against))
    if hunted == against:
        raise InputError(f"--against {against}: a policy is as good as itself")
    check_folder(options)
    examples = options.max_examples or PROFILES[options.profile]
    mine, its = (Suspect(name, plugins.make_policy) for name in (hunted, against))
    with leaving_no_folder(), watched(2 * examples, f"{hunted} against {against}") as watch:
        prey, tried = hunt(mine, its, goal, examples=examples, seed=options.seed, watch=watch)
    path = _write(prey, hunted, against, options)
    nodes, jobs, _ = size(prey.scenario)
    print(f"{hunted} against {against}: {goal}, {GOALS[goal][0]}")
    print(f"  {prey.worse:,.2f} on {count(nodes, 'node')} with {count(jobs, 'job')}, the worst of")
    print(f"  {count(tried, 'scenario')} (seed {options.seed}), made smaller")
    print(f"  written to {path}; callboard run {path} compares the two")
    return 0


def _write(prey: Prey, hunted: str, against: str, options: argparse.Namespace) -> Path:
    goal: str = options.goal
    words = ["callboard", "hunt", hunted, "--against", against, "--goal", goal]
    remarks = [
        f"{hunted} looks bad against {against} here.",
        *wrap(f"{goal} ({GOALS[goal][0]}): {prey.worse:,.3f}", 96),
        "",
        *wrap(f"found by: {command_line(words, options)}", 96),
    ]
    scenario = msgspec.structs.replace(
        prey.scenario,
        name=slug(f"worst-{goal}"),
        story=f"Where {hunted} looks worst against {against}: {goal}.",
        policies=(hunted, against),
    )
    name = f"{slug(hunted)}-against-{slug(against)}-{slug(goal)}.toml"
    return write(to_toml(scenario, remarks), name, options)
