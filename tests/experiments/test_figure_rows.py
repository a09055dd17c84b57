"""The share of the jobs that were done in time, over all and by pool or user."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from callboard.experiments.pages.figure_rows import (
    OUTCOME_ROWS,
    TABLE_ROWS,
    done_within_row,
    group_rows,
)
from callboard.journal.figures.summary import JobCounts
from callboard.journal.figures.tables import FAILED, SUCCEEDED
from callboard.journal.run_records import NEVER
from tests.experiments.charts.test_store_charts import result

STORY = result(1.0)
"""ads, of ann, took 4.4 s and logs, of bob, 1.3 s."""


@pytest.mark.parametrize(("seconds", "share"), [(1.2, 0.0), (1.3, 0.5), (4.4, 1.0)])
def test_a_job_is_done_in_time_if_it_took_no_longer(seconds: float, share: float) -> None:
    assert done_within_row(seconds).of(STORY) == share


def test_jobs_that_failed_or_have_not_ended_are_not_done() -> None:
    for outcome, finished in ((FAILED, 1300), (NEVER, NEVER)):
        jobs = replace(
            STORY.jobs,
            outcome=np.array([SUCCEEDED, outcome]),
            response_ms=np.array([4400, finished]),
        )
        run = msgspec.structs.replace(STORY, jobs=jobs)
        assert done_within_row(10).of(run) == 0.5


def test_by_user_each_share_is_of_its_own_jobs() -> None:
    rows = group_rows([STORY], "user", 2.0)
    found = [row.of(STORY) for row in rows if row.label == "  done within 2 s"]
    assert found == [0.0, 1.0]
    assert not [row for row in group_rows([STORY], "user") if "within" in row.label]


def test_jobs_that_did_not_complete_have_rows_of_their_own_where_there_are_any() -> None:
    counts = JobCounts(submitted=9, completed=2, failed=3, killed=0, unfinished=4)
    run = msgspec.structs.replace(
        STORY, summary=msgspec.structs.replace(STORY.summary, jobs=counts)
    )
    rows = [row for row in OUTCOME_ROWS[:4] if row.tells_anything([run])]
    figures = {row.label.strip(): row.of(run) for row in rows}
    assert figures == {"jobs completed": 2, "failed": 3, "unfinished": 4}


@pytest.mark.parametrize(
    ("seconds", "told"), [(308.988, "5 min 09 s"), (308.4, "5 min 08 s"), (59.9876, "59.988 s")]
)
def test_a_run_takes_no_less_than_its_longest_job(seconds: float, told: str) -> None:
    """A job of 309 s stood above a run of 5 min 08 s: one was rounded, the other cut."""
    (row,) = [each for each in TABLE_ROWS if each.label == "virtual time"]
    assert row.write(seconds) == told


def test_of_speculative_attempts_it_is_said_that_none_has_won() -> None:
    counts = msgspec.structs.replace(STORY.summary.speculation, speculative_attempts=2, won=0)
    summary = msgspec.structs.replace(STORY.summary, speculation=counts)
    run = msgspec.structs.replace(STORY, summary=summary)
    (won,) = [row for row in OUTCOME_ROWS if row.label.strip() == "won"]
    assert won.tells_anything([run])
    assert won.of(run) == 0
    assert not won.tells_anything([STORY])
