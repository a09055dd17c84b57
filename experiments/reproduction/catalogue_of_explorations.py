"""What the papers do not print, and over which range of it we look for what they do."""

from callboard.experiments.reproduction.evidence import Cell, Played
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.facebook_tables import running_times
from callboard.experiments.reproduction.hfsp_explorations import HFSP_EXPLORATIONS
from callboard.experiments.reproduction.hybrid_explorations import HYBRID_EXPLORATIONS
from callboard.experiments.reproduction.preemption_explorations import PREEMPTION_EXPLORATIONS
from callboard.experiments.reproduction.slides_explorations import SLIDES_EXPLORATIONS


def _quieter(times: int) -> Played:
    """Facebook's morning with longer gaps between its jobs."""
    more = (
        f"workload.arrivals.on_mean_s={10 * times}",
        f"workload.arrivals.off_mean_s={60 * times}",
    )
    return Played((Cell(name="fair", scenario="facebook-morning", policy="fair", overrides=more),))


_QUIETER = Exploration(
    artefact="gp-table-I",
    assumption="how often jobs come to the cluster on which the times were measured",
    plausible="the times are cut into tasks as if every job had 400 slots; a quarter of the load"
    " is a night",
    settings={
        f"gaps {times} times as long" if times > 1 else "as it is": _quieter(times)
        for times in (1, 2, 3, 4, 8)
    },
    quantities=running_times(),
)

EXPLORATIONS: tuple[Exploration, ...] = (
    *HFSP_EXPLORATIONS,
    *SLIDES_EXPLORATIONS,
    *HYBRID_EXPLORATIONS,
    _QUIETER,
    *PREEMPTION_EXPLORATIONS,
)
"""In the order of the artefacts' papers."""
