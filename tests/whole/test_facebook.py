"""A real day at Facebook, whole: every job of FB-2009 is accounted for under FIFO and Fair."""

import pytest

from callboard.experiments.simulation import RunOptions, run_simulation
from callboard.scenarios import scenario_file
from tests.support.traces import trace

JOBS, TASKS = 5894, 238_848


@pytest.mark.parametrize("policy", ["fifo", "fair"])
def test_fb_2009_completes_whole(policy: str) -> None:
    path = trace("FB-2009_samples_24_times_1hr_0.tsv")
    changes = ["cluster.nodes=600", "cluster.racks=20", "cluster.map_slots=4"]
    scenario = scenario_file.load_scenario(path, changes)
    jobs = scenario_file.make_jobs(scenario, path.parent)
    summary = run_simulation(scenario, jobs, policy, RunOptions(host="direct")).summary
    assert summary.reason == "complete"
    assert (summary.jobs.submitted, summary.jobs.completed) == (JOBS, JOBS)
    assert summary.attempts.launched == summary.attempts.succeeded == TASKS
    assert summary.little.holds
    time = summary.slot_ms.all
    assert time.useful + time.wasted + time.idle == time.total
    assert time.wasted == 0
