"""Another priority or another pool for a job that is there."""

import msgspec
import pytest

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AttemptLaunched, FaultStruck, JobChanged, JobFinished
from callboard.actors.vocabulary.faults import (
    AnyFault,
    KillJob,
    PauseMaster,
    RestartMaster,
    ResumeMaster,
    SetPool,
    SetPriority,
    SwitchPolicy,
)
from callboard.scheduler.model import MAP, JobId, Millis, Priority
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.world import IN_STEP, PlayedRun, job, play, uncaused

TWO = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
HIGH, LOW = Priority.VERY_HIGH, Priority.VERY_LOW
JOBS = [
    job(0, maps=20, map_ms=10_000, reduces=1, reduce_ms=5000),
    job(1, maps=20, map_ms=10_000, reduces=1, reduce_ms=5000),
]


def launched(run: PlayedRun, job_id: JobId, after_ms: Millis, until_ms: Millis) -> int:
    """How many maps a job was given in a time."""
    given = run.all(AttemptLaunched)
    return len([e for e in given if e.job == job_id and after_ms < e.at_ms < until_ms])


def changed(
    policy: str, *faults: AnyFault, at_ms: Millis = 45_000, jobs: list[JobSpec] | None = None
) -> PlayedRun:
    script = [ScheduledFault(at_ms, fault) for fault in faults]
    return play(jobs or JOBS, policy, cluster=TWO, script=script)


def test_fifo_serves_the_job_that_is_put_first() -> None:
    run = changed("fifo", SetPriority(1, HIGH))
    (change,) = run.all(JobChanged)
    assert (change.job, change.pool, change.priority) == (1, "", HIGH)
    first, second = sorted(run.all(JobFinished), key=lambda e: e.at_ms)
    assert (first.job, second.job) == (1, 0)
    assert launched(run, 1, 0, 45_000) == 0
    assert launched(run, 0, 45_000, first.at_ms - 20_000) == 0


def test_a_job_that_is_put_last_may_be_put_back() -> None:
    script = [
        ScheduledFault(45_000, SetPriority(0, LOW)),
        ScheduledFault(105_000, SetPriority(0, Priority.NORMAL)),
    ]
    run = play(JOBS, "fifo", cluster=TWO, script=script)
    assert launched(run, 1, 45_000, 105_000) > 9
    assert launched(run, 0, 45_000, 105_000) == 0
    assert launched(run, 0, 105_000, 165_000) > 9
    assert launched(run, 1, 105_000, 165_000) == 0


@pytest.mark.parametrize("policy", ["fair", "hfsp", 'psbs(size="oracle")', "coshh", "hybrid"])
def test_every_order_goes_on_whoever_is_moved(policy: str) -> None:
    faults: list[AnyFault] = [SetPriority(1, HIGH), SetPool(0, "ads"), SetPriority(0, LOW)]
    assert len(changed(policy, *faults).all(JobFinished)) == 2


def test_fair_gives_by_the_new_weight() -> None:
    """Very high against very low is 16 to 1 (weights 4 and ¼): of 30 slots one job gets 28."""
    big = msgspec.structs.replace(TWO, nodes=10, map_slots=3)
    jobs = [job(n, maps=400, map_ms=20_000) for n in (0, 1)]
    even = play(jobs, "fair", cluster=big, until_ms=100_000)
    assert abs(launched(even, 0, 0, 100_000) - launched(even, 1, 0, 100_000)) <= 6
    script = [ScheduledFault(5000, SetPriority(0, HIGH)), ScheduledFault(5000, SetPriority(1, LOW))]
    run = play(jobs, "fair", cluster=big, script=script, until_ms=100_000)
    assert 28 <= run.master.ledger.job(0).running(MAP) <= 29


def test_fair_shares_among_the_pools_that_jobs_are_in_now() -> None:
    """Two jobs of one pool and one of another: 15 slots a pool.  When one has gone over to the
    other pool it is theirs that have the half together.
    """
    big = msgspec.structs.replace(TWO, nodes=10, map_slots=3)
    jobs = [
        msgspec.structs.replace(job(n, maps=400, map_ms=20_000), pool=pool)
        for n, pool in enumerate(["a", "a", "b"])
    ]
    script = [ScheduledFault(60_000, SetPool(1, "b"))]
    policy = 'fair(pool_by="pool")'
    before = play(jobs, policy, cluster=big, until_ms=59_000).master.ledger
    after = play(jobs, policy, cluster=big, script=script, until_ms=119_000).master.ledger
    running = [[each.running(MAP) for each in ledger.jobs()] for ledger in (before, after)]
    assert [pytest.approx(x, abs=1) for x in running[0]] == [7, 8, 15]
    assert [pytest.approx(x, abs=1) for x in running[1]] == [15, 7, 8]


def test_psbs_ages_by_the_new_weight_and_keeps_what_was_given() -> None:
    """Equal jobs come one after the other, so the first is due first; from the change on the second
    is sixteen times as heavy.
    """
    jobs = [job(0, maps=30, map_ms=10_000), job(1, maps=30, map_ms=10_000, submit_ms=1000)]
    policy = 'psbs(size="oracle")'
    plain = changed(policy, jobs=jobs).all(JobFinished)
    moved = changed(policy, SetPriority(1, HIGH), SetPriority(0, LOW), jobs=jobs).all(JobFinished)
    assert [e.job for e in plain] == [0, 1]
    assert [e.job for e in moved] == [1, 0]


def test_hfsp_makes_it_age_faster() -> None:
    jobs = [job(0, maps=30, map_ms=10_000), job(1, maps=30, map_ms=10_000, submit_ms=1000)]
    policy = 'hfsp(size="oracle")'
    assert [e.job for e in changed(policy, jobs=jobs).all(JobFinished)] == [0, 1]
    moved = changed(policy, SetPriority(1, HIGH), SetPriority(0, LOW), jobs=jobs)
    assert [e.job for e in moved.all(JobFinished)] == [1, 0]


def test_preemption_takes_slots_for_the_job_that_is_put_first() -> None:
    """Job 1 waits for nobody's end: what job 0 runs gives way."""
    long = [job(0, maps=4, map_ms=600_000), job(1, maps=2, map_ms=10_000)]
    run = changed("fifo+preemptive(interval_s=3)", SetPriority(1, HIGH), jobs=long)
    assert run.all(JobFinished)[0].job == 1
    assert run.all(JobFinished)[0].at_ms < 100_000


@pytest.mark.parametrize("before_tasks", ["initialisation_ms", "setup_ms"])
def test_a_job_is_put_first_before_its_tasks_may_run(before_tasks: str) -> None:
    """It is in the system from its submission on: JobTracker.setJobPriority takes jobs in PREP."""
    jobs = [JOBS[0], msgspec.structs.replace(JOBS[1], **{before_tasks: 20_000})]
    run = changed("fifo", SetPriority(1, HIGH), at_ms=10_000, jobs=jobs)
    assert [(e.at_ms, e.job) for e in run.all(JobChanged)] == [(10_000, 1)]
    assert [e.job for e in run.all(JobFinished)] == [1, 0]


def test_a_job_that_has_ended_is_not_changed_while_its_last_attempts_are_killed() -> None:
    script = [
        ScheduledFault(45_000, KillJob(0)),
        ScheduledFault(45_500, SetPriority(0, HIGH)),
    ]
    run = play(JOBS, "fifo", cluster=TWO, script=script)
    assert not run.all(JobChanged)


@pytest.mark.parametrize("at_ms", [0, 10**6])
def test_nobody_is_moved_who_is_not_there(at_ms: Millis) -> None:
    jobs = [JOBS[0], msgspec.structs.replace(JOBS[1], submit_ms=5000)]
    run = changed("fifo", SetPriority(1, HIGH), SetPool(1, "x"), at_ms=at_ms, jobs=jobs)
    assert not run.all(JobChanged)


def test_a_master_that_stands_still_does_it_when_it_goes_on() -> None:
    script = [
        ScheduledFault(40_000, PauseMaster()),
        ScheduledFault(45_000, SetPriority(1, HIGH)),
        ScheduledFault(70_000, ResumeMaster()),
    ]
    run = play(JOBS, "fifo", cluster=TWO, script=script)
    assert [e.at_ms for e in run.all(JobChanged)] == [70_000]


def test_a_new_policy_goes_by_it_and_a_new_master_does_not() -> None:
    """The books have it; a job that is submitted again says what it said first."""
    moved = [ScheduledFault(45_000, SetPriority(1, HIGH))]
    switched = play(
        JOBS, "ps", cluster=TWO, script=[*moved, ScheduledFault(50_000, SwitchPolicy("fifo"))]
    )
    assert [e.job for e in switched.all(JobFinished)] == [1, 0]
    restart = ScheduledFault(50_000, RestartMaster(recover=True))
    restarted = play(JOBS, "fifo", cluster=TWO, script=[*moved, restart])
    assert [e.job for e in restarted.all(JobFinished)] == [0, 1]


@pytest.mark.parametrize("order", ORDERS)
def test_a_change_to_what_is_so_already_changes_nothing(order: str) -> None:
    faults: list[AnyFault] = [SetPriority(1, Priority.NORMAL), SetPool(0, "")]
    run = changed(order, *faults)
    plain = play(JOBS, order, cluster=TWO, script=[ScheduledFault(10**7, SetPool(9, "x"))])
    told = (FaultStruck, JobChanged)
    others = [e for e in run.events if not isinstance(e, told)]
    assert uncaused(others) == uncaused(plain.events)
