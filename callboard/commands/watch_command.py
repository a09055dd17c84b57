"""Play a scenario and watch it on the screen: at any speed, step by step, back and forth.  What
happens is what `callboard run` would do, whatever is watched and however.
"""

import argparse

from callboard import web
from callboard.arguments import OneFile, whole_number_type
from callboard.experiments.journal_paths import journal_paths
from callboard.experiments.live.live_server import start_runs
from callboard.experiments.run import plugins
from callboard.experiments.user_errors import InputError
from callboard.run_arguments import add_world_arguments, plan_world, run_key, world_changes
from callboard.scenarios.library_list import DEFAULT_SCENARIO
from callboard.scenarios.scenario_file import find_scenario
from callboard.scenarios.tour import Tour, check_tour_steps, find_tour, load_tour
from callboard.screen import add_screen_arguments, config_of, opening_of, show_on_screen
from callboard.terminal import check_terminal

SIDES = 2
"""How many runs a screen can show."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    played = f"a scenario or a trace, as for `callboard run`; {DEFAULT_SCENARIO} if none is given"
    add("scenario", nargs="?", default=DEFAULT_SCENARIO, metavar="SCENARIO", help=played)
    policy = "as for `callboard run`; else the scenario's first.  Given twice, both runs are shown"
    add("--policy", action="append", metavar="POLICY", help=f"{policy} beside each other")
    add_world_arguments(parser)
    add("--journal", action=OneFile, metavar="FILE", help="record what is played")
    told = "let the scenario tell itself, step by step, with a question for a class"
    add("--tour", action="store_true", help=told)
    add_screen_arguments(parser)
    add = parser.add_argument_group("in a browser").add_argument
    shown = f"show the screen at http://{web.HOST}:{web.PORT}, to browsers on this machine only"
    add("--web", action="store_true", help=shown)
    port = whole_number_type(1, 65535)
    add("--port", type=port, default=web.PORT, metavar="N", help="another port than that")


def watch_command(options: argparse.Namespace) -> int:
    tour = _asked_tour(options)
    asked = options.policy or (list(tour.policies) if tour is not None else [])
    if len(asked) > SIDES:
        raise InputError(
            f"--policy: a screen has room for {SIDES} runs, not {len(asked)};"
            " `callboard run` compares any number in a table"
        )
    config = config_of(options)  # what is wrong with it is said before anything else is done
    if options.web and not web.is_browser_process():
        return _watch_in_browsers(options, asked)
    check_terminal()
    world = plan_world(options.scenario, options, asked)
    if tour is not None:
        check_tour_steps(tour, len(world.spec.jobs), world.spec.scenario.cluster.node_count())
    specs = world.runs()[: len(asked) or 1]
    journals = journal_paths(options.journal, [run_key(spec) for spec in specs], [options.scenario])
    for journal in journals.values():
        journal.open("ab").close()  # what is wrong with it is said before the screen comes up
    opening, recorded = opening_of(options, config.defaults), options.journal is not None
    source = start_runs(specs, [journals.get(run_key(spec)) for spec in specs])
    try:
        return show_on_screen(source, config, opening, recorded=recorded, tour=tour)
    finally:
        source.close()


def _asked_tour(options: argparse.Namespace) -> Tour | None:
    if not options.tour:
        return None
    if options.at or options.play:
        option = "--at" if options.at else "--play"
        raise InputError(f"{option}: a tour has its own times; leave one of them out")
    tour = load_tour(find_tour(find_scenario(options.scenario)))
    told = [plugins.canonical_policy(policy) for policy in tour.policies]
    if options.policy and [plugins.canonical_policy(each) for each in options.policy] != told:
        raise InputError(
            f"--policy: the tour tells of {' and then '.join(told)}; leave out --policy or --tour"
        )
    if changed := world_changes(options):
        raise InputError(
            f"{changed[0]}: the tour tells of the scenario as it is; leave one of them out"
        )
    return tour


def _watch_in_browsers(options: argparse.Namespace, policies: list[str]) -> int:
    """Each browser gets a process that plays the scenario; what is wrong is said before."""
    if options.journal is not None:
        raise InputError("--journal: with --web each browser plays a run of its own; leave it out")
    plan_world(options.scenario, options, policies)
    web.check_port(options.port)
    return web.serve_browsers(options.arguments, options.port)
