"""When nodes' heartbeats come is told by the starts on them, or is not told."""

import numpy as np

from callboard.histories.calibration.heartbeat_phases import node_phases
from callboard.histories.model.attempt_log import AttemptLog
from tests.histories.calibration.test_calibrate import log_of

ROUND_MS = 3002


def phases(log: AttemptLog) -> tuple[int, ...]:
    return node_phases(log, 500, nodes=4, round_ms=ROUND_MS, latency_ms=1)


def starts(scatter_ms: int) -> AttemptLog:
    """Ten starts on each of three nodes, at 17, 900 and 3,001 ms of a round, and none on node 3."""
    hosts = np.repeat(np.arange(3), 10)
    late = np.random.default_rng(3).integers(0, scatter_ms + 1, len(hosts))
    of_node = np.array([17, 900, 3001])[hosts]
    begins = 500 + 2 + of_node + np.tile(np.arange(10), 3) ** 2 * ROUND_MS + late
    return log_of(begins, np.full(30, 5000), hosts, hosts * 0)


def test_the_phase_of_a_node_is_the_remainder_of_its_starts() -> None:
    """A way there and back before the start, by the time since the first submission."""
    assert phases(starts(0)) == (17, 900, 3001, -1)


def test_starts_that_are_scattered_over_the_round_tell_no_phase() -> None:
    assert phases(starts(3000)) == ()


def test_a_few_starts_tell_no_phase() -> None:
    """Each alone keeps to any grid."""
    hosts = np.arange(4)
    assert phases(log_of(hosts * 777, np.full(4, 5000), hosts, hosts * 0)) == ()
