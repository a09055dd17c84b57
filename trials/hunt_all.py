"""The long search: every shipped order held to its claims, and hunts of each against Fair.

    python -m trials.hunt_all [FOLDER]

Counterexamples and the worst scenarios go to FOLDER (`hunted`).  Exit status 1 if a claim failed.
"""

import sys
from collections.abc import Sequence

from callboard.cli import run_command_line as callboard
from callboard.fairness.objectives import OBJECTIVES
from callboard.scheduler.registry.shipped import ORDERS

COMPOSED = ("fair+delay", "fair+kill", "fair+suspend", "fair+late", "hfsp+delay", "hfsp+preemptive")


def main(arguments: Sequence[str]) -> int:
    """Run all; the exit status."""
    folder = arguments[0] if arguments else "hunted"
    status = 0
    for policy in (*ORDERS, *COMPOSED):
        status |= callboard(["check", policy, "--profile", "thorough", "--to", folder])
    for policy in ORDERS:
        for objective in OBJECTIVES if policy != "fair" else ():
            hunt = (
                "hunt",
                policy,
                "--against",
                "fair",
                "--objective",
                objective,
                "--max-examples",
                "500",
            )
            status |= callboard([*hunt, "--to", folder])
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
