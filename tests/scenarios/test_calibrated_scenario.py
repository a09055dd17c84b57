"""Only what a history has against a default is put in its place."""

import msgspec
import pytest

from callboard.histories.calibration.calibrate import Calibration
from callboard.histories.calibration.estimate import Estimate, Untold
from callboard.histories.model.import_report import Remarks
from callboard.histories.model.tasks_file import ClusterRecording
from callboard.histories.recording_file import Imported
from callboard.scenarios.calibrated_scenario import (
    calibrated,
    changed_figures,
    kept_defaults,
    overrides,
)

pytest.importorskip("scipy")

RECORDING = ClusterRecording("Hadoop 1 job history", 20, (20,), 4, 2, (), (), 0)


def calibration(*estimates: Estimate) -> Calibration:
    untold = () if estimates else (Untold("off-rack factor", "no job has such maps"),)
    return Calibration(estimates, untold, Imported(RECORDING, Remarks(), 0, 0, 0))


def factor(value: float, low: float, high: float) -> Estimate:
    return Estimate("off-rack factor", "tasks.off_rack_factor", value, low, high, "×", "maps")


def kept(found: Calibration) -> dict[str, str]:
    return {each.name: each.why for each in kept_defaults(found)}


def test_a_figure_whose_interval_holds_the_default_is_not_written() -> None:
    """The default of 2 is as likely as 1.96; 1.9 that is certain is not."""
    unsure, sure = calibration(factor(1.96, 1.88, 2.05)), calibration(factor(1.9, 1.88, 1.92))
    assert overrides(unsure) == []
    assert kept(unsure)["off-rack factor"] == "the interval holds it"
    assert overrides(sure) == ["tasks.off_rack_factor=1.9"]
    assert "off-rack factor" not in kept(sure)


def test_what_a_history_cannot_tell_stays_at_the_default_and_that_is_said() -> None:
    assert overrides(calibration()) == []
    assert kept(calibration())["off-rack factor"] == "the history cannot tell it"
    defaults = {each.name: each.value for each in kept_defaults(calibration())}
    assert (defaults["off-rack factor"], defaults["heartbeat period"]) == (2.0, 3002.0)
    assert defaults["map slots a node"] == 4  # what ran at once, as imported


def test_what_is_farther_away_takes_no_less() -> None:
    """An off-rack factor of 1.09 stood beside the default of 1.25 for maps in the same rack."""
    found = calibration(factor(1.09, 1.02, 1.24))
    assert overrides(found) == ["tasks.rack_factor=1.09", "tasks.off_rack_factor=1.09"]
    why = {each.name: each.why for each in changed_figures(found)}
    assert why == {"rack-local factor": "no more than the off-rack factor", "off-rack factor": ""}
    assert "rack-local factor" not in kept(found)
    name, field = "rack-local factor", "tasks.rack_factor"
    far = calibration(Estimate(name, field, 3.0, 2.9, 3.1, "×", "maps"))
    assert overrides(far) == ["tasks.rack_factor=3.0", "tasks.off_rack_factor=3.0"]


def test_a_period_is_written_without_a_messages_ways() -> None:
    name, field = "heartbeat period", "cluster.heartbeat.interval_ms"
    period = Estimate(name, field, 1002.2, 1002.1, 1002.3, "ms", "gaps")
    assert overrides(calibration(period)) == ["cluster.heartbeat.interval_ms=1000"]
    usual = msgspec.structs.replace(period, value=3002.0, low=3001.9, high=3002.1)
    assert overrides(calibration(usual)) == []


def test_slots_are_written_even_where_the_default_would_do() -> None:
    """They are what a cluster has, not what Hadoop takes for granted."""
    slots = Estimate("map slots a node", "cluster.map_slots", 6.0, 6.0, None, "", "nodes")
    written = calibrated({"cluster": {"nodes": 20}, "workload": {}}, calibration(slots))
    assert written["cluster"] == {"nodes": 20, "map_slots": 6}
