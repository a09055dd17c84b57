"""Bugs planted in the twin are seen: each in the world that is named beside it."""

import pytest

from bench.swarm.bug_planter import planted
from tests.support.twin_bugs import TWIN_BUGS, TwinBug
from tests.support.twin_worlds import disagreement_of_engines, draw_twin_world


@pytest.mark.parametrize("planted_bug", TWIN_BUGS, ids=lambda each: each.bug.what)
def test_a_bug_in_the_twin_parts_it_from_the_actors(planted_bug: TwinBug) -> None:
    with planted(planted_bug.bug):
        assert disagreement_of_engines(draw_twin_world(planted_bug.seed)) is not None
