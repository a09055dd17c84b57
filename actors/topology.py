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

    def of(self, node: NodeId) -> int:
        """The node's rack."""
        return bisect_right(self._ends, node) if self._uneven else node % self.racks

    def row_of(self, nodes: NDArray[np.signedinteger[Any]]) -> NDArray[np.int64]:
        """`of` each of many nodes."""
        if not self._uneven:
            return (nodes % self.racks).astype(np.int64)
        return np.searchsorted(self._ends, nodes, side="right").astype(np.int64)

    def size(self, rack: int, nodes: int) -> int:
        """How many of a cluster's nodes stand in a rack."""
        if self._uneven:
            return int(self._sizes[rack])
        return (nodes - rack + self.racks - 1) // self.racks

    def row_size(self, racks: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
        """`size` of each of many racks."""
        if self._uneven:
            return self._sizes[racks]
        return (nodes - racks + self.racks - 1) // self.racks

    def member(self, rack: int, place: int) -> NodeId:
        """The node at a place of a rack, from 0."""
        return int(self._firsts[rack]) + place if self._uneven else rack + self.racks * place

    def row_member(self, racks: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """`member` of many racks, at a place each."""
        if self._uneven:
            return self._firsts[racks] + places
        return racks + self.racks * places
