"""The public strategies: what they draw is what a file could say, and small comes first."""

import tomllib

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from callboard.fairness import strategies
from callboard.fairness.scenario_family import (
    HOMOGENEOUS,
    WITH_FAULTS,
    WITHOUT_FAULTS,
    ScenarioFamily,
    scenario_size,
)
from callboard.scenarios.scenario_file import (
    Scenario,
    from_dict,
    make_fault_script,
    make_jobs,
    to_dict,
)
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.registry.parts import make_policy

EXAMPLES = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("worlds", [WITHOUT_FAULTS, WITH_FAULTS, HOMOGENEOUS])
@given(data=st.data())
@settings(EXAMPLES, max_examples=60)
def test_every_drawn_scenario_is_valid_and_can_be_written(
    worlds: ScenarioFamily, data: st.DataObject
) -> None:
    scenario = data.draw(strategies.scenarios(worlds))
    assert worlds.why_excludes(scenario) is None
    assert from_dict(to_dict(scenario)) == scenario
    assert from_dict(tomllib.loads(to_toml(scenario, ["drawn"]))) == scenario
    make_fault_script(scenario, make_jobs(scenario))


@given(scenario=strategies.scenarios(WITH_FAULTS))
@settings(EXAMPLES, max_examples=60)
def test_a_world_of_everything_is_no_plain_one(scenario: Scenario) -> None:
    """`objection` sees what the narrower family does not draw."""
    plain = not (scenario.timeline or scenario.cluster.group or scenario.tasks.sigma)
    assert plain or HOMOGENEOUS.why_excludes(scenario) is not None


@given(spelling=strategies.policies())
@settings(EXAMPLES, max_examples=40)
def test_every_drawn_policy_can_be_made(spelling: str) -> None:
    make_policy(spelling)


@pytest.mark.soak
def test_small_comes_first() -> None:
    """What fails everywhere shrinks to one node, one job of one map, at time 0."""
    least = find(strategies.scenarios(WITH_FAULTS), lambda _: True, settings=EXAMPLES)
    assert scenario_size(least)[:2] == (1, 1)
    (job,) = make_jobs(least)
    assert (job.submit_ms, job.maps, job.map_ms, job.reduces) == (0, 1, 1000, 0)
    assert least.timeline == ()
