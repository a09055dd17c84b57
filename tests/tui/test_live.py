"""A watched run is the run: whatever is asked of it, and in whichever process it plays."""

from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import AnyEvent, FaultStruck, RunEnded
from callboard.actors.vocabulary.faults import Crash
from callboard.experiments.live.live_requests import InterventionRequest
from callboard.experiments.live.live_run import LiveRun
from callboard.experiments.live.live_server import LiveServer, start_runs
from callboard.experiments.run import plugins
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.reader import Journal
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.source import (
    GoTo,
    GoToEvent,
    Halt,
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
from tests.journal.replay.test_lockstep import pair
from tests.support.soak import one_in
from tests.tui.support import Screen, drive

VIEW = View(columns=40, lane_columns=20, job=0)


def plan(scenario: str = str(OUTAGE), policy: str = "fair") -> RunSpec:
    return msgspec.structs.replace(load_run(scenario), policy=policy)


def taped(run: LiveRun) -> list[AnyEvent]:
    return [run.recording.event(index) for index in range(len(run.recording))]


def to_the_end(run: LiveRun | LiveServer) -> Frame:
    for _ in range(10_000):
        frame = run.answer_request(Request(Play(None), VIEW))
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
            run.answer_request(Request(move, VIEW))
        frame = to_the_end(run)
        assert taped(run) == list(outage())
    ended = outage()[-1]
    assert isinstance(ended, RunEnded)
    assert (frame.digest, frame.reason) == (ended.digest, "complete")


def test_it_plays_no_further_than_asked() -> None:
    with LiveRun(plan()) as run:
        frame = run.answer_request(Request(GoTo(100_000), VIEW))
        assert frame.at_ms == 100_000
        assert not frame.complete
        assert frame.end_ms < 110_000
        before = [event for event in outage() if event.at_ms <= 100_000]
        assert frame.index == len(before)


def test_a_step_is_the_same_as_in_the_record() -> None:
    """Every kind of step comes to the same moments live as on the whole tape."""
    with LiveRun(plan()) as run, LiveRun(plan()) as whole:
        to_the_end(whole)
        whole.answer_request(Request(GoTo(0), VIEW))
        run.answer_request(Request(GoTo(0), VIEW))
        for kind in (*[StepKind.MASTER] * 20, StepKind.MARK, StepKind.JOB, StepKind.EVENT):
            for each in (run, whole):
                each.answer_request(Request(Step(kind), VIEW))
            assert (run.cursor.at_ms, run.cursor.index) == (
                whole.cursor.at_ms,
                whole.cursor.index,
            ), kind


def test_who_asks_something_else_need_not_wait() -> None:
    run = LiveRun(plan("small-jobs", "hfsp"), has_request=lambda: True)
    frame = run.answer_request(Request(GoTo(10**9), VIEW))
    assert not frame.complete
    run.close()


JOBS_ON = [Step(StepKind.JOB)] * 3
BURSTS: dict[str, list[Move]] = {
    "to a moment, then a look": [GoTo(400_000), Stay()],
    "to a moment, then time passes": [GoTo(400_000), Play(3000.0)],
    "to a moment, then to another": [GoTo(900_000), GoTo(400_000), Stay()],
    "to a moment, then to the mark after it": [GoTo(389_999), Step(StepKind.MARK), Stay()],
    "jobs on, one after the other": [*JOBS_ON, Stay(), Stay()],
    "jobs on and one back": [*JOBS_ON, Step(StepKind.JOB, back=True)],
    "to a moment, which is given up": [GoTo(900_000), Halt(), Stay()],
    "to a moment, then to an event": [GoTo(900_000), GoToEvent(5)],
}
"""What comes in a burst: each request is there before the one before it has been answered."""


@pytest.mark.soak
@pytest.mark.parametrize("policies", [("fair",), ("fair", "fifo")])
@pytest.mark.parametrize("burst", one_in(4, BURSTS))
def test_a_move_under_way_goes_on_when_more_is_asked(burst: str, policies: tuple[str, ...]) -> None:
    """The last answer is what it is where each request has waited for the one before."""
    asked = [Request(move, VIEW) for move in BURSTS[burst]]
    waiting = list(asked)
    specs = [plan(policy=policy) for policy in policies]
    with LiveServer(specs, has_request=lambda: bool(waiting)) as hasty, LiveServer(specs) as calm:
        while waiting:
            shown = hasty.answer_request(waiting.pop(0))
        patient = [calm.answer_request(request) for request in asked][-1]
    if Halt() in BURSTS[burst]:
        assert 0 < shown.at_ms < patient.at_ms
        return
    played_on = isinstance(asked[-1].move, Play)  # no time passes on the way
    assert shown.at_ms == patient.at_ms - (3000 if played_on else 0)
    assert played_on or (shown.index, shown.jobs) == (patient.index, patient.jobs)


def test_two_runs_go_to_their_divergence_though_more_is_asked() -> None:
    waiting = [Request(Step(StepKind.DIVERGENCE), VIEW), *[Request(Stay(), VIEW)] * 3]
    specs = [plan(policy=policy) for policy in ("fair", "fifo")]
    with LiveServer(specs, has_request=lambda: bool(waiting)) as server:
        frames = [server.answer_request(waiting.pop(0)) for _ in range(4)]
    assert frames[-1].comparison is not None
    assert frames[-1].comparison.divergence is not None
    assert frames[-1].at_ms == frames[-1].comparison.divergence.at_ms


def test_what_is_done_by_hand_is_done_where_the_move_leads() -> None:
    more = [True]
    with LiveServer([plan()], has_request=lambda: more[0]) as server:
        assert server.answer_request(Request(GoTo(400_000), VIEW)).at_ms < 400_000
        crash = InterventionRequest(Intervene((Crash(3),)), VIEW)
        assert server.answer_request(crash).at_ms == 400_001
        (done,) = server.runs[0].spec.interventions
        assert done.at_ms == 400_001


def test_leaving_ends_the_journal_well(tmp_path: Path) -> None:
    path = tmp_path / "watched.journal"
    with LiveRun(plan(), path) as run:
        run.answer_request(Request(GoTo(300_000), VIEW))
    journal = Journal(path)
    events = list(journal)
    assert journal.complete
    assert isinstance(events[-1], RunEnded)
    assert events[-1].reason == "interrupted"
    assert events[:-1] == list(outage()[: len(events) - 1])


def test_a_journal_that_is_named_by_a_link_stays_in_the_file_that_it_leads_to(
    tmp_path: Path,
) -> None:
    """What was done by hand made the link a file of its own, and left the other as it was."""
    link, real = tmp_path / "link.journal", tmp_path / "real.journal"
    link.symlink_to(real.name)
    with LiveRun(plan("two-jobs"), link) as run:
        run.intervene(Intervene((Crash(1),)))
    assert link.is_symlink()
    assert any(isinstance(event, FaultStruck) for event in Journal(real))


def test_a_journals_name_may_be_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    """No intervention was possible: the name of the file that is written meanwhile was longer."""
    long = tmp_path / f"{'x' * 246}.cbj"
    with LiveRun(plan("two-jobs"), long) as run:
        run.intervene(Intervene((Crash(1),)))
    assert any(isinstance(event, FaultStruck) for event in Journal(long))


class Broken(Fifo):
    """Fails when it is asked."""

    def queue(self, *_: object) -> object:  # type: ignore[override]
        raise ZeroDivisionError("a slip")


def test_a_run_that_fails_says_why_and_can_still_be_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugins, "_composed_policy", lambda *_: Policy(Broken()))
    run = LiveServer([plan()])
    frame = to_the_end(run)
    assert frame.failure.startswith("ZeroDivisionError: a slip\n  at 00:00:")

    async def act(screen: Screen) -> None:
        await screen.press("end")
        assert "the run failed: ZeroDivisionError: a slip" in screen.text()

    drive(run, act)


def test_of_two_runs_the_one_that_failed_is_named_at_once_and_none_is_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its jobs take no time and it is done first: it would be far ahead."""
    sound = plugins._composed_policy
    monkeypatch.setattr(
        plugins,
        "_composed_policy",
        lambda spec, text: Policy(Broken()) if text == "fair" else sound(spec, text),
    )
    source = LiveServer(pair("fair", "fifo"))

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(300_000))
        await screen.until(lambda: screen.frame.at_ms == 300_000)
        await screen.press("2")
        shown = screen.text()
        assert "fair failed: ZeroDivisionError: a slip" in shown
        assert "ahead" not in shown
        assert "no difference so far" not in shown

    drive(source, act)


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


def test_a_screen_may_be_left_before_its_first_picture() -> None:
    """`q` in its first seconds ended in a traceback: the screen was left, and asked for a frame."""
    source, answered = start_runs([plan("two-jobs")]), list[Frame]()
    source.close()
    source.ask_frame(Request(Stay(), View()), answered.append)
    assert not answered


def test_a_process_that_goes_away_ends_the_screen() -> None:
    source = start_runs([plan("two-jobs")])

    async def act(screen: Screen) -> None:
        source._connection.close()
        screen.app.playback.ask_frame()
        await screen.until(lambda: screen.app.failure is not None)

    app = drive(source, act)
    source.close()
    assert "ended unexpectedly" in str(app.failure)
