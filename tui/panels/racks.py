"""A rack in one line: the head over its nodes, or, in a large cluster, a bar instead of them."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.replay.cluster_state import slot_offsets
from callboard.journal.replay.frame import ColourBy, Frame, NodeStatus, SlotState, nodes_down
from callboard.journal.replay.palette import Palette
from callboard.journal.replay.signs import DOWN_SIGN
from callboard.journal.tell.names import rack_name
from callboard.scheduler.model import NodeId
from callboard.tui.panels.pane import Span
from callboard.tui.theme import style

_NAME = 9
_TAIL = 34
"""Columns kept for the figures after a bar, so that all bars have the same length."""


class Rack(msgspec.Struct, frozen=True):
    """A rack's places in the columns of a frame: its nodes, their slots, the node of each slot."""

    nodes: NDArray[np.int64]
    places: NDArray[np.int64]
    node_of: NDArray[np.int64]


class RackCount(msgspec.Struct, frozen=True):
    """A rack in figures; `unaware` counts the nodes that are down without its being known to the
    `keeper` of the books.
    """

    busy: int
    slots: int
    down: int
    lost: int
    unaware: int
    keeper: str

    @property
    def trouble_words(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        troubles = [f"{self.down} down"] if self.down else []
        troubles += [f"{self.lost} given up"] if self.lost else []
        troubles += [f"{self.keeper} unaware of {self.unaware}"] if self.unaware else []
        return "".join(f", {each}" for each in troubles)


class Racks:
    """The racks of one cluster."""

    def __init__(self, nodes: Sequence[NodeFacts]) -> None:
        first = slot_offsets(nodes)
        self._racks: dict[int, Rack] = {}
        self.rack_of = {facts.node: facts.rack for facts in nodes}
        for rack in sorted({facts.rack for facts in nodes}):
            mine = [facts.node for facts in nodes if facts.rack == rack]
            places = [(at, node) for node in mine for at in range(first[node], first[node + 1])]
            columns = np.array(places, np.int64).reshape(-1, 2).T
            self._racks[rack] = Rack(np.array(mine, np.int64), columns[0], columns[1])

    def first_node(self, rack: int) -> NodeId:
        return int(self._racks[rack].nodes[0])

    def count_rack(self, frame: Frame, rack: int) -> RackCount:
        mine = self._racks[rack]
        states = np.frombuffer(frame.states, np.uint8)[mine.places]
        down = nodes_down(frame.node_status)[mine.nodes]
        lost = np.frombuffer(frame.lost, np.uint8)[mine.nodes] > 0
        busy = (states != SlotState.IDLE.value) & (states != SlotState.GHOST.value)
        return RackCount(
            int(busy.sum()),
            len(states),
            down=int(down.sum()),
            lost=int(lost.sum()),
            unaware=int((down & ~lost).sum()),
            keeper=frame.totals.keeper,
        )

    def head(self, frame: Frame, rack: int, width: int, palette: Palette) -> Iterable[Span]:
        count, ground = self.count_rack(frame, rack), palette.ground
        name, share = f"{rack_name(rack)} ", f" {count.busy}/{count.slots} busy"
        rule = max(width - len(name) - len(share) - len(count.trouble_words), 1)
        yield name, style(palette.dim, ground, bold=True)
        yield "─" * rule, style(palette.edge, ground)
        yield share, style(palette.dim, ground)
        colour = palette.fault if count.unaware else palette.dim
        yield count.trouble_words, style(colour, ground, bold=bool(count.unaware))

    def bar(
        self, frame: Frame, rack: int, width: int, palette: Palette, chosen: bool = False
    ) -> Iterable[Span]:
        """The rack as a bar: jobs or colours, attempts over unknown to the master, empty slots."""
        count, ground = self.count_rack(frame, rack), palette.ground
        tail = f" {count.busy / max(count.slots, 1):>4.0%} busy{count.trouble_words}"
        room = max(width - _NAME - max(len(tail), _TAIL), 10)
        ink = style(palette.dim, ground, bold=True, reverse=chosen)
        yield f"{rack_name(rack):<{_NAME}}", ink
        for colour, glyph, length in self._bar_stretches(frame, self._racks[rack], room, palette):
            yield glyph * length, style(colour, ground)
        yield tail, style(palette.fault if count.unaware else palette.dim, ground)

    def _bar_stretches(
        self, frame: Frame, rack: Rack, room: int, palette: Palette
    ) -> Iterator[tuple[str, str, int]]:
        """The parts of a bar: colour, glyph, columns; together exactly `room`."""
        owners = np.frombuffer(frame.owners, np.int32)[rack.places]
        states = np.frombuffer(frame.states, np.uint8)[rack.places]
        down = (np.frombuffer(frame.node_status, np.uint8)[rack.node_of] & int(NodeStatus.DOWN)) > 0
        idle, over = states == SlotState.IDLE.value, states == SlotState.GHOST.value
        running = ~idle & ~over
        hues = frame.hues_of_slots()[rack.places][running]
        by_job = frame.colour_by is ColourBy.JOB
        groups = owners[running] if by_job else hues
        _, firsts, numbers = np.unique(groups, return_index=True, return_counts=True)
        parts = [
            (palette.jobs[hue], "█", number)
            for hue, number in zip(hues[firsts].tolist(), numbers.tolist(), strict=True)
        ]
        parts.append((palette.fault, "▒", int(over.sum())))
        parts.append((palette.faint, "·", int((idle & ~down).sum())))
        parts.append((palette.shade(palette.fault, 0), DOWN_SIGN, int((idle & down).sum())))
        total, gone, drawn = max(len(states), 1), 0, 0
        for colour, glyph, number in parts:
            gone += number
            length = round(gone * room / total) - drawn
            drawn += length
            yield colour, glyph, length
