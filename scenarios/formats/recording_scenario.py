"""The scenario that plays a recording, as plain data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callboard.scenarios.formats.recording_file import load_recording
from callboard.scenarios.overrides import apply_overrides
from callboard.scenarios.tasks_file import ClusterRecording

_SUFFIXES = (".gz", ".history", ".tasks", ".json", ".jhist", ".swf", ".csv", ".parquet", ".txt")
YARN_HEARTBEAT_MS = 1000  # yarn.resourcemanager.nodemanagers.heartbeat-interval-ms


def written_scenario(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The scenario of a history, or of the tasks of one; what `overrides` say of its columns counts
    already.
    """
    workload = apply_overrides({"workload": {}}, overrides)["workload"]
    columns = str(workload.get("columns", "")) if isinstance(workload, dict) else ""
    imported = load_recording(path, columns)
    scenario = scenario_of(imported.recording, plain_name(path), str(path.absolute()), columns)
    if imported.failures:
        traces = [str(trace.absolute()) for trace in imported.failures]
        scenario["timeline"] = [{"what": "trace", "path": trace} for trace in traces]
    return scenario


def plain_name(path: Path) -> str:
    """A name for what is made of this file or folder: its own, without what formats add to it."""
    name = path.resolve().name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    return name or "recorded"


def scenario_of(
    recording: ClusterRecording, name: str, path: str, columns: str = ""
) -> dict[str, Any]:
    """The scenario that plays the recording, whose file is at `path`."""
    workload = {"kind": "recorded", "path": path, **({"columns": columns} if columns else {})}
    jobs = len(recording.jobs)
    story = f"{jobs:,} recorded job{'' if jobs == 1 else 's'} ({recording.format})."
    return {
        "name": name,
        "story": story,
        "cluster": _cluster(recording),
        "workload": workload,
    }


def _cluster(recording: ClusterRecording) -> dict[str, Any]:
    sizes = recording.rack_sizes
    cluster: dict[str, Any] = {
        "nodes": recording.nodes,
        "racks": len(sizes),
        "map_slots": recording.map_slots,
        "reduce_slots": recording.reduce_slots,
    }
    if len(sizes) > 1 and not recording.round_robin:
        cluster["rack_sizes"] = list(sizes)
    if recording.format.startswith("Hadoop 2"):
        cluster["heartbeat"] = {"interval_ms": YARN_HEARTBEAT_MS}
    return cluster
