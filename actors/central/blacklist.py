"""The list of bad nodes across jobs: Hadoop's JobTracker.FaultyTrackersInfo.

A job that succeeds although it had come to blacklist a node counts one fault of the node. A node
with many faults of late, and many more than others, is listed, unless half of the cluster is, until
its faults are long ago or its machine has started again (markTrackerHealthy). What being listed
means depends on the version of Hadoop (`actors.config.Profile`).
"""

from callboard.scheduler.model import Millis, NodeId

# Under mapred.jobtracker.blacklist are fault-bucket-width and fault-timeout-window, 180 minutes.
BUCKET_MS: Millis = 15 * 60_000
BUCKETS = 12
BLACKLISTS_MAX = 4  # mapred.max.tracker.blacklists: a node with that many faults may be blacklisted
ABOVE_AVERAGE = 1.5  # 1 + AVERAGE_BLACKLIST_THRESHOLD: it must have more than so often the mean
BLACKLISTED_SHARE = 0.5  # MAX_BLACKLIST_PERCENT: with so much of the cluster, no other node is


class NodeBlacklist:
    """Which nodes had faults when, and which are blacklisted for it."""

    def __init__(self) -> None:
        self.blacklisted: dict[NodeId, None] = {}
        self._faults: dict[NodeId, list[int]] = {}

    def add(self, node: NodeId, now_ms: Millis) -> None:
        self._faults.setdefault(node, []).append(now_ms // BUCKET_MS)

    def faults(self, node: NodeId, now_ms: Millis) -> int:
        """How many of a node's faults still count."""
        oldest = now_ms // BUCKET_MS - BUCKETS
        return sum(bucket > oldest for bucket in self._faults.get(node, ()))

    def exceeds(self, node: NodeId, now_ms: Millis, nodes: int) -> bool:
        """Whether a node should be blacklisted, in a cluster of `nodes`."""
        faults = self.faults(node, now_ms)
        if faults < BLACKLISTS_MAX or len(self.blacklisted) >= BLACKLISTED_SHARE * nodes:
            return False
        every = sum(self.faults(each, now_ms) for each in self._faults)
        return faults * nodes > ABOVE_AVERAGE * every

    def expires_ms(self, node: NodeId) -> Millis:
        """When enough of a node's faults will have expired to take it off the list."""
        return (sorted(self._faults[node])[-BLACKLISTS_MAX] + BUCKETS) * BUCKET_MS

    def clear(self, node: NodeId) -> None:
        self._faults.pop(node, None)
        self.blacklisted.pop(node, None)
