"""Whole screens against their records in `golden/`, and the sizes of clusters they are made for.

After a change that is meant: `RENEW=1 python -m pytest tests/tui/test_screens.py`, then look at
the difference with git.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import NodeFacts
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.source import GoTo, Move, Source, Step, StepKind
from callboard.scheduler.model import NodeId
from callboard.tui.panels.slot_layout import GAP, CellSize, lay_out_slots
from tests.journal.replay.support import events_of, outage, recorded
from tests.journal.replay.test_cluster_state import SUSPENDING
from tests.journal.replay.test_lockstep import pair
from tests.support.soak import one_in
from tests.tui.support import SMALL, WIDE, Screen, drive

GOLDEN = Path(__file__).parent / "golden"

SCREENS: dict[str, tuple[tuple[str, ...] | None, tuple[int, int], Move, list[str]]] = {
    "outage-wide": (None, WIDE, GoTo(500_000), ["2", "down"]),
    "outage-small": (None, SMALL, GoTo(500_000), ["escape"]),
    "begun-small": (None, SMALL, GoTo(0), []),
    "outage-given-up": (None, WIDE, GoTo(1_200_000), ["1", "right", "right", "down", "down"]),
    "outage-node-small": (None, SMALL, GoTo(800_000), ["1", "right", "4"]),
    "outage-charts-small": (None, SMALL, GoTo(800_000), ["5"]),
    "outage-racks": (None, WIDE, GoTo(900_000), ["c"] * 4),
    "outage-end": (None, WIDE, GoTo(None), ["a", "e", "e"]),
    "help-small": (None, SMALL, GoTo(0), ["question_mark"]),
    "suspended-wide": (SUSPENDING, WIDE, Step(StepKind.MARK), ["m", "m", "m", "h", "h", "e"]),
    "cards-small": (("two-jobs", "fair"), SMALL, GoTo(100_000), ["1", "right"]),
    "stragglers-wide": (("stragglers", "fair+late"), WIDE, GoTo(200_000), ["4"]),
}


LIVE: dict[str, tuple[tuple[str, ...], tuple[int, int], Move, list[str]]] = {
    "menu-wide": (("fair",), WIDE, GoTo(500_000), ["1", "right", "right", "x"]),
    "menu-small": (("fair",), SMALL, GoTo(500_000), ["2", "down", "x"]),
    "burst-small": (("fair",), SMALL, GoTo(200_000), ["x", "b"]),
    "until-small": (("fair",), SMALL, GoTo(200_000), ["2", "down", "u"]),
    "pair-wide": (("fifo", "fair"), WIDE, GoTo(300_000), ["escape"]),
    "pair-small": (("fifo", "fair"), SMALL, GoTo(300_000), ["v"]),
    "pair-figures-small": (("fifo", "fair"), SMALL, GoTo(500_000), ["4"]),
    "pair-detail-wide": (("fifo", "fair"), WIDE, GoTo(700_000), ["2", "down", "4"]),
    "pair-end": (("fifo", "fair"), WIDE, GoTo(10**7), ["a"]),
    "forked-wide": (("fair",), WIDE, GoTo(200_000), ["f", "2", "d"]),
}
"""Of runs that are played, under one policy or two."""


def shown(source: Source, size: tuple[int, int], move: Move, keys: Sequence[str]) -> str:
    found: list[str] = []

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(move)
        await screen.pilot.pause()
        await screen.press(*keys)
        screen.app.clear_notifications()
        await screen.pilot.pause()
        found.append(screen.text() + "\n")

    drive(source, act, size)
    return found[0]


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_recorded(name: str) -> None:
    run, size, move, keys = SCREENS[name]
    events = events_of(*run) if run else outage()
    check(name, shown(recorded(events), size, move, keys), size)


@pytest.mark.soak
@pytest.mark.parametrize("name", one_in(4, LIVE))
def test_a_live_screen_is_as_recorded(name: str) -> None:
    policies, size, move, keys = LIVE[name]
    with LiveServer(pair(*policies)) as server:
        check(name, shown(server, size, move, keys), size)


def check(name: str, text: str, size: tuple[int, int]) -> None:
    """The text is that in `golden/`, and fits the screen."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("RENEW"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]


@pytest.mark.parametrize(
    ("nodes", "room", "size"),
    [
        (12, (94, 20), CellSize.TILES),
        (100, (94, 20), CellSize.CELLS),
        (300, (94, 20), CellSize.HALVES),
        (1000, (94, 20), CellSize.NODES),
        (1000, (70, 17), CellSize.NODES),
        (2000, (94, 30), CellSize.NODES),
        (2000, (94, 20), CellSize.PAIRS),
        (1000, (78, 8), CellSize.PAIRS),
        (12, (78, 8), CellSize.TILES),
        (40, (78, 8), CellSize.HALVES),
        (2000, (78, 8), CellSize.RACKS),
    ],
)
def test_cells_shrink_as_the_cluster_grows(
    nodes: int, room: tuple[int, int], size: CellSize
) -> None:
    """With four slots a node, in four racks: the largest that needs no scrolling."""
    facts = [NodeFacts(node, node % 4, 2, 2, 1.0) for node in range(nodes)]
    assert lay_out_slots(facts, *room, None).size is size


@pytest.mark.parametrize(
    ("nodes", "racks", "room", "size", "lines"),
    [
        (1000, 30, (94, 30), CellSize.NODES, 30),
        (1000, 30, (94, 20), CellSize.NODES, 15),  # two racks beside each other
        (1000, 30, (70, 17), CellSize.PAIRS, 15),
        (1000, 30, (70, 12), CellSize.PAIRS, 10),
        (1000, 30, (78, 8), CellSize.RACKS, 30),
        (1000, 41, (94, 24), CellSize.NODES, 21),
    ],
)
def test_racks_stand_beside_each_other_where_that_shows_their_nodes(
    nodes: int, racks: int, room: tuple[int, int], size: CellSize, lines: int
) -> None:
    """A thousand nodes in thirty racks were bars, though each had room for a cell."""
    facts = [NodeFacts(node, node % racks, 2, 2, 1.0) for node in range(nodes)]
    seating = lay_out_slots(facts, *room, None)
    assert (seating.size, len(seating.lines)) == (size, lines)
    if size is CellSize.RACKS:
        return
    rows = [row for line in seating.lines for row in (line.nodes, line.under)]
    assert max(map(len, rows)) + seating.label <= room[0]
    assert sorted(node for row in rows for node in row if node != GAP) == [*range(nodes)]
    for y, line in enumerate(seating.lines):
        for x, node in enumerate(line.nodes):
            found, _ = seating.node_and_column_at(seating.label + x, y)
            assert found == (None if node == GAP else node)
    corner: NodeId | None = None
    for across, down in [(0, 0), *[(0, 1)] * 40, *[(1, 0)] * 100]:
        corner = seating.neighbour_node(corner, across, down)
        assert corner is not None
        assert corner >= 0


def test_every_node_has_one_seat_and_is_found_there() -> None:
    facts = [NodeFacts(node, node % 3, 2 + node % 2, 1, 1.0) for node in range(50)]
    for size in (CellSize.TILES, CellSize.CELLS, CellSize.HALVES):
        seating = lay_out_slots(facts, 94, 20, size)
        seats = [node for line in seating.lines for node in line.nodes]
        assert sorted(seats) == list(range(50))
        for node in seats:
            y = seating.line_of(node, 0)
            x = seating.lines[y].nodes.index(node) * seating.node_width
            assert seating.node_and_column_at(x, y) == (node, 0)
            assert seating.slot_at(seating.label, 3) == 0
            assert seating.slot_at(0, 3) is None
        assert seating.node_and_column_at(0, len(seating.lines)) == (None, 0)
