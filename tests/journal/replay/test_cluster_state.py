"""The cluster: what it says at moments worked out by hand, and that it agrees with `Metrics`."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptStarted,
    FaultStruck,
    JobChanged,
    JobResubmitted,
    NodeFacts,
    NodeLost,
    Outcome,
    RunStarted,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    PauseMaster,
    Restart,
    RestartMaster,
    ResumeMaster,
)
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.thoughts import ThoughtSums
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import JobStatus, NodeStatus, SlotState
from callboard.journal.replay.job_rows import job_status
from callboard.journal.replay.schedulers_at_work import SchedulersAtWork
from callboard.journal.run_records import AttemptRecord, JobRecord
from callboard.journal.waiting_reservations import WaitingReservations
from callboard.scheduler.model import MAPS, REDUCES, Priority, SlotKind
from tests.journal.replay.support import events_of, outage, with_setup, with_setups
from tests.journal.stories import STORY
from tests.journal.strategies import World, worlds
from tests.support import world

FOUR = Cluster(nodes=2, racks=1, map_slots=2, reduce_slots=1)

SUSPENDING = ("hfsp-test", "hfsp+suspend(fair_share_timeout_s=5)", "workload.jobs=20")
"""A hundred attempts are suspended, and go on."""

RUNS: tuple[tuple[str, ...], ...] = (
    ("rack-outage", "fair"),
    ("stragglers", "fair+late"),
    SUSPENDING,
    ("two-jobs", "hfsp+preemptive"),
)


def folded(
    events: tuple[AnyEvent, ...] | list[AnyEvent], until_ms: int | None = None
) -> ClusterState:
    """The cluster after all events, or after those up to a moment."""
    cluster = ClusterState()
    for event in events:
        if until_ms is None or event.at_ms <= until_ms:
            cluster.observe(event)
    return cluster


def told(cluster: ClusterState) -> dict[str, Any]:
    """Everything that it says, and the state under it."""
    return {
        name: _plain(value)
        for name, value in {**vars(cluster), **vars(cluster.run)}.items()
        if name not in ("run", "_version", "_held_ms")  # of which all copies are one
    }


def _plain(value: Any) -> Any:
    if isinstance(value, WaitingReservations | SchedulersAtWork | ThoughtSums):
        return {name: _plain(each) for name, each in vars(value).items()}
    return record_told(value) if isinstance(value, dict) else value


def record_told(records: dict[Any, Any]) -> dict[Any, Any]:
    """Whose versions are nobody's affair."""
    return {
        key: msgspec.structs.replace(each, version=0)
        if isinstance(each, AttemptRecord | JobRecord)
        else each
        for key, each in records.items()
    }


def test_the_story_told_by_hand() -> None:
    """tests/journal/stories.py: node-0 has slots 0 and 1 (map, reduce), node-1 has 2 and 3."""
    # There the reduce is in its node's slot 0; here, as in real runs, reduce slots come last.
    story = [
        AttemptStarted(1301, 4, 1, 1) if event == AttemptStarted(1301, 4, 1, 0) else event
        for event in STORY
    ]
    cluster = folded(story, 1150)  # attempt 1 has ended, and the master does not know
    assert list(cluster.states) == [SlotState.GHOST, SlotState.IDLE, SlotState.MAP, SlotState.IDLE]
    assert list(cluster.owners) == [1, 0, 1, 0]
    row = cluster.run.jobs[0]
    assert (row.phases[MAPS].done, row.phases[MAPS].running) == (0, 2)
    assert job_status(row) is JobStatus.RUNNING
    assert job_status(cluster.run.jobs[1]) is JobStatus.WAITING

    cluster = folded(story, 1750)  # attempt 2 has failed, and the master does not know
    assert list(cluster.states) == [
        SlotState.MAP,
        SlotState.IDLE,
        SlotState.GHOST,
        SlotState.SHUFFLE,
    ]
    assert list(cluster.owners) == [2, 0, 1, 1]
    assert (cluster.run.busy, cluster.states.count(SlotState.GHOST), len(cluster.run.live)) == (
        [1, 1],
        1,
        2,
    )
    assert cluster.wasted_ms == 0  # as long as it is not booked

    cluster = folded(story, 3600)
    assert list(cluster.states) == [
        SlotState.IDLE,
        SlotState.IDLE,
        SlotState.IDLE,
        SlotState.REDUCE,
    ]
    assert cluster.wasted_ms == 1500
    assert cluster.run.levels == [2, 0, 2]
    assert cluster.run.jobs[1].outcome == "succeeded"
    assert list(cluster.run.live) == [0]


def check_against_metrics(events: tuple[AnyEvent, ...] | list[AnyEvent]) -> None:
    cluster, metrics = folded(events), Metrics.of(events)
    summary = metrics.summary()
    by_kind = summary.slot_ms
    assert cluster.busy_ms[SlotKind.MAP] == by_kind.map.busy
    assert cluster.busy_ms[SlotKind.REDUCE] == by_kind.reduce.busy
    assert cluster.jobs_ms == metrics.jobs_in_system().integral()
    counts = summary.jobs
    assert len(cluster.run.live) == counts.unfinished
    assert len(cluster.run.jobs) == counts.submitted


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_it_agrees_with_metrics_on_real_runs(run: tuple[str, ...]) -> None:
    events = events_of(*run)
    check_against_metrics(events)
    cluster = folded(events)
    assert not cluster.run.attempts
    assert cluster.run.busy == [0, 0]
    assert (cluster.states.count(SlotState.GHOST), cluster.run.suspended) == (0, 0)
    assert not any(cluster.suspended_by_node)
    for row in cluster.run.jobs.values():
        for stage, phase in row.phases.items():
            assert (phase.done, phase.running, phase.open) == (row.total(stage), 0, 0)
        assert row.suspended == 0


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_it_agrees_with_metrics_on_drawn_runs(world: World) -> None:
    check_against_metrics(world.events())


def test_copies_are_one_task() -> None:
    """Of a task that runs twice one is on, and none is when both attempts are closed."""
    seen = False
    cluster = ClusterState()
    for event in events_of("stragglers", "fair+late"):
        cluster.observe(event)
        for job in cluster.run.live:
            row = cluster.run.jobs[job]
            on = row.phases[MAPS].running + row.phases[REDUCES].running
            assert row.submission.maps - row.phases[MAPS].done - row.phases[MAPS].running >= 0, (
                event
            )
            assert on <= row.open_attempts
            seen = seen or on < row.open_attempts
    assert seen


def test_a_copy_goes_its_own_way() -> None:
    events = outage()
    half = len(events) // 2
    cluster = folded(list(events[:half]))
    before = told(cluster)
    twin = cluster.copy()
    for event in events[half:]:
        twin.observe(event)
    assert told(cluster) == before
    assert told(twin) == told(folded(events))


def test_setups_and_cleanups_are_no_maps_of_their_jobs() -> None:
    """They read nothing: the screen and the charts counted them, unlike the table at the end."""
    cluster, locality = folded(with_setups()), Metrics.of(with_setups()).summary().locality
    assert [level / 6 for level in cluster.run.levels] == [*msgspec.structs.astuple(locality)]
    assert cluster.done[MAPS] == (6 * 30_000, 6)


class TestTruthAndBelief:
    """rack-2 crashes at 420 s and is given up at 1200 s; it restarts at 1620 s."""

    def test_the_master_does_not_know_at_first(self) -> None:
        cluster = folded(outage(), 600_000)
        down = [node for node, truth in enumerate(cluster.node_status) if truth & NodeStatus.DOWN]
        assert down == list(range(2, 40, 4))
        assert not any(cluster.lost)
        assert cluster.states.count(SlotState.GHOST) >= 10
        places = [place for node in down for place in range(*cluster.first[node : node + 2])]
        assert {cluster.states[place] for place in places} == {SlotState.IDLE, SlotState.GHOST}

    def test_then_it_gives_the_nodes_up(self) -> None:
        cluster = folded(outage(), 1_200_000)
        assert [node for node, lost in enumerate(cluster.lost) if lost] == list(range(2, 40, 4))
        assert cluster.wasted_ms > 0

    def test_what_was_lost_with_outputs_is_wasted_as_the_table_says(self) -> None:
        """In the middle of the run, from a copy, and where jobs run again from their start."""
        restarts = [ScheduledFault(9000 * n, RestartMaster(recover=True)) for n in (1, 2)]
        jobs = [with_setup(world.job(0, maps=9, map_ms=5000, reduces=2, reduce_ms=4000))]
        begun = world.header(FOUR, Tasks())
        again = [begun, *world.play(jobs, cluster=FOUR, script=restarts, recount=False).events]
        for events in (outage(), again):
            half = len(events) * 9 // 10
            cluster = folded([*events[:half]]).copy()
            for event in events[half:]:
                cluster.observe(event)
            slot_time = map(Metrics.of(events).slot_time, SlotKind)
            assert cluster.wasted_ms == sum(each.wasted for each in slot_time) > 0

    def test_an_attempt_that_outlives_its_masters_belief_is_an_orphan(self) -> None:
        events = events_of(
            "two-jobs",
            "fifo",
            "cluster.heartbeat.expiry_ms=7000",
            'timeline=[{what="link",nodes="node-0",cut=true,at_s=3,for_s=600}]',
        )
        cluster = folded(events, 15_000)
        assert cluster.lost[0]
        assert SlotState.ORPHAN in cluster.states[: cluster.first[1]]


def test_records_that_nobody_changed_are_shared() -> None:
    """A snapshot of thousands of jobs costs what has changed since the last."""
    run = folded(outage(), 600_000).run
    twin = run.copy()
    assert twin.jobs[0] is run.jobs[0]
    twin.observe(JobChanged(600_001, 0, "ads", Priority.LOW))
    assert twin.jobs[0] is not run.jobs[0]
    assert twin.jobs[0].phases[MAPS] is not run.jobs[0].phases[MAPS]
    assert twin.jobs[1] is run.jobs[1]
    assert run.jobs[0].priority is Priority.NORMAL


def test_the_master_that_stands_still() -> None:
    """A restart that it is told meanwhile waits until it goes on."""
    cluster = ClusterState()
    cluster.observe(RunStarted(0, "0", "x", "fair", 1, {}, (NodeFacts(0, 0, 1, 1, 1.0),)))
    cluster.observe(FaultStruck(5, PauseMaster()))
    assert cluster.run.paused
    cluster.observe(FaultStruck(6, RestartMaster()))
    assert cluster.run.paused
    cluster.observe(FaultStruck(9, ResumeMaster()))
    assert not cluster.run.paused


def test_a_master_that_starts_again_has_given_nobody_up() -> None:
    """It tells of no return, for it knows of no loss."""
    cluster = ClusterState()
    nodes = (NodeFacts(0, 0, 1, 1, 1.0), NodeFacts(1, 0, 1, 1, 1.0))
    cluster.observe(RunStarted(0, "0", "x", "fair", 1, {}, nodes))
    cluster.observe(FaultStruck(5_000, Crash(1)))
    cluster.observe(NodeLost(26_000, 1, 4_000))
    assert list(cluster.lost) == [0, 1]
    cluster.observe(FaultStruck(40_000, RestartMaster()))
    assert list(cluster.lost) == [0, 0]
    cluster.observe(FaultStruck(50_000, Restart(1)))
    assert not any(cluster.node_status)


def test_what_schedulers_have_given_up_counts_as_given_up_until_they_hear_of_it_again() -> None:
    """Without a master none ever was: the screen said for ever that nobody knew."""
    cluster, events = ClusterState(), iter(events_of("probed-nodes-lost", "sparrow(schedulers=4)"))
    for until_ms, lost in ((74_000, []), (80_000, [3, 4]), (140_000, [])):
        for event in events:
            cluster.observe(event)
            if event.at_ms >= until_ms:
                break
        assert [node for node, is_lost in enumerate(cluster.lost) if is_lost] == lost


def test_a_task_whose_attempt_is_closed_before_it_begins_waits_at_its_node_no_more() -> None:
    """Its scheduler was lost while the launch was under way: the screen could not draw what is
    below 0.
    """
    told = [*STORY[:3], AttemptClosed(140, 1, Outcome.KILLED), AttemptStarted(150, 1, 0, 0)]
    assert [folded(told[:n]).queue_length_at(0) for n in (3, 4, 5)] == [1, 0, 0]


def test_a_job_that_is_resubmitted_unsubmitted_is_passed_over_with_all_that_cannot_be() -> None:
    """A journal that was changed by hand ended the screen with a KeyError."""
    changed = folded([*STORY[:1], JobResubmitted(0, 7), *STORY[1:]])
    played = folded(STORY)
    assert (changed.run.jobs, changed.wasted_ms) == (played.run.jobs, played.wasted_ms)
