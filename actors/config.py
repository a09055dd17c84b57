"""What a cluster is made of, and which of Hadoop's rules it follows: the tables `[cluster]`,
`[cluster.heartbeat]` and `[tasks]`. The limits, which decoding checks, keep every run finite.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from callboard.actors.topology import Topology
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import Locality, Millis, NodeId
from callboard.scheduler.resources import Dimensions, Vector

NODES_MAX = 20_000
SLOTS_MAX = 255
"""Of one kind on one node."""

JOBS_MAX = 1_000_000
TASKS_MAX = 2_000_000
"""Maps, and reduces, of one job: 110 bytes of each in the master are a quarter of a gigabyte."""

SECONDS_MAX = 100_000_000.0  # three years: longer is a mistake, and the clock stays 64-bit

ATTEMPTS_MAX = 4
"""So many failures of a task end its job, unless that says less (mapred.*.max.attempts)."""

AMOUNT_MAX = 10**15
"""Of any resource on one node: those of all nodes together are 64-bit numbers."""

_DAY_MS = 86_400_000

_Nodes = Annotated[int, Meta(ge=0, le=NODES_MAX)]
_AtLeastOne = Annotated[int, Meta(ge=1, le=NODES_MAX)]
_Slots = Annotated[int, Meta(ge=0, le=SLOTS_MAX)]
_Factor = Annotated[float, Meta(ge=0.001, le=1000)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Length = Annotated[Millis, Meta(ge=1, le=_DAY_MS)]
_Phase = Annotated[Millis, Meta(ge=-1, le=_DAY_MS)]

_Name = Annotated[str, Meta(min_length=1, max_length=60)]
_Capacity = dict[_Name, Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]]

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
    """The table `[cluster.heartbeat]`: when nodes send heartbeats and what one may bring."""

    profile: ProfileName = "mr1-1.0"
    """Hadoop's rule for the interval: at least 3 s (`mr1-1.0`) or 0.3 s (`mr1-1.2.1`), both 10 ms a
    node on large clusters (rule H1); and for bad nodes.
    """
    interval_ms: _Length | None = None
    """A stated interval instead of the profile's."""
    out_of_band: bool = False
    """Whether a node sends a heartbeat as soon as an attempt ends (rule H4)."""
    phase_grid_ms: _Length = 1
    """The grid on which nodes' first heartbeats are drawn; a coarse one simulates faster."""
    phases_ms: tuple[_Phase, ...] = ()
    """When each node's first heartbeat is due, as a history tells it; -1, or no number: drawn."""
    send: Literal["needed", "all"] = "needed"
    """Whether heartbeats are elided that could change nothing (`needed`), or none; both give the
    same journal.
    """
    thinking_ms: Annotated[Millis, Meta(ge=0, le=60_000)] = 0
    """How long the master thinks about each heartbeat before it answers; others queue meanwhile."""
    tasks_per_heartbeat: Literal["many", "one"] = "many"
    """Whether a heartbeat brings as many tasks as fit, or one (Hadoop's assignmultiple)."""
    expiry_ms: Annotated[Millis, Meta(ge=3, le=_DAY_MS)] = 600_000
    """A node silent for longer is given up for lost; the master looks three times in that time
    (rule T1).  With a timeline at least two heartbeats.
    """

    def period_ms(self, nodes: int) -> Millis:
        """The interval that the master returns in every reply to a cluster of this many nodes: the
        stated one, or 100 heartbeats a second, but not less than the profile's minimum (rule H1).
        """
        if self.interval_ms is not None:
            return self.interval_ms
        return max(10 * nodes, PROFILES[self.profile].minimum_ms)

    def stated_phase_ms(self, node: NodeId, round_ms: Millis) -> Millis | None:
        """When a node's first heartbeat is due within a round; None where that is drawn."""
        stated = self.phases_ms[node] if node < len(self.phases_ms) else -1
        return None if stated < 0 else stated % round_ms


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[cluster.group]]` of unlike nodes, numbered after the plain ones, group by group."""

    nodes: _AtLeastOne
    """How many."""
    map_slots: _Slots | None = None
    """Of one of these nodes; unset, the cluster's."""
    reduce_slots: _Slots | None = None
    """Of one of these nodes; unset, the cluster's."""
    speed: _Factor = 1.0
    """Of one of these nodes."""
    node_type: str = ""
    """What jobs' factors (`on`) speak of; groups may share one."""
    capacity: _Capacity | None = None
    """Of one of these nodes; unset, the cluster's."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[cluster]`: how many nodes there are, and what each is like."""

    nodes: _Nodes = 100
    """Plain nodes; with those of the groups at least 1, and at most as many."""
    racks: _AtLeastOne = 4
    """Node n stands in rack n mod `racks`; unset, as many as `rack_sizes` has."""
    rack_sizes: tuple[_AtLeastOne, ...] | None = None
    """How many nodes each rack has, the first nodes in rack 0, and so on.  On another number of
    nodes the racks keep their mean size; where `racks` says another number it does not count.
    """
    map_slots: _Slots = 2
    """Of a plain node; there must be a map slot somewhere."""
    reduce_slots: _Slots = 2
    """Of a plain node; there must be a reduce slot somewhere if any job has reduces."""
    speed: _Factor = 1.0
    """Of a plain node: tasks take their time divided by it."""
    node_type: str = ""
    """Of a plain node: a name that jobs' factors (`on`) speak of."""
    capacity: _Capacity | None = None
    """What a plain node has besides slots, by name, in whole amounts of any unit: `{cpu = 4000,
    memory = 16384}`.  Only architectures that place by resources go by it; all others go by slots.
    """
    latency_ms: Annotated[Millis, Meta(ge=0, le=600_000)] = 1
    """One way of a message between two machines."""
    replication: Annotated[int, Meta(ge=1, le=512)] = 3
    """Copies of a block; the default is HDFS's."""
    bad_nodes: Literal["removed", "advisory"] | None = None
    """What becomes of a node that many jobs had to shun: taken out of service (`removed`) or only
    named; unset, as in the heartbeat's profile.
    """
    heartbeat: Heartbeats = Heartbeats()
    """When nodes report to the master."""
    group: tuple[NodeGroup, ...] = ()
    """Nodes that differ from the plain ones."""

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

    def group_capacities(self) -> Iterator[tuple[int, dict[str, int]]]:
        """(nodes, what one has besides slots) of the plain nodes and each group."""
        plain = self.capacity or {}
        yield self.nodes, plain
        for group in self.group:
            yield group.nodes, plain if group.capacity is None else group.capacity

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

    def total_map_speed(self) -> float:
        """How many seconds of maps all map slots do in a second."""
        return sum(nodes * maps * speed for nodes, maps, _, speed, _ in self.groups())

    def node_count(self) -> int:
        """The plain nodes and those of the groups."""
        return sum(group[0] for group in self.groups())

    def period_ms(self) -> Millis:
        """The interval that the master returns to so many nodes (rule H1)."""
        return self.heartbeat.period_ms(self.node_count())

    def heartbeat_cycle_ms(self) -> Millis:
        """From one heartbeat of a node to its next: the interval, the way there and back, and the
        master's thought about it.
        """
        return self.period_ms() + 2 * self.latency_ms + self.heartbeat.thinking_ms

    def longest_heartbeat_cycle_ms(self) -> Millis:
        """The same where the master thinks about those of all other nodes first."""
        return self.heartbeat_cycle_ms() + (self.node_count() - 1) * self.heartbeat.thinking_ms


class Tasks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[tasks]`: how long a task takes where it runs, and when reduces may start.

    A map takes nominal × locality factor × the job's factor on the node's type × noise / node
    speed; a reduce's shuffle nominal × noise, its rest nominal × the factor × noise / node speed.
    """

    sigma: Annotated[float, Meta(ge=0, le=5)] = 0.0
    """Shape of the log-normal noise, of median 1, by which each task's time differs from its job's;
    drawn once a task, so that each of its attempts is as long.
    """
    rack_factor: _Factor = 1.25
    """How much longer a map takes whose input is on another node of the rack."""
    off_rack_factor: _Factor = 2.0
    """How much longer a map takes whose input is in another rack."""
    slowstart: _Share = 0.05
    """The share of a job's maps that must have ended before its reduces may start (Hadoop: 0.05;
    HFSP's experiments: 0.80).
    """
    straggler_share: _Share = 0.0
    """The share of all attempts that go badly, drawn for each attempt."""
    straggler_factor: Annotated[float, Meta(ge=1, le=1000)] = 5.0
    """How many times as slowly such an attempt works as its node can: a map, or a reduce after its
    shuffle.
    """
    timeout_ms: _Length = 600_000
    """An attempt that makes no progress for so long is killed and has failed (rule T7; Hadoop's
    `mapred.task.timeout`).
    """
    input_wait_ms: Annotated[Millis, Meta(ge=0, le=_DAY_MS)] = 600_000
    """A map of whose input no replica is on a machine that is up waits in its slot for so long, and
    then has failed.
    """

    def locality_factor(self, level: Locality) -> float:
        """By how much a map is longer than a data-local one."""
        return (1.0, self.rack_factor, self.off_rack_factor)[level]


def vectors_of_nodes(
    cluster: Cluster, nodes: Iterable[NodeFacts]
) -> tuple[Dimensions, tuple[Vector, ...]]:
    """The dimensions of a cluster, and what each of its nodes has of them."""
    named = sorted({name for _, amounts in cluster.group_capacities() for name in amounts})
    dimensions = Dimensions(tuple(named))
    amounts = (each for count, each in cluster.group_capacities() for _ in range(count))
    slots = ((each.map_slots, each.reduce_slots) for each in nodes)
    return dimensions, tuple(map(dimensions.of_node, slots, amounts))


def node_facts(cluster: Cluster) -> tuple[NodeFacts, ...]:
    """The nodes that a cluster begins with, plain ones first, then group by group."""
    nodes = [group[1:] for group in cluster.groups() for _ in range(group[0])]
    rack_of = cluster.topology().rack_of
    return tuple(NodeFacts(node, rack_of(node), *facts) for node, facts in enumerate(nodes))
