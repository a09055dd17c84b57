"""Times alone: by hand on small clusters, and never longer than a run with whatever policy."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import RecordedReduce
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.experiments.run.solo_runs import solo_times
from callboard.fairness.scenario_family import WITHOUT_FAULTS
from callboard.fairness.strategies import policies, scenarios
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slowdown import slowdowns
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from tests.actors.test_recorded_tasks import recorded
from tests.histories.readers.samples import HADOOP1, written
from tests.histories.readers.test_any_format import SAMPLES
from tests.support.world import spec_of

AT_ONCE = Heartbeats(out_of_band=True)
PROMPTLY = ("cluster.heartbeat.out_of_band=true", "cluster.heartbeat.interval_ms=100")


def alone_ms(
    cluster: Cluster | None = None, tasks: Tasks | None = None, seed: int = 1, **job: Any
) -> int:
    """How long a job of such fields takes alone; by default on two nodes of one slot a kind."""
    default = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=AT_ONCE)
    scenario = Scenario(
        name="alone",
        seed=seed,
        policies=("fifo",),
        cluster=cluster or default,
        tasks=tasks or Tasks(),
        workload=ListedWorkload(job=(ListedJob(at_s=0, **job),)),
    )
    (took,) = solo_times(RunSpec.of(scenario)).values()
    return took


class TestByHand:
    def test_a_task_takes_its_length_and_the_way_there_and_back(self) -> None:
        assert alone_ms(maps=1, map_s=10) == 10_002

    def test_maps_go_in_waves(self) -> None:
        assert alone_ms(maps=3, map_s=10) == 2 * 10_002

    def test_without_prompt_heartbeats_a_slot_is_held_for_whole_rounds(self) -> None:
        """A round is 3 s and the way there and back; the end is told at the fourth."""
        usual = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1)
        assert alone_ms(usual, maps=1, map_s=10) == 4 * 3002
        assert alone_ms(usual, maps=3, map_s=10) == 8 * 3002

    def test_a_reduce_has_its_shuffle_behind_it_but_for_the_last_maps_part(self) -> None:
        """2 s of 6 for the last of three maps, then the rest, and two ways."""
        job: dict[str, Any] = {"maps": 3, "map_s": 10, "reduces": 2, "shuffle_s": 6, "reduce_s": 5}
        assert alone_ms(**job) == 2 * 10_002 + 2000 + 5000 + 2

    def test_a_reduce_that_found_no_slot_shuffles_afterwards(self) -> None:
        job: dict[str, Any] = {"maps": 3, "map_s": 10, "reduces": 3, "shuffle_s": 6, "reduce_s": 5}
        assert alone_ms(**job) == 2 * 10_002 + (2000 + 5000 + 2) + (6000 + 5000 + 2)

    def test_with_a_late_start_every_reduce_does(self) -> None:
        job: dict[str, Any] = {"maps": 2, "map_s": 10, "reduces": 1, "shuffle_s": 6, "reduce_s": 5}
        assert alone_ms(tasks=Tasks(slowstart=1.0), **job) == 10_002 + 6000 + 5000 + 2

    def test_its_tasks_run_where_they_are_fastest(self) -> None:
        """One map on the fast node; a second one is done before the slow node does its first."""
        fast = NodeGroup(nodes=1, speed=4.0, node_type="io")
        cluster = Cluster(
            nodes=1, racks=1, map_slots=1, reduce_slots=1, group=(fast,), heartbeat=AT_ONCE
        )
        assert alone_ms(cluster, maps=2, map_s=10) == 2 * 2502
        assert alone_ms(cluster, maps=2, map_s=10, on={"io": 8.0}) == 20_002

    def test_recorded_tasks_take_what_they_took(self, tmp_path: Path) -> None:
        """Maps of 10 s and, rack-local, of 20 s; a reduce that begins then: 4 s and 7 s."""
        settings = ("tasks.rack_factor=2.0", *PROMPTLY)
        spec = load_run(str(written(tmp_path, HADOOP1)), settings)
        assert list(solo_times(spec).values()) == [10_002 + (4002 + 7000 + 2)]

    def test_it_has_its_own_draws(self) -> None:
        noisy = Tasks(sigma=0.5)
        assert alone_ms(tasks=noisy, maps=1, map_s=10) != alone_ms(
            tasks=noisy, maps=1, map_s=10, seed=2
        )

    def test_stragglers_are_no_part_of_it(self) -> None:
        assert alone_ms(tasks=Tasks(straggler_share=1.0), maps=1, map_s=10) == 10_002


@pytest.mark.parametrize("policy", ["fifo", "sparrow(probes=2)"])
def test_nothing_is_faster_where_maps_take_less_far_from_their_input(policy: str) -> None:
    """Two maps whose inputs lie on the node that has no slots, in the other rack."""
    apart = NodeGroup(nodes=1, map_slots=0)
    cluster = Cluster(nodes=1, racks=2, map_slots=2, heartbeat=AT_ONCE, group=(apart,))
    jobs = [recorded([200_000] * 2, inputs=[[1]] * 2, nodes=2)]
    assert 1 <= slowdown(jobs, policy, cluster, Tasks(off_rack_factor=0.5)) < 1.05


def test_nothing_is_faster_where_tasks_of_no_length_wait_for_no_heartbeat() -> None:
    """Neither messages nor maps take any time: the reduce's shuffle begins at once."""
    jobs = [recorded([0, 0], reduces=[RecordedReduce(60_000, 0, 0)])]
    cluster = Cluster(nodes=2, racks=1, latency_ms=0)
    assert slowdown(jobs, "sparrow(probes=2)", cluster, Tasks()) == 1


def slowdown(jobs: list[JobSpec], policy: str, cluster: Cluster, tasks: Tasks) -> float:
    """The least slowdown of these jobs in a run."""
    spec = spec_of(jobs, cluster=cluster, tasks=tasks)
    spec, metrics = msgspec.structs.replace(spec, policy=policy), Metrics()
    Simulation(spec, [metrics.observe]).run()
    return float(slowdowns(metrics.jobs(), solo_times(spec)).slowdown.min())


def test_a_job_that_takes_no_time_has_a_time_alone() -> None:
    spec = spec_of([recorded([0, 0])], cluster=Cluster(latency_ms=0))
    assert solo_times(spec, at_once=True) == {0: 1}


@pytest.mark.soak
@settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=list(HealthCheck),
)
@given(scenario=scenarios(WITHOUT_FAULTS), policy=policies())
def test_nothing_is_faster_than_alone(scenario: Scenario, policy: str) -> None:
    spec, metrics = RunSpec.of(scenario, policy), Metrics()
    Simulation(spec, [metrics.observe]).run()
    assert slowdowns(metrics.jobs(), solo_times(spec)).slowdown.min() >= 1


@pytest.mark.parametrize("name", [name for name, (_, columns) in SAMPLES.items() if not columns])
def test_no_recorded_job_is_faster_than_alone(name: str, tmp_path: Path) -> None:
    """Also where a map that was read from afar is now local, and takes a part of its time."""
    settings = ("tasks.rack_factor=4.0", "tasks.off_rack_factor=9.0", *PROMPTLY)
    spec, metrics = load_run(str(written(tmp_path, SAMPLES[name][0])), settings), Metrics()
    Simulation(spec, [metrics.observe]).run()
    assert slowdowns(metrics.jobs(), solo_times(spec)).slowdown.min() >= 1


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "policy", "near"),
    [("small-jobs", "fair+delay", 1.001), ("preemption-storm", "fair+global", 1.001)],
)
def test_in_the_library_some_job_is_about_as_fast(name: str, policy: str, near: float) -> None:
    """A bound far below what can be reached would make every slowdown at least 1 too."""
    spec, metrics = RunSpec.of(load_run(name).scenario, policy), Metrics()
    Simulation(spec, [metrics.observe]).run()
    assert 1 <= slowdowns(metrics.jobs(), solo_times(spec)).slowdown.min() < near
