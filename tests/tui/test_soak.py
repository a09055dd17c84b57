"""Two thousand nodes on the screen, from the first event to the last."""

import numpy as np
import pytest
from rich.color import Color

from callboard.journal.replay.frame import SlotState
from callboard.journal.replay.source import GoTo
from callboard.tui.panels.slot_layout import LOADS, CellSize
from callboard.tui.panels.slots import SlotsPane
from tests.journal.replay.support import events_of, recorded
from tests.tui.support import LARGE, SMALL, WIDE, Screen, drive

pytestmark = pytest.mark.soak


def test_two_thousand_nodes_are_watched_from_end_to_end() -> None:
    events = events_of("facebook-morning", "fair", *LARGE)
    source = recorded(events)

    async def act(screen: Screen) -> None:
        assert screen.app.playback.run is not None
        assert len(screen.app.playback.run.nodes) == 2000
        assert screen.app.query_one("#slots", SlotsPane).slot_layout.size is CellSize.PAIRS
        await screen.press("asterisk", "space")
        shown = 0
        while screen.frame.at_ms < screen.frame.end_ms:
            await screen.tick(0.05)
            shown += 1
            assert shown < 10_000
        totals = screen.frame.totals
        assert (len(screen.frame.node_status), totals.in_system, totals.busy) == (2000, 0, (0, 0))
        screen.app.playback.ask_frame(GoTo(screen.frame.end_ms // 3))
        await screen.press("c", "c", "1", "down", "pagedown", "c")
        assert "rack-0" in screen.text()
        await screen.pilot.resize_terminal(*SMALL)
        await screen.pilot.pause()

    drive(source, act, WIDE)


def test_from_racks_into_their_nodes() -> None:
    """Forty racks of fifty nodes: bars; arrows go from bar to bar, enter shows the nodes."""
    events = events_of("facebook-morning", "fair", *LARGE)

    async def act(screen: Screen) -> None:
        slots = screen.app.query_one("#slots", SlotsPane)
        sizes = [slots.slot_layout.size]
        await screen.press("1", *["down"] * 31)
        assert screen.view().node == 30  # the first of rack-30
        await screen.press("enter")
        sizes.append(slots.slot_layout.size)
        await screen.until(lambda: slots.scroll_offset.y > 0)
        assert "  30 ▸" in screen.text()
        top = slots.scroll_offset.y
        await screen.press("pageup")
        await screen.until(lambda: slots.scroll_offset.y < top)
        await screen.press("c", "c")
        sizes.append(slots.slot_layout.size)
        assert sizes == [CellSize.RACKS, CellSize.CELLS, CellSize.RACKS]

    drive(recorded(events), act, SMALL)


def test_a_thousand_nodes_have_a_cell_each() -> None:
    """As high as the share of a node's slots that are busy; of a chosen job, that are its own."""
    settings = ("cluster.nodes=1000", "cluster.racks=4", "workload.jobs=60")
    events = events_of("facebook-morning", "fair", *settings)

    async def act(screen: Screen) -> None:
        slots = screen.app.query_one("#slots", SlotsPane)
        assert slots.slot_layout.size is CellSize.NODES
        screen.app.playback.ask_frame(GoTo(screen.frame.end_ms or 600_000))
        screen.app.playback.ask_frame(GoTo(600_000))
        await screen.pilot.pause()

        def cells() -> int:
            return sum(
                line.count(each)
                for line in screen.text().splitlines()[2:21]
                for each in LOADS[1:]
                if each in line[:95]
            )

        busy = sum(map(bool, screen.frame.totals.busy))
        assert busy
        everyone = cells()
        assert everyone > 20
        await screen.press("2", "down")
        assert 0 < cells() < everyone

    drive(recorded(events), act, WIDE)


def test_a_thousand_nodes_are_told_by_colour_on_a_small_screen() -> None:
    """Half a cell a node: whoever is busy is as bright as its load, whoever is down is red."""
    settings = ("cluster.nodes=1000", "cluster.racks=4", "workload.jobs=60")
    events = events_of("facebook-morning", "fair", *settings)

    async def act(screen: Screen) -> None:
        slots = screen.app.query_one("#slots", SlotsPane)
        assert slots.slot_layout.size is CellSize.PAIRS
        screen.app.playback.ask_frame(GoTo(screen.frame.end_ms or 600_000))
        screen.app.playback.ask_frame(GoTo(600_000))
        await screen.pilot.pause()
        frame, layout = screen.frame, slots.slot_layout
        states = np.frombuffer(frame.states, np.uint8).reshape(1000, -1)
        free = [SlotState.IDLE, SlotState.GHOST]
        busy = int((~np.isin(states, free)).any(axis=1).sum())
        assert 0 < busy < 1000
        shown = sum(
            _is_blue(colour)
            for y, line in enumerate(layout.lines)
            for segment in list(slots.render_line(y))[layout.label :][: len(line.nodes)]
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
        )
        assert shown == busy

    drive(recorded(events), act, SMALL)


def _is_blue(colour: Color | None) -> bool:
    """Whether it is a shade of the accent, and no grey."""
    assert colour is not None
    red, _, blue = colour.get_truecolor()
    return blue - red > 40
