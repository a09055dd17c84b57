"""Which rack each node of a cluster stands in."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.model import NodeId


class Topology:
    """Node n stands in rack n mod `racks`; with `sizes`, which add up to the nodes, the first nodes
    fill rack 0, the next ones rack 1, and so on.
    """

    def __init__(self, racks: int, sizes: Sequence[int] = ()) -> None:
        self.racks = len(sizes) or racks
        self._sizes = np.array(sizes, dtype=np.int64)
        self._firsts = np.concatenate(([0], np.cumsum(self._sizes)))[:-1]
        self._ends = list(accumulate(sizes))
        self._uneven = bool(sizes)

    def rack_of(self, node: NodeId) -> int:
        """The node's rack."""
        return bisect_right(self._ends, node) if self._uneven else node % self.racks

    def racks_of(self, nodes: NDArray[np.signedinteger[Any]]) -> NDArray[np.int64]:
        """`rack_of` each of many nodes."""
        if not self._uneven:
            return (nodes % self.racks).astype(np.int64)
        return np.searchsorted(self._ends, nodes, side="right").astype(np.int64)

    def rack_size(self, rack: int, nodes: int) -> int:
        """How many of a cluster's nodes stand in a rack."""
        if self._uneven:
            return int(self._sizes[rack])
        return (nodes - rack + self.racks - 1) // self.racks

    def rack_sizes(self, racks: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
        """`rack_size` of each of many racks."""
        if self._uneven:
            return self._sizes[racks]
        return (nodes - racks + self.racks - 1) // self.racks

    def node_at(self, rack: int, place: int) -> NodeId:
        """The node at a place of a rack, from 0."""
        return int(self._firsts[rack]) + place if self._uneven else rack + self.racks * place

    def nodes_at(self, racks: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """`node_at` of many racks, at a place each."""
        if self._uneven:
            return self._firsts[racks] + places
        return racks + self.racks * places
