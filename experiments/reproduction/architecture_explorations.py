"""What Sparrow's abstract leaves open: how many workers, tasks a job, probes a task there are."""

from msgspec.structs import replace

from callboard.experiments.reproduction.catalogue_of_artefacts import SPARROW, quantities_of
from callboard.experiments.reproduction.evidence import Played
from callboard.experiments.reproduction.exploration import Exploration


def _late_beside_central(workers: int = 1000, tasks: int = 100, probes: int = 2) -> Played:
    """Late binding, and one queue that knows all, at the highest load."""
    late, central = SPARROW.played(
        "at_load",
        loads=[{"load": 0.95}],
        placements=[{"placement": "late"}, {"placement": "central"}],
        workers=workers,
        jobs=300,
        tasks=tasks,
        maps=f"workload.sizes.maps={tasks}" if tasks != 100 else "",
    ).cells
    return Played(
        (replace(late, policy=f"sparrow(probes={probes})") if probes != 2 else late, central)
    )


_IDEAL = Exploration(
    artefact="sparrow-ideal",
    assumption="how many workers of four slots there are (here: 1,000), tasks a job has (100), and"
    " probes a task (2)",
    plausible="the sentence is of 110 machines and of queries whose stages have from a few to some"
    " dozens of tasks; Sparrow's own sweep of probes ends at 8",
    settings={
        "as it is": _late_beside_central(),
        "110 workers": _late_beside_central(workers=110),
        "10 tasks": _late_beside_central(tasks=10),
        "110 workers, 10 tasks": _late_beside_central(workers=110, tasks=10),
        "3 probes": _late_beside_central(probes=3),
        "4 probes": _late_beside_central(probes=4),
        "8 probes": _late_beside_central(probes=8),
    },
    quantities=quantities_of(
        "sparrow-ideal", "late binding over one queue that knows all, load 0.95"
    ),
    picture="explored-sparrow-ideal.svg",
)

ARCHITECTURE_EXPLORATIONS = (_IDEAL,)
