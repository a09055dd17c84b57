"""The slots pane: every slot of the cluster, by rack, coloured by job."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.geometry import Size as Extent
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from callboard.journal.replay.cluster_state import slot_offsets
from callboard.journal.replay.frame import (
    USUAL_AGE,
    ColourBy,
    Frame,
    NodeStatus,
    RunInfo,
    SlotState,
)
from callboard.journal.replay.palette import SHADES, Palette, blend
from callboard.journal.replay.signs import (
    COLOURED_BY,
    DOWN_SIGN,
    SLOT_SIGNS,
    SUPERSCRIPTS,
    node_sign,
)
from callboard.journal.tell.shortening import cut
from callboard.scheduler.model import JobId, NodeId
from callboard.tui.panels.pane import Pane, fitted
from callboard.tui.panels.racks import Racks
from callboard.tui.panels.slot_card import card_head, card_progress
from callboard.tui.panels.slot_layout import (
    BY_NODE,
    GAP,
    LOADS,
    CellSize,
    LayoutLine,
    SlotLayout,
    clamp,
    lay_out_slots,
    slot_heads,
)
from callboard.tui.panels.slot_legend import is_cut, legend_lines
from callboard.tui.theme import style

_DOWN = len(SlotState)
"""The state of an empty slot of a node that is down."""

_STATES = len(SlotState) + 1
_HOLLOW = {SLOT_SIGNS[state] for state in (SlotState.IDLE, SlotState.GHOST, SlotState.ORPHAN)}
_HOLLOW |= {DOWN_SIGN}
"""The signs of slots whose tile has no ground of its own."""

MANY_NODES = 500
_MEANING_MOST = 20
"""The most columns for what a colour stands for."""


class SlotsPane(Pane, ScrollView, inherit_bindings=False):
    """The grid.  Arrow keys move a cursor from node to node; a click chooses a slot's job."""

    BINDINGS = Pane.BINDINGS  # and not those of a ScrollView
    key, heading = "1", "slots"
    size_asked: reactive[CellSize | None] = reactive(None)
    presented: reactive[bool] = reactive(False)
    """Whether it is shown to an audience, for which cells may be larger."""
    cursor: reactive[NodeId | None] = reactive(None)
    slot: reactive[int | None] = reactive(None)
    """The chosen slot of the node under the cursor."""

    @dataclass
    class Chosen(Message):
        """A node was chosen, or one of its slots, with the job that has the slot, if any."""

        node: NodeId
        job: JobId | None
        slot: int | None

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.run: RunInfo | None = None
        self.racks = Racks(())
        self.other_run: Frame | None = None
        """The other run, if only slots that differ from it are highlighted."""
        self.twin: SlotsPane | None = None
        """The pane of the other run beside it, which is laid out alike."""
        self.slot_layout = SlotLayout(CellSize.CELLS, [], 1, 0, 1)
        self._first: list[int] = [0]
        self._codes: list[int] = []
        self._busy = self._owned = b""
        self._alike = False
        """Whether slots are grey because they run the same job in both runs."""
        self._table: list[Segment] = []
        self._legend_too_long: tuple[CellSize, int] | None = None
        """The cells, and the columns, for which the border has been too short for the legend."""
        self._legend: list[str] = []
        """The lines of it that the border has no room for."""
        self._table_for: Palette | None = None

    # What is shown.

    def show(self, frame: Frame) -> None:
        self._codes = self._segment_codes(frame)
        if self.slot_layout.size in BY_NODE:
            self._mark_busy_slots(frame)
        super().show(frame)
        self.set_title(self._title_content(frame))
        self.set_subtitle(self._border_text(frame))

    def _title_content(self, frame: Frame) -> Content:
        """What is shown, what its colours stand for, and as many of them as there is room for."""
        name = self.title_suffix.removeprefix(" · ") or self.heading
        by = f" by {COLOURED_BY[frame.colour_by]} "
        if self.slot_layout.size is CellSize.NODES:
            return Content(f"[{self.key}] {name}: a cell a node, as high as its load")
        if self.slot_layout.size is CellSize.PAIRS:
            return Content(f"[{self.key}] {name}: half a cell a node, as bright as its load")
        if frame.colour_by is ColourBy.JOB:
            by = "" if self.title_suffix else ", a colour a job"
        parts: list[Content] = [Content(f"[{self.key}] {name}{by}")]
        room = self.content_size.width - 4 - parts[0].cell_length
        for hue, meaning in zip(self.palette.jobs, frame.legend, strict=False):
            text = f" {cut(meaning, _MEANING_MOST)} "
            room -= cell_len(text) + 1
            if room < 0:
                break
            parts += [Content.styled("■", hue), Content(text)]
        return Content("").join(parts)

    def view_fields(self) -> dict[str, int]:
        return {"with_cards": self.slot_layout.size is CellSize.CARDS}

    def set_run(self, run: RunInfo) -> None:
        self.run = run
        self.racks = Racks(run.nodes)
        self._first = slot_offsets(run.nodes)
        self._lay_out()

    def watch_cursor(self) -> None:
        if self.cursor is not None and self.run is not None:
            line = self.slot_layout.line_of(self.cursor, self.racks.rack_of[self.cursor])
            self.scroll_to_region(Region(0, line, 1, 1), animate=False)

    def watch_size_asked(self) -> None:
        self._lay_out()

    def watch_presented(self) -> None:
        self._lay_out()

    def fit_size(self) -> None:
        self._lay_out()
        if self.frame is not None:  # one that comes to the front had no width when it was drawn
            self.set_title(self._title_content(self.frame))

    @property
    def has_many_nodes(self) -> bool:
        """Whether a cell a node takes most of a usual screen."""
        return self.run is not None and len(self.run.nodes) >= MANY_NODES

    def wanted_lines(self, most: int) -> int:
        """How many lines of at most that many it has use for."""
        if self.run is None:
            return most
        return min(
            len(self._layout_in_height(self.run, most).lines) + self._legend_line_count, most
        )

    def _layout_in_height(self, run: RunInfo, height: int) -> SlotLayout:
        """The layout in that many lines; if it needs more there is a bar to scroll them."""
        width, glyphs = self.content_size.width, self.palette.flat or self.app.no_color
        large = self.presented
        kept, size = self._legend_line_count, self.size_asked
        for room in (width, width - self.styles.scrollbar_size_vertical):
            layout = lay_out_slots(run.nodes, room, height, size, glyphs, large, kept)
            if len(layout.lines) <= height:
                break
        return layout

    def _lay_out(self) -> None:
        """Choose the size of the cells, and a place for every node."""
        if self.run is None:
            return
        width, height = self.content_size
        self.slot_layout = self._layout_in_height(self.run, height)
        self.post_message(self.Refitted())  # other cells may want more of a frame
        self.virtual_size = Extent(width, len(self.slot_layout.lines))
        if self.frame is not None:
            self.set_subtitle(self._border_text(self.frame))
        self.call_after_refresh(self.watch_cursor)
        self._refresh_scrollbars()  # Textual would leave one that is no longer needed
        self.refresh(layout=True)

    def _border_text(self, frame: Frame) -> str:
        """Which racks are in view, if not all are; and the legend, or its last line."""
        told, (width, height) = self._racks_in_view_text(), self.content_size
        border = width - 4 - len(self.others) - 2 * bool(self.others) - len(told) - 2 * bool(told)
        free = min(max(height - len(self.slot_layout.lines), 0), 1)
        *above, last = legend_lines(
            frame, self.slot_layout, [width] * free + [border], alike=self._alike
        )
        if not self._legend_line_count and (above or is_cut(last)):
            self._keep_legend_line()
            if self.twin is not None:
                self.twin._keep_legend_line()
            return self._border_text(frame)
        if above != self._legend:
            self._legend = above
            self.refresh()
        return "  ".join(each for each in (told, last) if each)

    def _keep_legend_line(self) -> None:
        self._legend_too_long = self.slot_layout.size, self.content_size.width
        self._lay_out()

    @property
    def _legend_line_count(self) -> int:
        """The lines kept for the legend above the border."""
        return int(self._legend_too_long == (self.slot_layout.size, self.content_size.width))

    def _racks_in_view_text(self) -> str:
        top, height = self.scroll_offset.y, self.content_size.height
        lines, count = self.slot_layout.lines, len(set(self.racks.rack_of.values()))
        shown = [line.rack for line in lines[top : top + height] if line.rack >= 0]
        if len(lines) <= height or not shown:
            return ""
        return f"racks {shown[0]}–{shown[-1]} of {count}, scroll: page up, page down"

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.frame is not None:
            self.set_subtitle(self._border_text(self.frame))

    def _mark_busy_slots(self, frame: Frame) -> None:
        """Which slots are busy, and which are the chosen job's: 1 for those."""
        states = np.frombuffer(frame.states, np.uint8)
        busy = (states != SlotState.IDLE.value) & (states != SlotState.GHOST.value)
        owners = np.frombuffer(frame.owners, np.int32)
        mine = owners == (-1 if self.view.job is None else self.view.job + 1)
        self._busy, self._owned = busy.tobytes(), (mine & busy).tobytes()

    def _segment_codes(self, frame: Frame) -> list[int]:
        """For each slot its index in the table of segments."""
        palette = self.palette
        owners = np.frombuffer(frame.owners, np.int32)
        states = np.frombuffer(frame.states, np.uint8).astype(np.int64)
        if not len(owners):
            return []
        counts = np.diff(self._first)
        down = np.frombuffer(frame.node_status, np.uint8) & int(NodeStatus.DOWN) > 0
        states = np.where(np.repeat(down, counts) & (states == SlotState.IDLE), _DOWN, states)
        hues = frame.hues_of_slots()
        ages = np.frombuffer(frame.ages, np.uint8)
        self._alike = False
        level = np.minimum(ages.astype(np.int64) * SHADES // (USUAL_AGE + 32), SHADES - 1)
        if self.view.job is not None:
            level = np.where(owners == self.view.job + 1, SHADES - 1, SHADES)
        elif self.other_run is not None:
            same = owners == np.frombuffer(self.other_run.owners, np.int32)
            level = np.where(same, SHADES, level)
            self._alike = bool((same & (owners > 0)).any())
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
            row = y - self.content_size.height + len(self._legend)
            told = self._legend[row] if row >= 0 else ""
            return fitted([(f"{told:>{width}}", self.ink(self.palette.dim))], width, blank)
        line = self.slot_layout.lines[y]
        if self.slot_layout.size is CellSize.RACKS:
            chosen = self.cursor is not None and self.racks.rack_of[self.cursor] == line.rack
            bar = self.racks.bar(self.frame, line.rack, width, self.palette, chosen)
            return fitted(bar, width, blank)
        if line.heads:
            return fitted([(self._slot_heads(line), self.ink(self.palette.dim))], width, blank)
        if not line.nodes:
            if line.rack < 0:
                return Strip.blank(width, blank)
            head = self.racks.head(self.frame, line.rack, width, self.palette)
            return fitted(head, width, blank)
        if self.slot_layout.size in BY_NODE:
            pairs = self.slot_layout.size is CellSize.PAIRS
            by_node = self._node_pairs if pairs else self._node_cells
            return Strip(
                self._with_rack_numbers(line, by_node(self.frame, line))
            ).adjust_cell_length(width, blank)
        self._make_segment_table()
        segments = list(self._node_segments(self.frame, line))
        return Strip(segments).adjust_cell_length(width, blank)

    def _slot_heads(self, line: LayoutLine) -> str:
        assert self.run is not None
        facts = self.run.nodes[0]
        head = slot_heads(self.slot_layout, facts.map_slots, facts.reduce_slots)
        return (head * line.heads).rstrip()

    def _node_segments(self, frame: Frame, line: LayoutLine) -> Iterator[Segment]:
        layout, first = self.slot_layout, self._first
        halves = layout.size is CellSize.HALVES
        for node in line.nodes:
            codes = self._codes[first[node] : first[node + 1]]
            yield (
                Segment(" " * layout.label, self.ink())
                if line.part
                else self._node_label(frame, node)
            )
            if layout.size is CellSize.CARDS:
                yield from self._slot_cards(frame, node, codes, line.part)
            elif layout.size is CellSize.BLOCKS:
                yield from self._slot_blocks(node, codes, line.part)
            else:
                yield from self._slot_segments(node, codes)
            used = (len(codes) + 1) // 2 if halves else layout.cell * len(codes)
            left = layout.node_width - layout.label - used
            queued = frame.queued_by_node[node] if frame.queued_by_node else 0
            yield from self._waiting_count_segments(frame.suspended_by_node[node], queued, left)

    def _with_rack_numbers(self, line: LayoutLine, cells: Iterable[Segment]) -> list[Segment]:
        """The cells, and before the first nodes of each rack its number."""
        row = [*[Segment(" ", self.ink())] * self.slot_layout.label, *cells]
        for at, node in enumerate(line.nodes):
            if node != GAP and node == self.racks.first_node(rack := self.racks.rack_of[node]):
                for place, digit in enumerate(str(rack), at):
                    row[place] = Segment(digit, self.ink(self.palette.dim))
        return row

    def _node_cells(self, frame: Frame, line: LayoutLine) -> Iterator[Segment]:
        """A cell a node: how many of its slots are busy, or, with a job chosen, are that job's."""
        for node in line.nodes:
            if node == GAP:
                yield Segment(" ", self.ink())
                continue
            mark, wrong = node_sign(frame.node_status[node], frame.lost[node])
            step = self._load_step(node)
            shade = self.palette.fault if wrong else self._load_colour(step)
            ink = style(shade, self.palette.ground, bold=wrong, reverse=node == self.cursor)
            yield Segment(mark if mark != " " else LOADS[step], ink)

    def _node_pairs(self, frame: Frame, line: LayoutLine) -> Iterator[Segment]:
        """Two nodes a character, the second below the first."""
        for upper, lower in zip_longest(line.nodes, line.under, fillvalue=GAP):
            above, below = (self._node_half_colour(frame, node) for node in (upper, lower))
            yield Segment(" " if upper == lower == GAP else "▀", style(above, below))

    def _node_half_colour(self, frame: Frame, node: NodeId) -> str:
        """Its colour: what is wrong with it comes before its load."""
        palette = self.palette
        if node == GAP:
            return palette.ground
        if node == self.cursor:
            return palette.text
        mark, wrong = node_sign(frame.node_status[node], frame.lost[node])
        if wrong or mark != " ":
            return palette.fault if wrong else palette.shade(palette.fault, 0)
        step = self._load_step(node)
        if step:
            return self._load_colour(step)
        tells_racks_apart = 0.3 * (self.racks.rack_of[node] % 2)
        return blend(palette.edge, palette.faint, tells_racks_apart)

    def _load_step(self, node: NodeId) -> int:
        """How many of its slots are busy, or with the chosen job, as a place in `LOADS`."""
        here = slice(self._first[node], self._first[node + 1])
        counted = self._busy if self.view.job is None else self._owned
        return -(-counted[here].count(1) * (len(LOADS) - 1) // max(here.stop - here.start, 1))

    def _load_colour(self, step: int) -> str:
        palette = self.palette
        return palette.shade(palette.accent, step * (SHADES - 1) // 8) if step else palette.faint

    def _slot_segments(self, node: NodeId, codes: list[int]) -> Iterable[Segment]:
        chosen = self.slot if node == self.cursor else None
        if self.slot_layout.size is CellSize.HALVES:
            return self._half_blocks(codes)
        if self.slot_layout.size is CellSize.TILES:
            return self._slot_tiles(codes, chosen)
        cells = [self._table[code] for code in codes]
        if chosen is not None and chosen < len(cells):
            small = cells[chosen]
            cells[chosen] = Segment(small.text, (small.style or Style()) + Style(reverse=True))
        return cells

    def _waiting_count_segments(self, suspended: int, queued: int, width: int) -> Iterator[Segment]:
        """How many attempts the node keeps suspended, or how much waits there; and a gap."""
        if (suspended or queued) and width:
            colour = self.palette.warning if suspended else self.palette.accent
            ink = style(colour, self.palette.ground, bold=bool(suspended))
            yield Segment(SUPERSCRIPTS[min(suspended or queued, 9)], ink)
            width -= 1
        if width > 0:
            yield Segment(" " * width, self.ink())

    def _node_label(self, frame: Frame, node: NodeId) -> Segment:
        """The node's number and mark, in red where the master is wrong about it."""
        palette, width = self.palette, self.slot_layout.label
        mark, wrong = node_sign(frame.node_status[node], frame.lost[node])
        chosen = node == self.cursor
        colour = palette.fault if wrong else palette.dim if mark == " " else palette.faint
        ink = style(colour, palette.ground, bold=wrong, reverse=chosen)
        if width == 1:
            return Segment(mark if mark != " " else "▏", style(colour, palette.ground, bold=wrong))
        return Segment(f"{node:>{width - 2}}{mark}{'▸' if chosen else ' '}", ink)

    def _slot_tiles(self, codes: list[int], chosen: int | None) -> Iterator[Segment]:
        gap = Segment(" ", self.ink())
        for slot, code in enumerate(codes):
            yield self._slot_tile(code, slot == chosen)
            yield gap

    def _slot_tile(self, code: int, chosen: bool) -> Segment:
        """A slot three columns wide, its glyph on the job's colour; the chosen one in brackets."""
        small, palette = self._table[code], self.palette
        text, colour = f"[{small.text}]" if chosen else f" {small.text} ", _segment_colour(small)
        if small.text in _HOLLOW:
            return Segment(text, style(colour, palette.raised))
        return Segment(text, style(palette.ground, colour, bold=True))

    def _slot_blocks(self, node: NodeId, codes: list[int], part: int) -> Iterator[Segment]:
        """A line and a half of each slot, its glyph on the job's colour."""
        palette, gap = self.palette, Segment(" ", self.ink())
        for slot, code in enumerate(codes):
            small = self._table[code]
            ground = palette.raised if small.text in _HOLLOW else _segment_colour(small)
            if part:
                yield Segment("▀" * 6, style(ground, palette.ground))
            else:
                sign = _segment_colour(small) if small.text in _HOLLOW else palette.ground
                text = (
                    f"[{small.text}]" if slot == self.slot and node == self.cursor else small.text
                )
                yield Segment(f"{text:^6}", style(sign, ground, bold=True))
            yield gap

    def _slot_cards(
        self, frame: Frame, node: NodeId, codes: list[int], part: int
    ) -> Iterator[Segment]:
        """One line of the cards of a node: the head on the job's colour, or the progress."""
        palette, gap = self.palette, Segment(" ", self.ink())
        cards = frame.cards[self._first[node] : self._first[node + 1]] or [None] * len(codes)
        for slot, (code, card) in enumerate(zip(codes, cards, strict=True)):
            small = self._table[code]
            hollow = small.text in _HOLLOW
            plain = style(_segment_colour(small), palette.raised)
            if part:
                yield Segment(card_progress(None if hollow else card), plain)
            else:
                chosen = node == self.cursor and slot == self.slot
                filled = style(palette.ground, _segment_colour(small), bold=True)
                yield Segment(card_head(card, small.text, chosen), plain if hollow else filled)
            yield gap

    def _half_blocks(self, codes: list[int]) -> Iterator[Segment]:
        colours = [self._half_block_colour(self._table[code]) for code in codes]
        if len(colours) % 2:
            colours.append(self.palette.ground)
        for upper, lower in zip(colours[::2], colours[1::2], strict=True):
            yield Segment("▀", style(upper, lower))

    def _half_block_colour(self, small: Segment) -> str:
        """The colour of a half block; an empty slot's is no more than a trace."""
        idle = small.text == SLOT_SIGNS[SlotState.IDLE]
        return self.palette.edge if idle else _segment_colour(small)

    def _make_segment_table(self) -> None:
        """The segments by code: each state in each hue at each brightness, and dimmed."""
        palette = self.palette
        if self._table_for is palette:
            return
        self._table_for = palette
        signs = [*(SLOT_SIGNS[state] for state in SlotState), DOWN_SIGN]
        self._table = [
            Segment(signs[state], style(self._slot_colour(state, hue, level), palette.ground))
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
            return palette.faint
        return palette.shade(hue, 1 if state == SlotState.GHOST else level)

    # Choosing.

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        node, column = self.slot_layout.node_and_column_at(
            offset.x, offset.y + self.scroll_offset.y
        )
        if node is None:
            return
        self.cursor = node
        slot = self.slot_layout.slot_at(column, self._slot_count(node))
        owners = np.frombuffer(self.frame.owners, np.int32)  # the job plus 1, or 0
        owner = 0 if slot is None else int(owners[self._first[node] + slot])
        self.post_to_app(self.Chosen(node, owner - 1 if owner else None, slot))

    def action_enter(self) -> None:
        """From the node under the cursor to its first slot; from a rack's bar to its nodes."""
        if self.slot_layout.size is CellSize.RACKS and self.cursor is not None:
            self.size_asked = CellSize.CELLS
        elif self.cursor is not None and self.slot is None and self._slot_count(self.cursor):
            self.post_to_app(self.Chosen(self.cursor, None, 0))

    def _slot_count(self, node: NodeId) -> int:
        return self._first[node + 1] - self._first[node]

    def action_page(self, pages: int) -> None:
        self.scroll_relative(y=pages * self.size.height, animate=False)

    def action_move_cursor(self, across: int, down: int) -> None:
        """The cursor goes to a neighbouring node, or from slot to slot in a node."""
        if self.slot is not None and across and self.cursor is not None:
            slot = clamp(self.slot + across, self._slot_count(self.cursor))
            self.post_to_app(self.Chosen(self.cursor, None, slot))
            return
        node = self._neighbour_node(across, down)
        if node is not None:
            slots = self._slot_count(node)
            kept = min(self.slot, slots - 1) if self.slot is not None and slots else None
            self.cursor = node
            self.post_to_app(self.Chosen(node, None, kept))

    def _neighbour_node(self, across: int, down: int) -> NodeId | None:
        """The node to which the cursor goes; among racks the first node of the next one."""
        if self.slot_layout.size is not CellSize.RACKS:
            return self.slot_layout.neighbour_node(self.cursor, across, down)
        racks = [line.rack for line in self.slot_layout.lines]
        at = -1 if self.cursor is None else racks.index(self.racks.rack_of[self.cursor])
        return (
            self.racks.first_node(racks[clamp(at + across + down, len(racks))]) if racks else None
        )


def _segment_colour(segment: Segment) -> str:
    ink: Style | None = segment.style
    assert ink is not None
    assert ink.color is not None
    return ink.color.name
