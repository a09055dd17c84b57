"""Try drawn worlds until the time is up: `python -m trials.swarm --hours 8 --cores 2`.

Results are kept in the folder, and a run goes on where the last one ended; a failing world is
made smaller by itself and written there as a scenario.  Exit status 1 if any has failed.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from callboard.arguments import whole_number_type
from callboard.experiments.many.task_pool import Lost, answers_by_workers, local_workers
from callboard.scenarios.scenario_file import load_scenario
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError
from trials.swarm.bug_hunt import SEEDS_MAX, catches, known_catches
from trials.swarm.event_oracles import Flaw
from trials.swarm.planted_bugs import BUGS
from trials.swarm.records import SeedRecords, Totals, totals
from trials.swarm.scoreboard import write_scoreboard
from trials.swarm.seed_trial import SeedRecord, try_seed
from trials.swarm.world_trial import COMPARISONS, flaws
from trials.worlds.drawn_worlds import DrawnWorld

FOLDER = Path("swarm")


def run_swarm(options: argparse.Namespace) -> int:
    """Try seeds until the time is up or that many have been tried; the exit status."""
    records = SeedRecords(options.to)
    ends = time.monotonic() + 3600 * options.hours if options.worlds is None else None
    seeds = _until(ends, islice(records.left(options.seed), options.worlds))
    failed = 0
    with local_workers(options.cores) as workers:
        for seed, answer in answers_by_workers(
            workers, partial(try_seed, folder=options.to), seeds
        ):
            record = _lost(seed, answer) if isinstance(answer, Lost) else answer
            records.add(record)
            failed += bool(record.flaws)
            _tell(record)
    print(summary_of(totals(records.all(of_this_version=True))))
    return 1 if failed else 0


def _until(ends: float | None, seeds: Iterator[int]) -> Iterator[int]:
    for seed in seeds:
        if ends is not None and time.monotonic() > ends:
            return
        yield seed


def _lost(seed: int, lost: Lost) -> SeedRecord:
    """The process that tried the seed has died of it."""
    return SeedRecord(seed=seed, reason="lost", flaws=(("lost", lost.why, ""),))


def _tell(record: SeedRecord) -> None:
    for kind, told, file in record.flaws:
        first = told.split("\n")[0]
        print(f"seed {record.seed}: {kind}: {first}", *([f"  {file}"] if file else []), sep="\n")
        sys.stdout.flush()


def summary_of(found: Totals) -> str:
    """A few lines about all that was tried."""
    return (
        f"{found.seeds:,} seeds, {found.worlds:,} worlds, {found.events:,} events,"
        f" {found.node_years:.3g} node-years in {found.core_hours:.2f} core-hours"
        f" ({found.a_day:.3g} a core and day)\n"
        f"flaws: {', '.join(f'{kind} {n}' for kind, n in found.flaws.items()) or 'none'}"
    )


def catch_bugs(options: argparse.Namespace) -> int:
    """Plant every bug whose line has the words, and see how soon it is caught; the exit status."""
    bugs = [bug for bug in BUGS if options.only in f"{bug.room}: {bug.what}"]
    if not bugs:
        print(f"no planted bug has {options.only!r} in its words or its room")
        return 2
    found = catches(options.to, options.cores, bugs, options.seeds)
    missed = [each.what for each in found if not each.kind]
    print(f"{len(bugs) - len(missed)} of {len(bugs)} bugs were caught")
    return 1 if missed else 0


def try_again(path: Path) -> int:
    """Try the world of a file again, with every comparison; the exit status, 2 if it is none."""
    try:
        ties = re.search(r"^# ties: (\d+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        world = DrawnWorld(load_scenario(path), int(ties[1]) if ties else None)
        _, *found = flaws(world, tuple(COMPARISONS))
    except (ScenarioError, PolicySpecError, OSError, UnicodeDecodeError) as error:
        print(error)
        return 2
    for flaw in found:
        assert isinstance(flaw, Flaw)
        print(f"{flaw.kind}: {flaw.told}")
    print("" if found else "nothing is wrong with it any more", end="" if found else "\n")
    return 1 if found else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.swarm", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--worlds", type=whole_number_type(1), help="that many seeds instead")
    parser.add_argument(
        "--seed", type=whole_number_type(0), default=1, help="the first (default: 1)"
    )
    parser.add_argument(
        "--cores", type=whole_number_type(1), help="processes (default: as many cores)"
    )
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder (default: swarm)")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try one failing world again")
    parser.add_argument("--bugs", action="store_true", help="see how soon planted bugs are caught")
    parser.add_argument("--only", default="", metavar="WORDS", help="bugs with these words only")
    parser.add_argument(
        "--seeds",
        type=whole_number_type(1),
        default=SEEDS_MAX,
        help=f"tries a bug (default: {SEEDS_MAX})",
    )
    parser.add_argument("--scoreboard", action="store_true", help="write docs/reliability.md anew")
    options = parser.parse_args(arguments)
    if options.scoreboard:
        write_scoreboard(totals(SeedRecords(options.to).all()), known_catches(options.to))
        return 0
    if options.bugs:
        return catch_bugs(options)
    return run_swarm(options) if options.again is None else try_again(options.again)


if __name__ == "__main__":
    sys.exit(main())
