"""Ctrl-C, stuck runs and failing actors, through the command line."""

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from callboard import playing
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import AnyEvent, JobFinished, RunEnded
from callboard.cli import COMMAND_SUMMARIES
from callboard.commands import backtest_command
from callboard.experiments.run import solo_runs
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.policy import Policy, QueuedJob
from callboard.scheduler.registry import parts
from callboard.scheduler.view import ClusterView, Offer
from tests.callboard.conftest import Run
from tests.callboard.support import python
from tests.histories.readers.samples import HADOOP1, written


class Presser(Onlooker):
    """Presses Ctrl-C that many times in a row when the first job has ended."""

    def __init__(self, times: int) -> None:
        self.times = times

    def observe(self, event: AnyEvent) -> None:
        if isinstance(event, JobFinished):
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)

    def on_progress(self, kernel: Kernel) -> None:
        pass


def press(monkeypatch: pytest.MonkeyPatch, times: int, title: str = "") -> list[str]:
    """Put a presser beside the runs of this title; the titles of all that were begun."""
    titles: list[str] = []

    @contextlib.contextmanager
    def watcher(_console: object, line: str, _jobs: int) -> Iterator[Presser | None]:
        titles.append(line)
        yield Presser(times) if title in line else None

    monkeypatch.setattr(playing, "run_progress", watcher)
    return titles


class LatePresser(Presser):
    """Presses Ctrl-C with the run's last event."""

    def observe(self, event: AnyEvent) -> None:
        if isinstance(event, RunEnded):
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_at_the_very_end_of_a_run_stops_what_comes_after() -> None:
    """It was too late for the run, and forgotten: a back-test of 30 seeds went on."""
    with pytest.raises(KeyboardInterrupt):
        run_simulation(load_run("two-jobs"), watcher=LatePresser(1))


@pytest.mark.parametrize(
    ("at", "told"),
    [(1, "0 of 3 seeds under fair, 0 of 3 seeds under fifo"), (5, "1 of 3 seeds under fifo")],
)
def test_a_back_test_says_what_ctrl_c_has_left_out(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, told: str
) -> None:
    """The table of the first seeds stood there as that of all, and policies lacked."""
    begun = count(1)

    @contextlib.contextmanager
    def watcher(*_: object) -> Iterator[Presser | None]:
        yield Presser(1) if next(begun) == at else None

    monkeypatch.setattr(backtest_command, "run_progress", watcher)
    history = str(written(tmp_path, HADOOP1))
    policies = ("--policy", "fair", "--policy", "fifo")
    asked = ("--set", "cluster.heartbeat.phases_ms=[0,1,2]", "--seeds", "3")
    status, out, err = callboard("backtest", history, *policies, *asked)
    assert status == 130
    assert err.endswith(f"callboard: interrupted: {told}\n")
    assert ("3 seeds" in out, "fifo" in out) == (at > 1, at > 1)


def test_ctrl_c_leaves_the_other_policies_out(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = press(monkeypatch, 1)
    status, out, _ = callboard("run", "two-jobs", "hfsp-test", "--slowdown")
    assert status == 130
    assert titles == ["fifo · two-jobs"]
    assert "fifo: interrupted" in out
    assert "fair" not in out
    status, out, _ = callboard("run", "two-jobs", "--json")
    assert (status, json.loads(out)[0]["reason"]) == (130, "interrupted")


def test_ctrl_c_while_times_alone_are_computed_leaves_them_out(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(_spec: object, **_how: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(solo_runs, "solo_times", pressed)
    status, out, _ = callboard("run", "two-jobs", "--slowdown", "--json")
    assert status == 130
    assert ["slowdown" in run for run in json.loads(out)] == [False, False]


SWALLOWED = """
import gc, signal, threading
from callboard import __main__, cli

def play():
    def callback(phase, info):
        gc.callbacks.remove(callback)
        signal.raise_signal(signal.SIGINT)
    gc.callbacks.append(callback)
    gc.collect()
    print("goes on")
    threading.Event().wait(60)
    return 0

cli.run_command_line = play
raise SystemExit(__main__.main())
"""


@pytest.mark.soak
def test_ctrl_c_in_a_callback_of_the_collector_is_answered_all_the_same() -> None:
    """Python ignores what is raised there, and any further Ctrl-C was ignored as well: Hypothesis
    has such a callback, and a hunt went on to its end.
    """
    found = python(SWALLOWED)
    assert (found.returncode, found.stdout) == (130, "goes on\n")
    assert found.stderr == ""


def test_in_the_background_ctrl_c_is_not_meant_for_the_run(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell starts it with SIGINT ignored, and that stays so."""
    press(monkeypatch, 1)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status, out, _ = callboard("run", "two-jobs", "--policy", "fifo")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert status == 0
    assert "interrupted" not in out


@pytest.mark.parametrize("host", ["trio", "direct"])
def test_a_second_ctrl_c_ends_it_at_once(
    callboard: Run, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    titles = press(monkeypatch, 2)
    before = signal.getsignal(signal.SIGINT)
    assert callboard("run", "two-jobs", "--host", host) == (130, "", "callboard: interrupted\n")
    assert titles == ["fifo · two-jobs"]
    assert signal.getsignal(signal.SIGINT) is before


def test_in_a_terminal_the_first_ctrl_c_says_what_a_second_does(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy's own endless loop does not end by being asked."""
    press(monkeypatch, 1)
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda told=is_terminal: told)
        _, _, err = callboard("run", "two-jobs", "--driver", "direct")
        assert ("Ctrl-C once more ends it at once" in err) == is_terminal


INTERRUPTED_IMPORT = """
import signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "callboard.cli":
            for _ in range({times}):
                signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
from callboard.__main__ import main
assert "rich" not in sys.modules
sys.exit(main())
"""


@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_while_the_program_loads(times: int) -> None:
    done = python(INTERRUPTED_IMPORT.format(times=times))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


MANY_CTRL_C = """
import signal, sys
from callboard import cli, __main__

def command_line():
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGINT)

cli.run_command_line = command_line
status = __main__.main()
signal.raise_signal(signal.SIGINT)
sys.exit(status)
"""


def test_further_ctrl_c_does_not_disturb_the_way_out() -> None:
    done = python(MANY_CTRL_C)
    assert (done.returncode, done.stderr) == (130, "")


def test_the_package_itself_loads_next_to_nothing() -> None:
    done = python("import callboard, sys; assert 'actors' not in sys.modules; callboard.run")
    assert (done.returncode, done.stderr) == (0, "")
    done = python("import callboard; callboard.walk")
    assert "has no attribute 'walk'" in done.stderr


class Idle(Fifo):
    """Never has anybody to launch."""

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        return iter(())


class Broken(Fifo):
    """Fails at its first decision."""

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        raise ZeroDivisionError("a slip")


def test_a_stuck_run_says_when_and_who_waits(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "compose_policy", lambda *_: Policy(Idle()))
    status, out, err = callboard("run", "two-jobs")
    assert (status, out) == (1, "")
    assert err.startswith("callboard: the run is stuck at 02:0")
    assert "nothing but heartbeats for 2 hours" in err
    assert "job 0 (long) waits: 0 of 12 maps" in err


@pytest.mark.parametrize("host", ["trio", "direct"])
def test_a_failing_actor_is_named_with_the_time_and_the_cause(
    callboard: Run, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(parts, "compose_policy", lambda *_: Policy(Broken()))
    status, out, err = callboard("run", "two-jobs", "--host", host)
    assert (status, out) == (1, "")
    first, second, *_ = err.split("\n")
    assert first == "callboard: ZeroDivisionError: a slip"
    assert second == "  at 00:00:00.001 of the run, under fifo, seed 1"
    assert "in queue" in err
    assert "receive" not in err


def test_a_command_line_loads_neither_the_screen_nor_the_kit() -> None:
    """Each takes a while to load, for which every other command would wait."""
    commands = ["", *sorted(COMMAND_SUMMARIES.keys() - {"check", "hunt"})]
    done = python(
        f"""
import sys
from callboard.commands import backtest_command
from callboard.cli import make_parser
for command in {commands}:
    make_parser(command)
    assert not {{'textual', 'hypothesis'}} & sys.modules.keys(), command
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_help_loads_no_more_than_the_names_of_the_commands() -> None:
    done = python(
        "import sys; from callboard.cli import make_parser; make_parser().format_help();"
        " assert not {'numpy', 'msgspec', 'trio'} & sys.modules.keys()"
    )
    assert (done.returncode, done.stderr) == (0, "")
