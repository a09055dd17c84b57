"""Where an account kept by others can differ from ours (`docs/rules.md`), on small worlds."""

from collections import Counter
from itertools import pairwise

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobSubmitted,
    MapOutputsLost,
    Outcome,
)
from callboard.actors.vocabulary.faults import Crash, Restart
from callboard.journal.figures.metrics import Metrics
from callboard.scheduler.model import SlotKind
from tests.journal.replay.support import events_of, outage

Stay = tuple[int, int]
"""From when to when."""


def test_slot_time_has_a_part_in_which_nodes_are_down() -> None:
    """Without it the parts are short by the slots of a crashed node, for as long as it is gone."""
    crash = 'timeline=[{what="crash",nodes="node-1",at_s=40,for_s=30}]'
    events = events_of("two-jobs", "fair", crash)
    struck = {type(e.fault): e.at_ms for e in events if isinstance(e, FaultStruck)}
    gone_ms = struck[Restart] - struck[Crash]
    time = Metrics.of(events).summary().slot_seconds
    parts = time.useful + time.wasted + time.idle + time.unfinished
    assert gone_ms > 0
    assert round(1000 * time.down) == 2 * gone_ms
    assert round(1000 * (time.total - parts)) == 2 * gone_ms


def test_a_suspended_attempt_may_go_on_in_another_slot() -> None:
    """Taken from its start to its end in the slot where it began, it would share that with others;
    stay by stay none does.
    """
    events = events_of("sticky-slots", 'hfsp+preemptive(how="suspend")')
    whole, stays = slot_stays(events)
    assert overlaps(whole)
    assert not overlaps(stays)


def test_a_map_whose_output_is_lost_is_done_no_more() -> None:
    """An attempt that has succeeded adds a task to those done, and one whose output is lost takes
    it away again, as killed (rule T3) or as failed (T6): what is left is each task of each job
    once, and no attempt counts twice.
    """
    succeeded, lost, tasks, job_of = Counter[int](), Counter[int](), Counter[int](), {}
    for event in outage():
        match event:
            case JobSubmitted():
                tasks[event.job] = event.maps + event.reduces
            case AttemptLaunched() if event.task >= 0:
                job_of[event.attempt] = event.job
            case AttemptClosed(outcome=Outcome.SUCCEEDED) if event.attempt in job_of:
                succeeded[job_of[event.attempt]] += 1
            case MapOutputsLost():
                lost[event.job] += len(event.attempts)
    assert lost
    assert succeeded != tasks
    assert succeeded - lost == tasks
    counts = Metrics.of(outage()).summary().attempts
    assert counts.succeeded == tasks.total()


def slot_stays(events: tuple[AnyEvent, ...]) -> tuple[dict[object, list[Stay]], ...]:
    """By slot, its attempts from their starts to their ends, and stay by stay."""
    whole: dict[object, list[Stay]] = {}
    stays: dict[object, list[Stay]] = {}
    kinds: dict[int, tuple[int, SlotKind]] = {}
    begun: dict[int, tuple[object, int]] = {}
    here: dict[int, tuple[object, int]] = {}
    for event in events:
        match event:
            case AttemptLaunched():
                kinds[event.attempt] = event.node, event.kind
            case AttemptStarted() | AttemptResumed():
                here[event.attempt] = (*kinds[event.attempt], event.slot), event.at_ms
                begun.setdefault(event.attempt, here[event.attempt])
            case AttemptSuspended() | AttemptEnded() if event.attempt in here:
                slot, from_ms = here.pop(event.attempt)
                stays.setdefault(slot, []).append((from_ms, event.at_ms))
                if isinstance(event, AttemptEnded):
                    slot, from_ms = begun[event.attempt]
                    whole.setdefault(slot, []).append((from_ms, event.at_ms))
    return whole, stays


def overlaps(slots: dict[object, list[Stay]]) -> bool:
    return any(
        second[0] < first[1]
        for stays in slots.values()
        for first, second in pairwise(sorted(stays))
    )
