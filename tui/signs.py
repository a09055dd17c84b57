"""The signs of slots, nodes and marks: what they say without any colour."""

from callboard.actors.vocabulary.events import Mark
from callboard.journal.replay.frame import Frame, NodeStatus, SlotState, master_unaware
from callboard.scheduler.model import NodeId

SLOT_SIGNS = {
    SlotState.IDLE: "·",
    SlotState.MAP: "■",
    SlotState.SHUFFLE: "◇",
    SlotState.REDUCE: "◆",
    SlotState.COPY: "▲",
    SlotState.GHOST: "□",
    SlotState.ORPHAN: "!",
}
DOWN_SIGN = "×"
"""An empty slot of a node that is down."""

SUPERSCRIPTS = " ¹²³⁴⁵⁶⁷⁸⁹"
"""How many suspended attempts a node keeps; more than nine look like nine."""

STATUS_SIGNS = (
    (NodeStatus.DOWN, "×"),
    (NodeStatus.PAUSED, "‖"),
    (NodeStatus.CUT | NodeStatus.APART, "≠"),
    (NodeStatus.SLOW, "~"),
    (NodeStatus.DRAINED, "⊘"),
)
"""A node's mark: of several the first."""

LOST_SIGN = "?"
"""The mark of a node that is up and that the master has given up for lost."""

MARK_SIGNS = {
    Mark.NONE: " ",
    Mark.PREEMPTION: "╷",
    Mark.RETURNED: "▴",
    Mark.LOST: "✕",
    Mark.FAULT: "▾",
}
DIVERGENCE_SIGN = "╫"
"""On the time bar: where two compared runs first differ."""


def node_mark(frame: Frame, node: NodeId) -> tuple[str, bool]:
    """A node's mark, and whether the master is wrong about it."""
    status, lost = frame.node_status[node], frame.lost[node]
    mark = next((glyph for flag, glyph in STATUS_SIGNS if status & flag), " ")
    if lost and not status & NodeStatus.DOWN:
        return LOST_SIGN, True
    return mark, master_unaware(status, lost)
