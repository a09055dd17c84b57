"""Going anywhere gives what playing there would, and every sentence is the narrator's."""

import random

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptLaunched,
    Importance,
    JobFinished,
    KillOrdered,
    Mark,
    RunEnded,
)
from callboard.journal.replay import recording as tapes
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.event_log import LogFilter, log_line
from callboard.journal.replay.frame import Frame, JobSortKey, View
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import (
    GoTo,
    GoToEvent,
    Move,
    Play,
    Request,
    Stay,
    Step,
    StepKind,
)
from callboard.journal.run_state import NO_SUBJECT, RunState
from callboard.journal.tell.sentences import Narrator
from tests.journal.replay.support import events_of, lines_before, outage, recorded
from tests.journal.replay.test_cluster_state import RUNS, folded, told
from tests.support.soak import one_in


def taped(events: tuple[object, ...]) -> Recording:
    recording = Recording()
    for event in events:
        recording.append(event)  # type: ignore[arg-type]
    return recording


def test_any_event_can_be_gone_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """With snapshots every 64 events, of which at most 8 are kept: back, forth, and far."""
    monkeypatch.setattr(tapes, "_SNAPSHOT_EVERY", 64)
    monkeypatch.setattr(tapes, "_SNAPSHOTS_MAX", 8)
    events = outage()
    recording = taped(events)
    draw = random.Random(1)
    for index in (0, 1, len(events), 63, 64, 65, *(draw.randrange(len(events)) for _ in range(20))):
        assert told(recording.state_at(index)) == told(folded(list(events[:index]))), index
    assert told(recording.last_state) == told(folded(events))


def test_the_events_come_back_as_they_were() -> None:
    events = outage()
    recording = taped(events)
    assert [recording.event(index) for index in range(len(events))] == list(events)


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_a_sentence_told_alone_is_the_narrators(run: tuple[str, ...]) -> None:
    events = events_of(*run)
    recording, run_state = taped(events), RunState()
    for index, event in enumerate(events):
        told_alone = log_line(recording, index)
        subject = (recording.jobs[index], recording.nodes[index])
        assert subject == run_state.job_and_node_of(event)
        assert (told_alone.job, told_alone.node) == tuple(
            None if each == NO_SUBJECT else each for each in subject
        )
        assert told_alone.text == Narrator(run_state).describe(event)
        run_state.observe_if_possible(event)


class TestLog:
    def test_it_holds_the_last_lines_of_a_level(self) -> None:
        recording = taped(outage())
        lines = lines_before(recording, len(recording), 3, LogFilter(Importance.HEADLINE))
        assert lines[-1].text.startswith("the run is complete")
        assert all(line.level is Importance.HEADLINE for line in lines)
        assert [line.index for line in lines] == sorted(line.index for line in lines)

    def test_it_can_be_about_one_job_or_node(self) -> None:
        recording = taped(outage())
        lines = lines_before(recording, len(recording), 10_000, LogFilter(job=3))
        assert {line.job for line in lines} == {3}
        assert len(lines) == sum(job == 3 for job in recording.jobs)
        nodes = lines_before(
            recording, len(recording), 10_000, LogFilter(Importance.HEADLINE, node=2)
        )
        assert {line.node for line in nodes} == {2}

    def test_it_can_be_searched_and_the_search_turned_round(self) -> None:
        recording = taped(outage())
        found = lines_before(
            recording, len(recording), 99, LogFilter(Importance.HEADLINE, text="CRASH")
        )
        assert len(found) == 10
        others = lines_before(
            recording, len(recording), 999, LogFilter(Importance.HEADLINE, text="!crash")
        )
        every = lines_before(recording, len(recording), 999, LogFilter(Importance.HEADLINE))
        assert len(found) + len(others) == len(every)

    def test_blocks_do_not_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        recording = taped(outage())
        whole = lines_before(recording, 2000, 500, LogFilter(job=0))
        monkeypatch.setattr("callboard.journal.replay.event_log._BLOCK", 7)
        assert lines_before(recording, 2000, 500, LogFilter(job=0)) == whole


class TestHead:
    def cursor(self) -> Cursor:
        return Cursor(taped(outage()))

    def test_a_moment_has_all_its_events(self) -> None:
        cursor = self.cursor()
        cursor.move(GoTo(420_000))
        assert cursor.recording.times[cursor.index - 1] == 420_000
        assert cursor.recording.times[cursor.index] > 420_000

    def test_it_stays_on_the_tape(self) -> None:
        cursor = self.cursor()
        cursor.move(GoTo(10**12))
        assert (cursor.at_ms, cursor.index) == (cursor.recording.end_ms, len(cursor.recording))
        cursor.move(GoTo(-5))
        assert cursor.at_ms == 0
        cursor.move(Step(StepKind.EVENT, back=True))
        for _ in range(100):
            cursor.move(Step(StepKind.EVENT, back=True))
        assert cursor.index == 1  # the run's start is always there

    def test_slow_playing_adds_up(self) -> None:
        cursor = self.cursor()
        for _ in range(100):
            cursor.move(Play(0.25))
        assert cursor.at_ms == 25

    def test_steps(self) -> None:
        cursor = self.cursor()
        recording = cursor.recording
        cursor.move(GoTo(300_000))
        index = cursor.index
        cursor.move(Step(StepKind.EVENT))
        assert cursor.index == index + 1
        cursor.move(Step(StepKind.MASTER))
        assert isinstance(
            recording.event(cursor.index - 1), AttemptClosed | AttemptLaunched | KillOrdered
        )
        cursor.move(Step(StepKind.JOB))
        at_ms = cursor.at_ms
        kinds = [
            recording.event(each) for each in range(cursor.index) if recording.times[each] == at_ms
        ]
        assert any(isinstance(event, JobFinished) for event in kinds)
        cursor.move(Step(StepKind.JOB))
        cursor.move(Step(StepKind.JOB, back=True))
        assert cursor.at_ms == at_ms

    def test_marks_are_jumped_to(self) -> None:
        cursor = self.cursor()
        cursor.move(Step(StepKind.MARK))
        assert cursor.at_ms == 420_000  # the rack crashes
        cursor.move(Step(StepKind.MARK))
        assert cursor.at_ms == 1_200_000  # and is given up
        cursor.move(Step(StepKind.MARK, back=True))
        assert cursor.at_ms == 420_000
        cursor.move(Step(StepKind.MARK, back=True))
        assert cursor.at_ms == 420_000  # there is none before
        cursor.move(Step(StepKind.MARK, or_here=True))
        assert cursor.at_ms == 420_000

    def test_an_event_can_be_gone_to(self) -> None:
        cursor = self.cursor()
        cursor.move(GoToEvent(1000))
        assert (cursor.index, cursor.at_ms) == (1001, cursor.recording.times[1000])

    def test_as_fast_as_it_goes_gets_to_the_end(self) -> None:
        cursor = self.cursor()
        for _ in range(10):
            cursor.move(Play(None))
        assert cursor.at_ms == cursor.recording.end_ms
        assert isinstance(cursor.recording.event(cursor.index - 1), RunEnded)


class TestReadInParts:
    def test_a_move_to_what_has_not_been_read_is_gone_on_with(self) -> None:
        """`replay long.journal --at 2:00:00` stood where its first 20,000 events end."""
        source = RecordedSource(iter(outage()))
        source.read_on(100)
        assert frame_of(source, GoTo(700_000)).at_ms < 700_000
        while source.read_on(500):
            assert frame_of(source, Stay()).at_ms <= 700_000
        assert frame_of(source, Stay()).at_ms == 700_000

    def test_and_any_other_move_takes_its_place(self) -> None:
        source = RecordedSource(iter(outage()))
        source.read_on(100)
        frame_of(source, GoTo(700_000))
        frame_of(source, Step(StepKind.EVENT, back=True))
        at_ms = frame_of(source, Stay()).at_ms
        source.read_on()
        assert frame_of(source, Stay()).at_ms == at_ms

    def test_what_is_read_before_any_move_is_shown(self) -> None:
        """A journal that is cut off at once had no policy in its first line."""
        source = RecordedSource(iter(outage()[:2]))
        source.read_on()
        assert frame_of(source, Stay()).policy == "fair"


def frame_of(source: RecordedSource, move: Move) -> Frame:
    found: list[Frame] = []
    source.ask_frame(Request(move, View()), found.append)
    return found[0]


class TestFrame:
    @pytest.mark.parametrize("key", JobSortKey)
    def test_before_the_run_starts_there_are_no_jobs(self, key: JobSortKey) -> None:
        frame = Cursor(Recording()).frame(View(jobs_key=key, jobs_reverse=True))
        assert (frame.jobs, frame.jobs_top, frame.jobs_found) == ([], 0, 0)

    @pytest.mark.soak
    def test_the_jobs_are_windowed_sorted_and_filtered(self) -> None:
        cursor = Cursor(taped(events_of("small-jobs", "hfsp")))
        cursor.move(GoTo(cursor.recording.end_ms // 2))
        frame = cursor.frame(View(jobs_rows=5, all_jobs=True, jobs_top=10))
        assert [row.job for row in frame.jobs] == [10, 11, 12, 13, 14]
        frame = cursor.frame(View(jobs_rows=5, all_jobs=True, jobs_top=10**6))
        assert frame.jobs_top == frame.jobs_found - 5
        frame = cursor.frame(View(jobs_rows=400, jobs_key=JobSortKey.TIME, jobs_reverse=True))
        times = [row.time_ms for row in frame.jobs]
        assert times == sorted(times, reverse=True)
        name = frame.jobs[3].name
        only = cursor.frame(View(jobs_rows=400, all_jobs=True, filter=name))
        assert all(name in row.name for row in only.jobs)
        assert len(only.jobs) == only.jobs_found > 0

    @pytest.mark.parametrize("key", one_in(5, JobSortKey))
    def test_every_order_is_total(self, key: JobSortKey) -> None:
        """Jobs that are alike stay in the order of their numbers, so that no row jumps about."""
        cursor = Cursor(taped(events_of("small-jobs", "hfsp", "workload.jobs=60")))
        cursor.move(GoTo(0))
        frame = cursor.frame(View(jobs_rows=400, all_jobs=True, jobs_key=key))
        assert [row.job for row in frame.jobs] == sorted(row.job for row in frame.jobs)

    def test_the_charts_are_the_runs_averages(self) -> None:
        cursor = Cursor(taped(outage()))
        cursor.move(GoTo(None))
        charts = cursor.frame(View(columns=50)).charts
        last_state, end_ms = cursor.recording.last_state, cursor.recording.end_ms
        busy = sum(charts.maps) / 50 * end_ms * last_state.slots[0]
        assert busy == pytest.approx(last_state.busy_ms[0], rel=1e-6)
        assert sum(charts.jobs) / 50 * end_ms == pytest.approx(last_state.jobs_ms, rel=1e-6)
        assert sum(charts.wasted) * 60_000 == pytest.approx(last_state.wasted_ms, rel=1e-6)
        assert charts.marks[420_000 * 50 // end_ms] == Mark.FAULT
        assert charts.marks[1_200_000 * 50 // end_ms] == Mark.LOST

    @pytest.mark.parametrize("columns", [7, 50, 400])
    def test_peaks_are_those_of_the_run_however_wide_the_screen(self, columns: int) -> None:
        """Fewer columns have lower means; that was the most of a chart."""
        events = outage()
        cursor = Cursor(taped(events))
        cursor.move(GoTo(600_000))
        recount, most = RunState(), [0, 0, 0]
        for event in events:
            if event.at_ms > recount.now_ms:
                now = [*recount.busy, len(recount.live)]
                most = [max(pair) for pair in zip(most, now, strict=True)]
            recount.observe(event)
        frame = cursor.frame(View(columns=columns))
        slots = [*frame.totals.slots, 1]
        assert frame.charts.peaks == tuple(
            each / have for each, have in zip(most, slots, strict=True)
        )
        assert max(frame.charts.jobs) <= frame.charts.peaks[2] + 1e-6

    def test_many_samples_are_thinned_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("callboard.journal.replay.history._SAMPLES_MAX", 32)
        cursor = Cursor(taped(outage()))
        charts = cursor.frame(View(columns=10)).charts
        busy = (
            sum(charts.maps) / 10 * cursor.recording.end_ms * cursor.recording.last_state.slots[0]
        )
        assert busy == pytest.approx(cursor.recording.last_state.busy_ms[0], rel=1e-6)

    def test_a_view_changes_nothing(self) -> None:
        source = recorded(outage())
        source.cursor.move(GoTo(500_000))
        encode = msgspec.msgpack.encode  # as bytes, since no NaN is equal to another
        first = encode(source.cursor.frame(View()))
        source.cursor.frame(View(job=0, node=None, lane_columns=40, jobs_key=JobSortKey.STATE))
        source.cursor.frame(View(node=2, lane_columns=40))
        assert encode(source.cursor.frame(View())) == first

    def test_a_job_and_a_node_in_detail(self) -> None:
        cursor = Cursor(taped(outage()))
        cursor.move(GoTo(500_000))
        detail = cursor.frame(View(job=0, lane_columns=40)).detail
        assert detail is not None
        facts = dict(detail.facts)
        assert facts["maps"] == "400 of 400 done, 0 running, 0 waiting"
        assert [(lane.label, lane.most) for lane in detail.lanes] == [("maps", 80), ("reduces", 40)]
        detail = cursor.frame(View(node=2, lane_columns=40)).detail
        assert detail is not None
        facts = dict(detail.facts)
        assert facts["node"] == "down"
        assert facts["the master"].startswith("does not know; it counts")
        assert [lane.label for lane in detail.lanes] == ["map 0", "map 1", "reduce 0", "reduce 1"]
        assert not any(lane.most for lane in detail.lanes)
