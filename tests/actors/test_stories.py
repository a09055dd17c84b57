"""One actor at a time: what it is told, and exactly what it sends and notes about it.

The outbox of `tests.support.outbox` stands where the kernel does, so no other actor is needed.
"""

from callboard.actors.blocks import Blocks
from callboard.actors.central import heartbeat_messages as hb
from callboard.actors.central.heartbeat_messages import MASTER
from callboard.actors.central.heartbeat_schedule import HeartbeatSchedule
from callboard.actors.central.heartbeats import NodeHeartbeats
from callboard.actors.central.master import Master
from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.actors.job import Job
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import CLIENT, job_address, node_address, slot_address
from callboard.actors.placement import Placement
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts, Outcome
from callboard.actors.worker.durations import Durations
from callboard.actors.worker.node import Node
from callboard.actors.worker.slot import Slot
from callboard.scheduler.model import MAP, MAPS, REDUCES, Locality, Stage
from callboard.scheduler.registry.parts import make_policy
from tests.support.outbox import Outbox, Sent
from tests.support.world import job

FACTS = NodeFacts(node=0, rack=0, map_slots=1, reduce_slots=1, speed=1.0)
PLACEMENT = Placement(1, nodes=1, racks=1, replication=1)
NODE, MAP_SLOT, REDUCE_SLOT = node_address(0), slot_address(0, 0), slot_address(0, 1)


def a_master() -> Master:
    """Of one node; every heartbeat is sent."""
    cluster = Cluster(nodes=1, racks=1, heartbeat=Heartbeats(send="all"))
    return Master(cluster, 1, make_policy("fifo"), 1, make_policy)


def a_node() -> Node:
    schedule = HeartbeatSchedule(0, 1, out_of_band=False, elides=False)
    dialogue = NodeHeartbeats(schedule, latency_ms=1, retry_ms=3002, seed=1)
    return Node(FACTS, dialogue, make_slot, latency_ms=1, keeps_outputs=False)


def make_slot(facts: NodeFacts, slot: int) -> Slot:
    durations = Durations(facts, Tasks(), seed=1)
    return Slot(facts, slot, latency_ms=1, durations=durations, blocks=Blocks(PLACEMENT))


def a_slot() -> Slot:
    return make_slot(FACTS, 0)


def a_job(spec: JobSpec) -> Job:
    return Job(spec, MASTER, placement=PLACEMENT, slowstart=1.0, latency_ms=1, hosts_asked=False)


def submission(number: int = 0, maps: int = 1) -> msg.SubmitStage:
    """What the job itself would send."""
    actor = a_job(job(number, maps=maps))
    (sent,) = [e for e in Outbox(actor).deliver(actor, msg.EnterSystem()) if isinstance(e, Sent)]
    assert isinstance(sent.message, msg.SubmitStage)
    return sent.message


def a_map(attempt: int = 1) -> msg.LaunchTask:
    work = msg.MapWork(10_000)
    place = (MAPS, MAP, 0, 0, Locality.NODE)
    return msg.LaunchTask(attempt, 0, *place, work, tracked=False, cause=4)


def test_a_master_answers_a_heartbeat_with_a_task() -> None:
    """The node joins, the job's map is launched there, and the reply takes it along."""
    master = a_master()
    outbox = Outbox(master)
    order = submission()
    assert outbox.deliver(master, order, at_ms=5, cause=1) == []  # nobody has asked for work
    joins = hb.Heartbeat(node=0, response=0, reports=(), joins=FACTS)
    launched, reply = outbox.deliver(master, joins, at_ms=9)
    assert isinstance(launched, ev.AttemptLaunched)
    assert (launched.attempt, launched.job, launched.node, launched.cause) == (1, 0, 0, 1)
    task = (1, 0, MAPS, MAP, 0, 0, Locality.NODE)
    launch = msg.LaunchTask(*task, order.work, tracked=False, cause=1)
    assert reply == Sent(NODE, hb.HeartbeatReply(1, 3000, (launch,)), 1)


def test_a_master_repeats_its_answer_and_books_nothing_twice() -> None:
    """H5: the reply was lost, so the same heartbeat comes again, with the old reply's number."""
    master = a_master()
    outbox = Outbox(master)
    outbox.deliver(master, submission(), at_ms=5)
    joins = hb.Heartbeat(node=0, response=0, reports=(), joins=FACTS)
    *_, reply = outbox.deliver(master, joins, at_ms=9)
    again = hb.Heartbeat(node=0, response=0, reports=())
    assert outbox.deliver(master, again, at_ms=3011) == [reply]


def test_a_master_books_an_end_and_gives_the_slot_away_in_one_answer() -> None:
    """H6, and the chain of causes: the end that was reported, its booking, the next launch."""
    master = a_master()
    outbox = Outbox(master)
    outbox.deliver(master, submission(maps=2), at_ms=5, cause=1)
    joins = hb.Heartbeat(node=0, response=0, reports=(), joins=FACTS)
    outbox.deliver(master, joins, at_ms=9)
    ended = msg.EndReport(1, Outcome.SUCCEEDED, 10_000, 0, cause=77)
    news = hb.Heartbeat(node=0, response=1, reports=(ended,))
    closed, booked, launched, reply = outbox.deliver(master, news, at_ms=12_000)
    assert closed == ev.AttemptClosed(12_000, 1, Outcome.SUCCEEDED, cause=77)
    news_for_job = msg.AttemptBooked(1, MAPS, 0, 0, Outcome.SUCCEEDED)
    assert booked == Sent(job_address(0), news_for_job)
    assert isinstance(launched, ev.AttemptLaunched)
    assert (launched.task, launched.cause) == (1, 2)  # AttemptClosed is event 2
    assert isinstance(reply, Sent)


def test_a_node_gives_an_attempt_to_its_lowest_free_slot() -> None:
    """H3: the next heartbeat is timed from the return of the last one."""
    node = a_node()
    outbox = Outbox(node)
    (heartbeat,) = outbox.deliver(node, hb.HeartbeatDue(plan=1))
    assert heartbeat == Sent(MASTER, hb.Heartbeat(0, 0, (), FACTS), 1)
    reply = hb.HeartbeatReply(1, 3000, (a_map(),))
    assert outbox.deliver(node, reply, at_ms=2) == [
        Sent(MAP_SLOT, a_map()),
        Sent(NODE, hb.HeartbeatDue(plan=2), 3000),
    ]


def test_a_node_takes_no_order_twice() -> None:
    """H5: a reply that comes again is not obeyed again."""
    node = a_node()
    outbox = Outbox(node)
    outbox.deliver(node, hb.HeartbeatDue(plan=1))
    reply = hb.HeartbeatReply(1, 3000, (a_map(),))
    outbox.deliver(node, reply, at_ms=2)
    assert outbox.deliver(node, reply, at_ms=4) == []


def test_a_crashed_node_is_silent_and_joins_anew() -> None:
    """T5: its next life begins at once, and says so."""
    node = a_node()
    outbox = Outbox(node)
    outbox.deliver(node, hb.HeartbeatDue(plan=1))
    resumed = hb.HeartbeatsResumed(0)
    assert Sent(MASTER, resumed) in outbox.deliver(node, faults.Crash(0), at_ms=1)
    assert outbox.deliver(node, hb.HeartbeatReply(1, 3000, (a_map(),)), at_ms=2) == []
    (due,) = outbox.deliver(node, faults.Restart(0), at_ms=9000)
    assert isinstance(due, Sent)
    first, *_ = outbox.deliver(node, due.message, at_ms=9000)
    assert first == Sent(MASTER, hb.Heartbeat(0, 0, (), FACTS, life=1), 1)


def test_a_slot_runs_a_map_to_its_end() -> None:
    slot = a_slot()
    outbox = Outbox(slot)
    assert outbox.deliver(slot, a_map(), at_ms=3, cause=4) == [
        ev.AttemptStarted(3, 1, 0, 0, cause=4),
        Sent(MAP_SLOT, msg.PhaseOver(1), 10_000),
    ]
    report = msg.EndReport(1, Outcome.SUCCEEDED, 10_000, 0, cause=2)
    assert outbox.deliver(slot, msg.PhaseOver(1), at_ms=10_003, cause=1) == [
        ev.AttemptEnded(10_003, 1, Outcome.SUCCEEDED, 3, cause=1),
        Sent(NODE, msg.AttemptFinished(0, report, output_of=0)),
    ]


def test_a_slot_hands_over_what_is_left_and_takes_it_up_again() -> None:
    """Suspended after 4 s of 10 and resumed a minute later, it needs 6 s more."""
    slot = a_slot()
    outbox = Outbox(slot)
    outbox.deliver(slot, a_map(), cause=4)
    suspended, handed = outbox.deliver(slot, msg.SuspendTask(1, cause=9), at_ms=4000, cause=9)
    assert suspended == ev.AttemptSuspended(4000, 1, cause=9)
    assert isinstance(handed, Sent)
    assert isinstance(handed.message, msg.AttemptCheckpointed)
    saved = handed.message.checkpoint
    assert (saved.ran_ms, saved.left_ms, saved.done) == (4000, 6000, 0.4)
    resume = msg.ResumeAttempt(saved)
    assert outbox.deliver(slot, resume, at_ms=64_000, cause=11) == [
        ev.AttemptResumed(64_000, 1, 0, 0, cause=11),
        Sent(MAP_SLOT, msg.PhaseOver(3), 6000),
    ]


def test_a_slot_that_crashes_ends_its_attempt_and_tells_nobody() -> None:
    slot = a_slot()
    outbox = Outbox(slot)
    outbox.deliver(slot, a_map())
    (ended,) = outbox.deliver(slot, faults.Crash(0), at_ms=500, cause=8)
    assert ended == ev.AttemptEnded(500, 1, Outcome.KILLED, 0, cause=8)


def test_a_job_opens_its_reduces_and_ends_when_all_is_done() -> None:
    """Slowstart 1: the reduce may run when the last map is done."""
    spec = job(0, maps=2, reduces=1)
    actor = a_job(spec)
    outbox = Outbox(actor)
    outbox.deliver(actor, msg.EnterSystem())

    def booked(stage: Stage, task: int, attempt: int) -> msg.AttemptBooked:
        return msg.AttemptBooked(attempt, stage, task, 0, Outcome.SUCCEEDED)

    assert outbox.deliver(actor, booked(MAPS, 0, 1), at_ms=10) == []
    (opened,) = outbox.deliver(actor, booked(MAPS, 1, 2), at_ms=20)
    assert isinstance(opened, Sent)
    assert isinstance(opened.message, msg.SubmitStage)
    assert (opened.to, opened.message.stage) == (MASTER, REDUCES)
    done = msg.JobDone(0, Outcome.SUCCEEDED)
    assert outbox.deliver(actor, booked(REDUCES, 0, 3), at_ms=30, cause=12) == [
        ev.JobFinished(30, 0, Outcome.SUCCEEDED, 0, cause=12),
        Sent(MASTER, done),
        Sent(CLIENT, done),
    ]


def test_a_job_asks_for_a_task_again_until_it_has_failed_too_often() -> None:
    """S4: the scheduler counts, and says which failure was one too many."""
    actor = a_job(job(0, maps=1))
    outbox = Outbox(actor)
    outbox.deliver(actor, msg.EnterSystem())
    again = Sent(MASTER, msg.RunAgain(0, MAPS, 0))
    failures = [msg.AttemptBooked(n, MAPS, 0, 0, Outcome.FAILED) for n in range(1, 4)]
    assert [outbox.deliver(actor, failure) for failure in failures] == [[again]] * 3
    last = msg.AttemptBooked(4, MAPS, 0, 0, Outcome.FAILED, exhausted=True)
    finished, *_ = outbox.deliver(actor, last, at_ms=40, cause=9)
    assert finished == ev.JobFinished(40, 0, Outcome.FAILED, 0, cause=9)
