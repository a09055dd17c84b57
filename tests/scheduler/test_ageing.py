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
        assert sorted(e.job for e in fast.advance_to(now)) == sorted(ended)
        if what == "job":
            slow[number] = Job(size, tasks, weight)
            assert fast.serve(number, size, tasks, now, weight=weight)
            fast.set_waiting(number, True)
            number += 1
        elif what == "size" and n in slow:
            slow[n] = Job(size, tasks, weight)
            fast.serve(n, size, tasks, now, weight=weight)
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
        queue = [aged.job for aged in fast.queue(now)]
        assert sorted(queue) == sorted(slow)
        left = [fast.size_ms(j, now) for j in queue]
        assert left == sorted(left)
