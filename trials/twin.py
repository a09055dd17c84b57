"""Whether the compiled twin plays as the actors do; `bench.twin` says how fast.

    python -m trials.twin --worlds 2000          drawn worlds, attempt by attempt
    python -m trials.twin TRACE                  a trace under each policy
    python -m trials.twin --journal …            the same of journals, event by event

`NUMBA_BOUNDSCHECK=1` with a `NUMBA_CACHE_DIR` of its own has every index checked.
"""

import argparse
import sys

import msgspec

from bench.twin import POLICIES, trace_arguments, trace_run
from callboard.experiments.run.twin_play import compiled_loop
from callboard.twin.cannot_play import CannotPlay
from tests.support.twin_journals import disagreement_of_journals
from tests.support.twin_worlds import disagreement_of_engines, draw_twin_world


def compare_worlds(first: int, worlds: int, *, journal: bool) -> int:
    """Play drawn worlds by both, and perhaps compare their journals; how many differ.  These are
    written after that many instants that it is in many parts, or in one.
    """
    different = refused = 0
    for seed in range(first, first + worlds):
        spec = draw_twin_world(seed)
        try:
            if journal:
                found = disagreement_of_journals(spec, compiled_loop(), 1 << 3 * (seed % 5))
            else:
                found = disagreement_of_engines(spec, compiled_loop())
        except CannotPlay:
            refused += 1
            continue
        if found is not None:
            different += 1
            print(f"world {seed}: {found}", flush=True)
    told = f", {refused:,} left to the actors" if refused else ""
    print(f"{worlds:,} worlds from {first} on{told}: {different} different")
    return different


def compare_trace(options: argparse.Namespace) -> int:
    """Play a trace by both under each policy; under how many they differ."""
    spec = trace_run(options)
    compare = disagreement_of_journals if options.journal else disagreement_of_engines
    alike = "every event" if options.journal else "every attempt"
    different = 0
    for policy in options.policy or POLICIES:
        found = compare(msgspec.structs.replace(spec, policy=policy), compiled_loop())
        different += found is not None
        print(f"{policy:<28} {found or alike}", flush=True)
    return different


def main() -> None:
    parser = trace_arguments("python -m trials.twin", __doc__)
    parser.add_argument("--worlds", type=int, default=0, help="compare that many drawn worlds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    options = parser.parse_args()
    if options.worlds:
        sys.exit(compare_worlds(options.first, options.worlds, journal=options.journal) > 0)
    sys.exit(compare_trace(options) > 0)


if __name__ == "__main__":
    main()
