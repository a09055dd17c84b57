"""The commands in a real terminal: they come up, answer, and leave it as they found it."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import FaultStruck
from callboard.actors.vocabulary.faults import Crash
from callboard.journal.reader import Journal
from callboard.journal.writer import JournalWriter
from tests.callboard.support import environment, shell
from tests.journal.replay.support import outage

pytestmark = pytest.mark.soak

_PATIENCE_S = 60


class Terminal:
    """A pseudo-terminal with `callboard` in it."""

    def __init__(self, *arguments: str, columns: int = 80, lines: int = 24, **changes: str) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        self.said = b""
        size = {"COLUMNS": str(columns), "LINES": str(lines)}  # which are believed before it
        self.process = subprocess.Popen(
            [sys.executable, "-m", "callboard", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment(TERM="xterm-256color", **changes), **size},
            start_new_session=True,
        )

    def until(self, text: str, pressing: str = "") -> None:
        """Read until the program has written this; press keys again every few seconds meanwhile: on
        a busy machine one that was pressed as the screen began was once without effect.
        """
        end_s = time.monotonic() + _PATIENCE_S
        again_s = time.monotonic() if pressing else end_s
        while text.encode() not in self.said:
            assert time.monotonic() < end_s, f"{text!r} never came: {self.said[-2000:]!r}"
            if time.monotonic() >= again_s:
                self.press(pressing)
                again_s += _PATIENCE_S / 20
            self._read()

    def _read(self) -> None:
        if select.select([self.ours], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                self.said += os.read(self.ours, 65536)

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def leave(self) -> int:
        """Wait for the end; the exit status."""
        end_s = time.monotonic() + _PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end_s, "it does not end"
            self._read()
        self._read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def check_it_is_sane(self) -> None:
        """Echo and lines are as before, the first screen is back, the cursor is there."""
        assert termios.tcgetattr(self.theirs) == self.before
        assert self.said.rfind(b"\x1b[?1049l") > self.said.rfind(b"\x1b[?1049h")
        assert self.said.rfind(b"\x1b[?25h") > self.said.rfind(b"\x1b[?25l")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "outage.journal"
    with JournalWriter(path) as sink:
        for event in outage():
            sink(event)
    return path


@contextlib.contextmanager
def terminal(*arguments: str, columns: int = 80, lines: int = 24) -> Iterator[Terminal]:
    opened = Terminal(*arguments, columns=columns, lines=lines)
    try:
        yield opened
    finally:
        opened.close()


def test_replay_comes_up_answers_and_leaves(journal: Path) -> None:
    with terminal("replay", str(journal)) as screen:
        screen.until("rack-outage")
        screen.until("nightly")
        screen.press("m")
        screen.until("00:07:00.000")
        screen.press("q")
        assert screen.leave() == 0
        screen.check_it_is_sane()


@pytest.mark.parametrize("key", ["\x03", "q"])
def test_watch_plays_and_leaves_a_whole_journal(tmp_path: Path, key: str) -> None:
    path = tmp_path / "watched.journal"
    with terminal("watch", "two-jobs", "--journal", str(path)) as screen:
        screen.until("two-jobs")
        screen.press(".")
        screen.until("00:00:00.0")
        screen.press(key)
        assert screen.leave() == 0
        screen.check_it_is_sane()
    recorded = Journal(path)
    events = list(recorded)
    assert recorded.complete, events[-1]


def test_without_arguments_a_scenario_is_offered_and_watched() -> None:
    with terminal() as screen:
        screen.until("choose a scenario to watch")
        screen.until("more than ten times: under FIFO")
        screen.press("\x1b[C ")  # not the first policy
        screen.press("\x1b[B ")  # but the other one
        screen.press("\r")
        screen.until("under fair")
        screen.said = b""
        screen.press("q")
        screen.until("choose a scenario to watch")  # leaving a run leads back
        screen.press("\x11")  # ctrl+q: letters filter
        assert screen.leave() == 0
        screen.check_it_is_sane()


def test_without_arguments_and_without_a_terminal_there_is_help() -> None:
    done = shell("callboard < /dev/null")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: callboard")


def test_watch_by_hand_beside_another_run(tmp_path: Path) -> None:
    """With keys alone: two runs, the same crash in both, and both whole in their journals."""
    path = tmp_path / "two.journal"
    two = "watch", "two-jobs", "--policy", "fifo", "--policy", "fair", "--journal", str(path)
    with terminal(*two, columns=160, lines=50) as screen:
        screen.until("side by side")
        screen.press("u")
        screen.until("Play until …")
        screen.press("e")
        screen.until("succeeded after")
        screen.press("1c")  # to the slots, which then say how large they are
        screen.until("slots: tiles")
        screen.press("\x1b[C")
        screen.until("▸")
        screen.press("x")
        screen.until("node-0: up and well")
        screen.press("k")
        screen.until("node-0 crashes")
        screen.press("q")
        assert screen.leave() == 0
        screen.check_it_is_sane()
    for policy in ("fifo", "fair"):
        recorded = Journal(tmp_path / f"two-{policy}.journal")
        injected = [event.fault for event in recorded if isinstance(event, FaultStruck)]
        assert injected == [Crash(0)]
        assert recorded.complete
    assert len(list(tmp_path.iterdir())) == 2


def test_a_signal_leaves_the_terminal_sane(journal: Path) -> None:
    with terminal("replay", str(journal)) as screen:
        screen.until("nightly")
        screen.process.send_signal(signal.SIGINT)
        assert screen.leave() in (0, 130)
        screen.check_it_is_sane()


def test_a_cut_off_journal_is_shown_as_far_as_it_goes(journal: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.journal"
    path.write_bytes(journal.read_bytes()[:60_000])
    with terminal("replay", str(path), columns=160, lines=50) as screen:
        screen.until("nightly")
        screen.until("cut off here", pressing="\x1b[F")
        screen.press("q")
        assert screen.leave() == 0


def test_damage_further_on_is_told_in_words(journal: Path, tmp_path: Path) -> None:
    """The screen closes, and the message says where the damage is."""
    content = bytearray(journal.read_bytes())
    content[80_000] ^= 0xFF
    path = tmp_path / "damaged.journal"
    path.write_bytes(bytes(content))
    with terminal("replay", str(path)) as screen:
        assert screen.leave() == 2
        assert b"damaged" in screen.said
        assert b"Traceback" not in screen.said


def test_a_terminal_that_is_too_small(journal: Path) -> None:
    with terminal("replay", str(journal), columns=40, lines=10) as screen:
        assert screen.leave() == 2
        assert b"the terminal has 40" in screen.said
        assert b"needs" in screen.said


def test_no_terminal_at_all(journal: Path) -> None:
    done = shell('callboard replay "$1" < /dev/null', str(journal))
    assert done.returncode == 2
    assert "this needs a terminal; `callboard show` prints a journal anywhere" in done.stderr
    done = shell("callboard watch two-jobs < /dev/null")
    assert (done.returncode, "needs a terminal" in done.stderr) == (2, True)


def test_what_is_wrong_is_said_before_the_screen(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    for arguments, words in (
        (("replay", str(tmp_path / "none")), "No such file"),
        (("replay", str(empty)), "this is not a Callboard journal"),
        (("watch", "nowhere"), "nowhere"),
        (("watch", "two-jobs", "--policy", "fairest"), "fairest"),
        (("watch", "two-jobs", *(["--policy", "fifo"] * 3)), "room for 2 runs"),
        (("watch", "two-jobs", "--journal", str(tmp_path / "no" / "j")), "No such file"),
    ):
        with terminal(*arguments) as screen:
            assert screen.leave() == 2, arguments
            assert words.encode() in screen.said
            assert b"\x1b[?1049h" not in screen.said


def test_help_names_what_there_is() -> None:
    done = shell("callboard watch --help && callboard replay --help && callboard --help")
    assert done.returncode == 0
    for word in ("--policy", "--journal", "--theme", "--set", "JOURNAL", "replay", "watch"):
        assert word in done.stdout
