"""Relations between runs, where they say nothing."""

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate
from callboard.scenarios.scenario_file import from_dict


def test_users_that_a_parameter_names_are_not_renamed() -> None:
    """Under another name the user would be another, with another share."""
    scenario = from_dict(
        {
            "name": "two-users",
            "cluster": {"nodes": 1, "racks": 1},
            "workload": {
                "kind": "jobs",
                "job": [
                    {"maps": 6, "map_s": 1, "user": "ann"},
                    {"maps": 6, "map_s": 1, "user": "bob"},
                ],
            },
        }
    )
    rename = PROPERTIES_BY_NAME["rename"]
    named = evaluate(
        rename, Experiment(scenario, 'fair(pool_by="user", pools={bob = {weight = 9}})')
    )
    assert named.not_applicable == "the policy's parameters name the user bob"
    assert evaluate(rename, Experiment(scenario, 'fair(pool_by="user")')).times > 0
