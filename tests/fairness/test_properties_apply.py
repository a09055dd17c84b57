"""Of which policies properties speak, where one did speak of too many."""

from typing import Any

import pytest

from callboard.experiments.run.run_result import LIVELOCK
from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import evaluate
from callboard.scenarios.scenario_file import from_dict
from callboard.scheduler.locality import Delay
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import AnyLocality, Policy
from callboard.scheduler.registry.parts import make_policy
from tests.whole.test_livelock import KillAll


def test_an_order_that_spares_what_it_measures_does_not_promise_newest_first() -> None:
    newest_first = PROPERTIES_BY_NAME["newest-first"]
    assert newest_first.misfit(make_policy("fair+kill")) is None
    assert newest_first.misfit(make_policy("hfsp+kill")) == (
        "`hfsp` spares the attempts that it measures"
    )


def kill_all(_spelling: str, _parts: object) -> Policy:
    return Policy(make_policy("fifo").order, preemption=KillAll(5000))


def test_a_run_that_is_given_up_has_no_response_times() -> None:
    scenario = from_dict(
        {
            "name": "round-and-round",
            "cluster": {"nodes": 1, "racks": 1},
            "workload": {"kind": "jobs", "job": [{"maps": 2, "map_s": 60}]},
        }
    )
    experiment = Experiment(scenario, "fifo", kill_all)
    assert experiment.run.end_event.reason == LIVELOCK
    found = evaluate(PROPERTIES_BY_NAME["lower-bound"], experiment)
    assert found.not_applicable == "the run did not come to its end"


class Patient(AnyLocality):
    """A rule of somebody's own, which may keep jobs waiting for as long as it likes."""

    name = "patient"


def test_of_a_locality_rule_of_ones_own_nothing_is_promised_about_idle_slots() -> None:
    """It was said to break a promise of Fair's."""
    prop = PROPERTIES_BY_NAME["work-conserving"]
    for locality in (AnyLocality(), Delay()):
        assert prop.misfit(Policy(Fair(), locality)) is None
    found = prop.misfit(Policy(Fair(), Patient()))
    assert found == "how long jobs may be passed over by `patient` is known to it alone"


@pytest.mark.parametrize(
    ("job", "name", "why"),
    [
        ({"count": 3, "every_s": 100}, "shortest-first", "jobs come at different times"),
        ({"on": {"io": 3.0}}, "makespan", "how long a job's tasks take depends on the node's type"),
        ({"hanging_maps": [1]}, "makespan", "a job has tasks that fail"),
    ],
)
def test_a_guarantee_is_not_asked_for_where_it_is_not_given(
    job: dict[str, Any], name: str, why: str
) -> None:
    """Each was said to break a guarantee of the policy's."""
    heartbeat = {"interval_ms": 20, "phase_grid_ms": 20, "out_of_band": True}
    cluster = {"nodes": 1, "racks": 1, "map_slots": 1, "node_type": "io", "heartbeat": heartbeat}
    scenario = from_dict(
        {
            "name": "one-entry",
            "cluster": cluster,
            "tasks": {"rack_factor": 1.0, "off_rack_factor": 1.0},
            "workload": {"kind": "jobs", "job": [{"maps": 2, "map_s": 10, **job}]},
        }
    )
    prop = PROPERTIES_BY_NAME[name]
    assert prop.family.why_excludes(scenario) == why
