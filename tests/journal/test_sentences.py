"""Sentences: one for every event, with names from what came before."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from callboard.actors.network import LinkConditions
from callboard.actors.vocabulary.events import (
    EVENT_TYPES,
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptSuspended,
    FaultStruck,
    JobChanged,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    NodeBlacklisted,
    NodeUnblacklisted,
    OrderSwitched,
    Outcome,
    ResumeOrdered,
    RunEnded,
    SchedulingAttempted,
    SizeEstimated,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Disturb,
    Drift,
    Flaky,
    Hang,
    SetPool,
    SetPriority,
    StickLaunches,
)
from callboard.journal.format import JournalError
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.journal.tell.show import EVENT_KINDS, ShowOptions, check_kind, show
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import MAPS, Priority
from callboard.scheduler.reasons import (
    AttemptPace,
    PoolClaimant,
    Reason,
    ShareKind,
    Shortage,
    Starving,
    Why,
)
from callboard.scheduler.text.concise import concise
from tests.journal.stories import MAP, NODE, STORY
from tests.journal.strategies import any_event

TOLD = """\
00:00:00.000  run of “tiny” under fifo, seed 7, on 2 nodes (2 map slots, 2 reduce slots), by Callboard 0.1.0
00:00:00.000  job-0 “ads” submitted by ann: 2 maps, 1 reduce (pool prod, normal priority)
00:00:00.100  map 0 of job-0 launched on node-0, node-local (fifo: 1st in the queue)
00:00:00.101  map 0 of job-0 starts on node-0, slot 0
00:00:00.200  map 1 of job-0 launched on node-1, off-rack (fifo: 1st in the queue)
00:00:00.201  map 1 of job-0 starts on node-1, slot 0
00:00:01.000  job-1 “logs” submitted by bob: 1 map, 0 reduces (high priority)
00:00:01.101  map 0 of job-0 succeeded on node-0 after 1.000 s
00:00:01.200  the master books map 0 of job-0 as succeeded
00:00:01.200  map 0 of job-1 launched on node-0, node-local (fifo: 2nd in the queue, score 1000; passed over job-0: no map waiting)
00:00:01.201  map 0 of job-1 starts on node-0, slot 0
00:00:01.300  reduce 0 of job-0 launched on node-1 (fifo: 1st in the queue)
00:00:01.301  reduce 0 of job-0 starts on node-1, slot 0
00:00:01.701  map 1 of job-0 failed on node-1 after 1.500 s
00:00:01.800  the master books map 1 of job-0 as failed
00:00:01.800  map 1 of job-0 (attempt 2) launched on node-1, off-rack (fifo: 1st in the queue)
00:00:01.801  map 1 of job-0 (attempt 2) starts on node-1, slot 0
00:00:02.201  map 0 of job-1 succeeded on node-0 after 1.000 s
00:00:02.300  the master books map 0 of job-1 as succeeded
00:00:02.300  job-1 “logs” succeeded after 1.300 s
00:00:03.301  map 1 of job-0 (attempt 2) succeeded on node-1 after 1.500 s
00:00:03.400  the master books map 1 of job-0 (attempt 2) as succeeded
00:00:03.500  reduce 0 of job-0 has all its map outputs
00:00:04.301  reduce 0 of job-0 succeeded on node-1 after 3.000 s
00:00:04.400  the master books reduce 0 of job-0 as succeeded
00:00:04.400  job-0 “ads” succeeded after 4.400 s
00:00:04.400  the run is complete: 321 messages, 4 ties, digest d1ge57
""".splitlines()  # noqa: E501


@pytest.fixture
def story(tmp_path: Path) -> Path:
    with JournalWriter(tmp_path / "story.journal") as sink:
        for event in STORY:
            sink(event)
    return tmp_path / "story.journal"


class Teller:
    """Tells events in their order, as `show` does."""

    def __init__(self) -> None:
        self.run_state = RunState()
        self._narrator = Narrator(self.run_state)

    def tell(self, event: AnyEvent) -> str:
        told = self._narrator.describe(event)
        self.run_state.observe_if_possible(event)
        return told


def described(event: AnyEvent) -> str:
    """What an event says by itself."""
    return Narrator(RunState()).describe(event)


def test_the_story_is_told(story: Path) -> None:
    assert list(show(story)) == TOLD


def test_a_kill_is_told_with_its_reason() -> None:
    teller = Teller()
    for event in STORY[:6]:
        teller.tell(event)
    told = teller.tell(KillOrdered(300, 2, Why(Reason.OWN, "fair-share", 3, 0.25)))
    assert told == (
        "map 1 of job-0 on node-1 must give way"
        " (fair-share: 3rd of the check's victims, score 0.25)"
    )
    assert teller.tell(AttemptEnded(400, 2, Outcome.KILLED, 201)) == (
        "map 1 of job-0 was killed on node-1 after 0.199 s"
    )


def test_a_suspension_is_told_from_its_order_to_its_end() -> None:
    teller = Teller()
    for event in STORY[:6]:
        teller.tell(event)
    ads = PoolClaimant("ads")
    lacking = Starving((Shortage(ads, 1, ShareKind.MIN),))
    why = Why(Reason.STARVATION, "suspend", 1, 0.0, ads, lacking)
    told: list[AnyEvent] = [
        SuspendOrdered(300, 2, why),
        AttemptSuspended(400, 2),
        ResumeOrdered(40_300, 2, Why(Reason.BY_KEY, "fair", 1)),
        AttemptResumed(40_400, 2, 1, 0),
        AttemptEnded(41_000, 2, Outcome.SUCCEEDED, 201, 40_000),
    ]
    assert [teller.tell(event) for event in told] == [
        "map 1 of job-0 on node-1 must give way and keep its work"
        " (suspend, pool ads lacks 1 of its min share: 1st of the check's victims)",
        "map 1 of job-0 is suspended on node-1 and keeps its work",
        "map 1 of job-0 on node-1 may go on (fair: 1st in the queue)",
        "map 1 of job-0 goes on after 40.000 s on node-1, slot 0",
        "map 1 of job-0 succeeded on node-1 after 40.799 s, 40.000 s of it suspended",
    ]


def test_a_standstill_is_told_with_its_reason() -> None:
    teller = Teller()
    for event in STORY[:6]:
        teller.tell(event)
    told: list[AnyEvent] = [
        AttemptStalled(300, 2, 0.0, Stall.NO_INPUT),
        StallEnded(400, 2),
        AttemptStalled(500, 2, 0.25, Stall.HANGS),
        AttemptStalled(600, 1, 0.0, Stall.NOT_BEGUN),
        LaunchExpired(700, 1),
    ]
    assert [teller.tell(event) for event in told] == [
        "map 1 of job-0 on node-1 waits: no replica of its input can be read",
        "map 1 of job-0 on node-1 finds its input",
        "map 1 of job-0 on node-1 hangs, 25 % done",
        "map 0 of job-0 on node-0 waits: it cannot begin",
        "the master gives map 0 of job-0 on node-0 up: its launch has expired",
    ]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            Flaky(3, 0.5, 0.25),
            "fails 50% of the attempts that start on it from now on, at 25% of",
        ),
        (Hang(3, 0.5), "of the attempts that start on node-3 from now on 50% hang"),
        (Hang(3, 1.0, 0.5), "from now on 100% hang, 50% done"),
        (Hang(3, 0.0), "attempts that start on node-3 hang no more"),
        (StickLaunches(3, 0.5), "of the attempts launched on node-3 from now on 50% never begin"),
        (StickLaunches(3, 0.0), "attempts launched on node-3 begin again"),
        (Drift(3, 1.5), "the clock of node-3 goes 1.5 times as fast from now on"),
        (Drift(3, 1.0), "the clock of node-3 goes right again"),
        (SetPriority(3, Priority.VERY_LOW), "job-3 is given very low priority"),
        (SetPool(3, "ads"), "job-3 is put into pool ads"),
        (
            Disturb(3, LinkConditions(reordered=0.25), LinkConditions(loss=0.1)),
            "changes: up lets others overtake 25%, down loses 10%",
        ),
    ],
)
def test_what_happens_to_the_world_is_told(fault: AnyFault, told: str) -> None:
    assert told in described(FaultStruck(0, fault))


def test_changes_of_a_job_are_told() -> None:
    teller = Teller()
    assert teller.tell(JobChanged(0, 3, "ads", Priority.HIGH)) == (
        "job-3 is in pool ads and has high priority from now on"
    )
    assert teller.tell(JobChanged(0, 3, "", Priority.LOW)) == ("job-3 has low priority from now on")


def test_a_list_of_bad_nodes_is_told() -> None:
    told: list[AnyEvent] = [
        NodeBlacklisted(0, 3, 4, True),
        NodeBlacklisted(0, 3, 4, False),
        NodeUnblacklisted(0, 3),
    ]
    assert [described(event) for event in told] == [
        "node-3 is listed as bad, having been shunned by 4 jobs that succeeded:"
        " it gets no more tasks",
        "node-3 is listed as bad, having been shunned by 4 jobs that succeeded",
        "node-3 is not listed as bad any more",
    ]


def test_a_switch_of_orders_is_told() -> None:
    told = described(OrderSwitched(300, "fifo", "fair", MAP, 1009, 0, 8))
    assert told == "the order changes from fifo to fair: 1,009 maps wait, 0 of 8 slots are free"


def test_an_attempt_to_place_is_told_with_the_nodes_of_conflicts() -> None:
    attempt = SchedulingAttempted(300, 1, 2, MAPS, 0, 1500, 9, (1, 0), (4, 4, 5), ())
    thought = "scheduler 2 has thought for 1.500 s about 9 maps of job-1"
    assert described(attempt) == f"{thought} and places 3"
    full = replace(attempt, committed=())
    assert described(full) == f"{thought}: there is no room"
    lost = replace(attempt, conflicted=(7, 7, 8, 9, 6))
    assert described(lost) == (
        f"{thought} and places 3: 5 claims in conflict, on node-7, node-8, node-9 and 1 more"
    )


def test_a_measured_size_is_told_with_what_is_left() -> None:
    told = described(SizeEstimated(300, 1, MAP, 3_900_000, 3_600_000))
    assert told == (
        "the order takes the maps of job-1 for 1 h 05 min of slot time in all,"
        " 1 h 00 min of it left"
    )


def test_a_launch_says_what_its_job_had_put_up_with() -> None:
    why = Why(Reason.BY_KEY, "fair", 2, 0.5, skips=12, waited_ms=5100)
    told = described(AttemptLaunched(0, 1, 0, MAP, 0, 0, 0, NODE, why))
    assert told.endswith(
        "(fair: 2nd in the queue, 0.5 running / weight;"
        " had been passed over 12 times, waited 5.100 s)"
    )


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("until", "the run stops at its time limit: "),
        ("interrupted", "the run was interrupted: "),
        ("fuse", "the run ends (fuse): "),
    ],
)
def test_endings(reason: str, words: str) -> None:
    told = described(RunEnded(5, reason, 1, 1, "d"))
    assert told == words + "1 message, 1 tie, digest d"
    told = described(RunEnded(5, reason, None, None, "events-d"))
    assert told == words + "messages not measured, digest events-d"


def test_an_attempt_closed_already_is_known_until_it_has_ended() -> None:
    """As when a node given up for lost reports the end of an attempt after all."""
    teller = Teller()
    for event in STORY[:6]:
        teller.tell(event)
    teller.tell(AttemptClosed(300, 2, Outcome.KILLED))
    ended = AttemptEnded(400, 2, Outcome.SUCCEEDED, 201)
    assert teller.tell(ended) == "map 1 of job-0 succeeded on node-1 after 0.199 s"
    assert teller.tell(ended) == "attempt-2 succeeded after 0.199 s"


def test_memory_is_of_the_living_only() -> None:
    teller = Teller()
    most = 0
    for event in STORY:
        teller.tell(event)
        most = max(most, len(teller.run_state.attempts))
    assert most == 3
    assert not teller.run_state.attempts
    assert not teller.run_state.live


@settings(derandomize=True, deadline=None)
@given(any_event)
def test_every_event_has_a_sentence_on_one_line(event: AnyEvent) -> None:
    """Of every type (the strategy knows them all) and with any text in it."""
    assert described(event).isprintable()


def test_a_name_cannot_write_to_the_terminal() -> None:
    odd = JobSubmitted(0, 3, "a\x1b[2J\nb", "u", "", Priority.LOW, 1, 1)
    assert "“a\\x1b[2J\\nb”" in described(odd)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (ShowOptions(job=1), [6, 9, 10, 17, 18, 19]),
        (ShowOptions(node=1), [4, 5, 11, 12, 13, 14, 15, 16, 20, 21, 22, 23, 24]),
        (ShowOptions(job=0, node=0), [2, 3, 7, 8]),
        (ShowOptions(kind="job-finished"), [19, 25]),
        (ShowOptions(kind="attempt-closed", job=1), [18]),
        (ShowOptions(job=9), []),
        (ShowOptions(limit=27), list(range(27))),
    ],
)
def test_filters(story: Path, options: ShowOptions, lines: list[int]) -> None:
    assert list(show(story, options)) == [TOLD[n] for n in lines]


def test_a_filter_does_not_change_the_words(tmp_path: Path) -> None:
    """What is over is forgotten whether or not its end was printed."""
    with JournalWriter(tmp_path / "late.journal") as sink:
        for event in (*STORY[:6], AttemptClosed(300, 2, Outcome.KILLED)):
            sink(event)
        sink(AttemptEnded(400, 2, Outcome.SUCCEEDED, 201))
        sink(AttemptClosed(500, 2, Outcome.KILLED))
        sink(STORY[-1])
    books = list(show(tmp_path / "late.journal", ShowOptions(kind="attempt-closed")))
    assert books == [
        "00:00:00.300  the master books map 1 of job-0 as killed",
        "00:00:00.500  the master books attempt-2 as killed",
    ]
    assert books[1] in list(show(tmp_path / "late.journal"))


def test_a_limit_says_that_there_is_more(story: Path) -> None:
    assert list(show(story, ShowOptions(limit=2, job=1))) == [
        TOLD[6],
        TOLD[9],
        "… more follow; the limit is 2",
    ]
    assert list(show(story, ShowOptions(limit=0))) == ["… more follow; the limit is 0"]


def test_a_journal_without_its_end_says_so(story: Path) -> None:
    whole = story.read_bytes()
    story.write_bytes(whole[:-12])
    assert list(show(story))[-2:] == [
        TOLD[-2],
        "… the journal breaks off here: the run was killed",
    ]
    with JournalWriter(story) as sink:
        sink(STORY[0])
    assert list(show(story))[1:] == ["… the journal ends here, without the end of the run"]


def test_a_run_that_is_still_being_recorded_is_told_from_one_that_was_killed(
    tmp_path: Path,
) -> None:
    with JournalWriter(tmp_path / "a.journal") as sink:
        for event in STORY[:-1]:
            sink(event)
        sink.flush()
        last = list(show(tmp_path / "a.journal"))[-1]
    assert last == "… so far: the run is still being recorded"


def test_a_node_that_is_not_there_is_refused(story: Path) -> None:
    """Nothing was printed, as if nothing had happened on it."""
    with pytest.raises(LookupError, match=r"no node-77; there are node-0 to node-\d"):
        show(story, ShowOptions(node=77))


def test_damage_is_reported_after_what_is_sound(story: Path) -> None:
    with JournalWriter(story) as sink:
        for event in STORY * 150:
            sink(event)
    story.write_bytes(story.read_bytes()[:-1] + b"?")
    lines: list[str] = []
    with pytest.raises(JournalError, match="do not fit their checksum") as caught:
        lines.extend(show(story))
    kept = f"`head -c {caught.value.offset}` of the file keeps it"
    assert kept in str(caught.value)
    assert lines[: len(TOLD)] == TOLD
    assert next(iter(Journal(story))) == STORY[0]
    story.write_bytes(story.read_bytes()[: caught.value.offset])
    assert tuple(Journal(story))[: len(STORY)] == STORY


def test_kinds_are_all_the_events() -> None:
    assert set(EVENT_KINDS.values()) == set(EVENT_TYPES)
    assert check_kind("attempt-launched") == "attempt-launched"
    with pytest.raises(ValueError, match=r"is no kind of event; did you mean `job-finished`\?"):
        check_kind("job-finish")


def test_an_unknown_kind_is_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="is no kind of event; there are: run-started, job-submitted, "
    ) as caught:
        show(tmp_path / "absent", ShowOptions(kind="zzz"))
    assert concise(str(caught.value)).endswith("job-finished, run-ended")
    assert all(kind in concise(str(caught.value)) for kind in EVENT_KINDS)


def test_a_copy_names_the_node_of_the_other_and_a_losers_kill_has_no_place_in_a_queue() -> None:
    teller = Teller()
    teller.tell(JobSubmitted(0, 0, "", "", "", Priority.NORMAL, 4, 0))
    teller.tell(AttemptLaunched(0, 1, 0, MAP, 3, 0, 7, NODE, Why(Reason.BY_KEY, "fifo", 1)))
    why = Why(Reason.LONGEST_LEFT, "late", 2, 586.667, detail=AttemptPace(80_000, 0.12))
    told = teller.tell(AttemptLaunched(9, 2, 0, MAP, 3, 1, 8, NODE, why, 1))
    assert told == (
        "map 3 of job-0 (attempt 2) launched on node-8, node-local (a copy of the one on node-7;"
        " late: 12 % done in 80 s, some 587 s left: 2nd of the stragglers, score 586.667)"
    )
    lost = teller.tell(KillOrdered(20, 1, Why(Reason.TASK_DONE)))
    assert lost == "map 3 of job-0 on node-7 must give way (its task is done)"
