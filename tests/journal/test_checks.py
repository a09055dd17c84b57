"""Every rule that events alone can break is broken here, in a doctored recording, and named.

The recordings that are doctored are the story of `tests.journal.stories` and one with a copy.
Rules that need the master's books or its policy are broken in `tests/whole/test_planted_bugs.py`.
"""

from collections.abc import Callable, Sequence

import pytest

from callboard.actors.config import Cluster, Tasks
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobFinished,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
    ResumeOrdered,
    RunEnded,
    RunStarted,
    ShuffleEnded,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import Crash, PauseNode, Restart, SwitchPolicy
from callboard.journal.checks.checker import check_events
from callboard.journal.checks.findings import Violation
from callboard.scheduler.model import Millis, Priority
from callboard.scheduler.reasons import Reason, Why
from tests.journal import stories
from tests.journal.stories import LOST, MAP, NODE, NODES, OFF, REDUCE, WON
from tests.support.world import header

KILLED = Outcome.KILLED
PLAIN = Why(Reason.BY_KEY, "fifo", 1)
PATIENT = Why(Reason.BY_KEY, "fifo", 1, skips=3, waited_ms=201)
Events = Sequence[AnyEvent]
Doctor = Callable[[], Events]

STORY: Events = tuple(
    # There every slot is numbered 0; really a node's reduce slots come after its map slots.
    AttemptStarted(event.at_ms, event.attempt, event.node, 1)
    if isinstance(event, AttemptStarted) and event.attempt == 4
    else event
    for event in stories.STORY
)

COPIED: Events = (
    RunStarted(0, "0", "copied", "fifo+naive", 1, {}, NODES),
    JobSubmitted(0, 0, "one", "ann", "", Priority.NORMAL, 1, 0),
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 0, NODE, PLAIN),
    AttemptStarted(101, 1, 0, 0),
    AttemptLaunched(300, 2, 0, MAP, 0, 1, 1, OFF, PLAIN, 1),
    AttemptStarted(301, 2, 1, 0),
    AttemptEnded(900, 1, WON, 101),
    AttemptEnded(901, 2, WON, 301),
    AttemptClosed(1000, 1, WON),
    JobFinished(1000, 0, WON, 0),
    AttemptClosed(1100, 2, KILLED),
    RunEnded(1100, "complete", 9, 0, "c0"),
)

LOSING: Events = (
    RunStarted(0, "0", "losing", "fifo", 1, {}, NODES),
    JobSubmitted(0, 0, "one", "ann", "", Priority.NORMAL, 1, 1),
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 1, NODE, PLAIN),
    AttemptStarted(101, 1, 1, 0),
    AttemptEnded(900, 1, WON, 101),
    AttemptClosed(1000, 1, WON),
    AttemptLaunched(1000, 2, 0, REDUCE, 0, 0, 1, OFF, PLAIN),
    AttemptStarted(1001, 2, 1, 1),
    FaultStruck(2000, Crash(1)),
    AttemptEnded(2000, 2, KILLED, 1001),
    NodeLost(9000, 1, 1900),
    AttemptClosed(9000, 2, KILLED),
    MapOutputsLost(9000, 0, 1, (1,), KILLED),
    AttemptLaunched(9500, 3, 0, MAP, 0, 1, 0, OFF, PLAIN),
    AttemptStarted(9501, 3, 0, 0),
    RunEnded(9600, "until", 9, 0, "10"),
)

GIVING_WAY: Events = (
    RunStarted(0, "0", "giving", "fifo+suspend", 1, {}, NODES),
    JobSubmitted(0, 0, "one", "ann", "", Priority.NORMAL, 1, 0),
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 0, NODE, PLAIN),
    AttemptStarted(101, 1, 0, 0),
    SuspendOrdered(200, 1, PLAIN),
    AttemptSuspended(300, 1),
    ResumeOrdered(400, 1, PLAIN),
    AttemptResumed(401, 1, 0, 0),
    AttemptEnded(900, 1, WON, 101, 101),
    AttemptClosed(1000, 1, WON),
    JobFinished(1000, 0, WON, 0),
    RunEnded(1100, "complete", 9, 0, "9a"),
)


STALLED: Events = (
    *COPIED[:4],
    AttemptStalled(101, 1, 0.0, Stall.NOT_BEGUN),
    LaunchExpired(800_000, 1),
    KillOrdered(800_000, 1, Why(Reason.LAUNCH_EXPIRED)),
    AttemptEnded(802_000, 1, KILLED, 101),
    AttemptClosed(802_001, 1, LOST),
    AttemptLaunched(802_100, 2, 0, MAP, 0, 1, 1, OFF, PLAIN),
    AttemptStarted(802_101, 2, 1, 0),
    AttemptStalled(802_101, 2, 0.0, Stall.NO_INPUT),
    StallEnded(805_101, 2),
    AttemptStalled(806_000, 2, 0.5, Stall.HANGS),
    AttemptEnded(907_000, 2, LOST, 802_101),
    AttemptClosed(907_001, 2, LOST),
    RunEnded(907_100, "until", 9, 0, "57"),
)
"""A launch that expires; an attempt that waits for its input, begins and hangs."""

UNHEARD: Events = (
    *GIVING_WAY[:4],
    STALLED[4],
    SuspendOrdered(799_000, 1, PLAIN),
    AttemptSuspended(799_999, 1),
    *STALLED[5:7],
    AttemptEnded(802_000, 1, KILLED, 101, 2001),
    *STALLED[8:],
)
"""Of its suspension the master has not heard when it takes the launch for expired."""


def put(events: Events, *more: AnyEvent) -> Doctor:
    """Each at its time, behind what happens at the same."""
    return lambda: sorted([*events, *more], key=lambda event: event.at_ms)


def without(events: Events, *left_out: AnyEvent) -> Doctor:
    def doctor() -> Events:
        assert all(event in events for event in left_out)
        return [event for event in events if event not in left_out]

    return doctor


def instead(events: Events, old: AnyEvent, new: AnyEvent) -> Doctor:
    """Another event at its own time."""

    def doctor() -> Events:
        kept = list(without(events, old)())
        at = next((n for n, e in enumerate(kept) if e.at_ms > new.at_ms), len(kept))
        if new.at_ms == old.at_ms:
            at = list(events).index(old)
        return [*kept[:at], new, *kept[at:]]

    return doctor


def headed(events: Events, first: AnyEvent) -> Events:
    return (first, *events[1:])


def failing(times: int) -> Doctor:
    """One map that fails so often."""

    def doctor() -> Events:
        story: list[AnyEvent] = list(COPIED[:2])
        for n in range(times):
            at = 1000 * (n + 1)
            story += [
                AttemptLaunched(at, n + 1, 0, MAP, 0, n, 0, NODE, PLAIN),
                AttemptStarted(at + 1, n + 1, 0, 0),
                AttemptEnded(at + 100, n + 1, LOST, at + 1),
                AttemptClosed(at + 200, n + 1, LOST),
            ]
        return story

    return doctor


def failing_with_its_copy(copy_booked_ms: int) -> Events:
    """Fails three times; the fourth attempt's failure is booked at 5000, its copy's then."""
    return [
        *failing(3)(),
        AttemptLaunched(4000, 4, 0, MAP, 0, 3, 0, NODE, PLAIN),
        AttemptLaunched(4000, 5, 0, MAP, 0, 4, 1, OFF, PLAIN, 4),
        AttemptStarted(4001, 4, 0, 0),
        AttemptStarted(4001, 5, 1, 0),
        AttemptEnded(4900, 4, LOST, 4001),
        AttemptEnded(4900, 5, LOST, 4001),
        AttemptClosed(5000, 4, LOST),
        AttemptClosed(copy_booked_ms, 5, LOST),
    ]


WAITING = RunStarted(0, "0", "tiny", "fifo+delay(node=1,rack=1)", 7, {}, NODES)
LATE_REDUCES = header(Cluster(nodes=2, map_slots=1, reduce_slots=1), Tasks(slowstart=1.0))


def moved_launch(at_ms: Millis, why: Why = PLAIN) -> AttemptLaunched:
    """Attempt 2 of the story."""
    return AttemptLaunched(at_ms, 2, 0, MAP, 1, 0, 1, OFF, why)


BROKEN: list[tuple[str, str, Doctor]] = [
    ("S1", "a reduce in a map slot", instead(STORY, STORY[12], AttemptStarted(1301, 4, 1, 0))),
    ("S1", "a slot that is not there", instead(STORY, STORY[12], AttemptStarted(1301, 4, 1, 2))),
    ("S1", "another node", instead(STORY, STORY[3], AttemptStarted(101, 1, 1, 0))),
    (
        "S1",
        "a slot held twice",
        lambda: [
            *STORY[:4],
            AttemptLaunched(200, 2, 0, MAP, 1, 0, 0, OFF, PLAIN),
            AttemptStarted(201, 2, 0, 0),
        ],
    ),
    (
        "S1",
        "gone on in another's slot",
        lambda: [
            *GIVING_WAY[:6],
            JobSubmitted(310, 1, "two", "ann", "", Priority.NORMAL, 1, 0),
            AttemptLaunched(320, 2, 1, MAP, 0, 0, 0, NODE, PLAIN),
            AttemptStarted(321, 2, 0, 0),
            *GIVING_WAY[6:],
        ],
    ),
    ("S2", "a job ends too early", without(STORY, STORY[24])),
    ("S2", "a second success", instead(COPIED, COPIED[10], AttemptClosed(1100, 2, WON))),
    (
        "S2",
        "no success there",
        instead(LOSING, LOSING[12], MapOutputsLost(9000, 0, 0, (1,), KILLED)),
    ),
    ("S3", "started twice", put(STORY, AttemptStarted(150, 1, 0, 0))),
    ("S3", "booked twice", put(STORY, AttemptClosed(1250, 1, WON))),
    ("S3", "booked twice with its node", put(LOSING[:12], AttemptClosed(9000, 2, KILLED))),
    ("S3", "ended twice", put(COPIED, AttemptEnded(950, 1, WON, 101))),
    ("S3", "a done task again", put(STORY, AttemptLaunched(1250, 3, 0, MAP, 0, 1, 1, OFF, PLAIN))),
    ("S3", "a job submitted twice", put(STORY, STORY[1])),
    ("S3", "a job finished twice", put(STORY, JobFinished(2400, 1, WON, 1000))),
    ("S3", "killed twice", put(GIVING_WAY, *[KillOrdered(890, 1, Why(Reason.TASK_DONE))] * 2)),
    (
        "S3",
        "goes on and was not suspended",
        put(
            GIVING_WAY,
            SuspendOrdered(500, 1, PLAIN),
            ResumeOrdered(600, 1, PLAIN),
            AttemptResumed(601, 1, 0, 0),
        ),
    ),
    ("S3", "suspended twice", put(GIVING_WAY, AttemptSuspended(350, 1))),
    ("S3", "lost twice", put(LOSING, NodeLost(9100, 1, 1900))),
    ("S3", "back and never lost", put(STORY, NodeReturned(100, 1))),
    ("S3", "at a standstill twice", put(STALLED, AttemptStalled(500, 1, 0.0, Stall.HANGS))),
    ("S3", "its input found, and it hangs", put(STALLED, StallEnded(806_500, 2))),
    (
        "S3",
        "done at a standstill",
        instead(STALLED, STALLED[14], AttemptEnded(907_000, 2, WON, 802_101)),
    ),
    ("S3", "a reduce without its shuffle", without(STORY, STORY[22])),
    (
        "S4",
        "a wrong number",
        instead(STORY, STORY[15], AttemptLaunched(1800, 5, 0, MAP, 1, 0, 1, OFF, PLAIN)),
    ),
    (
        "S4",
        "an id used again",
        instead(STORY, STORY[15], AttemptLaunched(1800, 2, 0, MAP, 1, 1, 1, OFF, PLAIN)),
    ),
    ("S4", "five failures", failing(5)),
    ("S4", "a fifth after the fourth", lambda: failing_with_its_copy(5001)),
    (
        "S4",
        "a copy beside it",
        instead(COPIED, COPIED[4], AttemptLaunched(300, 2, 0, MAP, 0, 1, 0, OFF, PLAIN, 1)),
    ),
    (
        "S4",
        "a third one",
        put(COPIED, AttemptLaunched(400, 3, 0, MAP, 0, 2, 1, OFF, PLAIN, 1)),
    ),
    ("S5", "a shuffle too short", instead(STORY, STORY[22], ShuffleEnded(3350, 4))),
    ("S5", "before slowstart", lambda: headed(STORY, LATE_REDUCES)),
    ("S7", "never launched", put(STORY, AttemptStarted(50, 9, 0, 0))),
    ("S7", "at once", instead(headed(STORY, WAITING), STORY[5], AttemptStarted(199, 2, 1, 0))),
    ("S7", "booked before its end", instead(STORY, STORY[8], AttemptClosed(1100, 1, WON))),
    ("S7", "booked as it was not", instead(STORY, STORY[14], AttemptClosed(1800, 2, WON))),
    ("S7", "began at another time", instead(STORY, STORY[7], AttemptEnded(1101, 1, WON, 100))),
    ("S7", "suspended by nobody", without(GIVING_WAY, GIVING_WAY[4])),
    ("S7", "killed by nobody", instead(STORY, STORY[7], AttemptEnded(1101, 1, KILLED, 101))),
    ("S7", "expired and begun", without(STALLED, STALLED[4])),
    ("S7", "failed and not expired", without(STALLED, STALLED[5])),
    ("S7", "goes on by itself", without(GIVING_WAY, GIVING_WAY[6])),
    ("S7", "the clock goes back", lambda: [*STORY[:5], STORY[3]]),
    ("S7", "a job never submitted", without(STORY, STORY[6])),
    (
        "S9",
        "suspended for longer than it was",
        instead(STORY, STORY[7], AttemptEnded(1101, 1, WON, 101, 500)),
    ),
    ("S10", "another submission", instead(STORY, STORY[19], JobFinished(2300, 1, WON, 900))),
    ("S12", "started while down", put(STORY, FaultStruck(1750, Crash(1)))),
    (
        "S12",
        "ended while it stands still",
        put(STORY, FaultStruck(3000, PauseNode(1)), FaultStruck(3999, Restart(0))),
    ),
    ("S12", "left on a lost node", without(LOSING, LOSING[11])),
    (
        "S12",
        "failed with a lost node",
        lambda: [
            *LOSING[:9],
            AttemptEnded(2000, 2, LOST, 1001),
            LOSING[10],
            AttemptClosed(9000, 2, LOST),
        ],
    ),
    (
        "S12",
        "launched on a lost node",
        put(LOSING[:-3], AttemptLaunched(9500, 3, 0, MAP, 0, 1, 1, OFF, PLAIN)),
    ),
    ("S13", "killed where nobody is", put(STORY, KillOrdered(500, 1, PLAIN))),
    ("S14", "too far from its input", lambda: headed(STORY, WAITING)),
    (
        "S14",
        "waited for longer than it was there",
        instead(
            headed(STORY, WAITING),
            STORY[4],
            moved_launch(200, PATIENT),
        ),
    ),
    (
        "S14",
        "after a change of policy",
        put(
            STORY,
            FaultStruck(1000, SwitchPolicy("fifo+delay(skips=5)")),
            JobSubmitted(2000, 2, "more", "ann", "", Priority.NORMAL, 1, 0),
            AttemptLaunched(2350, 6, 2, MAP, 0, 0, 0, OFF, Why(Reason.BY_KEY, "fifo", 1, skips=4)),
        ),
    ),
]


@pytest.mark.parametrize(
    ("rule", "doctor"), [pytest.param(r, d, id=f"{r} {what}") for r, what, d in BROKEN]
)
def test_a_doctored_recording_breaks_exactly_its_rule(rule: str, doctor: Doctor) -> None:
    with pytest.raises(Violation) as found:
        check_events(doctor())
    assert found.value.rule == rule, str(found.value)


@pytest.mark.parametrize(
    "events",
    [
        STORY,
        COPIED,
        LOSING,
        GIVING_WAY,
        STALLED,
        UNHEARD,
        failing(4)(),
        failing_with_its_copy(5000),
    ],
)
def test_the_recordings_themselves_break_none(events: Events) -> None:
    checks = check_events(events)
    assert [each.rule for each in checks] == [f"S{n}" for n in range(1, 16)]


def test_what_was_not_exercised_says_why() -> None:
    told = {each.rule: (each.times, each.idle) for each in check_events(STORY)}
    assert told["S1"] == (5, "")
    assert told["S6"] == (0, "a journal does not have a scheduler's books")
    assert told["S12"] == (0, "no node failed")
    assert told["S14"] == (0, "no delay scheduling")


def test_a_violation_tells_the_rule_the_event_the_state_and_what_came_before() -> None:
    with pytest.raises(Violation) as found:
        check_events(put(STORY, AttemptStarted(150, 1, 0, 0))())
    assert str(found.value).splitlines() == [
        "S3 is broken: only the allowed transitions, and none from an end",
        "  it is working: no start map from there",
        "  attempt 1 on node-0: working in slot 0, booked as launched",
        "The last events, the one at which it showed last:",
        "  00:00:00.000  run of “tiny” under fifo, seed 7, on 2 nodes (2 map slots, 2 reduce"
        " slots), by Callboard 0.1.0",
        "  00:00:00.000  job-0 “ads” submitted by ann: 2 maps, 1 reduce (pool prod, normal"
        " priority)",
        "  00:00:00.100  map 0 of job-0 launched on node-0, node-local (fifo: 1st in the queue)",
        "  00:00:00.101  map 0 of job-0 starts on node-0, slot 0",
        "  00:00:00.150  map 0 of job-0 starts on node-0, slot 0",
    ]
