"""The virtual cluster against its definition, worked in fractions (HFSP III-B)."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.orders.size_based.ageing import SPEED_ONE, VirtualCluster

CLOSE_MS = 1e-6
"""Above the stated error of 2⁻²⁴ an end, far below a millisecond."""


class Job:
    """A job of the slow model."""

    def __init__(self, size: int, tasks: int, weight: int) -> None:
        self.left, self.cap, self.weight = Fraction(size), Fraction(tasks), weight


def shares(jobs: dict[int, Job], slots: int) -> dict[int, Fraction]:
    """Weighted max-min by its definition: whoever's cap is below the level gets it and leaves."""
    given: dict[int, Fraction] = {}
    free, rest = Fraction(slots), dict(jobs)
    while rest:
        level = free / sum(job.weight for job in rest.values())
        full = [n for n, job in rest.items() if job.cap <= level * job.weight]
        if not full:
            return given | {n: level * job.weight for n, job in rest.items()}
        for n in full:
            given[n] = rest.pop(n).cap
            free -= given[n]
    return given


def play_slowly(jobs: dict[int, Job], slots: int, ms: Fraction) -> list[int]:
    """Serve for `ms`, from end to end; who ended, in order."""
    ended: list[int] = []
    while ms > 0 and jobs:
        rate = shares(jobs, slots)
        ends = [jobs[n].left / rate[n] for n in jobs if rate[n]]
        span = min([ms, *ends])
        for n in jobs:
            jobs[n].left -= rate[n] * span
        ms -= span
        done = [n for n in sorted(jobs) if jobs[n].left == 0]
        for n in done:
            del jobs[n]
        ended += done
    return ended


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["job", "job", "job", "size", "weight", "slots", "time"]),
        st.integers(0, 6),  # pause before it, in units of 10 ms, so that much coincides
        st.integers(1, 12).map(lambda n: 10 * n),  # size
        st.integers(1, 5),  # tasks
        st.sampled_from([1, 1, 2, 4]),  # weight
        st.integers(0, 6),  # slots, or whose size
    ),
    min_size=1,
    max_size=25,
)


def slots_serving(cluster: VirtualCluster, job: int) -> Fraction:
    """How many slots serve the job now."""
    rate_class, _ = cluster._places.get(job, (None, None))
    if rate_class is None:
        return Fraction(0)
    if rate_class.capped:
        return Fraction(rate_class.cap)
    return Fraction(rate_class.weight * cluster._spare, cluster._weight)


@given(events=EVENTS, weighted=st.booleans())
@settings(derandomize=True, max_examples=400, deadline=None)
def test_it_serves_as_max_min_sharing_in_fractions_does(
    events: list[tuple[str, int, int, int, int, int]], weighted: bool
) -> None:
    fast, slow = VirtualCluster(), dict[int, Job]()
    fast.resize(3, 0)
    slots, now, number = 3, 0, 0
    for what, pause, size, tasks, drawn, n in events:
        weight = drawn if weighted else 1
        now += 10 * pause
        ended = play_slowly(slow, slots, Fraction(10 * pause))
        assert sorted(job for job, _ in fast.advance_to(now)) == sorted(ended)
        if what == "job":
            slow[number] = Job(size, tasks, weight)
            assert fast.serve_job(number, size, tasks, now, weight=weight)
            fast.set_waiting(number, True)
            number += 1
        elif what == "size" and n in slow:
            slow[n] = Job(size, tasks, weight)
            fast.serve_job(n, size, tasks, now, weight=weight)
        elif what == "weight" and n in slow:
            slow[n].weight = weight
            fast.reweigh(n, now, weight=weight, speed=SPEED_ONE)
        elif what == "slots":
            slots = n
            fast.resize(slots, now)
        rate = shares(slow, slots)
        assert {j: slots_serving(fast, j) for j in slow} == rate
        for j, job in slow.items():
            assert fast.size_ms(j, now) == pytest.approx(float(job.left), abs=CLOSE_MS)
        queue = [job for job, _ in fast.queue(now)]
        assert sorted(queue) == sorted(slow)
        left = [fast.size_ms(j, now) for j in queue]
        assert left == sorted(left)


def ranked(cluster: VirtualCluster, now_ms: int) -> list[int]:
    """The waiting jobs by the order's definition: every one's work and end at present rates."""
    now, found = now_ms * cluster._unit, []
    for job in cluster._waiting & cluster._places.keys():
        rate_class, (key, submitted_ms, _) = cluster._places[job]
        assert rate_class.group is not None
        left = key - rate_class.served(cluster._group_clock(rate_class.group, now))
        end = cluster._time_to_serve(rate_class.group, left)
        keys = (end, left) if cluster._by_finish else (left, end)
        found.append((keys, submitted_ms, job))
    return [job for *_, job in sorted(found)]


TURNS = st.lists(
    st.tuples(
        st.sampled_from(["job", "job", "waits", "waits", "weight", "slots", "time"]),
        st.integers(0, 4),  # pause before it in ms, looked at after each
        st.integers(1, 60),  # size
        st.integers(1, 9),  # tasks
        st.sampled_from([1, 2, 4, 8]),  # weight or speed
        st.integers(0, 40),  # slots, or which job
    ),
    min_size=1,
    max_size=40,
)


@given(turns=TURNS, by_finish=st.booleans(), weighted=st.booleans())
@settings(derandomize=True, max_examples=400, deadline=None)
def test_the_first_is_the_first_of_all_whoever_overtakes_it(
    turns: list[tuple[str, int, int, int, int, int]], by_finish: bool, weighted: bool
) -> None:
    """The leader is remembered from one look to the next, which must not show."""
    cluster = VirtualCluster(by_finish=by_finish)
    cluster.resize(30, 0)
    now, number = 0, 0
    for what, pause, size, tasks, drawn, n in turns:
        for _ in range(pause):
            now += 1
            cluster.advance_to(now)
            assert [job for job, _ in cluster.queue(now)] == ranked(cluster, now)
        rank = {"weight": drawn if weighted else 1, "speed": SPEED_ONE if weighted else drawn}
        if what == "job":
            cluster.serve_job(number, size, tasks, now, submitted_ms=now, **rank)
            cluster.set_waiting(number, True)
            number += 1
        elif what == "waits":
            cluster.set_waiting(n % max(number, 1), n not in cluster._waiting)
        elif what == "weight":
            cluster.reweigh(n % max(number, 1), now, **rank)
        elif what == "slots":
            cluster.resize(n, now)
        expected = ranked(cluster, now)
        first = next(cluster.queue(now), None)
        assert (first and first[0]) == (expected[0] if expected else None)
        assert [job for job, _ in cluster.queue(now)] == expected
