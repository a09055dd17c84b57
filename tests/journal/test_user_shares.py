"""Fairness and dissatisfaction of users over time, on a run worked out by hand."""

import pytest

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.journal.figures.user_shares import UserShareMeter, UserShares
from callboard.scenarios.scenario_file import Scenario, from_dict
from callboard.scheduler.part_params import ShareParams
from tests.journal.stories import STORY


def test_of_a_run_by_hand() -> None:
    """While bob waits, from 1000 to 1200, ann holds both map slots: 2 and 0, each 1 from the mean.

    After that nobody waits: ann's failed map is launched again as soon as the failure is booked.
    """
    assert UserShareMeter.of_events(STORY).unfairness_and_dissatisfaction() == UserShares(2.0)


def test_a_user_lacks_part_of_a_min_share_until_it_runs() -> None:
    """Bob is due one slot and lacks it from 1000 to 1200, of the time to 2300 that he has work."""
    found = UserShareMeter.of_events(
        STORY, {"bob": ShareParams(min_maps=1)}
    ).unfairness_and_dissatisfaction()
    assert found.dissatisfaction == pytest.approx(200 / 1300)


def test_who_is_due_more_is_not_treated_unfairly_with_less_beyond_it() -> None:
    """Ann's two slots are hers by her min share, so neither has anything beyond."""
    assert (
        UserShareMeter.of_events(STORY, {"ann": ShareParams(min_maps=2)})
        .unfairness_and_dissatisfaction()
        .unfairness
        == 0
    )
    assert (
        UserShareMeter.of_events(STORY, {"ann": ShareParams(weight=2)})
        .unfairness_and_dissatisfaction()
        .unfairness
        == 1
    )


def test_dissatisfaction_weighs_users() -> None:
    heavy = UserShareMeter.of_events(
        STORY, {"bob": ShareParams(min_maps=1, weight=3)}
    ).unfairness_and_dissatisfaction()
    assert heavy.dissatisfaction == pytest.approx(3 * 200 / 1300)


def test_one_user_has_nobody_to_be_compared_with() -> None:
    lone = [event for event in STORY if getattr(event, "job", 0) != 1]
    lone = [event for event in lone if getattr(event, "attempt", 0) != 3]
    assert UserShareMeter.of_events(lone).unfairness_and_dissatisfaction() == UserShares()


@pytest.mark.parametrize("recover", [True, False])
def test_nothing_is_held_or_left_when_all_is_over(recover: bool) -> None:
    """Kills, suspensions, lost outputs and a master that restarts come out even."""
    meter, events = UserShareMeter(), list[AnyEvent]()
    spec = RunSpec.of(troubled(recover), "fair+suspend(interval_s=2,fair_share_timeout_s=2)")
    Simulation(spec, [events.append, meter.observe]).run()
    assert {type(event).__name__ for event in events} >= TROUBLES
    assert all(user.held == user.unfinished == [0, 0] for user in meter.users.values())


TROUBLES = {"AttemptSuspended", "MapOutputsLost", "NodeLost", "FaultStruck"}


def troubled(recover: bool) -> Scenario:
    """Three users on three nodes, of which one crashes, and the master restarts."""
    job = {"maps": 9, "map_s": 20, "reduces": 2, "shuffle_s": 5, "reduce_s": 10}
    heartbeat = {"expiry_ms": 9000}
    return from_dict(
        {
            "name": "troubled",
            "parts": {"fair": {"pool_by": "user"}},
            "cluster": {"nodes": 3, "racks": 1, "reduce_slots": 1, "heartbeat": heartbeat},
            "timeline": [
                {"what": "crash", "nodes": "node-0", "at_s": 60, "for_s": 30},
                {"what": "master-restart", "at_s": 110, "recover": recover},
            ],
            "workload": {
                "kind": "jobs",
                "job": [
                    {**job, "user": u, "at_s": s} for u, s in (("ann", 0), ("bob", 15), ("cid", 31))
                ],
            },
        }
    )
