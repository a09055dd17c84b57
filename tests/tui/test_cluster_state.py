"""The stage: what it says at moments worked out by hand, and that it agrees with `Metrics`."""

from typing import Any

import pytest
from hypothesis import given, settings

from callboard.actors.vocabulary.events import AnyEvent, AttemptStarted
from callboard.journal.figures.metrics import Metrics
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import JobState, NodeStatus, SlotState
from callboard.journal.replay.job_stats import JobStatsTable
from callboard.scheduler.model import TaskKind
from tests.journal.stories import STORY
from tests.journal.strategies import World, worlds
from tests.tui.support import events_of, outage

RUNS = (
    ("rack-outage", "fair"),
    ("stragglers", "fair+late"),
    ("hfsp-test", "hfsp+suspend"),
    ("two-jobs", "hfsp+preemptive"),
)


def folded(
    events: tuple[AnyEvent, ...] | list[AnyEvent], until_ms: int | None = None
) -> ClusterState:
    """The stage after all events, or after those up to a moment."""
    cluster = ClusterState()
    for event in events:
        if until_ms is None or event.at_ms <= until_ms:
            cluster.observe(event)
    return cluster


def told(cluster: ClusterState) -> dict[str, Any]:
    """Everything that a stage says."""
    said = {name: value for name, value in vars(cluster).items() if name not in ("_take", "jobs")}
    rows = {
        job: [getattr(row, name) for name in row.__struct_fields__ if name != "version"]
        for job, row in cluster.jobs.rows.items()
    }
    return {**said, "rows": rows, "live": list(cluster.jobs.live)}


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
    row = cluster.jobs.rows[0]
    assert (row.maps_done, row.maps_running, row.state) == (0, 2, JobState.RUNNING)
    assert cluster.jobs.rows[1].state is JobState.WAITING

    cluster = folded(story, 1750)  # attempt 2 has failed, and the master does not know
    assert list(cluster.states) == [
        SlotState.MAP,
        SlotState.IDLE,
        SlotState.GHOST,
        SlotState.SHUFFLE,
    ]
    assert list(cluster.owners) == [2, 0, 1, 1]
    assert (cluster.busy, cluster.ghosts, cluster.in_system) == ([1, 1], 1, 2)
    assert cluster.wasted_ms == 0  # as long as it is not booked

    cluster = folded(story, 3600)
    assert list(cluster.states) == [
        SlotState.IDLE,
        SlotState.IDLE,
        SlotState.IDLE,
        SlotState.REDUCE,
    ]
    assert cluster.wasted_ms == 1500
    assert cluster.levels == [2, 0, 2]
    assert cluster.jobs.rows[1].outcome == "succeeded"
    assert list(cluster.jobs.live) == [0]


def check_against_metrics(events: tuple[AnyEvent, ...] | list[AnyEvent]) -> None:
    cluster, metrics = folded(events), Metrics.of(events)
    summary = metrics.summary()
    by_kind = summary.slot_ms
    assert cluster.busy_ms[TaskKind.MAP] == by_kind.map.busy
    assert cluster.busy_ms[TaskKind.REDUCE] == by_kind.reduce.busy
    assert cluster.jobs_ms == metrics.jobs_in_system().integral()
    counts = summary.jobs
    assert cluster.in_system == counts.unfinished
    assert len(cluster.jobs.rows) == counts.submitted


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_it_agrees_with_metrics_on_real_runs(run: tuple[str, str]) -> None:
    events = events_of(*run)
    check_against_metrics(events)
    cluster = folded(events)
    assert not cluster.live_attempts
    assert cluster.busy == [0, 0]
    assert (cluster.ghosts, cluster.suspended) == (0, 0)
    assert not any(cluster.suspended_by_node)
    for row in cluster.jobs.rows.values():
        assert (row.maps_done, row.reduces_done) == (row.submission.maps, row.submission.reduces)
        assert (row.maps_running, row.reduces_running, row.attempts, row.suspended) == (0, 0, 0, 0)


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
        for job in cluster.jobs.live:
            row = cluster.jobs.rows[job]
            on = row.maps_running + row.reduces_running
            assert row.submission.maps - row.maps_done - row.maps_running >= 0, event
            assert on <= row.attempts
            seen = seen or on < row.attempts
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


class TestTruthAndBelief:
    """rack-2 crashes at 420 s and is given up at 1200 s; it restarts at 1620 s."""

    def test_the_master_does_not_know_at_first(self) -> None:
        cluster = folded(outage(), 600_000)
        down = [node for node, truth in enumerate(cluster.node_status) if truth & NodeStatus.DOWN]
        assert down == list(range(2, 40, 4))
        assert not any(cluster.lost)
        assert cluster.ghosts >= 10
        places = [place for node in down for place in range(*cluster.first[node : node + 2])]
        assert {cluster.states[place] for place in places} == {SlotState.IDLE, SlotState.GHOST}

    def test_then_it_gives_the_nodes_up(self) -> None:
        cluster = folded(outage(), 1_200_000)
        assert [node for node, lost in enumerate(cluster.lost) if lost] == list(range(2, 40, 4))
        assert cluster.wasted_ms > 0

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


def test_rows_that_nobody_changed_are_shared() -> None:
    """A snapshot of thousands of jobs costs what has changed since the last."""
    tallies = folded(outage(), 600_000).jobs
    twin: JobStatsTable = tallies.copy()
    assert twin.rows[0] is tallies.rows[0]
    twin.suspend(0, 1)
    assert twin.rows[0] is not tallies.rows[0]
    assert twin.rows[1] is tallies.rows[1]
    assert tallies.rows[0].suspended == 0
