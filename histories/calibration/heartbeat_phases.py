"""When nodes' heartbeats come, by the starts on them.

A node is given tasks only by heartbeats, so that its starts are whole rounds apart: the remainders
of a node's starts are one, and that is its phase.  Where they are not, as with heartbeats out of
band, another round, or clocks that drift by much, there is no phase to be told.
"""

from math import pi

import numpy as np
from numpy.typing import NDArray

from callboard.histories.model.attempt_log import UNTOLD, AttemptLog
from callboard.scheduler.model import Millis

_FEWEST = 20  # starts beyond the first of each node
_TOGETHER = 0.9  # the mean's length of the points on the circle, of 1


def node_phases(
    log: AttemptLog, begin_ms: Millis, *, nodes: int, round_ms: Millis, latency_ms: Millis
) -> tuple[Millis, ...]:
    """When the first heartbeat of each node is due, from `begin_ms` of the log's clock on, given
    that one comes every `round_ms`; -1 for a node without a start, empty where starts keep to no
    such grid.  A start is a way there and back after its heartbeat.
    """
    told = (log.begin_ms != UNTOLD) & (log.host >= 0) & (log.host < nodes)
    hosts, starts = log.host[told], log.begin_ms[told] - begin_ms - 2 * latency_ms
    if len(starts) - len(np.unique(hosts)) < _FEWEST:
        return ()
    around = np.exp(2j * pi / round_ms * (starts % round_ms))
    means = np.zeros(nodes, np.complex128)
    np.add.at(means, hosts, around)
    if float(np.abs(means).sum()) < _TOGETHER * len(starts):
        return ()
    return tuple(_usual_phases(hosts, starts % round_ms, nodes))


def _usual_phases(hosts: NDArray[np.int64], rests: NDArray[np.int64], nodes: int) -> list[Millis]:
    """The most frequent remainder of each host's, the least of equally frequent ones."""
    pairs, often = np.unique(np.stack((hosts, rests)), axis=1, return_counts=True)
    phases = np.full(nodes, -1)
    order = np.lexsort((-pairs[1], often, pairs[0]))  # the last of each host counts
    phases[pairs[0][order]] = pairs[1][order]
    found: list[Millis] = phases.tolist()
    return found
