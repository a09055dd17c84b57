"""What decoding cannot check: fields of `[cluster]` together, and with what jobs need."""

from collections.abc import Iterable, Iterator

from callboard.actors.config import NODES_MAX, Cluster
from callboard.actors.job_spec import JobSpec
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError

SLOTS_TOTAL_MAX = 200_000
"""Each is an actor of about 2.5 kB: in all half a gigabyte, and ten seconds to begin."""

NODE_TYPE_LENGTH_MAX = 60  # characters; reasons in the journal quote the name


def check_cluster(cluster: Cluster) -> None:
    """ScenarioError where the cluster is too large, or nothing could ever run."""
    _check_node_type(cluster.node_type, "cluster.node_type")
    for index, group in enumerate(cluster.group):
        _check_node_type(group.node_type, f"cluster.group[{index}].node_type")
    total = cluster.node_count()
    if not 1 <= total <= NODES_MAX:
        expected = f"expected 1 to {NODES_MAX:,} nodes, those of all groups included"
        _refuse_cluster_field(f"{expected}; got {total:,}", "nodes")
    if cluster.topology().racks > total:
        usual = " (unless `racks` says otherwise)" if cluster.racks == Cluster().racks else ""
        problem = (
            f"{cluster.racks:,} racks{usual}, but only {count(total, 'node')} to stand in them"
        )
        _refuse_cluster_field(f"{problem}; take fewer racks or more nodes", "racks")
    if not any(map_slots for map_slots, _ in slots_per_node(cluster)):
        _refuse_cluster_field(
            "no node has a map slot, so no job could run; set it to 1 or more", "map_slots"
        )
    total_slots = slot_count(cluster)
    if total_slots > SLOTS_TOTAL_MAX:
        problem = f"{total_slots:,} map and reduce slots in all; the limit is {SLOTS_TOTAL_MAX:,}"
        _refuse_cluster_field(f"{problem}; take fewer nodes, or fewer slots a node", "nodes")


def check_node_types(cluster: Cluster, named: Iterable[tuple[str, str]]) -> None:
    """ScenarioError for a word on a type that no node has; `named` has (type, key) of each."""
    there = list(dict.fromkeys(group[-1] for group in cluster.groups() if group[0]))
    for kind, key in named:
        if kind not in there:
            known = [f'"{each}"' for each in there]
            has = "all are of the type" if len(known) == 1 else "there are"
            problem = f'no node is of the type "{kind}"; {has} {", ".join(known)}'
            raise ScenarioError(problem, key=key)


def check_expiry(cluster: Cluster) -> None:
    """ScenarioError where healthy nodes would be given up for lost between two heartbeats."""
    round_ms = cluster.longest_heartbeat_cycle_ms()
    if cluster.heartbeat.expiry_ms < 2 * round_ms:
        problem = f"heartbeats come every {round_ms:,} ms, so healthy nodes would be given up"
        _refuse_cluster_field(
            f"{problem}; set it to {2 * round_ms:,} or more", "heartbeat.expiry_ms"
        )


def check_constraints(cluster: Cluster, jobs: Iterable[JobSpec]) -> None:
    """ScenarioError where no node on which alone a job may run has slots for its tasks."""
    for job in jobs:
        if not job.only_on:
            continue
        slots = [group[1:3] for group in cluster.groups() if group[0] and group[-1] in job.only_on]
        for kind, tasks in enumerate((job.maps, job.reduces)):
            if tasks and not any(each[kind] for each in slots):
                what = ("map", "reduce")[kind]
                problem = f'no node on which job "{job.name}" may run has a {what} slot'
                _refuse_cluster_field(f"{problem}; set it to 1 or more there", f"{what}_slots")


def check_slots(cluster: Cluster, jobs: Iterable[JobSpec]) -> None:
    """ScenarioError where a job has reduces and no node a reduce slot."""
    if any(reduce_slots for _, reduce_slots in slots_per_node(cluster)):
        return
    for job in jobs:
        if job.reduces:
            problem = f'no node has a reduce slot, but job "{job.name}" has reduces'
            _refuse_cluster_field(f"{problem}; set it to 1 or more", "reduce_slots")


def check_demands(cluster: Cluster, jobs: Iterable[JobSpec]) -> None:
    """ScenarioError where tasks take more of a resource than any node has."""
    most: dict[str, int] = {}
    for nodes, amounts in cluster.group_capacities():
        for name, amount in amounts.items() if nodes else ():
            most[name] = max(amount, most.get(name, 0))
    for job in jobs:
        for name, amount in (each for demand in job.demands for each in demand):
            if amount > most.get(name, 0):
                has = f"no node has more than {most[name]:,}" if name in most else "no node has any"
                problem = f'a task of job "{job.name}" takes {amount:,} of "{name}", but {has}'
                _refuse_cluster_field(f"{problem}; set `{name}` there", "capacity")


def slot_count(cluster: Cluster) -> int:
    """All slots of both kinds."""
    return sum(nodes * (maps + reduces) for nodes, maps, reduces, *_ in cluster.groups())


def slots_per_node(cluster: Cluster) -> Iterator[tuple[int, int]]:
    """(map slots, reduce slots) of one node of the plain ones, and of each group."""
    return ((group[1], group[2]) for group in cluster.groups() if group[0])


def _check_node_type(kind: str, key: str) -> None:
    if len(kind) > NODE_TYPE_LENGTH_MAX or not kind.isprintable():
        problem = f"expected at most {NODE_TYPE_LENGTH_MAX} printable characters"
        raise ScenarioError(problem, key=key)


def _refuse_cluster_field(problem: str, name: str) -> None:
    raise ScenarioError(problem, key=f"cluster.{name}")
