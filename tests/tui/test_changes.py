"""What is drawn again when a frame comes: what has changed, no more and no less."""

import random

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from callboard.journal.replay.source import GoTo, Play
from callboard.tui.panels.changes import changed_regions
from callboard.tui.panels.pane import Pane
from tests.journal.replay.support import outage, recorded
from tests.tui.support import SMALL, WIDE, Screen, drive

RED = Style.parse("red")


def strip(*parts: str | Segment) -> Strip:
    return Strip([each if isinstance(each, Segment) else Segment(each) for each in parts])


@pytest.mark.parametrize(
    ("old", "new", "regions"),
    [
        (strip("abc", "de"), strip("abc", "de"), []),
        (strip("abc", "de", "f"), strip("abc", "xy", "f"), [Region(3, 0, 2, 1)]),
        (strip("abc", "de"), strip("abx", "de"), [Region(0, 0, 3, 1)]),
        (strip("abc", "de"), strip("abc", Segment("de", RED)), [Region(3, 0, 2, 1)]),
        (strip("a", "a"), strip("a", "a", "a"), [Region(2, 0, 1, 1)]),
        (strip("a", "b", "cd"), strip("a", "xyz", "cd"), [Region(1, 0, 3, 1)]),
        (strip("■", "名"), strip("x", "名"), [Region(0, 0, 1, 1)]),
        (strip("名", "■"), strip("名", "x"), [Region(2, 0, 1, 1)]),
    ],
)
def test_of_a_line_what_is_between_equal_ends(
    old: Strip, new: Strip, regions: list[Region]
) -> None:
    assert changed_regions([old], [new]) == regions


def drawn(screen: Screen) -> list[Strip]:
    return screen.app.screen._compositor.render_strips()


@pytest.mark.soak
@pytest.mark.parametrize("size", [SMALL, WIDE])
def test_what_is_kept_is_what_a_screen_that_is_drawn_anew_shows(size: tuple[int, int]) -> None:
    """After jumps, keys of all panes, another theme: no line is left from before."""
    draws = random.Random(size[0])
    keys = ["1", "2", "3", "4", "5", "down", "right", "up", "t", "c", "z", "a", "e", "s", "escape"]

    async def act(screen: Screen) -> None:
        for _ in range(8):
            screen.app.playback.ask_frame(GoTo(draws.randrange(1_500_000)))
            screen.app.playback.ask_frame(Play(draws.choice((500, 3_000))))
            await screen.press(*draws.choices(keys, k=2))
            screen.app.clear_notifications()
            await screen.pilot.pause()
            kept = drawn(screen)
            for pane in screen.app.query(Pane):
                pane.refresh()
            await screen.pilot.pause()
            assert kept == drawn(screen)

    drive(recorded(outage()), act, size)


def test_a_frame_like_the_one_before_draws_nothing() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(800_000))
        await screen.pilot.pause()
        screen.app.show(screen.frame)
        assert [pane for pane in screen.app.query(Pane) if pane._repaint_regions] == []

    drive(recorded(outage()), act)


@pytest.mark.soak
def test_a_second_later_most_of_the_screen_stays() -> None:
    """What is written for it is less than a third of the screen, on average."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(1_080_000))
        await screen.pilot.pause()
        areas = []
        for second in range(1, 21):
            screen.app.playback.ask_frame(GoTo(1_080_000 + 1000 * second))
            panes = screen.app.query(Pane)
            areas.append(sum(r.area for pane in panes for r in pane._repaint_regions))
            await screen.pilot.pause()
        assert 0 < sum(areas) / len(areas) < WIDE[0] * WIDE[1] / 3

    drive(recorded(outage()), act)
