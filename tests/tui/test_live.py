"""A watched run is the run: whatever is asked of it, and in whichever process it plays."""

from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.experiments import plugins
from callboard.experiments.live_run import LiveRun
from callboard.experiments.live_server import LiveServer, start_runs
from callboard.experiments.run_loading import load_run
from callboard.experiments.run_spec import RunSpec
from callboard.journal.reader import Journal
from callboard.journal.replay.frame import Frame, View
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
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.policy import Policy
from tests.journal.replay.support import OUTAGE, events_of, outage
from tests.tui.support import Screen, drive

VIEW = View(columns=40, lane_columns=20, job=0)


def plan(scenario: str = str(OUTAGE), policy: str = "fair") -> RunSpec:
    return msgspec.structs.replace(load_run(scenario), policy=policy)


def taped(run: LiveRun) -> list[AnyEvent]:
    return [run.recording.event(index) for index in range(len(run.recording))]


def to_the_end(run: LiveRun | LiveServer) -> Frame:
    for _ in range(10_000):
        frame = run.answer(Request(Play(None), VIEW))
        if frame.complete and frame.at_ms == frame.end_ms:
            return frame
    raise AssertionError("it never ends")


WAYS: dict[str, list[Move]] = {
    "as fast as it goes": [],
    "minute by minute": [Play(60_000.0)] * 30,
    "step by step": [
        *[Step(StepKind.EVENT)] * 40,
        *[Step(StepKind.MASTER)] * 40,
        *[Step(StepKind.JOB)] * 4,
        *[Step(StepKind.MARK)] * 2,
    ],
    "to and fro": [
        GoTo(100_000), GoTo(0), Step(StepKind.EVENT, back=True), Play(0.5), GoTo(None),
        GoToEvent(5), Stay(), Step(StepKind.JOB, back=True), GoTo(700_000), Play(None), GoTo(3),
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_watched_run_is_the_run(way: str) -> None:
    """Digest, events, and all."""
    with LiveRun(plan()) as run:
        for move in WAYS[way]:
            run.answer(Request(move, VIEW))
        frame = to_the_end(run)
        assert taped(run) == list(outage())
    ended = outage()[-1]
    assert isinstance(ended, RunEnded)
    assert (frame.digest, frame.reason) == (ended.digest, "complete")


def test_it_plays_no_further_than_asked() -> None:
    with LiveRun(plan()) as run:
        frame = run.answer(Request(GoTo(100_000), VIEW))
        assert frame.at_ms == 100_000
        assert not frame.complete
        assert frame.end_ms < 110_000
        before = [event for event in outage() if event.at_ms <= 100_000]
        assert frame.index == len(before)


def test_a_step_is_the_same_as_in_the_record() -> None:
    """Every kind of step comes to the same moments live as on the whole tape."""
    with LiveRun(plan()) as run, LiveRun(plan()) as whole:
        to_the_end(whole)
        whole.answer(Request(GoTo(0), VIEW))
        run.answer(Request(GoTo(0), VIEW))
        for kind in (*[StepKind.MASTER] * 20, StepKind.MARK, StepKind.JOB, StepKind.EVENT):
            for each in (run, whole):
                each.answer(Request(Step(kind), VIEW))
            assert (run.cursor.at_ms, run.cursor.index) == (
                whole.cursor.at_ms,
                whole.cursor.index,
            ), kind


def test_who_asks_something_else_need_not_wait() -> None:
    run = LiveRun(plan("small-jobs", "hfsp"), has_request=lambda: True)
    frame = run.answer(Request(GoTo(10**9), VIEW))
    assert not frame.complete
    run.close()


def test_leaving_ends_the_journal_well(tmp_path: Path) -> None:
    path = tmp_path / "watched.journal"
    with LiveRun(plan(), path) as run:
        run.answer(Request(GoTo(300_000), VIEW))
    journal = Journal(path)
    events = list(journal)
    assert journal.complete
    assert isinstance(events[-1], RunEnded)
    assert events[-1].reason == "interrupted"
    assert events[:-1] == list(outage()[: len(events) - 1])


class Broken(Fifo):
    """Fails when it is asked."""

    def queue(self, *_: object) -> object:  # type: ignore[override]
        raise ZeroDivisionError("a slip")


def test_a_run_that_fails_says_why_and_can_still_be_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugins, "_policy", lambda *_: Policy(Broken()))
    run = LiveServer([plan()])
    frame = to_the_end(run)
    assert frame.failure.startswith("master failed at ")
    assert "ZeroDivisionError: a slip" in frame.failure

    async def act(screen: Screen) -> None:
        await screen.press("end")
        assert "the run failed: master failed" in screen.text()

    drive(run, act)


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Through the pipe, with the screen: the same digest, and the same journal."""
    path = tmp_path / "watched.journal"
    source = start_runs([plan("two-jobs")], [path])

    async def act(screen: Screen) -> None:
        await screen.press("asterisk", "space")
        await screen.until(lambda: screen.frame.complete)
        await screen.until(lambda: screen.frame.at_ms == screen.frame.end_ms)
        await screen.press("q")

    try:
        app = drive(source, act)
    finally:
        source.close()
    events = events_of("two-jobs", "fair")
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert app.playback.frame is not None
    assert app.playback.frame.digest == ended.digest
    assert list(Journal(path)) == list(events)


def test_a_process_that_goes_away_ends_the_screen() -> None:
    source = start_runs([plan("two-jobs")])

    async def act(screen: Screen) -> None:
        source._connection.close()
        screen.app.playback.ask()
        await screen.until(lambda: screen.app.failure is not None)

    app = drive(source, act)
    source.close()
    assert "ended unexpectedly" in str(app.failure)
