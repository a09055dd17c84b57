"""`callboard run --check`."""

import json
from pathlib import Path

import pytest

import callboard as package
from callboard.actors.vocabulary.events import KillOrdered
from callboard.journal.checks.checker import check_events
from callboard.journal.checks.findings import Violation
from callboard.journal.reader import Journal
from tests.callboard.conftest import Run

SLY = '''
from callboard.scheduler.decisions import Kill
from callboard.scheduler.policy import NoPreemption
from callboard.scheduler.reasons import Reason, Why

class Sly(NoPreemption):
    """Says that it waits, and kills."""

    name = "sly"
    summary = "for tests"
    interval_ms = 30_000

    def victims(self, view):
        for attempt in view.attempts():
            yield Kill(attempt.attempt, Why(Reason.OWN, "sly", 1))
'''


def test_the_counts_follow_the_table(callboard: Run) -> None:
    status, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--check")
    assert status == 0
    lines = out.splitlines()
    at = lines.index(next(line for line in lines if line == "fifo"))
    assert lines[at + 1] == "  checked: 10 of 15 rules, 236 times, none broken"
    assert lines[at + 2].startswith("  S1 15, S2 17, S3 65, ")
    assert (
        "S8: no heartbeat came twice; S11: takes a second run; S12: no node failed" in lines[at + 3]
    )


def test_in_json_too(callboard: Run) -> None:
    _, out, _ = callboard("run", "two-jobs", "--policy", "fifo", "--check", "--json")
    (run,) = json.loads(out)
    checks = run["checks"]
    assert list(checks) == [f"S{n}" for n in range(1, 16)]
    assert (checks["S1"], checks["S11"]) == (15, 0)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("scenario", "policy", "jobs"),
    [("rack-outage", "fair", 40), ("small-jobs", "fair+delay", 60), ("stragglers", "fair+late", 2)],
)
def test_being_checked_changes_nothing(
    tmp_path: Path, scenario: str, policy: str, jobs: int
) -> None:
    """Nor is there anything in the journal that breaks a rule afterwards."""
    paths = [tmp_path / name for name in ("plain", "checked")]
    for path in paths:
        options = package.RunOptions(host="direct", journal=path, check=path.name == "checked")
        package.run(scenario, policy, overrides=[f"workload.jobs={jobs}"], options=options)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    told = {each.rule: each.times for each in check_events(Journal(paths[0]))}
    assert told["S3"] > 1000
    assert (told["S12"] > 0) == (scenario == "rack-outage")
    assert (told["S14"] > 0) == ("delay" in policy)


def test_over_seeds_the_counts_are_told_in_a_line(callboard: Run) -> None:
    asked = ("run", "two-jobs", "--policy", "fifo", "--seeds", "2")
    status, out, _ = callboard(*asked, "--check")
    assert status == 0
    (told,) = [line for line in out.splitlines() if line.startswith("checked: ")]
    assert told.startswith("checked: 10 of 15 rules in 2 runs, 460 times, none broken")
    assert "checked: " not in callboard(*asked)[1]


@pytest.mark.parametrize("driver", [("--driver", "trio"), ("--host", "direct")])
def test_a_violation_ends_the_run_and_keeps_the_journal(
    callboard: Run, tmp_path: Path, driver: tuple[str, str]
) -> None:
    (tmp_path / "sly.py").write_text(SLY)
    journal = tmp_path / "broken.journal"
    policy = f"fifo+{tmp_path / 'sly.py'}:Sly"
    status, out, err = callboard(
        *("run", "two-jobs", "--policy", policy, *driver),
        *("--check", "--journal", str(journal)),
    )
    assert (status, out) == (1, "")
    assert "S13 is broken: preemption takes no more than is lacking" in err
    assert "  there is no preemption in this run" in err
    assert "must give way (sly: 1st of the check's victims)" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert f"recorded in {journal}" in err
    *_, last = Journal(journal)
    assert isinstance(last, KillOrdered)


def test_python_programs_get_the_violation(tmp_path: Path) -> None:
    (tmp_path / "sly.py").write_text(SLY)
    policy = f"fifo+{tmp_path / 'sly.py'}:Sly"
    assert package.Options is package.RunOptions  # as it was called before
    with pytest.raises(Violation) as found:
        package.run("two-jobs", policy, options=package.Options(check=True))
    assert isinstance(found.value.event, KillOrdered)
