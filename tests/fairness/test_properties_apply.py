"""Of which policies properties speak, where they did speak of too many."""

from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate
from callboard.scenarios.scenario_file import from_dict
from callboard.scheduler.registry.parts import make_policy

USERS = {
    "name": "two-users",
    "cluster": {"nodes": 1, "racks": 1, "map_slots": 1, "replication": 1},
    "workload": {
        "kind": "jobs",
        "job": [{"maps": 1, "map_s": 1}, {"maps": 1, "map_s": 1, "user": "bob"}],
    },
}


def test_an_order_that_spares_what_it_measures_does_not_promise_newest_first() -> None:
    newest_first = PROPERTIES_BY_NAME["newest-first"]
    assert newest_first.misfit(make_policy("fair+kill")) is None
    assert newest_first.misfit(make_policy("hfsp+kill")) == (
        "`hfsp` spares the attempts that it measures"
    )


def test_users_that_a_policy_names_keep_their_names() -> None:
    policy = "hybrid(overloaded_from=0.5,users={bob={weight=0.5,min_maps=3,min_reduces=1}})"
    scenario = from_dict(USERS)
    found = evaluate(PROPERTIES_BY_NAME["rename"], Experiment(scenario, policy))
    assert found.times
    assert not found.broken
