"""Run each scenario under each policy and print one table that compares them.  With several seeds
the table has means with 95 % intervals, and another the differences to the first policy, seed by
seed.

examples:
  callboard run facebook-morning --policy fifo --policy fair --slowdown
  callboard run small-jobs --seeds 10
  callboard run small-jobs --policy fair --policy 'fair+delay(node=5)' --precision 5%
  callboard run trace.tsv --nodes 100 --jobs 1000 --policy fair
  callboard run two-jobs --set tasks.sigma=0.3 --seed 7 --json
  callboard run two-jobs --policy fair --journal fair.journal
"""

import argparse

from callboard.arguments import OneFile, parse_share, whole_number_type
from callboard.experiments.user_errors import EXIT_FAILED, EXIT_INTERRUPTED, InputError
from callboard.run_arguments import add_engine_argument, add_world_arguments, plan_world
from callboard.run_once import single_seed_player
from callboard.run_seeds import has_several_seeds, several_seeds_player
from callboard.scenarios.library_list import DEFAULT_SCENARIO
from callboard.stdio import print_json


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
    checked = "test every event against the rules S1 to S15 and those of the architecture,"
    checked += " and stop at the first that is broken"
    add("--check", action="store_true", help=checked)
    driver = "what runs the actors: Trio tasks, or a plain loop with the same results"
    add("--driver", "--host", choices=("trio", "direct"), default="trio", help=driver)
    add_engine_argument(add)
    _add_seed_arguments(parser)
    add = parser.add_argument_group("what comes out").add_argument
    verbose = (
        "also messages, how many of them were simultaneous, and the digest that names each run"
    )
    add("--verbose", action="store_true", help=verbose)
    add("--json", action="store_true", help="print a list in JSON instead of the table")
    journal = "record the run; of several runs each has its own (f-fair.journal for f.journal)"
    add("--journal", action=OneFile, metavar="FILE", help=journal)
    slowdown = "also compare each job with itself alone on the empty cluster"
    add("--slowdown", action="store_true", help=slowdown)
    by = "also a table with a row for each pool, or each user; may be repeated, for both"
    add("--by", action="append", default=[], choices=("pool", "user"), help=by)


def _add_seed_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("evidence").add_argument
    seeds = "play that many seeds, from the scenario's own on, or these (1001..1010)"
    add("--seeds", metavar="N|LO..HI", help=seeds)
    cores = "how many processes to use (default: as many as there are cores)"
    add("--cores", type=whole_number_type(1, 10_000), metavar="N", help=cores)
    precise = "add seeds until the differences to the first policy are known to ± this share of it"
    add("--precision", type=parse_share, metavar="SHARE", help=precise)
    best = "add seeds until the policy with the lowest mean response time is known"
    add("--best", action="store_true", help=best)
    error = "with --best, how probable a wrong name may be (default: 5%%)"
    add("--error", type=parse_share, metavar="SHARE", help=error)
    steady = (
        "also the mean response time in steady state and its interval, from one long run: without"
        " its warm-up, by batch means (docs/statistics.md)"
    )
    add("--steady", action="store_true", help=steady)
    zone = (
        "with --best, differences below this share of the first policy's mean do not count"
        " (default: 5%%)"
    )
    add("--indifference", type=parse_share, metavar="SHARE", help=zone)


_OF_BEST = {
    "error": "how sure --best is to be",
    "indifference": "which differences --best passes over",
}


def run_command(options: argparse.Namespace) -> int:
    for name, what in _OF_BEST.items():
        if vars(options)[name] is not None and not options.best:
            raise InputError(f"--{name} says {what}; add --best")
    names = options.scenarios or [DEFAULT_SCENARIO]
    worlds = [plan_world(name, options, options.policy) for name in names]
    several = has_several_seeds(options)
    play_world = (
        several_seeds_player(options, worlds) if several else single_seed_player(options, worlds)
    )
    found: list[dict[str, object]] = []
    livelocked = False
    for world in worlds:
        told = play_world(world)
        found += told.objects
        livelocked |= told.livelocked
        if told.interrupted:
            break
    if options.json:
        print_json(found)
    if told.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_FAILED if livelocked else 0
