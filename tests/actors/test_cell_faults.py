"""Nodes that crash or have bad links, and schedulers that end, where schedulers share a cell.

Every run is checked against all rules; bugs in what is tested here are planted below.
"""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import KernelError
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.omega.shared_cell import SharedCell
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptStarted,
    ContactLost,
    ContactRegained,
    JobFinished,
    JobResubmitted,
    MapOutputsLost,
    Outcome,
    SchedulingAttempted,
)
from callboard.journal.checks.findings import Violation
from callboard.scheduler.model import scheduler_of_attempt
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.resources import total
from tests.support.world import PlayedRun, job, play
from trials.swarm.architecture_bugs import OF_CELL_FAULTS
from trials.swarm.bug_planter import PlantedBug, planted

EXPIRY_MS = 9000
CLUSTER = Cluster(
    nodes=5, racks=1, map_slots=2, latency_ms=5, heartbeat=Heartbeats(expiry_ms=EXPIRY_MS)
)
JOBS = [job(n, maps=8, map_ms=3000, reduces=1, reduce_ms=1000, submit_ms=900 * n) for n in range(8)]
SHARING = ["omega(schedulers=2,t_job=0.3)", "mesos(schedulers=2,gather=0.1,t_job=0.5)"]
CELLS = ["monolithic", 'omega(schedulers=3,conflicts="sequence",commit="all-or-nothing")', *SHARING]
BAD = LinkConditions(loss=0.3, twice=0.3, delay_ms=400, reordered=0.3)
LATE = LinkConditions(delay_ms=3000)
CUT = LinkConditions(cut=True)


def test_a_claim_on_a_node_that_the_cell_has_not_heard_of_is_in_conflict() -> None:
    """A scheduler may hear of a node that comes before the cell does: it is lost till then (O3)."""
    script = [ScheduledFault(0, faults.Crash(0)), ScheduledFault(4000, faults.Restart(0))]
    run = play([job(0, maps=1)], SHARING[0], cluster=Cluster(nodes=1, racks=1), script=script)
    tried = [event for event in run.events if isinstance(event, SchedulingAttempted)]
    heard = [e.at_ms for e in run.events if isinstance(e, ContactRegained) and not e.scheduler]
    early = [event for event in tried if event.conflicted]
    assert early
    assert all(event.at_ms < heard[0] for event in early)


def struck(
    policy: str,
    *script: ScheduledFault,
    jobs: list[JobSpec] = JOBS,
    cluster: Cluster = CLUSTER,
) -> PlayedRun:
    jobs = sorted(jobs, key=lambda each: each.submit_ms)
    run = play(jobs, policy, cluster=cluster, tasks=Tasks(), script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * len(jobs)
    return run


def crashed(at_ms: int, node: int) -> ScheduledFault:
    return ScheduledFault(at_ms, faults.Crash(node))


def scheduler_crash(at_ms: int, scheduler: int, for_ms: int = 4000) -> list[ScheduledFault]:
    """It ends, and is there again after a while."""
    again = ScheduledFault(at_ms + for_ms, faults.RestartScheduler(scheduler))
    return [ScheduledFault(at_ms, faults.CrashScheduler(scheduler)), again]


@pytest.mark.parametrize("policy", CELLS)
def test_a_node_that_is_gone_is_given_up_by_all_and_claimed_by_nobody(policy: str) -> None:
    """After as long as a master would wait; what ran there is placed elsewhere."""
    run = struck(policy, crashed(2000, 4))
    lost = run.all(ContactLost)
    assert {each.node for each in lost} == {4}
    assert len({each.scheduler for each in lost}) == len(lost)
    assert all(each.at_ms - each.heard_ms > EXPIRY_MS for each in lost)
    last_ms = max(each.at_ms for each in lost)
    assert last_ms <= min(each.at_ms for each in lost) + CLUSTER.latency_ms
    assert not [each for each in run.launches() if each.node == 4 and each.at_ms >= last_ms]
    attempts = [each for each in run.all(SchedulingAttempted) if each.at_ms > last_ms + 1000]
    assert attempts
    assert not [each for each in attempts if 4 in (*each.committed, *each.conflicted)]
    lost_ms = {each.at_ms for each in lost}
    given_back = [each for each in run.all(AttemptClosed) if each.at_ms in lost_ms]
    assert any(each.outcome is Outcome.KILLED for each in given_back)


@pytest.mark.parametrize("policy", CELLS)
def test_a_node_that_is_back_has_forgotten_all_and_is_claimed_again(policy: str) -> None:
    run = struck(policy, crashed(2000, 4), ScheduledFault(4000, faults.Restart(4)))
    assert all(each.again and 4000 <= each.at_ms < 13_000 for each in run.all(ContactLost))
    assert run.all(ContactRegained)
    assert any(each.node == 4 and each.at_ms > 4000 for each in run.launches())


def test_a_scheduler_with_nothing_to_do_hears_of_a_lost_node_from_the_cell() -> None:
    """So that its first job is not placed there, to wait until it has found out for itself."""
    jobs = [*JOBS, job(8, maps=2, map_ms=500, submit_ms=20_000)]
    jobs[8] = replace(jobs[8], pool="service")
    run = struck("omega", crashed(2000, 4), jobs=jobs)
    told = {each.scheduler: each.at_ms for each in run.all(ContactLost)}
    assert told[2] == told[0] + CLUSTER.latency_ms < 20_000


@pytest.mark.parametrize("policy", CELLS)
def test_a_node_that_joins_later_is_claimed_from_then_on(policy: str) -> None:
    run = struck(policy, crashed(0, 4), ScheduledFault(5000, faults.Restart(4)))
    there = [each.at_ms for each in run.launches() if each.node == 4]
    assert 5000 < min(there) < 5000 + EXPIRY_MS
    assert not run.all(ContactLost)


@pytest.mark.parametrize("policy", CELLS)
def test_what_is_said_over_a_bad_link_is_heard_once_and_in_order(policy: str) -> None:
    """Tasks and reports, both ways."""
    script = [ScheduledFault(100, faults.Disturb(node, BAD, BAD)) for node in range(3)]
    assert any(each.node < 3 for each in struck(policy, *script).launches())


@pytest.mark.parametrize("policy", CELLS)
def test_a_task_waits_at_a_node_that_has_not_ended_what_was_given_up_there(policy: str) -> None:
    """All links are cut for long, and the nodes' memory is full of what ran: what comes when they
    are whole again begins when that has been ended, since the node has no room for both.
    """
    cluster = replace(CLUSTER, capacity={"memory": 2})
    takes = ((("memory", 2),), ())
    each_of_five = [job(n, maps=5, map_ms=40_000, submit_ms=n) for n in range(2)]
    long = [replace(each, demands=takes) for each in each_of_five]
    cut = [ScheduledFault(1000, faults.Disturb(node, CUT, CUT)) for node in range(5)]
    whole = [ScheduledFault(14_000, faults.Disturb(node, HEALTHY, BAD)) for node in range(5)]
    run = struck(policy, *cut, *whole, jobs=long, cluster=cluster)
    launched = {each.attempt: each for each in run.launches()}
    held: dict[int, int] = {}
    assert run.all(ContactLost)
    for each in run.events:
        if isinstance(each, AttemptEnded):
            held[launched[each.attempt].node] -= 1
        elif isinstance(each, AttemptStarted):
            held[each.node] = held.get(each.node, 0) + 1
            assert held[each.node] == 1


@pytest.mark.parametrize("policy", CELLS)
def test_maps_whose_outputs_are_gone_run_again(policy: str) -> None:
    """Rule T2, by the scheduler of their job."""
    large = job(0, maps=40, map_ms=6000, reduces=1, reduce_ms=1000)
    assert struck(policy, crashed(9000, 0), jobs=[large]).all(MapOutputsLost)


@pytest.mark.parametrize("policy", CELLS)
def test_nothing_is_given_up_for_want_of_room_while_no_node_is_there(policy: str) -> None:
    """For longer than a hundred attempts would take: jobs wait until the first is back."""
    crashes = [crashed(1000, node) for node in range(5)]
    again = [ScheduledFault(200_000 + node, faults.Restart(node)) for node in range(5)]
    run = struck(policy, *crashes, *again)
    assert not [each for each in run.launches() if 1000 + 2 * EXPIRY_MS < each.at_ms < 200_000]


@pytest.mark.parametrize("policy", SHARING)
@pytest.mark.parametrize("scheduler", [1, 3])
def test_the_jobs_of_a_scheduler_that_ends_go_to_another(policy: str, scheduler: int) -> None:
    """They are submitted anew; the cell's state has what it had claimed back at once."""
    of_service = [job(8 + n, submit_ms=2000 * n, maps=3) for n in range(3)]
    jobs = [*JOBS, *(replace(each, pool="service") for each in of_service)]
    run = struck(policy, *scheduler_crash(6000, scheduler), jobs=jobs)
    again = {each.job for each in run.all(JobResubmitted)}
    assert again
    takers = {each.scheduler for each in run.all(SchedulingAttempted) if each.job in again}
    assert len(takers) > 1
    assert isinstance(run.architecture, SharedCell)
    ended = [each for each in run.all(AttemptClosed) if each.at_ms == 6000]
    assert {scheduler_of_attempt(each.attempt) for each in ended} <= {scheduler}


@pytest.mark.parametrize("policy", SHARING)
def test_what_a_scheduler_was_thinking_about_places_nothing_when_it_ends(policy: str) -> None:
    """Though a claim of its was under way, and it is there again before the answer comes."""
    cluster = Cluster(nodes=2, racks=1, map_slots=1, latency_ms=400)
    jobs = [job(n, maps=2, map_ms=2000, submit_ms=n) for n in range(4)]
    for at_ms in range(1000, 4400, 200):
        run = struck(policy, *scheduler_crash(at_ms, 2, 200), jobs=jobs, cluster=cluster)
        early = [each for each in run.all(SchedulingAttempted) if each.scheduler == 2]
        assert not [each for each in early if at_ms <= each.at_ms < at_ms + 200]


@pytest.mark.parametrize("policy", SHARING)
def test_after_schedulers_have_ended_all_that_was_claimed_is_free_again(policy: str) -> None:
    script = [*scheduler_crash(1500, 1), *scheduler_crash(3500, 2, 500), crashed(6000, 1)]
    script += [ScheduledFault(8000, faults.Restart(1))]
    jobs = [*JOBS, job(8, submit_ms=100_000)]
    run = struck(policy, *script, jobs=jobs)
    assert isinstance(run.architecture, SharedCell)
    assert total(run.architecture.cell.free)[0] == 2 * 5 - 1  # of the last end it has not heard


@pytest.mark.parametrize(
    ("policy", "scheduler", "told"),
    [
        ("omega(schedulers=2)", 4, "there is no scheduler 4; there are 3"),
        ("mesos", 3, "there is no scheduler 3; there are 2"),
        ("monolithic", 1, "scheduler 1 is the only one, and cannot crash"),
        ("monolithic", 2, "there is no scheduler 2; there is one"),
    ],
)
def test_a_scheduler_that_is_not_there_or_has_none_beside_it_cannot_end(
    policy: str, scheduler: int, told: str
) -> None:
    with pytest.raises(PolicySpecError, match=told):
        play([job(0)], policy, script=[ScheduledFault(5, faults.CrashScheduler(scheduler))])


def test_an_offer_is_measured_by_the_nodes_within_reach() -> None:
    """Beside a node that is lost for good never all of the cell is free (swarm seed 1204539)."""
    struck("mesos(minimum=1)", crashed(2000, 4))


TYPED = Cluster(
    nodes=0,
    racks=1,
    latency_ms=5,
    heartbeat=Heartbeats(expiry_ms=EXPIRY_MS),
    group=(NodeGroup(nodes=1, capacity={"gpu": 1}), NodeGroup(nodes=2)),
)


def test_what_only_a_lost_node_had_is_asked_for_no_more() -> None:
    """An offer needs something of each resource: of those that there still are."""
    jobs = [job(0, maps=3, submit_ms=1000), job(1, maps=3, submit_ms=30_000)]
    struck("mesos", crashed(2000, 0), jobs=jobs, cluster=TYPED)


# Planted bugs.

SLOW_LINK = replace(CLUSTER, latency_ms=300)
LONG = [job(n, maps=9, map_ms=25_000, submit_ms=900 * n) for n in range(3)]
ENDS = [*scheduler_crash(1211, 2, 10), *scheduler_crash(2104, 2, 3), *scheduler_crash(3300, 1)]
LATE_NEWS = [ScheduledFault(1500, faults.Disturb(n, HEALTHY, LATE)) for n in range(5)]
THOUGHTFUL = ["mesos(t_job=8)"]
CASES: dict[str, tuple[list[str], Cluster, list[JobSpec], Sequence[ScheduledFault]]] = {
    "schedulers end": (SHARING, SLOW_LINK, JOBS, ENDS),
    "schedulers end soon after another": (
        SHARING,
        CLUSTER,
        JOBS,
        [*scheduler_crash(2005, 1, 5), *scheduler_crash(4000, 1), *scheduler_crash(5000, 3)],
    ),
    "a node is given up that a framework thinks about": (
        THOUGHTFUL,
        CLUSTER,
        [replace(job(0), pool="service"), job(1, maps=9, submit_ms=5000)],
        [crashed(2, 4)],
    ),
    "a scheduler ends while links are slow": (
        SHARING,
        CLUSTER,
        LONG,
        [*LATE_NEWS, *scheduler_crash(3000, 1, 100)],
    ),
    "a node crashes twice": (
        SHARING,
        SLOW_LINK,
        JOBS,
        [crashed(n, 0) for n in (2000, 6500)]
        + [ScheduledFault(n, faults.Restart(0)) for n in (4000, 6510)],
    ),
}


def play_case(case: str) -> None:
    policies, cluster, jobs, script = CASES[case]
    for policy in policies:
        struck(policy, *script, jobs=jobs, cluster=cluster)


def is_seen(bug: PlantedBug) -> bool:
    """Whether any of these runs breaks a rule, is stuck, stops, or leaves a job without room."""
    with planted(bug):
        for case in CASES:
            try:
                play_case(case)
            except (KernelError, Violation, AssertionError):
                return True
    return False


@pytest.mark.parametrize("bug", OF_CELL_FAULTS, ids=lambda bug: bug.what)
def test_a_planted_bug_is_seen(bug: PlantedBug) -> None:
    assert is_seen(bug)


@pytest.mark.parametrize("case", CASES)
def test_without_a_bug_nothing_is_broken(case: str) -> None:
    play_case(case)
