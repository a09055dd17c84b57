"""Where reservations wait, what probes found, and what `explain` says of both, by hand and against
whole runs.
"""

from collections import Counter
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptLaunched,
    ContactLost,
    FaultStruck,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    NodeFacts,
    NodesProbed,
    Outcome,
    ProbesAnswered,
    ReservationsSent,
    ReservationsStolen,
    SchedulingAttempted,
    ThoughtBegun,
)
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.schedulers_at_work import SchedulersAtWork
from callboard.journal.run_state import RunState
from callboard.journal.tell.explain import explain_from_events
from callboard.journal.tell.response_parts import response_parts
from callboard.journal.tell.sentences import Narrator
from callboard.journal.waiting_reservations import WaitingReservations
from callboard.scheduler.model import MAPS, Locality, Priority, SlotKind
from callboard.scheduler.reasons import Reason, Why
from tests.journal.replay.support import events_of
from tests.journal.stories import START

SUBMITTED = JobSubmitted(0, 4, "query", "ann", "", Priority.NORMAL, 2, 0)
SENT = ReservationsSent(0, 4, 3, MAPS, (1, 1, 2, 7))
AGAIN = ReservationsSent(2, 4, 3, MAPS, (5,), (2,))
PROBED = NodesProbed(2, 4, 3, 1, MAPS, 1, (7, 1, 9, 2))
ANSWERED = ProbesAnswered(6, 4, 3, 1, MAPS, 2, 1, (7, 1, 9, 2), (3, -1, None, 0))
STOLEN = ReservationsStolen(4, 4, MAPS, 8, 7, 1)


def launched(at_ms: int, task: int, node: int) -> AttemptLaunched:
    why = Why(Reason.RESERVATION, "hawk")
    kind = SlotKind.MAP
    return AttemptLaunched(at_ms, task, 4, kind, task, 0, node, Locality.NODE, why)


def waiting(events: Sequence[AnyEvent]) -> Counter[int]:
    state, found = RunState(), WaitingReservations()
    for event in events:
        found.observe(event, state.observe_if_possible(event))
    assert found.count_by_node(4) == +found.by_node
    return +found.by_node


def test_reservations_wait_until_they_bring_a_task_or_none_is_left() -> None:
    """Late binding (SOSP 2013, §4.2); a stolen one waits with the thief (ATC 2015, §3.7)."""
    assert waiting([SUBMITTED, SENT]) == {1: 2, 2: 1, 7: 1}
    assert waiting([SUBMITTED, SENT, STOLEN]) == {1: 2, 2: 1, 8: 1}
    assert waiting([SUBMITTED, SENT, STOLEN, launched(5, 0, 8)]) == {1: 2, 2: 1}
    assert not waiting([SUBMITTED, SENT, STOLEN, launched(5, 0, 8), launched(9, 1, 1)])
    over = JobFinished(9, 4, Outcome.KILLED, 0)
    assert not waiting([SUBMITTED, SENT, over])


def test_what_is_refused_waits_there_no_more() -> None:
    """Succinct state sharing (SoCC 2016, §4.1)."""
    assert waiting([SUBMITTED, SENT, AGAIN]) == {1: 2, 5: 1, 7: 1}


def test_nodes_forget_what_a_lost_scheduler_had_sent() -> None:
    """Their jobs go to another one (SOSP 2013): on the screen they waited for ever."""
    for scheduler, left in ((3, {}), (5, {1: 2, 2: 1, 7: 1})):
        assert waiting([SUBMITTED, SENT, FaultStruck(9, faults.CrashScheduler(scheduler))]) == left


def test_a_job_that_is_submitted_again_has_all_its_tasks_to_give() -> None:
    """One of its two maps was done, and counted as given: the first launch took all others away."""
    done: list[AnyEvent] = [launched(3, 0, 7), AttemptClosed(8, 0, Outcome.SUCCEEDED)]
    lost: list[AnyEvent] = [FaultStruck(9, faults.CrashScheduler(3)), JobResubmitted(109, 4)]
    other = replace(SENT, at_ms=109, scheduler=5)
    again = [SUBMITTED, SENT, *done, *lost, other, launched(112, 2, 1)]
    assert waiting(again) == {1: 1, 2: 1, 7: 1}
    assert not waiting([*again, launched(113, 3, 2)])


@pytest.mark.parametrize(
    "told",
    [
        [SENT, ContactLost(9, 1, 3, 2)],
        [launched(3, 0, 7), FaultStruck(9, faults.CrashScheduler(3)), JobResubmitted(109, 4)],
    ],
    ids=lambda told: type(told[-1]).__name__,
)
def test_the_screen_shows_reservations_where_explain_says_that_they_wait(
    told: list[AnyEvent],
) -> None:
    """Of a node that its scheduler had given up the screen still showed those it had had."""
    other = replace(SENT, at_ms=200, scheduler=5)
    events = [SUBMITTED, *told, other, launched(203, 2, 2)]
    nodes = tuple(NodeFacts(node, 0, 2, 2, 1.0) for node in range(9))
    cluster = ClusterState()
    for event in [replace(START, nodes=nodes), *events]:
        cluster.observe(event)
    assert +cluster.reservations.by_node == waiting(events) != {}


def test_each_is_a_sentence() -> None:
    state = RunState()
    state.observe_if_possible(SUBMITTED)
    told = [Narrator(state).describe(each) for each in (SENT, AGAIN, STOLEN, PROBED, ANSWERED)]
    assert told == [
        "scheduler 3 sends 4 reservations for maps of job-4 “query” to 3 nodes",
        "scheduler 3 sends 1 reservation for maps of job-4 “query” to 1 node,"
        " for those that node-2 refused",
        "node-8 takes over 1 reservation of job-4 “query” that waited on node-7 behind long work",
        "scheduler 3 asks node-7, node-1, node-9 and 1 more how much waits there,"
        " for 1 map of job-4 “query”",
        "scheduler 3 knows for 1 map of job-4 “query”, 0.004 s after asking: node-1 has 1 free,"
        " node-2 has 0 waiting, node-7 has 3 waiting, 1 node given up",
    ]


def test_explain_says_which_reservation_waited_and_which_were_refused() -> None:
    said = list(explain_from_events([SUBMITTED, SENT, AGAIN, STOLEN, launched(3004, 0, 8)], 4))
    assert "  Scheduler 3 sent 4 reservations for it, to 5 nodes" in said
    assert "    refused 1 time, for long work on node-2, and sent to others" in said
    assert "    1 waited behind long work, and idle nodes took them over" in said
    assert "    1 brought a task, and waited there 3.004 s on average" in said


def test_what_a_lost_scheduler_had_sent_is_not_that_of_the_next_one() -> None:
    """Its reservations were said to be the other's, and a task to have waited since the first."""
    other = replace(SENT, at_ms=1000, scheduler=5)
    said = list(explain_from_events([SUBMITTED, SENT, other, launched(3004, 0, 1)], 4))
    assert "  Scheduler 3 sent 4 reservations for it, to 3 nodes, and then was lost" in said
    assert "  Scheduler 5 sent 4 reservations for it, to 3 nodes" in said
    assert "    1 of all brought a task, and waited there 2.004 s on average" in said


@pytest.mark.parametrize("policy", ["sparrow", "hawk(cutoff=100)", "eagle(cutoff=100)"])
def test_every_task_comes_of_a_reservation_that_is_told(policy: str) -> None:
    """As many are sent as are asked for, and nothing waits once all jobs have ended."""
    events = events_of("google-like", policy, "workload.job.0.count=3", "workload.job.1.count=8")
    sent = sum(len(each.nodes) for each in events if isinstance(each, ReservationsSent))
    launches = sum(isinstance(each, AttemptLaunched) for each in events)
    assert sent >= launches / (3 if "eagle" in policy else 1)  # sticky ones bring several
    assert not waiting(events)


def test_explain_says_who_was_probed_and_how_long_the_answers_took() -> None:
    later = replace(ANSWERED, at_ms=410)
    said = list(explain_from_events([SUBMITTED, ANSWERED, later, launched(410, 0, 1)], 4))
    assert "  Scheduler 3 asked 4 nodes how much waits there" in said
    assert "    2 times; all had answered after 0.206 s on average, 0.408 s at most" in said


def test_probes_are_under_way_from_the_question_to_the_last_answer() -> None:
    """A scheduler that ends forgets them."""
    at_work, second = SchedulersAtWork(), replace(PROBED, at_ms=3, sample=2)
    other = replace(PROBED, scheduler=4)
    found = []
    for event in (PROBED, second, other, ANSWERED, FaultStruck(9, faults.CrashScheduler(3))):
        at_work.observe(event)
        found.append(at_work.probing)
    assert found == [[PROBED], [PROBED, second], [PROBED, second, other], [second, other], [other]]


def test_a_scheduler_thinks_from_the_beginning_of_a_thought_to_its_end() -> None:
    """Under Mesos it thinks about one stage after the other, and then tells of all."""
    first, second = ThoughtBegun(10, 4, 2, MAPS, 10, 30, 6), ThoughtBegun(10, 5, 2, MAPS, 40, 20, 1)
    at_work = SchedulersAtWork()
    for event in (first, second):
        at_work.observe(event)
    thinking = {at_ms: at_work.thinking(at_ms) for at_ms in (9, 10, 39, 40, 59, 60)}
    assert list(thinking.values()) == [[], [first], [first], [second], [second], []]
    at_work.observe(SchedulingAttempted(61, 4, 2, MAPS, 0, 30, 6, (1, 0), (), ()))
    assert (at_work.thinking(10), at_work.thinking(40)) == ([], [second])


ONE_SLOT = (
    *("cluster.nodes=1", "cluster.racks=1", "cluster.map_slots=1", "cluster.latency_ms=5"),
    *("workload.job.0.maps=1", "workload.job.0.reduces=0"),
    *("workload.job.1.maps=1", "workload.job.1.reduces=0"),
)


def test_a_task_that_waits_in_its_nodes_queue_is_told_so() -> None:
    """A map of job-0 has the slot from 15 ms to 60,015 ms; that of job-1 is there at 30,015 ms."""
    events = events_of("two-jobs", 'sparrow(placement="per-task",probes=1)', *ONE_SLOT)
    first, second = (response_parts(lambda: events, each) for each in (0, 1))
    assert first is not None
    assert second is not None
    assert first.ms == {
        "a map ran, on its data's node": 60_000,
        "a slot was free: nodes were being asked how much waited there": 10,
        "messages and heartbeats, between decisions and deeds": 10,
    }
    assert second.ms == {
        "a task waited for a slot in the queue of its node": 30_000,
        "a map ran, on its data's node": 10_000,
        "queued: others held all the slots": 10,
        "messages and heartbeats, between decisions and deeds": 10,
    }
