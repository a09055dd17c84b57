"""Another policy in the middle of a run, and what is injected by hand."""

from collections.abc import Sequence

import msgspec
import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import Injector, ScheduledFault
from callboard.actors.kernel.address import INJECTOR
from callboard.actors.network import LinkConditions
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    AttemptResumed,
    AttemptSuspended,
    Event,
    FaultStruck,
    JobFinished,
)
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    CrashScheduler,
    Disturb,
    Drain,
    Drift,
    Flaky,
    Hang,
    KillJob,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    RestartScheduler,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    StickLaunches,
    SwitchPolicy,
)
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.model import Priority
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.world import IN_STEP, job, play, spec_of, uncaused

FOUR = Cluster(nodes=4, racks=2, map_slots=2, reduce_slots=1, heartbeat=IN_STEP)
JOBS = [
    job(0, maps=30, map_ms=20_000, reduces=2, shuffle_ms=2000, reduce_ms=20_000),
    job(1, maps=6, map_ms=5000, submit_ms=20_000, reduces=1, reduce_ms=1000),
    job(2, maps=12, map_ms=8000, submit_ms=40_000),
]


def without_faults(events: Sequence[Event]) -> list[Event]:
    """What else happened; with one event more the others have other numbers, and causes."""
    return uncaused(event for event in events if not isinstance(event, FaultStruck))


@pytest.mark.parametrize("policy", ["fifo", "fair", "ps", "fair+kill"])
@pytest.mark.parametrize("at_ms", [0, 1, 25_000, 60_000])
def test_a_policy_that_goes_by_the_present_alone_goes_on_as_if_it_had_always_been_there(
    policy: str, at_ms: int
) -> None:
    script = [ScheduledFault(at_ms, SwitchPolicy(policy))]
    switched = play(JOBS, policy, cluster=FOUR, script=script).events
    same = play(JOBS, policy, cluster=FOUR, script=[ScheduledFault(10**7, Slow(0, 1.0))]).events
    if policy == "fair+kill":  # but its clocks begin anew
        assert len([e for e in switched if isinstance(e, JobFinished)]) == len(JOBS)
    else:
        assert without_faults(switched) == without_faults(same)


@pytest.mark.parametrize("now", ORDERS)
@pytest.mark.parametrize("was", ["fifo", 'hfsp+preemptive(how="suspend")', "fair+late"])
def test_any_policy_can_take_over_from_any(was: str, now: str) -> None:
    script = [ScheduledFault(30_000, SwitchPolicy(now)), ScheduledFault(70_000, SwitchPolicy(was))]
    run = play(JOBS, was, cluster=FOUR, script=script)
    assert len(run.all(JobFinished)) == len(JOBS)


@pytest.mark.parametrize("now", ["las", "ps", "gittins"])
def test_jobs_that_are_there_already_take_turns_from_the_switch_on(now: str) -> None:
    """Their order is told of them one by one, while the view has them all."""
    now = f'{now}+preemptive(how="suspend")'
    run = play(JOBS, "fair", cluster=FOUR, script=[ScheduledFault(60_000, SwitchPolicy(now))])
    assert len(run.all(JobFinished)) == len(JOBS)
    assert run.all(AttemptSuspended)


def test_who_is_next_changes_with_the_policy() -> None:
    """Under FIFO job 1 waits for job 0's thirty maps; from the switch to Fair on it does not."""
    fifo = {e.job: e.at_ms for e in play(JOBS, "fifo", cluster=FOUR).all(JobFinished)}
    script = [ScheduledFault(30_000, SwitchPolicy("fair"))]
    mixed = {
        e.job: e.at_ms for e in play(JOBS, "fifo", cluster=FOUR, script=script).all(JobFinished)
    }
    assert mixed[1] < fifo[1]


def copied(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Which attempts got copies, and when."""
    launches = [e for e in events if isinstance(e, AttemptLaunched) and e.original]
    return [(e.original, e.at_ms) for e in launches]


@pytest.mark.parametrize("policy", ["fair+naive", "fair+mantri"])
def test_a_rule_that_comes_late_hears_how_far_everything_is(policy: str) -> None:
    """Nobody asked FIFO's nodes how far their tasks are.  From the switch on they tell it, so the
    one slow node is found and no healthy task is taken for one that has done nothing.
    """
    one = job(0, maps=12, map_ms=200_000)
    script = [ScheduledFault(1, Slow(1, 6.0)), ScheduledFault(300_000, SwitchPolicy(policy))]
    out_of_step = msgspec.structs.replace(FOUR, heartbeat=Heartbeats())
    run = play([one], "fifo", cluster=out_of_step, script=script)
    on_slow = {e.attempt for e in run.launches() if e.node == 1}
    copies = copied(run.events)
    assert {of for of, _ in copies} == on_slow
    assert min(at_ms for _, at_ms in copies) > 300_000 + 3000


def test_hfsp_hears_of_training_tasks_that_ran_before_it_came() -> None:
    """Of eight maps that run already it wants to know of the five that it takes for training."""
    script = [ScheduledFault(100_000, SwitchPolicy("hfsp"))]
    run = play(
        [job(0, maps=9, map_ms=300_000)], "fifo", cluster=FOUR, script=script, until_ms=110_000
    )
    told = [entry.ran_ms > 100_000 for entry in run.master.ledger.attempts()]
    assert told == [True] * 5 + [False] * 3


def test_what_is_held_suspended_is_followed_when_it_goes_on() -> None:
    """Two maps of job 0 gave way to job 1 before anybody wanted to know how far they are."""
    jobs = [
        job(0, maps=8, map_ms=60_000),
        job(1, maps=2, map_ms=20_000, submit_ms=10_000, priority=Priority.HIGH),
    ]
    script = [ScheduledFault(22_000, SwitchPolicy("fifo+naive"))]
    was = 'fifo+preemptive(how="suspend",interval_s=3)'
    run = play(jobs, was, cluster=FOUR, script=script, until_ms=50_000)
    held = {e.attempt for e in run.all(AttemptSuspended)}
    assert len(held) == 2
    assert held == {e.attempt for e in run.all(AttemptResumed)}
    for entry in run.master.ledger.attempts():
        assert 0.3 < entry.progress == pytest.approx(entry.ran_ms / 60_000, abs=1e-9)


BY_HAND: list[AnyFault] = [
    Flaky(0, 0.2),
    Flaky(1, 0.2, 0.5),
    Hang(2, 0.5, 0.5),
    StickLaunches(3, 0.5),
    SetPriority(2, Priority.HIGH),
    SetPool(1, "ads"),
    Crash(1),
    SwitchPolicy("fair"),
    Slow(0, 2.0),
    Drift(2, 1.5),
    Disturb(0, LinkConditions(loss=0.3), LinkConditions(delay_ms=500)),
    Disturb(3, *[LinkConditions(reordered=0.3)] * 2),
    Partition(2, (0, 3)),
    Drain(0, True),
    PauseMaster(),
    ResumeMaster(),
    Restart(1),
    Drain(0, False),
    PauseNode(2),
    ResumeNode(2),
    Partition(2, ()),
    RestartMaster(True),
    KillJob(1),
]


def test_whatever_was_injected_by_hand_can_be_played_again_from_the_journal() -> None:
    """A world with an empty script, into which everything that can happen is put while it runs."""
    of_one_of_several = {CrashScheduler, RestartScheduler}
    assert {type(fault) for fault in BY_HAND} == set(AnyFault.__args__) - of_one_of_several
    by_hand = {2500 * (nth + 1): fault for nth, fault in enumerate(BY_HAND)}
    events: list[AnyEvent] = []
    nothing = [ScheduledFault(10**7, Slow(0, 1.0))]
    kernel = Simulation(spec_of(JOBS, cluster=FOUR, script=nothing), [events.append]).kernel
    injector = kernel.actors[INJECTOR]
    assert isinstance(injector, Injector)
    while (due := kernel.advance()) is not None:
        for actor in due:
            mailbox = actor.mailbox
            for _, _, _, message, actor.cause in mailbox:
                actor.receive(message)
            mailbox.clear()
        for at_ms in [at_ms for at_ms in by_hand if at_ms <= kernel.now_ms]:
            injector.inject(by_hand.pop(at_ms))
    injected = [ScheduledFault(e.at_ms, e.fault) for e in events if isinstance(e, FaultStruck)]
    assert [each.fault for each in injected] == BY_HAND
    assert play(JOBS, "fifo", cluster=FOUR, script=injected).events == events
