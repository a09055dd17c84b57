"""What the slots pane says below its cells: each sign that is in the picture, and what it means."""

from collections.abc import Iterator

import numpy as np

from callboard.journal.replay.frame import Frame, NodeStatus, SlotState
from callboard.journal.replay.signs import (
    DOWN_SIGN,
    LOST_SIGN,
    NODE_WORDS,
    SLOT_SIGNS,
    SLOT_WORDS,
    SUPERSCRIPTS,
    node_sign,
)
from callboard.tui.panels.slot_layout import LOADS, CellSize, SlotLayout

_CARD_WORDS = ("m map", "r reduce", "N node-local", "R rack-local", "O off-rack", "≈ time left")
_MORE = "more: ?"


def legend(frame: Frame, layout: SlotLayout, width: int) -> str:
    """As many of the signs in the picture as there is room for; where that is not all of them, it
    says where all are.
    """
    words = list(dict.fromkeys(_words(frame, layout)))
    if len("  ".join(words)) <= width:
        return "  ".join(words)
    while words and len("  ".join([*words, _MORE])) > width:
        words.pop()
    return "  ".join([*words, _MORE])


def _words(frame: Frame, layout: SlotLayout) -> Iterator[str]:
    match layout.size:
        case CellSize.NODES:
            yield from (f"{LOADS[0]} idle", f"{LOADS[4]} half busy", f"{LOADS[-1]} all busy")
            if layout.label:
                yield "in front: the rack"
        case CellSize.HALVES:
            yield "▀ two slots: coloured busy, grey empty"
        case CellSize.RACKS:
            yield from ("█ busy", f"{SLOT_SIGNS[SlotState.IDLE]} empty")
            if SlotState.GHOST in frame.states:
                yield f"▒ {SLOT_WORDS[SlotState.GHOST]}"
        case _:
            yield from _slot_words(frame)
            if layout.size is CellSize.CELLS and layout.lines[0].heads:
                yield "m, r: slots for maps, reduces"
    yield from _node_words(frame, with_marks=layout.size is not CellSize.RACKS)
    if layout.size is CellSize.CARDS:
        yield from _CARD_WORDS
    elif layout.cell and SlotState.IDLE in frame.states:
        yield f"{SLOT_SIGNS[SlotState.IDLE]} empty"


def _slot_words(frame: Frame) -> Iterator[str]:
    """States of slots, as they are."""
    there = set(frame.states)
    for state, word in SLOT_WORDS.items():
        if state in there:
            yield f"{SLOT_SIGNS[state]} {word}"


def _node_words(frame: Frame, with_marks: bool) -> Iterator[str]:
    """What is wrong with nodes, and whether the master is wrong about one."""
    looks = {node_sign(*pair) for pair in zip(frame.node_status, frame.lost, strict=True)}
    if (np.frombuffer(frame.node_status, np.uint8) & int(NodeStatus.DOWN)).any():
        yield f"{DOWN_SIGN} down"
    if with_marks:
        yield from (f"{sign} {NODE_WORDS[sign]}" for sign, _ in sorted(looks) if sign.strip())
    if any(wrong and sign != LOST_SIGN for sign, wrong in looks):
        yield "red: the master does not know"
    if with_marks and any(frame.suspended_by_node):
        yield f"{SUPERSCRIPTS[1]}{SUPERSCRIPTS[2]}… attempts suspended there"
    if with_marks and any(frame.queued_by_node):
        yield f"{SUPERSCRIPTS[1]}{SUPERSCRIPTS[2]}… wait there for a slot"
