"""Figures from events: the worked story, and S9 and S10 against counting every millisecond.

The story's figures are worked out in `tests/journal/stories.py`.
"""

import json
import tracemalloc
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    MapOutputsLost,
    Outcome,
    RunEnded,
    ShuffleEnded,
)
from callboard.actors.vocabulary.faults import Crash, PauseMaster, Restart, ResumeMaster
from callboard.journal.export.export_data import ExportData
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slot_time import SlotTime
from callboard.journal.figures.slowdown import SlowdownStatistics, slowdowns
from callboard.journal.figures.steps import steps
from callboard.journal.figures.summary import LocalityShares, SampleStatistics
from callboard.journal.figures.tables import SUCCEEDED
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import Locality, Priority, SlotKind
from callboard.scheduler.reasons import Reason, Why
from tests.journal.replay.support import counts_at
from tests.journal.stories import MAP, NODE, REDUCE, START, STORY, cut_at
from tests.journal.strategies import Lived, World, any_event, worlds

repeatable = settings(derandomize=True, deadline=None, max_examples=150)


def test_the_story_in_figures() -> None:
    found = Metrics.of(STORY).summary()
    assert json.loads(json.dumps(found.as_json(wall_seconds=0.25))) == {
        "scenario": "tiny",
        "policy": "fifo",
        "seed": 7,
        "digest": "d1ge57",
        "reason": "complete",
        "virtual_seconds": 4.4,
        "wall_seconds": 0.25,
        "messages": 321,
        "ties": 4,
        "jobs": {"submitted": 2, "completed": 2, "failed": 0, "killed": 0, "unfinished": 0},
        "tasks": {"maps": 3, "reduces": 1},
        "attempts": {"launched": 5, "succeeded": 4, "failed": 1, "killed": 0, "running": 0},
        "speculation": {"speculative_attempts": 0, "won": 0, "copies": 0},
        "response_seconds": {
            "mean": 2.85,
            "median": 2.85,
            "p95": pytest.approx(1.3 + 0.95 * 3.1),
            "p99": pytest.approx(1.3 + 0.99 * 3.1),
            "max": 4.4,
        },
        "waiting_seconds": {
            "mean": 0.15,
            "median": pytest.approx(0.15),
            "p95": pytest.approx(0.195),
            "p99": pytest.approx(0.199),
            "max": 0.2,
        },
        "locality": {"node": 0.5, "rack": 0.0, "off_rack": 0.5},
        "slot_seconds": {
            "useful": 6.5,
            "wasted": 1.5,
            "idle": 9.6,
            "unfinished": 0.0,
            "total": 17.6,
            "down": 0.0,
        },
        "slot_ms": {
            "all": slots(6500, 1500, 9600, 0, 17600),
            "map": slots(3500, 1500, 3800, 0, 8800),
            "reduce": slots(3000, 0, 5800, 0, 8800),
        },
        "shuffle_wait_seconds": 2.199,
        "utilisation": {"map": 5000 / 8800, "reduce": 3000 / 8800},
        "mean_jobs_in_system": 5700 / 4400,
        "little": {"area": 5700, "responses": 5700, "unfinished": 0},
    }


def slots(useful: int, wasted: int, idle: int, unfinished: int, total: int) -> dict[str, int]:
    return msgspec.structs.asdict(SlotTime(useful, wasted, idle, unfinished, total))


def test_the_story_cut_at_2000_ms() -> None:
    """Attempt 3 has run 799 ms, 5 has run 199, the reduce 699, all of it in shuffle.

    Maps: useful 1000, wasted 1500, unfinished 998, idle 4000 - 3498 = 502.
    Reduces: unfinished 699, idle 4000 - 699 = 3301.  Jobs: 1 for 1000 ms, 2 for 1000 ms.
    """
    found = Metrics.of(cut_at(2000)).summary()
    assert found.slot_ms.map == SlotTime(1000, 1500, 502, 998, 4000)
    assert found.slot_ms.reduce == SlotTime(0, 0, 3301, 699, 4000)
    assert found.slot_ms.all == SlotTime(1000, 1500, 3803, 1697, 8000)
    assert found.slot_ms.all.adds_up
    assert found.shuffle_wait_seconds == 0.699
    assert (found.attempts.launched, found.attempts.running) == (5, 3)
    assert (found.jobs.submitted, found.jobs.unfinished) == (2, 2)
    assert (found.little.area, found.little.responses, found.little.unfinished) == (3000, 0, 3000)
    assert found.response_seconds == SampleStatistics()
    assert found.reason == "until"


def test_between_the_slots_end_and_the_masters_hearing_work_is_unfinished() -> None:
    """At 1150 attempt 1 has ended well (1000 ms) but is not booked; at 1750 attempt 2 has
    failed by the slot's own word (1500 ms): that is waste whatever the master will say."""
    at_1150 = Metrics.of(cut_at(1150)).slot_time(MAP)
    assert (at_1150.useful, at_1150.wasted, at_1150.unfinished) == (0, 0, 1000 + 949)
    at_1750 = Metrics.of(cut_at(1750)).slot_time(MAP)
    assert (at_1750.useful, at_1750.wasted, at_1750.unfinished) == (1000, 1500, 549)


def test_a_cut_journal_has_figures_up_to_its_last_event() -> None:
    found = Metrics.of(STORY[:9]).summary()
    assert found.virtual_seconds == 1.2
    assert (found.digest, found.messages, found.reason) == (None, None, None)
    assert found.slot_ms.all.adds_up


def test_a_run_of_nothing_has_nulls_not_errors() -> None:
    found = Metrics.of([START]).summary()
    assert found.response_seconds == SampleStatistics()
    assert found.locality.node is found.utilisation.map is found.mean_jobs_in_system is None
    assert found.slot_ms.all == SlotTime()


def test_jobs_in_system_as_steps() -> None:
    found = Metrics.of(STORY).jobs_in_system()
    assert found.times.tolist() == [0, 1000, 2300, 4400]
    assert found.counts.tolist() == [1, 2, 1, 0]
    assert found.peak() == 2
    assert counts_at(found, np.array([0, 999, 1000, 4400])).tolist() == [1, 1, 2, 0]


def test_steps_that_change_nothing_are_left_out() -> None:
    """One job leaves at 5 as the next one comes; nothing is there from 9 to 12."""
    found = steps(np.array([0, 5]), np.array([5, 9]), 12)
    assert found.times.tolist() == [0, 9]
    assert found.counts.tolist() == [1, 0]
    assert (found.integral(), found.mean()) == (9, 0.75)


def test_the_table_of_jobs() -> None:
    jobs = Metrics.of(cut_at(3000)).jobs()
    assert jobs.job.tolist() == [0, 1]
    assert jobs.name == ("ads", "logs")
    assert jobs.user == ("ann", "bob")
    assert jobs.pool == ("prod", "")
    assert jobs.submitted_ms.tolist() == [0, 1000]
    assert jobs.finished_ms.tolist() == [NEVER, 2300]
    assert jobs.response_ms.tolist() == [NEVER, 1300]
    assert jobs.outcome.tolist() == [NEVER, SUCCEEDED]
    assert jobs.first_launch_ms.tolist() == [100, 1200]
    assert jobs.waiting_ms.tolist() == [100, 200]
    assert (jobs.maps.tolist(), jobs.reduces.tolist()) == ([2, 1], [1, 0])


def test_order_of_ids_is_not_the_order_of_events() -> None:
    """Jobs and attempts may come in any order of ids; the tables are sorted by id."""
    names = {0: 5, 1: 2}
    swapped = [
        msgspec.structs.replace(event, job=names[event.job]) if hasattr(event, "job") else event
        for event in STORY
    ]
    jobs = Metrics.of(swapped).jobs()
    assert jobs.job.tolist() == [2, 5]
    assert jobs.name == ("logs", "ads")
    assert jobs.response_ms.tolist() == [1300, 4400]
    assert jobs.waiting_ms.tolist() == [200, 100]


# What the sums catch -------------------------------------------------------------------------


def replaced(old: AnyEvent, new: AnyEvent) -> list[AnyEvent]:
    return [new if event is old else event for event in STORY]


def test_s9_fails_when_two_attempts_share_a_slot() -> None:
    """Attempt 5 started on node 0, where attempt 3 still runs."""
    doubled = replaced(STORY[16], AttemptStarted(1801, 5, 0, 0))
    moved = replaced(
        STORY[15], AttemptLaunched(1800, 5, 0, MAP, 1, 1, 0, NODE, Why(Reason.OWN, "x"))
    )
    both = [b if a is c else a for a, b, c in zip(doubled, moved, STORY, strict=True)]
    found = Metrics.of(both).summary().slot_ms.map
    assert found.busy + found.idle > found.total


def test_s9_fails_when_a_slot_is_used_that_does_not_exist() -> None:
    ghost = replaced(STORY[16], AttemptStarted(1801, 5, 1, 1))
    assert not Metrics.of(ghost).summary().slot_ms.map.adds_up


def test_s9_fails_when_a_slot_misstates_a_start() -> None:
    wrong = replaced(STORY[7], AttemptEnded(1101, 1, Outcome.SUCCEEDED, 100))
    assert not Metrics.of(wrong).summary().slot_ms.map.adds_up


def test_s9_fails_when_a_start_is_misstated_before_the_master_has_heard_of_the_end() -> None:
    wrong = replaced(STORY[7], AttemptEnded(1101, 1, Outcome.SUCCEEDED, 100))[:8]
    account = Metrics.of(wrong).slot_time(MAP)
    assert account.unfinished == 1001 + 900
    assert not account.adds_up


def test_s10_fails_when_a_job_misstates_its_submission() -> None:
    wrong = replaced(STORY[19], JobFinished(2300, 1, Outcome.SUCCEEDED, 999))
    assert not Metrics.of(wrong).little().holds


def test_an_attempt_of_no_length_may_begin_where_the_next_one_does() -> None:
    """Ids need not tell which of two came first: attempt 6 comes and goes before 3 begins."""
    moment: list[AnyEvent] = [
        AttemptLaunched(1200, 6, 1, MAP, 1, 0, 0, NODE, Why(Reason.OWN, "x")),
        AttemptStarted(1201, 6, 0, 0),
        AttemptEnded(1201, 6, Outcome.KILLED, 1201),
        AttemptClosed(1201, 6, Outcome.KILLED),
    ]
    assert Metrics.of([*STORY[:10], *moment, *STORY[10:]]).summary().slot_ms.map.adds_up


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (2, "attempt 1 was never launched"),
        (1, "job 0 was never submitted"),
        (0, "do not begin with RunStarted"),
    ],
)
def test_events_that_contradict_each_other_are_named(left_out: int, words: str) -> None:
    events = [*STORY[:left_out], *STORY[left_out + 1 :]]
    with pytest.raises(ValueError, match=words):
        Metrics.of(events).summary()


def test_an_id_used_twice_is_named() -> None:
    with pytest.raises(ValueError, match="attempt 1 was launched before"):
        Metrics.of([*STORY[:3], STORY[2]]).summary()
    with pytest.raises(ValueError, match=r"job-0, mapping.*no 'submit'"):
        Metrics.of([*STORY[:3], STORY[1]]).jobs()


def test_a_map_lost_after_it_was_booked_is_waste() -> None:
    """S9: a lost completed map moves from useful to wasted; the last booking counts."""
    lost = MapOutputsLost(4000, 0, 0, (1,), Outcome.KILLED)
    found = Metrics.of([*STORY[:-4], lost, *STORY[-4:]]).summary()
    assert found.slot_ms.map == SlotTime(2500, 2500, 3800, 0, 8800)
    assert (found.attempts.succeeded, found.attempts.killed) == (3, 1)


def test_an_attempt_given_up_holds_its_slot_until_its_real_end() -> None:
    """The master gives attempt 2 up at 1500; the slot goes on until 1701."""
    events = sorted(replaced(STORY[14], AttemptClosed(1500, 2, Outcome.KILLED)), key=at)
    assert Metrics.of(events).slot_time(MAP).wasted == 1500
    running = [event for event in events if event.at_ms < 1650]
    cut = [*running, RunEnded(1650, "until", 200, 2, "c07")]
    assert Metrics.of(cut).slot_time(MAP).wasted == 1650 - 201
    assert Metrics.of(cut).summary().attempts.killed == 1
    started = STORY[5]
    late = sorted([*cut, AttemptStarted(1600, 2, 1, 0)], key=at)
    late.remove(started)
    assert Metrics.of(late).slot_time(MAP).wasted == 1650 - 1600  # its launch came after all


def at(event: AnyEvent) -> int:
    return event.at_ms


# Against a plain count ----------------------------------------------------------------------


def category(one: Lived, horizon: int) -> str:
    """What an attempt's time counts as, in the words of the definition."""
    if one.closed <= horizon:
        return "useful" if one.booked is Outcome.SUCCEEDED else "wasted"
    spoilt = one.ended <= horizon and one.outcome is not Outcome.SUCCEEDED
    return "wasted" if spoilt else "unfinished"


def counted(world: World, kind: SlotKind) -> SlotTime:
    """Every slot in every millisecond, one at a time."""
    parts = dict.fromkeys(("useful", "wasted", "idle", "unfinished", "total"), 0)
    for node in world.nodes:
        for slot in range((node.map_slots, node.reduce_slots)[kind]):
            mine = [
                one
                for one in world.attempts
                if (one.node, one.kind, one.slot) == (node.node, kind, slot)
            ]
            for ms in range(world.horizon):
                held = [one for one in mine if one.started <= ms < one.ended]
                parts[category(held[0], world.horizon) if held else "idle"] += 1
                parts["total"] += 1
    return SlotTime(**parts)


@repeatable
@given(worlds())
def test_s9_slot_time_adds_up_and_is_what_counting_gives(world: World) -> None:
    metrics, attempts = Metrics.of(world.events()), ExportData.of_events(world.events()).attempts()
    for kind in SlotKind:
        found = metrics.slot_time(kind)
        assert found == counted(world, kind)
        assert found.adds_up
        assert found.busy == attempts.busy_slots(kind, metrics.horizon_ms).integral()
    summary = metrics.summary()
    assert summary.slot_ms.all == summary.slot_ms.map + summary.slot_ms.reduce


@repeatable
@given(worlds())
def test_s10_littles_law_holds_and_is_what_counting_gives(world: World) -> None:
    metrics = Metrics.of(world.events())
    area = sum(in_system(world, ms) for ms in range(world.horizon))
    found = metrics.little()
    assert found.area == area
    assert found.holds
    inside = metrics.jobs_in_system()
    moments = range(world.horizon)
    held = counts_at(inside, np.array(moments, np.int64)).tolist()
    assert held == [in_system(world, ms) for ms in moments]
    assert (np.diff(inside.times) > 0).all()
    assert (np.diff(inside.counts) != 0).all()


def in_system(world: World, ms: int) -> int:
    return sum(
        submitted <= ms and (finished is None or ms < finished)
        for submitted, finished, _ in world.jobs
    )


@repeatable
@given(worlds())
def test_counts_are_what_counting_gives(world: World) -> None:
    found = Metrics.of(world.events()).summary()
    end = world.horizon
    launched = [one for one in world.attempts if one.launched <= end]
    booked = [one.booked for one in launched if one.closed <= end]
    assert found.attempts.launched == len(launched)
    assert found.attempts.running == len(launched) - len(booked)
    assert found.attempts.succeeded == booked.count(Outcome.SUCCEEDED)
    assert found.attempts.failed == booked.count(Outcome.FAILED)
    assert found.attempts.killed == booked.count(Outcome.KILLED)
    done = [job for job in world.jobs if job[1] is not None and job[1] <= end]
    assert found.jobs.submitted == sum(job[0] <= end for job in world.jobs)
    assert found.jobs.completed == sum(job[2] is Outcome.SUCCEEDED for job in done)
    assert found.jobs.unfinished == found.jobs.submitted - len(done)
    maps = [one.level for one in launched if one.kind is SlotKind.MAP]
    shares = [maps.count(level) / len(maps) if maps else None for level in Locality]
    assert [found.locality.node, found.locality.rack, found.locality.off_rack] == shares


@repeatable
@given(worlds())
def test_shuffle_wait_is_what_counting_gives(world: World) -> None:
    end = world.horizon
    waited = sum(
        one.started <= ms < one.shuffled
        for one in world.attempts
        if one.shuffled is not None
        for ms in range(end)
    )
    assert Metrics.of(world.events()).summary().shuffle_wait_seconds == waited / 1000


# Slowdown, cost, completeness -----------------------------------------------------------------


def test_slowdown_is_response_over_the_time_alone() -> None:
    """4400 / 2200 = 2 and 1300 / 1300 = 1."""
    found = slowdowns(Metrics.of(STORY).jobs(), {0: 2200, 1: 1300})
    assert found.job.tolist() == [0, 1]
    assert found.slowdown.tolist() == [2.0, 1.0]
    assert (found.statistics.mean, found.statistics.median, found.statistics.max) == (1.5, 1.5, 2.0)


def test_slowdown_is_of_completed_jobs_only() -> None:
    found = slowdowns(Metrics.of(cut_at(3000)).jobs(), {1: 650})
    assert (found.job.tolist(), found.slowdown.tolist()) == ([1], [2.0])
    assert slowdowns(Metrics.of(cut_at(500)).jobs(), {}).statistics == SlowdownStatistics()


def test_slowdown_can_be_of_some_jobs_only() -> None:
    """The jobs of a tail keep the cluster busy and are not judged; they need no time alone."""
    found = slowdowns(Metrics.of(STORY).jobs(), {1: 650}, eligible={1, 7})
    assert (found.job.tolist(), found.slowdown.tolist()) == ([1], [2.0])


def test_the_measures_of_table_iv_of_the_global_preemption_paper() -> None:
    """Slowdowns 2 and 1: l2 = sqrt(5 / 2), SNP = sqrt(1/2 · 1), the performances 0.5 and 1 have a
    mean of 0.75 and deviate by 0.25.
    """
    found = slowdowns(Metrics.of(STORY).jobs(), {0: 2200, 1: 1300}).statistics
    assert found.mean == 1.5
    assert found.l2 == pytest.approx(2.5**0.5)
    assert found.snp == pytest.approx(0.5**0.5)
    assert found.unfairness == pytest.approx(1 / 3)


def test_a_missing_solo_time_is_named() -> None:
    with pytest.raises(ValueError, match="no solo time for job 1"):
        slowdowns(Metrics.of(STORY).jobs(), {0: 2200})


@settings(derandomize=True, deadline=None)
@given(any_event)
def test_observing_goes_on_after_tables_were_made(event: AnyEvent) -> None:
    """Asking in the middle of a run must not stand in the way of the events to come."""
    metrics = Metrics.of(STORY)
    jobs, _ = metrics.jobs(), metrics.summary()
    metrics.observe(event)
    assert metrics.horizon_ms == event.at_ms
    assert len(jobs.job) == 2


def long_run(jobs: int) -> Iterator[AnyEvent]:
    """Jobs of a hundred maps and a reduce, one after another; the last one does not end."""
    yield START
    why, attempt = Why(Reason.BY_KEY, "fifo", 1), 0
    for job in range(jobs):
        yield JobSubmitted(attempt, job, "job", "ann", "", Priority.NORMAL, 100, 1)
        for kind, task in [*((MAP, task) for task in range(100)), (REDUCE, 0)]:
            attempt += 1
            yield AttemptLaunched(attempt, attempt, job, kind, task, 0, 0, NODE, why)
            yield AttemptStarted(attempt, attempt, 0, 0)
            if kind is REDUCE:
                yield ShuffleEnded(attempt, attempt)
            yield AttemptEnded(attempt, attempt, Outcome.SUCCEEDED, attempt)
            yield AttemptClosed(attempt, attempt, Outcome.SUCCEEDED)
        if job < jobs - 1:
            yield JobFinished(attempt, job, Outcome.SUCCEEDED, attempt)


def memory_of(jobs: int) -> tuple[int, int]:
    """Of such a run's figures: the bytes that they keep, and the most while they are summed up."""
    tracemalloc.start()
    try:
        metrics = Metrics.of(long_run(jobs))
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        assert metrics.summary().attempts.succeeded == 101 * jobs
        return held, tracemalloc.get_traced_memory()[1] - held
    finally:
        tracemalloc.stop()


def test_of_attempts_that_are_over_nothing_is_kept() -> None:
    """A job more costs what a job does, 1 kB, though it has 101 attempts; nor does summing up."""
    Metrics.of(STORY).summary()  # numpy loads some of its parts when they are needed first
    (few, _), (many, peak) = memory_of(10), memory_of(110)
    assert many - few < 100 * 1500
    assert peak < 110 * 500 + 10_000


SUSPENDED = (
    START,
    STORY[1],
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 0, NODE, Why(Reason.BY_KEY, "fifo", 1)),
    AttemptStarted(101, 1, 0, 0),
    AttemptSuspended(301, 1),
    AttemptResumed(1301, 1, 0, 0),
    AttemptEnded(1501, 1, Outcome.SUCCEEDED, 101, 1000),
    AttemptClosed(1600, 1, Outcome.SUCCEEDED),
    RunEnded(2000, "complete", 0, 0, ""),
)
"""One map that holds its slot for 200 ms, is suspended for 1000 and holds it for 200 more."""


def test_suspended_time_is_neither_held_nor_lost() -> None:
    metrics = Metrics.of(SUSPENDED)
    account = metrics.slot_time(MAP)
    assert (account.useful, account.wasted, account.idle) == (400, 0, 2 * 2000 - 400)
    assert account.adds_up
    busy = ExportData.of_events(SUSPENDED).attempts().busy_slots(MAP, metrics.horizon_ms)
    assert busy.times.tolist() == [0, 101, 301, 1301, 1501]
    assert busy.counts.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("upto", [5, 6])
def test_a_run_cut_within_a_suspension_adds_up(upto: int) -> None:
    """Suspended at the end: 200 ms so far.  Resumed: those and what came after."""
    account = Metrics.of([*SUSPENDED[:upto], RunEnded(1400, "until", 0, 0, "")]).slot_time(MAP)
    assert account.unfinished == (200 if upto == 5 else 299)
    assert account.adds_up


@pytest.mark.parametrize("stated_ms", [999, 1001])
def test_a_misstated_suspension_is_found(stated_ms: int) -> None:
    """S9 is a check: the end's word against the stints."""
    ended = AttemptEnded(1501, 1, Outcome.SUCCEEDED, 101, stated_ms)
    assert not Metrics.of([*SUSPENDED[:6], ended, *SUSPENDED[7:]]).slot_time(MAP).adds_up


@pytest.mark.parametrize(
    ("left_out", "words"), [(4, r"working.*no 'resume'"), (5, r"suspended.*no 'suspend'")]
)
def test_stints_that_contradict_each_other_are_refused(left_out: int, words: str) -> None:
    events = [*SUSPENDED[:left_out], *SUSPENDED[left_out + 1 :]]
    if left_out == 5:
        events.insert(5, AttemptSuspended(1400, 1))
    with pytest.raises(ValueError, match=words):
        Metrics.of(events).summary()


# What comes after an attempt's end ----------------------------------------------------------

WHY = Why(Reason.BY_KEY, "fifo", 1)
KILLED = Outcome.KILLED


def submission(job: int, at_ms: int) -> JobSubmitted:
    return JobSubmitted(at_ms, job, "job", "ann", "", Priority.NORMAL, 2, 1)


DONE: tuple[AnyEvent, ...] = (
    START,
    submission(0, 0),
    AttemptLaunched(100, 1, 0, MAP, 0, 0, 0, NODE, WHY),
    AttemptStarted(101, 1, 0, 0),
    AttemptLaunched(110, 2, 0, MAP, 0, 1, 1, NODE, WHY, 1),
    AttemptStarted(111, 2, 1, 0),
    AttemptEnded(511, 2, Outcome.SUCCEEDED, 111),
    AttemptClosed(520, 2, Outcome.SUCCEEDED),
    AttemptEnded(531, 1, KILLED, 101),
    AttemptClosed(540, 1, KILLED),
    AttemptLaunched(600, 3, 0, MAP, 1, 0, 0, NODE, WHY),
    AttemptStarted(601, 3, 0, 0),
    AttemptEnded(1001, 3, Outcome.SUCCEEDED, 601),
    AttemptClosed(1010, 3, Outcome.SUCCEEDED),
)
"""Both maps of a job are done, one by a speculative attempt: 400 ms each; 430 are wasted."""


def useful_and_wasted(events: Sequence[AnyEvent]) -> tuple[int, int]:
    account = Metrics.of(events).summary().slot_ms.map
    assert account.adds_up
    return account.useful, account.wasted


def booked(events: Sequence[AnyEvent]) -> tuple[int, int, int, int]:
    """How many succeeded, failed, were killed, and how many speculative ones did their task."""
    found = Metrics.of(events).summary()
    counts = found.attempts
    return counts.succeeded, counts.failed, counts.killed, found.speculation.won


def test_what_an_output_cost_is_wasted_once_it_is_lost() -> None:
    assert useful_and_wasted(DONE) == (800, 430)
    assert booked(DONE) == (2, 0, 1, 1)
    lost = MapOutputsLost(1100, 0, 1, (2,), Outcome.FAILED)
    assert useful_and_wasted([*DONE, lost]) == (400, 830)
    assert booked([*DONE, lost]) == (1, 1, 1, 0)
    with pytest.raises(ValueError, match="not all have an output to lose"):
        Metrics.of([*DONE, lost, lost]).summary()


def test_what_a_job_did_before_it_was_submitted_again_is_wasted() -> None:
    again = [*DONE, JobResubmitted(1200, 0)]
    assert useful_and_wasted(again) == (0, 1230)
    assert booked(again) == (0, 0, 3, 0)
    again += [
        AttemptLaunched(1300, 4, 0, MAP, 0, 0, 0, NODE, WHY),
        AttemptStarted(1301, 4, 0, 0),
        AttemptEnded(1401, 4, Outcome.SUCCEEDED, 1301),
        AttemptClosed(1410, 4, Outcome.SUCCEEDED),
    ]
    assert useful_and_wasted(again) == (100, 1230)
    assert booked(again) == (1, 0, 3, 0)
    with pytest.raises(ValueError, match="not all have an output to lose"):
        Metrics.of([*again, MapOutputsLost(1500, 0, 0, (3,), KILLED)]).summary()


def test_a_paused_master_may_give_up_outputs_of_a_job_that_has_ended() -> None:
    """It hears of the end when it goes on, perhaps after the loss of a node."""
    events: list[AnyEvent] = [
        *DONE,
        submission(1, 1050),
        submission(2, 1060),
        FaultStruck(1100, PauseMaster()),
        JobFinished(1110, 0, KILLED, 0),
        JobFinished(1120, 1, KILLED, 1050),
        FaultStruck(1200, ResumeMaster()),
        JobFinished(1200, 2, KILLED, 1060),
        MapOutputsLost(1200, 0, 1, (2,), KILLED),
    ]
    assert useful_and_wasted(events) == (400, 830)


def test_a_reduce_that_never_had_all_outputs_waited_as_long_as_it_held_slots() -> None:
    events: list[AnyEvent] = [
        START,
        submission(0, 0),
        AttemptLaunched(100, 1, 0, REDUCE, 0, 0, 0, NODE, WHY),
        AttemptStarted(101, 1, 0, 1),
        AttemptSuspended(201, 1),
        AttemptResumed(301, 1, 0, 1),
        AttemptEnded(451, 1, KILLED, 101, 100),
    ]
    for count, waited_ms in ((5, 100), (6, 100), (7, 250)):
        assert Metrics.of(events[:count]).summary().shuffle_wait_seconds == waited_ms / 1000


def test_who_is_killed_while_suspended_leaves_no_slot() -> None:
    """Its own is held by another attempt by then."""
    events: list[AnyEvent] = [
        *SUSPENDED[:5],
        AttemptLaunched(310, 2, 0, MAP, 1, 0, 0, NODE, WHY),
        AttemptStarted(311, 2, 0, 0),
        AttemptEnded(351, 1, KILLED, 101, 50),
        AttemptClosed(360, 1, KILLED),
        RunEnded(500, "until", 0, 0, ""),
    ]
    assert useful_and_wasted(events) == (0, 200)
    assert Metrics.of(events).slot_time(MAP).unfinished == 189


def test_slots_of_a_crashed_node_are_down_and_not_idle() -> None:
    events: list[AnyEvent] = [
        START,
        FaultStruck(1000, Crash(1)),
        FaultStruck(1600, Restart(1)),
        FaultStruck(1900, Crash(0)),
        RunEnded(2000, "until", 0, 0, ""),
    ]
    assert Metrics.of(events).slot_time(MAP) == SlotTime(idle=3300, down=700, total=4000)


def test_where_maps_were_launched_is_told_by_job() -> None:
    """Job 0: maps on node, off rack, and again off rack after a failure; job 1: one on its node."""
    locality = Metrics.of(STORY).map_locality()
    assert locality.job.tolist() == [0, 1]
    assert locality.shares([0]) == LocalityShares(1 / 3, 0, 2 / 3)
    assert locality.shares([1]) == LocalityShares(1, 0, 0)
    assert locality.shares() == Metrics.of(STORY).summary().locality
    assert locality.shares([]) == LocalityShares()
