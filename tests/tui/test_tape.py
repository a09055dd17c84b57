"""The tape: going anywhere gives what playing there would, and every sentence is the narrator's."""

import random

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptLaunched,
    JobFinished,
    KillOrdered,
    RunEnded,
)
from callboard.journal.sentences import Narrator
from callboard.tui import tape as tapes
from callboard.tui.frame import JobKey, LogLevel, Mark, View
from callboard.tui.head import Head
from callboard.tui.source import GoTo, GoToEvent, Play, Step, StepKind
from callboard.tui.story import Wanted, line_of, lines_before
from callboard.tui.tape import Tape
from tests.tui.support import events_of, outage, recorded
from tests.tui.test_stage import RUNS, folded, told


def taped(events: tuple[object, ...]) -> Tape:
    tape = Tape()
    for event in events:
        tape.append(event)  # type: ignore[arg-type]
    return tape


def test_any_event_can_be_gone_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """With snapshots every 64 events, of which at most 8 are kept: back, forth, and far."""
    monkeypatch.setattr(tapes, "_SNAPSHOT_EVERY", 64)
    monkeypatch.setattr(tapes, "_SNAPSHOTS_MAX", 8)
    events = outage()
    tape = taped(events)
    draw = random.Random(1)
    for index in (0, 1, len(events), 63, 64, 65, *(draw.randrange(len(events)) for _ in range(20))):
        assert told(tape.stage_at(index)) == told(folded(list(events[:index]))), index
    assert told(tape.tip) == told(folded(events))


def test_the_events_come_back_as_they_were() -> None:
    events = outage()
    tape = taped(events)
    assert [tape.event(index) for index in range(len(events))] == list(events)


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_a_sentence_told_alone_is_the_narrators(run: tuple[str, str]) -> None:
    events = events_of(*run)
    tape, narrator = taped(events), Narrator()
    for index, event in enumerate(events):
        told_alone = line_of(tape, index)
        narrator.learn(event)
        assert (told_alone.job, told_alone.node) == narrator.subject(event)
        assert told_alone.text == narrator.describe(event)
        narrator.forget(event)


class TestLog:
    def test_it_holds_the_last_lines_of_a_level(self) -> None:
        tape = taped(outage())
        lines = lines_before(tape, len(tape), 3, Wanted(LogLevel.HEADLINES))
        assert lines[-1].text.startswith("the run is complete")
        assert all(line.level is LogLevel.HEADLINES for line in lines)
        assert [line.index for line in lines] == sorted(line.index for line in lines)

    def test_it_can_be_about_one_job_or_node(self) -> None:
        tape = taped(outage())
        lines = lines_before(tape, len(tape), 10_000, Wanted(job=3))
        assert {line.job for line in lines} == {3}
        assert len(lines) == sum(job == 3 for job in tape.jobs)
        nodes = lines_before(tape, len(tape), 10_000, Wanted(LogLevel.HEADLINES, node=2))
        assert {line.node for line in nodes} == {2}

    def test_it_can_be_searched_and_the_search_turned_round(self) -> None:
        tape = taped(outage())
        found = lines_before(tape, len(tape), 99, Wanted(LogLevel.HEADLINES, text="CRASH"))
        assert len(found) == 10
        others = lines_before(tape, len(tape), 999, Wanted(LogLevel.HEADLINES, text="!crash"))
        every = lines_before(tape, len(tape), 999, Wanted(LogLevel.HEADLINES))
        assert len(found) + len(others) == len(every)

    def test_blocks_do_not_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tape = taped(outage())
        whole = lines_before(tape, 2000, 500, Wanted(job=0))
        monkeypatch.setattr("callboard.tui.story._BLOCK", 7)
        assert lines_before(tape, 2000, 500, Wanted(job=0)) == whole


class TestHead:
    def head(self) -> Head:
        return Head(taped(outage()))

    def test_a_moment_has_all_its_events(self) -> None:
        head = self.head()
        head.move(GoTo(420_000))
        assert head.tape.times[head.index - 1] == 420_000
        assert head.tape.times[head.index] > 420_000

    def test_it_stays_on_the_tape(self) -> None:
        head = self.head()
        head.move(GoTo(10**12))
        assert (head.at_ms, head.index) == (head.tape.end_ms, len(head.tape))
        head.move(GoTo(-5))
        assert head.at_ms == 0
        head.move(Step(StepKind.EVENT, back=True))
        for _ in range(100):
            head.move(Step(StepKind.EVENT, back=True))
        assert head.index == 1  # the run's start is always there

    def test_slow_playing_adds_up(self) -> None:
        head = self.head()
        for _ in range(100):
            head.move(Play(0.25))
        assert head.at_ms == 25

    def test_steps(self) -> None:
        head = self.head()
        tape = head.tape
        head.move(GoTo(300_000))
        index = head.index
        head.move(Step(StepKind.EVENT))
        assert head.index == index + 1
        head.move(Step(StepKind.MASTER))
        assert isinstance(tape.event(head.index - 1), AttemptClosed | AttemptLaunched | KillOrdered)
        head.move(Step(StepKind.JOB))
        at_ms = head.at_ms
        kinds = [tape.event(each) for each in range(head.index) if tape.times[each] == at_ms]
        assert any(isinstance(event, JobFinished) for event in kinds)
        head.move(Step(StepKind.JOB))
        head.move(Step(StepKind.JOB, back=True))
        assert head.at_ms == at_ms

    def test_marks_are_jumped_to(self) -> None:
        head = self.head()
        head.move(Step(StepKind.MARK))
        assert head.at_ms == 420_000  # the rack crashes
        head.move(Step(StepKind.MARK))
        assert head.at_ms == 1_200_000  # and is given up
        head.move(Step(StepKind.MARK, back=True))
        assert head.at_ms == 420_000
        head.move(Step(StepKind.MARK, back=True))
        assert head.at_ms == 420_000  # there is none before

    def test_an_event_can_be_gone_to(self) -> None:
        head = self.head()
        head.move(GoToEvent(1000))
        assert (head.index, head.at_ms) == (1001, head.tape.times[1000])

    def test_as_fast_as_it_goes_gets_to_the_end(self) -> None:
        head = self.head()
        for _ in range(10):
            head.move(Play(None))
        assert head.at_ms == head.tape.end_ms
        assert isinstance(head.tape.event(head.index - 1), RunEnded)


class TestFrame:
    def test_the_jobs_are_windowed_sorted_and_filtered(self) -> None:
        head = Head(taped(events_of("small-jobs", "hfsp")))
        head.move(GoTo(head.tape.end_ms // 2))
        frame = head.frame(View(jobs_rows=5, all_jobs=True, jobs_top=10))
        assert [row.job for row in frame.jobs] == [10, 11, 12, 13, 14]
        frame = head.frame(View(jobs_rows=5, all_jobs=True, jobs_top=10**6))
        assert frame.jobs_top == frame.jobs_found - 5
        frame = head.frame(View(jobs_rows=400, jobs_key=JobKey.TIME, jobs_reverse=True))
        times = [row.time_ms for row in frame.jobs]
        assert times == sorted(times, reverse=True)
        name = frame.jobs[3].name
        only = head.frame(View(jobs_rows=400, all_jobs=True, filter=name))
        assert all(name in row.name for row in only.jobs)
        assert len(only.jobs) == only.jobs_found > 0

    @pytest.mark.parametrize("key", JobKey)
    def test_every_order_is_total(self, key: JobKey) -> None:
        """Jobs that are alike stay in the order of their numbers, so that no row jumps about."""
        head = Head(taped(events_of("small-jobs", "hfsp")))
        head.move(GoTo(0))
        frame = head.frame(View(jobs_rows=400, all_jobs=True, jobs_key=key))
        assert [row.job for row in frame.jobs] == sorted(row.job for row in frame.jobs)

    def test_the_charts_are_the_runs_averages(self) -> None:
        head = Head(taped(outage()))
        head.move(GoTo(None))
        charts = head.frame(View(columns=50)).charts
        tip, end_ms = head.tape.tip, head.tape.end_ms
        busy = sum(charts.maps) / 50 * end_ms * tip.slots[0]
        assert busy == pytest.approx(tip.busy_ms[0], rel=1e-6)
        assert sum(charts.jobs) / 50 * end_ms == pytest.approx(tip.jobs_ms, rel=1e-6)
        assert sum(charts.wasted) * 60_000 == pytest.approx(tip.wasted_ms, rel=1e-6)
        assert charts.marks[420_000 * 50 // end_ms] == Mark.FAULT
        assert charts.marks[1_200_000 * 50 // end_ms] == Mark.LOST

    def test_many_samples_are_thinned_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("callboard.tui.history._SAMPLES_MAX", 32)
        head = Head(taped(outage()))
        charts = head.frame(View(columns=10)).charts
        busy = sum(charts.maps) / 10 * head.tape.end_ms * head.tape.tip.slots[0]
        assert busy == pytest.approx(head.tape.tip.busy_ms[0], rel=1e-6)

    def test_a_view_changes_nothing(self) -> None:
        source = recorded(outage())
        source.head.move(GoTo(500_000))
        encode = msgspec.msgpack.encode  # as bytes, since no NaN is equal to another
        first = encode(source.head.frame(View()))
        source.head.frame(View(job=0, node=None, lane_columns=40, jobs_key=JobKey.STATE))
        source.head.frame(View(node=2, lane_columns=40))
        assert encode(source.head.frame(View())) == first

    def test_a_job_and_a_node_in_detail(self) -> None:
        head = Head(taped(outage()))
        head.move(GoTo(500_000))
        detail = head.frame(View(job=0, lane_columns=40)).detail
        assert detail is not None
        facts = dict(detail.facts)
        assert facts["maps"] == "400 of 400 done, 0 on, 0 waiting"
        assert [lane.label for lane in detail.lanes] == ["maps ≤80", "reduces ≤40"]
        detail = head.frame(View(node=2, lane_columns=40)).detail
        assert detail is not None
        facts = dict(detail.facts)
        assert facts["truth"] == "down"
        assert facts["the master"].startswith("does not know; it counts")
        assert [lane.label for lane in detail.lanes] == ["map 0", "map 1", "reduce 0", "reduce 1"]
