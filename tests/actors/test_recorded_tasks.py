"""Tasks that take what they took when they were recorded, and fail as they did."""

from array import array
from collections.abc import Sequence

import msgspec
import pytest

from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import Failures, RecordedFailure, RecordedReduce, RecordedTasks
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptStalled,
    JobFinished,
    Outcome,
)
from callboard.actors.vocabulary.faults import Crash
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.actors.world import World
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.simulation import Simulation
from callboard.histories.model.tasks_file import packed_inputs
from callboard.scheduler.model import MAP, MAPS, REDUCES, Locality, Stage
from callboard.twin.attempt_lengths import true_size
from callboard.twin.twin_run import TwinRun
from tests.support.world import IN_STEP, PlayedRun, job, play, spec_of

NODE, RACK, OFF_RACK = Locality
THREE_NODES = Cluster(nodes=3, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
ONE_SLOT = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)


def recorded(
    map_ms: Sequence[int],
    levels: Sequence[Locality] = (),
    *,
    inputs: Sequence[Sequence[int]] = (),
    reduces: Sequence[RecordedReduce] = (),
    failures: Failures | None = None,
    nodes: int = 1,
) -> JobSpec:
    """A job whose maps, unless it is said otherwise, have no place of input."""
    tasks = RecordedTasks(
        array("q", map_ms),
        bytes(levels or [NODE] * len(map_ms)),
        array("q", [each.shuffle_ms for each in reduces]),
        array("q", [each.tail_ms for each in reduces]),
        array("q", [each.rest_ms for each in reduces]),
        failures or {},
        *packed_inputs(inputs or [[]] * len(map_ms)),
        nodes,
    )
    spec = job(0, maps=len(map_ms), map_ms=1, reduces=len(reduces))
    return msgspec.structs.replace(spec, recorded=tasks)


def lengths(run: PlayedRun, outcome: Outcome = Outcome.SUCCEEDED) -> list[int]:
    """How long the attempts with such an end ran, in the order of their ends."""
    ended = run.all(AttemptEnded)
    return [each.at_ms - each.started_ms for each in ended if each.outcome is outcome]


def test_each_map_takes_what_it_took() -> None:
    assert lengths(play([recorded([7000, 3000, 12_345])], cluster=ONE_SLOT)) == [7000, 3000, 12_345]


def test_a_map_takes_longer_only_by_how_much_farther_its_input_is_than_then() -> None:
    """Two nodes in two racks; only node 0 has a slot, only node 1 the inputs."""
    without = NodeGroup(nodes=1, map_slots=0)
    cluster = Cluster(
        nodes=1, racks=2, map_slots=1, reduce_slots=0, heartbeat=IN_STEP, group=(without,)
    )
    spec = recorded([8000, 8000, 8000], [NODE, RACK, OFF_RACK], inputs=[[1]] * 3, nodes=2)
    tasks = Tasks(rack_factor=1.6, off_rack_factor=2.0)
    assert lengths(play([spec], cluster=cluster, tasks=tasks)) == [16_000, 10_000, 8000]


def test_a_map_without_a_place_of_its_input_is_at_home_on_every_node() -> None:
    cluster = Cluster(nodes=6, racks=3, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    run = play([recorded([5000] * 12, nodes=6)], "fair+delay(node=600,rack=600)", cluster=cluster)
    assert {each.level for each in run.launches(MAP)} == {NODE}
    assert len(run.launches(MAP)) == 12
    assert run.kernel.now_ms < 60_000  # nobody waited for a nearer node


def test_a_map_without_a_place_of_its_input_waits_for_no_node_that_is_down() -> None:
    crash = [ScheduledFault(1000, Crash(2))]
    run = play([recorded([5000] * 6, nodes=3)], cluster=THREE_NODES, script=crash)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED]
    assert run.all(AttemptStalled) == []


def test_inputs_lie_where_they_lay_while_the_cluster_is_as_large_as_it_was() -> None:
    inputs = [[task % 4, (task + 1) % 4] for task in range(8)]
    spec = recorded([60_000] * 8, inputs=inputs, nodes=4)
    cluster = Cluster(nodes=4, racks=2, map_slots=2, reduce_slots=0, heartbeat=IN_STEP)
    local = play([spec], cluster=cluster).launches(MAP)
    assert all(each.node in inputs[each.task] for each in local)
    larger = Cluster(nodes=40, racks=2, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    placed = play([spec], cluster=larger).launches(MAP)
    assert len(placed) == 8
    assert any(each.node >= 4 and each.level is NODE for each in placed)


def test_a_task_fails_as_often_and_after_as_long_as_it_did() -> None:
    """The second failure came later than the success that followed it."""
    failed = {(MAPS, 1): (RecordedFailure(2000), RecordedFailure(9000))}
    run = play([recorded([4000, 5000], failures=failed)], cluster=THREE_NODES)
    assert lengths(run, Outcome.FAILED) == [2000, 9000]
    assert sorted(lengths(run)) == [4000, 5000]


def test_a_failure_is_as_far_off_as_its_own_attempt_was() -> None:
    """It failed off-rack after 6 s, that is 3 s for a map that is at home."""
    failed = {(MAPS, 0): (RecordedFailure(6000, OFF_RACK),)}
    run = play([recorded([4000], failures=failed)], cluster=THREE_NODES)
    assert lengths(run, Outcome.FAILED) == [3000]


def test_four_recorded_failures_of_a_task_end_its_job() -> None:
    failed = {(MAPS, 0): (RecordedFailure(1000),) * 4}
    run = play([recorded([4000], failures=failed)], cluster=THREE_NODES)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.FAILED]


def test_a_reduce_takes_its_tail_after_the_last_map_and_then_its_rest() -> None:
    """One map of 20 s; the reduces start with the first heartbeat, since slowstart is 0."""
    reduces = [RecordedReduce(5000, 2000, 4000), RecordedReduce(50_000, 2000, 1000)]
    cluster = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=2, heartbeat=IN_STEP)
    run = play([recorded([20_000], reduces=reduces)], cluster=cluster, tasks=Tasks(slowstart=0.0))
    _, first, second = (each.at_ms for each in run.all(AttemptEnded))
    booked_ms = run.all(AttemptClosed)[0].at_ms
    assert first == pytest.approx(booked_ms + 2000 + 4000, abs=10)
    starts = [each.started_ms for each in run.all(AttemptEnded)[1:]]
    assert second == pytest.approx(max(starts) + 50_000 + 1000, abs=10)


def test_a_reduce_fails_after_its_shuffle_as_long_as_it_did() -> None:
    failed = {(REDUCES, 0): (RecordedFailure(3000),)}
    spec = recorded([1000], reduces=[RecordedReduce(4000, 0, 10_000)], failures=failed)
    run = play([spec], cluster=THREE_NODES)
    (failed_ms,) = lengths(run, Outcome.FAILED)
    assert failed_ms == 4000 + 3000
    assert lengths(run)[-1] == 4000 + 10_000


@pytest.mark.parametrize(("stage", "size_ms"), [(MAPS, 4000 + 5000), (REDUCES, 700)])
def test_the_oracle_knows_recorded_sizes_with_local_input(stage: Stage, size_ms: int) -> None:
    spec = recorded([4000, 10_000], [NODE, OFF_RACK], reduces=[RecordedReduce(10, 5, 700)])
    oracle = WorkloadOracle([spec], Tasks(off_rack_factor=2.0), seed=1)
    assert oracle.size_ms(0, stage) == size_ms


def test_recorded_jobs_never_have_the_shape_of_another() -> None:
    """Each is measured by itself alone on the empty cluster."""
    one = recorded([1000, 3000])
    other = msgspec.structs.replace(one, job=1)
    assert one.solo_time_key != other.solo_time_key


def test_a_task_that_was_killed_more_often_than_it_may_fail_still_succeeds() -> None:
    """Five attempts were killed after 1 s each: its job goes on, and no node is blamed.  Nobody
    orders such kills, which only the rules for recorded workloads allow.
    """
    killed = tuple(RecordedFailure(1000, NODE, killed=True) for _ in range(5))
    spec = spec_of([recorded([4000], failures={(MAPS, 0): killed})], cluster=THREE_NODES)
    events: list[AnyEvent] = []
    run = PlayedRun(simulation := Simulation(spec, [events.append]), events)
    simulation.run()
    assert lengths(run, Outcome.KILLED) == [1000] * 5
    assert lengths(run) == [4000]
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED]


def test_a_recorded_task_with_skew_is_as_long_for_slot_oracle_and_twin() -> None:
    spec = msgspec.structs.replace(recorded([10_000, 4000]), skewed=((0,), ()), skew=5.0)
    assert sorted(lengths(play([spec], cluster=ONE_SLOT))) == [4000, 50_000]
    assert WorkloadOracle([spec], Tasks(), seed=1).lengths_ms(0, MAPS) == [50_000, 4000]
    world = World(ONE_SLOT, Tasks(), (spec,), seed=1)
    policy = load_architecture('srpt(size="oracle")').policy
    assert true_size(TwinRun(world, policy).tables, MAPS, 0) == 54_000
