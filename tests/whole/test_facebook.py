"""A real day at Facebook, whole: every job of FB-2009 is accounted for under FIFO and Fair."""

import msgspec
import pytest

from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from tests.support.traces import trace

JOBS, TASKS = 5894, 238_848


@pytest.mark.soak
@pytest.mark.parametrize("policy", ["fifo", "fair"])
def test_fb_2009_completes_whole(policy: str) -> None:
    path = trace("FB-2009_samples_24_times_1hr_0.tsv")
    changes = ["cluster.nodes=600", "cluster.racks=20", "cluster.map_slots=4"]
    spec = msgspec.structs.replace(load_run(str(path), changes), policy=policy)
    summary = run_simulation(spec, driver="direct").summary
    assert summary.reason == "complete"
    assert (summary.jobs.submitted, summary.jobs.completed) == (JOBS, JOBS)
    assert summary.attempts.launched == summary.attempts.succeeded == TASKS
    assert summary.little.holds
    time = summary.slot_ms.all
    assert time.useful + time.wasted + time.idle == time.total
    assert time.wasted == 0
