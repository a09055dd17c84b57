"""Which figures of a calibration go into the scenario that plays the history, and which stay at
their defaults: those that the history cannot tell, and those whose interval holds the default, so
that nothing speaks against it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.histories.calibration.calibrate import Calibration
from callboard.histories.calibration.estimate import Estimate
from callboard.histories.recording_file import Imported
from callboard.scenarios.overrides import apply_overrides
from callboard.scenarios.recording_scenario import (
    YARN_HEARTBEAT_MS,
    scenario_of,
    with_heartbeat_phases,
)

_PERIOD = "cluster.heartbeat.interval_ms"
_NEAR, _FAR = "tasks.rack_factor", "tasks.off_rack_factor"
_COUNTS = ("cluster.map_slots", "cluster.reduce_slots", "cluster.replication")
_PLAYED = {
    "cluster.map_slots": "map slots a node",
    "cluster.reduce_slots": "reduce slots a node",
    "cluster.replication": "replicas of a block",
    _PERIOD: "heartbeat period",
    _NEAR: "rack-local factor",
    _FAR: "off-rack factor",
    "tasks.slowstart": "slow start",
}
"""What recorded tasks need; they have noise and stragglers in what they took."""


class ScenarioFigure(NamedTuple):
    """A figure of the scenario, as its file has it, and why it is that where no
    estimate says so.
    """

    name: str
    field: str
    value: float
    why: str


def overrides(found: Calibration) -> list[str]:
    """The figures that the history has against the defaults, as `--set` takes them."""
    return [f"{each.field}={each.value}" for each in changed_figures(found)]


def changed_figures(found: Calibration) -> list[ScenarioFigure]:
    """The figures that are not left at their defaults: estimates, and a factor that would be on the
    wrong side of an estimated one.
    """
    kept = {each.field for each in _unchallenged_defaults(found)}
    changed = {
        field: ScenarioFigure(name, field, _value_to_write(field, estimate), "")
        for field, name in _PLAYED.items()
        if field not in kept and (estimate := found.estimate_of(field)) is not None
    }
    if _PERIOD in changed:
        why = f"as an interval, {2 * Cluster().latency_ms} ms for messages taken off"
        changed[_PERIOD] = changed[_PERIOD]._replace(why=why)
    near, far = changed.get(_NEAR), changed.get(_FAR)
    if far and not near and far.value < _uncalibrated_value(_NEAR, found.imported):
        why = "no more than the off-rack factor"
        changed[_NEAR] = ScenarioFigure(_PLAYED[_NEAR], _NEAR, far.value, why)
    if near and not far and near.value > _uncalibrated_value(_FAR, found.imported):
        why = "no less than the rack-local factor"
        changed[_FAR] = ScenarioFigure(_PLAYED[_FAR], _FAR, near.value, why)
    return [changed[field] for field in _PLAYED if field in changed]


def kept_defaults(found: Calibration) -> list[ScenarioFigure]:
    """The figures that stay at their defaults."""
    changed = {each.field for each in changed_figures(found)}
    return [each for each in _unchallenged_defaults(found) if each.field not in changed]


def _unchallenged_defaults(found: Calibration) -> Iterator[ScenarioFigure]:
    """The defaults that nothing speaks against."""
    for field, name in _PLAYED.items():
        estimate = found.estimate_of(field)
        default = _uncalibrated_value(field, found.imported)
        if estimate is None or estimate.value is None:
            yield ScenarioFigure(name, field, default, "the history cannot tell it")
        elif field not in _COUNTS[:2] and estimate.covers(default):
            yield ScenarioFigure(name, field, default, "the interval holds it")


def calibrated(written: dict[str, Any], found: Calibration) -> dict[str, Any]:
    """A scenario of the history, as plain data, with the figures put in."""
    return with_heartbeat_phases(apply_overrides(written, overrides(found)), found.imported)


def grid_overrides(found: Calibration) -> list[str]:
    """Where the jobs find the heartbeats, as `--set` takes it."""
    cluster, workload = "cluster.heartbeat.phases_ms", "workload.begin_s"
    grid = calibrated(scenario_of(found.imported, "calibrated", ""), found)
    phases = grid["cluster"].get("heartbeat", {}).get("phases_ms", [])
    return [f"{cluster}={phases}", f"{workload}={grid['workload'].get('begin_s', 0.0)}"]


def _uncalibrated_value(field: str, imported: Imported) -> float:
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
        return float(cluster.heartbeat_cycle_ms())
    table = cluster if field.startswith("cluster.") else Tasks()
    return float(getattr(table, field.rpartition(".")[2]))


def _value_to_write(field: str, estimate: Estimate) -> float | int:
    """The figure as the scenario has it: of a period its interval, a message's ways taken off."""
    assert estimate.value is not None
    if field == _PERIOD:
        return max(round(estimate.value) - 2 * Cluster().latency_ms, 1)
    return round(estimate.value) if field in _COUNTS else round(estimate.value, 4)
