"""Keys that come faster than frames: each does what it would have done in its own time."""

import asyncio

import msgspec
import pytest

from callboard.journal.replay.frame import View
from callboard.journal.replay.player import Opening
from callboard.journal.replay.source import GoTo, Halt
from callboard.tui.app import CallboardApp
from callboard.tui.panels.log import LogPane
from tests.journal.replay.support import outage, recorded
from tests.support.soak import one_in
from tests.tui.support import SMALL, WIDE, Screen, SlowSource, drive


async def burst(screen: Screen, source: SlowSource, *keys: str) -> None:
    """Press keys all at once; answers come one by one."""
    source.slow = True
    for key in keys:
        screen.app.simulate_key(key)
    await screen.pilot.pause()

    def done() -> bool:
        if source.behind:
            source.answer_one()
        return screen.app.keys.is_idle and not source.behind

    await screen.until(done)
    source.slow = False
    await screen.pilot.pause()


@pytest.mark.soak
@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
@pytest.mark.parametrize(
    "keys",
    one_in(
        3,
        [
            ["down", "down", "down"],
            ["1", "right", "right", "down", "enter", "right"],
            ["end", "3", "up", "up", "enter"],
            ["3", "up", "up", "2", "down", "down"],
            ["right_square_bracket"] * 3,
            ["a", "end", "2", *["down"] * 9],
        ],
    ),
    ids="-".join,
)
def test_a_burst_does_what_single_keys_do(keys: list[str], size: tuple[int, int]) -> None:
    """How many lines are asked for of a log that is hidden by then does not count: it may have been
    laid out, or not.
    """
    ends = []

    def end_of(screen: Screen) -> tuple[int, View, str]:
        return screen.frame.at_ms, msgspec.structs.replace(screen.view(), log_rows=0), screen.text()

    async def one_by_one(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.pilot.pause()
        for key in keys:
            await screen.press(key)
        ends.append(end_of(screen))

    async def at_once(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.pilot.pause()
        await burst(screen, source, *keys)
        ends.append(end_of(screen))

    drive(SlowSource(recorded(outage())), one_by_one, size)
    source = SlowSource(recorded(outage()))
    drive(source, at_once, size)
    assert ends[0] == ends[1]


@pytest.mark.soak
def test_a_pane_is_gone_to_before_the_next_key() -> None:
    """The arrows after `2` are of the jobs, whichever pane had the focus."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.press("1")
        await burst(screen, source, "2", "down", "down", "down")
        assert screen.view().job == screen.frame.jobs[-1].job
        assert screen.view().node is None
        assert screen.app.query_one("#log", LogPane).chosen is None

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_a_dialog_gets_the_keys_after_the_one_that_opens_it() -> None:
    async def act(screen: Screen) -> None:
        await burst(screen, source, "g", "9", "0", "s", "enter")
        await screen.until(lambda: screen.frame.at_ms == 90_000)

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_a_dialogs_enter_waits_for_what_the_dialog_has_asked_for() -> None:
    """The names of jobs, which come with a frame."""

    async def act(screen: Screen) -> None:
        await burst(screen, source, "3", "colon", *"nightly", "enter")
        assert screen.view().job == 0
        assert len(screen.app.screen_stack) == 1

    source = SlowSource(recorded(outage()))
    drive(source, act, SMALL)


def test_a_key_after_a_dialog_s_enter_is_no_part_of_it() -> None:
    """It is the app's: the pane is chosen, and the field has gone."""

    async def act(screen: Screen) -> None:
        await burst(screen, source, "1", "g", *"780s", "enter", "2")
        await screen.until(lambda: screen.frame.at_ms == 780_000)
        assert len(screen.app.screen_stack) == 1
        assert screen.app.focused is not None
        assert screen.app.focused.id == "jobs"

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_a_dialog_does_not_wait_for_a_frame_that_is_asked_for_when_it_has_gone() -> None:
    """A pane was chosen, and the dialog came up before the screen below was laid out: that asks
    for its frame once it is in front again, and all keys waited for it.
    """

    async def act(screen: Screen) -> None:
        await screen.press("g")
        screen.app.keys.hold_until_next_frame()
        await screen.press(*"780s", "enter")
        assert screen.frame.at_ms == 780_000

    drive(recorded(outage()), act)


def test_an_enter_of_before_the_screen_is_one() -> None:
    """Until the screen has the terminal, that makes a line feed of it: the dialog stayed, with the
    next key in its field.
    """

    async def act(screen: Screen) -> None:
        await screen.press("g", *"7:30", "ctrl+j", "1")
        assert screen.frame.at_ms == 450_000
        assert len(screen.app.screen_stack) == 1

    drive(SlowSource(recorded(outage())), act, SMALL)


def test_a_key_after_a_refused_enter_stays_in_the_dialog() -> None:
    async def act(screen: Screen) -> None:
        await burst(screen, source, "g", "x", "enter", "backspace", "9", "0", "s", "enter")
        await screen.until(lambda: screen.frame.at_ms == 90_000)

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_a_key_that_needs_no_frame_does_not_wait() -> None:
    """So that a long simulation can be broken off."""

    async def act(screen: Screen) -> None:
        source.slow = True
        await screen.press("m")
        assert source.behind == 1
        await screen.press("space")
        assert screen.playing()

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_escape_breaks_a_long_move_off() -> None:
    async def act(screen: Screen) -> None:
        source.slow = True
        await screen.press("m")
        await screen.tick(1)
        assert "esc stops" in screen.text()
        await screen.press("escape")
        request, _ = source._asked[-1]
        assert request.move == Halt()

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_simulating_is_said_until_there_is_a_frame() -> None:
    """Flat out there is always another frame to come, and the note goes all the same."""

    async def act(screen: Screen) -> None:
        source.slow = True
        await screen.press("asterisk", "space")
        await screen.tick(0.4)
        assert "simulating …" in screen.text()
        for _ in range(source.behind):
            source.answer_one()
            await screen.pilot.pause()
        assert screen.playing()
        assert source.behind
        assert "simulating …" not in screen.text()

    source = SlowSource(recorded(outage()))
    drive(source, act)


def test_a_move_under_way_is_said_in_its_place() -> None:
    """A picture of 0:00:01 had “space to play” over it while the run was going to 0:06:40."""
    source = SlowSource(recorded(outage()))
    source.slow = True
    app = CallboardApp(source, ticking=False)
    app.playback.set_opening(Opening(400_000))

    async def play() -> None:
        async with app.run_test(size=SMALL) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: source.has_been_asked(GoTo(400_000)))
            assert "starting, going to 0:06:40 …" in screen.text()
            app.playback.ask_frame()
            source.answer_with(GoTo(1000))
            await pilot.pause()
            assert screen.frame.at_ms == 1000
            assert "going to 0:06:40 …  esc stops" in screen.text()
            assert "space to play" not in screen.text()
            while source.behind:
                source.answer_one()
            await pilot.pause()
            assert "going to" not in screen.text()
            assert "space to play" in screen.text()

    asyncio.run(play())


def test_the_screen_says_that_it_starts() -> None:
    """Before the first frame there is nothing else to see."""
    source = SlowSource(recorded(outage()))
    source.slow = True
    app = CallboardApp(source, ticking=False)

    async def play() -> None:
        async with app.run_test(size=SMALL) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: source.behind > 0)
            assert "starting …" in screen.text()
            while source.behind:
                source.answer_one()
            await pilot.pause()
            assert "starting …" not in screen.text()

    asyncio.run(play())


@pytest.mark.soak
def test_a_speed_that_is_not_reached_is_shown() -> None:
    """A source that answers every second tick, and goes half as far as it is asked."""

    async def act(screen: Screen) -> None:
        screen.app.playback.player.playing = True
        for _ in range(60):
            source.slow = True
            await screen.tick(0.25)
            await screen.tick(0.25)
            while source.behind:
                source.answer_one()
            await screen.pilot.pause()
        assert "×60, really ×30" in screen.text().splitlines()[0]
        source.slow = False
        for _ in range(20):
            await screen.tick(0.2)
        assert "really" not in screen.text().splitlines()[0]

    source = SlowSource(recorded(outage()))
    drive(source, act)
