"""The slots pane: every slot of the cluster, by rack, coloured by job."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.geometry import Size as Extent
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from callboard.journal.replay.cluster_state import slot_offsets
from callboard.journal.replay.frame import Frame, NodeStatus, RunInfo, SlotState, master_unaware
from callboard.scheduler.model import JobId, NodeId
from callboard.tui.palette import (
    DOWN_SIGN,
    LOST_SIGN,
    SHADES,
    SLOT_SIGNS,
    STATUS_SIGNS,
    SUPERSCRIPTS,
    Palette,
    style,
)
from callboard.tui.panels.pane import Pane, fitted
from callboard.tui.panels.racks import Racks
from callboard.tui.panels.slot_layout import CellSize, LayoutLine, SlotLayout, lay_out_slots

_DOWN = len(SlotState)
_STATES = len(SlotState) + 1
_USUAL_AGE = 128
_LEGEND = (
    ("■ map", SlotState.MAP),
    ("◇ shuffle", SlotState.SHUFFLE),
    ("◆ reduce", SlotState.REDUCE),
    ("▲ copy", SlotState.COPY),
    ("□ over, master unaware", SlotState.GHOST),
    ("! runs, given up", SlotState.ORPHAN),
)


class SlotsPane(Pane, ScrollView, inherit_bindings=False):
    """The grid.  Arrow keys move a cursor from node to node; a click chooses a slot's job."""

    key, heading = "1", "slots"
    size_asked: reactive[CellSize | None] = reactive(None)
    cursor: reactive[NodeId | None] = reactive(None)
    slot: reactive[int | None] = reactive(None)
    """Of the node that the cursor is on, the slot that is chosen."""

    class Chosen(Message):
        """Somebody has chosen a node, or one of its slots, which is at a job or empty."""

        def __init__(self, node: NodeId, job: JobId | None = None, slot: int | None = None) -> None:
            super().__init__()
            self.node = node
            self.job = job
            self.slot = slot

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.run: RunInfo | None = None
        self.racks = Racks(())
        self.job: JobId | None = None
        self.other_run: Frame | None = None
        """The other run, if only what differs from it is to stand out."""
        self.slot_layout = SlotLayout(CellSize.CELLS, [], 1, 0, 1)
        self._first: list[int] = [0]
        self._codes: list[int] = []
        self._table: list[Segment] = []
        self._table_for: Palette | None = None

    # What is shown.

    def show(self, frame: Frame) -> None:
        if self.run is None and frame.run is not None:
            self.set_run(frame.run)
        super().show(frame)
        self._codes = self._coded(frame)

    def set_run(self, run: RunInfo) -> None:
        """Find a place for every node of the run."""
        self.run = run
        self.racks = Racks(run.nodes)
        self._first = slot_offsets(run.nodes)
        self._lay_out()

    def choose(self, job: JobId | None) -> None:
        """Let this job's slots stand out, or nobody's."""
        self.job = job

    def _move_to_rack(self, by: int) -> None:
        """The cursor goes to the first node of another rack."""
        racks = [line.rack for line in self.slot_layout.lines]
        if not racks:
            return
        at = -1 if self.cursor is None else racks.index(self.racks.of(self.cursor))
        self.cursor = self.racks.first(racks[max(0, min(at + by, len(racks) - 1))])
        self.post_message(self.Chosen(self.cursor))

    def watch_cursor(self) -> None:
        """Where the cursor goes is in view."""
        if self.cursor is not None and self.run is not None:
            line = self.slot_layout.line_of(self.cursor, self.racks.of(self.cursor))
            self.scroll_to_region(Region(0, line, 1, 1), animate=False)

    def watch_size_asked(self) -> None:
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Give every node its place."""
        if self.run is None:
            return
        width, height = self.content_size
        glyphs = self.palette.flat or self.app.no_color
        for room in (width, width - self.styles.scrollbar_size_vertical):
            self.slot_layout = lay_out_slots(self.run.nodes, room, height, self.size_asked, glyphs)
            if len(self.slot_layout.lines) <= height:
                break
        self.virtual_size = Extent(width, len(self.slot_layout.lines))
        self.border_subtitle = self._legend(width)
        self.call_after_refresh(self.watch_cursor)
        self._refresh_scrollbars()  # Textual shows one in time, and leaves it when it is not needed
        self.refresh(layout=True)

    def _legend(self, width: int) -> str:
        words = [text for text, _ in _LEGEND]
        while words and sum(map(len, words)) + 2 * len(words) > width - 2:
            words.pop()
        return "  ".join(words)

    def _coded(self, frame: Frame) -> list[int]:
        """For each slot its place in the table of segments."""
        palette = self.palette
        owners = np.frombuffer(frame.owners, np.int32)
        states = np.frombuffer(frame.states, np.uint8).astype(np.int64)
        if not len(owners):
            return []
        counts = np.diff(self._first)
        down = (
            np.repeat(np.frombuffer(frame.node_status, np.uint8) & int(NodeStatus.DOWN), counts) > 0
        )
        states = np.where(down & (states == SlotState.IDLE), _DOWN, states)
        hues = np.where(owners > 0, (owners - 1) % len(palette.jobs), 0)
        ages = np.frombuffer(frame.ages, np.uint8)
        level = np.minimum(ages.astype(np.int64) * SHADES // (_USUAL_AGE + 32), SHADES - 1)
        if self.job is not None:
            level = np.where(owners == self.job + 1, SHADES - 1, SHADES)
        elif self.other_run is not None:
            same = owners == np.frombuffer(self.other_run.owners, np.int32)
            level = np.where(same, SHADES, level)
        codes: NDArray[np.int64] = (states * len(palette.jobs) + hues) * (SHADES + 1) + level
        listed: list[int] = codes.tolist()
        return listed

    # Lines.

    def render_line(self, y: int) -> Strip:
        width, blank = self.scrollable_content_region.width, self.ink()
        if self.frame is None or not self._codes:
            return Strip.blank(width, blank)
        y += self.scroll_offset.y
        if y >= len(self.slot_layout.lines):
            return Strip.blank(width, blank)
        line = self.slot_layout.lines[y]
        if self.slot_layout.size is CellSize.RACKS:
            chosen = self.cursor is not None and self.racks.of(self.cursor) == line.rack
            bar = self.racks.bar(self.frame, line.rack, width, self.palette, chosen)
            return fitted(bar, width, blank)
        if not line.nodes:
            if line.rack < 0:
                return Strip.blank(width, blank)
            head = self.racks.head(self.frame, line.rack, width, self.palette)
            return fitted(head, width, blank)
        self._make_table()
        segments = list(self._node_segments(self.frame, line))
        return Strip(segments).adjust_cell_length(width, blank)

    def _node_segments(self, frame: Frame, line: LayoutLine) -> Iterator[Segment]:
        """The nodes of one line."""
        palette, seating, first = self.palette, self.slot_layout, self._first
        table, codes, gap = self._table, self._codes, Segment(" ", self.ink())
        halves, tiles = seating.size is CellSize.HALVES, seating.size is CellSize.TILES
        for node in line.nodes:
            yield self._label(frame, node)
            mine = codes[first[node] : first[node + 1]]
            if halves:
                yield from self._halves(mine)
                used = seating.label + (len(mine) + 1) // 2
            elif tiles:
                for slot, code in enumerate(mine):
                    yield self._tile(code, self._chosen(node, slot))
                    yield gap
                used = seating.label + 4 * len(mine)
            elif node == self.cursor and self.slot is not None:
                yield from [
                    _reversed(table[code]) if self._chosen(node, slot) else table[code]
                    for slot, code in enumerate(mine)
                ]
                used = seating.label + len(mine)
            else:
                yield from [table[code] for code in mine]
                used = seating.label + len(mine)
            held = frame.suspended_by_node[node]
            left = seating.node_width - used
            if held and left:
                yield Segment(
                    SUPERSCRIPTS[min(held, 9)], style(palette.warning, palette.ground, bold=True)
                )
                left -= 1
            if left > 0:
                yield Segment(" " * left, gap.style)

    def _label(self, frame: Frame, node: NodeId) -> Segment:
        """The node's number and mark.  Where the master is wrong about it, it stands out."""
        palette, width = self.palette, self.slot_layout.label
        mark, wrong = node_mark(frame, node)
        chosen = node == self.cursor
        colour = palette.fault if wrong else palette.dim if mark == " " else palette.faint
        ink = style(colour, palette.ground, bold=wrong, reverse=chosen)
        if width == 1:
            return Segment(mark if mark != " " else "▏", style(colour, palette.ground, bold=wrong))
        return (
            Segment(f"{node:>{width - 2}}{mark} ", ink)
            if not chosen
            else Segment(f"{node:>{width - 2}}{mark}▸", ink)
        )

    def _chosen(self, node: NodeId, slot: int) -> bool:
        return node == self.cursor and slot == self.slot

    def _tile(self, code: int, chosen: bool) -> Segment:
        """A slot three columns wide, its glyph on the job's colour; the chosen one in brackets."""
        small = self._table[code]
        text = f"[{small.text}]" if chosen else f" {small.text} "
        palette = self.palette
        colour = small.style.color.name if small.style and small.style.color else palette.faint
        empty = small.text in (SLOT_SIGNS[SlotState.IDLE], DOWN_SIGN)
        if empty or small.text in (SLOT_SIGNS[SlotState.GHOST], SLOT_SIGNS[SlotState.ORPHAN]):
            return Segment(text, style(colour, palette.raised))
        return Segment(text, style(palette.ground, colour, bold=True))

    def _halves(self, codes: list[int]) -> Iterator[Segment]:
        """Two slots a character."""
        table, ground = self._table, self.palette.ground
        for at in range(0, len(codes), 2):
            upper = _colour(table[codes[at]])
            lower = _colour(table[codes[at + 1]]) if at + 1 < len(codes) else ground
            yield Segment("▀", style(upper, lower))

    def _make_table(self) -> None:
        """The segments by code: each state in each hue at each brightness, and stepping back."""
        palette = self.palette
        if self._table_for is palette:
            return
        self._table_for = palette
        self._table = [
            Segment(_glyph(state), style(self._slot_colour(state, hue, level), palette.ground))
            for state in range(_STATES)
            for hue in palette.jobs
            for level in range(SHADES + 1)
        ]

    def _slot_colour(self, state: int, hue: str, level: int) -> str:
        palette = self.palette
        if state == SlotState.IDLE:
            return palette.faint
        if state == _DOWN:
            return palette.shade(palette.fault, 0)
        if state == SlotState.ORPHAN:
            hue = palette.fault
        if level == SHADES:
            return palette.dimmed(hue)
        return palette.shade(hue, 1 if state == SlotState.GHOST else level)

    # Choosing.

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        node, column = self.slot_layout.at(offset.x, offset.y + self.scroll_offset.y)
        if node is None:
            return
        self.cursor = node
        slot = self.slot_layout.slot_at(column, self._first[node + 1] - self._first[node])
        owner = self._owner(node, slot) if slot is not None else 0
        self.post_message(self.Chosen(node, owner - 1 if owner else None, slot))

    def _owner(self, node: NodeId, slot: int) -> int:
        """Whose the slot is: a job + 1, or 0."""
        assert self.frame is not None
        return int(np.frombuffer(self.frame.owners, np.int32)[self._first[node] + slot])

    def enter_node(self) -> None:
        """From the node that the cursor is on to its first slot; from a rack's bar to its nodes."""
        if self.slot_layout.size is CellSize.RACKS and self.cursor is not None:
            self.size_asked = CellSize.CELLS
        elif self.cursor is not None and self.slot is None and self._slots(self.cursor):
            self.post_message(self.Chosen(self.cursor, None, 0))

    def _slots(self, node: NodeId) -> int:
        return self._first[node + 1] - self._first[node]

    def move_cursor(self, across: int, down: int) -> None:
        """The cursor goes to a neighbouring node, or from slot to slot in a node."""
        if self.slot is not None and across and self.cursor is not None:
            slot = max(0, min(self.slot + across, self._slots(self.cursor) - 1))
            self.post_message(self.Chosen(self.cursor, None, slot))
            return
        if self.slot_layout.size is CellSize.RACKS:
            self._move_to_rack(across + down)
            return
        places = [
            (x, y) for y, line in enumerate(self.slot_layout.lines) for x in range(len(line.nodes))
        ]
        if not places:
            return
        nodes = self.slot_layout.lines
        here = next(((x, y) for x, y in places if nodes[y].nodes[x] == self.cursor), None)
        if here is None:
            x, y = places[0]
        elif across:
            at = places.index(here)
            x, y = places[max(0, min(at + across, len(places) - 1))]
        else:
            rows = sorted({y for _, y in places})
            row = rows[max(0, min(rows.index(here[1]) + down, len(rows) - 1))]
            x, y = min(here[0], len(nodes[row].nodes) - 1), row
        self.cursor = nodes[y].nodes[x]
        kept = None if self.slot is None else min(self.slot, self._slots(self.cursor) - 1)
        self.post_message(self.Chosen(self.cursor, None, kept))


def node_mark(frame: Frame, node: NodeId) -> tuple[str, bool]:
    """A node's mark, and whether the master is wrong about it."""
    truth, lost = frame.node_status[node], frame.lost[node]
    mark = next((glyph for flag, glyph in STATUS_SIGNS if truth & flag), " ")
    if lost and not truth & NodeStatus.DOWN:
        return LOST_SIGN, True
    return mark, master_unaware(truth, lost)


def _glyph(state: int) -> str:
    return DOWN_SIGN if state == _DOWN else SLOT_SIGNS[SlotState(state)]


def _reversed(segment: Segment) -> Segment:
    return Segment(segment.text, (segment.style or Style()) + Style(reverse=True))


def _colour(segment: Segment) -> str:
    ink: Style | None = segment.style
    assert ink is not None
    assert ink.color is not None
    return ink.color.name
