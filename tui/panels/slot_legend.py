"""What the slots pane says below its cells: each sign that is in the picture, and what it means."""

from collections.abc import Iterator, Sequence

import numpy as np

from callboard.journal.replay.frame import Frame, NodeStatus, SlotCard, SlotState
from callboard.journal.replay.signs import (
    DOWN_SIGN,
    LOST_SIGN,
    NODE_WORDS,
    SLOT_SIGNS,
    SLOT_WORDS,
    SUPERSCRIPTS,
    node_sign,
)
from callboard.journal.tell.names import ONE_MASTER
from callboard.tui.panels.slot_layout import BY_NODE, LOADS, CellSize, SlotLayout

_LOCALITIES = ("N node-local", "R rack-local", "O off-rack")
_MORE = "more: ?"


def legend_lines(
    frame: Frame, layout: SlotLayout, widths: Sequence[int], *, alike: bool = False
) -> list[str]:
    """The signs in the picture, on as few of the lines with these widths as will do, counted from
    the last.  Where all lines are not enough, the last one says where the others are.  `alike` says
    that slots are grey that run the same job in both of two runs.
    """
    keeper = frame.totals.keeper
    words = [
        each.replace(ONE_MASTER, keeper)
        for each in dict.fromkeys(_legend_words(frame, layout, alike))
    ]
    for lines in range(1, len(widths) + 1):
        rows, left = _packed_into_lines(words, widths[-lines:])
        if not left:
            return ["  ".join(row) for row in rows]
    last = rows[-1]
    while last and len("  ".join([*last, _MORE])) > widths[-1]:
        last.pop()
    last.append(_MORE)
    return ["  ".join(row) for row in rows]


def is_cut(line: str) -> bool:
    """Whether a line of a legend says that others are elsewhere."""
    return line.endswith(_MORE)


def _packed_into_lines(
    words: list[str], widths: Sequence[int]
) -> tuple[list[list[str]], list[str]]:
    """As many of the words as fit, a list for each line, and the others."""
    rows: list[list[str]] = []
    left = words
    for width in widths:
        fitting = [at for at in range(len(left) + 1) if len("  ".join(left[:at])) <= max(width, 0)]
        rows.append(left[: fitting[-1]])
        left = left[fitting[-1] :]
    return rows, left


def _legend_words(frame: Frame, layout: SlotLayout, alike: bool) -> Iterator[str]:
    match layout.size:
        case CellSize.NODES:
            yield from (f"{LOADS[0]} idle", f"{LOADS[4]} half", f"{LOADS[-1]} all busy")
            if layout.label:
                yield "0 1 2…: racks"
        case CellSize.PAIRS:
            yield from ("▀ two nodes: bright busy, grey idle", "0 1 2…: racks")
        case CellSize.HALVES:
            yield f"▀ two slots: coloured busy, grey empty{' or same in both runs' * alike}"
        case CellSize.RACKS:
            yield from ("█ busy", f"{SLOT_SIGNS[SlotState.IDLE]} empty")
            if SlotState.GHOST in frame.states:
                yield f"▒ {SLOT_WORDS[SlotState.GHOST]}"
        case _:
            yield from _slot_words(frame)
            if alike:
                yield "grey: same in both runs"
            if layout.size is CellSize.CELLS and layout.lines[0].heads:
                yield "m r: maps, reduces"
    yield from _node_words(frame, layout.size)
    if layout.size is CellSize.CARDS:
        yield from _card_words([card for card in frame.cards if card is not None])
    elif layout.cell and SlotState.IDLE in frame.states:
        yield f"{SLOT_SIGNS[SlotState.IDLE]} empty"


def _card_words(cards: Sequence[SlotCard]) -> Iterator[str]:
    """What the letters of cards mean, and the time on them."""
    for kind, word in enumerate(("m map", "r reduce")):
        if any(card.kind == kind for card in cards):
            yield word
    for level, word in enumerate(_LOCALITIES):
        if any(card.level == level for card in cards):
            yield word
    if any(card.usual_ms and card.usual_ms >= card.held_ms for card in cards):
        yield "≈ time left"
    if any(card.usual_ms and card.usual_ms < card.held_ms for card in cards):
        yield "+ longer than usual"


def _slot_words(frame: Frame) -> Iterator[str]:
    """States of slots, as they are."""
    there = set(frame.states)
    for state, word in SLOT_WORDS.items():
        if state in there:
            yield f"{SLOT_SIGNS[state]} {word}"


def _node_words(frame: Frame, size: CellSize) -> Iterator[str]:
    """What is wrong with nodes, and whether the master is wrong about one."""
    looks = {node_sign(*pair) for pair in zip(frame.node_status, frame.lost, strict=True)}
    signs = [sign for sign, _ in sorted(looks) if sign.strip()]
    if size is CellSize.PAIRS:
        if signs:
            yield f"dark red: {' or '.join(NODE_WORDS[sign] for sign in signs)}"
    else:
        if (np.frombuffer(frame.node_status, np.uint8) & int(NodeStatus.DOWN)).any():
            yield f"{DOWN_SIGN} down"
        if size is not CellSize.RACKS:
            yield from (f"{sign} {NODE_WORDS[sign]}" for sign in signs)
    if any(wrong and sign != LOST_SIGN for sign, wrong in looks):
        yield "red: master unaware"
    if size in (CellSize.RACKS, *BY_NODE):
        return
    if any(frame.suspended_by_node):
        yield f"{SUPERSCRIPTS[1]}{SUPERSCRIPTS[2]}… attempts suspended there"
    if any(frame.queued_by_node):
        yield f"{SUPERSCRIPTS[1]}{SUPERSCRIPTS[2]}… wait there for a slot"
