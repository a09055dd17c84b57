"""How long tasks will take of which little is known."""

import numpy as np

from callboard.actors.job_spec import JobSpec
from callboard.experiments.forecast.tasks_to_come import UNKNOWN_MS, SeenStage, TasksToCome


def test_where_no_task_has_ended_none_is_taken_for_nearly_done() -> None:
    """A map that had run for a second was to end in another, and its job with it."""
    job = JobSpec(job=0, name="j", submit_ms=0, maps=2, map_ms=200_000)
    draw = TasksToCome({0: SeenStage(job, (), (1_000.0,), ())}).length_law(
        job, np.random.default_rng(1)
    )
    assert [draw(beyond) for beyond in (0, 1_000, 90_000)] == [UNKNOWN_MS, UNKNOWN_MS, 180_000]
