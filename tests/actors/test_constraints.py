"""Constraints: jobs whose tasks may run only on nodes of some types (SOSP 2013, §4.4)."""

import pytest
from msgspec.structs import replace

from callboard.actors.books.frontend import Frontend
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    JobFinished,
    Outcome,
    ReservationsSent,
)
from callboard.experiments.run.simulation import Simulation
from callboard.experiments.run.solo_runs import LoneJobs
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.findings import Violation
from callboard.scenarios.scenario_file import from_dict, make_jobs
from callboard.scheduler.model import MAPS, REDUCES
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.support.world import job, play, spec_of

PLAIN = Tasks(rack_factor=1, off_rack_factor=1)
PLACEMENTS = [
    f'sparrow(placement="{each}",schedulers=1)'
    for each in ("late", "batch", "per-task", "random", "central")
]

MIXED = Cluster(
    nodes=6,
    racks=2,
    map_slots=1,
    reduce_slots=1,
    latency_ms=5,
    group=(NodeGroup(nodes=3, node_type="gpu"),),
)
"""Nodes 6 to 8 are of the type gpu."""


def only(spec: JobSpec, *types: str) -> JobSpec:
    return replace(spec, only_on=types)


JOBS = [
    job(0, maps=8, reduces=2, reduce_ms=500, map_ms=3000),
    only(job(1, maps=8, reduces=2, reduce_ms=500, map_ms=1000), "gpu"),
    job(2, maps=4, map_ms=2000),
]


@pytest.mark.parametrize("policy", PLACEMENTS)
def test_tasks_run_where_they_may_and_nowhere_else(policy: str) -> None:
    run = play(JOBS, policy, cluster=MIXED, tasks=PLAIN)
    assert {each.node for each in run.launches() if each.job == 1} <= {6, 7, 8}
    assert {each.node for each in run.launches() if each.job != 1} - {6, 7, 8}
    assert {each.outcome for each in run.all(JobFinished)} == {Outcome.SUCCEEDED}


def test_reservations_go_only_where_tasks_may_run_be_it_several_to_a_node() -> None:
    run = play(JOBS, "sparrow(constrained=3)", cluster=MIXED, tasks=PLAIN)
    sent = {(each.job, each.stage): each.nodes for each in run.all(ReservationsSent)}
    assert [len(sent[n, MAPS]) for n in (0, 1, 2)] == [16, 24, 8]
    assert {sent[1, MAPS].count(node) for node in (6, 7, 8)} == {8}
    assert set(sent[1, REDUCES]) == {6, 7, 8}


def test_the_ratio_of_others_holds_where_none_is_named() -> None:
    run = play(JOBS, "sparrow(probes=1.05)", cluster=MIXED, tasks=PLAIN)
    assert [len(each.nodes) for each in run.all(ReservationsSent)[:3]] == [9, 9, 5]


def test_a_queue_that_knows_all_serves_others_while_a_job_waits_for_its_nodes() -> None:
    """Job 1 may run on three nodes of nine; the six others are not kept waiting."""
    jobs = [only(job(0, maps=9, map_ms=1000), "gpu"), job(1, maps=6, map_ms=1000)]
    run = play(jobs, PLACEMENTS[-1], cluster=MIXED, tasks=PLAIN)
    ends = {each.job: each.at_ms for each in run.all(JobFinished)}
    assert ends[1] < 1100 < 3000 < ends[0]


def test_a_task_that_failed_on_all_nodes_where_it_may_run_is_tried_there_again() -> None:
    """The other nodes do not count as some on which it has not failed yet."""
    poisoned = replace(job(0, maps=1, map_ms=100), poisoned=((0,), ()))
    run = play([only(poisoned, "gpu")], "sparrow", cluster=MIXED, tasks=PLAIN)
    assert [each.outcome for each in run.all(AttemptEnded)] == [Outcome.FAILED] * 4
    assert [each.outcome for each in run.all(JobFinished)] == [Outcome.FAILED]


@pytest.mark.parametrize("policy", PLACEMENTS[:4])
def test_a_job_waits_for_its_nodes_to_come_back(policy: str) -> None:
    cluster = replace(MIXED, heartbeat=replace(MIXED.heartbeat, expiry_ms=2000))
    script = [
        *(ScheduledFault(500, faults.Crash(node)) for node in (6, 7, 8)),
        ScheduledFault(20_000, faults.Restart(7)),
    ]
    run = play(JOBS, policy, cluster=cluster, tasks=PLAIN, script=script)
    after = {each.node for each in run.launches() if each.job == 1 and each.at_ms > 20_000}
    assert after == {7}
    assert {each.outcome for each in run.all(JobFinished)} == {Outcome.SUCCEEDED}


@pytest.mark.parametrize("policy", ["fifo", "hfsp", "hawk", "eagle", "omega", "mesos", "yarn"])
def test_who_would_run_tasks_anywhere_refuses_them(policy: str) -> None:
    told = 'would run the tasks of job "j1" anywhere, which may run only on "gpu" \\(only_on\\)'
    with pytest.raises(PolicySpecError, match=told):
        play(JOBS, policy, cluster=MIXED)


def test_the_least_time_of_a_job_is_on_its_own_nodes() -> None:
    alone = LoneJobs(MIXED, PLAIN, 1, at_once=True)
    assert [alone.least_ms(each) for each in (job(0, maps=9), only(job(0, maps=9), "gpu"))] == [
        10_010,
        30_030,
    ]


def test_the_rule_looks_at_each_launch_of_such_jobs() -> None:
    checker = Checker()
    spec = replace(spec_of(JOBS, cluster=MIXED, tasks=PLAIN), policy="sparrow")
    Simulation(spec, onlookers=[checker]).run()
    assert {each.rule: each.times for each in checker.report()}["P5"] == 10


def test_p5_catches_a_scheduler_that_takes_no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BookedJob, "allows_node_type", lambda *_: True)
    monkeypatch.setattr(Frontend, "allowed_node_types", lambda *_: ())
    with pytest.raises(Violation) as found:
        play(JOBS, "sparrow", cluster=MIXED, tasks=PLAIN, recount=False)
    assert found.value.rule == "P5"


@pytest.mark.parametrize(
    ("only_on", "told"),
    [
        (["gpu", "tpu"], 'no node is of the type "tpu"'),
        (["bare"], 'no node on which job "job-0" may run has a reduce slot'),
    ],
)
def test_a_constraint_that_no_node_meets_is_refused_when_the_scenario_is_read(
    only_on: list[str], told: str
) -> None:
    groups = [
        {"nodes": 1, "node_type": "gpu"},
        {"nodes": 1, "node_type": "bare", "reduce_slots": 0},
    ]
    one = {"maps": 1, "map_s": 1, "reduces": 1, "reduce_s": 1, "only_on": only_on}
    with pytest.raises(ScenarioError, match=told):
        make_jobs(
            from_dict(
                {
                    "name": "x",
                    "policies": ["sparrow"],
                    "cluster": {"nodes": 1, "racks": 1, "group": groups},
                    "workload": {"kind": "jobs", "job": [one]},
                }
            )
        )
