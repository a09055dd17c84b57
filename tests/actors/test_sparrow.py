"""Sparrow: late binding, cancellation, several schedulers (Ousterhout et al., SOSP 2013)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.sparrow.draws import Draws
from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.sparrow.reservations import Reservations
from callboard.actors.sparrow.sampling import Sample, per_task
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptLaunched,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    NodeFacts,
    Outcome,
)
from callboard.actors.vocabulary.messages import SchedulerGone
from callboard.experiments.run.plugins import canonical_policy, load_policy
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.scheduler.model import MAPS, scheduler_of_attempt
from callboard.scheduler.policy import PolicySpecError
from tests.support.traces import oracle
from tests.support.world import PlayedRun, job, play, spec_of
from trials.oracles.sparrow import PLACEMENTS, micro_responses

PLAIN = Tasks(rack_factor=1, off_rack_factor=1)
"""A map takes as long wherever it runs."""


def responses(run: PlayedRun, arrivals: Sequence[int]) -> list[int]:
    """From each job's arrival to its last task's end, as Sparrow's simulator counts."""
    job_of = {each.attempt: each.job for each in run.all(AttemptLaunched)}
    last = {job_of[each.attempt]: each.at_ms for each in run.all(AttemptEnded)}
    return [last[number] - arrival for number, arrival in enumerate(arrivals)]


@pytest.mark.parametrize("schedulers", [1, 3])
def test_responses_are_those_of_the_released_simulator(schedulers: int) -> None:
    """Fifteen small worlds with its own orders of probes, to the digit."""
    cases = json.loads(oracle("sparrow-micro.json").read_text())
    assert {case["which"] for case in cases} == PLACEMENTS.keys() - {"random"}
    for case in cases:
        assert micro_responses(case, schedulers) == [each[2] for each in case["jobs"]], case


def small(nodes: int = 4, slots: int = 1) -> Cluster:
    return Cluster(nodes=nodes, racks=1, map_slots=slots, reduce_slots=slots, latency_ms=5)


def test_the_scheduler_of_an_attempt_stands_in_its_number() -> None:
    """Each has a block of numbers of its own, which rule S4 counts through."""
    run = play([job(n, maps=2) for n in range(5)], "sparrow(schedulers=3)", cluster=small())
    of_jobs = {each.job: scheduler_of_attempt(each.attempt) for each in run.launches()}
    assert of_jobs == {0: 1, 1: 2, 2: 3, 3: 1, 4: 2}


def test_a_launch_follows_from_the_end_that_freed_its_slot_or_from_the_submission() -> None:
    """Three jobs of one map on one slot: the first finds it free, the others wait for an end."""
    run = play([job(n) for n in range(3)], "sparrow", cluster=small(nodes=1), tasks=PLAIN)
    causes = [type(run.events[each.cause - 1]) for each in run.launches()]
    assert causes == [JobSubmitted, AttemptEnded, AttemptEnded]


def test_late_binding_costs_a_round_trip_where_nothing_waits() -> None:
    """With one task a job and one probe it is random placement, a question and an answer later."""
    jobs = [job(n, map_ms=1000, submit_ms=3000 * n) for n in range(6)]
    arrivals = [3000 * n for n in range(6)]
    late, random = (
        responses(play(jobs, f"sparrow({each})", cluster=small(), tasks=PLAIN), arrivals)
        for each in ("probes=1", 'placement="random"')
    )
    assert late == [each + 2 * 5 for each in random]


def test_of_equal_loads_the_first_drawn_is_taken_and_a_small_sample_is_gone_through_again() -> None:
    sample = Sample(0, MAPS, 5, [7, 8, 9], loads={0: 1, 2: -1, 1: -1})
    assert sample.least_loaded() == [8, 9, 7, 8, 9]


def test_each_task_has_a_sample_of_its_own() -> None:
    nodes = [NodeFacts(n, 0, 1, 0, 1.0) for n in range(10)]
    samples = per_task(Draws(nodes, 1), 2, 0, MAPS, 0, 5)
    assert [each.tasks for each in samples] == [1] * 5
    assert sorted(node for each in samples for node in each.nodes) == list(range(10))


def test_one_queue_has_one_scheduler() -> None:
    with pytest.raises(PolicySpecError, match="has one scheduler"):
        canonical_policy('sparrow(placement="central",schedulers=2)')


class FakeNode:
    """What the dialogue asks of its node, written down."""

    cause = NO_CAUSE
    now_ms = 0

    def __init__(self, maps: int) -> None:
        self.facts = NodeFacts(7, 0, maps, 0, 1.0)
        self.sent: list[tuple[int, GetTask]] = []

    def send(self, to: int, message: GetTask, cause: int, delay_ms: int = 0) -> None:
        assert (cause, delay_ms) == (NO_CAUSE, 5)
        self.sent.append((to, message))

    def launch(self, launch: object) -> None: ...


def reservations(slots: int) -> tuple[Reservations, FakeNode]:
    node = FakeNode(slots)
    dialogue = Reservations(node.facts, 5, lambda number: number)
    dialogue.attach(node)  # type: ignore[arg-type]
    return dialogue, node


def test_reservations_wait_in_order_and_each_slot_asks_one_question() -> None:
    """Late binding: a slot is held from the question to the answer (SOSP 2013, §4.2)."""
    dialogue, node = reservations(slots=1)
    for number in (4, 2, 3):
        dialogue.on_enqueue(EnqueueTaskReservations(number, MAPS, 99, 1, 0))
    assert node.sent == [(99, GetTask(4, MAPS, 7, 0))]
    dialogue.on_no_task(NoTask(4, MAPS))
    dialogue.on_no_task(NoTask(2, MAPS))
    assert [message.job for _, message in node.sent] == [4, 2, 3]


def test_cancelled_reservations_are_not_asked_for() -> None:
    dialogue, node = reservations(slots=1)
    for number in (1, 2, 1, 3):
        dialogue.on_enqueue(EnqueueTaskReservations(number, MAPS, 99, 2, 0))
    dialogue.on_cancel(CancelTaskReservations(1, MAPS))
    for number in (1, 2, 2, 3, 3):
        dialogue.on_no_task(NoTask(number, MAPS))
    assert [message.job for _, message in node.sent] == [1, 2, 2, 3, 3]


def test_an_architecture_stands_alone_and_is_no_policy() -> None:
    assert canonical_policy("sparrow( probes = 2.0, schedulers=3 )") == "sparrow(schedulers=3)"
    with pytest.raises(PolicySpecError, match="stands alone, without the locality rule `delay`"):
        canonical_policy("sparrow+delay(node=3)")
    with pytest.raises(PolicySpecError, match="without the order `fair`"):
        canonical_policy("fair+sparrow")
    with pytest.raises(PolicySpecError, match=r"stands alone$"):
        canonical_policy("sparrow+hawk")
    with pytest.raises(PolicySpecError, match="not a policy of the central master"):
        load_policy("sparrow")


@pytest.mark.parametrize(
    ("spelled", "told"),
    [
        ('sparrow(placement="random",probes=5)', "`probes` does nothing, no node is probed with"),
        ('sparrow(placement="batch",cancellation=true)', "`cancellation` does nothing, there are"),
        ('sparrow(placement="central",probes=2)', '`probes` does nothing, .* placement="central"'),
        ("hawk(attempts=0,limit=5)", "`limit` does nothing, nothing is stolen"),
        ("hawk(cap=2)", "`cap` does nothing, no queue is ordered"),
    ],
)
def test_a_parameter_that_would_do_nothing_is_refused(spelled: str, told: str) -> None:
    with pytest.raises(PolicySpecError, match=told):
        canonical_policy(spelled)


@pytest.mark.parametrize("fault", [faults.RestartMaster(), faults.Drain(0, True)])
def test_a_fault_without_an_answer_is_refused_before_anything_runs(fault: faults.AnyFault) -> None:
    with pytest.raises(PolicySpecError, match="`sparrow` has no answer to `"):
        play([job(0)], "sparrow", script=[ScheduledFault(5, fault)])


PLACED = [f'sparrow(placement="{each}",schedulers=3)' for each in ("late", "batch", "random")]


def lost(policy: str, *script: ScheduledFault, **changes: Any) -> PlayedRun:
    """Six jobs of three schedulers, every rule checked, in which something happens to these."""
    jobs = [
        job(n, maps=8, map_ms=3000, reduces=1, reduce_ms=1000, submit_ms=900 * n) for n in range(6)
    ]
    return play(jobs, policy, cluster=small(**changes), script=script)


@pytest.mark.parametrize("policy", PLACED)
def test_jobs_of_a_scheduler_that_is_gone_go_to_the_next(policy: str) -> None:
    """Whole, after 100 ms; those of the others go on.  What it had begun is killed."""
    run = lost(policy, ScheduledFault(4000, faults.CrashScheduler(1)))
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * 6
    again = run.all(JobResubmitted)
    assert {each.job for each in again} <= {0, 3}
    assert {each.at_ms for each in again if each.job == 0} == {4100}
    assert all(each.at_ms == 4000 or each.job == 3 for each in again if each.at_ms < 4100)
    after = [each for each in run.launches() if each.at_ms >= 4000]
    assert {scheduler_of_attempt(each.attempt) for each in after} == {2, 3}
    killed = [each for each in run.all(AttemptEnded) if each.outcome is Outcome.KILLED]
    assert killed
    assert all(scheduler_of_attempt(each.attempt) == 1 and each.at_ms == 4005 for each in killed)


@pytest.mark.parametrize("policy", PLACED)
def test_a_scheduler_that_is_back_has_new_jobs_and_new_numbers(policy: str) -> None:
    script = [
        ScheduledFault(1000, faults.CrashScheduler(1)),
        ScheduledFault(2000, faults.RestartScheduler(1)),
    ]
    run = lost(policy, *script)
    of_job_3 = [each for each in run.launches() if each.job == 3]
    assert {scheduler_of_attempt(each.attempt) for each in of_job_3} == {1}
    numbers = [each.attempt for each in run.launches()]
    assert len(numbers) == len(set(numbers))


def test_a_job_goes_round_the_list_until_somebody_is_there() -> None:
    """It waits twice as long in every further round."""
    gone = [ScheduledFault(0, faults.CrashScheduler(n)) for n in (1, 2, 3)]
    run = lost(PLACED[0], *gone, ScheduledFault(2000, faults.RestartScheduler(2)))
    tried = [each.at_ms for each in run.all(JobResubmitted) if each.job == 0]
    assert tried == [100, 200, 300, 500, 700, 900, 1300, 1700, 2100, 2900]
    assert {scheduler_of_attempt(each.attempt) for each in run.launches()} == {2}


def test_a_job_whose_stages_are_all_refused_is_submitted_again_once() -> None:
    """Without slow start there are two stages at once, and two refusals (S6 in a drawn world)."""
    script = [
        ScheduledFault(0, faults.CrashScheduler(1)),
        ScheduledFault(200, faults.RestartScheduler(1)),
    ]
    spec = job(0, maps=4, reduces=2, submit_ms=50)
    tasks, cluster = Tasks(slowstart=0), small()
    run = play([spec], "sparrow(schedulers=1)", cluster=cluster, tasks=tasks, script=script)
    assert [each.at_ms for each in run.all(JobResubmitted)] == [150, 350]
    assert len(run.launches()) == 6


def test_reservations_of_a_scheduler_that_is_gone_are_forgotten() -> None:
    dialogue, node = reservations(slots=1)
    for scheduler in (99, 98, 99):
        dialogue.on_enqueue(EnqueueTaskReservations(scheduler, MAPS, scheduler, 1, 0))
    dialogue.on_scheduler_gone(SchedulerGone(99))
    dialogue.on_no_task(NoTask(99, MAPS))
    dialogue.on_no_task(NoTask(98, MAPS))
    assert [to for to, _ in node.sent] == [99, 98]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("sparrow(schedulers=2)", "there is no scheduler 3; there are 2"),
        ('sparrow(placement="central")', "of one queue that knows all slots no other"),
        ("fair", "or play eagle, hawk"),
    ],
)
def test_who_has_no_such_scheduler_refuses_its_crash(policy: str, told: str) -> None:
    with pytest.raises(PolicySpecError, match=told):
        play([job(0)], policy, script=[ScheduledFault(5, faults.CrashScheduler(3))])


def test_rules_of_the_master_say_that_they_do_not_hold_here() -> None:
    checker = Checker()
    spec = replace(spec_of([job(0, maps=3)], cluster=small()), policy="sparrow")
    Simulation(spec, onlookers=[checker]).run()
    idle = {each.rule: each.idle for each in checker.report()}
    assert {rule for rule, why in idle.items() if why == "sparrow keeps no such rule"} == {
        *("S8", "S13", "S14", "S15")
    }
