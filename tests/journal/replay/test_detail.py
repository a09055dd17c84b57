"""The detail of a job and of a slot: facts that can be followed in the journal by hand."""

from collections.abc import Iterable

import msgspec
import pytest

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import (
    WASTED,
    ColourBy,
    DetailText,
    Lane,
    NodeStatus,
    SlotState,
    View,
)
from callboard.journal.replay.projector import project
from callboard.journal.replay.recording import Recording
from callboard.journal.tell.response_parts import response_parts
from callboard.scheduler.model import STAGE_NAMES, Millis
from tests.journal.replay.support import events_of, outage, recorded, with_setups


def detail(
    scenario: str,
    policy: str,
    at_ms: int,
    *,
    job: int | None = None,
    node: int | None = None,
    slot: int | None = None,
) -> DetailText:
    """What the pane shows at a moment, with a timeline of a column a second or so."""
    recording = Recording(oracle_of_journal)
    for event in outage() if scenario == "outage" else events_of(scenario, policy):
        recording.append(event)
    cursor = Cursor(recording)
    cursor.go_to_ms(at_ms)
    view = View(lane_columns=120, lane_rows=20, job=job, node=node, slot=slot)
    found = cursor.frame(view).detail
    assert found is not None
    return found


def outage_recording() -> Recording:
    recording = Recording(oracle_of_journal)
    for event in outage():
        recording.append(event)
    return recording


def stretches(lane: Lane) -> list[tuple[int, int]]:
    """The lane as a row of (owner, state), each run of columns once."""
    pairs = list(zip(lane.owners, lane.states, strict=True))
    return [pair for at, pair in enumerate(pairs) if not at or pair != pairs[at - 1]]


def test_a_small_job_has_a_lane_for_each_task() -> None:
    """`short` of two-jobs has two maps, the first launched when the long one's first have ended."""
    found = detail("two-jobs", "fifo", 300_000, job=1)
    assert [lane.label for lane in found.lanes] == ["map 0", "map 1"]
    for lane in found.lanes:
        assert stretches(lane)[:2] == [(0, 0), (2, SlotState.MAP)]


def test_a_reduce_has_its_shuffle_before_it() -> None:
    found = detail("two-jobs", "fifo", 290_000, job=0)
    (reduce,) = (lane for lane in found.lanes if lane.label == "reduce 0")
    assert stretches(reduce)[:3] == [(0, 0), (1, SlotState.SHUFFLE), (1, SlotState.REDUCE)]


def test_work_that_came_to_nothing_is_marked_once_it_has() -> None:
    """In the outage node-2 loses its power at 0:07:00, with reduces in their shuffle on it."""
    before, after = (detail("outage", "", at_ms, node=2) for at_ms in (419_000, 460_000))
    assert not any(WASTED in lane.states for lane in before.lanes)
    assert [lane.label for lane in after.lanes if WASTED in lane.states] == ["reduce 0", "reduce 1"]


def test_a_large_job_has_a_profile() -> None:
    found = detail("outage", "", 500_000, job=0)
    assert [lane.label.split()[0] for lane in found.lanes] == ["maps", "reduces"]


def test_a_job_that_waits_says_for_whom() -> None:
    facts = dict(detail("two-jobs", "fifo", 45_000, job=1).facts)
    assert facts["state"] == "waiting for its first slot"
    assert "job-0 was served last, fifo" in facts["ahead"]
    assert facts["fair share"] == "0 slots, due 2"
    assert facts["true size"] == "20.000 s of slot time; no scheduler knows"


def test_a_job_that_gave_way_says_to_whom() -> None:
    facts = dict(detail("two-jobs", 'hfsp+preemptive(how="kill")', 10_000_000, job=0).facts)
    assert "job-1 is further ahead" in facts["preempted"]


def test_a_slot_says_what_it_holds_and_why() -> None:
    facts = dict(detail("two-jobs", "fifo", 30_000, node=0, slot=0).facts)
    assert facts["holds"].endswith("of job-0 “long”")
    assert facts["launched"].endswith("fifo")
    assert facts["the master"] == "knows"
    assert facts["node"] == "up and well; the master counts on it"


def test_a_setup_or_cleanup_is_called_so_and_has_no_locality_wherever_slots_are_shown() -> None:
    """They read nothing: cards, colours and details had them as off-rack maps, `map 0`."""
    recording = recorded(with_setups()).recording
    for index in range(1, len(recording)):
        state = recording.state_at(index)
        view = View(with_cards=True, colour_by=ColourBy.LOCALITY)
        frame = project(recording, index, state.run.now_ms, view)
        for place, card in enumerate(frame.cards):
            if card is None:
                continue
            attempt = state.run.attempts[state.holders[place]]
            view = View(node=place // 3, slot=place % 3)
            found = project(recording, index, state.run.now_ms, view).detail
            assert found is not None
            told = dict(found.facts)
            stage = STAGE_NAMES[attempt.launch.stage]
            assert told["holds"].removeprefix("nothing any more; ").startswith(f"{stage} ")
            assert (card.level is None) is attempt.unseen
            assert card.usual_ms is None or not attempt.unseen
            assert ("node-local" in told["launched"]) is not attempt.unseen
            assert (frame.legend[frame.slot_hues[place]] == "node-local") is not attempt.unseen


def test_a_slot_tells_who_had_it_before() -> None:
    found = detail("two-jobs", "fifo", 10_000_000, node=0, slot=0)
    assert found.facts[0] == ("holds", "nothing")
    before = [text for _, text in found.facts if text.startswith("to ")]
    assert before
    assert all("of job-" in text for text in before)
    (lane,) = found.lanes
    assert lane.label == "map 0"


def test_setups_and_cleanups_are_called_so_among_what_a_slot_or_job_had_before() -> None:
    """They were `map 0`, beside the job's own, and in one lane with it."""
    recording = recorded(with_setups()).recording
    found = []
    for chosen in (
        View(node=0, slot=0),
        View(node=1, slot=0),
        View(job=0, lane_columns=60, lane_rows=20),
    ):
        pane = project(recording, len(recording), 10_000_000, chosen).detail
        assert pane is not None
        found.append(pane)
    before = " ".join(text for pane in found[:2] for _, text in pane.facts)
    assert [before.count(f"{each} of job-0") for each in ("setup", "map 0", "cleanup")] == [1, 1, 1]
    labels = [lane.label for lane in found[2].lanes]
    assert labels == ["setup", "map 0", "map 1", "map 2", "cleanup"]


def test_a_slot_of_a_dead_node_tells_what_the_master_believes() -> None:
    """In the outage rack-2 is down at 0:08:20, and its reduces count as running."""
    recording = outage_recording()
    cluster = recording.state_at(recording.index_at(500_000))
    place = bytes(cluster.states).index(SlotState.GHOST)
    node = next(n for n in range(40) if cluster.first[n] <= place < cluster.first[n + 1])
    facts = dict(detail("outage", "", 500_000, node=node, slot=place - cluster.first[node]).facts)
    assert facts["holds"].startswith("nothing any more; ")
    assert facts["the master"] == "counts it as running"
    assert facts["node"].startswith("down; the master does not know")


def test_the_master_takes_an_empty_slot_of_a_node_for_free_that_it_does_not_know_to_be_down() -> (
    None
):
    recording = outage_recording()
    cluster = recording.state_at(recording.index_at(500_000))
    down = [n for n in range(40) if cluster.node_status[n] & NodeStatus.DOWN]
    node, place = next(
        (n, place)
        for n in down
        for place in range(cluster.first[n], cluster.first[n + 1])
        if cluster.states[place] == SlotState.IDLE and not cluster.lost[n]
    )
    facts = dict(detail("outage", "", 500_000, node=node, slot=place - cluster.first[node]).facts)
    assert facts["holds"] == "nothing"
    assert facts["the master"] == "takes it for free"
    assert facts["node"].startswith("down; the master does not know")


def test_of_several_schedulers_a_node_names_those_that_have_it_given_up() -> None:
    """Schedulers without jobs ask nobody: node-2 is back, and nothing said who had it given up."""
    facts = dict(detail("rack-outage", "omega(schedulers=3)", 10_000_000, node=2).facts)
    assert facts["node"] == "up and well"
    assert facts["given up by"] == "scheduler 1, scheduler 3, scheduler 4"


def test_of_several_schedulers_it_is_said_while_none_knows_that_a_node_is_down() -> None:
    facts = dict(detail("rack-outage", "omega(schedulers=3)", 430_000, node=2).facts)
    assert facts["node"] == "down"
    assert facts["the scheduler"] == "does not know that it is down"


@pytest.mark.parametrize("at_ms", [0, 1, 500_000, 1_510_826])
def test_every_slot_can_be_told_of_at_any_time(at_ms: int) -> None:
    recording = outage_recording()
    cursor = Cursor(recording)
    cursor.go_to_ms(at_ms)
    for node in range(0, 40, 3):
        for slot in range(4):
            assert cursor.frame(View(lane_columns=30, node=node, slot=slot)).detail is not None


def told_of_its_time(recording: Recording, at_ms: Millis, *, at_rest: bool) -> list[str]:
    """What the detail of the first job says its time went to."""
    cursor = Cursor(recording)
    cursor.go_to_ms(at_ms)
    shown = cursor.frame(View(job=0, at_rest=at_rest)).detail
    assert shown is not None
    return [text for key, text in shown.facts if key in ("it went to", "went to")]


def greatest_part(events: Iterable[AnyEvent]) -> str:
    kept = list(events)
    parts = response_parts(lambda: kept, 0)
    assert parts is not None
    ((label, ms), *_) = parts.ms.most_common(1)
    return f"{ms / parts.ms.total():4.0%}  {label}"


def test_the_end_of_a_job_says_where_its_response_went() -> None:
    """The greatest parts, as `callboard explain` tells them."""
    recording = outage_recording()
    told = told_of_its_time(recording, recording.end_ms, at_rest=False)
    assert told == [greatest_part(outage())]


def test_a_running_job_says_where_its_time_went_once_the_screen_stands_still() -> None:
    """As `callboard explain` of a run `--until` then; while time passes there is none for it."""
    recording = outage_recording()
    half_ms = recording.end_ms // 2
    before = [event for event in outage() if event.at_ms <= half_ms]
    before.append(msgspec.structs.replace(outage()[-1], at_ms=half_ms))
    assert told_of_its_time(recording, half_ms, at_rest=True) == [greatest_part(before)]
    assert told_of_its_time(recording, half_ms, at_rest=False) == []


def test_what_it_tells_of_a_running_job_ends_with_the_moment_shown() -> None:
    """Not with the last event: one that waits behind a long task waited hardly at all."""
    events = [event for event in events_of("two-jobs", "fifo") if event.at_ms < 60_000]
    recording = Recording()
    for event in events:
        recording.append(event)
    last_ms = events[-1].at_ms
    parts = [recording.parts_so_far(1, len(events), last_ms + late) for late in (0, 20_000)]
    sums = [each.ms.total() for each in parts if each is not None]
    assert sums == [last_ms - 30_000, last_ms - 10_000]
    assert parts[1] is not None
    ((label, ms), *_) = parts[1].ms.most_common(1)
    assert label == "queued: others held all the slots"
    assert ms > 19_000
