"""Figures of some of a run's jobs."""

import numpy as np

from callboard.journal.figures.job_groups import (
    jobs_of_size,
    response_statistics,
    share_of_largest,
    share_within,
)
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.summary import SampleStatistics
from tests.journal.stories import STORY, cut_at

JOBS = Metrics.of(STORY).jobs()  # "ads" of 2 maps takes 4400 ms, "logs" of 1 map 1300 ms


def test_jobs_are_chosen_by_size() -> None:
    assert jobs_of_size(JOBS, 1, 1) == (1,)
    assert jobs_of_size(JOBS, 1, 2) == (0, 1)


def test_response_times_are_of_the_chosen_that_have_completed() -> None:
    assert response_statistics(JOBS, [1]).mean == 1.3
    assert response_statistics(JOBS, [0, 1]).max == 4.4
    assert response_statistics(JOBS, []) == SampleStatistics()
    early = Metrics.of(cut_at(3000)).jobs()
    assert response_statistics(early, [0, 1]).max == 1.3


def test_who_has_not_completed_was_not_within_the_time() -> None:
    assert share_within(JOBS, [0, 1], 1.3) == 0.5
    assert share_within(JOBS, [0, 1], 4.4) == 1
    assert share_within(Metrics.of(cut_at(3000)).jobs(), [0, 1], 100) == 0.5
    assert share_within(JOBS, [], 1) is None


def test_the_largest_have_their_share() -> None:
    assert share_of_largest(np.array([5, 1, 3, 1]), 2) == 0.8
    assert share_of_largest(np.array([5, 1]), 9) == 1
    assert share_of_largest(np.array([5, 1]), 0) == share_of_largest(np.array([0]), 1) == 0
