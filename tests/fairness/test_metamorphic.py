"""Relations between runs, where they would ask too much."""

from typing import Any

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import Evaluation, evaluate
from callboard.scenarios.scenario_file import from_dict


@pytest.mark.parametrize(
    "policy",
    [
        'fair(pool_by="user", pools={bob = {weight = 9}})',
        "coshh(users={bob = {min_maps = 3}})",
        "hybrid(users={bob = {min_maps = 3}})",
    ],
)
def test_users_that_a_parameter_names_keep_their_names(policy: str) -> None:
    """Under another name the user would be another, with another share."""
    scenario = from_dict(
        {
            "name": "two-users",
            "cluster": {"nodes": 1, "racks": 1, "map_slots": 4},
            "workload": {
                "kind": "jobs",
                "job": [
                    {"maps": 6, "map_s": 1, "user": "ann"},
                    {"maps": 6, "map_s": 1, "user": "bob"},
                ],
            },
        }
    )
    named = evaluate(PROPERTIES_BY_NAME["rename"], Experiment(scenario, policy))
    assert named.times > 0
    assert not named.broken


def evaluated(
    name: str, jobs: list[dict[str, Any]], policy: str = "fifo", nodes: int = 1, **heartbeat: object
) -> Evaluation:
    """What comes of a property on nodes of two slots with these jobs."""
    cluster = {"nodes": nodes, "racks": 1, "map_slots": 2}
    scenario = from_dict(
        {
            "name": "few-jobs",
            "cluster": {**cluster, "heartbeat": {"interval_ms": 1000, **heartbeat}},
            "tasks": {"rack_factor": 1.0, "off_rack_factor": 1.0},
            "workload": {"kind": "jobs", "job": jobs},
        }
    )
    return evaluate(PROPERTIES_BY_NAME[name], Experiment(scenario, policy))


def test_of_equal_jobs_one_is_the_lone_job() -> None:
    """Three were left, which `fair` serves otherwise than `fifo`."""
    found = evaluated("lone-job", [{"maps": 6, "map_s": 10, "count": 3}], "fair")
    assert (found.times, found.broken) == (6, "")


def test_equal_jobs_are_not_cut() -> None:
    """Of five jobs of two maps two maps were left, which are done sooner than ten."""
    jobs = [{"maps": 2, "map_s": 10, "count": 5}, {"maps": 2, "map_s": 10}]
    assert evaluated("cut-proof", jobs[:1]).times == 0
    found = evaluated("cut-proof", jobs)
    assert (found.times, found.broken) == (1, "")


def test_the_files_order_is_kept_where_a_repeated_job_comes_together_with_another() -> None:
    """The second of three meets the other, and `fifo` goes by the file."""
    jobs = [
        {"maps": 2, "map_s": 10, "count": 3, "every_s": 5},
        {"maps": 3, "map_s": 7, "at_s": 5},
    ]
    found = evaluated("rename", jobs)
    assert (found.times, found.broken) == (9, "")


@pytest.mark.parametrize("heartbeat", [{"phases_ms": [100, 700]}, {"thinking_ms": 300}])
def test_all_times_of_a_heartbeat_are_scaled(heartbeat: dict[str, Any]) -> None:
    found = evaluated("scale", [{"maps": 6, "map_s": 10}], nodes=2, **heartbeat)
    assert (found.times, found.broken) == (6, "")
