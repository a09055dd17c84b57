"""A policy that is put in force in the middle of a run can take over any world: attempts under way,
suspended, copied, in training, nodes lost, a master that began anew.

Every order with every rule of preemption, locality and speculation; each run is held against every
rule as all are (`tests.support.world.play`).
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.faults import SwitchPolicy
from callboard.actors.injector import Strike
from tests.support.strategies import TROUBLED, World
from tests.whole.test_combinations import refusal, spellings

POLICIES = [spec for spec in spellings() if refusal(spec) is None]

SWITCHES: st.SearchStrategy[list[Strike]] = st.lists(
    st.builds(
        Strike,
        st.sampled_from([1, 998, 3002]) | st.integers(0, 60_000),
        st.builds(SwitchPolicy, st.sampled_from(POLICIES)),
    ),
    min_size=1,
    max_size=4,
)


@given(world=TROUBLED, switches=SWITCHES)
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_policy_takes_over_any_world(world: World, switches: list[Strike]) -> None:
    world._replace(script=(*world.script, *switches)).play()
