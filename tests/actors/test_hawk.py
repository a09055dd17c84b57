"""Hawk (ATC 2015) and Eagle (SoCC 2016): what is placed, probed, refused, stolen, served first."""

import tracemalloc
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster, Tasks
from callboard.actors.hawk.hawk import Eagle, Hawk
from callboard.actors.hawk.hawk_messages import (
    LongPlaced,
    ProbeRejected,
    RedrawDue,
    ShortProbe,
    Steal,
    Stolen,
    TasksLeft,
    is_marked,
    node_bitmap,
)
from callboard.actors.hawk.hawk_params import EagleParams
from callboard.actors.hawk.held_reservations import behind_long, place_with_least_left
from callboard.actors.hawk.long_scheduler import LongScheduler
from callboard.actors.hawk.long_waits import LongWaits
from callboard.actors.hawk.mixed_queues import MixedQueues
from callboard.actors.hawk.probe_draws import ProbeDraws
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.hawk.short_scheduler import ROUNDS, ShortScheduler
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.sparrow.draws import Draws
from callboard.actors.sparrow.probe_messages import CancelTaskReservations, GetTask, NoTask
from callboard.actors.sparrow.reservations import HeldReservations, Reservation
from callboard.actors.sparrow.sparrow import Sparrow, SparrowParams
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    AttemptStarted,
    NodeFacts,
    Outcome,
    RunStarted,
)
from callboard.actors.vocabulary.messages import (
    EndReport,
    JobProfile,
    LaunchTask,
    MapWork,
    SubmitStage,
)
from callboard.actors.worker.node import Node
from callboard.actors.world import World
from callboard.experiments.run.plugins import canonical_policy, load_architecture
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.scheduler.model import MAP, MAPS, JobId, Locality, NodeId, Priority, Stage
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.reasons import Reason, Why
from tests.support.outbox import Outbox, Sent
from tests.support.world import job, play, spec_of

PLAIN = Tasks(rack_factor=1, off_rack_factor=1)


def cluster(nodes: int = 12, slots: int = 1) -> Cluster:
    return Cluster(nodes=nodes, racks=1, map_slots=slots, reduce_slots=slots, latency_ms=5)


def mixed(long: int = 4, short: int = 40) -> list[JobSpec]:
    """Long jobs of a hundred seconds a task and short ones of five to eleven."""
    longs = [job(n, maps=5, map_ms=100_000, submit_ms=30_000 * n) for n in range(long)]
    shorts = [
        job(long + n, maps=1 + n % 6, map_ms=5000 + 1000 * (n % 7), submit_ms=3001 * n)
        for n in range(short)
    ]
    last = job(long + short, maps=1, map_ms=10_000, submit_ms=900_000)
    return sorted([*longs, *shorts, last], key=lambda each: each.submit_ms)


LONG = "cutoff=50,short=25%"
"""A job whose tasks take 50 s or more is long, and three of twelve nodes are closed to it."""


class Delivered(Onlooker, Probe):
    """What is delivered to schedulers and nodes: when, to whom, what."""

    def __init__(self) -> None:
        self.mail: list[tuple[int, str, Any]] = []

    def begin(self, kernel: Kernel[AnyEvent], architecture: Architecture) -> None:
        for address, actor in list(kernel.actors.items()):
            if isinstance(actor, Node) or address in architecture.schedulers():
                kernel.probe(address, self)

    def before_message(self, actor: Any, message: Any) -> None:
        self.mail.append((actor.now_ms, actor.name, message))

    def of(self, *kinds: type) -> list[Any]:
        return [message for _, _, message in self.mail if isinstance(message, kinds)]


def watched(
    jobs: Sequence[JobSpec], policy: str | Architecture, nodes: int = 12, slots: int = 1
) -> tuple[Delivered, list[AnyEvent], Simulation]:
    """A run that is held against the rules, and what was said in it."""
    made = load_architecture(policy) if isinstance(policy, str) else policy
    delivered, events = Delivered(), list[AnyEvent]()
    spec = spec_of(jobs, cluster=cluster(nodes, slots), tasks=PLAIN)
    onlookers = [Checker(), delivered]
    simulation = Simulation(spec, [events.append], architecture=made, onlookers=onlookers)
    simulation.run()
    return delivered, events, simulation


# Where tasks go.


@pytest.mark.parametrize(
    "policy", [f"hawk({LONG})", f"hawk({LONG},central=false)", f"eagle({LONG})"]
)
def test_no_long_task_runs_where_they_may_not_go(policy: str) -> None:
    jobs = mixed()
    long = {each.job for each in jobs if each.map_ms > 50_000}
    run = play(jobs, policy, cluster=cluster(), tasks=PLAIN)
    of_long = [each.node for each in run.launches() if each.job in long]
    assert len(of_long) == 20
    assert min(of_long) >= 3
    assert {each.node for each in run.launches() if each.job not in long} & {0, 1, 2}


def test_the_closed_part_is_a_share_that_is_exact_and_rounded_down() -> None:
    """In binary 0.29 of a hundred is less than 29; nodes without such slots do not count."""
    nodes = [NodeFacts(n, 0, 1, n % 2, 1.0) for n in range(100)]
    part = ShortPartition(nodes, 0.29)
    assert len(part.nodes_closed_to_long(MAP)) == 29
    assert len(part.nodes_open_to_long(MAP)) == 71


def test_a_job_is_long_by_the_mean_of_all_its_tasks() -> None:
    """One map of 80 s and three reduces of 30 s: 42.5 s on average."""
    spec = job(0, maps=1, map_ms=80_000, reduces=3, shuffle_ms=10_000, reduce_ms=20_000)
    reasons = {}
    for cutoff in (42.5, 42.6):
        run = play([spec], f"hawk(cutoff={cutoff})", cluster=cluster())
        reasons[cutoff] = {each.why for each in run.launches()}
    assert reasons[42.5] == {Why(Reason.LEAST_WAIT, "hawk")}
    assert reasons[42.6] == {Why(Reason.RESERVATION, "hawk")}


def waits(slots: int = 1, nodes: int = 4) -> LongWaits:
    facts = {n: NodeFacts(n, 0, slots, 0, 1.0) for n in range(nodes)}
    return LongWaits(facts, list(facts), MAP, latency_ms=5)


def test_long_tasks_go_to_nodes_without_any_then_where_the_wait_is_least() -> None:
    """ATC 2015, §3.6; a wait is less by what the task that runs has run, and more by the time in
    which it was asked for.
    """
    book, all_nodes = waits(), [0, 1, 2, 3]
    assert book.nodes_for_tasks(2, 100, 0, all_nodes) == [0, 1]
    assert book.nodes_for_tasks(3, 300, 0, all_nodes) == [2, 3, 0]  # 0 and 1 wait for 100
    book.begin_task(1, 7, 100, now_ms=15)  # it asked at 10
    # Waits at 60: 400, 100 + 10 − 50, 300, 300.
    assert book.nodes_for_tasks(3, 150, 60, all_nodes) == [1, 1, 2]
    book.remove_tasks(1, 100, attempt=7)
    assert book.nodes_for_tasks(1, 10, 70, [0, 1]) == [1]  # 400 against 300
    assert sorted(book.busy_nodes()) == all_nodes
    book.remove_tasks(1, 150, tasks=2)
    book.remove_tasks(1, 10)
    assert sorted(book.busy_nodes()) == [0, 2, 3]


@pytest.mark.parametrize(("other_ms", "node"), [(55, 1), (59, 1), (61, 0), (64, 0)])
def test_a_wait_counts_the_round_trip_and_what_has_run_since_the_question(
    other_ms: int, node: NodeId
) -> None:
    """At 60 node 0 waits for 100 + 10 − 50: its task was asked for at 10, and given at 15."""
    book = waits(nodes=2)
    book.nodes_for_tasks(1, 100, 0, [0])
    book.begin_task(0, 7, 100, now_ms=15)
    book.nodes_for_tasks(1, other_ms, 20, [1])
    assert book.nodes_for_tasks(1, 10, 60, [0, 1]) == [node]


def test_a_long_task_that_has_failed_is_placed_elsewhere_at_once() -> None:
    """Its node is the one without long work again, and would be chosen."""
    jobs, script = [job(0, maps=1)], [ScheduledFault(1, faults.Flaky(0, 1.0))]
    delivered = Delivered()
    spec = replace(spec_of(jobs, cluster=cluster(4), tasks=PLAIN), script=tuple(script))
    hawk = load_architecture("hawk(cutoff=1,short=0)")
    Simulation(spec, architecture=hawk, onlookers=[Checker(), delivered]).run()
    placed = [to for _, to, message in delivered.mail if isinstance(message, LongPlaced)]
    assert placed == ["node 0", "node 1"]


@pytest.mark.parametrize("at_ms", [3, 5, 8, 12, 17, 5000])
def test_a_killed_long_job_leaves_no_wait_behind(at_ms: int) -> None:
    """Whether its tasks are placed, asked for, given or run."""
    jobs = [job(0, maps=6), job(1, maps=1, submit_ms=60_000)]
    script = (ScheduledFault(at_ms, faults.KillJob(0)),)
    spec = replace(spec_of(jobs, cluster=cluster(4), tasks=PLAIN), script=script)
    hawk = load_architecture("hawk(cutoff=1,short=0)")
    Simulation(spec, architecture=hawk, onlookers=[Checker()]).run()
    assert isinstance(hawk, Hawk)
    (long,) = [each for each in hawk.frontends if isinstance(each, LongScheduler)]
    work = long._waits[MAP]._work.values()
    assert [(each.tasks, each.estimated_ms, each.begun) for each in work] == [(0, 0, {})] * 4


def test_of_equal_waits_that_which_was_chosen_last_goes_on() -> None:
    """As in the released simulator."""
    book = waits(nodes=2)
    book.nodes_for_tasks(2, 100, 0, [0, 1])
    assert book.nodes_for_tasks(4, 50, 0, [0, 1]) == [0, 1, 1, 0]


def test_a_node_with_several_slots_shares_its_long_work_among_them() -> None:
    book = waits(slots=2, nodes=2)
    assert book.nodes_for_tasks(5, 100, 0, [0, 1]) == [0, 1, 0, 1, 0]
    assert book.nodes_for_tasks(1, 100, 0, [0, 1]) == [1]  # (3 · 100) / 2 against (2 · 100) / 2


# Probes that are refused.


def test_a_bitmap_marks_the_nodes_that_it_is_made_of() -> None:
    bitmap = node_bitmap([0, 9, 17])
    assert len(bitmap) == 3
    assert [node for node in range(40) if is_marked(bitmap, node)] == [0, 9, 17]


def test_what_is_refused_is_drawn_anew_and_goes_to_the_closed_nodes_at_last() -> None:
    """All nodes but the closed ones have long work, so that every probe that reaches one of them
    comes back with a bitmap; rounds are a round trip apart (SoCC 2016, §4.1).
    """
    jobs = [job(0, maps=9, map_ms=100_000), job(1, maps=2, map_ms=5000, submit_ms=1000)]
    delivered, events, _ = watched(jobs, f"eagle({LONG},minimum=10)")
    assert len(delivered.of(LongPlaced)) == 9
    probed = [(at, to, m) for at, to, m in delivered.mail if isinstance(m, ShortProbe)]
    assert {at for at, _, m in probed if m.round == 1} == {1005}
    assert {at for at, _, m in probed if m.round == 2} == {1015}
    assert sum(m.count for _, _, m in probed if m.round == 1) == 10
    closed = {"node 0", "node 1", "node 2"}
    assert {to for _, to, m in probed if m.round == 2} <= closed
    rejected = delivered.of(ProbeRejected)
    assert rejected
    assert all(each.nodes == node_bitmap(range(3, 12)) and each.round == 1 for each in rejected)
    launched = [each for each in events if isinstance(each, AttemptLaunched) and each.job == 1]
    assert {each.node for each in launched} <= {0, 1, 2}


def test_without_closed_nodes_the_last_round_is_taken_by_any_node() -> None:
    jobs = [job(0, maps=4, map_ms=100_000), job(1, maps=2, map_ms=5000, submit_ms=1000)]
    delivered, _, _ = watched(jobs, "eagle(cutoff=50,short=0,minimum=4)", nodes=4)
    assert {each.round for each in delivered.of(ShortProbe)} == {1, 0}
    assert sum(each.count for each in delivered.of(ProbeRejected)) == 4


def test_a_second_refusal_sends_the_probe_to_the_closed_nodes() -> None:
    """The bitmap of those that refused first did not know yet of the second long job."""
    jobs = [
        job(0, maps=1, map_ms=100_000),
        job(1, maps=8, map_ms=100_000, submit_ms=1008),
        job(2, maps=30, map_ms=5000, submit_ms=1000),
    ]
    delivered, _, _ = watched(sorted(jobs, key=lambda each: each.submit_ms), f"eagle({LONG})")
    refused = Counter[int]()
    for each in delivered.of(ProbeRejected):
        refused[each.round] += each.count
    assert set(refused) == {1, 2}
    last = [each for each in delivered.of(ShortProbe) if each.round == 0]
    assert sum(each.count for each in last) == refused[ROUNDS]


def test_of_all_bitmaps_that_come_back_the_newest_counts() -> None:
    """Whatever the order in which they come."""
    world = World(cluster(), PLAIN, [job(0, maps=30)], seed=1)
    scheduler = ShortScheduler(
        1,
        world,
        ProbeDraws(1),
        name="eagle",
        params=EagleParams(),
        partition=ShortPartition(world.nodes, 0.25),
        estimates=TaskEstimates(world.jobs, 50),
    )
    outbox = Outbox(scheduler)
    profile = JobProfile("user", "", Priority.NORMAL, (30, 0))
    outbox.deliver(scheduler, SubmitStage(0, profile, MAPS, MapWork(1), 1, bytes(120)))
    newest, older = node_bitmap(range(4, 12)), node_bitmap(range(3, 11))
    for node, stamp, nodes in ((4, 2, newest), (5, 1, older)):
        outbox.deliver(scheduler, ProbeRejected(0, MAPS, node, 20, 1, stamp, nodes))
    sent = outbox.deliver(scheduler, RedrawDue(0, MAPS, 1))
    assert {each.to for each in sent if isinstance(each, Sent)} == {
        node_address(node) for node in range(4)
    }


def test_long_work_that_is_taken_back_makes_a_node_refuse_no_more() -> None:
    """One of two tasks that were placed was asked for; the other one waited."""
    queue, node = queue_of(EagleParams(), waiting=[])
    queue.on_long_placed(LongPlaced(5, MAPS, 99, 1000, 2, 2, 1, b""))
    queue.on_cancel(CancelTaskReservations(5, MAPS))
    queue.on_short_probe(ShortProbe(6, MAPS, 99, 1000, 1, 1, 0, 1))
    queue.on_no_task(NoTask(5, MAPS))
    queue.on_short_probe(ShortProbe(7, MAPS, 99, 1000, 1, 1, 0, 1))
    assert node.asked == [5, 7]
    assert [each.job for each in node.rejected] == [6]


# What becomes of probes.


def still_there(simulation: Simulation) -> int:
    """How many reservations wait at nodes, or are asked for, at the end."""
    nodes = [each for each in simulation.kernel.actors.values() if isinstance(each, Node)]
    queues = [each.dialogue for each in nodes if isinstance(each.dialogue, MixedQueues)]
    waiting = sum(held.count for each in queues for held in each._queues[MAP])
    asked_for = sum(len(each._asked) for each in queues)
    assert waiting + asked_for <= 20
    return waiting + asked_for


@pytest.mark.parametrize(
    "policy",
    [f"hawk({LONG})", f"hawk({LONG},attempts=0)", f"eagle({LONG},sticky=false,cancellation=false)"],
)
def test_given_and_refused_probes_are_those_that_were_sent_stolen_ones_among_them(
    policy: str,
) -> None:
    """When the last job comes all else has been over for long; of its own probes some may still
    wait, or be asked for.
    """
    delivered, _, simulation = watched(mixed(), policy)
    sent = sum(each.count for each in delivered.of(ShortProbe, LongPlaced))
    given, refused = len(delivered.of(LaunchTask)), len(delivered.of(NoTask))
    rejected = sum(each.count for each in delivered.of(ProbeRejected))
    assert given + refused + rejected + still_there(simulation) == sent
    stolen = sum(probe.count for each in delivered.of(Stolen) for probe in each.probes)
    assert bool(stolen) == (policy == f"hawk({LONG})")
    assert bool(rejected) == policy.startswith("eagle")


def test_without_attempts_nothing_is_said_of_stealing() -> None:
    """And who sets a limit to it is told that it means nothing."""
    delivered, _, _ = watched(mixed(), f"hawk({LONG},attempts=0)")
    assert not delivered.of(Steal, Stolen)
    with pytest.raises(PolicySpecError, match="`limit` does nothing, nothing is stolen"):
        watched(mixed(), f"hawk({LONG},attempts=0,limit=1)")


def test_without_a_scheduler_of_long_jobs_what_waits_behind_them_is_stolen_too() -> None:
    """Each piece can be had by itself (ATC 2015, §4.4): nodes took all that is probed for short."""
    delivered, _, _ = watched(mixed(), f"hawk({LONG},central=false)")
    assert any(each.probes for each in delivered.of(Stolen))
    assert {probe.long for probe in delivered.of(ShortProbe)} == {True, False}


def test_without_a_scheduler_of_long_jobs_nodes_with_their_work_refuse_short_probes_alone() -> None:
    jobs = mixed()
    long = {each.job for each in jobs if each.map_ms == 100_000}
    delivered, _, _ = watched(jobs, f"eagle({LONG},central=false)")
    rejected = {each.job for each in delivered.of(ProbeRejected)}
    assert rejected
    assert not rejected & long


def test_an_idle_node_asks_as_many_others_as_it_may_and_no_more() -> None:
    """A node whose only task has ended finds nothing anywhere; each time takes a round trip."""
    jobs = [job(0, maps=1), job(1, maps=1, submit_ms=60_000)]
    delivered, _, _ = watched(jobs, "hawk(attempts=3,probes=1)", nodes=4)
    said = [(at, message) for at, _, message in delivered.mail if at < 60_000]
    asked = Counter(message.thief for _, message in said if isinstance(message, Steal))
    assert list(asked.values()) == [3]
    at_ms = [at for at, message in said if isinstance(message, Stolen)]
    assert [later - sooner for sooner, later in pairwise(at_ms)] == [10, 10]


def test_a_thief_asks_nodes_that_may_have_long_work_and_not_itself() -> None:
    delivered, _, _ = watched(mixed(), f"hawk({LONG})")
    asked = [(to, m.thief) for _, to, m in delivered.mail if isinstance(m, Steal)]
    assert {to for to, _ in asked} == {f"node {n}" for n in range(3, 12)}
    assert all(to != f"node {thief}" for to, thief in asked)


def test_a_thief_draws_from_the_others_as_if_it_were_not_there() -> None:
    nodes = [2, 3, 5, 7]
    for thief in range(9):
        others = [node for node in nodes if node != thief]
        for drawn in range(20):
            asked = ProbeDraws(1).victim(thief, MAP, drawn, nodes)
            assert asked == ProbeDraws(1).victim(thief, MAP, drawn, others) != thief
    assert ProbeDraws(1).victim(2, MAP, 1, [2]) is None


def test_what_nodes_take_of_memory_grows_with_their_number_and_not_its_square() -> None:
    """A trace of Hawk's has 15,000 nodes, each of which may ask all others."""
    taken = []
    for nodes in (100, 400):
        world, hawk = World(cluster(nodes), PLAIN, [job(0)], seed=1), Hawk()
        hawk.admit(Kernel(sink=lambda _: None), world)
        tracemalloc.start()
        sides = [hawk.dialogue(each, world) for each in world.nodes]
        taken.append(tracemalloc.get_traced_memory()[0] / len(sides))
        tracemalloc.stop()
    assert taken[1] < 1.1 * taken[0]


def held(
    number: int, estimate_ms: int = 10, left: int = 1, *, long: bool = False, count: int = 1
) -> HeldReservations:
    reservation = Reservation(number, MAPS, 0, 0, 0)
    return HeldReservations(reservation, count, estimate_ms, left, long, number)


def test_what_is_stolen_is_the_first_group_of_short_ones_behind_a_long_one() -> None:
    """ATC 2015, figure 3: behind the long task that runs, or behind the first in the queue."""
    s1, s2, l3, s4, s5, l6, s7 = (held(n, long=n in (3, 6), count=2) for n in range(1, 8))
    queue = [s1, s2, l3, s4, s5, l6, s7]
    assert list(behind_long(queue, long_runs=False, limit=99)) == [(s4, 2), (s5, 2)]
    assert list(behind_long(queue, long_runs=True, limit=99)) == [(s1, 2), (s2, 2)]
    assert list(behind_long(queue[2:], long_runs=True, limit=3)) == [(s4, 2), (s5, 1)]
    assert not list(behind_long([s1, s2], long_runs=False, limit=99))
    assert not list(behind_long([l3, l6], long_runs=True, limit=99))


# Who is served first.


def test_the_stage_with_least_left_goes_first_but_not_past_a_long_one_at_the_head() -> None:
    queue = [held(1, 10, 5), held(2, 20, 2), held(3, 5, 9)]
    assert place_with_least_left(queue, cap=5) == 1
    assert place_with_least_left([held(0, 900, 9, long=True), *queue], cap=5) == 0
    assert place_with_least_left([*queue, held(4, 4, 1)], cap=5) == 3


def test_nobody_is_put_off_by_more_than_the_cap_allows() -> None:
    """SoCC 2016, §4.4: 5 times its own estimate."""
    first, second = held(1, 10, 9), held(2, 20, 1)
    assert place_with_least_left([first, second], cap=5) == 1
    first.put_off_ms = 30
    assert place_with_least_left([first, second], cap=5) == 1
    first.put_off_ms = 31
    assert place_with_least_left([first, second], cap=5) == 0


def test_a_node_counts_how_long_it_has_put_a_job_off() -> None:
    """Job 1 has ten tasks of 1 s; jobs of a task of 2 s go before it until that makes 5 s."""
    queue, node = queue_of(EagleParams(sticky=False), waiting=[(0, 1), (1, 10)])
    for number in (2, 3, 4):
        queue.on_short_probe(ShortProbe(number, MAPS, 99, 2000, 1, 1, 0, 1))
    for attempt, number in enumerate((0, 2, 3), start=1):
        give(queue, number, attempt)
    assert node.asked == [0, 2, 3, 1]


def started(events: Sequence[AnyEvent]) -> list[JobId]:
    """The jobs of attempts in the order in which they began."""
    job_of = {each.attempt: each.job for each in events if isinstance(each, AttemptLaunched)}
    return [job_of[each.attempt] for each in events if isinstance(each, AttemptStarted)]


class FakeNode:
    """What the dialogue asks of its node, with one slot; the jobs that it asks for are kept."""

    cause = NO_CAUSE

    def __init__(self) -> None:
        self.facts = NodeFacts(7, 0, 1, 0, 1.0)
        self.asked: list[JobId] = []
        self.rejected: list[ProbeRejected] = []

    def send(self, to: int, message: object, cause: int, delay_ms: int = 0) -> None:
        assert (to, cause, delay_ms) in {(99, NO_CAUSE, 5), (4096, NO_CAUSE, 5)}
        if isinstance(message, GetTask):
            self.asked.append(message.job)
        elif isinstance(message, ProbeRejected):
            self.rejected.append(message)

    def launch(self, launch: LaunchTask) -> None: ...


def queue_of(
    params: EagleParams, waiting: Sequence[tuple[JobId, int]] = ((0, 3), (1, 1))
) -> tuple[MixedQueues, FakeNode]:
    """A node on which one reservation of each of these jobs waits, of that many tasks a second."""
    node = FakeNode()
    queue = MixedQueues(node.facts, 5, lambda number: number, params, None)
    queue.attach(node)  # type: ignore[arg-type]
    for number, left in waiting:
        queue.on_short_probe(ShortProbe(number, MAPS, 99, 1000, 1, left, 0, 1))
    return queue, node


def give(queue: MixedQueues, number: JobId, attempt: int) -> None:
    """The node is given a task of the job, and has run it."""
    work = MapWork(1000)
    launch = LaunchTask(attempt, number, MAPS, MAP, 0, 0, Locality.NODE, work, False, NO_CAUSE)
    queue.on_launch_task(launch)
    queue.report(EndReport(attempt, Outcome.SUCCEEDED, 1000, 0, NO_CAUSE))


@pytest.mark.parametrize(("sticky", "asked"), [(True, [0, 0, 0, 1]), (False, [0, 1])])
def test_a_sticky_reservation_asks_its_job_again_before_others(
    sticky: bool, asked: list[JobId]
) -> None:
    """Until it is told that none is left (SoCC 2016, §4.3)."""
    queue, node = queue_of(EagleParams(sticky=sticky, srpt=False))
    give(queue, 0, 1)
    if sticky:
        give(queue, 0, 2)
        queue.on_no_task(NoTask(0, MAPS))
    assert node.asked == asked


def test_a_sticky_reservation_that_is_taken_back_while_its_task_runs_asks_no_more() -> None:
    queue, node = queue_of(EagleParams(srpt=False))
    launch = LaunchTask(1, 0, MAPS, MAP, 0, 0, Locality.NODE, MapWork(1000), False, NO_CAUSE)
    queue.on_launch_task(launch)
    queue.on_cancel(CancelTaskReservations(0, MAPS))
    queue.report(EndReport(1, Outcome.SUCCEEDED, 1000, 0, NO_CAUSE))
    assert node.asked == [0, 1]


def test_a_node_goes_by_how_many_tasks_it_was_last_told_to_be_left() -> None:
    """Job 0 had three tasks left, twice what job 1 has, until the answer told of one."""
    queue, node = queue_of(EagleParams())
    queue.on_short_probe(ShortProbe(2, MAPS, 99, 1500, 1, 1, 0, 1))
    queue.on_tasks_left(TasksLeft(1, MAPS, 2))
    give(queue, 0, 1)
    assert node.asked == [0, 2]  # 3 and 2 of 1 s, one of 1.5 s


def test_of_two_jobs_that_wait_the_one_with_less_left_is_served_first() -> None:
    """One slot, taken by job 0; job 1 has four tasks of 10 s, job 2 one of 20 s."""
    jobs = [
        job(0, maps=1, map_ms=30_000),
        job(1, maps=4, map_ms=10_000, submit_ms=1000),
        job(2, maps=1, map_ms=20_000, submit_ms=2000),
    ]
    _, events, _ = watched(jobs, "eagle(minimum=1)", nodes=1)
    assert started(events) == [0, 2, 1, 1, 1, 1]
    _, events, _ = watched(jobs, "eagle(minimum=1,srpt=false)", nodes=1)
    assert started(events) == [0, 1, 1, 1, 1, 2]
    _, events, _ = watched(jobs, "eagle(minimum=1,cap=1)", nodes=1)
    assert started(events) == [0, 1, 1, 1, 1, 2]


# What it comes to without its pieces.


class _AsProbed(Draws):
    """Sparrow's draws as Eagle's: with replacement."""

    def __init__(self, nodes: Sequence[NodeFacts], seed: int) -> None:
        super().__init__(nodes, seed)
        self._probes = ProbeDraws(seed)

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        able = [each.node for each in self._nodes]
        return self._probes.probed(job, stage, batch, count, able)


class SparrowWithReplacement(Sparrow):
    """Probes as Eagle's schedulers."""

    def draws(self, world: World) -> Draws:
        return _AsProbed(world.nodes, world.seed)


def without_names(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """What happened, whoever it was."""
    plain = [each for each in events if not isinstance(each, RunStarted)][:-1]
    return [
        replace(each, why=Why(each.why.reason, "")) if isinstance(each, AttemptLaunched) else each
        for each in plain
    ]


@pytest.mark.parametrize("cancellation", [True, False])
def test_eagle_without_long_jobs_stickiness_and_its_order_is_sparrow(cancellation: bool) -> None:
    """Event for event, with Sparrow's draws as Eagle's."""
    jobs = mixed(long=0, short=60)
    params = EagleParams(minimum=1, sticky=False, srpt=False, cancellation=cancellation)
    _, eagle, _ = watched(jobs, Eagle(params), nodes=6)
    sparrow = SparrowWithReplacement(SparrowParams(cancellation=cancellation))
    _, other, _ = watched(jobs, sparrow, nodes=6)
    assert without_names(eagle) == without_names(other)


def test_a_stage_has_probes_by_the_ratio_and_so_many_at_least() -> None:
    jobs = [job(0, maps=3), job(1, maps=30, submit_ms=500)]
    delivered, _, _ = watched(jobs, "eagle(probes=1.5)", nodes=40)
    sent = Counter[int]()
    for probe in delivered.of(ShortProbe):
        sent[probe.job] += probe.count
    assert sent == {0: 20, 1: ceil(1.5 * 30)}


def test_they_are_spelled_as_policies_are_and_shares_as_percentages() -> None:
    spelled = canonical_policy("hawk(cutoff=100,short=17%)")
    assert spelled == "hawk(cutoff=100)"  # 17 % is the default
    assert canonical_policy("eagle( short=2.5%, attempts=10 )") == "eagle(short=0.025,attempts=10)"
    assert msgspec.to_builtins(Hawk.Params())["attempts"] == 10
    for bad in ("hawk(short=100%)", "hawk(cutoff=-1)", "eagle+delay", "hawk(probes=0)"):
        with pytest.raises(PolicySpecError):
            canonical_policy(bad)
