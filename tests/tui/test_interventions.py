"""What is done to a live run by hand: it is the run of a scenario in which that happens."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AnyEvent,
    FaultStruck,
    JobFinished,
    JobSubmitted,
    Outcome,
    RunEnded,
    RunStarted,
)
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Drain,
    KillJob,
    PauseMaster,
    PauseNode,
    Restart,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    SwitchPolicy,
)
from callboard.experiments.live.intervention_menu import can_fork, intervention_menu
from callboard.experiments.live.live_requests import Fork, Intervention, InterventionRequest, Keep
from callboard.experiments.live.live_run import LiveRun
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.journal.reader import Journal
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.source import (
    GoTo,
    Move,
    Play,
    Request,
    Stay,
    Step,
    StepKind,
)
from callboard.journal.writer import JournalWriter
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import from_dict, make_jobs
from callboard.scheduler.model import Millis, Priority
from callboard.tui.playback import RECORDED_REFUSAL
from tests.journal.replay.support import OUTAGE, outage, recorded
from tests.support.soak import one_in
from tests.tui.support import SMALL, Screen, drive

VIEW = View(columns=40, lane_columns=20)


def plan(scenario: str = str(OUTAGE), policy: str = "fair") -> RunSpec:
    return msgspec.structs.replace(load_run(scenario), policy=policy)


def taped(server: LiveServer, side: int = 0) -> list[AnyEvent]:
    recording = server.runs[side].recording
    return [recording.event(index) for index in range(len(recording))]


def ask(server: LiveServer, *moves: Move | Intervention, view: View = VIEW) -> Frame:
    for move in moves:
        if isinstance(move, Intervention):
            frame = server.answer_request(InterventionRequest(move, view))
        else:
            frame = server.answer_request(Request(move, view))
    return frame


def to_the_end(server: LiveServer) -> Frame:
    while not (frame := ask(server, Play(None))).complete or frame.at_ms < frame.end_ms:
        pass
    return frame


def played_again(events: Sequence[AnyEvent]) -> str:
    """The digest of a run of what a journal tells: its scenario, and every fault that occurred."""
    started = events[0]
    assert isinstance(started, RunStarted)
    scenario = from_dict(started.scenario)
    script = [
        ScheduledFault(each.at_ms, each.fault) for each in events if isinstance(each, FaultStruck)
    ]
    jobs = make_jobs(scenario)
    spec = RunSpec(scenario, jobs, tuple(script), started.policy)
    return run_simulation(spec, driver="direct").summary.digest or ""


BURST = ListedJob(name="flood", maps=6, map_s=10, reduces=1, reduce_s=5, count=3)
DEEDS: dict[str, list[Intervene]] = {
    "crash and restart": [Intervene((Crash(1), Crash(2))), Intervene((Restart(1), Restart(2)))],
    "pause": [Intervene((PauseNode(3),)), Intervene((ResumeNode(3),))],
    "slow and drain": [Intervene((Slow(5, 4.0),)), Intervene((Drain(6, True),))],
    "kill a job": [Intervene((KillJob(0),))],
    "a job": [Intervene((SetPriority(0, Priority.LOW),)), Intervene((SetPool(0, "batch"),))],
    "another policy": [Intervene((SwitchPolicy("fifo"),))],
    "the master": [Intervene((PauseMaster(),)), Intervene((ResumeMaster(),))],
    "bursts": [Intervene(burst=BURST), Intervene(burst=BURST)],
}


@pytest.mark.parametrize("what", one_in(4, DEEDS))
def test_a_run_with_deeds_can_be_played_again_from_its_journal(what: str, tmp_path: Path) -> None:
    """The same digest, to the last message; and before the first deed nothing has changed."""
    path = tmp_path / "by-hand.journal"
    with LiveServer([plan()], [path]) as server:
        for at_ms, deed in zip((300_000, 520_000), DEEDS[what], strict=False):
            frame = ask(server, GoTo(at_ms), deed)
            assert (frame.at_ms, frame.refusal) == (at_ms + 1, "")
        frame = to_the_end(server)
        events = taped(server)
    assert list(Journal(path)) == events
    assert not list(tmp_path.glob("*.part"))
    assert frame.digest == played_again(events)
    before = [event for event in outage() if event.at_ms <= 300_000]
    assert events[1 : len(before)] == before[1:]
    assert events[len(before)] != outage()[len(before)]


def test_a_world_without_a_script_can_be_interfered_with() -> None:
    """Its master asks no hosts and its nodes keep no outputs until something can go wrong."""
    with (
        LiveServer([plan("small-behind-giant")]) as calm,
        LiveServer([plan("small-behind-giant")]) as server,
    ):
        ask(calm, GoTo(200_000))
        ask(server, GoTo(120_000), Intervene((Crash(0),)), GoTo(200_000))
        before = [each for each in taped(calm) if each.at_ms <= 120_000]
        assert taped(server)[: len(before)] == before
        assert FaultStruck(120_001, Crash(0)) in taped(server)


def test_interfering_with_the_past_replaces_what_came_after() -> None:
    """Whoever has gone back acts there: later deeds are undone, and so is what was known."""
    with LiveServer([plan()]) as server:
        ask(server, GoTo(200_000), Intervene((Crash(1),)), GoTo(400_000), Intervene((Crash(2),)))
        frame = ask(server, GoTo(900_000), GoTo(300_000), Intervene((Crash(3),)))
        assert frame.at_ms == 300_001
        assert frame.end_ms < 310_000
        injected = [each.fault for each in taped(server) if isinstance(each, FaultStruck)]
        assert injected == [Crash(1), Crash(3)]
        assert [done.at_ms for done in server.runs[0].spec.interventions] == [200_001, 300_001]


@pytest.mark.soak
def test_however_it_is_watched_the_same_deeds_make_the_same_run() -> None:
    """Played, stepped and wound back, then twice interfered with: event for event the same."""
    ways: list[list[Move]] = [
        [GoTo(250_000)],
        [Play(40_000.0), Step(StepKind.JOB), Step(StepKind.MARK), GoTo(None), GoTo(250_000)],
        [*[Step(StepKind.EVENT)] * 20, GoTo(600_000), Step(StepKind.EVENT, True), GoTo(250_000)],
    ]
    digests = set()
    for way in ways:
        with LiveServer([plan()]) as server:
            ask(server, *way, Intervene((Crash(7),)), Stay(), Play(0.3), GoTo(300_000))
            ask(server, Intervene((Slow(9, 3.0), KillJob(1))))
            digests.add(to_the_end(server).digest)
    assert len(digests) == 1


def test_what_cannot_be_done_is_said_and_changes_nothing() -> None:
    with LiveServer([plan()]) as server:
        ask(server, GoTo(100_000))
        recording = server.runs[0].recording
        assert "fairest" in ask(server, Intervene((SwitchPolicy("fairest"),))).refusal
        assert "fairest" in ask(server, Fork("fairest")).refusal
        assert server.runs[0].recording is recording
        assert ask(server, Stay()).refusal == ""
        to_the_end(server)
        assert "the run is over here" in ask(server, Intervene((Crash(1),))).refusal
        assert "the run is over here" in ask(server, Fork("fifo")).refusal
        assert ask(server, GoTo(100_000), Intervene((Crash(1),))).refusal == ""


def test_a_recorded_run_stays_as_it_was() -> None:
    """Whatever is asked of it, the source is asked nothing, and the person is told why."""

    async def act(screen: Screen) -> None:
        before = screen.frame
        for deed in (Intervene((Crash(1),)), Fork("fifo"), Keep(0)):
            screen.app.playback.intervene(deed)
            await screen.tick(0)
            assert RECORDED_REFUSAL in screen.said()
            screen.app.clear_notifications()
        assert screen.frame == before

    drive(recorded(outage()), act, SMALL)


def test_jobs_of_a_burst_have_names_of_their_own() -> None:
    with LiveServer([plan()]) as server:
        once = msgspec.structs.replace(BURST, name="query", count=1)
        ask(server, GoTo(100_000), Intervene(burst=once), Intervene(burst=once))
        names = [each.name for each in taped(server) if isinstance(each, JobSubmitted)]
        assert names == ["nightly", "query-13", "query-14"]


def test_jobs_of_a_burst_stand_where_their_numbers_do() -> None:
    """They come before those that the scenario numbers first; the table had them so, as `job▴`."""
    with LiveServer([plan()]) as server:
        view = msgspec.structs.replace(VIEW, all_jobs=True, jobs_rows=100)
        rows = ask(server, GoTo(1000), Intervene(burst=BURST), GoTo(300_000), view=view).jobs
    numbers = [row.job for row in rows]
    assert len(numbers) > 5
    assert numbers == sorted(numbers)


def test_the_policy_in_force_is_shown() -> None:
    with LiveServer([plan()]) as server:
        assert ask(server, GoTo(100_000)).policy == "fair"
        assert ask(server, Intervene((SwitchPolicy("fifo"),))).policy == "fifo"
        assert ask(server, GoTo(50_000)).policy == "fair"


def test_a_killed_job_leaves() -> None:
    with LiveServer([plan()]) as server:
        ask(server, GoTo(100_000), Intervene((KillJob(0),)), GoTo(110_000))
        ends = [each for each in taped(server) if isinstance(each, JobFinished)]
        assert [(each.job, each.outcome) for each in ends] == [(0, Outcome.KILLED)]


@pytest.mark.parametrize("fault", [Restart(1), ResumeNode(1), Drain(1, False), KillJob(99)])
def test_what_makes_no_sense_does_no_harm(fault: AnyFault) -> None:
    """The menus do not offer it; the world bears it."""
    with LiveServer([plan()]) as server:
        ask(server, GoTo(100_000), Intervene((fault,)))
        frame = to_the_end(server)
        assert (frame.reason, frame.failure) == ("complete", "")
        assert isinstance(taped(server)[-1], RunEnded)


def test_nobody_else_gets_the_journal_while_the_run_is_played_again(tmp_path: Path) -> None:
    """Between the end of one recording and the next, which takes its place."""
    path = tmp_path / "watched.journal"
    refused: list[OSError] = []

    class Meanwhile(LiveRun):
        def go_to_moment(self, at_ms: Millis) -> None:
            with pytest.raises(OSError, match="another run is being recorded") as error:
                JournalWriter(path)
            refused.append(error.value)
            super().go_to_moment(at_ms)

    with Meanwhile(plan(), path) as run:
        run.carry_out_move(GoTo(100_000))
        run.intervene(Intervene((Crash(1),)))
        assert len(refused) == 1
        with pytest.raises(OSError, match="another run is being recorded"):
            JournalWriter(path)
    assert FaultStruck(100_001, Crash(1)) in Journal(path)


def test_a_deed_that_nobody_waits_for_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    """Whoever leaves while the run is played again: the journal is that of the run before."""
    path = tmp_path / "left.journal"
    deserted = False
    with LiveServer([plan()], [path], client_gone=lambda: deserted) as server:
        ask(server, GoTo(300_000))
        deserted = True
        with pytest.raises(EOFError):
            ask(server, Intervene((Crash(1),)))
    recorded = Journal(path)
    events = list(recorded)
    assert recorded.complete
    assert FaultStruck(300_001, Crash(1)) not in events
    assert events[:-1] == [*outage()][: len(events) - 1]
    assert list(tmp_path.iterdir()) == [path]


def test_a_burst_has_a_mark_and_is_the_next_intervention() -> None:
    """Its jobs have no event of their own for that: `u` `f` played past it."""
    with LiveServer([plan()]) as server:
        frame = ask(server, GoTo(100_000), Intervene(burst=BURST), GoTo(150_000), GoTo(0))
        assert frame.at_ms == 0
        frame = ask(server, Step(StepKind.FAULT))
        assert frame.at_ms == 100_001


def test_a_run_without_a_master_is_offered_nothing_that_it_has_no_answer_to() -> None:
    """Its menu had what a master does, and its refusals spoke of a timeline and an option."""
    spec = load_run("scheduler-lost")
    with LiveServer([spec]) as server:
        frame = ask(server, GoTo(20_000))
        assert frame.run is not None
        offered = {i.key for each in intervention_menu(frame, frame.run, []) for i in each.items}
        assert offered == {"n", "b"}
        assert not can_fork(frame, frame.run)
    with LiveServer([plan()]) as server:
        frame = ask(server, GoTo(20_000))
        assert frame.run is not None
        offered = {i.key for each in intervention_menu(frame, frame.run, []) for i in each.items}
        assert offered == {"n", "b", "o", "m", "y", "z"}
        assert can_fork(frame, frame.run)
