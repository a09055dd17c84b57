"""Bugs planted in the twin are seen: each in the world that is named beside it."""

import pytest

from tests.support.twin_bugs import TWIN_BUGS, TwinBug
from tests.support.twin_journal_bugs import JOURNAL_BUGS
from tests.support.twin_journals import disagreement_of_journals
from tests.support.twin_worlds import disagreement_of_engines, draw_twin_world
from trials.swarm.bug_planter import planted


@pytest.mark.parametrize("planted_bug", TWIN_BUGS, ids=lambda each: each.bug.what)
def test_a_bug_in_the_twin_parts_it_from_the_actors(planted_bug: TwinBug) -> None:
    with planted(planted_bug.bug):
        assert disagreement_of_engines(draw_twin_world(planted_bug.seed)) is not None


@pytest.mark.parametrize("planted_bug", JOURNAL_BUGS, ids=lambda each: each.bug.what)
def test_a_bug_in_the_twins_journal_parts_it_from_the_actors(planted_bug: TwinBug) -> None:
    """Or breaks it: a row that is not there is no event."""
    with planted(planted_bug.bug):
        try:
            found = disagreement_of_journals(draw_twin_world(planted_bug.seed), instants=8)
        except IndexError:
            return
    assert found is not None
