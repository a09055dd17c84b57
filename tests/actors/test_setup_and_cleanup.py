"""Setup and cleanup tasks (rule H6): a slot each, once a job, ahead of every policy."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.faults import Crash, KillJob, RestartMaster
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import check_events
from callboard.journal.checks.findings import Violation
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.user_shares import UserShareMeter
from callboard.scheduler.model import (
    CLEANUP,
    KINDS,
    MAP,
    MAPS,
    REDUCE,
    REDUCES,
    SETUP,
    Locality,
    Stage,
)
from callboard.scheduler.reasons import Reason, Why
from tests.support.world import IN_STEP, PlayedRun, job, play, spec_of

ONE_SLOT = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
TWO_NODES = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
ONE_KILLED = Outcome.KILLED
_E = TypeVar("_E", bound=ev.AttemptEvent)


def prepared(number: int = 0, **fields: object) -> JobSpec:
    """A job of one map of 10 s, with a setup of 2 s and a cleanup of 1 s."""
    lengths = {"setup_ms": 2000, "cleanup_ms": 1000}
    return msgspec.structs.replace(job(number), **(lengths | fields))


def of(run: PlayedRun, event: type[_E], *stages: Stage) -> list[_E]:
    """The events of a type of attempts of these stages."""
    stage = {each.attempt: each.stage for each in run.launches()}
    return [each for each in run.all(event) if stage[each.attempt] in stages]


def maps_of(run: PlayedRun) -> list[ev.AttemptLaunched]:
    return of(run, ev.AttemptLaunched, MAPS)


def test_a_policy_sees_jobs_in_the_order_of_their_submission_however_long_a_setup_lasts() -> None:
    """The setups of jobs 0 and 1 last 60 and 30 s, job 2 has none: its maps come first."""
    jobs = [prepared(number, maps=20, submit_ms=number * 1000) for number in range(3)]
    for number, setup_ms in enumerate((60_000, 30_000, 0)):
        jobs[number] = msgspec.structs.replace(jobs[number], setup_ms=setup_ms)
    run = play(jobs, "fifo", cluster=TWO_NODES, until_ms=90_000)
    assert [each.job for each in run.master.ledger.jobs()] == [0, 1, 2]
    assert maps_of(run)[0].job == 2


def test_a_job_runs_its_setup_its_tasks_and_its_cleanup_in_turn() -> None:
    run = play([prepared(reduces=1, shuffle_ms=1000, reduce_ms=1000)], cluster=ONE_SLOT)
    times = [
        of(run, ev.AttemptStarted, SETUP)[0].at_ms,
        of(run, ev.AttemptClosed, SETUP)[0].at_ms,
        maps_of(run)[0].at_ms,
        of(run, ev.AttemptLaunched, REDUCES)[0].at_ms,
        of(run, ev.AttemptLaunched, CLEANUP)[0].at_ms,
        of(run, ev.AttemptEnded, CLEANUP)[0].at_ms,
        run.all(ev.JobFinished)[0].at_ms,
    ]
    assert times == sorted(times)
    assert len(set(times)) == len(times)
    ends = [each.at_ms for each in of(run, ev.AttemptEnded, SETUP, CLEANUP)]
    begins = [each.at_ms for each in of(run, ev.AttemptStarted, SETUP, CLEANUP)]
    assert [end - begin for begin, end in zip(begins, ends, strict=True)] == [2000, 1000]


def test_every_step_costs_heartbeats() -> None:
    """Setup, map and cleanup are each given out by a heartbeat of the one node, every 3.002 s, and
    each is reported by one.
    """
    run = play([prepared()], cluster=ONE_SLOT)
    starts = [of(run, ev.AttemptLaunched, each)[0].at_ms for each in (SETUP, CLEANUP)]
    launch = maps_of(run)[0].at_ms
    period = ONE_SLOT.heartbeat_cycle_ms()
    assert launch - starts[0] == 2 * period
    assert starts[1] - launch == 5 * period
    assert run.all(ev.JobFinished)[0].at_ms - starts[1] == period


def test_a_heartbeat_that_brings_one_brings_nothing_else() -> None:
    """Job 0 waits with maps for the node's two slots when job 1 asks for its setup."""
    cluster = Cluster(nodes=1, racks=1, map_slots=2, reduce_slots=1, heartbeat=IN_STEP)
    first = job(0, maps=6, map_ms=4000)
    run = play([first, prepared(1, submit_ms=1000)], cluster=cluster)
    given = {each.at_ms for each in of(run, ev.AttemptLaunched, SETUP, CLEANUP)}
    assert len(given) == 2
    assert not given & {each.at_ms for each in maps_of(run)}


def test_a_cleanup_goes_before_a_setup_and_a_map_slot_before_a_reduce_slot() -> None:
    jobs = [prepared(0), prepared(1, submit_ms=10_000)]
    run = play(jobs, cluster=ONE_SLOT)
    first, second = of(run, ev.AttemptLaunched, SETUP)
    assert (first.kind, second.kind) == (MAP, REDUCE)  # a map of job 0 holds the map slot
    waiting = [prepared(number, submit_ms=11_000) for number in (1, 2)]
    run = play([prepared(0, map_ms=3000), *waiting], cluster=ONE_SLOT)
    told = [(each.job, each.stage) for each in of(run, ev.AttemptLaunched, SETUP, CLEANUP)]
    assert told[:4] == [(0, SETUP), (1, SETUP), (0, CLEANUP), (2, SETUP)]


def test_jobs_are_served_in_the_order_of_their_submission_not_of_their_setups() -> None:
    """Job 0's setup takes a minute, so that job 1 maps first; from then on FIFO is FIFO."""
    slow = prepared(0, setup_ms=60_000, maps=4)
    run = play([slow, prepared(1, submit_ms=1000, maps=20)], cluster=TWO_NODES)
    launches = maps_of(run)
    first_of_slow = next(place for place, each in enumerate(launches) if each.job == 0)
    assert {each.job for each in launches[:first_of_slow]} == {1}
    assert [each.job for each in launches[first_of_slow:][:4]] == [0] * 4


def test_a_setup_is_no_launch_for_delay_scheduling() -> None:
    """S14, to which the run is held: a setup may lie anywhere, and the maps wait from then on."""
    cluster = Cluster(nodes=8, racks=2, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
    run = play([prepared(maps=4)], "fair+delay(node=60,rack=60)", cluster=cluster)
    assert all(each.level is Locality.NODE for each in maps_of(run))
    assert of(run, ev.AttemptLaunched, SETUP)[0].level is Locality.OFF_RACK


def test_slots_of_setups_are_busy_and_owed_to_nobody() -> None:
    metrics, meter = Metrics(), UserShareMeter()
    spec = spec_of([prepared(maps=2)], cluster=ONE_SLOT)
    Simulation(spec, [metrics, meter.observe]).run()
    assert metrics.summary().attempts.launched == 4
    assert sum(metrics.slot_time(kind).useful for kind in KINDS) == 23_000
    assert [user.unfinished for user in meter.users.values()] == [[0, 0]]


def test_elided_heartbeats_change_nothing() -> None:
    jobs = [prepared(each, submit_ms=700 * each, maps=3, reduces=1) for each in range(5)]

    def events(send: str) -> list[ev.AnyEvent]:
        rules = Heartbeats(send=send)  # type: ignore[arg-type]
        cluster = Cluster(nodes=3, racks=1, heartbeat=rules)
        return [each for each in play(jobs, "fair", cluster=cluster).events if each.at_ms]

    same = (ev.RunStarted, ev.RunEnded)
    needed, every = events("needed"), events("all")
    assert [each for each in needed if not isinstance(each, same)] == [
        each for each in every if not isinstance(each, same)
    ]


@pytest.mark.parametrize("at_ms", [1000, 4000, 22_000])
def test_a_job_that_is_killed_takes_its_setup_or_cleanup_along(at_ms: int) -> None:
    """Before its setup runs, while it runs, and during its cleanup."""
    spec = prepared(setup_ms=8000, cleanup_ms=60_000, map_ms=2000)
    jobs = [spec, job(1, maps=4)]
    run = play(jobs, cluster=ONE_SLOT, script=[ScheduledFault(at_ms, KillJob(0))])
    end = run.all(ev.JobFinished)[0]
    assert (end.at_ms, end.outcome) == (at_ms, ONE_KILLED)
    assert len(run.all(ev.AttemptStarted)) == len(run.all(ev.AttemptEnded))


def test_one_that_is_lost_with_its_node_runs_again_elsewhere() -> None:
    spec = prepared(setup_ms=30_000)
    found = play([spec], cluster=TWO_NODES, seed=1)
    node = of(found, ev.AttemptStarted, SETUP)[0].node
    run = play([spec], cluster=TWO_NODES, script=[ScheduledFault(10_000, Crash(node))], seed=1)
    closed = of(run, ev.AttemptClosed, SETUP)
    assert [each.outcome for each in closed] == [ONE_KILLED, Outcome.SUCCEEDED]
    launched = of(run, ev.AttemptLaunched, SETUP)
    assert [each.node == node for each in launched] == [True, False]
    assert [each.number for each in launched] == [0, 1]
    assert run.all(ev.JobFinished)[0].outcome is Outcome.SUCCEEDED


@pytest.mark.parametrize("recover", [True, False])
def test_a_restarted_master_sets_jobs_up_anew_or_loses_them(recover: bool) -> None:
    spec = prepared(setup_ms=30_000)
    script = [ScheduledFault(10_000, RestartMaster(recover))]
    run = play([spec], cluster=TWO_NODES, script=script)
    (end,) = run.all(ev.JobFinished)
    assert (end.outcome is Outcome.SUCCEEDED) is recover
    assert len(of(run, ev.AttemptStarted, SETUP)) == (2 if recover else 1)


def told(
    change: Callable[[ev.AnyEvent], ev.AnyEvent | None], submit_ms: int = 0
) -> list[ev.AnyEvent]:
    """All events of a run of two jobs, each as it was changed; those of None are left out."""
    events: list[ev.AnyEvent] = []
    jobs = [job(0, maps=6, map_ms=20_000), prepared(1, submit_ms=submit_ms)]
    Simulation(spec_of(jobs, cluster=TWO_NODES), [events.append]).run()
    return [new for each in events if (new := change(each)) is not None]


def test_a_launch_before_the_setup_has_ended_breaks_a_rule() -> None:
    setups: set[int] = set()

    def without_end(event: ev.AnyEvent) -> ev.AnyEvent | None:
        if isinstance(event, ev.AttemptLaunched) and event.stage == SETUP:
            setups.add(event.attempt)
        return None if isinstance(event, ev.AttemptClosed) and event.attempt in setups else event

    assert check_events(told(lambda event: event))
    with pytest.raises(Violation, match="S7 is broken") as found:
        check_events(told(without_end))
    assert "still being set up" in found.value.explanation


def test_a_cleanup_before_all_tasks_are_done_breaks_a_rule() -> None:
    def early(event: ev.AnyEvent) -> ev.AnyEvent | None:
        if isinstance(event, ev.AttemptLaunched) and event.stage == SETUP:
            return msgspec.structs.replace(event, why=Why(Reason.JOB_CLEANUP))
        return event

    with pytest.raises(Violation, match="S7 is broken") as found:
        check_events(told(early))
    assert "are not done" in found.value.explanation


def test_a_setup_in_a_slot_that_is_held_breaks_a_rule() -> None:
    unseen: set[int] = set()
    held: dict[int, ev.AttemptStarted] = {}

    def into_a_held_slot(event: ev.AnyEvent) -> ev.AnyEvent | None:
        """It begins where a map runs."""
        if isinstance(event, ev.AttemptLaunched) and event.stage >= SETUP:
            unseen.add(event.attempt)
        if isinstance(event, ev.AttemptEnded):
            held.pop(event.attempt, None)
        if isinstance(event, ev.AttemptStarted):
            if event.attempt not in unseen:
                held[event.attempt] = event
            elif held:
                other = next(iter(held.values()))
                return msgspec.structs.replace(event, node=other.node, slot=other.slot)
        return event

    with pytest.raises(Violation, match="S1 is broken"):
        check_events(told(into_a_held_slot, submit_ms=10_000))
