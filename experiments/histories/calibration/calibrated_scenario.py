"""Which figures of a calibration go into the scenario that plays the history, and which stay at
their defaults: those that the history cannot tell, and those whose interval holds the default, so
that nothing speaks against it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.experiments.histories.calibration.calibrate import Calibration
from callboard.experiments.histories.calibration.estimate import Estimate
from callboard.scenarios.formats.recording_file import Imported
from callboard.scenarios.formats.recording_scenario import (
    YARN_HEARTBEAT_MS,
    on_its_grid,
    scenario_of,
)
from callboard.scenarios.overrides import apply_overrides

_PERIOD = "cluster.heartbeat.interval_ms"
_COUNTS = ("cluster.map_slots", "cluster.reduce_slots", "cluster.replication")
_PLAYED = {
    "cluster.map_slots": "map slots a node",
    "cluster.reduce_slots": "reduce slots a node",
    "cluster.replication": "replicas of a block",
    _PERIOD: "heartbeat period",
    "tasks.rack_factor": "rack-local factor",
    "tasks.off_rack_factor": "off-rack factor",
    "tasks.slowstart": "slow start",
}
"""What recorded tasks need; they have noise and stragglers in what they took."""


class KeptDefault(NamedTuple):
    """A figure that stays as it is without a calibration, and why."""

    name: str
    field: str
    value: float
    why: str


def overrides(found: Calibration) -> list[str]:
    """The figures that the history has against the defaults, as `--set` takes them."""
    stays = {each.field for each in kept_defaults(found)}
    return [
        f"{field}={_written(field, estimate)}"
        for field in _PLAYED
        if field not in stays and (estimate := found.of(field)) is not None
    ]


def kept_defaults(found: Calibration) -> list[KeptDefault]:
    """The figures that stay at their defaults."""
    return list(_kept(found))


def _kept(found: Calibration) -> Iterator[KeptDefault]:
    for field, name in _PLAYED.items():
        estimate, default = found.of(field), _default(field, found.imported)
        if estimate is None or estimate.value is None:
            yield KeptDefault(name, field, default, "the history cannot tell it")
        elif field not in _COUNTS[:2] and estimate.covers(default):
            yield KeptDefault(name, field, default, "the interval holds it")


def calibrated(written: dict[str, Any], found: Calibration) -> dict[str, Any]:
    """A scenario of the history, as plain data, with the figures put in."""
    return on_its_grid(apply_overrides(written, overrides(found)), found.imported)


def grid_overrides(found: Calibration) -> list[str]:
    """Where the jobs find the heartbeats, as `--set` takes it."""
    cluster, workload = "cluster.heartbeat.phases_ms", "workload.begin_s"
    grid = calibrated(scenario_of(found.imported, "calibrated", ""), found)
    phases = grid["cluster"].get("heartbeat", {}).get("phases_ms", [])
    return [f"{cluster}={phases}", f"{workload}={grid['workload'].get('begin_s', 0.0)}"]


def _default(field: str, imported: Imported) -> float:
    """What a scenario of this history has without a calibration; of heartbeats their period."""
    recording = imported.recording
    stated = YARN_HEARTBEAT_MS if recording.format.startswith("Hadoop 2") else None
    cluster = Cluster(
        nodes=recording.nodes,
        map_slots=recording.map_slots,
        reduce_slots=recording.reduce_slots,
        heartbeat=Heartbeats(interval_ms=stated),
    )
    if field == _PERIOD:
        return float(cluster.round_ms())
    table = cluster if field.startswith("cluster.") else Tasks()
    return float(getattr(table, field.rpartition(".")[2]))


def _written(field: str, estimate: Estimate) -> float | int:
    """The figure as the scenario has it: of a period its interval, a message's ways taken off."""
    assert estimate.value is not None
    if field == _PERIOD:
        return max(round(estimate.value) - 2 * Cluster().latency_ms, 1)
    return round(estimate.value) if field in _COUNTS else round(estimate.value, 4)
