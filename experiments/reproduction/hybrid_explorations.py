"""What the hybrid paper does not print: how COSHH knows, what it does with slots for nobody, how
often jobs come, how they were cut to six machines.
"""

from collections.abc import Callable

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.evidence import Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.hybrid_artefacts import (
    FIFO_COUNTS,
    fairness_by_resources,
    fifo_rise_and_fall,
)
from callboard.experiments.reproduction.hybrid_cells import (
    COSHH,
    HETEROGENEOUS_POLICIES,
    WITH_HYBRID,
    facebook_cell,
    resources_cell,
    yahoo_cell,
)
from callboard.experiments.reproduction.hybrid_facebook import (
    FACEBOOK_CATEGORIES,
    facebook_fairness_by_resources,
    hybrid_over_fair,
    switches_by_jobs,
)
from callboard.experiments.reproduction.run_figures import mean_of_responses_s, ratio


def _coshh_beside_fair(policy: str) -> Played:
    return Played((yahoo_cell(30, "coshh", policy), yahoo_cell(30, "fair", "fair")))


_COSHH_SIZES = Exploration(
    artefact="hybrid-fig-2-i",
    assumption="how COSHH knows how long a class's tasks take on each resource",
    plausible="the paper has its rates given; a user's first job can only be guessed",
    settings={
        "given": _coshh_beside_fair(COSHH),
        "given, slots without a suggestion left free": _coshh_beside_fair(
            'coshh(size="oracle",spare="leave")'
        ),
        "given, such slots for any": _coshh_beside_fair('coshh(size="oracle",spare="any")'),
        "learnt": _coshh_beside_fair("coshh"),
        "learnt, at first taken for 6,000 s": _coshh_beside_fair("coshh(guess=6000)"),
    },
    quantities=(
        Quantity[Runs](
            label="30 jobs, COSHH over Fair",
            value=ratio("coshh, 30 jobs", "fair, 30 jobs", mean_of_responses_s),
            below=1,
        ),
    ),
    seeds=tuple(range(1, 21)),
)

_GAPS = {"3 s": 3, "30 s": 30, "300 s": 300, "3,000 s": 3000}
"""Mean gaps between jobs, by what they are called."""


def _gap_override(gap_s: int) -> tuple[str, ...]:
    return (f"workload.arrivals.mean_s={gap_s}",)


def _few_and_many_resources(gap_s: int, categories: str = "yahoo") -> Played:
    return Played(
        tuple(
            resources_cell(each, name, policy, categories, _gap_override(gap_s))
            for each in (1, 9)
            for name, policy in HETEROGENEOUS_POLICIES.items()
        )
    )


_EVENNESS = Exploration(
    artefact="hybrid-fig-2-vi",
    assumption="how often a job comes (here: every 30 s)",
    plausible="from all at once, for the machines, to one at a time for the shorter of the jobs",
    settings={
        told: _few_and_many_resources(gap_s) for told, gap_s in _GAPS.items() if gap_s != 300
    },
    quantities=fairness_by_resources(),
    seeds=tuple(range(1, 7)),
    picture="explored-hybrid-fig-2-vi.svg",
)


_FACEBOOK_EVENNESS = Exploration(
    artefact="hybrid-fig-4-vi",
    assumption="how often a job comes (here: every 30 s)",
    plausible="as for hybrid-fig-2-vi",
    settings={
        told: _few_and_many_resources(gap_s, FACEBOOK_CATEGORIES) for told, gap_s in _GAPS.items()
    },
    quantities=facebook_fairness_by_resources(),
)


def _fifo_over_counts(gap_s: int) -> Played:
    return Played(
        tuple(yahoo_cell(jobs, "fifo", "fifo", _gap_override(gap_s)) for jobs in FIFO_COUNTS)
    )


_FIFO_RISE = Exploration(
    artefact="hybrid-fifo-rise",
    assumption="how often a job comes (here: every 30 s)",
    plausible="as for hybrid-fig-2-vi",
    settings={told: _fifo_over_counts(gap_s) for told, gap_s in _GAPS.items()},
    quantities=fifo_rise_and_fall(),
    seeds=tuple(range(1, 21)),
)


_GAP_AND_CUT = (
    "how often a job comes, in seconds (here: 30), and to which part its number of tasks is cut"
    " (here: a thousandth)"
)


def _played_by_gap_and_cut(
    play: Callable[[tuple[str, ...]], Played], *scales: float
) -> dict[str, Played]:
    """What is played with the overrides of each gap and of each cut."""
    return {
        f"{gap_s} s, {scale:g}": play((*_gap_override(gap_s), f"workload.sizes.task_scale={scale}"))
        for scale in scales
        for gap_s in _GAPS.values()
    }


def _hybrid_played(more: tuple[str, ...]) -> Played:
    return Played((facebook_cell(100, "hybrid", WITH_HYBRID["hybrid"], more),))


_SWITCHES = Exploration(
    artefact="hybrid-fig-4-switches",
    assumption=_GAP_AND_CUT,
    plausible="three orders of magnitude of gaps; from a job of a million task-seconds to one of"
    " thousands",
    settings=_played_by_gap_and_cut(_hybrid_played, 0.001, 0.003, 0.01),
    quantities=switches_by_jobs(),
    picture="explored-hybrid-fig-4-switches.svg",
)


def _fair_beside_hybrid(more: tuple[str, ...]) -> Played:
    return Played(
        tuple(
            facebook_cell(jobs, name, WITH_HYBRID[name], more)
            for jobs in (25, 70)
            for name in ("fair", "hybrid")
        )
    )


_TRANSITION = Exploration(
    artefact="hybrid-transition",
    assumption=_GAP_AND_CUT,
    plausible="as for hybrid-fig-4-switches",
    settings=_played_by_gap_and_cut(_fair_beside_hybrid, 0.001, 0.003),
    quantities=hybrid_over_fair(),
)

HYBRID_EXPLORATIONS = (
    *(_COSHH_SIZES, _FIFO_RISE, _EVENNESS),
    *(_FACEBOOK_EVENNESS, _SWITCHES, _TRANSITION),
)
