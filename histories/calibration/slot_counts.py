"""Slots a node, and block replicas.

What ran at once is a lower bound.  It is the number itself where nodes were full: where a task
ended on a node that ran that many, and another began there soon, as work that waits does.
"""

from typing import NamedTuple

import numpy as np

from callboard.histories.calibration.estimate import Estimate, HistoryFinding, Untold
from callboard.histories.model.attempt_log import SUCCEEDED, AttemptLog, IntColumn
from callboard.scheduler.model import MAP, REDUCE

_NAMES = {MAP: "map slots a node", REDUCE: "reduce slots a node"}
_FIELDS = {MAP: "cluster.map_slots", REDUCE: "cluster.reduce_slots"}
_REFILLS = 8  # so often a node was full again at once: then more slots would have been used
_SOON_PERIODS = 2.5


class NodePeak(NamedTuple):
    """The most that ran at once on any node, on how many nodes, and how often one that was so full
    was again soon after a task had ended there.
    """

    most: int
    nodes: int
    refills: int


def slot_counts(log_: AttemptLog, period_ms: float) -> list[HistoryFinding]:
    """The slots of both kinds."""
    return [_slots_of_kind(log_, kind, period_ms) for kind in (MAP, REDUCE)]


def _slots_of_kind(log_: AttemptLog, kind: int, period_ms: float) -> HistoryFinding:
    kept = log_.placed_rows(kind) & (
        log_.ending == SUCCEEDED
    )  # of others it is told late that they end
    name, field = _NAMES[MAP if kind == MAP else REDUCE], _FIELDS[MAP if kind == MAP else REDUCE]
    if not kept.any():
        return Untold(name, "no such task that succeeded tells where and when it ran")
    peak = node_peak(log_.host[kept], log_.begin_ms[kept], log_.end_ms[kept], period_ms)
    full = peak.refills >= _REFILLS
    where = f"that many ran at once on {peak.nodes:,} of {log_.hosts:,} nodes"
    how = f", and {peak.refills:,} times a next one began as one ended" if full else ", at least"
    high = float(peak.most) if full else None
    return Estimate(name, field, float(peak.most), float(peak.most), high, "", where + how)


def node_peak(hosts: IntColumn, begins: IntColumn, ends: IntColumn, period_ms: float) -> NodePeak:
    """What ran at once on single nodes; what ends makes room at once."""
    rows = len(hosts)
    where, when = np.tile(hosts, 2), np.concatenate((begins, ends))
    change = np.repeat([1, -1], rows)
    order = np.lexsort((change, when, where))
    where, when, change = where[order], when[order], change[order]
    running = np.cumsum(change)
    most = int(running.max())
    full = running == most
    refilled = full[2:] & full[:-2] & (where[2:] == where[:-2])  # full, one less, full again
    soon = when[2:] - when[1:-1] <= _SOON_PERIODS * period_ms
    return NodePeak(most, len(np.unique(where[full])), int((refilled & soon).sum()))


def replication(log_: AttemptLog) -> HistoryFinding:
    """Replicas of a block, by the hosts that maps name as those of their input."""
    maps = log_.kind == MAP
    _, first = np.unique(np.stack((log_.job, log_.task))[:, maps], axis=1, return_index=True)
    held = log_.replicas[maps][first]
    told = held[held > 0]
    if not len(told):
        return Untold("replicas of a block", "no map tells where its input lay")
    counts = np.bincount(told)
    usual = int(counts.argmax())
    of = f"{int(counts[usual]):,} of {len(told):,} maps with an input"
    name, field = "replicas of a block", "cluster.replication"
    return Estimate(name, field, float(usual), float(usual), float(usual), "", of)
