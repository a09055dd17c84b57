"""The ledger finds what a lost node or a killed job concerns without a search (rules T1 and T2)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.master.entries import AttemptEntry
from callboard.actors.master.ledger import Ledger
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.actors.vocabulary.messages import MapWork, ReduceWork, SubmitJob
from callboard.scheduler.model import MAP, Priority

NODES, MAPS = 3, 6
JOBS = (4, 1, 3)  # in the order of submission, which is not that of their numbers

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["launch", "succeed", "fail", "suspend", "resume", "end"]),
        st.integers(0, 20),
    ),
    max_size=60,
)


def ledger_of_three_jobs() -> Ledger:
    ledger = Ledger(racks=1, heartbeat_ms=3000)
    for node in range(NODES):
        ledger.join(NodeFacts(node, 0, 4, 0, 1.0))
    homes = np.zeros((MAPS, 1), dtype="<i4").tobytes()
    work = MapWork(1), ReduceWork(0, 0, 0)
    for job in JOBS:
        ledger.submit(SubmitJob(job, "u", "", Priority.NORMAL, MAPS, 1, 1, homes, *work), cause=1)
    return ledger


def take(ledger: Ledger, what: str, which: int) -> None:
    """One step of the books, if it is possible now."""
    members = list(ledger.members())
    here = [job for job in JOBS if ledger.here(job)]
    held = what == "resume"
    attempts = [each for each in ledger.attempts() if (each.suspended_ms is not None) is held]
    match what:
        case "launch":
            node = members[which % NODES]
            startable = [job for job in here if ledger.has_pending(job, MAP)]
            if startable and node.free(MAP):
                ledger.launch(startable[which % len(startable)], MAP, node)
        case "end":
            ended = [job for job in here if not ledger.has_attempts(job) and not which % 5]
            if ended:
                ledger.withdraw(ended[0])
                ledger.end(ended[0])
                ledger.leave(ended[0])
        case _ if attempts:
            step_attempt(ledger, what, attempts[which % len(attempts)])


def step_attempt(ledger: Ledger, what: str, attempt: AttemptEntry) -> None:
    match what:
        case "succeed":
            ledger.close(attempt, BookedChange.REPORT_SUCCEEDED)
        case "fail":
            ledger.close(attempt, BookedChange.REPORT_FAILED)
            ledger.give_back(attempt.job, MAP, attempt.task, 1)
        case "suspend":
            attempt.change(BookedChange.ORDER_SUSPEND)
            ledger.suspend(attempt)
        case "resume":
            node = ledger.node(attempt.node)
            assert node is not None
            if node.free(MAP):
                ledger.resume(attempt)


@given(STEPS)
@settings(derandomize=True, max_examples=300)
def test_attempts_and_outputs_are_found_as_by_a_search_in_the_same_order(
    steps: list[tuple[str, int]],
) -> None:
    """Attempts in the order of launch; jobs with outputs on a node in that of submission."""
    ledger = ledger_of_three_jobs()
    for what, which in steps:
        take(ledger, what, which)
        attempts = list(ledger.attempts())
        for node in ledger.members():
            assert ledger.attempts_on(node) == [a for a in attempts if a.node == node.node]
        for entry in ledger.jobs():
            assert ledger.attempts_of(entry.job) == [a for a in attempts if a.job == entry.job]
    for node in ledger.members():
        searched = [(e.job, e.outputs[node.node]) for e in ledger.jobs() if node.node in e.outputs]
        assert ledger.undo_maps(node) == searched
        assert ledger.undo_maps(node) == []


def test_s4_outputs_that_could_not_be_fetched_count_as_failures_of_their_maps() -> None:
    """Rule T6: three of them and a failed attempt are four, so its copy may have no copy."""
    ledger = ledger_of_three_jobs()
    here, there, _ = ledger.members()
    for _ in range(3):
        done = ledger.launch(4, MAP, here)
        ledger.close(done, BookedChange.REPORT_SUCCEEDED)
        ((task, _),) = ledger.fail_maps_of(4, here.node)
        ledger.give_back(4, MAP, task, 1)
    original = ledger.launch(4, MAP, here)
    copy = ledger.copy(original, there)
    ledger.close(original, BookedChange.REPORT_FAILED)
    assert copy.task == task
    assert not copy.alone


def test_s4_what_runs_beside_a_beaten_attempt_is_not_alone() -> None:
    """The winner's output is lost with its node while the node of the one that it has beaten is
    silent: as long as that one is open, the attempt that runs again gets no copy.
    """
    ledger = ledger_of_three_jobs()
    here, there, elsewhere = ledger.members()
    beaten = ledger.launch(JOBS[0], MAP, here)
    winner = ledger.copy(beaten, there)
    ledger.close(winner, BookedChange.REPORT_SUCCEEDED)
    [(job, outputs)] = ledger.undo_maps(there)
    assert outputs == [(beaten.task, winner.attempt)]
    ledger.give_back(job, MAP, beaten.task, 1)
    again = ledger.launch(job, MAP, elsewhere)
    assert again.task == beaten.task
    assert not again.alone
    ledger.close(beaten, BookedChange.LOSE)
    assert again.alone
