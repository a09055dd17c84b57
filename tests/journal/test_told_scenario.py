"""What readers of a journal have of its scenario."""

import pytest

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.told_scenario import told_scenario

FLOOD = {"what": "burst", "at_s": 5, "job": {"name": "flood", "maps": 3}}


@pytest.mark.parametrize(
    ("times", "job", "name"),
    [
        (1, "flood", "flood"),
        (1, "flood-3", "flood"),
        (2, "flood-2", "flood-2"),
        (2, "flood-2-7", "flood-2"),
        (1, "flooding", ""),
        (1, "query-1", ""),
    ],
)
def test_a_job_tells_by_its_name_which_burst_it_came_with(times: int, job: str, name: str) -> None:
    timeline = [{"what": "kill-job", "job": "x"}, FLOOD | {"times": times}]
    told = told_scenario(RunStarted(0, "", "", "", 1, {"timeline": timeline}, ()))
    (burst,) = told.bursts()
    assert burst.burst_name_of_job(job) == name


def test_a_timeline_of_another_version_hides_nothing_else() -> None:
    scenario: dict[str, object] = {"timeline": "none", "policies": ["fair"]}
    told = told_scenario(RunStarted(0, "", "", "", 1, scenario, ()))
    assert (told.policies, list(told.bursts())) == (("fair",), [])
