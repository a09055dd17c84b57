"""What the hybrid paper does not print: how COSHH knows, what it does with slots for nobody, how
often jobs come, how they were cut to six machines.
"""

from msgspec.structs import replace

from callboard.experiments.reproduction.catalogue_of_artefacts import played_for, quantities_of
from callboard.experiments.reproduction.evidence import Played
from callboard.experiments.reproduction.exploration import Exploration


def _coshh_beside_fair(policy: str) -> Played:
    coshh, fair = played_for("hybrid-fig-2-i").only("coshh, 30 jobs", "fair, 30 jobs").cells
    return Played((replace(coshh, policy=policy), fair))


_COSHH_SIZES = Exploration(
    artefact="hybrid-fig-2-i",
    assumption="how COSHH knows how long a class's tasks take on each resource",
    plausible="the paper has its rates given; a user's first job can only be guessed",
    settings={
        "given": _coshh_beside_fair('coshh(size="oracle")'),
        "given, slots without a suggestion left free": _coshh_beside_fair(
            'coshh(size="oracle",spare="leave")'
        ),
        "given, such slots for any": _coshh_beside_fair('coshh(size="oracle",spare="any")'),
        "learnt": _coshh_beside_fair("coshh"),
        "learnt, at first taken for 6,000 s": _coshh_beside_fair("coshh(guess=6000)"),
    },
    quantities=quantities_of("hybrid-fig-2-i", "30 jobs, COSHH over Fair"),
    seeds=tuple(range(1, 21)),
)

_GAPS = {"3 s": 3, "30 s": 30, "300 s": 300, "3,000 s": 3000}
"""Mean gaps between jobs, by what they are called."""


def _gap_override(gap_s: int) -> str:
    return f"workload.arrivals.mean_s={gap_s}"


def _few_and_many_resources(artefact: str, gap_s: int) -> Played:
    names = (
        f"{name}, {count} resources" for count in (6, 54) for name in ("fifo", "fair", "coshh")
    )
    return played_for(artefact).only(*names).changed(_gap_override(gap_s))


_EVENNESS = Exploration(
    artefact="hybrid-fig-2-vi",
    assumption="how often a job comes (here: every 30 s)",
    plausible="from all at once, for the machines, to one at a time for the shorter of the jobs",
    settings={
        told: _few_and_many_resources("hybrid-fig-2-vi", gap_s)
        for told, gap_s in _GAPS.items()
        if gap_s != 300
    },
    quantities=quantities_of("hybrid-fig-2-vi"),
    seeds=tuple(range(1, 7)),
    picture="explored-hybrid-fig-2-vi.svg",
)


_FACEBOOK_EVENNESS = Exploration(
    artefact="hybrid-fig-4-vi",
    assumption="how often a job comes (here: every 30 s)",
    plausible="as for hybrid-fig-2-vi",
    settings={
        told: _few_and_many_resources("hybrid-fig-4-vi", gap_s) for told, gap_s in _GAPS.items()
    },
    quantities=quantities_of("hybrid-fig-4-vi"),
)


_FIFO_RISE = Exploration(
    artefact="hybrid-fifo-rise",
    assumption="how often a job comes (here: every 30 s)",
    plausible="as for hybrid-fig-2-vi",
    settings={
        told: played_for("hybrid-fifo-rise").changed(_gap_override(gap_s))
        for told, gap_s in _GAPS.items()
    },
    quantities=quantities_of("hybrid-fifo-rise"),
    seeds=tuple(range(1, 21)),
)


_GAP_AND_CUT = (
    "how often a job comes, in seconds (here: 30), and to which part its number of tasks is cut"
    " (here: a thousandth)"
)


def _played_by_gap_and_cut(played: Played, *scales: float) -> dict[str, Played]:
    """The same worlds with each gap and each cut."""
    return {
        f"{gap_s} s, {scale:g}": played.changed(
            _gap_override(gap_s), f"workload.sizes.task_scale={scale}"
        )
        for scale in scales
        for gap_s in _GAPS.values()
    }


_SWITCHES = Exploration(
    artefact="hybrid-fig-4-switches",
    assumption=_GAP_AND_CUT,
    plausible="three orders of magnitude of gaps; from a job of a million task-seconds to one of"
    " thousands",
    settings=_played_by_gap_and_cut(
        played_for("hybrid-fig-4-switches").only("hybrid, 100 jobs"), 0.001, 0.003, 0.01
    ),
    quantities=quantities_of("hybrid-fig-4-switches"),
    picture="explored-hybrid-fig-4-switches.svg",
)


_TRANSITION = Exploration(
    artefact="hybrid-transition",
    assumption=_GAP_AND_CUT,
    plausible="as for hybrid-fig-4-switches",
    settings=_played_by_gap_and_cut(
        played_for("hybrid-transition").only(
            "fair, 25 jobs", "hybrid, 25 jobs", "fair, 70 jobs", "hybrid, 70 jobs"
        ),
        0.001,
        0.003,
    ),
    quantities=quantities_of("hybrid-transition"),
)

HYBRID_EXPLORATIONS = (
    *(_COSHH_SIZES, _FIFO_RISE, _EVENNESS),
    *(_FACEBOOK_EVENNESS, _SWITCHES, _TRANSITION),
)
