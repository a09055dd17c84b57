"""What a slot alone decides: how long an attempt takes, and what it makes of stale messages."""

from callboard.actors.blocks import Blocks
from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.placement import Placement
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptStarted,
    NodeFacts,
    ShuffleEnded,
)
from callboard.actors.vocabulary.messages import LaunchTask, OutputsReady, ReduceWork
from callboard.actors.worker.durations import Durations
from callboard.actors.worker.slot import Slot
from callboard.scheduler.model import REDUCE, REDUCES, Locality, SlotKind
from callboard.scheduler.registry.parts import make_policy
from tests.support.preempt import KillNewest
from tests.support.world import IN_STEP, PlayedRun, job, play


def lengths(run: PlayedRun) -> dict[int, int]:
    """How long each attempt ran."""
    return {e.attempt: e.at_ms - e.started_ms for e in run.all(AttemptEnded)}


def test_a_fast_node_maps_and_reduces_faster_but_shuffles_no_faster() -> None:
    cluster = Cluster(nodes=1, racks=1, speed=2.0, heartbeat=IN_STEP)
    jobs = [job(0, maps=1, map_ms=10_000, reduces=1, shuffle_ms=4000, reduce_ms=6000)]
    run = play(jobs, cluster=cluster)
    assert lengths(run)[1] == 5000
    started, fetched = run.all(AttemptStarted)[1].at_ms, run.all(ShuffleEnded)[0].at_ms
    assert fetched - started == 4002  # the question and the answer, then the whole share
    assert run.all(AttemptEnded)[1].at_ms - fetched == 3000


def test_a_job_says_how_long_its_tasks_take_on_a_kind_of_node() -> None:
    """COSHH's m(J, R): the first job is twice as fast on `io`, the second four times as slow; the
    factor goes with the node's speed, and leaves the shuffle alone.
    """
    group = NodeGroup(nodes=1, map_slots=2, reduce_slots=2, speed=2.0, node_type="io")
    cluster = Cluster(nodes=0, racks=1, heartbeat=IN_STEP, group=(group,))
    jobs = [
        job(0, maps=1, map_ms=8000, factors=(("io", 0.5),)),
        job(1, 1, 8000, reduces=1, shuffle_ms=3000, reduce_ms=500, factors=(("io", 4.0),)),
        job(2, maps=1, map_ms=8000, factors=(("cpu", 4.0),)),
    ]
    run = play(jobs, cluster=cluster)
    what = {e.attempt: (e.job, e.kind) for e in run.launches()}
    took = {what[attempt]: ms for attempt, ms in lengths(run).items()}
    assert (took[0, SlotKind.MAP], took[1, SlotKind.MAP], took[2, SlotKind.MAP]) == (
        2000,
        16_000,
        4000,
    )
    assert took[1, SlotKind.REDUCE] == 3002 + 1000


def test_a_group_of_nodes_has_its_own_speed_and_slots() -> None:
    group = NodeGroup(nodes=1, map_slots=3, reduce_slots=0, speed=4.0)
    cluster = Cluster(nodes=1, racks=1, map_slots=1, heartbeat=IN_STEP, group=(group,))
    run = play([job(0, maps=4, map_ms=8000)], cluster=cluster)
    by_node = {e.attempt: e.node for e in run.launches()}
    assert sorted(by_node.values()) == [0, 1, 1, 1]
    assert {(by_node[a], ms) for a, ms in lengths(run).items()} == {(0, 8000), (1, 2000)}


def test_a_map_is_longer_away_from_its_input() -> None:
    """Replication 1: some maps find no free slot at their block, and pay 1.5 or 3 times."""
    tasks = Tasks(rack_factor=1.5, off_rack_factor=3.0)
    cluster = Cluster(nodes=6, racks=3, map_slots=1, replication=1, heartbeat=IN_STEP)
    run = play([job(0, maps=24, map_ms=6000)], "fair", cluster=cluster, tasks=tasks)
    level = {e.attempt: e.level for e in run.launches()}
    wanted = {Locality.NODE: 6000, Locality.RACK: 9000, Locality.OFF_RACK: 18_000}
    assert set(level.values()) == set(Locality)
    assert all(ms == wanted[level[attempt]] for attempt, ms in lengths(run).items())


def test_a_shuffle_takes_its_whole_share_or_the_last_maps_part() -> None:
    """Begun after the last map: the whole 8 s.  Begun long before: the last map's quarter."""
    jobs = [job(0, maps=4, map_ms=20_000, reduces=1, shuffle_ms=8000, reduce_ms=0)]
    late, early = (play(jobs, tasks=Tasks(slowstart=share)) for share in (1.0, 0.0))
    for run, from_its_start in ((late, True), (early, False)):
        fetched_ms = run.all(ShuffleEnded)[0].at_ms
        reduce = next(e.attempt for e in run.launches() if e.kind is SlotKind.REDUCE)
        begun_ms = next(e.at_ms for e in run.all(AttemptStarted) if e.attempt == reduce)
        told_ms = max(e.at_ms for e in run.all(AttemptClosed) if e.attempt != reduce)
        if from_its_start:
            assert begun_ms > told_ms
            assert fetched_ms == begun_ms + 8000
        else:
            assert begun_ms + 8000 < told_ms
            assert fetched_ms == told_ms + 1 + 2000


def test_a_map_and_a_reduce_of_one_number_draw_apart() -> None:
    run = play([job(0, maps=1, map_ms=10_000, reduces=1, reduce_ms=10_000)], tasks=Tasks(sigma=0.5))
    reduce_ms = run.all(AttemptEnded)[1].at_ms - run.all(ShuffleEnded)[0].at_ms
    assert lengths(run)[1] != reduce_ms


def test_an_attempt_is_not_ended_by_the_timer_of_one_that_was_killed_before_it() -> None:
    """One slot: the map killed after 12 s leaves its 30 s timer behind in the same slot."""
    policy = make_policy("fifo")
    policy.preemption = KillNewest(every_ms=10_000, times=1)
    cluster = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=2, map_ms=30_000)], policy, cluster=cluster)
    assert sorted(lengths(run).values())[1:] == [30_000, 30_000]


def test_a_long_fetch_is_work_and_waiting_for_a_map_is_not() -> None:
    """A shuffle of three hours is no stall, though nothing is noted meanwhile."""
    run = play([job(0, maps=1, map_ms=1000, reduces=1, shuffle_ms=3 * 3600 * 1000)])
    assert run.kernel.reason == "complete"


def test_an_answer_to_an_attempt_that_is_gone_is_not_taken_for_another() -> None:
    """The job still knows of a reduce that was killed in this slot, and answers it too."""
    kernel = Kernel()
    facts = NodeFacts(0, 0, 1, 1, 1.0)
    blocks = Blocks(Placement(1, nodes=1, racks=1, replication=1))
    durations = Durations(facts, Tasks(), seed=1)
    slot = Slot(facts, 1, latency_ms=1, durations=durations, blocks=blocks)
    kernel.admit_actor(slot)
    work = ReduceWork(shuffle_ms=1000, tail_ms=0, reduce_ms=1000)
    slot.receive(
        LaunchTask(2, 0, REDUCES, REDUCE, 0, 0, Locality.OFF_RACK, work, tracked=False, cause=0)
    )
    slot.receive(OutputsReady(attempt=1))
    assert not slot.at_work()
    slot.receive(OutputsReady(attempt=2))
    assert slot.at_work()
