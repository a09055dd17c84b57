"""`callboard calibrate`: figures of a cluster from its history, and a scenario with them."""

import json
from pathlib import Path

from callboard.scenarios.scenario_file import load_scenario
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written


def test_the_command_prints_figures_and_what_cannot_be_told(callboard: Run, tmp_path: Path) -> None:
    history, to = written(tmp_path, HADOOP1, "job_1_ann"), tmp_path / "mine.toml"
    status, out, _ = callboard("calibrate", str(history), "--to", str(to))
    assert status == 0
    assert "replicas of a block" in out.split("it cannot tell")[0]
    assert "only 2 maps" in out.split("it cannot tell")[1]
    scenario = load_scenario(str(to))
    assert (scenario.cluster.map_slots, scenario.cluster.replication) == (1, 2)
    assert callboard("run", str(to), "--policy", "fifo")[0] == 0
    status, out, _ = callboard("calibrate", str(history), "--json")
    told = json.loads(out)
    assert {each["name"] for each in told["estimates"]} >= {"map slots a node", "slow start"}
    assert callboard("calibrate", str(history), "--to", str(to))[0] == 2
    assert callboard("calibrate", str(tmp_path / "absent"))[0] == 2


def test_a_scenario_is_calibrated_alone(callboard: Run, tmp_path: Path) -> None:
    """Two were said to be nothing that can be imported."""
    paths = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for path in paths:
        path.write_text("", encoding="utf-8")
    status, _, err = callboard("calibrate", *map(str, paths))
    assert (status, "a scenario is calibrated alone; leave the others out" in err) == (2, True)
