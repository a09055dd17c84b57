"""Where two journals part, and what does not count as parting."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    Outcome,
    RunEnded,
    RunStarted,
    SizeEstimated,
)
from callboard.journal.tell.diff import Difference, diff_journals, diff_lines
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import MAP
from callboard.scheduler.reasons import Reason, Why
from tests.journal.stories import START, STORY, cut_at


def record(path: Path, events: Sequence[AnyEvent]) -> Path:
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)
    return path


@pytest.fixture
def story(tmp_path: Path) -> Path:
    return record(tmp_path / "story.journal", STORY)


def altered(index: int, event: AnyEvent) -> list[AnyEvent]:
    return [*STORY[:index], event, *STORY[index + 1 :]]


def test_equal_journals_do_not_part(story: Path) -> None:
    found = diff_journals(story, story)
    assert found.same_events
    assert found.events == len(STORY)
    assert found.setup == found.counts == ()
    assert diff_journals(story, story).divergence is None
    assert list(diff_lines(found, "a", "b")) == [
        "A  a",
        "B  b",
        f"The same {len(STORY)} events at the same times.",
    ]


@settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(1, len(STORY) - 1), st.integers(0, 5))
def test_the_first_changed_event_is_found(
    tmp_path: Path, story: Path, index: int, context: int
) -> None:
    later = msgspec.structs.replace(STORY[index], at_ms=STORY[index].at_ms + 1)
    other = record(tmp_path / "other.journal", altered(index, later))
    parting = diff_journals(story, other, context=context).divergence
    assert parting is not None
    assert (parting.index, parting.at_ms) == (index, STORY[index].at_ms)
    assert (parting.left, parting.right) == (STORY[index], later)
    assert parting.before == STORY[max(0, index - context) : index]


def test_one_journal_may_end_first(tmp_path: Path, story: Path) -> None:
    other = record(tmp_path / "other.journal", STORY[:6])
    parting = diff_journals(other, story, context=1).divergence
    assert parting is not None
    assert (parting.index, parting.at_ms) == (6, 1000)
    assert parting.left is None
    assert parting.right == STORY[6]
    assert parting.left_line == "(the journal has ended)"


@pytest.mark.parametrize("cut", [0, 30], ids=["after a seal", "within a chunk"])
def test_a_killed_run_is_told_from_one_that_differs(tmp_path: Path, story: Path, cut: int) -> None:
    other = record(tmp_path / "other.journal", STORY[:-1])
    other.write_bytes(other.read_bytes()[: other.stat().st_size - cut])
    found = diff_journals(story, other)
    assert found.broke_off == (False, True)
    assert found.divergence is not None
    assert found.divergence.right is None
    lacks = "lacks the end of the run, which was killed."
    assert list(diff_lines(found, "a", "b"))[-1] == f"B {lacks}"
    both = diff_journals(other, other)
    assert both.same_events
    assert list(diff_lines(both, "a", "b"))[-2:] == [f"A {lacks}", f"B {lacks}"]


def test_a_run_that_is_still_being_recorded_was_not_killed(tmp_path: Path, story: Path) -> None:
    with JournalWriter(tmp_path / "other.journal") as sink:
        for event in STORY[:-1]:
            sink(event)
        sink.flush()
        found = diff_journals(story, tmp_path / "other.journal")
    told = list(diff_lines(found, "a", "b"))[-1]
    assert told == "B lacks the end of the run, which is still being recorded."


def test_a_journal_not_read_to_its_end_is_not_called_cut(tmp_path: Path, story: Path) -> None:
    later = msgspec.structs.replace(STORY[3], at_ms=102)
    other = record(tmp_path / "other.journal", altered(3, later)[:-1])
    assert diff_journals(story, other).broke_off == (False, False)


def test_setups_are_compared_leaf_by_leaf_and_apart(tmp_path: Path, story: Path) -> None:
    scenario: dict[str, object] = {"cluster": {"nodes": 3, "racks": 2, "speed": 2.0}}
    start = msgspec.structs.replace(START, policy="fair", scenario=scenario)
    found = diff_journals(story, record(tmp_path / "other.journal", altered(0, start)))
    assert found.same_events
    assert found.setup == (
        Difference("policy", "fifo", "fair"),
        Difference("scenario.cluster.nodes", 2, 3),
        Difference("scenario.cluster.speed", None, 2.0),
    )
    assert list(diff_lines(found, "a", "b"))[2:6] == [
        "Set up differently:",
        "  policy: fifo | fair",
        "  scenario.cluster.nodes: 2 | 3",
        "  scenario.cluster.speed: – | 2.0",
    ]


def test_other_messages_for_the_same_events_are_no_divergence(tmp_path: Path, story: Path) -> None:
    """Two schemes of sending heartbeats: equal journals, other counts, another digest."""
    end = RunEnded(4400, "complete", 999, 4, "0ther")
    found = diff_journals(story, record(tmp_path / "other.journal", altered(-1 % len(STORY), end)))
    assert found.same_events
    assert found.counts == (
        Difference("messages", 321, 999),
        Difference("digest", "d1ge57", "0ther"),
    )
    assert list(diff_lines(found, "a", "b"))[-2:] == [
        "  messages: 321 | 999",
        "  digest: d1ge57 | 0ther",
    ]


def test_the_same_events_without_messages_are_no_divergence(tmp_path: Path, story: Path) -> None:
    """The compiled twin's, of which messages are not measured."""
    end = RunEnded(4400, "complete", None, None, "events-d")
    found = diff_journals(story, record(tmp_path / "other.journal", altered(-1 % len(STORY), end)))
    assert found.same_events
    assert list(diff_lines(found, "a", "b"))[-4:] == [
        "One was played by the twin, without messages:",
        "  messages: 321 | –",
        "  ties: 4 | –",
        "  digest: d1ge57 | events-d",
    ]


def test_another_ending_is_a_divergence(tmp_path: Path, story: Path) -> None:
    end = RunEnded(4400, "until", 321, 4, "d1ge57")
    other = record(tmp_path / "other.journal", altered(-1 % len(STORY), end))
    parting = diff_journals(story, other).divergence
    assert parting is not None
    assert parting.right == end
    cut = record(tmp_path / "cut.journal", cut_at(2000))
    parting = diff_journals(story, cut).divergence
    assert parting is not None
    assert isinstance(parting.right, RunEnded)
    assert parting.at_ms == 2000


def launch_for(why: Why, node: int = 0) -> AttemptLaunched:
    launch = STORY[2]
    assert isinstance(launch, AttemptLaunched)
    return msgspec.structs.replace(launch, why=why, node=node)


def test_reason_words_count_unless_told_otherwise(tmp_path: Path, story: Path) -> None:
    other = record(
        tmp_path / "other.journal", altered(2, launch_for(Why(Reason.OWN, "fair", 1, 0.5)))
    )
    parting = diff_journals(story, other).divergence
    assert parting is not None
    assert parting.index == 2
    assert parting.only_reason
    assert diff_journals(story, other, reasons=False).divergence is None


def test_between_two_policies_reasons_count_only_when_asked_for(tmp_path: Path) -> None:
    started, launch = STORY[0], launch_for(Why(Reason.OWN, "fair", 1, 0.5))
    assert isinstance(started, RunStarted)
    fair = msgspec.structs.replace(started, policy="fair")
    left = record(
        tmp_path / "left.journal", [msgspec.structs.replace(started, policy="fifo"), *STORY[1:]]
    )
    right = record(tmp_path / "right.journal", (fair, *altered(2, launch)[1:]))
    found = diff_journals(left, right)
    assert found.divergence is None
    assert list(diff_lines(found, "a", "b"))[-1].endswith(
        " events at the same times, reasons apart (--reasons compares them too)."
    )
    assert diff_journals(left, right, reasons=True).divergence is not None


def test_another_decision_parts_them_with_reasons_or_without(tmp_path: Path, story: Path) -> None:
    by_key = Why(Reason.BY_KEY, "fair", 1)
    other = record(tmp_path / "other.journal", altered(2, launch_for(by_key, node=1)))
    for reasons in (True, False):
        found = diff_journals(story, other, reasons=reasons, context=1)
        assert found.divergence is not None
        assert not found.divergence.only_reason
        assert list(diff_lines(found, "fifo.journal", "fair.journal")) == [
            "A  fifo.journal",
            "B  fair.journal",
            "They part at event 2, at 00:00:00.100:",
            "     00:00:00.000  job-0 “ads” submitted by ann: 2 maps, 1 reduce"
            " (pool prod, normal priority)",
            "  A  00:00:00.100  map 0 of job-0 launched on node-0, node-local"
            " (fifo: 1st in the queue)",
            "  B  00:00:00.100  map 0 of job-0 launched on node-1, node-local"
            " (fair: 1st in the queue)",
        ]


def test_a_divergent_event_is_told_from_the_common_past(tmp_path: Path, story: Path) -> None:
    """Attempt 2 is still known to both sides when one of them books its end otherwise."""
    closed = msgspec.structs.replace(STORY[14], outcome=Outcome.KILLED)
    parting = diff_journals(story, record(tmp_path / "b.journal", altered(14, closed))).divergence
    assert parting is not None
    assert parting.left_line.endswith("the master books map 1 of job-0 as failed")
    assert parting.right_line.endswith("the master books map 1 of job-0 as killed")


def test_measured_sizes_do_not_count_where_reasons_do_not(tmp_path: Path, story: Path) -> None:
    """A policy that measures would else part from one that does not before it does anything."""
    told = SizeEstimated(1300, 0, MAP, 2500, 1500)
    other = record(tmp_path / "other.journal", [*STORY[:13], told, *STORY[13:]])
    parting = diff_journals(story, other).divergence
    assert parting is not None
    assert parting.index == 13
    assert diff_journals(story, other, reasons=False).divergence is None


def test_no_line_is_common_that_only_one_of_them_has(tmp_path: Path, story: Path) -> None:
    """The first was shown as both's: its seed, its scenario, its nodes; and Python's own words."""
    start = STORY[0]
    assert isinstance(start, RunStarted)
    nodes = (msgspec.structs.replace(start.nodes[0], map_slots=7), *start.nodes[1:])
    scenario = {**start.scenario, "seed": 8}
    events = altered(2, msgspec.structs.replace(STORY[2], at_ms=STORY[2].at_ms + 1))
    events[0] = msgspec.structs.replace(start, seed=8, scenario=scenario, nodes=nodes)
    other = record(tmp_path / "other.journal", events)
    lines = list(diff_lines(diff_journals(story, other), "a", "b"))
    assert f"  seed: {start.seed} | 8" in lines
    assert f"  nodes.0.map_slots: {start.nodes[0].map_slots} | 7" in lines
    assert not any("scenario.seed" in line or "run of" in line for line in lines)


def test_tables_in_another_order_are_set_up_differently(tmp_path: Path) -> None:
    """Of equal queues the first is served first."""
    start = STORY[0]
    assert isinstance(start, RunStarted)
    turned = {"b": 1, "a": 2}, {"a": 2, "b": 1}
    paths = [
        record(
            tmp_path / f"{n}.journal", [msgspec.structs.replace(start, scenario={"queues": each})]
        )
        for n, each in enumerate(turned)
    ]
    found = diff_journals(*paths)
    assert found.setup == (Difference("scenario.queues (order)", "b, a", "a, b"),)
