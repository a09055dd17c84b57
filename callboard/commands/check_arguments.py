"""The arguments of the commands of the kit for fairness.

What they do is loaded when it is asked for: Hypothesis takes a while.
"""

import argparse
from pathlib import Path
from typing import get_args

from callboard.arguments import whole_number
from callboard.fairness.profiles import SEARCH_PROFILES, SearchProfile

CHECK_DESCRIPTION = """\
Hold a policy against the properties that it claims, each in many small scenarios drawn by
Hypothesis; print a table, and write the smallest counterexample to each property that is broken
as a scenario file.  Exit status 1 if a claim failed.
"""

CHECK_EPILOG = """\
examples:
  callboard check fair
  callboard check './mine.py:MyOrder+delay' --profile thorough
  callboard check fifo --property max-min       hold it to one that it does not claim
  callboard check --replay mine-max-min.toml    hold it against a counterexample again
  callboard check --list                        what properties there are

`callboard run --check` is something else: it holds one run against the invariants S1 to S15.
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard check`."""
    add = parser.add_argument
    add("policy", nargs="?", metavar="POLICY", help="as `callboard run --policy` takes it")
    add(
        "--property",
        action="append",
        default=[],
        metavar="NAME",
        help="only this one, as if it were claimed; may be repeated",
    )
    add("--all", action="store_true", help="also those that the policy does not claim")
    _add_search_arguments(parser)
    add("--replay", type=Path, metavar="FILE", help="hold a counterexample's policy, or POLICY,"
        " against its property in its scenario")  # fmt: skip
    add("--list", action="store_true", help="list the properties, and do nothing else")


def _add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """How hard to look, from where, and where what is found goes."""
    add = parser.add_argument
    add(
        "--profile",
        choices=get_args(SearchProfile),
        default="quick",
        help="{} or {:,} scenarios a property (default: quick)".format(*SEARCH_PROFILES.values()),
    )
    add(
        "--max-examples",
        type=whole_number(1, digits=9),
        metavar="N",
        help="so many scenarios instead",
    )
    add(
        "--seed",
        type=whole_number(0, digits=9),
        default=1,
        metavar="N",
        help="of the scenarios (default: 1)",
    )
    add(
        "--to",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where files are written (default: here)",
    )


def check_command(options: argparse.Namespace) -> int:
    """`callboard check`."""
    from callboard.commands import check_command

    return check_command.check_command(options)


HUNT_DESCRIPTION = """\
Look for the scenario in which POLICY looks worst against another, by drawing scenarios, climbing
and breeding; make it smaller while it stays nearly as bad, and write it as a scenario file.
"""

HUNT_EPILOG = """\
goals: max slowdown, starvation time, unfairness, wasted work, mean response ratio

examples:
  callboard hunt fifo --against fair --goal 'max slowdown'
  callboard hunt fair+kill --against fair --goal 'wasted work' --profile thorough
"""


def add_hunt_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard hunt`."""
    add = parser.add_argument
    add("policy", metavar="POLICY", help="as `callboard run --policy` takes it")
    add("--against", required=True, metavar="POLICY", help="the policy that it is compared with")
    add("--goal", default="max slowdown", help="in what it is to look bad (default: max slowdown)")
    _add_search_arguments(parser)


def hunt_command(options: argparse.Namespace) -> int:
    """`callboard hunt`."""
    from callboard.commands import hunt_command

    return hunt_command.hunt_command(options)
