"""Where reservations wait, and what `explain` says of them, by hand and against whole runs."""

from collections import Counter
from collections.abc import Sequence

import pytest

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    JobFinished,
    JobSubmitted,
    Outcome,
    ReservationsSent,
    ReservationsStolen,
)
from callboard.journal.run_state import RunState
from callboard.journal.tell.explain import explain_wait
from callboard.journal.tell.sentences import Narrator
from callboard.journal.waiting_reservations import WaitingReservations
from callboard.scheduler.model import MAPS, Locality, Priority, SlotKind
from callboard.scheduler.reasons import Reason, Why
from tests.journal.replay.support import events_of

SUBMITTED = JobSubmitted(0, 4, "query", "ann", "", Priority.NORMAL, 2, 0)
SENT = ReservationsSent(0, 4, 3, MAPS, (1, 1, 2, 7))
AGAIN = ReservationsSent(2, 4, 3, MAPS, (5,), (2,))
STOLEN = ReservationsStolen(4, 4, MAPS, 8, 7, 1)


def launched(at_ms: int, task: int, node: int) -> AttemptLaunched:
    why = Why(Reason.RESERVATION, "hawk")
    kind = SlotKind.MAP
    return AttemptLaunched(at_ms, task, 4, kind, task, 0, node, Locality.NODE, why)


def waiting(events: Sequence[AnyEvent]) -> Counter[int]:
    state, found = RunState(), WaitingReservations()
    for event in events:
        found.observe(event, state.follow(event))
    assert found.of(4) == +found.by_node
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


def test_each_is_a_sentence() -> None:
    state = RunState()
    state.follow(SUBMITTED)
    told = [Narrator(state).describe(each) for each in (SENT, AGAIN, STOLEN)]
    assert told == [
        "scheduler 3 sends 4 reservations for maps of job-4 “query” to 3 nodes",
        "scheduler 3 sends 1 reservation for maps of job-4 “query” to 1 node,"
        " for those that node-2 refused",
        "node-8 takes over 1 reservation of job-4 “query” that waited on node-7 behind long work",
    ]


def test_explain_says_which_reservation_waited_and_which_were_refused() -> None:
    said = list(explain_wait([SUBMITTED, SENT, AGAIN, STOLEN, launched(3004, 0, 8)], 4))
    assert "  Scheduler 3 sent 4 reservations for it, to 5 nodes" in said
    assert "    refused 1 time, for long work on node-2, and sent to others" in said
    assert "    1 waited behind long work, and idle nodes took them over" in said
    assert "    1 brought a task, and waited there 3.004 s on average" in said


@pytest.mark.parametrize("policy", ["sparrow", "hawk(cutoff=100)", "eagle(cutoff=100)"])
def test_every_task_comes_of_a_reservation_that_is_told(policy: str) -> None:
    """As many are sent as are asked for, and nothing waits once all jobs have ended."""
    events = events_of("google-like", policy, "workload.job.0.count=3", "workload.job.1.count=8")
    sent = sum(len(each.nodes) for each in events if isinstance(each, ReservationsSent))
    launches = sum(isinstance(each, AttemptLaunched) for each in events)
    assert sent >= launches / (3 if "eagle" in policy else 1)  # sticky ones bring several
    assert not waiting(events)
