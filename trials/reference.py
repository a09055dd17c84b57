"""A thousand worlds by the simulator and by the reference: `python -m trials.reference`.

Launches and ends must be equal to the millisecond; exit status 1 if they are not.
"""

import argparse
import sys

from callboard.arguments import whole_number_type
from tests.support.reference_worlds import disagreement, draw_calm_world


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.reference", description=__doc__)
    parser.add_argument("--worlds", type=whole_number_type(1), default=1000, help="how many")
    parser.add_argument("--seed", type=whole_number_type(0), default=1, help="the first")
    options = parser.parse_args(arguments)
    failed = 0
    for seed in range(options.seed, options.seed + options.worlds):
        told = disagreement(draw_calm_world(seed))
        if told is not None:
            failed += 1
            print(f"world {seed}: {told}", flush=True)
    print(f"{options.worlds - failed:,} of {options.worlds:,} worlds are equal")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
