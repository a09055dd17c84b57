"""The slides' table "Small Jobs Experiment", on the scenario `small-jobs`.

Node and rack locality in percent, rack counting node-local maps too.  The slides give cluster and
sizes; map length, arrivals and load are the scenario's (see its comment).

                     slides                  here, seed 1
                     default    delay        fifo       fair       fair, delay of 5 s and 5 s
    3 maps            2  50     75  94        7  67      7  69     74 100
    10 maps          37  98     99  99       15  89     14  87     94 100
    100 maps         84  99     94  99       67  98     55  98     99 100

With delay, both are within 6 points of the slides in every row.
Without, it is what chance gives, which the slides' column is not: with three replicas on 100 nodes
a job that takes any slot finds 5.9, 15.2 and 69.2 % of its maps' data on the slot's node, so one
number there is below chance and two above.  No load and no task length moves that.
"""

from collections import Counter
from functools import cache
from math import sqrt

import pytest

from callboard.actors.vocabulary.events import AttemptLaunched
from callboard.scenarios import scenario_file
from callboard.scheduler.model import Locality
from tests.support.library import ran_with_events

DELAY = "fair+delay(node=5,rack=5)"
SIZES = (3, 10, 100)


@cache
def locality(policy: str) -> dict[int, tuple[float, float, int]]:
    """By job size: percent node-local, percent node- or rack-local, number of maps."""
    run = ran_with_events("small-jobs", policy)
    counts: dict[int, Counter[Locality]] = {size: Counter() for size in SIZES}
    for launch in run.all(AttemptLaunched):
        counts[run.jobs[launch.job].maps][launch.level] += 1
    return {
        size: (
            100 * of[Locality.NODE] / of.total(),
            100 * (of[Locality.NODE] + of[Locality.RACK]) / of.total(),
            of.total(),
        )
        for size, of in counts.items()
    }


@pytest.mark.soak
@pytest.mark.parametrize(
    ("size", "node", "rack"), [(3, 75, 94), (10, 99, 99), (100, 94, 99)], ids=map(str, SIZES)
)
def test_with_delay_locality_is_the_slides(size: int, node: int, rack: int) -> None:
    """Slide "Small Jobs Experiment", right half.  Within 6 points; the docstring has them all."""
    mine = locality(DELAY)[size]
    assert mine[0] == pytest.approx(node, abs=6)
    assert mine[1] == pytest.approx(rack, abs=6)


@pytest.mark.parametrize("size", SIZES)
def test_without_delay_locality_is_chance(size: int) -> None:
    """With i maps left a slot's node has the data of one with 1 − (1 − 3/100)^i, its rack (two of
    four hold a block) with 1 − (1/2)^i.  Within 3 standard errors or 3 points.
    """
    *mine, maps = locality("fifo")[size]
    for found, miss in zip(mine, (0.97, 0.5), strict=True):
        chance = sum(1 - miss**left for left in range(1, size + 1)) / size
        error = 300 * sqrt(chance * (1 - chance) / maps)
        assert found == pytest.approx(100 * chance, abs=max(error, 3))


@pytest.mark.soak
def test_small_jobs_gain_most_and_every_size_gains() -> None:
    """What the slide shows: +73, +62 and +10 points of node locality; here +67, +80, +44."""
    without, with_ = locality("fair"), locality(DELAY)
    gains = [with_[size][0] - without[size][0] for size in SIZES]
    assert gains[0] > 60
    assert gains[1] > 60
    assert gains[2] > 10


def test_the_experiment_is_of_the_slides_size() -> None:
    """100 nodes on 4 racks, 5 map slots, several hundred jobs submitted within 10 to 20 minutes."""
    path = scenario_file.find_scenario("small-jobs")
    scenario = scenario_file.load_scenario(path)
    jobs = scenario_file.make_jobs(scenario, path.parent)
    cluster = scenario.cluster
    assert (cluster.nodes, cluster.racks, cluster.map_slots) == (100, 4, 5)
    assert len(jobs) == 298
    assert 600_000 <= jobs[-1].submit_ms <= 1_200_000
