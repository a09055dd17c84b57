"""What folds in the log, and what does not."""

import msgspec
import pytest

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Importance
from callboard.journal.replay.event_log import LogFilter
from callboard.journal.replay.log_folding import folded_lines
from callboard.journal.replay.recording import Recording
from tests.journal.replay.support import events_of, lines_before, outage


def recording_of(events: tuple[ev.AnyEvent, ...]) -> Recording:
    recording = Recording()
    for event in events:
        recording.append(event)
    return recording


HEADLINES = LogFilter(Importance.HEADLINE)


def test_a_rack_that_fails_is_one_line_a_thing() -> None:
    recording = recording_of(events_of("rack-outage", "fair"))
    lines = folded_lines(recording, len(recording), 999, HEADLINES, ())
    folded = {line.text: line.folded for line in lines if line.is_fold}
    assert folded["node-2 crashes, and 9 more of rack-2"] == 10
    assert folded["101 maps of nightly run again (rack-2, 10 nodes)"] == 20
    assert sum(line.folded for line in lines) == len(
        lines_before(recording, len(recording), 999, HEADLINES)
    )


def test_unfolded_it_is_what_it_was() -> None:
    recording = recording_of(outage())
    folded = folded_lines(recording, len(recording), 999, HEADLINES, ())
    groups = [line.index for line in folded if line.is_fold]
    assert groups
    unfolded = folded_lines(recording, len(recording), 999, HEADLINES, groups)
    plain = lines_before(recording, len(recording), 999, HEADLINES)
    assert [(line.index, line.text) for line in unfolded] == [
        (line.index, line.text) for line in plain
    ]
    assert {line.group for line in unfolded} == {None, *groups}


@pytest.mark.parametrize("most", [1, 5, 12])
def test_the_last_lines_are_those_of_the_whole_log(most: int) -> None:
    recording = recording_of(outage())
    for index in range(0, len(recording), 997):
        whole = folded_lines(recording, index, 999, HEADLINES, ())
        assert folded_lines(recording, index, most, HEADLINES, ()) == whole[-most:]


def test_only_what_is_alike_folds() -> None:
    """A node that crashes once a minute, and jobs that lose maps of their own, stay apart."""
    recording = recording_of(events_of("rolling-restarts", "fair"))
    lines = folded_lines(recording, len(recording), 999, HEADLINES, ())
    assert {line.folded for line in lines} == {1}


def test_a_node_shunned_for_something_else_folds_into_no_loss_of_maps() -> None:
    events = events_of("rack-outage", "fair")
    at = next(place for place, each in enumerate(events) if isinstance(each, ev.MapOutputsLost))
    lost = events[at]
    assert isinstance(lost, ev.MapOutputsLost)
    launch = next(place for place, e in enumerate(events) if isinstance(e, ev.AttemptLaunched))
    for cause, lines in ((launch, 2), (at, 1)):
        shunned = ev.JobBlacklistedNode(lost.at_ms, lost.job, lost.node, in_force=True, cause=cause)
        other = msgspec.structs.replace(lost, node=lost.node + 1)
        before = events[: at + 1] if cause == at else events[:at]
        recording = recording_of((*before, shunned, other))
        last = folded_lines(recording, len(recording), 999, HEADLINES, ())[-2:]
        assert [line.folded > 1 for line in last] == [False, lines == 1]
        assert ("shunned" in last[-1].text) == (lines == 1)
