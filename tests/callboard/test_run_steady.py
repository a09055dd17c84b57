"""`callboard run --steady`: the mean response time in steady state, from one long run."""

import json

import pytest

from tests.callboard.conftest import Run

pytest.importorskip("scipy")

BUSY = ("facebook-morning", "--nodes", "200", "--jobs", "800")
CROWDED = ("facebook-morning", "--nodes", "10", "--jobs", "500")


@pytest.mark.soak
def test_a_long_run_tells_the_mean_without_its_warm_up(callboard: Run) -> None:
    """The same in the table and in JSON; the mean is that of the batches, not of all jobs."""
    asked = (*BUSY, "--policy", "fair", "--policy", "hfsp", "--steady")
    status, out, err = callboard("run", *asked, "--json")
    assert (status, err) == (0, "")
    _, table, _ = callboard("run", *asked)
    assert "steady state" in table
    assert "± is half a 95 % interval of the mean of ever more such jobs" in table
    for run in json.loads(out):
        found = run["steady_state"]
        assert found["jobs"] == 800
        assert found["warm_up"] + found["batches"] * found["batch_jobs"] == 800
        response = found["response_seconds"]
        assert response["half"] > 0
        mean = f"{response['mean']:.0f} ± {response['half']:.0f} s"
        (row,) = [line for line in table.splitlines() if mean in line]
        assert row.split()[0] == run["policy"]
        assert f"{found['warm_up']} of 800 jobs" in row
        assert f"20 of {found['batch_jobs']} jobs" in row


def test_a_run_that_tells_nothing_says_why(callboard: Run) -> None:
    status, out, _ = callboard("run", "two-jobs", "--steady")
    assert status == 0
    assert "no steady state of fair: 2 completed jobs, at least 400 are wanted" in out
    assert "warm-up" not in out
    _, out, _ = callboard("run", "two-jobs", "--steady", "--json")
    (first, *_) = json.loads(out)
    assert first["steady_state"]["response_seconds"] is None
    assert first["steady_state"]["why_not"] == "at least 400 are wanted"


@pytest.mark.soak
def test_where_jobs_pile_up_there_is_no_steady_state(callboard: Run) -> None:
    _, out, _ = callboard("run", *CROWDED, "--policy", "fifo", "--steady")
    assert "no steady state of fifo: 500 completed jobs, they pile up: the cluster is" in out


def test_jobs_that_did_not_complete_are_told_of(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--until", "200", "--steady")
    assert "left out: 1 job of fifo that did not complete" in out


def test_nothing_is_said_unless_asked(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs")
    assert "steady" not in out
    _, out, _ = callboard("run", "two-jobs", "--json")
    assert "steady" not in out


def test_several_seeds_are_another_question(callboard: Run) -> None:
    status, out, err = callboard("run", "two-jobs", "--steady", "--seeds", "3")
    assert (status, out) == (2, "")
    assert "--steady looks into one long run" in err
    assert "Traceback" not in err
