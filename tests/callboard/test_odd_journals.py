"""Sealed journals that no run has written: told in a line by whatever reads them, and no more."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    MapOutputsLost,
    Outcome,
)
from callboard.journal.follow import Follower
from callboard.journal.format import JournalError
from callboard.journal.replay.frame import View
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import MAP, Locality
from callboard.scheduler.reasons import Reason, Why
from tests.callboard.conftest import Run
from tests.journal.stories import STORY

COMMANDS = (
    "run {journal}",
    "plot {journal} --to {out}.png",
    "report {journal} --to {out}.html",
    "export {journal} --to {out}.csv",
    "export {journal} --to {out}.html",
    "export {journal} --to {out} --format hadoop1",
)


def renumbered(field: str, old: int, new: int) -> list[AnyEvent]:
    """The story with another number wherever the old one stands in this field."""
    return [
        msgspec.structs.replace(event, **{field: new})
        if getattr(event, field, None) == old
        else event
        for event in STORY
    ]


def written(events: Sequence[AnyEvent], path: Path) -> Path:
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)
    return path


@pytest.mark.parametrize(
    ("field", "new"),
    [("job", 1 << 40), ("job", -5), ("node", 1 << 31), ("attempt", 1 << 62), ("at_ms", -1)],
)
def test_a_number_that_no_run_gives_is_refused_by_all_who_read_it(
    callboard: Run, tmp_path: Path, field: str, new: int
) -> None:
    old = {"job": 0, "node": 0, "attempt": 1, "at_ms": 0}[field]
    journal = written(renumbered(field, old, new), tmp_path / "odd.journal")
    for command in ("show {journal}", "explain {journal} 0", *COMMANDS):
        line = command.format(journal=journal, out=tmp_path / "out")
        status, _, err = callboard(*line.split())
        assert (status, err.count("\n")) == (2, 1), line
        assert "no run has recorded this" in err
        assert str(new) in err


@pytest.mark.parametrize(("field", "old", "new"), [("node", 0, 4321), ("slot", 0, 99)])
def test_what_is_not_there_is_refused_where_figures_are_made(
    callboard: Run, tmp_path: Path, field: str, old: int, new: int
) -> None:
    journal = written(renumbered(field, old, new), tmp_path / "odd.journal")
    for command in COMMANDS[1:]:
        line = command.format(journal=journal, out=tmp_path / "out")
        status, _, err = callboard(*line.split())
        assert (status, err.count("\n")) == (2, 1), line
        assert "cannot have happened" in err
        assert str(new) in err


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        (MapOutputsLost(900, 0, 0, (77,), Outcome.KILLED), "attempt 77 was never launched"),
        (
            AttemptLaunched(900, 77, 9, MAP, 0, 0, 0, Locality.NODE, Why(Reason.JOB_SETUP)),
            "job 9 was never",
        ),
    ],
)
def test_what_was_never_there_is_refused_where_a_history_is_written(
    callboard: Run, tmp_path: Path, odd: AnyEvent, told: str
) -> None:
    before = [event for event in STORY if event.at_ms < odd.at_ms]
    journal = written([*before, odd], tmp_path / "odd.journal")
    status, _, err = callboard("export", str(journal), "--to", "-", "--format", "hadoop1")
    assert status == 2
    assert told in err


@pytest.mark.parametrize(("field", "old", "new"), [("node", 0, 4321), ("slot", 0, 99)])
def test_the_screen_shows_what_is_there(tmp_path: Path, field: str, old: int, new: int) -> None:
    """An event of a node that is not there changes nothing of the picture."""
    journal = written(renumbered(field, old, new), tmp_path / "odd.journal")
    source = RecordedSource(Follower(journal))
    while source.read_on(3):
        source.cursor.frame(View())
    assert len(source.recording) == len(STORY)
    source.cursor.frame(View())


@pytest.mark.parametrize(
    ("start", "told"),
    [({"policy": ""}, "no policy"), ({"policy": " \n"}, "no policy"), ({"nodes": ()}, "no nodes")],
)
def test_a_start_that_names_no_policy_or_no_nodes_is_refused_by_all_who_read_it(
    callboard: Run, tmp_path: Path, start: dict[str, object], told: str
) -> None:
    odd = msgspec.structs.replace(STORY[0], **start)
    journal = written((odd, *STORY[1:]), tmp_path / "odd.journal")
    for command in ("show {journal}", "explain {journal} 0", *COMMANDS):
        line = command.format(journal=journal, out=tmp_path / "out")
        status, _, err = callboard(*line.split())
        assert (status, err.count("\n")) == (2, 1), line
        assert f"its start names {told}" in err
    with pytest.raises(JournalError, match=told):
        RecordedSource(Follower(journal)).read_on()


@pytest.mark.parametrize("lost", [1, 5])
def test_without_its_start_a_run_is_not_shown_but_told_of_in_a_line(
    callboard: Run, tmp_path: Path, lost: int
) -> None:
    journal = written(STORY[lost:], tmp_path / "odd.journal")
    for command in ("explain {journal} 0", *COMMANDS):
        line = command.format(journal=journal, out=tmp_path / "out")
        status, _, err = callboard(*line.split())
        assert (status, err.count("\n")) == (2, 1), line
    with pytest.raises(JournalError, match="the start of the run is missing"):
        RecordedSource(Follower(journal)).read_on()
