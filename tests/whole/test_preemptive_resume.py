"""One slot, tasks that lose nothing by giving way, next to no lag: single-machine theorems hold.

F10: FSP dominates PS (Friedman & Henderson), PSBS too; F11: SRPT has the least mean response
(Schrage).  Each job is one map, so that without preemption a short job waits for a long one.  A
slot changes hands within `LAG_MS`: a check, two heartbeats and the way there and back.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AttemptEnded, AttemptSuspended, JobFinished
from callboard.scheduler.ideal import simulate
from tests.support.world import job, play

PERIOD_MS = 10
LAG_MS = PERIOD_MS + 3 * (PERIOD_MS + 2)
CLUSTER = Cluster(
    nodes=1,
    racks=1,
    map_slots=1,
    reduce_slots=0,
    latency_ms=1,
    heartbeat=Heartbeats(interval_ms=PERIOD_MS, phase_grid_ms=PERIOD_MS),
)
RESUME = f'+preemptive(how="suspend", interval_s={PERIOD_MS / 1000}, limit=99)'

JOBS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([1, 2, 5, 13])), min_size=2, max_size=6
).map(
    lambda drawn: [
        # No two submissions or sizes are alike: which of two equals goes first is not told.
        job(n, maps=1, map_ms=1000 * size + 100 * n, submit_ms=1000 * at + 137 * n)
        for n, (at, size) in enumerate(sorted(drawn))
    ]
)


def ends_ms(jobs: list[JobSpec], policy: str) -> list[int]:
    run = play(jobs, policy, cluster=CLUSTER)
    ends = {e.job: e.at_ms for e in run.all(JobFinished)}
    for ended in run.all(AttemptEnded):
        spec = jobs[next(e.job for e in run.launches() if e.attempt == ended.attempt)]
        assert ended.at_ms - ended.started_ms - ended.suspended_ms == spec.map_ms
    return [ends[spec.job] for spec in jobs]


def ideal_ms(jobs: list[JobSpec], discipline: str) -> list[float]:
    arrivals = [spec.submit_ms / 1000 for spec in jobs]
    sizes = [spec.map_ms / 1000 for spec in jobs]
    return [1000 * float(end) for end in simulate(discipline, arrivals, sizes, path="plain")]


def lag_ms(jobs: list[JobSpec]) -> int:
    """A slot changes hands at every arrival and every end at most."""
    return 2 * len(jobs) * LAG_MS


@given(jobs=JOBS)
@settings(derandomize=True, max_examples=20, deadline=None)
def test_f11_srpt_is_the_ideal_machines(jobs: list[JobSpec]) -> None:
    """No schedule has a smaller sum of response times, and this one's is that, but for the lag."""
    ours, best = ends_ms(jobs, 'srpt(size="oracle")' + RESUME), ideal_ms(jobs, "srpt")
    assert sum(ours) >= sum(best) - 1e-6
    assert sum(ours) <= sum(best) + len(jobs) * lag_ms(jobs)


@pytest.mark.parametrize("order", ["fsp+fifo", "fsp+ps", "psbs"])
@given(jobs=JOBS)
@settings(derandomize=True, max_examples=10, deadline=None)
def test_f10_fair_sojourn_dominates_sharing(order: str, jobs: list[JobSpec]) -> None:
    """No job ends later than under processor sharing, but for the lag."""
    ours = ends_ms(jobs, f'{order}(size="oracle")' + RESUME)
    shared = ideal_ms(jobs, "ps")
    assert all(o <= s + lag_ms(jobs) for o, s in zip(ours, shared, strict=True))


def test_without_preemption_neither_holds() -> None:
    """A job of 100 s, and one of 1 s that comes a second later, by hand."""
    jobs = [job(0, maps=1, map_ms=100_000), job(1, maps=1, map_ms=1000, submit_ms=1000)]
    assert ends_ms(jobs, 'srpt(size="oracle")')[1] > 101_000
    long, short = ends_ms(jobs, 'srpt(size="oracle")' + RESUME)
    assert short <= 2000 + LAG_MS
    assert long <= 101_000 + 2 * LAG_MS
    run = play(jobs, 'srpt(size="oracle")' + RESUME, cluster=CLUSTER)
    assert len(run.all(AttemptSuspended)) == 1
