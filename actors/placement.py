"""Where a job's input lies: HDFS's default placement of block replicas.

The first replica goes to any node, the second to another rack, the third to another node in the
second's rack, further ones to any other node (Hadoop 1, for a writer outside the cluster).  Draws
at (job, block) become nodes by jump consistent hashing (Lamping and Veach, 2014): with one node
more a replica stays or moves to the new node, but for the few that the rule of racks moves.
`place_block` is the definition; `place` gives the same for all blocks of a job at once.
"""

import numpy as np
from numpy.typing import NDArray

from callboard.actors.kernel.streams import Stream

TRIES_MAX = 64  # draws for one replica before the lowest node that will do is taken
_ROWS_FROM = 12  # blocks, from which on whole rows are faster than one block at a time
_STEP = 2862933555777941757
_MASK = (1 << 64) - 1
_UNIT = float(1 << 31)


class Placement:
    """Placement in one cluster: node n of `nodes` stands in rack n mod `racks`."""

    def __init__(self, seed: int, *, nodes: int, racks: int, replication: int) -> None:
        self._nodes = nodes
        self._racks = racks
        self.replication = replication
        self._streams = [
            [Stream(seed, f"placement/{replica}/{attempt}") for attempt in range(TRIES_MAX)]
            for replica in range(min(replication, nodes))
        ]

    def place(self, job: int, blocks: int) -> NDArray[np.int32]:
        """The nodes that hold each block: shape (blocks, replication), -1 without enough."""
        placed = np.full((blocks, self.replication), -1, dtype="<i4")
        if blocks < _ROWS_FROM:
            for block in range(blocks):
                held = self.place_block(job, block)
                placed[block, : len(held)] = held
        else:
            for replica in range(len(self._streams)):
                self._place_row(job, placed, replica)
        return placed

    def place_block(self, job: int, block: int) -> list[int]:
        """The nodes that hold one block, first replica first."""
        held: list[int] = []
        for replica, tries in enumerate(self._streams):
            draws = (self._draw(stream.bits(job, block), replica, held) for stream in tries)
            suited = next((node for node in draws if self._suits(node, replica, held)), None)
            held.append(self._lowest_free(held) if suited is None else suited)
        return held

    def _draw(self, bits: int, replica: int, held: list[int]) -> int:
        """A candidate: any node, or for the third replica any in the second's rack."""
        if replica != 2:
            return _jump(bits, self._nodes)
        rack = held[1] % self._racks
        return rack + self._racks * _jump(bits, self._rack_size(rack))

    def _suits(self, node: int, replica: int, held: list[int]) -> bool:
        """No node twice, and the second replica in another rack than the first."""
        if node in held:
            return False
        return replica != 1 or self._racks == 1 or node % self._racks != held[0] % self._racks

    def _lowest_free(self, held: list[int]) -> int:
        """Where no draw suits, as in a cluster of two nodes in one rack."""
        return next(node for node in range(self._nodes) if node not in held)

    def _rack_size(self, rack: int) -> int:
        return (self._nodes - rack + self._racks - 1) // self._racks

    def _place_row(self, job: int, placed: NDArray[np.int32], replica: int) -> None:
        blocks = len(placed)
        left = np.arange(blocks)
        for stream in self._streams[replica]:
            bits = stream.bits_row(job, blocks)[left]
            drawn = self._draw_row(bits, replica, placed[left])
            suited = self._suits_row(drawn, replica, placed[left])
            placed[left[suited], replica] = drawn[suited]
            left = left[~suited]
            if not left.size:
                return
        for block in left.tolist():
            placed[block, replica] = self._lowest_free(placed[block, :replica].tolist())

    def _draw_row(
        self, bits: NDArray[np.uint64], replica: int, placed: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        if replica != 2:
            return _jump_row(bits, np.full(bits.shape, self._nodes))
        rack = placed[:, 1] % self._racks
        sizes = ((self._nodes - rack + self._racks - 1) // self._racks).astype(np.int64)
        return rack + self._racks * _jump_row(bits, sizes)

    def _suits_row(
        self, drawn: NDArray[np.int64], replica: int, placed: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        fresh: NDArray[np.bool_] = (placed[:, :replica] != drawn[:, None]).all(axis=1)
        if replica != 1 or self._racks == 1:
            return fresh
        elsewhere: NDArray[np.bool_] = drawn % self._racks != placed[:, 0] % self._racks
        return fresh & elsewhere


def _jump(key: int, buckets: int) -> int:
    bucket = following = 0
    while following < buckets:
        bucket = following
        key = (key * _STEP + 1) & _MASK
        following = int((bucket + 1) * (_UNIT / ((key >> 33) + 1)))
    return bucket


def _jump_row(keys: NDArray[np.uint64], buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """`_jump` of every key into its own number of buckets."""
    result = np.zeros(keys.shape, dtype=np.int64)
    live = np.arange(len(keys))
    following = np.zeros(keys.shape, dtype=np.int64)
    while live.size:
        result[live] = following
        keys = keys * np.uint64(_STEP) + np.uint64(1)
        spread = _UNIT / ((keys >> np.uint64(33)) + np.uint64(1)).astype(np.float64)
        following = ((following + 1) * spread).astype(np.int64)
        more = following < buckets
        keys, live, following, buckets = keys[more], live[more], following[more], buckets[more]
    return result
