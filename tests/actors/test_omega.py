"""Cells that schedulers share: Omega, monolithic, Mesos (Schwarzkopf et al., EuroSys 2013)."""

from collections import Counter

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.omega.shared_cell import SharedCell
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    JobFinished,
    Outcome,
    SchedulingAttempted,
)
from callboard.experiments.run.plugins import canonical_policy
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.resources import total
from tests.support.world import PlayedRun, job, play

PLAIN = Tasks(rack_factor=1, off_rack_factor=1)
"""A map takes as long wherever it runs."""

CELLS = (
    "monolithic",
    "omega(schedulers=2)",
    'omega(schedulers=3,conflicts="sequence",commit="all-or-nothing")',
    "mesos",
    "mesos(schedulers=2,parallel=true)",
)


def cell(nodes: int = 4, slots: int = 1) -> Cluster:
    return Cluster(nodes=nodes, racks=1, map_slots=slots, reduce_slots=slots, latency_ms=1)


def attempts(run: PlayedRun) -> list[SchedulingAttempted]:
    return run.all(SchedulingAttempted)


@pytest.mark.parametrize("policy", CELLS)
def test_a_job_of_two_stages_with_a_setup_and_a_cleanup_is_played_to_its_end(policy: str) -> None:
    spec = job(0, maps=3, reduces=2, shuffle_ms=1000, reduce_ms=2000)
    spec = replace(spec, setup_ms=500, cleanup_ms=500)
    run = play([spec, replace(spec, job=1, pool="service")], policy, cluster=cell(slots=2))
    assert {each.outcome for each in run.all(JobFinished)} == {Outcome.SUCCEEDED}
    assert len(run.all(AttemptClosed)) == 2 * (3 + 2 + 2)


@pytest.mark.parametrize("policy", CELLS)
def test_after_a_run_all_that_was_claimed_is_free_again(policy: str) -> None:
    """What fails is run again, a killed job gives back what it had and was about to get.  Of the
    last task's end the cell's state, where it is apart, has not heard.
    """
    script = [
        ScheduledFault(1, faults.Flaky(0, 1.0)),
        ScheduledFault(15_000, faults.KillJob(1)),
    ]
    jobs = [job(n, maps=9, map_ms=4000, submit_ms=100 * n) for n in range(6)]
    jobs.append(job(6, submit_ms=300_000))
    run = play(jobs, policy, cluster=cell(slots=2), tasks=PLAIN, script=script)
    ends = {each.job: each.outcome for each in run.all(JobFinished)}
    assert ends.pop(1) is Outcome.KILLED
    assert set(ends.values()) == {Outcome.SUCCEEDED}
    assert isinstance(run.architecture, SharedCell)
    assert total(run.architecture.cell.free) == (8 if policy == "monolithic" else 7, 8)


@pytest.mark.parametrize("policy", CELLS)
def test_a_thought_takes_t_job_and_t_task_for_each_task_and_they_come_one_by_one(
    policy: str,
) -> None:
    thinking = "t_job=2,t_task=0.5,service_t_job=5"
    spelled = f"{policy[:-1]},{thinking})" if "(" in policy else f"{policy}({thinking})"
    jobs = [replace(job(0, maps=4), pool="service"), job(1, maps=2, submit_ms=10)]
    run = play(jobs, spelled, cluster=cell(nodes=8), tasks=PLAIN)
    first = {each.job: each for each in reversed(attempts(run))}
    assert {number: each.thought_ms for number, each in first.items()} == {0: 7000, 1: 3000}
    queued = {number: each.queued_ms for number, each in first.items()}
    assert queued[1] == (6990 if policy == "monolithic" else queued[1])


def test_batch_does_not_wait_behind_a_service_job_that_is_thought_about_under_omega() -> None:
    """No head-of-line blocking (EuroSys 2013, §4.3); the monolithic scheduler has it."""
    service = replace(job(0, maps=1), pool="service")
    batch = [job(n, maps=1, submit_ms=n * 1000) for n in (1, 2, 3)]
    waits = {}
    for policy in ("monolithic", "omega"):
        run = play([service, *batch], f"{policy}(service_t_job=60)", cluster=cell(8), tasks=PLAIN)
        waits[policy] = max(each.queued_ms for each in attempts(run) if each.job)
    assert waits["omega"] == 0
    assert waits["monolithic"] > 55_000


def placements(run: PlayedRun) -> list[tuple[int, int, int]]:
    return sorted((each.job, each.task, each.node) for each in run.launches())


@pytest.mark.parametrize("conflicts", ["fit", "sequence"])
def test_one_scheduler_never_conflicts_and_places_as_the_monolithic(conflicts: str) -> None:
    """While nothing ends while it thinks: all is placed before anything ends."""
    jobs = [job(n, maps=7, map_ms=600_000, submit_ms=50 * n) for n in range(8)]
    alone = play(jobs, "monolithic(t_job=0.3)", cluster=cell(20, slots=3), tasks=PLAIN)
    spelling = f'omega(t_job=0.3,conflicts="{conflicts}")'
    shared = play(jobs, spelling, cluster=cell(20, slots=3), tasks=PLAIN)
    assert not any(each.conflicted for each in attempts(shared))
    assert placements(shared) == placements(alone)


def test_two_that_think_at_once_about_the_last_room_conflict_and_one_comes_again() -> None:
    """O2: of the loser's claims nothing is launched; it thinks again a second later."""
    jobs = [job(0, map_ms=5000), job(1, map_ms=5000, submit_ms=1)]
    run = play(jobs, "omega(schedulers=2,t_job=1)", cluster=cell(nodes=1), tasks=PLAIN)
    lost = [each for each in attempts(run) if each.conflicted]
    assert [(each.job, each.committed, each.conflicted) for each in lost] == [(1, (), (0,))]
    assert [each.job for each in run.launches()] == [0, 1]


def test_more_tasks_fit_where_demands_are_small_and_fewer_than_slots_where_they_are_large() -> None:
    cluster = Cluster(nodes=1, racks=1, map_slots=4, latency_ms=1, capacity={"memory": 10})
    large = replace(job(0, maps=4, map_ms=60_000), demands=((("memory", 4),), ()))
    small = replace(large, job=1, demands=((("memory", 1),), ()))
    run = play([large, small], "monolithic", cluster=cluster, tasks=PLAIN)
    at_first = Counter(each.job for each in run.launches() if each.at_ms < 60_000)
    assert at_first == {0: 2, 1: 2}


def test_a_job_without_room_is_given_up_after_a_hundred_attempts_in_vain() -> None:
    """It fails; the next one, which waited for the same room, does not."""
    long, never = job(0, map_ms=10_000_000), job(1, submit_ms=10)
    run = play([long, never], "monolithic", cluster=cell(nodes=1), tasks=PLAIN)
    assert {each.job: each.outcome for each in run.all(JobFinished)} == {
        0: Outcome.SUCCEEDED,
        1: Outcome.FAILED,
    }
    assert sum(each.job == 1 for each in attempts(run)) == 101


@pytest.mark.parametrize("policy", ["monolithic(retry=9000)", "omega(t_job=900)"])
def test_jobs_without_room_are_given_up_however_long_their_attempts_take(policy: str) -> None:
    """With a fault a run without progress ends as stuck; a hundred attempts are none too many."""
    demands = ((("memory", 11),), ())
    jobs = [replace(job(n), demands=demands) for n in range(6)]
    cluster = replace(cell(nodes=1), capacity={"memory": 10})
    script = [ScheduledFault(10, faults.Slow(0, 1.0))]
    run = play(jobs, policy, cluster=cluster, tasks=PLAIN, script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.FAILED] * 6


@pytest.mark.parametrize("policy", ["omega(schedulers=1,retry=60)", "monolithic(retry=60)"])
def test_a_stage_with_no_room_for_its_rest_is_given_up_and_not_stuck(policy: str) -> None:
    """After a thousand thoughts; two maps fit on the node that crashes, and none after it."""
    demands = ((("memory", 8),), ())
    small = NodeGroup(nodes=3, capacity={"memory": 1})
    cluster = replace(cell(nodes=1), capacity={"memory": 16}, group=(small,))
    script = [ScheduledFault(80_000, faults.Crash(0))]
    jobs = [replace(job(0, maps=6, map_ms=60_000), demands=demands)]
    run = play(jobs, policy, cluster=cluster, tasks=PLAIN, script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.FAILED]


def test_what_is_offered_is_locked_until_the_framework_has_answered() -> None:
    """Mesos: a service framework that thinks for a minute keeps all nodes from Batch."""
    jobs = [replace(job(0), pool="service"), job(1, submit_ms=2000)]
    run = play(jobs, "mesos(service_t_job=60)", cluster=cell(nodes=8), tasks=PLAIN)
    began = {each.job: each.at_ms for each in run.launches()}
    assert began[1] > began[0] > 60_000


def test_the_framework_with_the_least_dominant_share_is_offered_what_is_free() -> None:
    """Batch has 6 of 8 slots when both ask: Service is first, though it asked later."""
    jobs = [
        job(0, maps=6, map_ms=100_000),
        job(1, maps=1, map_ms=1000, submit_ms=5000),
        replace(job(2, maps=1, map_ms=1000, submit_ms=5001), pool="service"),
    ]
    run = play(jobs, "mesos", cluster=cell(nodes=8), tasks=PLAIN)
    assert [each.job for each in run.launches()][-2:] == [2, 1]


def test_a_framework_thinks_about_one_offer_at_a_time_unless_it_may_do_several() -> None:
    """The released simulator forgets that it is thinking; busyness can exceed 1 there."""
    first = [replace(job(3 * n, map_ms=1000, submit_ms=3000 * n), pool="service") for n in range(2)]
    jobs = [first[0], job(1, map_ms=2000), job(2, map_ms=3000), first[1]]
    busy = {}
    for parallel in ("false", "true"):
        policy = f"mesos(service_t_job=30,parallel={parallel})"
        run = play(jobs, policy, cluster=cell(nodes=4), tasks=PLAIN)
        ended = [each.at_ms for each in attempts(run) if each.scheduler == 2]
        busy[parallel] = ended[1] - ended[0]
    assert busy["false"] >= 30_000 > busy["true"]


@pytest.mark.parametrize("t_job", [2, 5])
def test_a_node_is_offered_whole_to_those_whose_tasks_its_parts_have_no_room_for(
    t_job: int,
) -> None:
    """Two frameworks each think about a half of the only node: as the halves went to and fro, both
    gave up for want of room after a hundred offers, while nothing ran.  Mesos as it was released
    still does that.
    """
    half, whole = ((("memory", 2),), ()), ((("memory", 4),), ())
    jobs = [
        replace(job(0, map_ms=10_000), demands=half, pool="service"),
        replace(job(1, map_ms=12_000, submit_ms=10), demands=half, pool="service"),
        *(replace(job(n, map_ms=1000, submit_ms=5000 + n), demands=whole) for n in (2, 3)),
    ]
    ends = {}
    for parallel in ("false", "true"):
        policy = f"mesos(schedulers=2,t_job={t_job},service_t_job=0.01,parallel={parallel})"
        cluster = replace(cell(nodes=1, slots=4), capacity={"memory": 4})
        run = play(jobs, policy, cluster=cluster, tasks=PLAIN)
        ends[parallel] = [each.outcome for each in run.all(JobFinished)]
        if parallel == "false":
            assert max(each.at_ms for each in run.all(JobFinished)) < 35_000
    assert ends["false"] == [Outcome.SUCCEEDED] * 4
    assert Outcome.FAILED in ends["true"]


def test_a_pool_has_its_own_scheduler_and_all_others_take_turns() -> None:
    pools = ["", "service", "x", "", "service"]
    jobs = [replace(job(n), pool=pool) for n, pool in enumerate(pools)]
    run = play(jobs, "omega(schedulers=2)", cluster=cell(nodes=8))
    assert {each.job: each.scheduler for each in attempts(run)} == {0: 2, 1: 3, 2: 1, 3: 2, 4: 3}


def test_the_spelling_says_what_differs_from_the_defaults() -> None:
    spelled = 'omega(schedulers=4,conflicts="fit",commit="incremental")'
    assert canonical_policy(spelled) == "omega(schedulers=4)"
    with pytest.raises(PolicySpecError, match="stands alone"):
        canonical_policy("mesos+delay")


@pytest.mark.parametrize("policy", ["monolithic", "omega", "mesos"])
def test_a_fault_without_an_answer_is_refused_before_anything_runs(policy: str) -> None:
    with pytest.raises(PolicySpecError, match=f"`{policy}` has no answer to `"):
        play([job(0)], policy, script=[ScheduledFault(5, faults.Drain(0, True))])
