"""Signs and words for slots, nodes, jobs and runs: the same wherever a run is shown."""

from callboard.actors.vocabulary.events import Mark
from callboard.journal.replay.frame import (
    ColourBy,
    JobStatus,
    NodeStatus,
    SlotState,
    is_master_unaware,
)

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

NODE_WORDS = {
    "×": "down",
    "‖": "paused",
    "≠": "its link disturbed",
    "~": "slow",
    "⊘": "out of service",
    LOST_SIGN: "up, but given up",
}
"""What a node's mark means."""

NODE_SIGNS = (" ", *(sign for _, sign in STATUS_SIGNS), LOST_SIGN)
"""All that can stand beside a node; a space for none."""


def node_sign(status: int, lost: int) -> tuple[str, bool]:
    """A node's mark, a space for none, and whether the master is wrong about it."""
    sign = next((glyph for flag, glyph in STATUS_SIGNS if status & flag), " ")
    if lost and not status & NodeStatus.DOWN:
        return LOST_SIGN, True
    return sign, is_master_unaware(status, lost)


MARK_SIGNS = {
    Mark.NONE: " ",
    Mark.PREEMPTION: "╷",
    Mark.RETURNED: "▴",
    Mark.LOST: "✕",
    Mark.FAULT: "▾",
}

STATE_WORDS = {
    JobStatus.WAITING: "waiting",
    JobStatus.RUNNING: "running",
    JobStatus.STARVED: "starved",
    JobStatus.SUCCEEDED: "done",
    JobStatus.FAILED: "failed",
    JobStatus.KILLED: "killed",
}

SLOT_WORDS = {
    SlotState.MAP: "map",
    SlotState.SHUFFLE: "shuffle",
    SlotState.REDUCE: "reduce",
    SlotState.COPY: "speculative",
    SlotState.GHOST: "over, master unaware",
    SlotState.ORPHAN: "runs, given up",
}
"""What is in a slot that is not empty."""

COLOURED_BY = {
    ColourBy.JOB: "job",
    ColourBy.POOL: "pool",
    ColourBy.USER: "user",
    ColourBy.LOCALITY: "locality",
    ColourBy.AGE: "age",
    ColourBy.QUEUE: "place in the queue",
    ColourBy.SIZE: "size",
}
"""What colours can stand for, in words."""

ENDING_WORDS = {
    None: "the journal is cut off here",
    "complete": "the run is complete",
    "until": "the run ended at its time limit",
    "interrupted": "the run was interrupted",
    "livelock": "the run was ended: its preemption goes round",
}
"""Why a run is over, by the reason of its last event; None for a journal without one."""
