"""A what-if about nodes says when its answer hangs on how often they report (rule H1)."""

import re
from pathlib import Path

import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.experiments.run.run_hints import interval_hint
from tests.callboard.conftest import Run

pytestmark = pytest.mark.usefixtures("in_this_process")

WORLD = """
name = "large"
[cluster]
nodes = 500
[workload]
kind = "jobs"
job = [{ name = "one", maps = 40, map_s = 5.0 }]
"""
HINT = "a heartbeat comes every 4 s on 400 nodes, 5 s on 500 nodes"
REMEDY = "--set cluster.heartbeat.interval_ms=5000 holds it fixed"


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "large.toml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


def test_fewer_nodes_with_faster_heartbeats_are_told(callboard: Run, scenario: str) -> None:
    for asked in (("--nodes=-20%",), ("--set", "cluster.nodes=400"), ("--nodes=400", "--seeds=2")):
        status, out, _ = callboard("run", scenario, "--policy", "fifo", *asked)
        assert status == 0
        assert HINT in out
        assert REMEDY in out


def test_nothing_is_told_of_heartbeats_under_an_architecture_that_has_none(
    callboard: Run, scenario: str
) -> None:
    """YARN's nodes speak each second, whatever the key says of Hadoop 1's."""
    asked = ("run", scenario, "--nodes=400", "--policy", "yarn")
    assert "a heartbeat comes" not in callboard(*asked)[1]
    assert HINT in callboard(*asked, "--policy", "fifo")[1]


def test_the_remedy_is_one(callboard: Run, scenario: str) -> None:
    fixed = ("--set", "cluster.heartbeat.interval_ms=5000")
    _, out, _ = callboard("run", scenario, "--policy", "fifo", "--nodes=400", *fixed)
    assert "a heartbeat comes" not in out
    _, out, _ = callboard("run", scenario, "--policy", "fifo", "--map-slots=3")
    assert "a heartbeat comes" not in out


@pytest.mark.soak
def test_a_sweep_over_nodes_tells_it_too(callboard: Run, scenario: str, tmp_path: Path) -> None:
    vary = ("--vary", "cluster.nodes=500,400", "--store", str(tmp_path / "s.sqlite"))
    _, out, _ = callboard("sweep", scenario, "--policy", "fifo", *vary)
    assert HINT in out
    assert REMEDY in out


@pytest.mark.soak
def test_a_sweep_of_a_history_is_set_beside_its_own_cluster(
    callboard: Run, scenario: str, tmp_path: Path
) -> None:
    """All settings have one interval, but the back-test that stands below is of another."""
    journal, history = str(tmp_path / "s.journal"), str(tmp_path / "s.history")
    callboard("run", scenario, "--policy", "fifo", "--journal", journal)
    callboard("export", journal, "--to", history)
    imported = tmp_path / "s.toml"
    callboard("import", history, "--to", str(imported))
    text = imported.read_text()
    imported.write_text(re.sub(r"\nnodes = \d+\n", "\nnodes = 500\n", text))
    asked = ("--policy", "fifo", "--store", str(tmp_path / "s.sqlite"))
    _, out, _ = callboard("sweep", str(imported), *asked, "--vary", "cluster.nodes=20,40")
    assert "a heartbeat comes every 3 s on 20 nodes, 5 s on 500 nodes" in out


def test_clusters_below_the_least_interval_have_one() -> None:
    assert interval_hint([Cluster(nodes=20), Cluster(nodes=300)]) == ""
    assert interval_hint([Cluster(nodes=20), Cluster(nodes=400)])
    stated = Heartbeats(interval_ms=3000)
    assert interval_hint([Cluster(nodes=20, heartbeat=stated), Cluster(nodes=400)]) == ""
