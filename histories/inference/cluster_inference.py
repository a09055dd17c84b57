"""The cluster that a history must have come from: hosts, racks, and slots by what ran at once."""

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import NODES_MAX, SLOTS_MAX
from callboard.histories.model.cluster_history import NO_HOST, HistoryAttempt, HostNames
from callboard.histories.model.import_report import Fate, Remarks
from callboard.scheduler.model import KINDS, MAP, REDUCE, SlotKind
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError

GUESSED_NODES = 100
GUESSED_SLOTS = 2  # Hadoop 1's own default
_NAMES = {MAP: "map", REDUCE: "reduce"}


class StatedCluster(NamedTuple):
    """A cluster as its file states it, in which words, and whether that was read or guessed."""

    nodes: int
    map_slots: int
    reduce_slots: int
    words: str
    fate: Fate = "read"


class RecordedCluster(NamedTuple):
    """The nodes in the order of their racks, and there of their names: the names, the size of each
    rack, the new number of each of the file's hosts and its rack, and the slots a node.  Where
    names go round the racks, nodes are in the order of names alone (`round_robin`).
    """

    nodes: int
    names: tuple[str, ...]
    rack_sizes: tuple[int, ...]
    renumbered: NDArray[np.int32]
    racks: NDArray[np.int32]
    map_slots: int
    reduce_slots: int
    round_robin: bool


class _Spans:
    """When attempts of one kind ran, on which host, and which of them succeeded."""

    def __init__(self) -> None:
        self._hosts = array("q")
        self._starts = array("q")
        self._ends = array("q")
        self._succeeded = array("b")

    def add_span(self, host: int, start_ms: int, end_ms: int, *, succeeded: bool) -> None:
        self._hosts.append(host)
        self._starts.append(start_ms)
        self._ends.append(end_ms)
        self._succeeded.append(succeeded)

    def most_at_once(self, *, by_host: bool) -> int:
        """How many ran at once at most, in all, or on one host of those that succeeded: of others
        it tells late that they are over.  What ends makes room at once.
        """
        hosts = np.array(self._hosts, dtype=np.int64)
        succeeded = np.array(self._succeeded, dtype=np.bool_)
        kept = (hosts != NO_HOST) & succeeded if by_host else np.full(len(hosts), True)
        if not kept.any():
            return 0
        where = np.tile(hosts[kept] if by_host else np.zeros(len(hosts), np.int64), 2)
        when = np.concatenate((np.array(self._starts)[kept], np.array(self._ends)[kept]))
        change = np.repeat([1, -1], len(when) // 2)
        order = np.lexsort((change, when, where))
        return int(np.cumsum(change[order]).max())


class ClusterInference:
    """Hears of attempts, and tells what cluster they ran on."""

    def __init__(self, hosts: HostNames, remarks: Remarks) -> None:
        self._hosts = hosts
        self._remarks = remarks
        self._spans = {kind: _Spans() for kind in KINDS}

    def note_attempt(self, kind: SlotKind, attempt: HistoryAttempt) -> None:
        """An attempt took a slot, however it ended; nothing if it is not known when."""
        if attempt.start_ms is None or attempt.finish_ms is None:
            return
        if attempt.finish_ms > attempt.start_ms:
            succeeded = attempt.ending == "succeeded"
            span = attempt.host, attempt.start_ms, attempt.finish_ms
            self._spans[kind].add_span(*span, succeeded=succeeded)

    def cluster(self, stated: StatedCluster | None, source: str) -> RecordedCluster:
        """The cluster; ScenarioError where it is too large for a simulation."""
        names, racks = self._hosts.names, self._rack_of_each_host()
        order, round_robin = _node_order(names, racks)
        renumbered = np.empty(len(names), dtype=np.int32)
        renumbered[order] = np.arange(len(names), dtype=np.int32)
        sizes = tuple(np.bincount(racks).tolist()) if names else ()
        nodes, slots = len(names), self._slots_by_host()
        if not nodes:
            nodes, slots = self._nodes_without_hosts(stated)
            sizes = (nodes,)
        if nodes > NODES_MAX:
            problem = f"{nodes:,} hosts; a cluster may have {NODES_MAX:,}"
            raise ScenarioError(f"{problem}; import a part of the files", source=source)
        sorted_names = tuple(names[host] for host in order.tolist())
        kept = (nodes, sorted_names, sizes, renumbered, racks)
        return RecordedCluster(*kept, *slots, round_robin)

    def _rack_of_each_host(self) -> NDArray[np.int32]:
        """The rack of each host, racks numbered in the order of their names."""
        names = self._hosts.racks
        unknown = sum(not rack for rack in names)
        if names:
            note = "hosts: all that the files name"
            self._remarks.add("inferred", note, count=len(names))
        note = "hosts of which no rack is told: put into one rack"
        self._remarks.add("guessed", note, count=unknown)
        numbers = {
            rack: number for number, rack in enumerate(sorted(set(names), key=_rack_sort_key))
        }
        return np.array([numbers[rack] for rack in names], dtype=np.int32)

    def _slots_by_host(self) -> tuple[int, int]:
        return self._slots_of_kind(MAP), self._slots_of_kind(REDUCE)

    def _slots_of_kind(self, kind: SlotKind) -> int:
        most = min(self._spans[kind].most_at_once(by_host=True), SLOTS_MAX)
        name = _NAMES[kind]
        if self._hosts.names and most:
            ran = f"so many {name}s that succeeded ran at once on a host, at least"
            what = f"{name} slots a node: {ran}"
            self._remarks.add("inferred", what, count=most)
        elif self._hosts.names:
            what = f"{name} slots a node: no {name} that succeeded tells"
            self._remarks.add("guessed", what, count=GUESSED_SLOTS)
        return most or GUESSED_SLOTS

    def _nodes_without_hosts(self, stated: StatedCluster | None) -> tuple[int, tuple[int, int]]:
        if stated is not None:
            self._remarks.add(stated.fate, f"nodes: {stated.words}", count=stated.nodes)
            return stated.nodes, (stated.map_slots, stated.reduce_slots)
        most = [self._spans[kind].most_at_once(by_host=False) for kind in KINDS]
        if not any(most):
            what = "nodes of two slots a kind: nothing tells how many"
            self._remarks.add("guessed", what, count=GUESSED_NODES)
            return GUESSED_NODES, (GUESSED_SLOTS, GUESSED_SLOTS)
        per_node = max(GUESSED_SLOTS, -(-max(most) // NODES_MAX))
        nodes = -(-max(most) // per_node)
        what = f"nodes of {per_node} slots a kind: {count(max(most), 'task')} ran at once at most"
        self._remarks.add("guessed", what, count=nodes)
        return nodes, (per_node, per_node)


def _node_order(names: Sequence[str], racks: NDArray[np.int32]) -> tuple[NDArray[np.int32], bool]:
    """The hosts in the order of the nodes, however the files order them; and whether
    their names go round the racks.
    """
    by_name = sorted(range(len(names)), key=lambda host: _natural_sort_key(names[host]))
    order = np.array(by_name, dtype=np.int32)
    number = int(racks.max(initial=0)) + 1
    round_robin = 1 < number < len(names) and bool(
        (racks[order] == np.arange(len(names)) % number).all()
    )
    if not round_robin:
        order = order[np.argsort(racks[order], kind="stable")]
    return order, round_robin


def _natural_sort_key(name: str) -> list[tuple[int, int, str]]:
    """Sorts as people do: node-9 before node-10."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(1, int(part), part) if part.isdigit() else (0, 0, part) for part in parts]


def _rack_sort_key(rack: str) -> tuple[bool, list[tuple[int, int, str]]]:
    """By name, and the one of hosts whose rack is not told last."""
    return not rack, _natural_sort_key(rack)
