"""What can be wrong with a node is told apart: its mark, whether it stands out, and in words."""

import msgspec
import pytest

from callboard.actors.network import HEALTHY
from callboard.actors.vocabulary.events import (
    AnyEvent,
    FaultStruck,
    NodeFacts,
    NodeLost,
    NodeReturned,
    RunStarted,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    Disturb,
    Fault,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    ResumeMaster,
    ResumeNode,
    Slow,
    SwitchPolicy,
)
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.detail_node import master_belief, node_status_text
from callboard.journal.replay.frame import View
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.signs import node_sign
from callboard.journal.replay.source import GoTo
from tests.journal.replay.support import events_of, recorded
from tests.tui.support import Screen, drive

CUT = msgspec.structs.replace(HEALTHY, loss=1.0)
LOST = NodeLost(9, 0, 0)
WELL = (" ", False, "up and well", "counts on it")


def told(*happened: Fault | AnyEvent, at_ms: int = 5) -> tuple[str, bool, str, str]:
    """The mark of node-0, whether it stands out, the truth and the belief after all that."""
    recording = Recording()
    recording.append(RunStarted(0, "0", "x", "fair", 1, {}, (NodeFacts(0, 0, 1, 1, 1.0),)))
    for each in happened:
        recording.append(FaultStruck(at_ms, each) if isinstance(each, Fault) else each)  # type: ignore[arg-type]
    cursor = Cursor(recording)
    cursor.go_to_ms(recording.end_ms)
    frame = cursor.frame(View())
    mark, wrong = node_sign(frame.node_status[0], frame.lost[0])
    return (
        mark,
        wrong,
        node_status_text(recording.last_state, 0),
        master_belief(recording.last_state, 0),
    )


@pytest.mark.parametrize(
    ("happened", "found"),
    [
        ((), WELL),
        ((Slow(0, 3.0),), ("~", False, "slow: tasks take 3 times as long", "counts on it")),
        ((PauseNode(0),), ("‖", False, "paused", "counts on it")),
        (
            (Disturb(0, CUT, CUT),),
            ("≠", False, "its link to the master is disturbed", "counts on it"),
        ),
        (
            (Partition(0, (1, 2)),),
            ("≠", False, "it cannot fetch from some nodes, nor they from it", "counts on it"),
        ),
        (
            (Crash(0),),
            ("×", True, "down", "does not know; it counts 0 attempts as running there"),
        ),
        ((Crash(0), LOST), ("×", False, "down", "has given it up for lost")),
        ((PauseNode(0), LOST), ("?", True, "paused", "has given it up for lost")),
        (
            (Disturb(0, CUT, CUT), LOST),
            ("?", True, "its link to the master is disturbed", "has given it up for lost"),
        ),
        ((Disturb(0, CUT, CUT), LOST, Disturb(0, HEALTHY, HEALTHY), NodeReturned(9, 0)), WELL),
        ((Slow(0, 3.0), Slow(0, 1.0)), WELL),
        ((PauseNode(0), ResumeNode(0)), WELL),
        ((Crash(0), Restart(0)), WELL),
        ((PauseNode(0), Crash(0), Restart(0)), WELL),
        ((Crash(0), PauseNode(0), Restart(0)), WELL),
        (
            (Slow(0, 3.0), Crash(0), Restart(0)),
            ("~", False, "slow: tasks take 3 times as long", "counts on it"),
        ),
        (
            (Disturb(0, CUT, CUT), Partition(0, (1,)), Disturb(0, HEALTHY, HEALTHY)),
            ("≠", False, "it cannot fetch from some nodes, nor they from it", "counts on it"),
        ),
    ],
)
def test_a_node(happened: tuple[Fault | AnyEvent, ...], found: tuple[str, bool, str, str]) -> None:
    """As the machine bears it (`actors.worker.machine`): slowness and links outlive a crash, a
    pause does not, and who is down cannot be paused.
    """
    assert told(*happened) == found


def test_a_node_that_joins_later_is_nothing_that_the_master_is_wrong_about() -> None:
    """It crashes at 0, before anybody has heard of it (`actors.worker.machine.begin_absent`)."""
    assert told(Crash(0), at_ms=0) == ("×", False, "not joined yet", "has never heard of it")
    assert told(Crash(0), Restart(0), at_ms=0) == WELL


@pytest.mark.soak
def test_nodes_to_come_are_not_counted_as_down() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(100_000))
        await screen.pilot.pause()
        assert screen.frame.totals.down == 0
        assert "unaware of" not in screen.text()

    drive(recorded(events_of("elastic-night", "fair")), act)


def test_a_master_that_stands_still_goes_on_when_it_is_told_to() -> None:
    """A restart waits with all else that it has been told meanwhile."""
    recording = Recording()
    recording.append(RunStarted(0, "0", "x", "fair", 1, {}, (NodeFacts(0, 0, 1, 1, 1.0),)))
    recording.append(FaultStruck(5, PauseMaster()))
    cursor = Cursor(recording)
    cursor.go_to_ms(5)
    assert cursor.frame(View()).totals.master_paused
    recording.append(FaultStruck(7, RestartMaster()))
    cursor.go_to_ms(7)
    assert cursor.frame(View()).totals.master_paused
    recording.append(FaultStruck(9, ResumeMaster()))
    cursor.go_to_ms(9)
    assert not cursor.frame(View()).totals.master_paused


def test_the_first_line_says_that_the_master_stands_still() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(420_000))
        await screen.pilot.pause()
        assert "the master is paused" in screen.text().splitlines()[0]
        screen.app.playback.ask_frame(GoTo(380_000))
        await screen.pilot.pause()
        assert "the master is paused" not in screen.text().splitlines()[0]

    drive(recorded(events_of("master-pause", "fair")), act)


def test_a_policy_that_a_paused_master_was_told_is_the_one_that_is_named() -> None:
    """Two runs that were to differ in it were both called `fair` as long as the pause."""
    recording = Recording()
    recording.append(RunStarted(0, "0", "x", "fair", 1, {}, (NodeFacts(0, 0, 1, 1, 1.0),)))
    recording.append(FaultStruck(5, PauseMaster()))
    recording.append(FaultStruck(7, SwitchPolicy("hfsp")))
    cursor = Cursor(recording)
    cursor.go_to_ms(7)
    assert cursor.frame(View()).policy == "hfsp"
    recording.append(FaultStruck(9, ResumeMaster()))
    cursor.go_to_ms(9)
    assert cursor.frame(View()).policy == "hfsp"
