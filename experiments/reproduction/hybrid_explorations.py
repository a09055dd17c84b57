"""What the hybrid paper does not print: how COSHH knows, and what it does with slots for nobody."""

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.evidence import Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.hybrid_cells import COSHH, yahoo_cell
from callboard.experiments.reproduction.run_figures import mean_of_responses_s, ratio


def _coshh(policy: str) -> Played:
    return Played((yahoo_cell(30, "coshh", policy), yahoo_cell(30, "fair", "fair")))


_COSHH_SIZES = Exploration(
    artefact="hybrid-fig-2-i",
    assumption="how COSHH knows how long a class's tasks take on each resource",
    plausible="the paper has its rates given; a user's first job can only be guessed",
    settings={
        "given": _coshh(COSHH),
        "given, slots without a suggestion left free": _coshh('coshh(size="oracle",spare="leave")'),
        "given, such slots for any": _coshh('coshh(size="oracle",spare="any")'),
        "learnt": _coshh("coshh"),
        "learnt, at first taken for 6,000 s": _coshh("coshh(guess=6000)"),
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

HYBRID_EXPLORATIONS = (_COSHH_SIZES,)
