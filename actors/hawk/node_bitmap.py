"""Sets of nodes as messages carry them: a bit a node (Eagle's succinct state)."""

from collections.abc import Iterable

from callboard.scheduler.model import NodeId


def node_bitmap(nodes: Iterable[NodeId]) -> bytes:
    """These nodes, the lowest in the first byte's lowest bit."""
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def is_marked(bitmap: bytes, node: NodeId) -> bool:
    """Whether the node is in it."""
    byte, bit = divmod(node, 8)
    return byte < len(bitmap) and bool(bitmap[byte] >> bit & 1)
