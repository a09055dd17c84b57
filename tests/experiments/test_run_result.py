"""What a run came to, of all its jobs and of those that count."""

import pytest

import callboard
from callboard.experiments.run.run_result import RunResult

TAILED = ('workload.arrivals={kind="tailed",busy_jobs=3}', "workload.jobs=5", "cluster.nodes=4")


def result(*, slowdown: bool) -> RunResult:
    options = callboard.RunOptions(slowdown=slowdown)
    overrides = [*TAILED, "workload.sizes.kind=hfsp-dev"]
    return callboard.run("hfsp-test", "fair", overrides=overrides, options=options).result


def test_jobs_of_the_tail_do_not_count() -> None:
    run = result(slowdown=True)
    assert run.jobs.job.tolist() == [0, 1, 2, 3, 4]
    assert run.counted_jobs == (0, 1, 2)
    everybody, counted = run.slowdown, run.slowdown_of(run.counted_jobs)
    assert everybody is not None
    assert counted is not None
    assert counted.job.tolist() == [0, 1, 2]
    assert counted.slowdown.tolist() == everybody.slowdown.tolist()[:3]
    assert counted.statistics.mean == pytest.approx(counted.slowdown.mean())


def test_without_times_alone_there_is_no_slowdown() -> None:
    run = result(slowdown=False)
    assert run.slowdown is run.slowdown_of(run.counted_jobs) is None
