"""Where a job's input lies: HDFS's default placement of block replicas.

The first replica goes to any node, the second to another rack, the third to another node in the
second's rack, further ones to any other node (Hadoop 1, for a writer outside the cluster).  Draws
at (job, block) become nodes by jump consistent hashing (Lamping and Veach, 2014): with one node
more a replica stays or moves to the new node, but for the few that the rule of racks moves.
`place_block` is the definition; `place` gives the same for all blocks of a job at once.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from callboard.actors.kernel.streams import Stream
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.topology import Topology
from callboard.scheduler.model import JobId

TRIES_MAX = 64  # draws for one replica before the lowest node that will do is taken
_ROWS_FROM = 16  # blocks, from which on whole rows are faster than one block at a time
_FEW = 16  # numbers, up to which one at a time is faster than an array
_STEP = 2862933555777941757
_MASK = (1 << 64) - 1
_UNIT = float(1 << 31)
_STEP_64, _ONE_64, _SHIFT_33 = np.uint64(_STEP), np.uint64(1), np.uint64(33)


ANYWHERE = -2
"""In place of a node, where a map has no input that lies anywhere."""


class Placement:
    """Placement in one cluster of `nodes`; node n stands in rack n mod `racks`, or as the
    `topology` says.  The blocks of jobs in
    `recorded` lie where they lay, if the recording knows of as many nodes as there are.
    """

    def __init__(
        self,
        seed: int,
        *,
        nodes: int,
        racks: int = 1,
        replication: int,
        topology: Topology | None = None,
        recorded: Mapping[JobId, RecordedTasks] | None = None,
    ) -> None:
        self._nodes = nodes
        self._topology = topology or Topology(racks)
        self.replication = replication
        self._recorded = recorded or {}
        self._streams = [
            [Stream(seed, f"placement/{replica}/{attempt}") for attempt in range(TRIES_MAX)]
            for replica in range(min(replication, nodes))
        ]

    def place_job_blocks(self, job: JobId, blocks: int) -> NDArray[np.int32]:
        """The nodes that hold each block: shape (blocks, replication), -1 without enough; a row of
        `ANYWHERE` where a map has no input to be near to.
        """
        recorded = self._recorded.get(job)
        if recorded is None:
            return self._drawn_replicas_of_job(job, blocks)
        if recorded.nodes == self._nodes:
            return recorded.first_replicas(self.replication)
        placed = self._drawn_replicas_of_job(job, blocks)
        placed[recorded.maps_without_input()] = ANYWHERE
        return placed

    def _drawn_replicas_of_job(self, job: JobId, blocks: int) -> NDArray[np.int32]:
        placed = np.full((blocks, self.replication), -1, dtype="<i4")
        if blocks < _ROWS_FROM:
            for block in range(blocks):
                held = self._replicas_of_block(job, block)
                placed[block, : len(held)] = held
        elif self._streams:
            self._place_all_blocks(job, placed)
        return placed

    def place_block(self, job: JobId, block: int) -> list[int]:
        """The nodes that hold one block, first replica first; none where it lies nowhere."""
        recorded = self._recorded.get(job)
        if recorded is not None:
            row: list[int] = recorded.replica_rows()[block].tolist()
            if row[0] < 0 or recorded.nodes == self._nodes:
                return [node for node in row[: self.replication] if node >= 0]
        return self._replicas_of_block(job, block)

    def _replicas_of_block(self, job: JobId, block: int) -> list[int]:
        held: list[int] = []
        for replica, streams in enumerate(self._streams):
            held.append(self._place_replica(job, block, replica, held, streams))
        return held

    def _place_replica(
        self, job: int, block: int, replica: int, held: list[int], streams: list[Stream]
    ) -> int:
        """The node of one replica by the tries that are left, which draw from these streams."""
        for stream in streams:
            node = self._draw_node(stream.bits(job, block), replica, held)
            if self._suits_replica(node, replica, held):
                return node
        return self._lowest_free_node(held)

    def _draw_node(self, bits: int, replica: int, held: list[int]) -> int:
        """A candidate: any node, or for the third replica any in the second's rack."""
        if replica != 2:
            return _jump_hash(bits, self._nodes)
        rack = self._topology.rack_of(held[1])
        return self._topology.node_at(
            rack, _jump_hash(bits, self._topology.rack_size(rack, self._nodes))
        )

    def _suits_replica(self, node: int, replica: int, held: list[int]) -> bool:
        """No node twice, and the second replica in another rack than the first."""
        if node in held:
            return False
        racks = self._topology
        return replica != 1 or racks.racks == 1 or racks.rack_of(node) != racks.rack_of(held[0])

    def _lowest_free_node(self, held: list[int]) -> int:
        """Where no draw suits, as in a cluster of two nodes in one rack."""
        return next(node for node in range(self._nodes) if node not in held)

    def _place_all_blocks(self, job: int, placed: NDArray[np.int32]) -> None:
        """Place all blocks of a job.  The first draws for the first and the second replica do not
        depend on anything: they are made together.
        """
        columns = np.arange(len(placed), dtype=np.uint64)
        anywhere = [tries[0].bits_at(job, columns) for tries in self._streams[:2]]
        bits = np.concatenate(anywhere)
        drawn = _jump_hash_row(bits, np.full(len(bits), float(self._nodes))).reshape(
            -1, len(placed)
        )
        placed[:, 0] = drawn[0]
        for replica in range(1, len(self._streams)):
            if replica == 1:
                row = drawn[1]
            else:
                bits = self._streams[replica][0].bits_at(job, columns)
                row = self._draw_row(bits, replica, placed)
            placed[:, replica] = row
            left = np.flatnonzero(~self._suits_row(row, replica, placed))
            self._place_unsuited_blocks(job, placed, replica, left)

    def _place_unsuited_blocks(
        self, job: int, placed: NDArray[np.int32], replica: int, left: NDArray[np.intp]
    ) -> None:
        """Go on with the blocks whose first draw for a replica did not suit."""
        tries = self._streams[replica]
        done = 1
        while len(left) > _FEW and done < TRIES_MAX:
            bits = tries[done].bits_at(job, left.astype(np.uint64))
            row = self._draw_row(bits, replica, placed[left])
            suited = self._suits_row(row, replica, placed[left])
            placed[left[suited], replica] = row[suited]
            left = left[~suited]
            done += 1
        for block in left.tolist():
            held = placed[block, :replica].tolist()
            placed[block, replica] = self._place_replica(job, block, replica, held, tries[done:])

    def _draw_row(
        self, bits: NDArray[np.uint64], replica: int, placed: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        if replica != 2:
            return _jump_hash_row(bits, np.full(len(bits), float(self._nodes)))
        topology = self._topology
        racks = topology.racks_of(placed[:, 1])
        sizes = topology.rack_sizes(racks, self._nodes)
        return topology.nodes_at(racks, _jump_hash_row(bits, sizes.astype(np.float64)))

    def _suits_row(
        self, drawn: NDArray[np.int64], replica: int, placed: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        fresh: NDArray[np.bool_] = (placed[:, :replica] != drawn[:, None]).all(axis=1)
        topology = self._topology
        if replica != 1 or topology.racks == 1:
            return fresh
        elsewhere: NDArray[np.bool_] = topology.racks_of(drawn) != topology.racks_of(placed[:, 0])
        return fresh & elsewhere


def _jump_hash(key: int, buckets: int, following: int = 0) -> int:
    """The bucket of a key, going on from where the jumps have come to."""
    bucket = 0
    while following < buckets:
        bucket = following
        key = (key * _STEP + 1) & _MASK
        following = int((bucket + 1) * (_UNIT / ((key >> 33) + 1)))
    return bucket


def _jump_hash_row(keys: NDArray[np.uint64], buckets: NDArray[np.float64]) -> NDArray[np.int64]:
    """`_jump_hash` of every key into its own number of buckets; the keys are used up.

    All jump until few are still on their way; who has arrived is left out now and then.  Jumps only
    go ahead, so that one who has arrived does not come back.
    """
    result = found = np.zeros(len(keys))
    following = np.zeros(len(keys))
    places = None  # of those on their way, in the result
    while True:
        keys *= _STEP_64
        keys += _ONE_64
        following += 1
        following *= _UNIT / ((keys >> _SHIFT_33) + _ONE_64)
        np.trunc(following, out=following)
        on_the_way = following < buckets
        left = np.count_nonzero(on_the_way)
        if left <= _FEW:
            break
        np.copyto(found, following, where=on_the_way)
        if 2 * left < len(keys):
            if places is not None:
                result[places] = found
            picked = np.flatnonzero(on_the_way)
            places = picked if places is None else places[picked]
            keys, following, buckets = keys[picked], following[picked], buckets[picked]
            found = found[picked]
    for each in np.flatnonzero(on_the_way).tolist():
        found[each] = _jump_hash(int(keys[each]), int(buckets[each]), int(following[each]))
    if places is not None:
        result[places] = found
    return result.astype(np.int64)
