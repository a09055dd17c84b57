"""What the papers say of their policies, on random workloads, with confidence intervals.

A claim sets a figure of one policy against a limit: its ratio to the same figure of another
policy on the same jobs, or the figure itself.  Each world is played with several seeds, the median
over the seeds is estimated, and the claim holds there if the whole confidence interval of the
median is on its side of the limit.  Beside the worlds that a paper had in mind each claim has
others, which show where it ends.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from enum import StrEnum
from functools import partial
from math import nan
from typing import NamedTuple

import callboard
from callboard.experiments.seeds import seeds_of
from callboard.experiments.statistics import MedianInterval, median_interval
from callboard.experiments.user_errors import InputError
from callboard.journal.figures.summary import Summary

SEEDS = tuple(range(1, 11))
LEAST_SEEDS = 6
"""With fewer no interval of the sign test has the confidence of 95 %."""


class Verdict(StrEnum):
    """What the interval says of the claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "undecided"


class World(NamedTuple):
    """A scenario that differs by seed; `overrides` are what `--set` takes."""

    label: str
    scenario: str
    overrides: tuple[str, ...] = ()


class Claim(NamedTuple):
    """`figure` of `policy`, over that of `against` if there is one, is below `limit` (or above)."""

    name: str
    says: str
    source: str
    policy: str
    against: str | None
    figure: Callable[[Summary], float]
    worlds: tuple[World, ...]
    limit: float = 1.0
    above: bool = False


def verdict(claim: Claim, found: MedianInterval) -> Verdict:
    """Whether all of the interval is on the claim's side of the limit, or on the other."""
    if found.low is None or found.high is None:
        return Verdict.OPEN
    below, over = found.high < claim.limit, found.low > claim.limit
    holds, fails = (over, below) if claim.above else (below, over)
    return Verdict.HOLDS if holds else Verdict.FAILS if fails else Verdict.OPEN


def mean_response_s(summary: Summary) -> float:
    """Mean response time of the completed jobs, in seconds."""
    mean = summary.response_seconds.mean
    return nan if mean is None else mean


def data_local(summary: Summary) -> float:
    """The share of maps that ran on a node with their data."""
    share = summary.locality.node
    return nan if share is None else share


def wasted_s(summary: Summary) -> float:
    """Slot time of attempts that were killed or failed, in slot-seconds."""
    return summary.slot_seconds.wasted


def hfsp_workload(name: str, mean_s: float) -> World:
    """A workload of HFSP's Table I on the paper's 20 nodes, a job every `mean_s` on average."""
    return World(
        f"{name.upper()} of HFSP, a job every {mean_s:g} s",
        "hfsp-test",
        (f'workload.sizes.kind="hfsp-{name}"', f"workload.arrivals.mean_s={mean_s}"),
    )


MORNING = World(
    "a morning of Facebook's, 120 jobs on 40 nodes",
    "facebook-morning",
    (
        "cluster.nodes=40",
        "workload.jobs=120",
        "workload.sizes.slots_at_once=160",
        "workload.sizes.largest_maps=1200",
    ),
)
BY_SIZE = (hfsp_workload("dev", 30), hfsp_workload("test", 60), hfsp_workload("prod", 60), MORNING)


def small_jobs(map_s: int) -> World:
    """The slides' small jobs, a third as many, with longer or shorter maps at the same load."""
    overrides = []
    for place, (count, every_s) in enumerate(((40, 7), (40, 7), (16, 17))):
        overrides += [
            f"workload.job.{place}.count={count}",
            f"workload.job.{place}.map_s={map_s}",
            f"workload.job.{place}.every_s={every_s * map_s / 80:g}",
        ]
    return World(f"small jobs, maps of {map_s} s", "small-jobs", tuple(overrides))


STORM = World(
    "bursts of production among short and long jobs",
    "preemption-storm",
    tuple(f"workload.job.{place}.count={count}" for place, count in enumerate((8, 2, 20, 20, 20))),
)
MIX = World(
    "the paper's own mix, 30 % of it production",
    "preemption-storm",
    (
        "cluster.nodes=100",
        'workload={kind="generated", arrivals={kind="poisson", mean_s=30},'
        ' sizes={kind="gp-mix", production_share=0.3}}',
        "parts.fair={pools={production={min_maps=320, min_share_timeout_s=20}}}",
    ),
)

CLAIMS = (
    Claim(
        "hfsp-below-fair",
        "HFSP's mean response time is below Fair's",
        "Pastorelli et al., HFSP, IV-B, Figure 6: 34, 26 and 33 % lower on DEV, TEST and PROD",
        "hfsp",
        "fair",
        mean_response_s,
        (*BY_SIZE, hfsp_workload("dev", 120), hfsp_workload("dev", 300)),
    ),
    *(
        Claim(
            f"fsp-ps-robust-{sigma}",
            f"FSP+PS with errors of σ = {sigma} has a mean response time below that of PS",
            "Dell'Amico, simulator report, 3.1: consistently, even for σ = 1",
            f'fsp+ps(size="oracle",sigma={sigma})',
            "ps",
            mean_response_s,
            BY_SIZE,
        )
        for sigma in (1, 2)
    ),
    *(
        Claim(
            f"delay-local-{wait_s}",
            f"waits of {wait_s} s make more than 95 % of all maps data-local",
            "Zaharia et al., slides: 1 to 5 s are enough for nearly 100 %",
            f"fair+delay(node={wait_s},rack={wait_s})",
            None,
            data_local,
            (small_jobs(20), small_jobs(80), small_jobs(300)),
            limit=0.95,
            above=True,
        )
        for wait_s in (1, 5)
    ),
    *(
        Claim(
            f"global-wastes-less-than-{name}",
            f"global preemption wastes less slot time than `{kill}`",
            "Cheng, Zhang, Boutaba, CNSM 2011, IV",
            "fair+global",
            f"fair+{kill}",
            wasted_s,
            (STORM, MIX),
        )
        for name, kill in (("job", 'kill(victims="job")'), ("hadoop", "kill"))
    ),
)


def value(claim: Claim, world: World, seed: int) -> float:
    """The claim's figure with one seed."""

    def figure(policy: str) -> float:
        overrides = (*world.overrides, f"seed={seed}")
        how = callboard.RunOptions(driver="direct")
        run = callboard.run(world.scenario, policy, overrides=overrides, options=how)
        return claim.figure(run.summary)

    mine = figure(claim.policy)
    return mine if claim.against is None else mine / figure(claim.against)


def examined(
    claims: Sequence[Claim], seeds: Sequence[int], pool: ProcessPoolExecutor
) -> Iterator[tuple[Claim, World, MedianInterval]]:
    """Every claim in every world of its own."""
    for claim in claims:
        for world in claim.worlds:
            values = pool.map(partial(value, claim, world), seeds)
            yield claim, world, median_interval(list(values))


def _seeds(text: str) -> tuple[int, ...]:
    try:
        found = seeds_of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if len(found) < LEAST_SEEDS:
        raise argparse.ArgumentTypeError(f"fewer than {LEAST_SEEDS} give no interval")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [claim.name for claim in CLAIMS]
    parser.add_argument("--claim", action="append", choices=names, metavar="NAME", help="only this")
    seeds = f"how many, or which (1001..1010); at least {LEAST_SEEDS}"
    parser.add_argument("--seeds", type=_seeds, default=SEEDS, metavar="N|LO..HI", help=seeds)
    options = parser.parse_args()
    claims = [claim for claim in CLAIMS if options.claim is None or claim.name in options.claim]
    told = None
    with ProcessPoolExecutor() as pool:
        for claim, world, found in examined(claims, options.seeds, pool):
            if claim is not told:
                print(f"\n{claim.name}: {claim.says}\n  {claim.source}", flush=True)
            told = claim
            print(
                f"    {world.label:<48} {told_interval(found)}  {verdict(claim, found)}", flush=True
            )


def told_interval(found: MedianInterval) -> str:
    """The median and its interval, and the seeds that had no figure."""
    left_out = f"  ({found.left_out} seeds without a figure)" if found.left_out else ""
    if found.low is None or found.high is None:
        return f"{found.median:5.2f}  no interval{left_out}"
    return f"{found.median:5.2f}  [{found.low:4.2f}, {found.high:4.2f}]{left_out}"


if __name__ == "__main__":
    main()
