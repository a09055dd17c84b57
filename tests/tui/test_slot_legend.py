"""What a newcomer needs beside the cells: which slots are for maps, and what each sign means."""

import pytest

from callboard.actors.vocabulary.events import NodeFacts
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.source import GoTo
from callboard.tui.panels.slot_layout import CellSize, lay_out_slots, slot_heads
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.screens.comparison_view import ComparisonView
from tests.journal.replay.support import events_of, outage, recorded
from tests.tui.support import LARGE, SMALL, Screen, drive
from tests.tui.test_interventions import plan

HUGE = (200, 60)
CRASHED_MS = 64_000
"""In `probed-nodes-lost` nodes are down by then, which no scheduler has given up."""
USUAL = (120, 40)


def below_the_slots(screen: Screen) -> str:
    return screen.app.query_one("#slots", SlotsPane).border_subtitle or ""


@pytest.mark.parametrize(
    ("at_ms", "there", "not_there"),
    [
        (100_000, ["■ map", "· empty"], ["×", "down", "▲"]),
        (
            780_000,
            ["■ map", "◇ shuffle", "□ over, master unaware", "× down", "red: master unaware"],
            ["▲", "◆", "?", "‖"],
        ),
        (1_200_000, ["× down"], ["red:", "▲"]),
    ],
)
def test_it_has_what_is_in_the_picture_and_nothing_else(
    at_ms: int, there: list[str], not_there: list[str]
) -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(at_ms))
        await screen.pilot.pause()
        told = below_the_slots(screen)
        assert [each for each in there if each not in told] == []
        assert [each for each in not_there if each in told] == []

    drive(recorded(outage()), act, HUGE)


def test_where_there_is_no_master_nobody_speaks_of_one() -> None:
    """Under Sparrow a node is down, and no scheduler knows yet."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(CRASHED_MS))
        await screen.pilot.pause()
        assert "red: scheduler unaware" in screen.text()
        assert "wait there for a slot" in below_the_slots(screen)
        assert "master unaware" not in screen.text()

    drive(recorded(events_of("probed-nodes-lost", "sparrow")), act, HUGE)


def test_where_it_is_cut_it_says_where_all_signs_are() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(780_000))
        await screen.press("c", "c")  # cells
        assert below_the_slots(screen).endswith("more: ?")
        await screen.press("c")  # half blocks have no signs
        assert below_the_slots(screen).startswith("▀ two slots: coloured busy, grey empty")
        await screen.press("c")
        assert below_the_slots(screen).startswith("█ busy")

    drive(recorded(outage()), act, SMALL)


@pytest.mark.soak
def test_racks_out_of_view_are_told_of() -> None:
    """Forty racks, eight lines: no more racks than those without a word."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(600_000))
        await screen.pilot.pause()
        assert below_the_slots(screen).startswith("racks 0–7 of 40, scroll: page up, page down")
        await screen.press("1", "pagedown")
        assert below_the_slots(screen).startswith("racks 8–15 of 40")

    drive(recorded(events_of("facebook-morning", "fair", *LARGE)), act, SMALL)


def nodes(count: int, maps: int = 2, reduces: int = 2) -> list[NodeFacts]:
    return [NodeFacts(node, node % 2, maps, reduces, 1.0) for node in range(count)]


@pytest.mark.parametrize(
    ("maps", "reduces", "size", "heads"),
    [
        (2, 2, CellSize.TILES, "   maps    reduces   "),
        (2, 1, CellSize.TILES, "   maps    red   "),
        (2, 2, CellSize.CELLS, "   m r   "),
        (8, 8, CellSize.CELLS, "   maps    reduces   "),
        (1, 1, CellSize.CELLS, "   mr  "),
        (2, 0, CellSize.TILES, "   maps      "),
    ],
)
def test_heads_stand_over_map_and_reduce_slots(
    maps: int, reduces: int, size: CellSize, heads: str
) -> None:
    layout = lay_out_slots(nodes(4, maps, reduces), 120, 20, size)
    assert layout.lines[0].heads == 2
    text = slot_heads(layout, maps, reduces)
    assert text.rstrip() == heads.rstrip()
    assert len(text) == layout.node_width


def test_heads_of_a_full_row_are_not_cut() -> None:
    """The blanks after the last node did not fit, and `…` stood for them."""

    async def act(screen: Screen) -> None:
        (heads,) = (line for line in screen.text().splitlines() if "map r" in line)
        assert heads.count("map r") == 10
        assert "…" not in heads

    policies = ("fifo", "hfsp")
    with LiveServer([plan("small-behind-giant", policy) for policy in policies]) as server:
        drive(server, act, USUAL)


def test_heads_take_no_line_that_cells_need_and_none_over_unlike_nodes() -> None:
    full = lay_out_slots(nodes(4), 120, 4, None)
    assert len(full.lines) == 4
    assert not any(line.heads for line in full.lines)
    unlike = [*nodes(2), NodeFacts(2, 0, 3, 1, 1.0)]
    assert not any(line.heads for line in lay_out_slots(unlike, 120, 20, None).lines)


def test_a_thousand_nodes_have_a_cell_each_on_a_usual_screen() -> None:
    """On a screen of 120×40, in four racks, they were four bars."""
    facts = [NodeFacts(node, node % 4, 4, 2, 1.0) for node in range(1000)]
    layout = lay_out_slots(facts, 70, 17, None)
    assert layout.size is CellSize.NODES
    seats = [
        layout.node_and_column_at(x, y)[0]
        for y in range(len(layout.lines))
        for x in range(70)
        if x >= layout.label
    ]
    assert sorted(node for node in seats if node is not None) == list(range(1000))
    assert layout.node_and_column_at(0, 0) == (None, 0)
    assert layout.neighbour_node(0, 1, 0) == 4


def test_a_thousand_nodes_have_half_a_cell_each_on_a_small_screen() -> None:
    """On a screen of 80×24, in four racks, they were four bars."""
    facts = [NodeFacts(node, node % 4, 4, 2, 1.0) for node in range(1000)]
    layout = lay_out_slots(facts, 76, 8, None)
    assert layout.size is CellSize.PAIRS
    assert len(layout.lines) == 8
    upper = [node for line in layout.lines for node in line.nodes]
    lower = [node for line in layout.lines for node in line.under]
    assert sorted(upper + lower) == list(range(1000))
    assert layout.node_and_column_at(layout.label + 1, 0) == (4, 0)
    below = layout.neighbour_node(4, 0, 1)
    assert below == layout.lines[0].under[1]
    assert layout.neighbour_node(below, 0, 1) == layout.lines[1].nodes[1]
    assert layout.line_of(below, 0) == 0
    assert lay_out_slots(facts, 76, 8, None, glyphs=True).size is CellSize.RACKS


def test_an_audience_sees_larger_slots() -> None:
    """On a screen of 200×60 forty nodes were as small as without `--present`."""

    sizes = []

    async def act(screen: Screen) -> None:
        slots = screen.app.query_one("#slots", SlotsPane)
        for keys in ([], ["P"], ["P"]):
            await screen.press(*keys)
            sizes.append(slots.slot_layout.size)

    drive(recorded(outage()), act, HUGE)
    assert sizes == [CellSize.TILES, CellSize.BLOCKS, CellSize.TILES]


def test_on_a_small_screen_an_audience_sees_one_pane_at_a_time() -> None:
    """The strip for the audience took its lines from the slots: a cell a node at 80×24."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(700_000))
        await screen.pilot.pause()
        slots, jobs = screen.app.query_one("#slots", SlotsPane), screen.app.query_one("#jobs")
        for keys in ("", "P", "2", "P"):
            await screen.press(*keys)
            seen.append((slots.slot_layout.size, slots.size.height, jobs.size.height))

    seen = list[tuple[CellSize, int, int]]()
    drive(recorded(outage()), act, SMALL)
    begun, alone, jobs_alone, again = seen
    assert begun[0] is again[0] is CellSize.HALVES
    assert alone[0] is CellSize.CELLS
    assert alone[2] == jobs_alone[1] == 0
    assert jobs_alone[2] == alone[1] > 12


def test_a_click_on_a_block_finds_its_slot() -> None:
    layout = lay_out_slots(nodes(4), 120, 20, CellSize.BLOCKS)
    line = next(y for y, each in enumerate(layout.lines) if each.nodes)
    for y in (line, line + 1):
        assert layout.node_and_column_at(layout.node_width + layout.label + 8, y) == (
            2,
            layout.label + 8,
        )
        assert layout.slot_at(layout.label + 8, 4) == 1


@pytest.mark.soak
@pytest.mark.parametrize("at_ms", [700_000, 1_296_000])
def test_on_a_usual_screen_forty_nodes_keep_their_cells_heads_and_legend(at_ms: int) -> None:
    """What is longer than the border stands above it; charts that come shrink no cells."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(at_ms))
        await screen.pilot.pause()
        slots = screen.app.query_one("#slots", SlotsPane)
        assert slots.slot_layout.size is CellSize.CELLS
        assert slots.slot_layout.lines[0].heads
        await screen.until(lambda: "more: ?" not in screen.text())
        if at_ms == 700_000:
            assert "■ map  ◇ shuffle  □ over, master unaware" in screen.text()
            assert "red: master unaware  · empty" in below_the_slots(screen)

    drive(recorded(outage()), act, USUAL)


def test_grey_slots_of_two_runs_are_explained() -> None:
    """As long as there are any, and not where grey are the slots of jobs that are not chosen."""
    grey = "grey: same in both runs"

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(31_000))
        await screen.pilot.pause()
        assert screen.text().count(grey) == 2
        for key in "DD":
            await screen.press(key)
            assert (grey in screen.text()) is screen.app.query_one(ComparisonView).only_differences
        screen.app.select(job=0)
        await screen.pilot.pause()
        assert grey not in screen.text()
        screen.app.select()
        screen.app.playback.ask_frame(GoTo(10_000_000))
        await screen.until(lambda: screen.frame.over)
        assert grey not in screen.text()

    with LiveServer([plan("two-jobs", policy) for policy in ("fifo", "fair")]) as server:
        drive(server, act, USUAL)


def test_a_legend_has_the_letters_of_the_cards_in_the_picture() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(66_000))
        await screen.pilot.pause()
        text = screen.text()
        assert "m map  r reduce  N node-local  ≈ time left" in text
        assert "R rack-local" not in text
        await screen.press("end")
        await screen.until(lambda: "r reduce" not in screen.text())

    drive(recorded(events_of("two-jobs", "fifo")), act, USUAL)
