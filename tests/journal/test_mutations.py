"""Journals whose events are true ones, in an order that no run has: they are told or refused.

Every record is sealed, so it is the commands that meet them.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal.format import JournalError
from callboard.journal.tell.diff import diff_journals, diff_lines
from callboard.journal.tell.explain import explain
from callboard.journal.tell.show import ShowOptions, show
from callboard.journal.writer import JournalWriter
from tests.support.library import ran_with_events

EXPECTED = (ValueError, LookupError, JournalError)
"""What `callboard` says in words."""


@cache
def true_events() -> tuple[AnyEvent, ...]:
    """A run in which nodes are lost, maps undone and attempts disowned."""
    run = ran_with_events(
        "partition-and-heal", "fair", "timeline.0.for_s=900", "workload.job.0.maps=12"
    )
    return tuple(run.events)


def write(path: Path, events: list[AnyEvent]) -> Path:
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)
    return path


def told(path: Path) -> None:
    """Every command that reads a journal reads it."""
    for options in (ShowOptions(), ShowOptions(job=2), ShowOptions(node=1)):
        assert all(isinstance(line, str) for line in show(path, options))
    for job in (0, 3):
        with suppress(*EXPECTED):
            assert all(isinstance(line, str) for line in explain(path, job))


@settings(derandomize=True, max_examples=30, deadline=None)
@given(data=st.data())
def test_events_that_are_lost_doubled_and_moved(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    check_mutated(tmp_path_factory.getbasetemp(), data)


@pytest.mark.soak
@settings(derandomize=True, max_examples=300, deadline=None)
@given(data=st.data())
def test_more_of_them(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    check_mutated(tmp_path_factory.getbasetemp(), data)


def check_mutated(folder: Path, data: st.DataObject) -> None:
    """Draw what becomes of some events; every command reads what is left."""
    events = list(true_events())
    place = st.integers(0, len(events) - 1)
    for drawn in data.draw(st.lists(place, max_size=6)):
        what = data.draw(st.sampled_from(["lose", "double", "move", "cut"]))
        at = min(drawn, len(events) - 1)
        event = events[at]
        if what in ("lose", "move"):
            del events[at]
        if what in ("double", "move"):
            events.insert(data.draw(st.integers(0, len(events))), event)
        if what == "cut":
            del events[at : at + data.draw(st.integers(0, 200))]
    mutated = write(folder / "mutated.journal", events)
    told(mutated)
    found = diff_journals(mutated, write(folder / "true.journal", list(true_events())))
    assert list(diff_lines(found, "a", "b"))
