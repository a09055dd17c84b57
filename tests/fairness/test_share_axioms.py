"""Which orders claim which properties of shares."""

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate, is_guaranteed
from callboard.scenarios.scenario_file import Scenario, from_dict
from callboard.scheduler.registry.parts import make_policy

MONOTONE = [PROPERTIES_BY_NAME[name] for name in ("resource-monotone", "population-monotone")]


def narrow_and_wide(slots: int, narrow: int, narrow_s: float, wide_s: float) -> Scenario:
    """A job of few maps and one of ten: more slots bring only the wide one's end nearer."""
    jobs = [{"maps": narrow, "map_s": narrow_s}, {"maps": 10, "map_s": wide_s}]
    cluster = {"nodes": 1, "racks": 1, "map_slots": slots}
    return from_dict(
        {
            "name": "narrow-and-wide",
            "cluster": cluster,
            "tasks": {"rack_factor": 1, "off_rack_factor": 1},
            "workload": {"kind": "jobs", "job": jobs},
        }
    )


SOONER = narrow_and_wide(2, 1, 10, 1.5)
"""Of two slots the narrow job ends first by virtual time, of three the wide one."""

AS_LARGE = narrow_and_wide(3, 2, 10, 2)
"""Of three slots they end at once, and the first goes first; of six the wide one does."""


@pytest.mark.parametrize(
    ("order", "world"),
    [("psbs", SOONER), ("fsp+ps", SOONER), ("fsp+fifo", SOONER), ("hfsp", AS_LARGE)],
)
def test_orders_by_virtual_time_are_not_monotone_where_tasks_differ(
    order: str, world: Scenario
) -> None:
    policy = f'{order}(size="oracle")'
    assert evaluate(MONOTONE[0], Experiment(world, policy)).broken
    assert not any(is_guaranteed(make_policy(policy), prop) for prop in MONOTONE)


@pytest.mark.parametrize("order", ["psbs", "fsp+ps", "fsp+fifo"])
def test_they_are_where_all_tasks_are_taken_for_equally_long(order: str) -> None:
    assert all(is_guaranteed(make_policy(order), prop) for prop in MONOTONE)
    held = evaluate(MONOTONE[0], Experiment(SOONER, order))
    assert held.times > 0
    assert not held.broken
