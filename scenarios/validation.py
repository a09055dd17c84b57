"""What decoding cannot check: limits of the tables `[cluster]` and `[tasks]`, and fields together.

The limits keep a slip of the pen from eating the machine's memory, and every run finite.
"""

from collections.abc import Iterable, Iterator

import msgspec

from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.scenarios.scenario_error import ScenarioError

NODES_MAX = 20_000
SLOTS_MAX = 255
"""Of one kind on one node."""

SLOTS_TOTAL_MAX = 200_000
"""Of both kinds in the whole cluster.

Each is an actor with a mailbox and a Trio task, about 2.5 kB: so many are half a gigabyte and take
ten seconds to begin.  More would fill a machine before the first job comes.
"""

NODE_TYPE_LENGTH_MAX = 60
"""Characters of the name of a kind of node; reasons in the journal quote it."""

_DAY_MS = 86_400_000
_FACTOR = (0.001, 1000.0)

_CLUSTER: dict[str, tuple[float, float]] = {
    "nodes": (0, NODES_MAX),
    "racks": (1, NODES_MAX),
    "map_slots": (0, SLOTS_MAX),
    "reduce_slots": (0, SLOTS_MAX),
    "speed": _FACTOR,
    "latency_ms": (0, 600_000),
    "replication": (1, 512),
}
_HEARTBEAT: dict[str, tuple[float, float]] = {
    "interval_ms": (1, _DAY_MS),
    "expiry_ms": (3, _DAY_MS),
    "phase_grid_ms": (1, _DAY_MS),
}
_GROUP: dict[str, tuple[float, float]] = {
    "nodes": (1, NODES_MAX),
    "map_slots": (0, SLOTS_MAX),
    "reduce_slots": (0, SLOTS_MAX),
    "speed": _FACTOR,
}
_TASKS: dict[str, tuple[float, float]] = {
    "sigma": (0, 5),
    "rack_factor": _FACTOR,
    "off_rack_factor": _FACTOR,
    "slowstart": (0, 1),
    "straggler_share": (0, 1),
    "straggler_factor": (1, 1000),
    "timeout_ms": (1, _DAY_MS),
    "input_wait_ms": (0, _DAY_MS),
}


def check_cluster(cluster: Cluster) -> None:
    """ScenarioError where a number is out of its limits, or nothing could ever run."""
    _check_limits(cluster, _CLUSTER, "cluster")
    _check_node_type(cluster.node_type, "cluster.node_type")
    _check_limits(cluster.heartbeat, _HEARTBEAT, "cluster.heartbeat")
    for index, group in enumerate(cluster.group):
        _check_limits(group, _GROUP, f"cluster.group[{index}]")
        _check_node_type(group.node_type, f"cluster.group[{index}].node_type")
    total = node_count(cluster)
    if not 1 <= total <= NODES_MAX:
        expected = f"expected 1 to {NODES_MAX:,} nodes, those of all groups included"
        _refuse(f"{expected}; got {total:,}", "nodes")
    if cluster.racks > total:
        problem = f"{cluster.racks:,} racks, but only {total:,} nodes to stand in them"
        _refuse(f"{problem}; take fewer racks or more nodes", "racks")
    if not any(map_slots for map_slots, _ in slots_per_node(cluster)):
        _refuse("no node has a map slot, so no job could run; set it to 1 or more", "map_slots")
    total_slots = slot_count(cluster)
    if total_slots > SLOTS_TOTAL_MAX:
        problem = f"{total_slots:,} map and reduce slots in all; the limit is {SLOTS_TOTAL_MAX:,}"
        _refuse(f"{problem}; take fewer nodes, or fewer slots a node", "nodes")


def check_node_types(cluster: Cluster, named: Iterable[tuple[str, str]]) -> None:
    """ScenarioError for a factor on a type that no node has; `named` are (type, key) of each."""
    there = list(dict.fromkeys(kind for kind, nodes in _node_types(cluster) if nodes))
    for kind, key in named:
        if kind not in there:
            known = [f'"{each}"' for each in there]
            has = "all are of the type" if len(known) == 1 else "there are"
            problem = f'no node is of the type "{kind}"; {has} {", ".join(known)}'
            raise ScenarioError(problem, key=key)


def check_expiry(cluster: Cluster) -> None:
    """ScenarioError where healthy nodes would be given up for lost between two beats."""
    beats = cluster.heartbeat
    period_ms = beats.period_ms(node_count(cluster)) + 2 * cluster.latency_ms
    if beats.expiry_ms < 2 * period_ms:
        problem = f"nodes beat every {period_ms:,} ms, so healthy ones would be given up for lost"
        raise ScenarioError(
            f"{problem}; set it to {2 * period_ms:,} or more", key="cluster.heartbeat.expiry_ms"
        )


def check_tasks(tasks: Tasks) -> None:
    """ScenarioError where a number is out of its limits."""
    _check_limits(tasks, _TASKS, "tasks")


def check_slots(cluster: Cluster, jobs: Iterable[JobSpec]) -> None:
    """ScenarioError where a job has reduces and no node a reduce slot."""
    if any(reduce_slots for _, reduce_slots in slots_per_node(cluster)):
        return
    for job in jobs:
        if job.reduces:
            problem = f'no node has a reduce slot, but job "{job.name}" has reduces'
            _refuse(f"{problem}; set it to 1 or more", "reduce_slots")


def node_count(cluster: Cluster) -> int:
    """The plain nodes and those of the groups."""
    return cluster.nodes + sum(group.nodes for group in cluster.group)


def slot_count(cluster: Cluster) -> int:
    """All slots of both kinds."""
    return sum(nodes * (maps + reduces) for nodes, maps, reduces in _slot_groups(cluster))


def slots_per_node(cluster: Cluster) -> Iterator[tuple[int, int]]:
    """(map slots, reduce slots) of one node of each sort that there is."""
    return ((maps, reduces) for _, maps, reduces in _slot_groups(cluster))


def _slot_groups(cluster: Cluster) -> Iterator[tuple[int, int, int]]:
    """(nodes, map slots, reduce slots) of each sort of node that there is."""
    if cluster.nodes:
        yield cluster.nodes, cluster.map_slots, cluster.reduce_slots
    for group in cluster.group:
        yield (
            group.nodes,
            _or_default(group.map_slots, cluster.map_slots),
            _or_default(group.reduce_slots, cluster.reduce_slots),
        )


def _node_types(cluster: Cluster) -> Iterator[tuple[str, int]]:
    """(kind, nodes) of the plain nodes and of each group."""
    yield cluster.node_type, cluster.nodes
    for group in cluster.group:
        yield group.node_type, group.nodes


def _or_default(slots_of_group: int | None, slots_of_cluster: int) -> int:
    return slots_of_cluster if slots_of_group is None else slots_of_group


def _check_limits(
    table: Cluster | NodeGroup | Tasks | msgspec.Struct,
    limits: dict[str, tuple[float, float]],
    place: str,
) -> None:
    for name, (low, high) in limits.items():
        value = getattr(table, name)
        if value is not None and not low <= value <= high:
            problem = f"expected a number from {low:,g} to {high:,.15g}, got {_short(value)}"
            raise ScenarioError(problem, key=f"{place}.{name}")


def _check_node_type(kind: str, key: str) -> None:
    if len(kind) > NODE_TYPE_LENGTH_MAX or not kind.isprintable():
        raise ScenarioError(
            f"expected at most {NODE_TYPE_LENGTH_MAX} printable characters", key=key
        )


def _short(value: float) -> str:
    """The number, unless it is so long that nobody would read it (or Python print it)."""
    return f"{value:,}" if abs(value) < 10**30 else "far more digits"


def _refuse(problem: str, name: str) -> None:
    raise ScenarioError(problem, key=f"cluster.{name}")
