"""`callboard check` and `callboard hunt`."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from callboard.commands import check_command
from callboard.fairness.properties import share_axioms
from callboard.fairness.scenario_family import scenario_size
from callboard.scenarios.scenario_file import load_scenario
from tests.callboard.conftest import Run
from tests.callboard.support import ROOT
from tests.support.soak import one_in

BROKEN = f"{ROOT}/docs/examples/most_first.py:MostFirst"

RAISES = """
from callboard.scheduler.orders.fifo import Fifo

class Raises(Fifo):
    name = "raises"
    summary = "for tests"

    def key(self, job, kind):
        return 1 / 0
"""


@pytest.mark.parametrize("policy", one_in(4, ["fair", "hfsp", "psbs", "coshh", "fifo"]))
def test_the_shipped_orders_keep_what_they_guarantee(
    callboard: Run, policy: str, tmp_path: Path
) -> None:
    if policy == "coshh":
        pytest.importorskip("scipy")
    status, out, _ = callboard("check", policy, "--max-examples", "4", "--to", str(tmp_path))
    assert status == 0, out
    assert f"{policy}  " in out
    assert "no guarantee failed" in out
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith(" ")]
    assert ["finishes", "4"] in rows
    assert ["pareto", "4"] in rows


@pytest.mark.parametrize("architecture", one_in(4, ["mesos", "sparrow", "eagle", "omega"]))
def test_an_architecture_keeps_what_all_guarantee(
    callboard: Run, architecture: str, tmp_path: Path
) -> None:
    """What speaks of a master's policies is not asked of it, and does not pass in silence."""
    few = ("--max-examples", "4", "--to", str(tmp_path))
    status, out, _ = callboard("check", architecture, "--all", *few)
    assert status == 0, out
    assert "no guarantee failed" in out
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith(" ")]
    assert ["finishes", "4"] in rows
    assert ["own-rules", "4"] in rows
    assert "of policies of a master, and not looked at: repeats, strict-order, " in out
    status, _, err = callboard("check", architecture, "--property", "max-min", *few)
    assert status == 2
    assert f"it speaks of policies of a master, and not of `{architecture}`" in err


def test_of_properties_that_do_not_speak_of_an_architecture_the_first_named_is_told(
    callboard: Run,
) -> None:
    """It was another one with every call."""
    names = ("scale", "max-min", "patient", "pareto", "truthful", "blind", "lone-job")
    for order in (names, names[::-1]):
        asked = [word for name in order for word in ("--property", name)]
        assert f"--property {order[0]}: it speaks of" in callboard("check", "sparrow", *asked)[2]


@pytest.mark.soak
def test_the_example_is_broken_and_its_file_replays(callboard: Run, tmp_path: Path) -> None:
    status, out, _ = callboard(
        "check", BROKEN, "--property", "max-min", "--max-examples", "30", "--to", str(tmp_path)
    )
    assert status == 1
    assert "1 guarantee failed" in out
    (path,) = tmp_path.iterdir()
    nodes, jobs, _ = scenario_size(load_scenario(path))
    assert nodes <= 2
    assert jobs <= 3
    text = path.read_text()
    assert text.startswith("# property: max-min\n")
    assert "--seed 1" in text
    seen = 'went to "job-0", which ran 1, and not to "job-1", which ran 0'
    assert seen in out
    assert "THIS-FILE --trust" in text
    untrusted, _, refusal = callboard("check", "--replay", str(path))
    assert untrusted == 2
    assert "is code in a Python file" in refusal
    assert callboard("check", BROKEN, "--replay", str(path))[0] == 1
    assert callboard("check", "--replay", str(path), "--trust")[:2] == (
        1,
        "max-min: no slot goes to a job that runs more than another that waits for one\n"
        f"{BROKEN} breaks it: at 0.001 s a map slot of node-0 {seen}\n",
    )
    assert callboard("check", "fair", "--replay", str(path))[0] == 0
    assert callboard("run", str(path), "--trust")[0] == 0


def test_scenarios_that_a_property_says_nothing_of_are_counted(callboard: Run) -> None:
    """What was tested and what did not apply are all that was drawn, in every row."""
    status, out, _ = callboard("check", "fair", "--property", "max-min", "--max-examples", "12")
    assert status == 0
    row = next(line.split() for line in out.splitlines() if line.startswith(" max-min "))
    assert row[2:-1] == ["did", "not", "apply", "in"]
    assert int(row[1]) + int(row[-1]) == 12
    assert 0 < int(row[1]) < 12


def test_a_policy_that_raises_is_a_counterexample(callboard: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RAISES)
    policy = f"{tmp_path / 'mine.py'}:Raises"
    arguments = ("--property", "finishes", "--max-examples", "3", "--to", str(tmp_path))
    status, out, err = callboard("check", policy, *arguments)
    assert (status, err) == (1, "")
    assert "  ZeroDivisionError: division by zero (mine.py, line 9, in key)" in out


def test_what_is_not_guaranteed_may_be_broken(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --all the table tells it, and the exit status does not."""
    few = (share_axioms.pareto, share_axioms.max_min_shares)
    monkeypatch.setattr(check_command, "PROPERTIES", few)
    status, out, _ = callboard(
        "check", "fifo", "--all", "--max-examples", "4", "--to", str(tmp_path)
    )
    assert status == 0
    assert "not guaranteed" in out
    assert (tmp_path / "fifo-max-min-shares.toml").exists()


STALE = """
from callboard.scheduler.orders.keyed import KeyedOrder

class Stale(KeyedOrder):
    name, summary = "stale", "counts facts, and keys jobs by that"
    facts = 0

    def observe(self, fact, view):
        self.facts += 1
        super().observe(fact, view)

    def key(self, job, kind):
        return (self.facts % 7, job.submitted_ms)

    def score(self, key):
        return float(key[0])
"""


def test_runs_that_the_policy_has_spoilt_are_no_scenarios_that_do_not_apply(
    callboard: Run, tmp_path: Path
) -> None:
    """“Did not apply in 12”, it said of runs that a key gone stale had ended."""
    mine = tmp_path / "stale.py"
    mine.write_text(STALE, encoding="utf-8")
    asked = ("--property", "finishes", "--property", "reproducible", "--max-examples", "10")
    status, out, _ = callboard("check", f"{mine}:Stale", *asked)
    assert status == 0
    assert "2 properties tested as if guaranteed, 10 scenarios each" in out
    assert len(re.findall(r"the run broke S15 in \d", out)) == 2
    assert "did not apply" not in out


@pytest.mark.soak
def test_the_speculation_rule_of_the_docs_keeps_what_every_policy_does(callboard: Run) -> None:
    """And has second attempts that win, as its page's command shows."""
    rule = f"{ROOT}/docs/examples/thrice_as_long.py:ThriceAsLong"
    assert callboard("check", f"fair+{rule}", "--max-examples", "10")[0] == 0
    _, out, _ = callboard("run", "stragglers", "--policy", f"fair+{rule}", "--check", "--json")
    assert json.loads(out)[0]["speculation"]["won"] > 10


@pytest.mark.soak
def test_the_preemption_rule_of_the_docs_keeps_what_every_policy_does(callboard: Run) -> None:
    """And jobs wait less with it, as its page's command shows."""
    with_rule = f"fair+{ROOT}/docs/examples/nobody_waits.py:NobodyWaits"
    assert callboard("check", with_rule, "--max-examples", "10")[0] == 0
    both = ("--policy", "fair", "--policy", with_rule)
    fair, nobody_waits = json.loads(callboard("run", "hfsp-test", *both, "--check", "--json")[1])
    assert nobody_waits["response_seconds"]["mean"] < 0.9 * fair["response_seconds"]["mean"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name a policy"),
        (("fare",), "did you mean"),
        (("fair", "--property", "max-mean"), "did you mean `max-min`"),
        (("--replay", "nowhere.toml"), "nowhere.toml"),
        (("fair", "--to", __file__), "is a file, and no folder"),
    ],
)
def test_bad_input_of_check(callboard: Run, arguments: tuple[str, ...], says: str) -> None:
    status, out, err = callboard("check", *arguments)
    assert (status, out) == (2, "")
    assert says in err


def test_a_scenario_that_is_no_counterexample_cannot_be_replayed(callboard: Run) -> None:
    path = str(ROOT / "scenarios" / "library" / "two-jobs.toml")
    status, _, err = callboard("check", "--replay", path)
    assert status == 2
    assert "no line `# property: NAME`" in err


@pytest.mark.soak
def test_the_hunt_finds_where_fifo_is_worse_than_fair(callboard: Run, tmp_path: Path) -> None:
    """A short job behind a long one: the more so the longer that is."""
    hunt = ("hunt", "fifo", "--against", "fair", "--max-examples", "8", "--to", str(tmp_path))
    status, out, _ = callboard(*hunt)
    assert status == 0
    (path,) = tmp_path.iterdir()
    data = tomllib.loads(path.read_text())
    assert data.get("policies", ["fifo", "fair"]) == ["fifo", "fair"]
    assert scenario_size(load_scenario(path))[1] <= 4
    assert float(out.splitlines()[2].split()[0]) > 5
    assert f"; callboard run {path} --slowdown compares the two" in out
    first = path.read_bytes()
    assert "in place of the file that was there" not in out
    status, out, _ = callboard(*hunt)
    assert status == 0
    assert f"written to {path}, in place of the file that was there; " in out
    assert path.read_bytes() == first


@pytest.mark.soak
def test_a_hunt_finds_two_jobs_that_take_slots_from_each_other(
    callboard: Run, tmp_path: Path
) -> None:
    """The smallest world in which a preemption rule flaps, by one command; and none is made up."""
    hunt = ("hunt", "psbs+preemptive", "--against", "psbs", "--objective", "flapping")
    status, out, _ = callboard(*hunt, "--max-examples", "50", "--to", str(tmp_path))
    assert status == 0
    assert float(out.splitlines()[2].split()[0]) >= 1
    (path,) = tmp_path.iterdir()
    assert f"; callboard run {path} compares the two" in out
    assert scenario_size(load_scenario(path))[1] <= 3
    hunt = ("hunt", "fifo+preemptive", "--against", "fifo", "--objective", "flapping")
    status, out, _ = callboard(*hunt, "--max-examples", "5", "--to", str(tmp_path / "none"))
    assert status == 0
    assert "in none of" in out
    assert not (tmp_path / "none").exists()


def test_a_hunt_that_finds_nothing_worse_says_so(callboard: Run, tmp_path: Path) -> None:
    """It named a scenario in which both were alike: 1.00, the worst of five."""
    hunt = ("hunt", "fifo", "--against", "fifo+kill", "--max-examples", "2")
    status, out, _ = callboard(*hunt, "--to", str(tmp_path / "none"))
    assert status == 0
    assert out.startswith("fifo against fifo+kill: max slowdown\n  the greatest slowdown (")
    assert "worse in none of 5 scenarios" in out
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("hunted_first", [True, False])
def test_a_hunt_says_in_how_many_scenarios_a_policy_failed(
    callboard: Run, tmp_path: Path, hunted_first: bool
) -> None:
    """It found nothing in them: what is said of it may not sound like praise."""
    file = tmp_path / "mine.py"
    file.write_text(RAISES)
    hunted, against = (f"{file}:Raises", "fair")[:: 1 if hunted_first else -1]
    hunt = ("hunt", hunted, "--against", against, "--max-examples", "2")
    status, out, _ = callboard(*hunt, "--to", str(tmp_path / "worst"))
    assert status == 1
    (tried,) = re.findall(r"in none of (\d+) scenarios", out)
    assert f"{file}:Raises did not come to its end in {tried} of {tried} scenarios" in out
    assert "fair did not come" not in out
    assert "  ZeroDivisionError: division by zero (mine.py, line 9, in key)" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("fifo", "--against", "fifo"), "as good as itself"),
        (("fifo", "--against", "fair", "--objective", "max slodown"), "did you mean"),
        (("fifo", "--against", "fair", "--goal", "max slodown"), "did you mean"),
    ],
)
def test_bad_input_of_hunt(callboard: Run, arguments: tuple[str, ...], says: str) -> None:
    status, out, err = callboard("hunt", *arguments)
    assert (status, out) == (2, "")
    assert says in err


FORGETS = """
from callboard.scheduler.orders.keyed import KeyedOrder

class Counts(KeyedOrder):
    name = "counts"
    summary = "whoever was asked last"
    asked = 0

    def key(self, job, kind):
        self.asked += 1
        return (-self.asked,)

    def score(self, key):
        return key[0]
"""


@pytest.mark.soak
def test_a_hunt_names_the_property_that_shows_a_broken_rule(callboard: Run, tmp_path: Path) -> None:
    """It sent to `finishes`, which a run that breaks a rule does not concern."""
    file = tmp_path / "counts.py"
    file.write_text(FORGETS)
    hunt = ("hunt", f"{file}:Counts", "--against", "fair", "--max-examples", "2")
    status, out, _ = callboard(*hunt, "--to", str(tmp_path / "worst"))
    assert status == 1
    assert "S15 is broken" in out
    command = f"callboard check {file}:Counts --property strict-order"
    assert f"  {command} makes that small" in out
    status, out, _ = callboard(*command.split()[1:], "--to", str(tmp_path / "small"))
    assert status == 1
