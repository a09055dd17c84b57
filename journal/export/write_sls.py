"""A run as YARN's Scheduler Load Simulator reads it: jobs of containers, and nodes by rack."""

import json
from collections.abc import Iterator
from typing import Any

from callboard.journal.export.played_history import PlayedHistory, PlayedJob, PlayedTask
from callboard.scheduler.model import MAPS, REDUCES, STAGES, NodeId

CONTAINER_MB = 1024
"""A slot is a container of so much memory and one core."""

DEFAULT_QUEUE = "default"

_TYPES = {MAPS: ("map", 20), REDUCES: ("reduce", 10)}


def sls_jobs(history: PlayedHistory) -> Iterator[str]:
    """The jobs, a JSON object each (`inputsls`)."""
    for job in history.jobs.values():
        yield json.dumps(_job(history, job), indent=2)


def sls_nodes(history: PlayedHistory) -> Iterator[str]:
    """The nodes, a JSON object a rack; each has room for a container a slot."""
    racks: dict[int, list[dict[str, object]]] = {}
    for node in history.started.nodes:
        slots = node.map_slots + node.reduce_slots
        about = {"node": _node(node.node), "memory-mb": slots * CONTAINER_MB, "vcores": slots}
        racks.setdefault(node.rack, []).append(about)
    for rack, nodes in sorted(racks.items()):
        yield json.dumps({"rack": f"rack-{rack:04}", "nodes": nodes}, indent=2)


def not_in_sls(history: PlayedHistory) -> list[str]:
    """What the format cannot say of this run."""
    jobs = history.jobs.values()
    reduces = sum(job.submitted.reduces for job in jobs)
    undone = sum(task.best is None for job in jobs for stage in STAGES for task in job.of(stage))
    again = sum(len(task.attempts) > 1 for job in jobs for task in job.every())
    speeds = len({node.speed for node in history.started.nodes}) > 1
    found = [
        (True, "where inputs lie: a container has the node on which it ran"),
        (True, "slots of two kinds: a node has room for as many containers of either"),
        (reduces, "when a reduce's shuffle waits for maps: its container lasts as long as it did"),
        (undone, f"{undone:,} tasks that never succeeded"),
        (again, f"further attempts of {again:,} tasks: only the last success is there"),
        (speeds, "speeds of nodes"),
    ]
    return [text for number, text in found if number]


def _job(history: PlayedHistory, job: PlayedJob) -> dict[str, Any]:
    told, end = job.submitted, job.finished
    last_ms = max((c["container.end.ms"] for c in _containers(history, job)), default=told.at_ms)
    return {
        "am.type": "mapreduce",
        "job.start.ms": told.at_ms,
        "job.end.ms": last_ms if end is None else end.at_ms,
        "job.queue.name": told.pool or DEFAULT_QUEUE,
        "job.id": f"job_{told.job + 1}",
        "job.user": told.user or "user",
        "job.tasks": list(_containers(history, job)),
    }


def _containers(history: PlayedHistory, job: PlayedJob) -> Iterator[dict[str, Any]]:
    racks = {node.node: node.rack for node in history.started.nodes}
    for stage in STAGES:
        for task in job.of(stage):
            yield from _container(task, racks)


def _container(task: PlayedTask, racks: dict[NodeId, int]) -> Iterator[dict[str, Any]]:
    best = task.best
    if best is None or best.started_ms is None or best.ended_ms is None:
        return
    kind, priority = _TYPES[task.stage]
    yield {
        "container.host": f"/rack-{racks[best.node]:04}/{_node(best.node)}",
        "container.start.ms": best.started_ms,
        "container.end.ms": best.ended_ms,
        "container.priority": priority,
        "container.type": kind,
    }


def _node(node: NodeId) -> str:
    return f"node-{node:05}"
