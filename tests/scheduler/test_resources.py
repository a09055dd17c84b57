"""Resources: what nodes have and tasks take, by dimension; slots are the special case."""

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, NodeGroup
from callboard.actors.vocabulary.messages import JobProfile
from callboard.actors.world import World
from callboard.experiments.run.run_spec import RunSpec
from callboard.scenarios.scenario_file import from_dict, to_dict
from callboard.scheduler.model import MAP, MAPS, REDUCE, REDUCES, SETUP, Priority
from callboard.scheduler.resources import Dimensions, fits, minus, plus
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.support.world import job, play, spec_of

SCENARIO = {
    "name": "demands",
    "cluster": {"nodes": 2, "racks": 1, "capacity": {"cpu": 4000, "memory": 16384}},
    "workload": {"kind": "jobs", "job": [{"maps": 1, "map_s": 10, "map_demand": {"cpu": 1000}}]},
}


def test_without_names_a_task_takes_one_slot_and_a_node_has_slots() -> None:
    plain = Dimensions()
    assert plain.of_node((2, 3), {}) == (2, 3)
    assert [plain.of_task(kind, {}) for kind in (MAP, REDUCE)] == [(1, 0), (0, 1)]


def test_vectors_are_added_and_compared_dimension_by_dimension() -> None:
    both = Dimensions(("cpu", "memory"))
    node, task = both.of_node((4, 0), {"cpu": 4000}), both.of_task(MAP, {"cpu": 1000})
    assert (node, task) == ((4, 0, 4000, 0), (1, 0, 1000, 0))
    assert minus(node, task) == (3, 0, 3000, 0)
    assert plus(minus(node, task), task) == node
    assert fits(task, task)
    assert not fits((1, 0, 1000, 1), node)


def test_each_node_has_what_its_group_says_else_what_the_cluster_says() -> None:
    big = NodeGroup(nodes=1, capacity={"memory": 9, "gpu": 1})
    cluster = Cluster(nodes=1, racks=1, capacity={"cpu": 4}, group=(NodeGroup(nodes=1), big))
    world = World(cluster, spec_of([]).scenario.tasks, [], 1)
    dimensions, capacities = world.resources
    assert dimensions.names == ("map slots", "reduce slots", "cpu", "gpu", "memory")
    assert capacities == ((2, 2, 4, 0, 0), (2, 2, 4, 0, 0), (2, 2, 0, 1, 9))


def test_a_scenario_says_demands_and_a_scheduler_is_told_them_by_stage() -> None:
    spec = RunSpec.of(from_dict(SCENARIO))
    assert spec.jobs[0].demands == ((("cpu", 1000),), ())
    profile = JobProfile("u", "", Priority.NORMAL, (1, 0), spec.jobs[0].demands)
    assert [profile.demand(each) for each in (MAPS, REDUCES, SETUP)] == [(("cpu", 1000),), (), ()]
    assert JobProfile("u", "", Priority.NORMAL, (1, 0)).demand(MAPS) == ()


def test_capacities_that_no_job_asks_for_change_no_message_and_need_not_be_recorded() -> None:
    """So scenarios without resources keep their digests."""
    plain = Cluster(nodes=2, racks=1)
    runs = [
        play([job(0, maps=3)], cluster=each)
        for each in (plain, replace(plain, capacity={"cpu": 1}))
    ]
    assert runs[0].kernel.digest() == runs[1].kernel.digest()
    assert "capacity" not in to_dict(spec_of([]).scenario)["cluster"]


@pytest.mark.parametrize(
    ("demand", "problem"),
    [
        ({"cpu": 4001}, 'takes 4,001 of "cpu", but no node has more than 4,000'),
        ({"gpu": 1}, 'takes 1 of "gpu", but no node has any'),
    ],
)
def test_a_task_that_fits_no_node_is_refused_when_the_scenario_is_read(
    demand: dict[str, int], problem: str
) -> None:
    jobs = [{"maps": 1, "map_s": 10, "map_demand": demand}]
    scenario = from_dict({**SCENARIO, "workload": {"kind": "jobs", "job": jobs}})
    with pytest.raises(ScenarioError, match=problem):
        RunSpec.of(scenario)
