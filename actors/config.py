"""What a cluster is made of, and which of Hadoop's rules it follows: the tables `[cluster]`,
`[cluster.heartbeat]` and `[tasks]`. The limits, which decoding checks, keep every run finite.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from callboard.actors.topology import Topology
from callboard.scheduler.model import Locality, Millis

NODES_MAX = 20_000
SLOTS_MAX = 255
"""Of one kind on one node."""

_DAY_MS = 86_400_000

_Nodes = Annotated[int, Meta(ge=0, le=NODES_MAX)]
_AtLeastOne = Annotated[int, Meta(ge=1, le=NODES_MAX)]
_Slots = Annotated[int, Meta(ge=0, le=SLOTS_MAX)]
_Factor = Annotated[float, Meta(ge=0.001, le=1000)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Length = Annotated[Millis, Meta(ge=1, le=_DAY_MS)]

ProfileName = Literal["mr1-1.0", "mr1-1.2.1"]


class Profile(msgspec.Struct, frozen=True):
    """Hadoop's shortest heartbeat interval (rule H1), and whether blacklisted nodes are removed."""

    minimum_ms: Millis
    removes_bad_nodes: bool


PROFILES: dict[ProfileName, Profile] = {
    "mr1-1.0": Profile(minimum_ms=3000, removes_bad_nodes=True),
    "mr1-1.2.1": Profile(minimum_ms=300, removes_bad_nodes=False),
}
"""MRConstants of Hadoop 0.20 to 1.0, and of 1.2.1, whose list is only advice (graylisting)."""


class Heartbeats(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[cluster.heartbeat]`: when nodes send heartbeats and what one may bring.

    `out_of_band` makes a node send one as soon as an attempt ends (rule H4).  First heartbeats are
    drawn on a grid of `phase_grid_ms`: a coarse one simulates faster.  `send` elides those that
    could change nothing (`needed`) or none; both give the same journal.  `tasks_per_heartbeat` is
    Hadoop's assignmultiple.  A node silent for longer than `expiry_ms` is given up; the master
    looks three times in that time (rule T1).
    """

    profile: ProfileName = "mr1-1.0"
    interval_ms: _Length | None = None
    out_of_band: bool = False
    phase_grid_ms: _Length = 1
    send: Literal["needed", "all"] = "needed"
    tasks_per_heartbeat: Literal["many", "one"] = "many"
    expiry_ms: Annotated[Millis, Meta(ge=3, le=_DAY_MS)] = 600_000

    def period_ms(self, nodes: int) -> Millis:
        """The interval that the master returns in every reply to a cluster of this many nodes: the
        stated one, or 100 heartbeats a second, but not less than the profile's minimum (rule H1).
        """
        if self.interval_ms is not None:
            return self.interval_ms
        return max(10 * nodes, PROFILES[self.profile].minimum_ms)


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[cluster.group]]` of unlike nodes; jobs name its `node_type` (`JobSpec.factors`)."""

    nodes: _AtLeastOne
    map_slots: _Slots | None = None
    reduce_slots: _Slots | None = None
    speed: _Factor = 1.0
    node_type: str = ""


class Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[cluster]`.  Node n stands in rack n mod `racks`, unless `rack_sizes` says how
    many nodes each rack has (see `topology`); `node_type` is the plain nodes'.  Bad
    nodes are taken out of service (`removed`) or only named; unset, as in the profile.
    """

    nodes: _Nodes = 100
    racks: _AtLeastOne = 4
    rack_sizes: tuple[_AtLeastOne, ...] | None = None
    map_slots: _Slots = 2
    reduce_slots: _Slots = 2
    speed: _Factor = 1.0
    node_type: str = ""
    latency_ms: Annotated[Millis, Meta(ge=0, le=600_000)] = 1
    replication: Annotated[int, Meta(ge=1, le=512)] = 3
    bad_nodes: Literal["removed", "advisory"] | None = None
    heartbeat: Heartbeats = Heartbeats()
    group: tuple[NodeGroup, ...] = ()

    @property
    def removes_bad_nodes(self) -> bool:
        """Whether blacklisted nodes are taken out of service."""
        if self.bad_nodes is not None:
            return self.bad_nodes == "removed"
        return PROFILES[self.heartbeat.profile].removes_bad_nodes

    def groups(self) -> Iterator[tuple[int, int, int, float, str]]:
        """(nodes, map slots, reduce slots, speed, node type) of the plain nodes and each group."""
        maps, reduces = self.map_slots, self.reduce_slots
        yield self.nodes, maps, reduces, self.speed, self.node_type
        for group in self.group:
            own_maps = maps if group.map_slots is None else group.map_slots
            own_reduces = reduces if group.reduce_slots is None else group.reduce_slots
            yield group.nodes, own_maps, own_reduces, group.speed, group.node_type

    def topology(self) -> Topology:
        """Who stands in which rack: by `rack_sizes`, if they fit the nodes and the racks.  On
        another number of nodes the racks keep their mean size, and there are fewer or more.
        """
        sizes, nodes = self.rack_sizes or (), self.node_count()
        if len(sizes) != self.racks:
            return Topology(self.racks)
        if sum(sizes) == nodes:
            return Topology(self.racks, sizes)
        return Topology(max(1, -(-nodes * len(sizes) // sum(sizes))))

    def node_count(self) -> int:
        """The plain nodes and those of the groups."""
        return sum(group[0] for group in self.groups())

    def round_ms(self) -> Millis:
        """From one heartbeat of a node to its next: the interval, and the way there and back."""
        return self.heartbeat.period_ms(self.node_count()) + 2 * self.latency_ms


class Tasks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[tasks]`: how long a task takes where it runs, and when reduces may start.

    A map takes nominal × locality factor × the job's factor on the node's type × noise / node
    speed; a reduce's shuffle nominal × noise, its rest nominal × the factor × noise / node speed.
    Noise is log-normal with median 1 and shape `sigma`, drawn once a task; of attempts a drawn
    share works `straggler_factor` times as slowly.  `slowstart` is the share of a job's maps that
    must have finished before its reduces may start (Hadoop: 0.05; HFSP's experiments: 0.80).  An
    attempt has failed that makes no progress for `timeout_ms` (rule T7), a map that waits so long
    for its input.
    """

    sigma: Annotated[float, Meta(ge=0, le=5)] = 0.0
    rack_factor: _Factor = 1.25
    off_rack_factor: _Factor = 2.0
    slowstart: _Share = 0.05
    straggler_share: _Share = 0.0
    straggler_factor: Annotated[float, Meta(ge=1, le=1000)] = 5.0
    timeout_ms: _Length = 600_000
    input_wait_ms: Annotated[Millis, Meta(ge=0, le=_DAY_MS)] = 600_000

    def locality_factor(self, level: Locality) -> float:
        """By how much a map is longer than a data-local one."""
        return (1.0, self.rack_factor, self.off_rack_factor)[level]
