"""A scenario's portrait, by hand and beside runs."""

import pytest

from callboard.scenarios.library_list import LIBRARY
from callboard.scenarios.portrait import FaultOutline, ScenarioPortrait, portrait_of
from tests.journal.replay.support import events_of


def portrait(name: str) -> ScenarioPortrait:
    return portrait_of(LIBRARY / f"{name}.toml")


def test_two_jobs_by_hand() -> None:
    """12 maps of 60 s and one reduce of 25 s on 4 + 4 slots; 2 maps of 10 s from 90 s on."""
    found = portrait("two-jobs")
    assert (found.nodes, found.racks, found.map_slots, found.reduce_slots) == (4, 2, 4, 4)
    assert (found.jobs, found.tasks) == (2, 15)
    assert found.least_ms == 185_000  # 12 * 60 / 4, then 2 * 10 / 4
    assert found.arrivals == ((0, 745_000), (30_000, 20_000))
    assert not found.faults


@pytest.mark.parametrize(("name", "policy"), [("two-jobs", "fair"), ("ping-pong", "psbs")])
def test_no_run_is_shorter(name: str, policy: str) -> None:
    last_ms = events_of(name, policy)[-1].at_ms
    assert last_ms / 2 < portrait(name).least_ms <= last_ms


def test_faults_are_those_of_the_timeline() -> None:
    night = portrait("elastic-night").faults
    assert night[0] == FaultOutline("drain", "rack-0, rack-1", 300_000, 1)
    assert night[1].what == "add"
    assert portrait("flapping-node").faults[0].times == 10


def test_work_is_put_where_it_arrives() -> None:
    found = ScenarioPortrait(1, 1, 1, 1, 3, 3, 1000, ((0, 50), (499, 50), (500, 25), (2000, 1)), ())
    assert found.work_by_column(2) == [1.0, 0.26]
