"""What all architectures without a master do with stages, failures and jobs that are killed."""

import re
from collections.abc import Sequence
from typing import get_args

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.refusals import ENTRIES
from callboard.actors.sparrow.sparrow import PlacementName
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptStarted,
    JobFinished,
    Outcome,
)
from callboard.scenarios.timeline import AnyEntry
from callboard.scheduler.policy import PolicySpecError
from tests.support.world import job, play

PLAIN = Tasks(rack_factor=1, off_rack_factor=1)
"""A map takes as long wherever it runs."""


def small(slots: int = 1) -> Cluster:
    return Cluster(nodes=4, racks=1, map_slots=slots, reduce_slots=slots, latency_ms=5)


YARN = ["yarn", 'yarn(scheduler="fair")']
"""Where an application waits for its master's container, and for heartbeats."""

EVERY = [
    *(f'sparrow(placement="{each}")' for each in get_args(PlacementName)),
    "hawk(cutoff=100)",  # all jobs are short
    "hawk(cutoff=1,short=0)",  # all are long
    "hawk(cutoff=1,central=false)",
    "eagle(cutoff=100)",
    "eagle(cutoff=1,short=0)",
    "eagle(cutoff=5,srpt=false)",
    *YARN,
]


@pytest.mark.parametrize("policy", EVERY)
def test_a_job_of_two_stages_with_a_setup_and_a_cleanup_is_played_to_its_end(policy: str) -> None:
    spec = job(0, maps=3, reduces=2, shuffle_ms=1000, reduce_ms=2000)
    spec = replace(spec, setup_ms=500, cleanup_ms=500)
    run = play([spec], policy, cluster=small(slots=2))
    assert run.all(JobFinished)[0].outcome is Outcome.SUCCEEDED
    assert len(run.all(AttemptClosed)) == 3 + 2 + 2


@pytest.mark.parametrize("policy", EVERY)
def test_what_fails_is_run_again_on_another_node(policy: str) -> None:
    """A node on which all attempts fail; Hadoop's retries keep away from it, and so do these."""
    script = [ScheduledFault(1, faults.Flaky(0, 1.0))]
    jobs = [job(n, maps=4, submit_ms=10) for n in range(4)]
    run = play(jobs, policy, cluster=small(), script=script)
    failed = {each.attempt for each in run.all(AttemptClosed) if each.outcome is Outcome.FAILED}
    tried = {(each.job, each.task) for each in run.launches() if each.attempt in failed}
    assert tried
    again = [each for each in run.launches() if each.number and (each.job, each.task) in tried]
    assert len(again) == len(tried)
    assert all(each.node != 0 for each in again)
    assert all(each.outcome is Outcome.SUCCEEDED for each in run.all(JobFinished))


@pytest.mark.parametrize("policy", EVERY)
def test_a_task_that_fails_where_none_ran_before_goes_elsewhere_too(policy: str) -> None:
    """Its scheduler has given nothing to any other node so far; no node but one works."""
    script = [ScheduledFault(1, faults.Flaky(node, 1.0)) for node in range(3)]
    run = play([job(0, submit_ms=10)], policy, cluster=small(), script=script)
    nodes = [each.node for each in run.launches()]
    assert nodes[-1] == 3
    assert len(set(nodes)) == len(nodes)


@pytest.mark.parametrize("policy", EVERY)
def test_a_killed_job_leaves_nothing_behind(policy: str) -> None:
    """What runs of it is stopped, what waits is taken back, or ends as soon as it has a slot; the
    next job has the whole cluster.
    """
    jobs = [job(0, maps=20, map_ms=100_000), job(1, maps=4, map_ms=10_000, submit_ms=20_000)]
    script = [ScheduledFault(15_000, faults.KillJob(0))]
    run = play(jobs, policy, cluster=small(), tasks=PLAIN, script=script)
    ends = {each.job: (each.at_ms, each.outcome) for each in run.all(JobFinished)}
    assert ends[0] == (15_000, Outcome.KILLED)
    assert ends[1][1] is Outcome.SUCCEEDED
    of_next = {each.attempt for each in run.launches() if each.job == 1}
    began = {each.at_ms for each in run.all(AttemptStarted) if each.attempt in of_next}
    assert min(began) <= (23_000 if policy in YARN else 20_015)
    late = [each for each in run.all(AttemptEnded) if each.at_ms > 15_005]
    assert all(each.started_ms == each.at_ms for each in late if each.attempt not in of_next)


@pytest.mark.parametrize(
    ("policy", "script", "told"),
    [
        (
            "sparrow",
            [ScheduledFault(2000, faults.StickLaunches(0, 1.0))],
            "`sparrow` has no answer to `stuck` at 2 s in the timeline; leave it out (--no-faults"
            " leaves all out), or play a policy of the master",
        ),
        (
            "fair",
            [ScheduledFault(500, faults.CrashScheduler(1))],
            "the central master has no answer to `scheduler-crash` at 0.5 s in the timeline; leave"
            " it out (--no-faults leaves all out), or play eagle, hawk",
        ),
        (
            "yarn",
            [ScheduledFault(0, faults.Crash(1)), ScheduledFault(20_000, faults.Restart(1))],
            "`yarn` has no answer to `add` at 20 s in the timeline",
        ),
    ],
)
def test_a_refusal_names_the_entry_that_was_written_and_who_has_an_answer(
    policy: str, script: list[ScheduledFault], told: str
) -> None:
    with pytest.raises(PolicySpecError, match=re.escape(told)):
        play([job(0)], policy, cluster=small(), script=script)


def test_every_fault_is_called_by_its_entry_in_a_timeline() -> None:
    assert ENTRIES.keys() == set(get_args(faults.AnyFault))
    entries = {each.__struct_config__.tag for each in get_args(AnyEntry)}
    assert set(ENTRIES.values()) <= entries


@pytest.mark.parametrize("script", [(), (ScheduledFault(10_000, faults.Slow(0, 2.0)),)])
@pytest.mark.parametrize(
    "policy",
    [
        "yarn(node_heartbeat=30000,am_heartbeat=3000)",
        "yarn(am_heartbeat=30000,node_heartbeat=3000)",
        "mesos(gather=30000)",
        "mesos(allocation=30000)",
        "omega(retry=30000)",
        "omega(t_job=30000)",
        "monolithic(t_task=10000)",
    ],
)
def test_schedulers_that_wait_for_hours_are_slow_and_not_stuck(
    policy: str, script: Sequence[ScheduledFault]
) -> None:
    jobs = [job(n, maps=6) for n in range(2)]
    run = play(jobs, policy, cluster=small(), tasks=PLAIN, script=script)
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.SUCCEEDED] * 2
