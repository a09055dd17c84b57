"""Code that a scenario or a journal names runs only if it is trusted, or named by the user too."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import FaultStruck, RunStarted
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.api import run
from callboard.journal.reader import Journal
from callboard.journal.writer import JournalWriter
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.callboard.conftest import Run

CODE = """
from pathlib import Path
from callboard.scheduler.orders.fifo import Fifo

Path({marker!r}).touch()

class Mine(Fifo):
    name, summary = "mine", "FIFO, and a trace of having run"
"""
SCENARIO = """
name = "guest"
policies = [{policy}]
{more}
[workload]
kind = "jobs"
job = [{{maps = 2, map_s = 1}}]
{last}
"""
REFUSAL = "is code in a Python file, named from within; if you trust it, say --trust"


class Guest:
    """A scenario from somewhere that brings a policy along, which leaves a mark when it is run."""

    def __init__(self, folder: Path) -> None:
        self.marker = folder / "it ran"
        self.file = folder / "guest.py"
        self.file.write_text(CODE.format(marker=str(self.marker)))
        self.policy = f"{self.file}:Mine"
        self.path = folder / "guest.toml"

    def write(self, policy: str = '"fifo"', more: str = "", last: str = "") -> str:
        self.path.write_text(SCENARIO.format(policy=policy, more=more, last=last))
        return str(self.path)

    @property
    def ran(self) -> bool:
        found = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        return found


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    return Guest(tmp_path)


PLACES: dict[str, Callable[[Guest], str]] = {
    "policies[0]": lambda g: g.write(policy=f'"{g.policy}"'),
    "policies[1]": lambda g: g.write(policy=f'"fifo", "fifo+{g.policy}"'),
    "timeline[0].policy": lambda g: g.write(
        last=f'[[timeline]]\nat_s = 1\nwhat = "policy"\npolicy = "{g.policy}"'
    ),
}


@pytest.mark.parametrize("key", PLACES)
def test_code_that_a_scenario_names_is_refused_before_it_runs(
    callboard: Run, guest: Guest, key: str
) -> None:
    path = PLACES[key](guest)
    status, out, err = callboard("run", path)
    assert (status, out) == (2, "")
    assert f"{key}: " in err
    assert REFUSAL in err
    assert f"{guest.path}, line " in err
    assert not guest.ran


def test_a_table_of_parameters_for_it_is_refused_too(callboard: Run, guest: Guest) -> None:
    status, _, err = callboard("run", guest.write(more=f'[parts."{guest.policy}"]\n'))
    assert status == 2
    assert REFUSAL in err
    assert not guest.ran


def test_it_runs_if_it_is_trusted(callboard: Run, guest: Guest) -> None:
    status, out, _ = callboard("run", PLACES["policies[0]"](guest), "--trust", "--verbose")
    assert status == 0
    assert "Mine: digest" in out


def test_it_runs_if_the_user_names_the_file(callboard: Run, guest: Guest) -> None:
    path = PLACES["timeline[0].policy"](guest)
    assert callboard("run", path, "--policy", "fair")[0] == 2
    assert callboard("run", path, "--policy", guest.policy)[0] == 0


def test_under_another_policy_the_scenarios_own_stays_unread(callboard: Run, guest: Guest) -> None:
    path = PLACES["policies[0]"](guest)
    status, out, _ = callboard("run", path, "--policy", "fair", "--verbose")
    assert status == 0
    assert "fair: digest" in out
    assert not guest.ran


def test_from_python_it_needs_trust_too(guest: Guest) -> None:
    path = PLACES["policies[0]"](guest)
    with pytest.raises(ScenarioError, match="trust=True"):
        run(path)
    assert not guest.ran
    assert run(path, "fair").summary.policy == "fair"
    assert not guest.ran
    assert run(path, trust=True).summary.policy == guest.policy
    assert run(path, guest.policy).summary.policy == guest.policy


def recorded(guest: Guest, callboard: Run, *, switched: bool) -> str:
    """A journal whose run began under the guest's policy, or was switched to it by hand."""
    own, path = guest.path.with_name("own.journal"), guest.path.with_name("guest.journal")
    assert callboard("run", guest.write(), "--policy", "fifo", "--journal", str(own))[0] == 0
    with JournalWriter(path) as sink:
        started, *others = Journal(own)
        assert isinstance(started, RunStarted)
        began = "fifo" if switched else guest.policy
        sink(msgspec.structs.replace(started, policy=began))
        if switched:
            sink(FaultStruck(0, SwitchPolicy(guest.policy)))
        for event in others:
            sink(event)
    return str(path)


@pytest.mark.parametrize("switched", [False, True])
def test_code_that_a_journal_names_is_refused_before_it_runs(
    callboard: Run, guest: Guest, switched: bool
) -> None:
    path = recorded(guest, callboard, switched=switched)
    status, out, err = callboard("run", path)
    assert (status, out) == (2, "")
    assert REFUSAL in err
    assert not guest.ran
    assert callboard("run", path, "--trust")[0] == 0


@pytest.mark.parametrize(
    "command", [("show",), ("explain", "0"), ("export", "--format", "csv", "--to", "-")]
)
def test_what_only_reads_a_journal_runs_nothing(
    callboard: Run, guest: Guest, command: tuple[str, ...]
) -> None:
    path = recorded(guest, callboard, switched=False)
    assert callboard(command[0], path, *command[1:])[0] == 0
    assert not guest.ran
