"""The layout of the slots pane: its lines, and where each node and slot is drawn.

Cells shrink as the cluster grows: *cards* of two lines for a dozen nodes, for an audience *blocks*
of seven columns and two lines, *tiles* of three columns, *cells* of one character, *halves* (two
slots a character), *nodes* (a character a node, by its load), *pairs* (two nodes a character, by
their loads), and at last *racks*, a bar for each rack.  The largest size that needs no scrolling is
used unless one was chosen.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from itertools import zip_longest

import msgspec

from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import NodeId
from callboard.tui.panels.slot_card import CARD_WIDTH


class CellSize(IntEnum):
    """How large a slot is drawn."""

    TILES = 0
    CELLS = 1
    HALVES = 2
    RACKS = 3
    CARDS = 4
    NODES = 5
    BLOCKS = 6
    PAIRS = 7


CARD_NODES = 12
"""Up to this many nodes a cluster may have cards."""

BY_NODE = (CellSize.NODES, CellSize.PAIRS)
"""Cells that show nodes, and not their slots."""

GAP: NodeId = -1
"""No node, but a column that is left free."""

_BESIDE_LEAST = 8
"""The fewest columns of a rack that stands beside others."""

LOADS = "·▁▂▃▄▅▆▇█"
"""A node as one cell: none of its slots busy, and so on up to all of them."""

_FITTING = (
    CellSize.CARDS,
    CellSize.BLOCKS,
    CellSize.TILES,
    CellSize.CELLS,
    CellSize.HALVES,
    CellSize.NODES,
    CellSize.PAIRS,
    CellSize.RACKS,
)
"""From the largest to the smallest."""


class LayoutLine(msgspec.Struct, frozen=True):
    """A line of the pane: the head of a rack, some of its nodes, or a blank.  Of cards and blocks
    `part` 1 is their second line.  A line of `heads` stands over that many nodes side by side.
    Of pairs `under` are the lower nodes, which may be one less.  Where racks stand beside each
    other, `rack` is the first, and `GAP` keeps a column free between their nodes.
    """

    rack: int = -1
    nodes: tuple[NodeId, ...] = ()
    part: int = 0
    heads: int = 0
    under: tuple[NodeId, ...] = ()


class SlotLayout(msgspec.Struct, frozen=True):
    """All lines.  Each node takes `node_width` columns: `label` for its number and mark, `cell` for
    each slot (0 for half blocks), the rest is a gap.
    """

    size: CellSize
    lines: list[LayoutLine]
    node_width: int
    label: int
    cell: int

    def node_and_column_at(self, x: int, y: int) -> tuple[NodeId | None, int]:
        """The node at a place, and the column within that node."""
        if not 0 <= y < len(self.lines) or x < 0:
            return None, 0
        if self.size in BY_NODE:  # the label is that of a rack
            x -= self.label
        place, column = divmod(x, self.node_width)
        nodes = self.lines[y].nodes
        if not 0 <= place < len(nodes) or nodes[place] == GAP:
            return None, 0
        return nodes[place], column

    def slot_at(self, column: int, slots: int) -> int | None:
        """The slot at a column of its node, if any."""
        inside = column - self.label
        if inside < 0 or self.size in BY_NODE:
            return None
        slot = 2 * inside if self.size is CellSize.HALVES else inside // max(self.cell, 1)
        return slot if slot < slots else None

    def neighbour_node(self, node: NodeId | None, across: int, down: int) -> NodeId | None:
        """The node `across` places to the right, or `down` lines below; without one the first."""
        lines = [line for line in self.lines if line.nodes and not line.part]
        rows = [row for line in lines for row in (line.nodes, line.under) if {*row} - {GAP}]
        here = next(((y, row.index(node)) for y, row in enumerate(rows) if node in row), None)
        if here is None or node is None:
            return rows[0][0] if rows else None
        y, x = here
        if across:
            nodes = [each for row in rows for each in row if each != GAP]
            return nodes[clamp(nodes.index(node) + across, len(nodes))]
        row = rows[clamp(y + down, len(rows))]
        return min((abs(at - x), each) for at, each in enumerate(row) if each != GAP)[1]

    def line_of(self, node: NodeId, rack: int) -> int:
        """The line of the node, or of its rack."""
        bars = self.size is CellSize.RACKS
        for y, line in enumerate(self.lines):
            if node in line.nodes or node in line.under or (bars and line.rack == rack):
                return y
        return 0


def layout_without_rack_heads(
    nodes: Sequence[NodeFacts], width: int, height: int, size: CellSize = CellSize.NODES
) -> SlotLayout:
    """A character a node, or two of them; each rack with its number before it and no line of its
    own.  Racks stand beside each other, as few as it takes, where that spares lines enough to fit.
    """
    of_rack: dict[int, list[NodeId]] = {}
    for facts in sorted(nodes, key=lambda facts: facts.rack):
        of_rack.setdefault(facts.rack, []).append(facts.node)
    label = len(str(max(of_rack, default=0))) + 1
    most = max(min((width + 1) // (label + _BESIDE_LEAST + 1), len(of_rack)), 1)
    for beside in range(1, most + 1):
        across = max((width + 1) // beside - label - 1, 1)
        lines = _lines_of_racks(of_rack, beside, across, label, size)
        if len(lines) <= height:
            break
    return SlotLayout(size, lines, 1, label, 0)


def _lines_of_racks(
    of_rack: Mapping[int, Sequence[NodeId]], beside: int, across: int, label: int, size: CellSize
) -> list[LayoutLine]:
    """The racks, so many beside each other, in columns as wide as the widest of them."""
    two = size is CellSize.PAIRS
    blocks = {rack: _rows_of_rack(mine, across, two) for rack, mine in of_rack.items()}
    wide = max((len(row) for rows in blocks.values() for row in rows), default=0)
    lines: list[LayoutLine] = []
    every = [*blocks]
    for at in range(0, len(every), beside):
        racks = every[at : at + beside]
        rows = zip_longest(*(blocks[rack] for rack in racks), fillvalue=())
        texts = [_side_by_side(row, wide + 1 + label) for row in rows]
        if two:
            pairs = zip(texts[::2], texts[1::2], strict=True)
            lines += [LayoutLine(racks[0], upper, under=lower) for upper, lower in pairs]
        else:
            lines += [LayoutLine(racks[0], text) for text in texts]
    return lines


def _rows_of_rack(nodes: Sequence[NodeId], across: int, two: bool) -> list[tuple[NodeId, ...]]:
    """The nodes of a rack, none of its rows much shorter than the others; an even number of rows
    if two make a line.
    """
    count = -(-len(nodes) // across)
    count += count % 2 if two else 0
    share = -(-len(nodes) // count)
    return [tuple(nodes[at * share : (at + 1) * share]) for at in range(count)]


def _side_by_side(rows: Sequence[Sequence[NodeId]], width: int) -> tuple[NodeId, ...]:
    """The rows, each but the last padded to the width of a column."""
    padded = [(*row, *[GAP] * (width - len(row))) for row in rows[:-1]]
    return tuple(node for row in (*padded, rows[-1]) for node in row)


def slot_heads(layout: SlotLayout, maps: int, reduces: int) -> str:
    """Over the slots of a node, which are for maps and which for reduces, in as much as fits."""
    heads = ((("maps", "map", "m"), maps), (("reduces", "reduce", "red.", "red", "r"), reduces))
    text = " " * layout.label
    for words, slots in heads:
        width = layout.cell * slots
        fitting = [word for word in words if len(word) < width or len(word) == width == 1]
        text += (fitting[0] if fitting else "").ljust(width)
    return text.ljust(layout.node_width)


def clamp(place: int, count: int) -> int:
    """The place, or the nearest one in range(count)."""
    return max(0, min(place, count - 1))


def lay_out_slots(
    nodes: Sequence[NodeFacts],
    width: int,
    height: int,
    size: CellSize | None,
    glyphs: bool = False,
    large: bool = False,
    kept: int = 0,
) -> SlotLayout:
    """The layout for a pane of this size; `size` None for the largest cells that fit, which are
    blocks or cards only where they may be.  Without colours, `glyphs` tell states: half blocks have
    none, so cells are scrolled instead.  Where a line is left, it says which slots are for maps;
    racks stand apart if that leaves `kept` lines more.
    """
    layout = _fitting_layout(nodes, max(width, 1), height, size, glyphs, large, kept)
    if len(layout.lines) < height and layout.size in _CELL_WIDTHS and have_same_slots(nodes):
        most = max((len(line.nodes) for line in layout.lines), default=0)
        lines = [LayoutLine(heads=most), *layout.lines]
        return msgspec.structs.replace(layout, lines=lines)
    return layout


def have_same_slots(nodes: Sequence[NodeFacts]) -> bool:
    """Whether all nodes have the same slots."""
    return len({(facts.map_slots, facts.reduce_slots) for facts in nodes}) == 1


def _fitting_layout(
    nodes: Sequence[NodeFacts],
    width: int,
    height: int,
    size: CellSize | None,
    glyphs: bool,
    large: bool,
    kept: int,
) -> SlotLayout:
    may_be = {CellSize.CARDS: len(nodes) <= CARD_NODES, CellSize.BLOCKS: large}
    fitting = [each for each in _FITTING if may_be.get(each, True)]
    sizes = fitting if size is None else (size,)
    for each in sizes:
        if glyphs and size is None and each is CellSize.HALVES:
            cells = _lay_out(nodes, width, CellSize.CELLS, airy=False)
            if len(cells.lines) <= height * _SCREENFULS:
                return cells
            continue
        if each is CellSize.PAIRS:
            layout = layout_without_rack_heads(nodes, width, height, each)
            if not (glyphs and size is None) and len(layout.lines) <= height:
                return layout
            continue
        for airy in (True, False):
            layout = _lay_out(nodes, width, each, airy)
            room = height - airy * (kept + 1)  # what is kept, and heads, come before blank lines
            if len(layout.lines) <= room and layout.node_width <= width + 2:
                return layout
        if each is CellSize.NODES:
            layout = layout_without_rack_heads(nodes, width, height)
            if len(layout.lines) <= height:
                return layout
    return layout


_CELL_WIDTHS = {
    CellSize.CARDS: CARD_WIDTH,
    CellSize.BLOCKS: 7,
    CellSize.TILES: 4,
    CellSize.CELLS: 1,
}
_TWO_LINES = (CellSize.CARDS, CellSize.BLOCKS)
_SCREENFULS = 3
"""Where there are no half blocks, cells may be this many times as high as the pane."""


def _lay_out(nodes: Sequence[NodeFacts], width: int, size: CellSize, airy: bool) -> SlotLayout:
    racks = sorted({facts.rack for facts in nodes})
    if size is CellSize.RACKS:
        return SlotLayout(size, [LayoutLine(rack) for rack in racks], max(width, 1), 0, 0)
    slots = max((facts.map_slots + facts.reduce_slots for facts in nodes), default=0)
    digits = len(str(max(len(nodes) - 1, 0)))
    if size is CellSize.HALVES:
        label, cell, node_width = 1, 0, 1 + (slots + 1) // 2 + 1
    elif size is CellSize.NODES:
        label, cell, node_width = 0, 0, 1
    else:
        cell = _CELL_WIDTHS[size]
        label = digits + 2
        node_width = label + cell * slots + 2
    gap = 0 if size is CellSize.NODES else 2
    most = max((width + gap) // node_width, 1)
    lines: list[LayoutLine] = []
    for rack in racks:
        if lines and airy:
            lines.append(LayoutLine())
        lines.append(LayoutLine(rack))
        mine = [facts.node for facts in nodes if facts.rack == rack]
        rows = -(-len(mine) // most)
        across = -(-len(mine) // rows)  # no row much shorter than the others
        parts = range(2 if size in _TWO_LINES else 1)
        lines += [
            LayoutLine(rack, tuple(mine[at : at + across]), part)
            for at in range(0, len(mine), across)
            for part in parts
        ]
    return SlotLayout(size, lines, node_width, label, cell)
