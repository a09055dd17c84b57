"""The arguments of the commands of the kit for fairness.

What they do is loaded when it is asked for: Hypothesis takes a while.
"""

import argparse
from pathlib import Path
from typing import get_args

from fairness.effort import PROFILES, ProfileName

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
    add(
        "--profile",
        choices=get_args(ProfileName),
        default="quick",
        help="{} or {:,} scenarios a property (default: quick)".format(*PROFILES.values()),
    )
    add("--max-examples", type=_number(1), metavar="N", help="so many scenarios instead")
    add("--seed", type=_number(0), default=1, metavar="N", help="of the scenarios (default: 1)")
    add(
        "--to",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where counterexamples are written (default: here)",
    )
    add("--replay", type=Path, metavar="FILE", help="hold a counterexample's policy, or POLICY,"
        " against its property in its scenario")  # fmt: skip
    add("--list", action="store_true", help="list the properties, and do nothing else")


def _number(least: int) -> type[int]:
    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
            raise argparse.ArgumentTypeError(
                f"expected a whole number of at least {least}, got {text!r}"
            )
        return int(text)

    return whole  # type: ignore[return-value]


def check_command(options: argparse.Namespace) -> int:
    """`callboard check`."""
    from callboard import check_command

    return check_command.check_command(options)
