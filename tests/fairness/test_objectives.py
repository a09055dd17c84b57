"""What a policy is hunted by, on worlds small enough to count by hand."""

from functools import partial

import msgspec
import pytest

from callboard.actors.config import Cluster
from callboard.fairness.experiment import Experiment
from callboard.fairness.hunt import Hunt
from callboard.fairness.objectives import blocked_user_share, most_mutual_preemptions
from callboard.fairness.variants import entries_of
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.scenario_file import Scenario, find_scenario, load_scenario

ONE_SLOT = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1)


def test_two_jobs_that_overtake_each_other_flap() -> None:
    """`ping-pong` is the counterexample to `no-ping-pong` that the search found."""
    ping_pong = load_scenario(find_scenario("ping-pong"))
    assert most_mutual_preemptions(Experiment(ping_pong, "psbs+preemptive").run) == 1
    assert most_mutual_preemptions(Experiment(ping_pong, "psbs").run) == 0


@pytest.mark.parametrize(("user", "share"), [("her", 1 / 3), ("him", 0.0)])
def test_a_user_is_blocked_who_waits_and_runs_nothing(user: str, share: float) -> None:
    """Two jobs of one map each on one slot: both users are there for five minutes, in which she
    waits, and she alone for five more.  Of jobs of one user the first runs while the second waits.
    """
    first = ListedJob(maps=1, map_s=300, user="him")
    jobs = (first, msgspec.structs.replace(first, user=user))
    world = Scenario(name="two", cluster=ONE_SLOT, workload=ListedWorkload(job=jobs))
    assert blocked_user_share(Experiment(world, "fifo").run) == pytest.approx(share, abs=0.02)


def test_a_hunt_ends_with_no_key_that_says_nothing() -> None:
    """A job without reduces kept its `shuffle_s`, and a single one how often it comes."""
    first = ListedJob(maps=10, map_s=30, shuffle_s=3, every_s=4)
    short = msgspec.structs.replace(first, maps=2, map_s=1)
    workload = ListedWorkload(job=(first, short))
    two_slots = msgspec.structs.replace(ONE_SLOT, map_slots=2)
    world = Scenario(name="two", cluster=two_slots, workload=workload)
    hunted, against = (partial(Experiment, policy=policy) for policy in ("fifo", "fair"))
    hunt = Hunt(hunted, against, "max slowdown")
    assert hunt.how_much_worse(world) > 1
    found = entries_of(hunt.smallest_worst_case().scenario)
    assert [(each.shuffle_s, each.every_s) for each in found] == [(0, 0)] * len(found)
