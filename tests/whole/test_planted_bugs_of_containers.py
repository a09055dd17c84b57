"""Rules Y1 to Y3 are broken here by bugs in YARN's actors, one line each.

The swarm hunts for the same bugs in drawn worlds (docs/reliability.md).
"""

import pytest

from callboard.actors.kernel.kernel import KernelError
from callboard.journal.checks.findings import Violation
from tests.actors.test_yarn import played
from tests.support.soak import one_in
from trials.swarm.architecture_bugs import OF_CONTAINERS
from trials.swarm.bug_planter import PlantedBug, planted

SMALLER = ("workload.job.0.maps=60", "workload.job.0.map_s=20", "cluster.nodes=3")
"""`yarn-queues`, and no fewer queues."""

POLICIES = (
    "yarn",
    'yarn(scheduler="fair",queues={adhoc={max_resources={memory=65536}}})',
    "yarn(am_percent=5)",
)

BROKEN = {
    "a container takes nothing of its node": "Y1",
    "a container's end frees the slot alone": "Y1",
    "room for containers is looked for in the slots alone": "Y1",
    "what an application holds grows and never shrinks": "Y3",
    "only the leaf knows what is held in it": "Y3",
    "what a leaf gives back it keeps": "Y3",
    "the most that a queue may hold is not looked at": "Y3",
    "only the leaf's most counts under the Fair Scheduler": "Y3",
    "a task begins in the container before its own": "Y2",
    "containers that are used are given back": "Y2",
    "a master's container is never given back": "Y2",
}
"""Which rule a bug breaks."""


def found(bug: PlantedBug) -> str:
    """The rule that is broken first; what else is wrong, if nothing is."""
    with planted(bug):
        for policy in POLICIES:
            try:
                played("yarn-queues", policy, *SMALLER)
            except Violation as violation:
                return violation.rule
            except KernelError as error:
                cause = error.__cause__
                return cause.rule if isinstance(cause, Violation) else "stopped"
    return "nothing"


@pytest.mark.parametrize("bug", one_in(5, OF_CONTAINERS), ids=lambda bug: bug.what)
def test_a_planted_bug_is_seen(bug: PlantedBug) -> None:
    assert found(bug) == BROKEN.get(bug.what, "stopped")


@pytest.mark.soak
def test_without_a_bug_nothing_is_broken() -> None:
    for policy in POLICIES:
        assert played("yarn-queues", policy, *SMALLER)
