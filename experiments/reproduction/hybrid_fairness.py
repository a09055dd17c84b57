"""What the hybrid paper says of fairness, among users and by how many resources there are."""

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.hybrid_cells import (
    HETEROGENEOUS_POLICIES,
    USERS_UNFAIRNESS,
)
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import ratio
from callboard.experiments.reproduction.sample_figure import (
    SampleFigure,
    figure_of,
    ratio_of_figures,
)

FAIR_OVER_FIFO = ("Fair over FIFO", "fair", "fifo")
COSHH_OVER_FIFO = ("COSHH over FIFO", "coshh", "fifo")
FAIR_OVER_COSHH = ("Fair over COSHH", "fair", "coshh")


def fairness_quantities(where: str, *claims: tuple[str, str, str]) -> tuple[Quantity[Runs], ...]:
    """In the cells of that ending, the first policy of each claim shares more evenly among users
    than the second.
    """
    return tuple(
        Quantity[Runs](
            label=f"{where}, unfairness, {told}",
            value=ratio(f"{one}, {where}", f"{other}, {where}", USERS_UNFAIRNESS),
            below=1,
        )
        for told, one, other in claims
    )


def fairer_with_resources() -> tuple[Quantity[Runs], ...]:
    """With nine times the resources every policy shares more evenly, each slot counted alike."""
    return tuple(
        Quantity[Runs](
            label=f"{name}, unfairness for each slot, 54 resources over 6",
            value=_unfairness_a_slot(name, 54, 6),
            below=1,
        )
        for name in HETEROGENEOUS_POLICIES
    )


def _unfairness_a_slot(name: str, more: int, fewer: int) -> SampleFigure:
    """The unfairness with more resources over that with fewer, each for each of its slots."""

    def of_a_slot(resources: int) -> SampleFigure:
        def figure(run: MeteredRun) -> float | None:
            slots = USERS_UNFAIRNESS(run)
            return None if slots is None else slots / resources

        return figure_of(f"{name}, {resources} resources", figure)

    return ratio_of_figures(of_a_slot(more), of_a_slot(fewer))
