"""The one fold: what it takes for a new event, and what it does with what cannot be."""

from typing import Any, cast

import pytest

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Importance, Mark, Outcome
from callboard.actors.vocabulary.lifecycle import AttemptState, BookedState, IllegalTransition
from callboard.journal import run_state as fold
from callboard.journal.checks.checker import check_events
from callboard.journal.event_limits import InconsistentEvents
from callboard.journal.export.export_data import ExportData
from callboard.journal.figures.metrics import Metrics
from callboard.journal.replay import recording as recordings
from callboard.journal.replay.recording import Recording
from callboard.journal.run_state import NO_SUBJECT, RunState
from callboard.scheduler.model import MAPS, REDUCES
from tests.journal.test_checks import STORY


class NodeRepainted(ev.NodeEvent, frozen=True):
    """A kind of event that there is not."""

    importance = Importance.DECISION
    mark = Mark.RETURNED


def test_a_new_event_needs_its_class_its_change_and_its_sentence_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its name is made from its class; the rest is what `docs/journal.md` says.  The sentence is
    asked for by mypy (`assert_never`).
    """
    seen = []
    monkeypatch.setitem(cast(Any, fold.TAKE), NodeRepainted, lambda _, event: seen.append(event))
    monkeypatch.setitem(cast(Any, recordings.EVENT_NUMBERS), NodeRepainted, len(ev.EVENT_TYPES))
    new = cast(ev.AnyEvent, NodeRepainted(150, 1))
    events = [*STORY[:4], new, *STORY[4:]]
    recording, known = Recording(), RunState()
    for event in events:
        recording.append(event)
        known.observe(event)
    assert seen == [new, new]
    assert known.job_and_node_of(new) == (NO_SUBJECT, 1)
    assert (recording.jobs[4], recording.nodes[4]) == (NO_SUBJECT, 1)
    assert recording.history.next_mark(0, Mark.RETURNED) == 150
    assert [rule.times for rule in check_events(events)] == [
        rule.times for rule in check_events(STORY)
    ]
    assert Metrics.of(events).summary() == Metrics.of(STORY).summary()
    assert ExportData.of_events(events).instants == ExportData.of_events(STORY).instants


def test_every_event_is_about_a_job_a_node_an_attempt_or_the_run() -> None:
    bases = (ev.JobEvent, ev.NodeEvent, ev.AttemptEvent)
    others = [kind for kind in ev.EVENT_TYPES if not issubclass(kind, bases)]
    assert others == [ev.RunStarted, ev.OrderSwitched, ev.FaultStruck, ev.RunEnded]


def test_truth_and_books_stand_side_by_side() -> None:
    known, told = RunState(), []
    for event in STORY:
        record = known.observe(event)
        if record is not None and record.launch.attempt == 2:
            told.append((record.state, record.booked))
    assert told == [
        (AttemptState.UNASSIGNED, BookedState.LAUNCHED),
        (AttemptState.WORKING, BookedState.LAUNCHED),
        (AttemptState.FAILED, BookedState.LAUNCHED),
        (AttemptState.FAILED, BookedState.FAILED),
    ]
    assert not known.attempts


def test_what_succeeded_is_remembered_when_it_is_lost() -> None:
    """The reduce held its slot for 3000 ms, 2199 of them for its shuffle."""
    known = RunState()
    for event in STORY[:-4]:
        known.observe(event)
    maps = known.jobs[0].phases[MAPS]
    assert (maps.done, maps.succeeded, maps.work_ms) == (2, 2, 2500)
    known.observe(ev.MapOutputsLost(4000, 0, 0, (1,), Outcome.KILLED))
    assert (maps.done, maps.succeeded) == (1, 2)
    known.observe(ev.JobResubmitted(4000, 0))
    assert (maps.done, maps.succeeded) == (0, 2)
    for event in STORY[-4:-2]:
        known.observe(event)
    reduces = known.jobs[0].phases[REDUCES]
    assert (reduces.held_ms, reduces.work_ms) == (3000, 3000 - 2199)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (ev.AttemptStarted(150, 1, 0, 0), IllegalTransition),
        (ev.AttemptEnded(150, 9, Outcome.FAILED, 0), InconsistentEvents),
        (ev.JobFinished(150, 7, Outcome.FAILED, 0), InconsistentEvents),
        (ev.NodeLost(150, 9, 0), InconsistentEvents),
    ],
)
def test_what_no_run_can_have_is_refused_and_changes_nothing(
    event: ev.AnyEvent, error: type[Exception]
) -> None:
    known = RunState()
    for each in STORY[:4]:
        known.observe(each)
    before = str(known.attempts[1]), str(known.jobs[0]), str(known.nodes[1])
    with pytest.raises(error):
        known.observe(event)
    assert known.observe_if_possible(event) is None
    assert (str(known.attempts[1]), str(known.jobs[0]), str(known.nodes[1])) == before
