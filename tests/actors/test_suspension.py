"""The way of a suspension: its slot is free when a heartbeat has said so, its work is kept, and it
goes on where it stopped (Pastorelli et al., OS-assisted task preemption; S1, S6, S9).

One node with one slot a kind, heartbeats at the master at 1 + 3002 k, latency 1 ms.
"""

from typing import Literal

import msgspec
import pytest

from callboard.actors.config import Cluster, Tasks, node_facts
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptResumed,
    AttemptStarted,
    AttemptSuspended,
    JobFinished,
    MapOutputsLost,
    Outcome,
    ResumeOrdered,
    RunEnded,
    RunStarted,
    ShuffleEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import Crash, StickLaunches, SwitchPolicy
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.summary import SlotKinds
from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.facts import Fact, Progressed
from callboard.scheduler.model import AttemptId, Millis, Priority, SlotKind
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.policy import Policy, PreemptionRule
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.view import ClusterView
from tests.support.preempt import Scripted
from tests.support.world import IN_STEP, PlayedRun, job, play

CLUSTER = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
LONG = job(0, maps=1, map_ms=30_000)
SHORT = job(1, maps=1, map_ms=10_000, submit_ms=5000, priority=Priority.VERY_HIGH)


def played(jobs: list[JobSpec], rule: PreemptionRule, tasks: Tasks | None = None) -> PlayedRun:
    policy = make_policy("fifo")
    policy.preemption = rule
    return play(jobs, policy, cluster=CLUSTER, tasks=tasks)


def slot_ms(run: PlayedRun) -> SlotKinds:
    first = RunStarted(0, "0", "test", "test", 1, {}, node_facts(CLUSTER))
    last = RunEnded(run.kernel.now_ms, "complete", 0, 0, "")
    summary = Metrics.of([first, *run.events, last]).summary()
    assert summary.slot_ms.map.adds_up
    assert summary.slot_ms.reduce.adds_up
    return summary.slot_ms


def at(run: PlayedRun, kind: type[AttemptSuspended | AttemptResumed]) -> list[Millis]:
    return [event.at_ms for event in run.all(kind)]


def test_a_suspended_map_keeps_its_work_and_another_has_its_slot() -> None:
    """Decided at 10000, sent with the reply to the heartbeat of 12009, in the slot at 12010, known
    at 15011: only then the other job's map is launched.  That ends at 25012, which is known at
    27019; the first goes on at 27020 for the 17992 ms that it lacks.
    """
    run = played([LONG, SHORT], Scripted((10_000, Suspend, 1)))
    assert [e.at_ms for e in run.all(SuspendOrdered)] == [10_000]
    assert at(run, AttemptSuspended) == [12_010]
    assert [e.at_ms for e in run.launches()] == [1, 15_011]
    assert [e.at_ms for e in run.all(ResumeOrdered)] == [27_019]
    assert at(run, AttemptResumed) == [27_020]
    ended = {e.attempt: e for e in run.all(AttemptEnded)}
    assert (ended[1].at_ms, ended[1].started_ms, ended[1].suspended_ms) == (45_012, 2, 15_010)
    account = slot_ms(run)
    assert (account.map.useful, account.map.wasted) == (40_000, 0)


def test_a_resumption_needs_no_other_job() -> None:
    """Nobody else wants the slot: the heartbeat that says it is free gives it back."""
    run = played([LONG], Scripted((10_000, Suspend, 1)))
    assert at(run, AttemptResumed) == [15_012]
    assert run.all(AttemptEnded)[0].at_ms == 15_012 + 17_992


def test_killed_in_memory_it_needs_no_slot_and_what_it_ran_is_waste() -> None:
    """The order goes out with the reply to the heartbeat of 18013, while the other's map holds the
    slot; at 21015 the master hears of it.  The task runs again from the start.
    """
    run = played([LONG, SHORT], Scripted((10_000, Suspend, 1), (16_000, Kill, 1)))
    killed = run.all(AttemptEnded)[0]
    assert (killed.attempt, killed.at_ms, killed.outcome) == (1, 18_014, Outcome.KILLED)
    assert killed.at_ms - killed.started_ms - killed.suspended_ms == 12_008
    assert [(e.job, e.number) for e in run.launches()] == [(0, 0), (1, 0), (0, 1)]
    assert not run.all(AttemptResumed)
    assert (slot_ms(run).map.useful, slot_ms(run).map.wasted) == (40_000, 12_008)


@pytest.mark.parametrize("orders", [(Suspend, Kill), (Kill, Suspend)])
def test_a_kill_goes_before_a_suspension_of_one_reply(
    orders: tuple[type[Kill | Suspend], type[Kill | Suspend]],
) -> None:
    run = played([LONG], Scripted((9500, orders[0], 1), (10_000, orders[1], 1)))
    assert not run.all(AttemptSuspended)
    assert [e.outcome for e in run.all(AttemptEnded)] == [Outcome.KILLED, Outcome.SUCCEEDED]


def test_what_has_ended_meanwhile_is_past_suspending() -> None:
    """Ended at 11002, ordered before the master knows; and once more in the wrong state."""
    run = played(
        [job(0, maps=1, map_ms=11_000)], Scripted((11_500, Suspend, 1), (12_000, Suspend, 1))
    )
    assert len(run.all(SuspendOrdered)) == 1
    assert not run.all(AttemptSuspended)
    assert [e.outcome for e in run.all(JobFinished)] == [Outcome.SUCCEEDED]


def test_a_timer_from_before_the_suspension_ends_nothing() -> None:
    """Its stints are 2 to 12010, 15012 to 18014 and 21016 to 24018, and the last; the timer set at
    15012 falls into the third.
    """
    orders: list[tuple[Millis, type[Kill | Suspend], AttemptId]] = [
        (ms, Suspend, 1) for ms in (10_000, 16_000, 22_000)
    ]
    run = played([job(0, maps=1, map_ms=20_000)], Scripted(*orders))
    (ended,) = run.all(AttemptEnded)
    assert ended.at_ms - ended.started_ms - ended.suspended_ms == 20_000
    assert len(run.all(AttemptResumed)) == len(run.all(AttemptSuspended)) == 3
    assert slot_ms(run).map.useful == 20_000


REDUCING = job(0, maps=1, map_ms=20_000, reduces=1, shuffle_ms=8000, reduce_ms=9000)


@pytest.mark.parametrize("when", [7000, 19_000, 22_000, 28_000, 35_000])
def test_a_reduce_is_suspended_anywhere_in_its_life(when: Millis) -> None:
    """Waiting for the map, with its outputs ready meanwhile, in its shuffle, after it: what it
    runs after the shuffle is 9 s, and the shuffle ends after the outputs are ready.
    """
    tasks = Tasks(slowstart=0.0)
    plain = played([REDUCING], Scripted(), tasks)
    run = played([REDUCING], Scripted((when, Suspend, 1), (when, Suspend, 2)), tasks)
    reduce = next(e.attempt for e in run.launches() if e.kind is SlotKind.REDUCE)
    ended = {e.attempt: e for e in run.all(AttemptEnded)}[reduce]
    shuffled = run.all(ShuffleEnded)[0].at_ms
    paused = [e.at_ms for e in run.all(AttemptSuspended) if e.attempt == reduce]
    resumed = [e.at_ms for e in run.all(AttemptResumed) if e.attempt == reduce]
    assert len(paused) == len(resumed) == 1
    after = ended.at_ms - shuffled
    assert after - (resumed[0] - paused[0] if paused[0] > shuffled else 0) == 9000
    assert shuffled >= plain.all(ShuffleEnded)[0].at_ms
    assert slot_ms(run).reduce.wasted == 0


def test_suspended_while_it_waits_it_asks_for_its_outputs_again() -> None:
    """The reduce is suspended at 18014.  The heartbeat of 21015 tells that and the map's end, so
    that it goes on at 21016 with its outputs ready: the question, the answer, and the one map's 8
    s.
    """
    run = played([REDUCING], Scripted((16_000, Suspend, 2)), Tasks(slowstart=0.0))
    assert at(run, AttemptSuspended) == [18_014]
    assert at(run, AttemptResumed) == [21_016]
    assert run.all(ShuffleEnded)[0].at_ms == 21_016 + 2 + 8000
    assert len(run.all(AttemptStarted)) == 2


def test_silent_nodes_take_up_what_they_hold_too() -> None:
    """Two maps are suspended, and a reply starts one task only: the second goes on with the next
    heartbeat, which is elided where that is allowed, though nothing is there to be launched.
    """
    journals = []
    sends: tuple[Literal["all", "needed"], ...] = ("all", "needed")
    for send in sends:
        heartbeats = msgspec.structs.replace(IN_STEP, tasks_per_heartbeat="one", send=send)
        cluster = msgspec.structs.replace(CLUSTER, map_slots=2, heartbeat=heartbeats)
        policy = make_policy("fifo")
        policy.preemption = Scripted((10_000, Suspend, 1), (10_000, Suspend, 2))
        run = play([job(0, maps=2, map_ms=60_000)], policy, cluster=cluster)
        assert at(run, AttemptResumed) == [15_012, 18_014]
        journals.append(run.events)
    assert journals[0] == journals[1]


def test_a_followed_attempt_tells_no_progress_for_the_time_when_it_was_suspended() -> None:
    told: list[tuple[Millis, Progressed]] = []

    class Listening(Hfsp):
        def observe(self, fact: Fact, view: ClusterView) -> None:
            if isinstance(fact, Progressed):
                told.append((view.now_ms, fact))
            super().observe(fact, view)

    order = Listening(Hfsp.Params(t=1, delta=1000.0))
    rule = Scripted((10_000, Suspend, 1))
    play([LONG], Policy(order, preemption=rule), cluster=CLUSTER)
    later = [(at_ms, fact) for at_ms, fact in told if at_ms > 15_012]
    assert later
    for at_ms, fact in later:  # sent 1 ms before; begun at 2, suspended from 12010 to 15012
        assert fact.ran_ms == at_ms - 1 - 2 - 3002
        assert fact.progress == pytest.approx(fact.ran_ms / 30_000)


def suspended_while_stuck(only: JobSpec, policy: str) -> PlayedRun:
    """A job's one task is stuck on a machine that is well again from 13 s on: it is suspended at
    12,010 ms, tracked from 14 s on by another policy, resumed at 15,012 ms, and begins.
    """
    first = make_policy(policy)
    first.preemption = Scripted((10_000, Suspend, 1))
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(13_000, StickLaunches(0, 0.0)),
        ScheduledFault(14_000, SwitchPolicy("fifo+naive")),
    ]
    run = play([only], first, cluster=CLUSTER, script=script, until_ms=30_500)
    assert (at(run, AttemptSuspended), at(run, AttemptResumed)) == ([12_010], [15_012])
    return run


def test_a_map_that_was_suspended_while_stuck_is_never_told_to_shuffle() -> None:
    """It ran for 12,008 ms before and 15,008 ms after, up to the heartbeat of 30,020."""
    (entry,) = suspended_while_stuck(job(0, map_ms=60_000), "fifo").master.ledger.attempts()
    assert (entry.ran_ms, entry.shuffled_ms) == (27_016, 0)


@pytest.mark.parametrize("policy", ["fifo", "fifo+naive"])
def test_the_shuffle_of_a_reduce_that_was_suspended_while_stuck_is_told(policy: str) -> None:
    """Whether it was tracked from the start or later; all up to the end of its shuffle counts."""
    only = job(0, maps=0, reduces=1, shuffle_ms=13_000, reduce_ms=60_000)
    run = suspended_while_stuck(only, policy)
    (ended,), (entry,) = run.all(ShuffleEnded), run.master.ledger.attempts()
    suspended_ms = 15_012 - 12_010
    assert entry.shuffled_ms == ended.at_ms - 2 - suspended_ms
    assert entry.shuffled_ms < entry.ran_ms


def test_s5_a_suspended_reduce_does_not_miss_that_an_output_was_lost_meanwhile() -> None:
    """Node 1 dies with an output at 19 s and is given up at 24 s, between the reduce's suspension
    (21 s) and its going on, with 18 s of its shuffle left: it has to wait for the map all the same.
    """
    heartbeats = msgspec.structs.replace(IN_STEP, expiry_ms=4500)
    cluster = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=heartbeats)
    jobs = [
        job(0, maps=2, map_ms=5000, reduces=1, shuffle_ms=30_000, reduce_ms=1000),
        job(1, maps=2, map_ms=200_000, submit_ms=1),
    ]
    policy = make_policy("fifo")
    policy.preemption = Scripted((20_000, Suspend, 5))
    run = play(jobs, policy, cluster=cluster, script=[ScheduledFault(19_000, Crash(1))])
    (suspended,), (resumed,) = run.all(AttemptSuspended), run.all(AttemptResumed)
    (undone,), (shuffled,) = run.all(MapOutputsLost), run.all(ShuffleEnded)
    assert suspended.at_ms < undone.at_ms < resumed.at_ms
    again = max(e.attempt for e in run.launches(SlotKind.MAP) if e.job == 0)
    told = next(e.at_ms for e in run.all(AttemptClosed) if e.attempt == again)
    assert shuffled.at_ms > told > resumed.at_ms + 18_000
