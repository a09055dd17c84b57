"""Nodes that crash, stand still or have bad links, under schedulers that no heartbeats tell.

Every run is checked against all rules; bugs in what is tested here are planted below.
"""

from collections.abc import Sequence

import pytest

from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.actors.hawk.long_scheduler import LongScheduler
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.kernel import KernelError
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    ContactLost,
    ContactRegained,
    JobFinished,
    MapOutputsLost,
    Outcome,
    ReservationsSent,
    ReservationsStolen,
)
from callboard.journal.checks.findings import Violation
from callboard.scheduler.model import scheduler_of_attempt
from callboard.scheduler.policy import PolicySpecError
from tests.support.soak import one_in
from tests.support.world import PlayedRun, job, play
from trials.swarm.architecture_bugs import OF_CONTACTS
from trials.swarm.bug_planter import PlantedBug, planted

EXPIRY_MS = 9000
CLUSTER = Cluster(
    nodes=5, racks=1, map_slots=2, latency_ms=5, heartbeat=Heartbeats(expiry_ms=EXPIRY_MS)
)
JOBS = [job(n, maps=8, map_ms=3000, reduces=1, reduce_ms=1000, submit_ms=900 * n) for n in range(8)]
PLACED = [
    *(f'sparrow(placement="{each}",schedulers=3)' for each in ("late", "batch", "per-task")),
    'sparrow(placement="random",schedulers=3)',
    'sparrow(placement="central")',
]
OF_TWO_KINDS = ["hawk(cutoff=2,short=20%,schedulers=2)", "eagle(cutoff=2.5,short=40%,schedulers=2)"]
CUT = LinkConditions(cut=True)
LATE = LinkConditions(delay_ms=6000)
BAD = LinkConditions(loss=0.3, twice=0.3, delay_ms=400, reordered=0.3)


def struck(policy: str, *script: ScheduledFault, cluster: Cluster = CLUSTER) -> PlayedRun:
    run = play(JOBS, policy, cluster=cluster, tasks=Tasks(), script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * len(JOBS)
    return run


@pytest.mark.parametrize("policy", [*PLACED, *OF_TWO_KINDS])
def test_a_node_that_is_gone_is_given_up_after_as_long_as_a_master_would_wait(policy: str) -> None:
    """By each scheduler for itself, from when it heard of it last; it gets nothing any more."""
    run = struck(policy, ScheduledFault(2000, faults.Crash(4)))
    lost = run.all(ContactLost)
    assert {each.node for each in lost} == {4}
    assert len({each.scheduler for each in lost}) == len(lost) > 0
    silent_ms = [each.at_ms - each.heard_ms for each in lost]
    assert all(EXPIRY_MS < silent <= EXPIRY_MS + 2 * 3000 for silent in silent_ms)
    since_ms = {each.scheduler: each.at_ms for each in lost}
    for each in run.launches():
        given_up_ms = since_ms.get(scheduler_of_attempt(each.attempt))
        assert each.node != 4 or given_up_ms is None or each.at_ms < given_up_ms
    ended = [each for each in run.all(AttemptClosed) if each.at_ms in since_ms.values()]
    assert any(each.outcome is Outcome.KILLED for each in ended)


@pytest.mark.parametrize("policy", [*PLACED, *OF_TWO_KINDS])
def test_a_node_that_is_back_has_forgotten_all_and_serves_again(policy: str) -> None:
    script = [ScheduledFault(2000, faults.Crash(4)), ScheduledFault(4000, faults.Restart(4))]
    run = struck(policy, *script)
    lost, back = run.all(ContactLost), run.all(ContactRegained)
    assert lost
    assert all(each.again and 4000 <= each.at_ms < 4000 + EXPIRY_MS for each in lost)
    assert {each.scheduler for each in back} == {each.scheduler for each in lost}
    assert any(each.node == 4 and each.at_ms > 4000 for each in run.launches())


def test_maps_whose_outputs_are_gone_run_again() -> None:
    """Rule T2, by the scheduler of their job."""
    run = struck(PLACED[0], ScheduledFault(7000, faults.Crash(0)))
    assert run.all(MapOutputsLost)


@pytest.mark.parametrize("policy", [*PLACED, *OF_TWO_KINDS])
def test_what_is_said_over_a_bad_link_is_heard_once_and_in_order(policy: str) -> None:
    """Probes, questions, tasks and reports: both ways, from the first job to the last."""
    script = [ScheduledFault(100, faults.Disturb(node, BAD, BAD)) for node in range(3)]
    run = struck(policy, *script)
    assert any(each.node < 3 for each in run.launches())


@pytest.mark.parametrize("policy", ['sparrow(placement="batch")', 'sparrow(placement="per-task")'])
def test_a_probe_that_a_dead_node_does_not_answer_is_given_up_with_the_node(policy: str) -> None:
    """Its sample waits for no other answer."""
    run = play(
        [job(0, maps=5)],
        policy,
        cluster=CLUSTER,
        tasks=Tasks(),
        script=[ScheduledFault(2, faults.Crash(node)) for node in (1, 2)],
    )
    begun = [each.at_ms for each in run.launches()]
    assert any(at_ms > EXPIRY_MS for at_ms in begun)
    assert len(run.all(JobFinished)) == 1


@pytest.mark.parametrize("policy", [*PLACED, *OF_TWO_KINDS])
def test_a_scheduler_waits_until_some_node_is_back(policy: str) -> None:
    """All are given up: what is left is placed when the first is heard of."""
    crashes = [ScheduledFault(1000, faults.Crash(node)) for node in range(5)]
    again = [ScheduledFault(40_000 + node, faults.Restart(node)) for node in range(5)]
    run = struck(policy, *crashes, *again)
    assert len(run.all(ContactLost)) >= 5
    assert not [each for each in run.launches() if 1000 + 2 * EXPIRY_MS < each.at_ms < 40_000]


def test_a_thief_asks_another_one_if_whoever_it_has_asked_is_gone() -> None:
    """Hawk's idle nodes ask on after a second."""
    policy = "hawk(cutoff=2,short=20%,schedulers=2,attempts=4)"
    jobs = [job(0, maps=16, map_ms=20_000), *(job(n, maps=6, map_ms=500) for n in range(1, 6))]
    pauses = [ScheduledFault(10, faults.PauseNode(node)) for node in (1, 2)]
    goes_on = [ScheduledFault(200_000, faults.ResumeNode(node)) for node in (1, 2)]
    run = play(jobs, policy, cluster=CLUSTER, tasks=Tasks(), script=[*pauses, *goes_on])
    assert len(run.all(JobFinished)) == len(jobs)
    stolen = [each for each in run.all(ReservationsStolen) if each.at_ms > 1000]
    assert any(each.victim not in (1, 2) for each in stolen)


@pytest.mark.parametrize(
    ("policy", "scheduler", "told"),
    [
        ("hawk(schedulers=2)", 3, "scheduler 3 cannot be gone for ever: no other places long"),
        ("hawk(schedulers=2)", 4, "there is no scheduler 4; short jobs have 2"),
        ("eagle(schedulers=2,central=false)", 3, "there is no scheduler 3; short jobs have 2"),
    ],
)
def test_a_scheduler_is_not_lost_for_ever_that_has_no_other_beside_it(
    policy: str, scheduler: int, told: str
) -> None:
    with pytest.raises(PolicySpecError, match=told):
        play([job(0)], policy, script=[ScheduledFault(5, faults.CrashScheduler(scheduler))])


@pytest.mark.parametrize("policy", OF_TWO_KINDS)
def test_short_jobs_of_a_scheduler_that_is_gone_go_to_another(policy: str) -> None:
    script = [ScheduledFault(2000, faults.CrashScheduler(1))]
    jobs = [job(n, maps=6, map_ms=1000, submit_ms=300 * n) for n in range(8)]
    run = play(jobs, policy, cluster=CLUSTER, tasks=Tasks(), script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * 8
    after = [each for each in run.launches() if each.at_ms > 2000]
    assert {scheduler_of_attempt(each.attempt) for each in after} == {2}


@pytest.mark.parametrize("policy", OF_TWO_KINDS)
def test_long_jobs_wait_until_their_scheduler_is_back(policy: str) -> None:
    """There is no other that knows where long tasks are.  Their tasks end with it, so that it can
    begin with nothing; they are submitted again as long as it takes, and short jobs go on.
    """
    script = [ScheduledFault(4000, faults.CrashScheduler(3))]
    script += [ScheduledFault(14_000, faults.RestartScheduler(3))]
    short = [job(n, maps=6, map_ms=900, submit_ms=600 * n) for n in range(1, 24)]
    jobs = [job(0, maps=16, map_ms=9000), *short]
    run = play(jobs, policy, cluster=CLUSTER, tasks=Tasks(), script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * 24
    of_long = [each.at_ms for each in run.launches() if scheduler_of_attempt(each.attempt) == 3]
    assert [at_ms for at_ms in of_long if at_ms < 4000]
    assert not [at_ms for at_ms in of_long if 4000 <= at_ms < 14_000]
    assert sum(at_ms >= 14_000 for at_ms in of_long) >= 16
    others = [each.at_ms for each in run.launches() if scheduler_of_attempt(each.attempt) != 3]
    assert [at_ms for at_ms in others if 4100 <= at_ms < 14_000]


def test_what_a_long_scheduler_tells_when_it_is_back_is_newer_than_what_it_told_before() -> None:
    """Or nodes would go by the long work that ended with it (Eagle's bitmaps)."""
    script = [ScheduledFault(4000, faults.CrashScheduler(3))]
    script += [ScheduledFault(5000, faults.RestartScheduler(3))]
    jobs = [job(n, maps=3, map_ms=9000, submit_ms=300 * n) for n in range(6)]
    run = play(jobs, OF_TWO_KINDS[1], cluster=CLUSTER, tasks=Tasks(), script=script)
    (long,) = [each for each in run.kernel.actors.values() if isinstance(each, LongScheduler)]
    sent = [each for each in run.all(ReservationsSent) if each.long]
    assert len(sent) > 6
    assert long._stamp == len(sent)


# Planted bugs.

FAULTS: Sequence[Sequence[ScheduledFault]] = [
    [ScheduledFault(100, faults.Disturb(node, BAD, BAD)) for node in range(4)],
    [ScheduledFault(7000, faults.Crash(0))],
    [ScheduledFault(2, faults.Crash(0)), ScheduledFault(907, faults.Crash(1))],
    [ScheduledFault(n, faults.Crash(0)) for n in (2000, 6500)]
    + [ScheduledFault(n, faults.Restart(0)) for n in (4000, 6510)],
    [ScheduledFault(1000, faults.Disturb(n, CUT, LATE)) for n in range(5)]
    + [ScheduledFault(15_000, faults.Disturb(n, HEALTHY, LATE)) for n in range(5)],
    [
        ScheduledFault(1000, faults.Disturb(0, CUT, BAD)),
        ScheduledFault(15_000, faults.Disturb(0, HEALTHY, HEALTHY)),
    ],
    [
        ScheduledFault(1000, faults.Disturb(0, BAD, CUT)),
        ScheduledFault(15_000, faults.Disturb(0, HEALTHY, HEALTHY)),
    ],
]


def is_seen(bug: PlantedBug) -> bool:
    """Whether any of these runs breaks a rule, is stuck or stops with it."""
    with planted(bug):
        for policy in (*PLACED, *OF_TWO_KINDS):
            for script in FAULTS:
                try:
                    struck(policy, *script)
                except (KernelError, Violation, AssertionError):
                    return True
    return False


@pytest.mark.parametrize("bug", one_in(3, OF_CONTACTS), ids=lambda bug: bug.what)
def test_a_planted_bug_is_seen(bug: PlantedBug) -> None:
    assert is_seen(bug)


@pytest.mark.parametrize("script", FAULTS)
def test_without_a_bug_nothing_is_broken(script: Sequence[ScheduledFault]) -> None:
    for policy in (*PLACED, *OF_TWO_KINDS):
        struck(policy, *script)
