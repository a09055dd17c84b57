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
)
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Drain,
    KillJob,
    Pause,
    PauseMaster,
    Restart,
    Resume,
    ResumeMaster,
    SetPool,
    SetPriority,
    Slow,
    SwitchPolicy,
)
from callboard.by_hand import Plan
from callboard.journal.reader import Journal
from callboard.live import Desk
from callboard.plan import prepare
from callboard.play import Options, play
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import from_dict, make_jobs
from callboard.scheduler.model import Priority
from callboard.tui.frame import Frame, View
from callboard.tui.recorded import RECORDED, RecordedSource
from callboard.tui.source import (
    Deed,
    Fork,
    GoTo,
    Interfere,
    Keep,
    Move,
    Play,
    Request,
    Stay,
    Step,
    StepKind,
)
from tests.tui.support import OUTAGE, outage

VIEW = View(columns=40, lane_columns=20)


def plan(scenario: str = str(OUTAGE), policy: str = "fair", journal: Path | None = None) -> Plan:
    found, jobs, script = prepare(scenario)
    return Plan(found, jobs, policy, Options(journal=journal), script)


def taped(desk: Desk, side: int = 0) -> list[AnyEvent]:
    tape = desk.runs[side].tape
    return [tape.event(index) for index in range(len(tape))]


def ask(desk: Desk, *moves: Move | Deed, view: View = VIEW) -> Frame:
    for move in moves:
        frame = desk.answer(Request(move, view))
    return frame


def to_the_end(desk: Desk) -> Frame:
    while not (frame := ask(desk, Play(None))).complete or frame.at_ms < frame.end_ms:
        pass
    return frame


def played_again(events: Sequence[AnyEvent]) -> str:
    """The digest of a run of what a journal tells: its scenario, and all that struck."""
    started = events[0]
    scenario = from_dict(started.scenario)  # type: ignore[union-attr]
    script = [
        ScheduledFault(each.at_ms, each.fault) for each in events if isinstance(each, FaultStruck)
    ]
    jobs = make_jobs(scenario)
    result = play(scenario, jobs, started.policy, Options(host="direct"), script=script)  # type: ignore[union-attr]
    return result.summary.digest or ""


BURST = ListedJob(name="flood", maps=6, map_s=10, reduces=1, reduce_s=5, count=3)
DEEDS: dict[str, list[Interfere]] = {
    "crash and restart": [Interfere((Crash(1), Crash(2))), Interfere((Restart(1), Restart(2)))],
    "pause": [Interfere((Pause(3),)), Interfere((Resume(3),))],
    "slow and drain": [Interfere((Slow(5, 4.0),)), Interfere((Drain(6, True),))],
    "kill a job": [Interfere((KillJob(0),))],
    "a job": [Interfere((SetPriority(0, Priority.LOW),)), Interfere((SetPool(0, "batch"),))],
    "another policy": [Interfere((SwitchPolicy("fifo"),))],
    "the master": [Interfere((PauseMaster(),)), Interfere((ResumeMaster(),))],
    "bursts": [Interfere(burst=BURST), Interfere(burst=BURST)],
}


@pytest.mark.parametrize("what", DEEDS)
def test_a_run_with_deeds_can_be_played_again_from_its_journal(what: str, tmp_path: Path) -> None:
    """The same digest, to the last message; and before the first deed nothing has changed."""
    path = tmp_path / "by-hand.journal"
    with Desk([plan(journal=path)]) as desk:
        for at_ms, deed in zip((300_000, 520_000), DEEDS[what], strict=False):
            frame = ask(desk, GoTo(at_ms), deed)
            assert (frame.at_ms, frame.said) == (at_ms + 1, "")
        frame = to_the_end(desk)
        events = taped(desk)
    assert list(Journal(path)) == events
    assert not list(tmp_path.glob("*.part"))
    assert frame.digest == played_again(events)
    before = [event for event in outage() if event.at_ms <= 300_000]
    assert events[1 : len(before)] == before[1:]
    assert events[len(before)] != outage()[len(before)]


def test_a_world_without_a_script_can_be_interfered_with() -> None:
    """Its master asks no hosts and its nodes keep no outputs until something can go wrong."""
    with Desk([plan("small-behind-giant")]) as calm, Desk([plan("small-behind-giant")]) as desk:
        ask(calm, GoTo(200_000))
        ask(desk, GoTo(120_000), Interfere((Crash(0),)), GoTo(200_000))
        before = [each for each in taped(calm) if each.at_ms <= 120_000]
        assert taped(desk)[: len(before)] == before
        assert FaultStruck(120_001, Crash(0)) in taped(desk)


def test_interfering_with_the_past_replaces_what_came_after() -> None:
    """Whoever has gone back acts there: later deeds are undone, and so is what was known."""
    with Desk([plan()]) as desk:
        ask(desk, GoTo(200_000), Interfere((Crash(1),)), GoTo(400_000), Interfere((Crash(2),)))
        frame = ask(desk, GoTo(900_000), GoTo(300_000), Interfere((Crash(3),)))
        assert frame.at_ms == 300_001
        assert frame.end_ms < 310_000
        struck = [each.fault for each in taped(desk) if isinstance(each, FaultStruck)]
        assert struck == [Crash(1), Crash(3)]
        assert [done.at_ms for done in desk.runs[0].plan.done] == [200_001, 300_001]


def test_however_it_is_watched_the_same_deeds_make_the_same_run() -> None:
    """Played, stepped and wound back, then twice interfered with: event for event the same."""
    ways: list[list[Move]] = [
        [GoTo(250_000)],
        [Play(40_000.0), Step(StepKind.JOB), Step(StepKind.MARK), GoTo(None), GoTo(250_000)],
        [*[Step(StepKind.EVENT)] * 20, GoTo(600_000), Step(StepKind.EVENT, True), GoTo(250_000)],
    ]
    digests = set()
    for way in ways:
        with Desk([plan()]) as desk:
            ask(desk, *way, Interfere((Crash(7),)), Stay(), Play(0.3), GoTo(300_000))
            ask(desk, Interfere((Slow(9, 3.0), KillJob(1))))
            digests.add(to_the_end(desk).digest)
    assert len(digests) == 1


def test_what_cannot_be_done_is_said_and_changes_nothing() -> None:
    with Desk([plan()]) as desk:
        ask(desk, GoTo(100_000))
        tape = desk.runs[0].tape
        assert "fairest" in ask(desk, Interfere((SwitchPolicy("fairest"),))).said
        assert "fairest" in ask(desk, Fork("fairest")).said
        assert desk.runs[0].tape is tape
        assert ask(desk, Stay()).said == ""
        to_the_end(desk)
        assert "the run is over here" in ask(desk, Interfere((Crash(1),))).said
        assert "the run is over here" in ask(desk, Fork("fifo")).said
        assert ask(desk, GoTo(100_000), Interfere((Crash(1),))).said == ""


def test_a_recorded_run_stays_as_it_was() -> None:
    source = RecordedSource(iter(outage()))
    source.read_on()
    frames: list[Frame] = []
    for deed in (Interfere((Crash(1),)), Fork("fifo"), Keep(0)):
        source.ask(Request(deed, VIEW), frames.append)
    assert {frame.said for frame in frames} == {RECORDED}


def test_jobs_of_a_burst_have_names_of_their_own() -> None:
    with Desk([plan()]) as desk:
        once = msgspec.structs.replace(BURST, name="query", count=1)
        ask(desk, GoTo(100_000), Interfere(burst=once), Interfere(burst=once))
        names = [each.name for each in taped(desk) if isinstance(each, JobSubmitted)]
        assert names == ["nightly", "query-13", "query-14"]


def test_the_policy_in_force_is_shown() -> None:
    with Desk([plan()]) as desk:
        assert ask(desk, GoTo(100_000)).policy == "fair"
        assert ask(desk, Interfere((SwitchPolicy("fifo"),))).policy == "fifo"
        assert ask(desk, GoTo(50_000)).policy == "fair"


def test_a_killed_job_leaves() -> None:
    with Desk([plan()]) as desk:
        ask(desk, GoTo(100_000), Interfere((KillJob(0),)), GoTo(110_000))
        ends = [each for each in taped(desk) if isinstance(each, JobFinished)]
        assert [(each.job, each.outcome) for each in ends] == [(0, Outcome.KILLED)]


@pytest.mark.parametrize("fault", [Restart(1), Resume(1), Drain(1, False), KillJob(99)])
def test_what_makes_no_sense_does_no_harm(fault: AnyFault) -> None:
    """The menus do not offer it; the world bears it."""
    with Desk([plan()]) as desk:
        ask(desk, GoTo(100_000), Interfere((fault,)))
        frame = to_the_end(desk)
        assert (frame.reason, frame.trouble) == ("complete", "")
        assert isinstance(taped(desk)[-1], RunEnded)


def test_a_deed_that_nobody_waits_for_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    """Whoever leaves while the run is played again: the journal is that of the run before."""
    path = tmp_path / "left.journal"
    deserted = False
    with Desk([plan(journal=path)], deserted=lambda: deserted) as desk:
        ask(desk, GoTo(300_000))
        deserted = True
        with pytest.raises(EOFError):
            ask(desk, Interfere((Crash(1),)))
    recorded = Journal(path)
    events = list(recorded)
    assert recorded.complete
    assert FaultStruck(300_001, Crash(1)) not in events
    assert events[:-1] == [*outage()][: len(events) - 1]
    assert list(tmp_path.iterdir()) == [path]
