"""The tables `[[timeline]]`: which nodes they affect, when, and what is refused."""

from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

import msgspec
import pytest

from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Disturb,
    Drain,
    Flaky,
    Hang,
    KillJob,
    NodeFault,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    StickLaunches,
    SwitchPolicy,
)
from callboard.scenarios.scenario_file import from_dict, make_fault_script, make_jobs
from callboard.scheduler.model import Priority
from tests.scenarios.support import error_of, raw

CLUSTER = {"nodes": 12, "racks": 3}


def script(*entries: dict[str, Any], seed: int = 1) -> tuple[ScheduledFault, ...]:
    """What the entries come to on twelve nodes in three racks."""
    return make_fault_script(from_dict(raw(cluster=CLUSTER, timeline=list(entries), seed=seed)))


def node_of(scheduled: ScheduledFault) -> int:
    assert isinstance(scheduled.fault, NodeFault)
    return scheduled.fault.node


def affected(*entries: dict[str, Any], seed: int = 1) -> list[int]:
    return [node_of(each) for each in script(*entries, seed=seed)]


def problem(*entries: dict[str, Any]) -> str:
    error = error_of(lambda: script(*entries))
    return f"{error.key}: {error.problem}"


def crash(nodes: Any = "node-3", **more: Any) -> dict[str, Any]:
    return {"what": "crash", "nodes": nodes, **more}


@pytest.mark.parametrize(
    ("target", "nodes"),
    [
        ("node-3", [3]),
        ("node-1*", [1, 10, 11]),
        ("rack-2", [2, 5, 8, 11]),
        ("all", list(range(12))),
        (["node-7", "rack-1", "node-7"], [1, 4, 7, 10]),
        ("100%", list(range(12))),
        ("99 any", list(range(12))),
    ],
)
def test_whom_a_target_means(target: Any, nodes: list[int]) -> None:
    assert affected({"what": "pause", "nodes": target, "for_s": 1})[: len(nodes)] == nodes


@pytest.mark.parametrize(("target", "number"), [("25%", 3), ("26%", 4), ("1 any", 1), ("0.1 %", 1)])
def test_shares_and_numbers_are_drawn_anew_each_time(target: str, number: int) -> None:
    entry = {"what": "slow", "nodes": target, "factor": 2, "for_s": 5, "every_s": 10, "times": 9}
    begins = [each for each in script(entry) if each.fault == Slow(node_of(each), 2.0)]
    drawn = [
        tuple(node_of(each) for each in begins if each.at_ms == at)
        for at in range(0, 90_000, 10_000)
    ]
    assert {len(nodes) for nodes in drawn} == {number}
    assert len(set(drawn)) > 1
    assert script(entry) == script(entry)
    assert script(entry) != script(entry, seed=2)


def test_draws_leave_out_nodes_that_are_affected_already() -> None:
    named = {"what": "pause", "nodes": ["rack-0", "rack-1"], "at_s": 5, "for_s": 100}
    drawn = {"what": "crash", "nodes": "4 any", "at_s": 50, "for_s": 10}
    crashed = [node_of(s) for s in script(named, drawn) if isinstance(s.fault, Crash)]
    assert crashed == [2, 5, 8, 11]


def test_an_entry_more_changes_no_draw_of_another() -> None:
    drawn = {"what": "slow", "nodes": "3 any", "factor": 3.0}
    more = {"what": "pause", "nodes": "2 any", "for_s": 9}
    assert set(script(drawn)) <= set(script(drawn, more))


def test_each_kind_begins_and_ends() -> None:
    way = LinkConditions(loss=0.1, twice=0.2, delay_ms=1500)
    link = {"what": "link", "nodes": "node-0", "loss": 0.1, "duplicate": 0.2, "delay_s": 1.5}
    others = tuple(range(1, 12))
    assert script(crash("node-0", at_s=1, for_s=2)) == (
        ScheduledFault(1000, Crash(0)),
        ScheduledFault(3000, Restart(0)),
    )
    assert script({"what": "pause", "nodes": "node-0", "for_s": 0.5}) == (
        ScheduledFault(0, PauseNode(0)),
        ScheduledFault(500, ResumeNode(0)),
    )
    assert script({"what": "slow", "nodes": "node-0", "factor": 4, "for_s": 60}) == (
        ScheduledFault(0, Slow(0, 4.0)),
        ScheduledFault(60_000, Slow(0, 1.0)),
    )
    assert script({**link, "way": "up"}) == (ScheduledFault(0, Disturb(0, way, HEALTHY)),)
    assert script({**link, "way": "down"}) == (ScheduledFault(0, Disturb(0, HEALTHY, way)),)
    held = {"what": "link", "nodes": "node-0", "reorder": 0.4, "way": "up", "for_s": 1}
    assert script(held) == (
        ScheduledFault(0, Disturb(0, LinkConditions(reordered=0.4), HEALTHY)),
        ScheduledFault(1000, Disturb(0, HEALTHY, HEALTHY)),
    )
    assert script({"what": "link", "nodes": "node-0", "cut": True, "for_s": 1}) == (
        ScheduledFault(0, Disturb(0, LinkConditions(cut=True), LinkConditions(cut=True))),
        ScheduledFault(1000, Disturb(0, HEALTHY, HEALTHY)),
    )
    assert script({"what": "split", "nodes": "node-0", "for_s": 1}) == (
        ScheduledFault(0, Partition(0, others)),
        ScheduledFault(1000, Partition(0, ())),
    )


@pytest.mark.parametrize(
    ("entry", "begins", "ends"),
    [
        ({"what": "flaky", "failing": 0.3}, Flaky(0, 0.3), Flaky(0, 0.0)),
        ({"what": "flaky", "failing": 1, "progress": 0.5}, Flaky(0, 1.0, 0.5), Flaky(0, 0.0)),
        ({"what": "hang", "hanging": 0.3}, Hang(0, 0.3), Hang(0, 0.0)),
        ({"what": "hang", "hanging": 1, "progress": 0}, Hang(0, 1.0, 0.0), Hang(0, 0.0)),
        ({"what": "stuck", "sticking": 0.3}, StickLaunches(0, 0.3), StickLaunches(0, 0.0)),
    ],
)
def test_what_becomes_of_attempts_begins_and_ends(
    entry: dict[str, Any], begins: AnyFault, ends: AnyFault
) -> None:
    whole = {**entry, "nodes": "node-0", "at_s": 1, "for_s": 2}
    assert script(whole) == (ScheduledFault(1000, begins), ScheduledFault(3000, ends))


def test_nodes_that_join_later_are_off_until_then() -> None:
    add = {"what": "add", "nodes": "rack-0", "at_s": 60, "stagger_s": 5}
    scheduled = script(add)
    assert [s for s in scheduled if s.at_ms == 0] == [
        ScheduledFault(0, Crash(node)) for node in (0, 3, 6, 9)
    ]
    joins = [ScheduledFault(60_000 + 5000 * n, Restart(3 * n)) for n in range(4)]
    assert list(scheduled[4:]) == joins
    drain = {"what": "drain", "nodes": "node-1", "at_s": 5, "for_s": 2}
    assert script(drain) == (
        ScheduledFault(5000, Drain(1, True)),
        ScheduledFault(7000, Drain(1, False)),
    )


def test_entries_that_concern_no_node() -> None:
    pause = {"what": "master-pause", "at_s": 5, "for_s": 10}
    restart = {"what": "master-restart", "at_s": 7, "recover": True}
    policy = {"what": "policy", "at_s": 9, "policy": "fair"}
    assert script(pause, restart, policy) == (
        ScheduledFault(5000, PauseMaster()),
        ScheduledFault(7000, RestartMaster(recover=True)),
        ScheduledFault(9000, SwitchPolicy("fair")),
        ScheduledFault(15_000, ResumeMaster()),
    )
    assert "the master is affected by timeline[0] already at 8 s" in problem(
        pause, {"what": "master-pause", "at_s": 8, "for_s": 1}
    )


def test_a_job_that_is_killed_goes_by_its_name() -> None:
    scenario = from_dict(
        raw(
            workload={"kind": "jobs", "job": [{"maps": 1, "map_s": 1, "name": "report"}]},
            timeline=[{"what": "kill-job", "job": "report", "at_s": 3}],
        )
    )
    assert make_fault_script(scenario, make_jobs(scenario)) == (ScheduledFault(3000, KillJob(0)),)
    wrong = msgspec.structs.replace(scenario, workload=from_dict(raw()).workload)
    error = error_of(lambda: make_fault_script(wrong, make_jobs(wrong)))
    assert error.key == "timeline[0].job"
    assert 'no job is called "report"' in error.problem


@pytest.mark.parametrize("job", ["1", "job-1", "report", "rep*"])
def test_a_job_goes_by_its_number_its_name_or_a_pattern(job: str) -> None:
    jobs = [{"maps": 1, "map_s": 1}, {"maps": 1, "map_s": 1, "at_s": 1, "name": "report"}]
    timeline = [{"what": "kill-job", "job": job, "at_s": 3}]
    scenario = from_dict(raw(workload={"kind": "jobs", "job": jobs}, timeline=timeline))
    assert make_fault_script(scenario, make_jobs(scenario)) == (ScheduledFault(3000, KillJob(1)),)


@pytest.mark.parametrize(
    ("name", "jobs"), [("etl-2", [1]), ("etl-*", [0, 1]), ("*", [0, 1, 2]), ("[a-q]*", [0, 1])]
)
def test_what_befalls_jobs_goes_by_names_and_patterns(name: str, jobs: list[int]) -> None:
    listed = [{"maps": 1, "map_s": 1, "name": each} for each in ("etl-1", "etl-2", "report")]
    timeline = [
        {"what": "priority", "job": name, "priority": "very_high", "at_s": 1},
        {"what": "pool", "job": name, "pool": "ads", "at_s": 2},
    ]
    scenario = from_dict(raw(workload={"kind": "jobs", "job": listed}, timeline=timeline))
    assert make_fault_script(scenario, make_jobs(scenario)) == (
        *(ScheduledFault(1000, SetPriority(job, Priority.VERY_HIGH)) for job in jobs),
        *(ScheduledFault(2000, SetPool(job, "ads")) for job in jobs),
    )


def test_one_thing_is_not_set_twice_at_one_moment() -> None:
    jobs = [{"maps": 1, "map_s": 1, "name": each} for each in ("etl-1", "etl-2")]
    set_ = {"what": "priority", "job": "etl-1", "priority": "high", "at_s": 5}

    def refusal(*timeline: dict[str, Any]) -> str:
        workload = {"kind": "jobs", "job": jobs}
        scenario = from_dict(raw(cluster=CLUSTER, workload=workload, timeline=list(timeline)))
        error = error_of(lambda: make_fault_script(scenario, make_jobs(scenario)))
        return f"{error.key}: {error.problem}"

    assert refusal(set_, {**set_, "job": "etl*", "priority": "low"}) == (
        'timeline[1].at_s: the priority of job "etl-1" is set by timeline[0] already at 5 s;'
        " let one end before the other begins"
    )
    pool = {"what": "pool", "job": "etl-2", "pool": "a", "at_s": 5, "times": 2, "every_s": 9}
    assert "the pool of job" in refusal(set_, pool, {**pool, "at_s": 14, "times": 1})
    assert "timeline[1].at_s: the policy is set" in problem(
        {"what": "policy", "policy": "fair", "at_s": 7},
        {"what": "policy", "policy": "hfsp", "at_s": 7},
    )


@pytest.mark.soak
def test_patterns_of_many_jobs_many_times_are_refused() -> None:
    listed = [{"maps": 1, "map_s": 1, "count": 1000}]
    entry = {"what": "pool", "job": "*", "pool": "a", "times": 201, "every_s": 1}
    scenario = from_dict(raw(workload={"kind": "jobs", "job": listed}, timeline=[entry]))
    error = error_of(lambda: make_fault_script(scenario, make_jobs(scenario)))
    assert "more than 200,000 faults" in error.problem


def test_nothing_lasts_for_no_time() -> None:
    """Or what begins would never end: of one instant ends come first."""
    short = {"what": "pause", "nodes": "node-0", "at_s": 1, "for_s": 0.0001}
    assert script(short) == (
        ScheduledFault(1000, PauseNode(0)),
        ScheduledFault(1001, ResumeNode(0)),
    )
    add = {"what": "add", "nodes": "node-0", "at_s": 0.0001}
    assert script(add) == (ScheduledFault(0, Crash(0)), ScheduledFault(1, Restart(0)))


def test_a_burst_brings_jobs_beside_the_workloads_which_keep_their_numbers() -> None:
    listed = [{"maps": 1, "map_s": 1, "name": "first"}, {"maps": 1, "map_s": 1, "at_s": 500}]
    more = {"maps": 2, "map_s": 3, "at_s": 1, "count": 2, "every_s": 5, "user": "eve"}
    burst = {"what": "burst", "at_s": 100, "times": 2, "every_s": 60, "job": more}
    workload = {"kind": "jobs", "job": listed}
    scenario = from_dict(raw(workload=workload, timeline=[burst]))
    jobs = make_jobs(scenario)
    assert [(job.job, job.name, job.submit_ms) for job in jobs] == [
        (0, "first", 0),
        (2, "job-2", 101_000),
        (3, "job-3", 106_000),
        (4, "job-4", 161_000),
        (5, "job-5", 166_000),
        (1, "job-1", 500_000),
    ]
    assert make_fault_script(scenario, jobs) == ()
    again = {**burst, "times": 1, "job": {**more, "count": 1, "name": "first"}}
    clash = from_dict(raw(workload=workload, timeline=[again]))
    error = error_of(lambda: make_jobs(clash))
    assert error.key == "timeline[0].job.name"
    assert 'a second job is called "first"' in error.problem


LAWS: list[tuple[dict[str, Any], float, float]] = [
    ({"law": "uniform", "shortest_s": 100, "longest_s": 300}, 200, 100 / 3**0.5),
    ({"law": "exponential", "mean_s": 60}, 60, 60),
    ({"law": "weibull", "mean_s": 60, "shape": 1}, 60, 60),
    ({"law": "weibull", "mean_s": 60, "shape": 2}, 60, 31.4),
    ({"law": "lognormal", "median_s": 60, "sigma": 0}, 60, 0),
    ({"law": "lognormal", "median_s": 60, "sigma": 0.5}, 68, 36.2),
]
"""With mean and standard deviation."""


def lengths(law: dict[str, Any]) -> list[float]:
    """How long 400 pauses drawn by a law last, in seconds."""
    entry = {"what": "pause", "nodes": "rack-0", "for_s": law, "times": 100, "every_s": 90_000}
    scheduled = script(entry)
    begins = {(node_of(s), s.at_ms): 0 for s in scheduled if isinstance(s.fault, PauseNode)}
    ends = sorted((node_of(s), s.at_ms) for s in scheduled if isinstance(s.fault, ResumeNode))
    return [(end[1] - begin[1]) / 1000 for begin, end in zip(sorted(begins), ends, strict=True)]


@pytest.mark.parametrize(("law", "mean", "deviation"), LAWS)
def test_times_drawn_from_named_distributions_have_their_mean_and_spread(
    law: dict[str, Any], mean: float, deviation: float
) -> None:
    """Mean and spread of 400 draws, with an error of 4 σ / √n of the mean; each node and each time
    has its own.
    """
    drawn = lengths(law)
    assert len(drawn) == 400
    assert fmean(drawn) == pytest.approx(mean, abs=max(4 * deviation / 400**0.5, 1e-3))
    assert pstdev(drawn) == pytest.approx(deviation, rel=0.25, abs=1e-3)
    assert len(set(drawn)) == (1 if not deviation else 400)


def test_a_beginning_and_gaps_may_be_drawn() -> None:
    law = {"law": "uniform", "shortest_s": 10, "longest_s": 20}
    pause = {"what": "pause", "nodes": "node-0", "for_s": 1}
    (begin, _) = script({**pause, "at_s": law})
    assert 10_000 <= begin.at_ms <= 20_000
    later = script(crash("node-1", at_s=100), {**pause, "after_s": law})
    assert 110_000 <= later[1].at_ms <= 120_000
    begins = [s.at_ms for s in script({**pause, "every_s": law, "times": 50})[::2]]
    gaps = [after - before for before, after in pairwise(begins)]
    assert len(set(gaps)) == 49
    assert 10_000 <= min(gaps) < max(gaps) <= 20_000


def test_an_exponential_gap_is_the_law_of_that_name() -> None:
    entry = {"what": "pause", "nodes": "node-0", "for_s": 0.001, "times": 20}
    short = {**entry, "every_s": 600, "gaps": "exponential"}
    assert script(short) == script({**entry, "every_s": {"law": "exponential", "mean_s": 600}})


def test_a_law_that_makes_no_sense_is_refused() -> None:
    pause = {"what": "pause", "nodes": "node-0", "for_s": 1}
    swapped = {"law": "uniform", "shortest_s": 2, "longest_s": 1}
    assert problem({**pause, "at_s": swapped}) == (
        "timeline[0].at_s: `longest_s` is less than `shortest_s`; exchange them"
    )
    twice = {**pause, "every_s": swapped | {"longest_s": 3}, "gaps": "exponential", "times": 2}
    assert problem(twice).startswith("timeline[0].gaps: `every_s` says by what law")
    unknown = problem({**pause, "at_s": {"law": "gauss", "mean_s": 1}})
    assert unknown.startswith('timeline[0].at_s.law: expected one of "uniform", ')
    assert 'got "gauss"' in unknown
    assert problem({**pause, "what": "paues"}).endswith('got "paues"; did you mean "pause"?')
    assert problem({**pause, "at_s": {"law": "exponential"}}) == (
        "timeline[0].at_s.mean_s: this field is required and missing"
    )
    assert "did you mean `mean_s`" in problem({**pause, "at_s": {"law": "exponential", "mean": 1}})


def test_a_split_may_be_between_some_nodes_only() -> None:
    entry = {"what": "split", "nodes": "rack-0", "others": ["node-1", "node-4"], "for_s": 1}
    begins = [s.fault for s in script(entry) if s.at_ms == 0]
    assert begins == [Partition(node, (1, 4)) for node in (0, 3, 6, 9)]
    assert "no node is split from another" in problem({**entry, "nodes": "all"})
    assert "no node is split" in problem({"what": "split", "nodes": "all", "for_s": 1})
    assert '"node-99" is no node' in problem({**entry, "others": "node-99"})


def test_when_absolute_relative_repeated_staggered() -> None:
    first = {"what": "pause", "nodes": "node-0", "for_s": 1, "at_s": 100}
    second = {"what": "pause", "nodes": "node-1", "for_s": 1, "after_s": 5}
    third = {"what": "pause", "nodes": "node-2", "for_s": 1, "every_s": 10, "times": 3}
    begins = [
        (s.at_ms, node_of(s))
        for s in script(first, second, third)
        if s.fault == PauseNode(node_of(s))
    ]
    assert begins == [(100_000, 0), (105_000, 1), (105_000, 2), (115_000, 2), (125_000, 2)]
    rolling = crash("rack-0", at_s=60, for_s=30, stagger_s=60)
    begins = [(s.at_ms, node_of(s)) for s in script(rolling) if isinstance(s.fault, Crash)]
    assert begins == [(60_000, 0), (120_000, 3), (180_000, 6), (240_000, 9)]


def test_drawn_gaps_have_their_mean() -> None:
    entry = {
        "what": "pause",
        "nodes": "1 any",
        "for_s": 0.001,
        "every_s": 60,
        "gaps": "exponential",
        "times": 2000,
    }
    begins = [s.at_ms for s in script(entry) if isinstance(s.fault, PauseNode)]
    assert begins == sorted(begins)
    mean_s = begins[-1] / 1999 / 1000
    assert abs(mean_s - 60) < 4 * 60 / 1999**0.5


def test_of_one_instant_what_ends_goes_before_what_begins() -> None:
    twice = crash("node-0", for_s=10, every_s=10, times=2)
    assert script(twice)[1:3] == (
        ScheduledFault(10_000, Restart(0)),
        ScheduledFault(10_000, Crash(0)),
    )


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([crash("node-12")], 'timeline[0].nodes: "node-12" is no node of this cluster'),
        ([crash("0%")], 'timeline[0].nodes: "0%" is no node'),
        ([crash("0 any")], 'timeline[0].nodes: "0 any" is no node'),
        ([crash("all") | {"nodes": []}], "timeline[0].nodes: no node is named"),
        ([crash("rack-3")], "rack-0 to rack-2"),
        ([crash("nod-1")], "expected a name, a pattern such as `node-1*`"),
        ([crash(at_s=5), crash(at_s=9, for_s=2)], "affected by timeline[0] already at 9 s"),
        (
            [crash(at_s=9, for_s=2), crash(at_s=5, for_s=4.1)],
            "timeline[1].nodes: node-3 is affected",
        ),
        ([crash(for_s=20, every_s=10, times=2)], "node-3 is affected by timeline[0] already"),
        ([crash("all")], "every node with a map slot would be gone for ever"),
        ([{"what": "link", "nodes": "all", "cut": True}], "gone for ever"),
        ([{"what": "add", "nodes": "node-1"}], "need no entry; say when"),
        ([{"what": "add", "nodes": "10%", "at_s": 9}], "have to be named, not drawn"),
        ([{"what": "add", "nodes": "node-1", "at_s": 9, "for_s": 9}], "a node joins once"),
        ([{"what": "drain", "nodes": "all"}], "gone for ever"),
        ([{"what": "link", "nodes": "all", "loss": 1, "way": "up"}], "gone for ever"),
        ([crash(at_s=1, after_s=1)], "timeline[0].after_s: `at_s` and `after_s` both say when"),
        ([crash(times=2)], "`times` without `every_s`"),
        ([crash(for_s=1, every_s=9, times=200_000)], "may be 200,000 in all entries"),
        ([crash(for_s=1, every_s=9, times=9000)] * 2, "timeline[1].times: this is too much"),
        ([crash(["1 any"] * 84, for_s=1, every_s=9, times=1000)], "come to 1,008,000 here"),
        ([{"what": "link", "nodes": "node-0"}], "nothing happens"),
        ([{"what": "link", "nodes": "node-0", "cut": True, "loss": 0.1}], "a link that is cut"),
        (
            [{"what": "crush", "nodes": "node-0"}],
            'one of "crash", "pause", "slow", "link"',
        ),
        ([{"what": "pause", "nodes": "node-0"}], "for_s: this field is required"),
        ([{"what": "slow", "nodes": "node-0", "factor": 0}], "factor: expected a number"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    entries: list[dict[str, Any]], says: str
) -> None:
    assert says in problem(*entries)


def test_two_things_of_different_sort_may_befall_a_node_at_once() -> None:
    slow = {"what": "slow", "nodes": "node-3", "factor": 2}
    assert len(script(crash(for_s=5), slow, {"what": "link", "nodes": "node-3", "loss": 0.5})) == 4


def test_what_is_only_bad_may_befall_all_nodes_for_ever() -> None:
    """A link that loses some messages delivers others, and slow nodes work."""
    lossy = {"what": "link", "nodes": "all", "loss": 0.9, "delay_s": 9}
    assert len(script(lossy, {"what": "slow", "nodes": "all", "factor": 9})) == 24


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"poisoned_maps": [3]}, "poisoned_maps: the job has no number 3: its maps are 0 to 2"),
        ({"hanging_reduces": [0]}, "hanging_reduces: the job has no number 0: it has no reduces"),
        ({"poisoned_maps": [1, 2], "hanging_maps": [2]}, "hanging_maps: number 2 is poisoned, so"),
        ({"fails_at": 0.5}, "fails_at: no task is poisoned or hangs"),
    ],
)
def test_tasks_that_are_not_there_or_cannot_be_so_are_refused(
    fields: dict[str, Any], says: str
) -> None:
    jobs = [{"maps": 3, "map_s": 1, **fields}]
    error = error_of(lambda: from_dict(raw(workload={"kind": "jobs", "job": jobs})))
    assert f"{error.key}: {error.problem}".startswith(f"workload.job[0].{says}")
    burst = {"what": "burst", "at_s": 1, "job": jobs[0]}
    error = error_of(lambda: make_jobs(from_dict(raw(timeline=[burst]))))
    assert f"{error.key}: {error.problem}".startswith(f"timeline[0].job.{says}")
