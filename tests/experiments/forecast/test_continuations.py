"""Continuations: the same past, other futures, and nothing in them that only the future knows."""

import msgspec
import pytest

from callboard.actors.config import Cluster
from callboard.actors.recorded_tasks import RecordedReduce
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.experiments.forecast.continuations import Continuations
from callboard.experiments.forecast.known_state import known_states
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.model import MAPS, JobId, Millis
from tests.actors.test_recorded_tasks import recorded
from tests.support.world import spec_of

CLUSTER = Cluster(nodes=4, racks=2, map_slots=2, reduce_slots=1)
AT_MS = 60_000


def history(long_ms: Millis = 90_000) -> RunSpec:
    """Twelve jobs, one every 10 s, whose maps take 5 to 16 s; the third has one of `long_ms`."""
    jobs = []
    for number in range(12):
        ms = [5000 + 1000 * ((number + task) % 12) for task in range(6)]
        if number == 2:
            ms[0] = long_ms
        job = recorded(ms)
        jobs.append(msgspec.structs.replace(job, job=number, submit_ms=10_000 * number))
    return msgspec.structs.replace(spec_of(jobs, cluster=CLUSTER), policy="fair")


def continuations(spec: RunSpec, last_ms: Millis | None = None) -> Continuations:
    (state,) = known_states(spec, [AT_MS])
    return Continuations(spec, state, last_ms)


def past(spec: RunSpec) -> list[AnyEvent]:
    """The events until the moment, but for the first, which has all that is to come."""
    events: list[AnyEvent] = []
    Simulation(spec, [events.append]).run()
    inner = [each for each in events if not isinstance(each, RunStarted | RunEnded)]
    return [each for each in inner if each.at_ms <= AT_MS]


@pytest.mark.parametrize("number", range(5))
def test_a_continuation_has_the_same_past(number: int) -> None:
    spec = history()
    continued = continuations(spec).drawn_run(number)
    assert past(continued) == past(spec)
    assert continued.jobs != spec.jobs


def test_each_is_always_the_same_and_no_two_are_equal() -> None:
    first, again = (continuations(history()) for _ in range(2))
    assert first.drawn_run(3) == again.drawn_run(3)
    assert first.drawn_run(3) != first.drawn_run(4)


def test_what_happens_later_changes_nothing() -> None:
    """A task that still runs may take 90 s or 900: nobody knows it."""
    one, other = (continuations(history(ms)) for ms in (90_000, 900_000))
    assert [one.drawn_run(n) for n in range(3)] == [other.drawn_run(n) for n in range(3)]


def test_a_running_task_takes_longer_than_it_has_run() -> None:
    found = continuations(history())
    since_ms = found.state.running[JobId(2), MAPS, 0].since_ms
    for number in range(20):
        job = found.drawn_run(number).jobs[2]
        assert job.recorded is not None
        assert job.recorded.map_ms[0] >= AT_MS - since_ms


def test_how_long_a_job_is_still_initialised_is_not_known() -> None:
    """It came 10 s before, when others had taken 2 s, or 11 s."""

    def ready(ms: Millis) -> list[Millis]:
        spec = history()
        lengths = [2000, 11_000, 2000, 2000, 2000, ms]
        jobs = [
            msgspec.structs.replace(job, initialisation_ms=length)
            for job, length in zip(spec.jobs, lengths + [0] * 6, strict=True)
        ]
        found = continuations(msgspec.structs.replace(spec, jobs=tuple(jobs)))
        assert found.state.submitted == frozenset(range(7))
        return [found.drawn_run(number).jobs[5].initialisation_ms for number in range(20)]

    assert ready(15_000) == ready(60_000)
    assert set(ready(15_000)) == {11_000}
    assert set(ready(9999)) == {9999}


def test_jobs_come_on_until_the_last_one_that_is_known_to_come() -> None:
    spec = history()
    came = sum(job.submit_ms <= AT_MS for job in spec.jobs)
    assert len(continuations(spec, AT_MS).drawn_run(0).jobs) == came
    assert len(continuations(spec).drawn_run(0).jobs) > came
    until = continuations(spec, AT_MS + 25_000).drawn_run(0).jobs
    assert [job.submit_ms for job in until[came:]] == [70_000, 80_000]


@pytest.mark.parametrize(("shuffle_ms", "is_open"), [(90_000, True), (2_000, False)])
def test_a_shuffle_far_longer_than_all_that_are_known_tells_no_end(
    shuffle_ms: Millis, is_open: bool
) -> None:
    """An interval of no width was given, of a job that took a minute longer."""
    ended, more = (
        [RecordedReduce(ms, ms, rest_ms) for ms in (each, each + 100, each + 200)]
        for each, rest_ms in ((2_000, 3_000), (shuffle_ms, 60_000))
    )
    jobs = [
        msgspec.structs.replace(
            recorded([5_000, 6_000], reduces=reduces), job=number, submit_ms=20_000 * number
        )
        for number, reduces in enumerate((ended, more))
    ]
    found = continuations(msgspec.structs.replace(spec_of(jobs, cluster=CLUSTER), policy="fair"))
    assert ("reduces shuffle for over 3 times as long" in found.why_no_interval(1)) is is_open
