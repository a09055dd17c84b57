"""A run as YARN's Scheduler Load Simulator reads it: jobs of containers, and nodes by rack."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callboard.actors.job_spec import Amounts
from callboard.actors.vocabulary.events import NodeFacts
from callboard.histories.model.cluster_history import HistoryJob
from callboard.histories.played_history import PlayedHistory
from callboard.scheduler.model import MAPS, REDUCES, STAGES, JobId, NodeId, Stage
from callboard.scheduler.text.quantities import count

CONTAINER_MB = 1024
"""A slot is a container of so much memory and one core, where nothing else is stated."""

_NAMES = {"memory": "memory-mb", "vcores": "vcores"}


class ContainerAmounts(NamedTuple):
    """What each job's maps take, and its reduces, and what each node has, by name; nothing of those
    of which it is not stated.
    """

    jobs: Mapping[JobId, tuple[Amounts, Amounts]]
    nodes: Sequence[Mapping[str, int]]

    def of_task(self, job: JobId, stage: Stage) -> dict[str, int]:
        """As a container of SLS states it."""
        stated = dict(self.jobs[job][stage]) if job in self.jobs else {}
        return {
            f"container.{name}": stated[ours] for ours, name in _NAMES.items() if ours in stated
        }

    def of_node(self, node: NodeFacts) -> dict[str, int]:
        """As a node of SLS states it; without any as much as a container a slot takes."""
        slots = node.map_slots + node.reduce_slots
        usual = {"memory-mb": slots * CONTAINER_MB, "vcores": slots}
        stated = self.nodes[node.node] if node.node < len(self.nodes) else {}
        return usual | {name: stated[ours] for ours, name in _NAMES.items() if ours in stated}


NO_AMOUNTS = ContainerAmounts({}, ())

DEFAULT_QUEUE = "default"

_SLOTS = "slots of two kinds: a node has room for as many containers of either"
_SLOTS_BY_AMOUNTS = "slots: a node has room for all containers that its memory and vcores hold"

_TYPES = {MAPS: ("map", 20), REDUCES: ("reduce", 10)}


def sls_jobs(history: PlayedHistory, amounts: ContainerAmounts = NO_AMOUNTS) -> Iterator[str]:
    """The jobs, a JSON object each (`inputsls`)."""
    racks = {node.node: node.rack for node in history.started.nodes}
    for number, job in history.jobs.items():
        containers = list(_job_containers(number, job, racks, amounts))
        yield json.dumps(_sls_job(number, job, containers), indent=2)


def sls_nodes(history: PlayedHistory, amounts: ContainerAmounts = NO_AMOUNTS) -> Iterator[str]:
    """The nodes, a JSON object a rack."""
    racks: dict[int, list[dict[str, object]]] = {}
    for node in history.started.nodes:
        about = {"node": _node_name(node.node), **amounts.of_node(node)}
        racks.setdefault(node.rack, []).append(about)
    for rack, nodes in sorted(racks.items()):
        yield json.dumps({"rack": f"rack-{rack:04}", "nodes": nodes}, indent=2)


def what_sls_cannot_say(
    history: PlayedHistory, amounts: ContainerAmounts = NO_AMOUNTS
) -> list[str]:
    """What the format cannot say of this run."""
    jobs = history.jobs.values()
    reduces = sum(job.task_counts[1] for job in jobs)
    undone = sum(task.last_success is None for job in jobs for task in job.own_tasks())
    again = sum(len(task.launches) > 1 for job in jobs for task in job.all_tasks())
    speeds = len({node.speed for node in history.started.nodes}) > 1
    found = [
        (True, "where inputs lie: a container has the node on which it ran"),
        (True, _SLOTS if amounts is NO_AMOUNTS else _SLOTS_BY_AMOUNTS),
        (reduces, "when a reduce's shuffle waits for maps: its container lasts as long as it did"),
        (undone, f"{count(undone, 'task')} that never succeeded"),
        (again, f"further attempts of {count(again, 'task')}: only the last success is there"),
        (speeds, "speeds of nodes"),
    ]
    return [text for number, text in found if number]


def _sls_job(
    number: JobId, job: HistoryJob, containers: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    last_ms = max((each["container.end.ms"] for each in containers), default=job.submit_ms)
    return {
        "am.type": "mapreduce",
        "job.start.ms": job.submit_ms,
        "job.end.ms": last_ms if job.finish_ms is None else job.finish_ms,
        "job.queue.name": job.queue or DEFAULT_QUEUE,
        "job.id": f"job_{number + 1}",
        "job.user": job.user or "user",
        "job.tasks": containers,
    }


def _job_containers(
    number: JobId, job: HistoryJob, racks: dict[NodeId, int], amounts: ContainerAmounts
) -> Iterator[dict[str, Any]]:
    for stage in STAGES:
        takes = amounts.of_task(number, stage)
        kind, priority = _TYPES[stage]
        for best in (task.last_success for task in job.tasks_of(stage)):
            if best is None or best.start_ms is None or best.ended_ms is None:
                continue
            yield {
                "container.host": f"/rack-{racks[best.node]:04}/{_node_name(best.node)}",
                "container.start.ms": best.start_ms,
                "container.end.ms": best.ended_ms,
                "container.priority": priority,
                "container.type": kind,
                **takes,
            }


def _node_name(node: NodeId) -> str:
    return f"node-{node:05}"
