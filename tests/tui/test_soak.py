"""Two thousand nodes on the screen, from the first event to the last."""

from tests.tui.support import SMALL, WIDE, Screen, drive, events_of, recorded
from tui.panels.seating import Size
from tui.panels.slots import SlotsPane
from tui.source import GoTo

CLUSTER = ("cluster.nodes=2000", "cluster.racks=40", "workload.jobs=60")


def test_two_thousand_nodes_are_watched_from_end_to_end() -> None:
    events = events_of("facebook-morning", "fair", *CLUSTER)
    source = recorded(events)

    async def act(screen: Screen) -> None:
        assert screen.frame.run is not None or screen.app.query_one(SlotsPane).run is not None
        assert screen.app.query_one(SlotsPane).seating.size is Size.RACKS
        await screen.press("asterisk", "space")
        shown = 0
        while screen.frame.at_ms < screen.frame.end_ms:
            await screen.tick(0.05)
            shown += 1
            assert shown < 10_000
        totals = screen.frame.totals
        assert (totals.nodes, totals.in_system, totals.busy) == (2000, 0, (0, 0))
        screen.app.ask(GoTo(screen.frame.end_ms // 3))
        await screen.press("c", "c", "1", "down", "pagedown", "c")
        assert "rack-0" in screen.text()
        await screen.pilot.resize_terminal(*SMALL)
        await screen.pilot.pause()

    drive(source, act, WIDE)
