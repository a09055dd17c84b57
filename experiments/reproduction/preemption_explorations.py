"""Global preemption's killed long tasks, and how much production takes by force."""

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.evidence import Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.preemption_artefacts import busy_cells, killed_over

_WHERE = "66th"
_DUE = (320, 100)


def _due(slots: int) -> Played:
    """Busy hours in which production is due so many of the 400 map slots."""
    due = f"parts.fair.pools.production.min_maps={slots}"
    return Played(busy_cells(_WHERE, ("job by job", "global"), due))


_KILLED_LONG = Exploration(
    artefact="gp-killed-long",
    assumption="how many of the 400 map slots production is due, and takes by force (printed: 320)",
    plausible="down to a quarter, which the short tasks can give alone",
    settings={str(slots): _due(slots) for slots in _DUE},
    quantities=(
        Quantity[Runs](
            label="the long job's killed tasks, global over job by job",
            value=killed_over("global", "job by job", (_WHERE,)),
            below=0.5,
        ),
    ),
    seeds=tuple(range(1, 7)),
)

PREEMPTION_EXPLORATIONS = (_KILLED_LONG,)
