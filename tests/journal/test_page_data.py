"""What a page knows of a run: at every moment what the journal says, and not too much to hold."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AnyEvent,
    ContactLost,
    FaultStruck,
    JobSubmitted,
    NodeFacts,
    RunEnded,
)
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.journal.export import page_collector
from callboard.journal.export.change_log import ChangeLog, count_columns
from callboard.journal.export.page_collector import PageCollector, TooLargeForPageError
from callboard.journal.export.page_data import compared_page_data, page_data, sentences_as_patterns
from callboard.journal.export.run_page import run_page
from callboard.journal.replay.detail_job import response_share_lines
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.signs import STATE_WORDS, node_sign
from callboard.scheduler.model import Locality, Priority
from tests.journal.page_reader import data_of, rows_at, sentences, slots_at
from tests.journal.replay.support import events_of, outage, recorded, with_setups
from tests.journal.stories import START, STORY

RUNS: dict[str, Callable[[], Sequence[AnyEvent]]] = {
    "a rack fails": outage,
    "suspended, and resumed elsewhere": lambda: events_of(
        "hfsp-test", "hfsp+suspend(fair_share_timeout_s=5)", "workload.jobs=8"
    ),
    "copies on slow nodes": lambda: events_of(
        "one-slow-disk", "fair+late", "workload.job.0.count=3"
    ),
    "cut off from the master, and back": lambda: events_of("partition-and-heal", "fair"),
    "cut off": lambda: outage()[:1500],
}
"""Runs with all that a slot, a job or a node can show."""

MOMENTS = 10


def page_of(events: Sequence[AnyEvent]) -> str:
    return run_page(page_data(PageCollector.of_events(events, oracle_of_journal)))


@cache
def read(name: str) -> tuple[dict[str, Any], RecordedSource]:
    """The page's data of a run, and the same run as the screen has it."""
    events = RUNS[name]()
    return data_of(page_of(events)), recorded(events)


def slots_of(data: dict[str, Any]) -> int:
    return sum(map(int, data["nodes"]["maps"] + data["nodes"]["reduces"]))


def moments(source: RecordedSource) -> list[int]:
    """Some moments of the run, at which something happens, the first and the last of them."""
    times = sorted(set(source.recording.times))
    return times[:: max(len(times) // MOMENTS, 1)] + times[-1:]


def frame_at(source: RecordedSource, at_ms: int) -> Frame:
    source.cursor.go_to_ms(at_ms)
    return source.cursor.frame(View(all_jobs=True, jobs_rows=1000, log_rows=1000, with_cards=True))


@pytest.mark.parametrize("name", RUNS)
class TestEveryMoment:
    """The page and the screen say the same."""

    def test_slots(self, name: str) -> None:
        data, source = read(name)
        shown = slots_at(data["slots"], slots_of(data), moments(source))
        for at_ms, slots in zip(moments(source), shown, strict=True):
            frame = frame_at(source, at_ms)
            owners = np.frombuffer(frame.owners, np.int32)
            cards = [
                (state, owner - 1, card.task, 3 if card.level is None else card.level)
                if card is not None
                else (0,)
                for state, owner, card in zip(frame.states, owners, frame.cards, strict=True)
            ]
            assert slots == cards

    def test_nodes(self, name: str) -> None:
        data, source = read(name)
        signs = data["words"]["node_signs"]
        shown = rows_at(data["node_rows"], len(data["nodes"]["rack"]), moments(source))
        for at_ms, found in zip(moments(source), shown, strict=True):
            frame, rows = frame_at(source, at_ms), [row or [0] * 6 for row in found]
            told = [(signs[row[0]], bool(row[1])) for row in rows]
            assert told == [*map(node_sign, frame.node_status, frame.lost)]
            assert [row[3] for row in rows] == [*frame.lost]
            assert [row[5] for row in rows] == [*frame.suspended_by_node]
            unaware = sum(row[2] and not row[3] for row in rows)
            assert (sum(row[2] for row in rows), unaware) == (
                frame.totals.down,
                frame.totals.unaware,
            )

    def test_jobs(self, name: str) -> None:
        data, source = read(name)
        states = [*STATE_WORDS.values()]
        shown = rows_at(data["job_rows"], len(data["jobs"]["job"]), moments(source))
        for at_ms, rows in zip(moments(source), shown, strict=True):
            frame = frame_at(source, at_ms)
            told = {
                job: (states[row[0] - 1], *row[1:])
                for job, row in zip(data["jobs"]["job"], rows, strict=True)
                if row[0]
            }
            assert told == {
                row.job: (STATE_WORDS[row.state], *row.done, *row.running, row.suspended)
                for row in frame.jobs
            }
            assert data["jobs"]["name"][: len(frame.jobs)] == [row.name for row in frame.jobs]

    def test_the_result_is_the_screens(self, name: str) -> None:
        data, source = read(name)
        detail = frame_at(source, source.recording.end_ms).detail
        assert detail is not None
        assert data["result"] == [[*fact] for fact in detail.facts if fact[0] not in ("next", "")]
        assert {"response", "slowdown", "busy"} <= {label for label, _ in data["result"]}

    def test_the_log_has_the_headlines_and_the_decisions(self, name: str) -> None:
        data, source = read(name)
        lines = sentences(data["log"])
        headlines = frame_at(source, source.recording.end_ms).log
        assert [line for line in headlines if (line.at_ms, line.text) not in lines] == []
        launches = [text for _, text in lines if " launched on " in text]
        assert len(launches) == len(source.recording.launched)

    def test_marks_and_charts(self, name: str) -> None:
        data, source = read(name)
        marks = source.recording.history.marks()
        assert len(data["marks"]["kind"]) == len(data["marks"]["at"]) == len([*marks])
        charts = data["charts"]
        peaks = charts.pop("peaks")
        assert len({len(values) for values in charts.values()}) == 1
        means = [max(charts[name]) for name in ("maps", "reduces", "jobs")]
        assert all(mean <= peak + 1e-3 for mean, peak in zip(means, peaks, strict=True))
        assert all(
            waiting <= jobs + 1e-3
            for waiting, jobs in zip(charts["waiting"], charts["jobs"], strict=True)
        )


def test_a_node_is_given_up_no_longer_than_the_scheduler_lasts_that_gave_it_up() -> None:
    """The page kept the node's question mark to its end, where the screen did not."""
    events: list[AnyEvent] = [
        *(START, ContactLost(700, 0, 1, 100), FaultStruck(800, faults.CrashScheduler(1))),
        RunEnded(2000, "complete", 1, 0, "d"),
    ]
    nodes = PageCollector.of_events(events).nodes
    assert [(row.at_ms, row.after[3]) for row in nodes if row.subject == 0] == [(700, 1), (800, 0)]


def test_setups_and_cleanups_have_no_locality_on_the_page() -> None:
    """All maps of these jobs are node-local; the cards of setups had an O."""
    rows = PageCollector.of_events(with_setups()).slots
    assert {row.after[4] for row in rows if row.after[0]} == {Locality.NODE, 3}
    tasks = {row.after[3] for row in rows if row.after[0] and row.after[2] == 0}
    assert tasks == {0, 1, 2, -1, -2}, "its maps, its setup and its cleanup"


def test_waiting_jobs_are_those_with_nothing_running() -> None:
    """By hand: of `tiny`, job 1 waits from 1000 to 1200, job 0 until 100 and nowhere else."""
    charts = data_of(page_of(STORY))["charts"]
    part = 4400 / len(charts["waiting"])
    assert sum(charts["waiting"]) * part == pytest.approx(300, abs=1)
    assert sum(charts["jobs"]) * part == pytest.approx(5700, abs=1)


def test_equal_runs_give_equal_pages() -> None:
    assert page_of(STORY) == page_of(STORY)


class TestSize:
    def test_an_attempt_takes_little_room(self) -> None:
        """100,000 of them make a page of some 10 MB: what each further attempt adds."""
        data = [
            page_data(PageCollector.of_events(RUNS[name]()))
            for name in ("suspended, and resumed elsewhere", "a rack fails")
        ]
        for each in data:
            size = len(msgspec.json.encode((each.slots, each.job_rows, each.log)))
            assert size / len(each.slots.job) < 100

    @pytest.mark.parametrize(
        ("limit", "what"),
        [("ATTEMPTS_MOST", "4 attempts"), ("SLOTS_MOST", "3 slots"), ("JOBS_MOST", "1 jobs")],
    )
    def test_what_no_page_can_hold_is_refused(
        self, monkeypatch: pytest.MonkeyPatch, limit: str, what: str
    ) -> None:
        PageCollector.of_events(STORY)
        monkeypatch.setattr(page_collector, limit, int(what.partition(" ")[0]))
        with pytest.raises(TooLargeForPageError, match=rf"more than {what}.*--until"):
            PageCollector.of_events(STORY)

    def test_a_job_number_beyond_all_bounds_is_refused_before_it_costs_anything(self) -> None:
        for number, error in ((1 << 20, TooLargeForPageError), (1 << 40, ValueError)):
            job = JobSubmitted(0, number, "", "", "", Priority.NORMAL, 1, 0)
            with pytest.raises(error, match="job"):
                PageCollector.of_events([START, job])


class TestOddRuns:
    def test_without_jobs(self) -> None:
        data = data_of(page_of([START]))
        assert data["jobs"]["job"] == data["slots"]["at"] == []
        assert data["result"] == [["jobs", "0 of 0 succeeded"], ["busy", "maps 0%, reduces 0%"]]
        assert data["words"]["ending"] == "the journal is cut off here"

    def test_without_nodes_or_with_one_slot(self) -> None:
        for nodes in ((), (NodeFacts(0, 0, 1, 0, 1.0),)):
            start = msgspec.structs.replace(START, nodes=nodes)
            assert len(data_of(page_of([start]))["nodes"]["rack"]) == len(nodes)

    def test_of_nothing(self) -> None:
        with pytest.raises(ValueError, match="no run has been recorded in it yet"):
            PageCollector.of_events([])

    @pytest.mark.parametrize(
        ("events", "words"),
        [
            ([STORY[1]], r"event 0 \(job submitted\) .* a run begins once"),
            ([START, START], "event 1 .* a run begins once"),
            ([msgspec.structs.replace(START, nodes=START.nodes[::-1])], "numbered from 0"),
        ],
    )
    def test_that_no_run_can_be(self, events: list[AnyEvent], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            PageCollector.of_events(events)


def test_changes_within_a_millisecond_are_one() -> None:
    changes = ChangeLog((0, 0))
    for at_ms, subject, row in ((5, 1, (1, 0)), (5, 1, (1, 2)), (5, 0, (1, 1)), (5, 0, (0, 0)),
                                (9, 1, (1, 2)), (9, 1, (0, 2))):  # fmt: skip
        changes.note(at_ms, subject, row)
    columns = count_columns(changes)
    assert columns.at == [5, 4]
    assert columns.of == [1, 1]
    assert [columns.kinds[kind] for kind in columns.kind] == [(1, 2), (-1, 0)]


def test_sentences_come_back_from_their_patterns() -> None:
    texts = ["", "no number", "7", "map 3 of job-12 after 0.045 s", "1,001 maps 007", "٣ x 10²"]
    pattern, numbers, patterns = sentences_as_patterns(texts)
    log = {"at": [0] * 6, "pattern": pattern, "numbers": numbers, "patterns": patterns}
    assert [text for _, text in sentences(log)] == texts


def test_sentences_that_differ_in_numbers_share_a_pattern() -> None:
    found = sentences_as_patterns(["map 3 of job-12", "map 14 of job-0"])
    assert found == ([0, 0], [3, 12, 14, 0], [("map ", " of job-", "")])


def test_two_runs_of_one_world_are_one_page_and_others_are_refused() -> None:
    fifo, fair, other = (
        PageCollector.of_events(events_of(*run))
        for run in (("two-jobs", "fifo"), ("two-jobs", "fair"), ("rack-outage", "fair"))
    )
    both = compared_page_data(fifo, fair)
    assert both.beside is not None
    assert [each.policies[0][1] for each in (both, both.beside)] == ["fifo", "fair"]
    assert both.headline is not None
    assert both.headline.figure == "-30%"
    assert both.headline.sentences[0].startswith(
        "Under fair a job took 2 min 09 s on average, 30% less"
    )
    assert "<title>two-jobs under fifo and under fair</title>" in run_page(both)
    with pytest.raises(ValueError, match="different scenarios"):
        compared_page_data(fifo, other)


def test_a_page_tells_where_the_response_of_a_job_went() -> None:
    """As the terminal's screen and `callboard explain` do."""
    events = events_of("two-jobs", "fifo")
    jobs = page_data(PageCollector.of_events(events)).jobs
    recording = recorded(events).recording
    assert jobs.shares == [response_share_lines(recording, job) for job in jobs.job]
    assert jobs.shares[1][0] == " 92%  queued: others held all the slots"
