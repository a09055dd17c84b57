"""What a cluster is made of, and which of Hadoop's rules it follows: plain data with defaults.

These are the tables `[cluster]`, `[cluster.heartbeat]` and `[tasks]` of a scenario file.  Every
field has its unit in its name; every default says where it comes from.
"""

from typing import Literal

import msgspec

from callboard.scheduler.model import Locality, Millis

ProfileName = Literal["mr1-1.0", "mr1-1.2.1"]


class Profile(msgspec.Struct, frozen=True):
    """How the master computes the heartbeat interval (rule H1), and whether it takes nodes on the
    list of bad ones out of service (`actors.master.blacklist`), by Hadoop version.

    interval = max(1000 · scale · nodes / heartbeats_per_second, minimum_ms).
    """

    minimum_ms: Millis
    removes_bad_nodes: bool
    heartbeats_per_second: int = 100
    scale: float = 1.0

    def interval_ms(self, nodes: int) -> Millis:
        """The interval that the master returns in every reply to a cluster of `nodes`."""
        return max(round(1000 * self.scale * nodes / self.heartbeats_per_second), self.minimum_ms)


PROFILES: dict[ProfileName, Profile] = {
    "mr1-1.0": Profile(minimum_ms=3000, removes_bad_nodes=True),
    "mr1-1.2.1": Profile(minimum_ms=300, removes_bad_nodes=False),
}
"""MRConstants of Hadoop 0.20 to 1.0 (at least 3 s) and of 1.2.1 (at least 0.3 s); 1.2.1's list of
bad nodes is advice only (graylisting)."""


class Heartbeats(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[cluster.heartbeat]`: when nodes send heartbeats and what one may bring.

    `out_of_band` makes a node send one as soon as an attempt ends (rule H4).  `phase_grid_ms` is
    the grid on which the nodes' first heartbeats are drawn: a coarse one simulates faster.  `send`
    is `needed` to elide the heartbeats that could change nothing, `all` to send every one; both
    give the same journal.  `tasks_per_heartbeat` is Hadoop's assignmultiple.  A node that has been
    silent for longer than `expiry_ms` is given up for lost; the master looks three times in that
    time (rule T1).
    """

    profile: ProfileName = "mr1-1.0"
    interval_ms: Millis | None = None
    out_of_band: bool = False
    phase_grid_ms: Millis = 1
    send: Literal["needed", "all"] = "needed"
    tasks_per_heartbeat: Literal["many", "one"] = "many"
    expiry_ms: Millis = 600_000

    def period_ms(self, nodes: int) -> Millis:
        """The interval in force: the stated one, or the profile's for this many nodes."""
        if self.interval_ms is not None:
            return self.interval_ms
        return PROFILES[self.profile].interval_ms(nodes)


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[cluster.group]]`: nodes that differ from the rest.  They come after the plain ones.

    `node_type` is a name by which jobs say how long their tasks take there (`JobSpec.factors`).
    """

    nodes: int
    map_slots: int | None = None
    reduce_slots: int | None = None
    speed: float = 1.0
    node_type: str = ""


class Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[cluster]`.  Node n stands in rack n mod `racks`; `node_type` is the plain nodes'.

    Nodes on the list of bad ones are taken out of service (`removed`) or only named (`advisory`);
    unset, as the heartbeats' profile does.
    """

    nodes: int = 100
    racks: int = 4
    map_slots: int = 2
    reduce_slots: int = 2
    speed: float = 1.0
    node_type: str = ""
    latency_ms: Millis = 1
    replication: int = 3
    bad_nodes: Literal["removed", "advisory"] | None = None
    heartbeat: Heartbeats = Heartbeats()
    group: tuple[NodeGroup, ...] = ()

    @property
    def removes_bad_nodes(self) -> bool:
        """Whether nodes on the list of bad ones are taken out of service."""
        if self.bad_nodes is not None:
            return self.bad_nodes == "removed"
        return PROFILES[self.heartbeat.profile].removes_bad_nodes


class Tasks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[tasks]`: how long a task takes where it runs, and when reduces may start.

    A map takes nominal × locality factor × the job's factor on the node's type × noise / node
    speed; a reduce's shuffle takes nominal × noise, its rest nominal × the factor × noise / node
    speed.  Noise is log-normal with median 1 and shape `sigma`, drawn once for each task.  Of all
    attempts the share `straggler_share`, drawn for each attempt, works `straggler_factor` times
    as slowly as its node can.  `slowstart` is the share of a job's maps that must have finished
    before its reduces may start (Hadoop: 0.05; the HFSP paper's experiments: 0.80).  An attempt
    that makes no progress for `timeout_ms` is killed and has failed (rule T7); a map that has
    waited for a replica of its input for `input_wait_ms` has failed too.
    """

    sigma: float = 0.0
    rack_factor: float = 1.25
    off_rack_factor: float = 2.0
    slowstart: float = 0.05
    straggler_share: float = 0.0
    straggler_factor: float = 5.0
    timeout_ms: Millis = 600_000
    input_wait_ms: Millis = 600_000

    def locality_factor(self, level: Locality) -> float:
        """By how much a map is longer than a data-local one."""
        return (1.0, self.rack_factor, self.off_rack_factor)[level]
