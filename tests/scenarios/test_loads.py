"""Laws of times by their formulas, and arrivals by the load that they bring to a cluster."""

from typing import Any

import numpy as np
import pytest

from callboard.actors.config import SECONDS_MAX
from callboard.actors.kernel.streams import Stream
from callboard.scenarios.arrivals import Poisson
from callboard.scenarios.distributions import (
    BoundedPareto,
    Distribution,
    Exponential,
    Hyperexponential,
    LogNormal,
    Uniform,
    Weibull,
)
from callboard.scenarios.generators import GeneratedWorkload
from callboard.scenarios.one_task import OneTask
from callboard.scenarios.scenario_file import Scenario, from_dict, make_jobs
from tests.scenarios.support import error_of, generated

LAWS: list[Distribution] = [
    Uniform(shortest_s=1, longest_s=5),
    Exponential(mean_s=60),
    Hyperexponential(first_mean_s=1, second_mean_s=50, first_share=0.9),
    BoundedPareto(mean_s=60, alpha=2.5, ratio=100),
    BoundedPareto(mean_s=60, alpha=1, ratio=100),
    Weibull(mean_s=3, shape=0.7),
    LogNormal(median_s=60, sigma=1),
    LogNormal(median_s=1e6, sigma=4),  # every eighth is cut at three years
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_what_is_drawn_by_a_law_has_the_mean_of_its_formula(law: Distribution) -> None:
    """Within four standard errors of 20,000 draws, each less than a tenth of the mean."""
    stream = Stream(3, "test")
    drawn = [min(law.draw(stream, place, 0), SECONDS_MAX) for place in range(20_000)]
    error = np.std(drawn) / 20_000**0.5
    assert abs(np.mean(drawn) - law.expected_s()) < 4 * error
    assert error < 0.1 * law.expected_s()


def test_a_bounded_pareto_time_lies_between_its_bounds() -> None:
    law, stream = BoundedPareto(mean_s=60, alpha=1.5, ratio=100), Stream(3, "test")
    drawn, low = np.array([law.draw(stream, n, 0) for n in range(20_000)]), law.shortest_s()
    assert low <= drawn.min() < 1.001 * low < 90 * low < drawn.max() <= 100 * low
    quarter = low * (1 - 0.25 * (1 - 100**-1.5)) ** (-1 / 1.5)
    assert (drawn < quarter).mean() == pytest.approx(0.25, abs=0.01)


def loaded(load: float, sizes: dict[str, Any], **cluster: Any) -> Scenario:
    """5,000 jobs, or an error."""
    arrivals = {"kind": "poisson", "load": load}
    plain = generated(jobs=5000, arrivals=arrivals, sizes=sizes)
    return from_dict({**plain, "cluster": cluster})


@pytest.mark.parametrize(
    ("sizes", "work_s"),
    [
        ({"kind": "one-task", "map_s": 12}, 12),
        ({"kind": "one-task", "map_s": {"law": "uniform", "shortest_s": 2, "longest_s": 10}}, 6),
        ({"kind": "exponential", "maps": 20, "map_s": 3}, 60),
    ],
)
def test_a_load_is_the_work_of_a_job_over_what_the_slots_do_between_two(
    sizes: dict[str, Any], work_s: float
) -> None:
    """7 nodes of 3 slots, 2 of 4 slots at twice the speed: 37 seconds of work a second."""
    group = [{"nodes": 2, "map_slots": 4, "speed": 2.0}]
    jobs = make_jobs(loaded(0.8, sizes, nodes=7, map_slots=3, group=group))
    assert jobs[-1].submit_ms / 5000 == pytest.approx(1000 * work_s / (0.8 * 37), rel=0.05)


def test_a_load_keeps_the_draws_of_its_mean_gap() -> None:
    """200 slots: the gap is 12 s / (0.5 · 200)."""
    stated = GeneratedWorkload(arrivals=Poisson(mean_s=0.12), sizes=OneTask(map_s=12), jobs=5000)
    jobs = make_jobs(loaded(0.5, {"kind": "one-task", "map_s": 12}))
    assert [job.submit_ms for job in jobs] == [job.submit_ms for job in stated.make_jobs(1)]


def test_a_load_is_refused_where_it_has_no_meaning() -> None:
    error = error_of(lambda: loaded(0.5, {"kind": "facebook-maps"}))
    assert "kind `one-task` and `exponential`, not `facebook-maps`; state `mean_s`" in str(error)
    arrivals = {"kind": "poisson", "load": 0.5, "mean_s": 7}
    both = generated(arrivals=arrivals, sizes={"kind": "one-task"})
    error = error_of(lambda: from_dict(both))
    assert error.key == "workload.arrivals.load"
    assert "`mean_s` says how often jobs come already" in str(error)
    with pytest.raises(ValueError, match="on a cluster only"):
        Poisson(load=0.5).submit_times(1, 10)
