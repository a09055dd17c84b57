"""The scenario that plays a recording, as plain data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from callboard.actors.config import NODES_MAX, Cluster, Heartbeats
from callboard.histories.calibration.heartbeat_phases import node_phases
from callboard.histories.model.attempt_log import AttemptLog
from callboard.histories.model.tasks_file import ClusterRecording
from callboard.histories.recording_file import Imported, load_recording_with_attempts
from callboard.scenarios.overrides import apply_overrides
from callboard.scheduler.model import Millis

_SUFFIXES = (".gz", ".history", ".tasks", ".json", ".jhist", ".swf", ".csv", ".parquet", ".txt")
YARN_HEARTBEAT_MS = 1000  # yarn.resourcemanager.nodemanagers.heartbeat-interval-ms


def scenario_of_history(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The scenario of a history, or of the tasks of one; what `overrides` say of its columns counts
    already.
    """
    workload = apply_overrides({"workload": {}}, overrides)["workload"]
    columns = str(workload.get("columns", "")) if isinstance(workload, dict) else ""
    imported = load_recording_with_attempts(path, columns)
    scenario = scenario_of(imported, name_without_suffixes(path), str(path.absolute()), columns)
    if imported.failures:
        traces = [str(trace.absolute()) for trace in imported.failures]
        scenario["timeline"] = [{"what": "trace", "path": trace} for trace in traces]
    return scenario


def name_without_suffixes(path: Path) -> str:
    """A name for what is made of this file or folder: its own, without what formats add to it."""
    name = path.resolve().name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    return name or "recorded"


def scenario_of(imported: Imported, name: str, path: str, columns: str = "") -> dict[str, Any]:
    """The scenario that plays an imported history, whose file is at `path`."""
    recording = imported.recording
    workload = {"kind": "recorded", "path": path, **({"columns": columns} if columns else {})}
    jobs = len(recording.jobs)
    story = f"{jobs:,} recorded job{'' if jobs == 1 else 's'} ({recording.format})."
    scenario = {
        "name": name,
        "story": story,
        "cluster": _cluster_table(recording),
        "workload": workload,
    }
    if recording.format.startswith("SLS"):  # inputs are not told: a length is as long anywhere
        scenario["tasks"] = {"rack_factor": 1.0, "off_rack_factor": 1.0}
    return with_heartbeat_phases(scenario, imported)


def with_heartbeat_phases(scenario: dict[str, Any], imported: Imported) -> dict[str, Any]:
    """The scenario with jobs that find heartbeats where they found them, as far as attempts tell:
    nodes have their phases, and the first job comes once every node has joined.
    """
    cluster, workload = scenario["cluster"], scenario["workload"]
    nodes, stated = imported.recording.nodes, cluster.get("heartbeat", {})
    rules = Cluster(nodes=nodes, heartbeat=msgspec.convert(stated, Heartbeats))
    phases = () if imported.log is None else _heartbeat_phases_ms(imported.log, imported, rules)
    if not phases:
        return scenario
    cluster = {**cluster, "heartbeat": {**stated, "phases_ms": list(phases)}}
    workload = {**workload, "begin_s": rules.heartbeat_cycle_ms() / 1000}
    return {**scenario, "cluster": cluster, "workload": workload}


def _heartbeat_phases_ms(log: AttemptLog, imported: Imported, rules: Cluster) -> tuple[Millis, ...]:
    if rules.nodes > NODES_MAX:
        return ()  # which is refused when the scenario is decoded
    grid = {"round_ms": rules.heartbeat_cycle_ms(), "latency_ms": rules.latency_ms}
    return node_phases(log, imported.begin_ms, nodes=rules.nodes, **grid)


def _cluster_table(recording: ClusterRecording) -> dict[str, Any]:
    sizes = recording.rack_sizes
    cluster: dict[str, Any] = {
        "nodes": recording.nodes,
        "racks": len(sizes),
        "map_slots": recording.map_slots,
        "reduce_slots": recording.reduce_slots,
    }
    if recording.capacity:
        cluster["capacity"] = dict(recording.capacity)
    if len(sizes) > 1 and not recording.round_robin:
        cluster["rack_sizes"] = list(sizes)
    if recording.format.startswith("Hadoop 2"):
        cluster["heartbeat"] = {"interval_ms": YARN_HEARTBEAT_MS}
    return cluster
