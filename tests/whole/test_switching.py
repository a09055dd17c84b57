"""A policy that is put in force in the middle of a run can take over any world: attempts under way,
suspended, copied, in training, nodes lost, a master that began anew.

Every order with every rule of preemption, locality and speculation; each run is held against every
rule as all are (`tests.support.world.play`).
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.faults import SwitchPolicy
from tests.support.strategies import WORLDS_WITH_FAULTS, DrawnWorld
from tests.whole.test_combinations import refusal, spellings

POLICIES = [spec for spec in spellings() if refusal(spec) is None]

SWITCHES: st.SearchStrategy[list[ScheduledFault]] = st.lists(
    st.builds(
        ScheduledFault,
        st.sampled_from([1, 998, 3002]) | st.integers(0, 60_000),
        st.builds(SwitchPolicy, st.sampled_from(POLICIES)),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.soak
@given(world=WORLDS_WITH_FAULTS, switches=SWITCHES)
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_policy_takes_over_any_world(world: DrawnWorld, switches: list[ScheduledFault]) -> None:
    world._replace(script=(*world.script, *switches)).play()
