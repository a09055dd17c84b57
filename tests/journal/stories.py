"""A tiny run, worked out by hand, that the journal's tests share.

Two nodes, each with one map slot and one reduce slot.  Times in ms.

    job-0 "ads",  2 maps, 1 reduce, submitted at    0, finished at 4400: response 4400
    job-1 "logs", 1 map,            submitted at 1000, finished at 2300: response 1300

    attempt  what           node  launched  started  ended            closed
       1     job-0 map 0     0      100       101    1101 succeeded   1200
       2     job-0 map 1     1      200       201    1701 failed      1800
       3     job-1 map 0     0     1200      1201    2201 succeeded   2300
       4     job-0 reduce 0  1     1300      1301    4301 succeeded   4400   (shuffle until 3500)
       5     job-0 map 1     1     1800      1801    3301 succeeded   3400

Slot time over 4400 ms × (2 + 2) slots = 17600 ms (S9):

    maps     useful 1000 + 1000 + 1500 = 3500, wasted 1500, idle 8800 - 5000 = 3800
    reduces  useful 3000,                      wasted    0, idle 8800 - 3000 = 5800

Jobs in the system (S10): 1 for 1000 ms, 2 for 1300 ms, 1 for 2100 ms: 5700 = 4400 + 1300.
"""

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    JobFinished,
    JobSubmitted,
    NodeFacts,
    Outcome,
    RunEnded,
    RunStarted,
    ShuffleEnded,
)
from callboard.scheduler.model import Locality, Priority, SlotKind
from callboard.scheduler.reasons import Note, Reason, Skip, Why

WON, LOST = Outcome.SUCCEEDED, Outcome.FAILED
MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE
NODE, OFF = Locality.NODE, Locality.OFF_RACK

NODES = (NodeFacts(0, 0, 1, 1, 1.0), NodeFacts(1, 1, 1, 1, 1.0))
START = RunStarted(0, "0.1.0", "tiny", "fifo", 7, {"cluster": {"nodes": 2, "racks": 2}}, NODES)
BY_FIFO = Why(Reason.BY_KEY, "fifo", 1)
SKIPPING = Why(Reason.BY_KEY, "fifo", 2, 1000.0, skipped=(Skip(0, Note("no map waiting")),))

STORY: tuple[AnyEvent, ...] = (
    START,
    JobSubmitted(0, 0, "ads", "ann", "prod", Priority.NORMAL, 2, 1),
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 0, NODE, BY_FIFO),
    AttemptStarted(101, 1, 0, 0),
    AttemptLaunched(200, 2, 0, MAP, 1, 0, 1, OFF, BY_FIFO),
    AttemptStarted(201, 2, 1, 0),
    JobSubmitted(1000, 1, "logs", "bob", "", Priority.HIGH, 1, 0),
    AttemptEnded(1101, 1, WON, 101),
    AttemptClosed(1200, 1, WON),
    AttemptLaunched(1200, 3, 1, MAP, 0, 0, 0, NODE, SKIPPING),
    AttemptStarted(1201, 3, 0, 0),
    AttemptLaunched(1300, 4, 0, REDUCE, 0, 0, 1, OFF, BY_FIFO),
    AttemptStarted(1301, 4, 1, 0),
    AttemptEnded(1701, 2, LOST, 201),
    AttemptClosed(1800, 2, LOST),
    AttemptLaunched(1800, 5, 0, MAP, 1, 1, 1, OFF, BY_FIFO),
    AttemptStarted(1801, 5, 1, 0),
    AttemptEnded(2201, 3, WON, 1201),
    AttemptClosed(2300, 3, WON),
    JobFinished(2300, 1, WON, 1000),
    AttemptEnded(3301, 5, WON, 1801),
    AttemptClosed(3400, 5, WON),
    ShuffleEnded(3500, 4),
    AttemptEnded(4301, 4, WON, 1301),
    AttemptClosed(4400, 4, WON),
    JobFinished(4400, 0, WON, 0),
    RunEnded(4400, "complete", 321, 4, "d1ge57"),
)


def cut_at(at_ms: int) -> list[AnyEvent]:
    """The story as `--until` would have recorded it."""
    kept: list[AnyEvent] = [event for event in STORY if event.at_ms < at_ms]
    return [*kept, RunEnded(at_ms, "until", 200, 2, "c07")]
