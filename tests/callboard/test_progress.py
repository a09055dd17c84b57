"""The progress line: what it counts, and what it shows at which width."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from callboard import progress_line
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import JobFinished, Outcome
from callboard.commands import reproduce_command
from callboard.console import PlainConsole
from callboard.experiments.many.task_pool import SharedBoard
from callboard.experiments.reproduction.recorded_outcomes import recorded_outcomes
from callboard.experiments.user_errors import InputError
from callboard.progress_line import (
    ProgressLine,
    announce_long_work,
    parallel_runs_progress,
    rough_time,
    run_progress,
    steps_progress,
)
from callboard.scheduler.model import Millis
from tests.callboard.conftest import Run

TITLE = "fair+delay(5,15) · [/]facebook-morning"


def last_line(width: int, jobs: int = 350, at_ms: Millis = 3_600_000) -> str:
    """The line after 12 of 350 jobs, at a virtual hour, 10 s after the start."""
    seconds = iter([0.0, 0.01, 10.0])
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, color_system=None)
    kernel = Kernel()
    kernel.messages = 123_456
    with run_progress(console, TITLE, jobs, lambda: next(seconds)) as watcher:
        watcher.on_progress(kernel)
        for job in range(12):
            watcher.observe(JobFinished(3_600_000, job, Outcome.SUCCEEDED, 0))
        kernel.now_ms = at_ms
        watcher.on_progress(kernel)
    shown = file.getvalue().replace("\x1b[2K", "\n").replace("\r", "\n").split("\n")
    (line,) = {each for each in shown if f"12/{jobs:,}" in each}
    return line


def test_a_wide_terminal_has_all_and_a_bar() -> None:
    line = last_line(120)
    assert "╸" in line
    for part in ("fair+delay(5,15) · [/]face", "12/350 jobs", "at 01:00:00", "12,346 messages/s"):
        assert part in line
    assert line.rstrip().endswith("left")


def test_100_columns_have_all_but_the_bar() -> None:
    line = last_line(100)
    assert line.startswith("fair+delay(5,15)")
    for part in ("12/350 jobs", "at 01:00:00", "12,346 messages/s", "left"):
        assert part in line
    assert "╸" not in line


def test_80_columns_have_no_rate_either() -> None:
    line = last_line(80)
    assert line.startswith("fair+delay(5,15)")
    for part in ("… 12/350 jobs", "at 01:00:00", "left"):
        assert part in line
    assert "messages" not in line


@pytest.mark.parametrize("width", range(46, 141, 2))
def test_the_time_left_is_never_cut(width: int) -> None:
    """Of 18,239 jobs in a hundred days, at 80 columns."""
    line = last_line(width, jobs=18_239, at_ms=9_003_600_000)
    assert "12/18,239 jobs" in line
    assert line.rstrip().endswith("left")
    assert "…" not in line[line.index("12/18,239") :]


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_has_jobs_and_time_left(width: int) -> None:
    line = last_line(width)
    assert "… 12/350 jobs" in line
    assert line.rstrip().endswith("left")
    assert "messages" not in line


def test_a_reader_who_has_gone_is_the_callers_affair() -> None:
    with pytest.raises(BrokenPipeError):
        PlainConsole().on_broken_pipe()


def test_while_piped_long_work_says_every_ten_seconds_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_line, "PIPED_LINE_S", 10)
    clock = iter((0.0, 4.0, 9.9, 10.0, 15.0, 31.0))
    with steps_progress("runs", 1200, done=100, clock_s=lambda: next(clock)) as move:
        for _ in range(5):
            move("fifo", 200)
    assert capsys.readouterr() == ("", "runs: 700 of 1,200, fifo\nruns: 1,100 of 1,200, fifo\n")


def test_while_piped_a_long_run_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_line, "PIPED_LINE_S", 10)
    clock, kernel = iter((0.0, 9.0, 10.0, 12.0, 20.0)), Kernel()
    with run_progress(PlainConsole(stderr=True), TITLE, 350, lambda: next(clock)) as watcher:
        for hour in range(1, 5):
            watcher.observe(JobFinished(3_600_000 * hour, hour, Outcome.SUCCEEDED, 0))
            kernel.now_ms = 3_600_000 * hour
            watcher.on_progress(kernel)
    told = [f"{TITLE}: 2 of 350 jobs, at 02:00:00", f"{TITLE}: 4 of 350 jobs, at 04:00:00"]
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in told))


def test_while_piped_runs_in_other_processes_say_how_far_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_line, "PIPED_LINE_S", 10)
    clock, shared, done = iter((0.0, 9.0, 10.0)), SharedBoard(2), ["first"]
    shared.rows[0], shared.rows[3] = 1_000, 234
    runs = [ProgressLine("fifo", 1_000), ProgressLine("fair", 1_000)]
    console = PlainConsole(stderr=True)
    with parallel_runs_progress(console, runs, shared, done, lambda: next(clock)) as look:
        look()
        look()
    assert capsys.readouterr() == ("", "runs: 1 of 2, 1,234 of 2,000 jobs\n")


def test_long_work_is_announced_and_short_work_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    announce_long_work("fair: 800 scenarios,", 9.9)
    assert capsys.readouterr() == ("", "")
    announce_long_work("fair: 3,000 scenarios,", 31)
    assert capsys.readouterr() == ("", "fair: 3,000 scenarios, about 40 s of processor time\n")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(10, "10 s"), (60, "60 s"), (61, "2 min"), (504, "9 min"), (3601, "2 h")],
)
def test_what_is_expected_is_rounded_up(seconds: float, told: str) -> None:
    assert rough_time(seconds) == told


def test_a_long_artefact_says_beforehand_how_long(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As recorded, by the share of its seeds that is asked for."""

    def stopped(*_given: object, **_named: object) -> None:
        raise InputError("stopped before the first run")

    monkeypatch.setattr(reproduce_command, "compute_missing", stopped)
    kept = str(tmp_path / "kept.sqlite")
    _, _, err = callboard("reproduce", "hfsp-fig-17", "--seeds", "2", "--cache", kept)
    known = recorded_outcomes()["hfsp-fig-17"]
    took_s = known.seconds * 2 / len(known.seeds)
    told = f"all that was asked for takes about {rough_time(took_s)} of processor time"
    assert told in err
    assert err.index(told) < err.index("stopped before")
