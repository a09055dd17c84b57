"""The ledger finds what a lost node or a killed job concerns without a search (rules T1 and T2)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.ledger import Ledger
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.scheduler import model
from callboard.scheduler.model import MAP
from tests.support.submissions import submit_maps

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
        ledger.members.join_node(NodeFacts(node, 0, 4, 0, 1.0))
    for job in JOBS:
        submit_maps(ledger, job, homes=[0] * MAPS, reduces=1)
    return ledger


def take(ledger: Ledger, what: str, which: int) -> None:
    """One step of the books, if it is possible now."""
    members = list(ledger.members.values())
    here = list(ledger.jobs())
    held = what == "resume"
    attempts = [each for each in ledger.attempts() if (each.suspended_ms is not None) is held]
    match what:
        case "launch":
            node = members[which % NODES]
            startable = [job for job in here if job.tasks[model.MAPS].left]
            if startable and node.free(MAP):
                ledger.launch_task(startable[which % len(startable)], model.MAPS, node)
        case "end":
            ended = [job for job in here if not job.attempts and not which % 5]
            if ended:
                ended[0].withdraw_tasks()
                ended[0].begin_ending()
                ledger.drop_job(ended[0])
        case _ if attempts:
            step_attempt(ledger, what, attempts[which % len(attempts)])


def step_attempt(ledger: Ledger, what: str, attempt: BookedAttempt) -> None:
    match what:
        case "succeed":
            ledger.close_attempt(attempt, BookedChange.REPORT_SUCCEEDED)
        case "fail":
            ledger.close_attempt(attempt, BookedChange.REPORT_FAILED)
            ledger.job(attempt.job).give_back(model.MAPS, attempt.task, 1)
        case "suspend":
            attempt.change_state(BookedChange.ORDER_SUSPEND)
            ledger.suspend_attempt(attempt)
        case "resume":
            node = ledger.node(attempt.node)
            assert node is not None
            if node.free(MAP):
                ledger.resume_attempt(attempt)


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
        for node in ledger.members.values():
            on = list(node.attempts.values())
            assert on == [a for a in attempts if a.node == node.node]
        for entry in ledger.jobs():
            of = list(entry.attempts.values())
            assert of == [a for a in attempts if a.job == entry.job]
    for node in ledger.members.values():
        having = [each for each in ledger.jobs() if node.node in each.outputs]
        assert sorted(node.with_outputs.values(), key=lambda each: each.submission) == having
        for entry in having:
            left = list(entry.outputs[node.node])
            assert entry.take_back_lost_maps(node.node) == left
            assert entry.take_back_lost_maps(node.node) == []


def test_s4_outputs_that_could_not_be_fetched_count_as_failures_of_their_maps() -> None:
    """Rule T6: three of them and a failed attempt are four, so its copy may have no copy."""
    ledger = ledger_of_three_jobs()
    here, there, _ = ledger.members.values()
    job = ledger.job(4)
    for each in ledger.members.values():
        done = ledger.launch_task(job, model.MAPS, each)
        ledger.close_attempt(done, BookedChange.REPORT_SUCCEEDED)
        ((task, _),) = job.take_back_lost_maps(each.node)
        assert not job.fail(model.MAPS, task, each.node)
        job.give_back(model.MAPS, task, 1)
    original = ledger.launch_task(job, model.MAPS, here)
    copy = ledger.copy_attempt(original, there)
    ledger.close_attempt(original, BookedChange.REPORT_FAILED)
    assert copy.task == task
    assert not copy.alone


def test_s4_what_runs_beside_a_beaten_attempt_is_not_alone() -> None:
    """The winner's output is lost with its node while the node of the one that it has beaten is
    silent: as long as that one is open, the attempt that runs again gets no copy.
    """
    ledger = ledger_of_three_jobs()
    here, there, elsewhere = ledger.members.values()
    job = ledger.job(JOBS[0])
    beaten = ledger.launch_task(job, model.MAPS, here)
    winner = ledger.copy_attempt(beaten, there)
    ledger.close_attempt(winner, BookedChange.REPORT_SUCCEEDED)
    assert job.take_back_lost_maps(there.node) == [(beaten.task, winner.attempt)]
    job.give_back(model.MAPS, beaten.task, 1)
    again = ledger.launch_task(job, model.MAPS, elsewhere)
    assert again.task == beaten.task
    assert not again.alone
    ledger.close_attempt(beaten, BookedChange.LOSE)
    assert again.alone
