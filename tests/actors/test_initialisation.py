"""Jobs that are initialised for a time before any task of theirs may run."""

import msgspec
import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Outcome
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import check_events
from callboard.journal.checks.findings import Violation
from callboard.journal.tell.explain import explain_from_events
from callboard.journal.tell.response_parts import response_parts
from callboard.scheduler.model import SETUP, Millis, scheduler_of_attempt
from tests.actors.test_architectures import EVERY
from tests.support.world import IN_STEP, PlayedRun, job, play, spec_of

PERIOD: Millis = 3002
TWO_NODES = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)


def slow(number: int = 0, ms: Millis = 7000, **fields: object) -> JobSpec:
    """A job of one map of 10 s that is initialised for so long."""
    return msgspec.structs.replace(job(number), initialisation_ms=ms, **fields)


def first_ms(run: PlayedRun, number: int = 0) -> Millis:
    """When the job's first task was launched."""
    return next(each.at_ms for each in run.launches() if each.job == number)


def test_it_runs_nothing_before_and_its_response_counts_it() -> None:
    """Nodes send their heartbeats at multiples of 3.002 s, which arrive 1 ms later."""
    run = play([slow(submit_ms=1000)], cluster=TWO_NODES)
    (submitted,), (initialised,) = run.all(ev.JobSubmitted), run.all(ev.JobInitialised)
    assert (submitted.at_ms, initialised.at_ms) == (1000, 8000)
    assert first_ms(run) == 3 * PERIOD + 1
    (end,) = run.all(ev.JobFinished)
    assert (end.submitted_ms, end.at_ms > 8000 + 10_000) == (1000, True)


def test_what_it_does_goes_back_to_its_initialisation_and_that_to_its_submission() -> None:
    events = told(slow(setup_ms=500))
    setup = next(each for each in events if isinstance(each, ev.AttemptLaunched))
    assert setup.stage == SETUP
    initialised = events[setup.cause]
    assert isinstance(initialised, ev.JobInitialised)
    assert isinstance(events[initialised.cause], ev.JobSubmitted)


def test_it_is_served_in_the_order_of_its_submission() -> None:
    """Job 1 runs alone until job 0, which came first, has been initialised: then FIFO is FIFO."""
    run = play([slow(maps=4), job(1, maps=20, submit_ms=1000)], cluster=TWO_NODES)
    after = [each.job for each in run.launches() if each.at_ms >= 7000]
    assert {each.job for each in run.launches() if each.at_ms < 7000} == {1}
    assert after[:4] == [0] * 4


@pytest.mark.parametrize("policy", [*EVERY, "fair", "hfsp", "omega", "monolithic", "mesos"])
def test_no_architecture_runs_a_task_of_it_before(policy: str) -> None:
    cluster = Cluster(nodes=4, racks=1, map_slots=2, reduce_slots=2, latency_ms=5)
    specs = [
        slow(0, 20_000, maps=3, reduces=2, shuffle_ms=1000, reduce_ms=2000, setup_ms=500),
        job(1, submit_ms=100),
    ]
    run = play(specs, policy, cluster=cluster)
    assert {each.outcome for each in run.all(ev.JobFinished)} == {Outcome.SUCCEEDED}
    assert first_ms(run) >= 20_000 > first_ms(run, 1)


def test_an_application_waits_for_its_masters_container_meanwhile() -> None:
    """There is room for one master at a time, and job 0 takes half a minute: job 1 may have been
    initialised before its master can run, or not, and goes before job 2 either way.
    """
    cluster = Cluster(nodes=1, racks=1, map_slots=2, reduce_slots=1, capacity={"memory": 4})

    def launched_ms(ms: Millis) -> tuple[Millis, Millis]:
        jobs = [job(0, map_ms=30_000), slow(1, ms, submit_ms=100), job(2, submit_ms=200)]
        run = play(jobs, "yarn(am={memory=1})", cluster=cluster)
        return first_ms(run, 1), first_ms(run, 2)

    assert 30_000 < launched_ms(0)[0] < launched_ms(0)[1]
    assert launched_ms(25_000) == launched_ms(0)
    assert 60_000 < launched_ms(60_000)[0] < 63_000 < launched_ms(60_000)[1]


@pytest.mark.parametrize("policy", ["fifo", "yarn", "sparrow", "omega"])
def test_one_that_is_killed_meanwhile_leaves_nothing(policy: str) -> None:
    jobs, script = [slow(), job(1)], [ScheduledFault(3000, faults.KillJob(0))]
    run = play(jobs, policy, cluster=Cluster(nodes=2, racks=1), script=script)
    ends = {each.job: (each.at_ms, each.outcome) for each in run.all(ev.JobFinished)}
    assert ends[0] == (3000, Outcome.KILLED)
    assert ends[1][1] is Outcome.SUCCEEDED
    assert not run.all(ev.JobInitialised)
    assert {each.job for each in run.launches()} == {1}


@pytest.mark.parametrize("recover", [True, False])
def test_a_master_that_begins_anew_initialises_jobs_anew_or_loses_them(recover: bool) -> None:
    """Once a job had been initialised, the other had not."""
    jobs, script = [slow(), slow(1, 60_000)], [ScheduledFault(8000, faults.RestartMaster(recover))]
    run = play(jobs, cluster=TWO_NODES, script=script)
    outcomes = {each.outcome for each in run.all(ev.JobFinished)}
    assert outcomes == {Outcome.SUCCEEDED if recover else Outcome.KILLED}
    again = [15_000, 68_000] if recover else []
    assert [each.at_ms for each in run.all(ev.JobInitialised)] == [7000, *again]


def test_one_of_several_schedulers_that_is_gone_costs_no_initialisation() -> None:
    """The job finds nobody there when it asks for tasks, and goes to the next 100 ms later."""
    script = [ScheduledFault(3000, faults.CrashScheduler(1))]
    cluster = Cluster(nodes=2, racks=1, map_slots=2, reduce_slots=1)
    run = play([slow()], "sparrow(schedulers=2)", cluster=cluster, script=script)
    assert [each.at_ms for each in run.all(ev.JobInitialised)] == [7000]
    assert [each.at_ms for each in run.all(ev.JobResubmitted)] == [7100]
    assert {scheduler_of_attempt(each.attempt) for each in run.launches()} == {2}


def test_a_long_one_is_not_taken_for_a_run_that_is_stuck() -> None:
    run = play([slow(ms=30_000_000)], cluster=TWO_NODES)
    assert run.all(ev.JobFinished)[0].at_ms > 30_000_000


def test_elided_heartbeats_change_nothing() -> None:
    jobs = [slow(n, 1501 * n, submit_ms=700 * n, maps=3, reduces=1) for n in range(5)]

    def events(send: str) -> list[ev.AnyEvent]:
        rules = Heartbeats(send=send)  # type: ignore[arg-type]
        run = play(jobs, "fair", cluster=Cluster(nodes=3, racks=1, heartbeat=rules))
        return [e for e in run.events if not isinstance(e, ev.RunStarted | ev.RunEnded)]

    assert events("needed") == events("all")


def told(*jobs: JobSpec) -> list[ev.AnyEvent]:
    """All events of a run of these, or of one that is initialised for 7 s."""
    events: list[ev.AnyEvent] = []
    Simulation(spec_of(jobs or [slow()], cluster=TWO_NODES), [events.append]).run()
    return events


def test_a_launch_before_breaks_a_rule() -> None:
    events = told()
    check_events(events)
    at = next(n for n, each in enumerate(events) if isinstance(each, ev.JobInitialised))
    launch = next(n for n, each in enumerate(events) if isinstance(each, ev.AttemptLaunched))
    late = msgspec.structs.replace(events[at], at_ms=events[launch].at_ms)
    with pytest.raises(Violation, match=r"S7 is broken.*\n.*launched before"):
        check_events([*events[:at], *events[at + 1 : launch + 1], late, *events[launch + 1 :]])


def test_its_time_is_told_apart_from_waiting() -> None:
    events = told()
    assert "  For 7.000 s of it the job was being initialised" in explain_from_events(events, 0)
    parts = response_parts(lambda: events, 0)
    assert parts is not None
    assert parts.ms["the job was initialised"] == 7000
    assert parts.ms.total() == events[-2].at_ms
