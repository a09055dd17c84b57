"""Seeds that are copies of one run, as those of a recorded history may be, are no evidence."""

import json
from pathlib import Path

import pytest

from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.seed_draws import draws_nothing
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written

pytestmark = pytest.mark.usefixtures("in_this_process")

pytest.importorskip("scipy")

SAID = "Nothing is drawn here: all seeds are one run."
PHASES = "cluster.heartbeat.phases_ms=[0,1000,2000]"
POLICIES = ("--policy", "fair", "--policy", "fifo")


@pytest.fixture
def history(callboard: Run, tmp_path: Path) -> str:
    """An imported history on its own three nodes."""
    raw = written(tmp_path, HADOOP1, "raw.history")
    status, _, err = callboard("import", str(raw), "--to", str(tmp_path / "mine"))
    assert status == 0, err
    return str(tmp_path / "mine" / "raw.toml")


def test_copies_of_one_run_get_no_interval_and_no_count_of_seeds(
    callboard: Run, history: str
) -> None:
    """It said `less in 3 of 3 seeds`."""
    _, out, _ = callboard("run", history, *POLICIES, "--set", PHASES, "--seeds", "3")
    assert out.count(SAID) == 1
    assert "3 seeds (1 to 3" in out
    assert "±" not in out
    assert "seed by seed" not in out.lower()
    assert "of 3" not in out


def test_copies_of_one_policys_run_say_so_too(callboard: Run, history: str) -> None:
    _, out, _ = callboard("run", history, "--policy", "fair", "--set", PHASES, "--seeds", "2")
    assert out.count(SAID) == 1
    assert "±" not in out


def test_one_seed_promises_no_intervals_where_no_seed_matters(callboard: Run, history: str) -> None:
    _, out, _ = callboard("run", history, *POLICIES, "--set", PHASES)
    assert SAID in out
    assert "--seeds 10" not in out
    _, out, _ = callboard("run", history, *POLICIES)
    assert "This is one seed: it cannot tell chance from policy. --seeds 10 gives" in out
    assert SAID not in out


def test_json_tells_copies_from_seeds(callboard: Run, history: str) -> None:
    _, out, _ = callboard("run", history, *POLICIES, "--set", PHASES, "--seeds", "3", "--json")
    fair, fifo = json.loads(out)
    assert (fair["all_one_run"], fair["seeds"], len(fair["runs"])) == (True, [1, 2, 3], 3)
    mean = fair["figures"]["mean_response_seconds"]
    assert (mean["half"], mean["runs"]) == (None, 1)
    assert fifo["differences"]["mean_response_seconds"]["difference"]["half"] is None
    _, out, _ = callboard("run", history, *POLICIES, "--seeds", "3", "--json")
    assert [each["all_one_run"] for each in json.loads(out)] == [False, False]


@pytest.mark.soak
def test_a_report_counts_copies_as_one_run(callboard: Run, history: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    asked = ("--seeds", "3", "--journal", str(tmp_path / "r.journal"))
    callboard("run", history, *POLICIES, "--set", PHASES, *asked)
    journals = sorted(str(each) for each in tmp_path.glob("r-*.journal"))
    page = tmp_path / "r.html"
    status, _, err = callboard("report", *journals, "--to", str(page))
    assert status == 0, err
    told = page.read_text(encoding="utf-8")
    assert SAID in told
    assert "6 runs, of which 4 are copies of others" in told
    assert "beyond chance" not in told
    assert "number best" not in told


@pytest.mark.soak
def test_a_sweep_says_why_a_row_has_no_interval(
    callboard: Run, history: str, tmp_path: Path
) -> None:
    asked = (*POLICIES, "--set", PHASES, "--store", str(tmp_path / "s.sqlite"))
    _, out, _ = callboard("sweep", history, "--seeds", "2", *asked)
    assert "nothing is drawn here: all seeds are one run, which has no ±" in out
    callboard("sweep", history, "--seeds", "2", *asked, "--vary", "tasks.sigma=0.5")
    _, out, _ = callboard("sweep", "--show", *asked[-2:])
    assert "nothing is drawn in 1 of 2 settings: all seeds are one run, which has no ±" in out


@pytest.mark.parametrize(
    ("overrides", "policy"),
    [
        (["tasks.sigma=0.1"], "fair"),
        (["tasks.straggler_share=0.1"], "fair"),
        (["cluster.nodes=4"], "fair"),
        (["cluster.heartbeat.phases_ms=[0,1000]"], "fair"),
        (["cluster.heartbeat.phases_ms=[0,-1,1000]"], "fair"),
        ([], "yarn"),
        ([], "sparrow"),
        ([], 'hfsp(size="oracle")'),
    ],
)
def test_only_where_nothing_at_all_can_be_drawn_is_it_known_beforehand(
    history: str, overrides: list[str], policy: str
) -> None:
    assert draws_nothing(load_run(history, [PHASES]), ["fair", "fifo", "hfsp"])
    assert not draws_nothing(load_run(history, [PHASES, *overrides]), ["fifo", policy])
