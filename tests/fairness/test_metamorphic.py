"""Relations between runs, where they would ask too much."""

import pytest

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate
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
