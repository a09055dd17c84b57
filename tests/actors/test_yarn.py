"""YARN's actors: what a resource manager, node managers and applications' masters do together."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.actors.topology import Topology
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.yarn.container_asks import REDUCE_PRIORITY, ContainerAsks
from callboard.actors.yarn.yarn_params import FALLBACK_QUEUE, YarnQueueParams
from callboard.actors.yarn.yarn_queues import QueueTree
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.scheduler.model import REDUCES
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.reasons import Reason


def played(name: str, policy: str, *overrides: str) -> Sequence[AnyEvent]:
    """The events of a scenario of the library, every rule checked."""
    events: list[AnyEvent] = []
    checker = Checker()
    spec = msgspec.structs.replace(load_run(name, overrides), policy=policy)
    Simulation(spec, [events.append], onlookers=[checker]).run()
    return events


@pytest.mark.soak
def test_a_master_and_the_resource_manager_may_both_have_a_container_ended() -> None:
    """The monitor takes containers back, a master stops reduces that its maps wait for; neither
    knows of the other's order until the node has told of the end.
    """
    world = ("seed=19", "tasks.slowstart=0.05", "cluster.nodes=3", "cluster.latency_ms=900")
    events = played("yarn-queues", "yarn(monitor=true,natural_termination=1)", *world)
    orders = [each for each in events if isinstance(each, ev.KillOrdered)]
    twice = {
        attempt for attempt, number in Counter(e.attempt for e in orders).items() if number > 1
    }
    assert twice
    for attempt in twice:
        reasons = [each.why.reason for each in orders if each.attempt == attempt]
        assert sorted(reasons) == [Reason.MAPS_WAIT, Reason.OVER_CAPACITY]
    reclaimed = [each for each in orders if each.why.reason is Reason.OVER_CAPACITY]
    ended_ms = {each.attempt: each.at_ms for each in events if isinstance(each, ev.AttemptEnded)}
    assert all(each.at_ms == ended_ms[each.attempt] for each in reclaimed), "none comes too late"


@pytest.mark.parametrize(
    ("policy", "held"),
    [
        ('yarn(scheduler="drf",am={memory=0})', (3, 2)),  # as printed (DRF, §4.1)
        ('yarn(scheduler="drf",am={memory=0},assignments=9)', (3, 2)),
        ('yarn(scheduler="drf")', (2, 1)),  # beside a master each
        ("yarn(am={memory=0})", (4, 1)),
    ],
)
def test_the_worked_example_of_dominant_shares(policy: str, held: tuple[int, int]) -> None:
    launched = [
        each
        for each in played("drf-example", policy)
        if isinstance(each, ev.AttemptLaunched) and each.at_ms < 60_000
    ]
    assert tuple(sum(each.job == job for each in launched) for job in (0, 1)) == held


def test_a_container_goes_to_whoever_has_the_smaller_dominant_share() -> None:
    """DRF, Table 1, in another order of the first two: the score is what the queue held before."""
    events = played("drf-example", 'yarn(scheduler="drf",am={memory=0})')
    launched = [each for each in events if isinstance(each, ev.AttemptLaunched)][:5]
    assert [(each.job, round(9 * each.why.score)) for each in launched] == [
        *((0, 0), (1, 0), (0, 2), (1, 3), (0, 4))
    ]


def test_queues_that_nobody_has_stated_are_made_at_any_depth() -> None:
    """Those of the Fair Scheduler, with all above them."""
    pools = [f'workload.job.{n}.pool="{pool}"' for n, pool in enumerate(("x/y/a", "x/b"))]
    events = played("drf-example", 'yarn(scheduler="fair")', *pools)
    assert sum(isinstance(each, ev.JobFinished) for each in events) == 2


@pytest.mark.parametrize("pool", ["root.prod.new", "prod.new", "prod/new"])
def test_a_new_queue_is_made_where_its_path_says(pool: str) -> None:
    """QueueManager.ensureRootPrefix: however it is written, `new` has its share of `prod`'s."""
    tree = QueueTree({"prod/etl": YarnQueueParams()}, open_ended=True)
    made = tree.leaf(pool)
    assert (made.path, made.parent) == ("prod/new", tree.leaf("root.prod.etl").parent)


@pytest.mark.parametrize("open_ended", [True, False])
def test_the_root_alone_names_no_queue(open_ended: bool) -> None:
    assert QueueTree({}, open_ended=open_ended).leaf("root").path == FALLBACK_QUEUE


def test_a_pool_falls_into_no_queue_that_another_pool_has_made() -> None:
    """QueueManager.ensureRootPrefix: `etl` is `root.etl`, whichever pool comes first."""
    for pools in (("prod.etl", "etl"), ("etl", "prod.etl")):
        tree = QueueTree({}, open_ended=True)
        assert {tree.leaf(pool).path for pool in pools} == {"etl", "prod/etl"}


def test_a_pool_that_can_be_no_queue_is_told_as_it_is_written() -> None:
    tree = QueueTree({}, open_ended=True)
    tree.leaf("john.doe")
    with pytest.raises(ValueError, match="pool `john` is a queue with `john/doe` below it"):
        tree.leaf("john")
    with pytest.raises(ValueError, match=r"pool `a\.\.b` is no path of a queue"):
        tree.leaf("a..b")


def test_a_queue_with_queues_below_it_has_no_jobs_of_its_own() -> None:
    """Whichever of the jobs comes first: nothing has run by then."""
    for pools in (("x", "x/y"), ("x/y", "x")):
        named = [f'workload.job.{n}.pool="{pool}"' for n, pool in enumerate(pools)]
        with pytest.raises(PolicySpecError, match="pool `x` is a queue with `x/y` below it"):
            played("drf-example", 'yarn(scheduler="fair")', *named)


def test_a_master_tells_its_count_again_once_it_has_been_given_a_container() -> None:
    """A count that was on its way may have hidden the grant (RMContainerRequestor)."""
    asks = ContainerAsks(Topology(racks=1))
    asks.demands[REDUCES] = (1000,)
    assert [each.anywhere for each in asks.changes({REDUCE_PRIORITY: 3})] == [3]
    asks.granted(REDUCE_PRIORITY, 0)
    assert [each.anywhere for each in asks.changes({REDUCE_PRIORITY: 2})] == [2]
    assert list(asks.changes({REDUCE_PRIORITY: 2})) == []


def test_what_reads_nothing_waits_for_no_node_under_the_fair_scheduler() -> None:
    """A master's container goes to the first node that has room for it (YARN-2990)."""
    by_threshold = []
    for threshold in (-1, 1):
        thresholds = f"node_threshold={threshold},rack_threshold={threshold}"
        events = played("two-jobs", f'yarn(scheduler="fair",{thresholds})')
        by_threshold.append(next(e.at_ms for e in events if isinstance(e, ev.AttemptLaunched)))
    assert by_threshold[0] == by_threshold[1]


@pytest.mark.parametrize("alone", ["node_threshold=1", "rack_threshold=1"])
def test_with_one_threshold_alone_the_fair_scheduler_delays_nothing(alone: str) -> None:
    """FSAppAttempt.getAllowedLocalityLevel: either below 0 turns delay scheduling off."""
    events = played("two-jobs", f'yarn(scheduler="fair",{alone})')
    assert events[1:] == played("two-jobs", 'yarn(scheduler="fair")')[1:]


APART = """
name = "apart"
[cluster]
nodes = 3
racks = 1
map_slots = 1
reduce_slots = 1
latency_ms = {latency}
[cluster.heartbeat]
phase_grid_ms = {grid}
[workload]
kind = "jobs"
[[workload.job]]
name = "first"
maps = 2
map_s = 5.0
reduces = 1
[[workload.job]]
name = "later"
at_s = {apart}
maps = 2
map_s = 5.0
"""


SELDOM = "yarn(node_heartbeat=15)"


def told_of(path: Path, policy: str = SELDOM, **how: Any) -> tuple[list[AnyEvent], Simulation]:
    """A run's events but for its first, which has all of the scenario."""
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(load_run(str(path)), policy=policy, **how)
    run = Simulation(spec, [events.append])
    run.run()
    return events[1:], run


@pytest.mark.parametrize(("latency", "grid"), [(1, 1), (0, 1), (250, 500), (999, 1)])
@pytest.mark.parametrize("apart", [30_000.0, 30_000.003, 29_999.5, 60_000.25])
def test_idle_heartbeats_are_left_out_and_all_happens_as_with_them(
    tmp_path: Path, latency: int, grid: int, apart: float
) -> None:
    """Jobs that are hours apart: what is played is some two hours of heartbeats less."""
    path, tie_order = tmp_path / "apart.toml", 5 if grid > 1 else None
    text = APART.format(latency=latency, grid=grid, apart=apart)
    path.write_text(text, encoding="utf-8")
    (*told, ended), run = told_of(path, tie_order=tie_order)
    path.write_text(text.replace("phase_grid", 'send = "all"\nphase_grid'), encoding="utf-8")
    (*wanted, whole), every = told_of(path, tie_order=tie_order)
    assert told == wanted
    assert ended.at_ms == whole.at_ms
    assert run.kernel.messages < 0.6 * every.kernel.messages


def test_idle_heartbeats_end_where_the_run_is_to_end(tmp_path: Path) -> None:
    path = tmp_path / "apart.toml"
    path.write_text(APART.format(latency=1, grid=1, apart=3e6), encoding="utf-8")
    told, run = told_of(path, until_ms=1_000_000_000)
    assert (told[-1].at_ms, run.kernel.reason) == (1_000_000_000, "until")
    assert run.kernel.messages < 10_000


def test_rounds_of_the_monitor_are_not_left_out(tmp_path: Path) -> None:
    path = tmp_path / "apart.toml"
    path.write_text(APART.format(latency=1, grid=1, apart=3e4), encoding="utf-8")
    told, run = told_of(path)
    with_monitor, every = told_of(path, "yarn(node_heartbeat=15,monitor=true)")
    assert told[-1].at_ms == with_monitor[-1].at_ms
    assert run.kernel.messages < every.kernel.messages
