"""Every command on every kind of input: played, or refused in a line."""

import sys
from collections.abc import Callable
from pathlib import Path
from shlex import split

import pytest

from callboard.commands import watch_command
from callboard.journal.replay.source import Source
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, HADOOP2, SWF, TASKS_CSV, written
from tests.histories.readers.test_any_format import SAMPLES
from tests.histories.readers.test_column_map import TASKS_MAP
from tests.support.soak import one_in
from tests.tui.support import Screen, drive

pytestmark = pytest.mark.usefixtures("in_this_process")

SWIM = "job0\t0\t0\t67108864\t1000\t10\njob1\t5\t5\t67108864\t0\t0\n"
SCENARIO = """name = "mine"
[workload]
kind = "jobs"
[[workload.job]]
name = "alone"
maps = 3
map_s = 10
reduces = 1
"""
TABLE = f"--map {TASKS_MAP}"

Make = Callable[[Path, Run], str]
"""Makes an input in a folder; its name, with the options that it takes to read it."""


def library(folder: Path, callboard: Run) -> str:  # noqa: ARG001
    return "two-jobs"


def of_file(text: str, name: str) -> Make:
    def make(folder: Path, callboard: Run) -> str:  # noqa: ARG001
        return str(written(folder, text, name))

    return make


def imported_from(text: str, name: str, options: str = "") -> Make:
    def make(folder: Path, callboard: Run) -> str:
        source = written(folder, text, name)
        assert (
            callboard("import", str(source), *split(options), "--to", str(folder / "read"))[0] == 0
        )
        return str(folder / "read" / f"{source.stem}.toml")

    return make


def calibrated(folder: Path, callboard: Run) -> str:
    source, to = written(folder, HADOOP1), folder / "calibrated.toml"
    assert callboard("calibrate", str(source), "--to", str(to))[0] == 0
    return str(to)


def folder_of_histories(folder: Path, callboard: Run) -> str:  # noqa: ARG001
    inner = folder / "done"
    inner.mkdir()
    written(inner, HADOOP1)
    return str(inner)


def recorded(folder: Path, callboard: Run) -> str:
    source, journal = written(folder, HADOOP1), folder / "h.journal"
    assert callboard("run", str(source), "--policy", "fair", "--journal", str(journal))[0] == 0
    return str(journal)


INPUTS: dict[str, Make] = {
    "library": library,
    "scenario": of_file(SCENARIO, "mine.toml"),
    "swim": of_file(SWIM, "trace.tsv"),
    **{name: of_file(text, "history") for name, (text, options) in SAMPLES.items() if not options},
    "table": lambda folder, _: f"{written(folder, TASKS_CSV)} {TABLE}",
    "folder": folder_of_histories,
    "imported Hadoop 2": imported_from(HADOOP2, "job.jhist"),
    "imported SWF": imported_from(SWF, "log.swf"),
    "imported table": imported_from(TASKS_CSV, "tasks.csv", TABLE),
    "calibrated": calibrated,
    "recorded": recorded,
}

PLAYED = (
    "run {} --policy fair",
    "run {} --policy fair --check --slowdown --by user --json",
    "run {} --policy fair --seeds 2",
    "run {} --policy fifo --policy fair --seeds 2 --slowdown",
    "backtest {} --policy fair",
    "forecast {} --policy fair --at 1s --runs 20 --cores 1",
    "calibrate {} --to {out}/c.toml",
    "import {} --to {out}/i.toml",
    "sweep {} --policy fair --seeds 2 --slowdown --cores 1 --store {out}/s.sqlite",
)
"""What takes a scenario or a history."""

READ = (
    "show {}",
    "explain {} 0",
    "diff {} {}",
    "plot {} --to {out}/p.svg",
    "report {} --to {out}/r.html",
    "export {} --to {out}/e.html",
    "export {} --to {out}/e.json",
    "export {} --to {out}/e.csv",
    "export {} --to {out}/e.history",
    "export {} --to {out}/e.swf",
    "export {} --to {out}/sls/ --format sls",
    "export {} --to {out}/e.txt --format batsim",
)
"""What takes a journal."""

REFUSED = {
    "library": {"backtest", "calibrate", "import"},
    "scenario": {"backtest", "calibrate", "import"},
    "swim": {"backtest", "calibrate", "import"},
    "imported Hadoop 2": {"import"},
    "imported SWF": {"import"},
    "imported table": {"import", "backtest"},
    "calibrated": {"import"},
    "recorded": {"calibrate", "import", "sweep", "--seeds"},
    "table": {"backtest"},
    "SLS SYNTH workload": {"backtest"},
}
"""What each kind of input is not for: it is no history, or has been read already, or is one run, or
tells of no job how long it took.
"""


@pytest.mark.soak
@pytest.mark.parametrize("kind", one_in(4, INPUTS))
def test_what_can_be_played_is(kind: str, tmp_path: Path, callboard: Run) -> None:
    given = INPUTS[kind](tmp_path, callboard)
    for command in PLAYED:
        refused = not REFUSED.get(kind, set()).isdisjoint(command.split())
        status, told = outcome(command, given, tmp_path, callboard)
        assert status == 2 * refused, (command, told)


@pytest.mark.soak
@pytest.mark.parametrize("kind", one_in(4, INPUTS))
def test_what_can_be_played_is_watched_to_its_end(
    kind: str, tmp_path: Path, callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside another policy, but for a recorded run: that is one."""
    shown: list[str] = []

    async def to_the_end(screen: Screen) -> None:
        await screen.press("end")
        await screen.until(lambda: screen.frame.end_ms is not None)
        shown.append(screen.text())

    def show(source: Source, *_: object, **__: object) -> int:
        drive(source, to_the_end, (120, 40))
        return 0

    monkeypatch.setattr(watch_command, "check_terminal", lambda: None)
    monkeypatch.setattr(watch_command, "show_on_screen", show)
    given = INPUTS[kind](tmp_path, callboard)
    assert outcome("watch {} --policy fair --policy fifo", given, tmp_path, callboard)[0] == 0
    assert all("fifo" in text and "fair" in text for text in shown)
    assert len(shown) == 1


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["scenario", "swim", "folder", "imported Hadoop 2", "calibrated"])
def test_more_seeds_read_no_file_again(kind: str, tmp_path: Path, callboard: Run) -> None:
    given = INPUTS[kind](tmp_path, callboard)

    def opened(seeds: int) -> int:
        _Opened.files.clear()
        _Opened.noted = True
        assert callboard("run", given, "--policy", "fair", "--seeds", str(seeds))[0] == 0
        _Opened.noted = False
        return sum(str(tmp_path) in each for each in _Opened.files)

    few, many = opened(2), opened(9)
    assert many <= few


class _Opened:
    """The names of the files that this process opens, while they are noted."""

    noted = False
    files: list[str] = []  # noqa: RUF012


def _note_opened(event: str, arguments: tuple[object, ...]) -> None:
    if _Opened.noted and event == "open":
        _Opened.files.append(str(arguments[0]))


sys.addaudithook(_note_opened)


@pytest.mark.soak
@pytest.mark.parametrize("kind", INPUTS)
def test_a_journal_is_read_and_nothing_else(kind: str, tmp_path: Path, callboard: Run) -> None:
    given = INPUTS[kind](tmp_path, callboard)
    for command in READ:
        status, told = outcome(command, given, tmp_path, callboard)
        assert status == 2 * (kind != "recorded"), (command, told)


@pytest.mark.soak
def test_the_store_of_a_history_is_drawn_and_told(tmp_path: Path, callboard: Run) -> None:
    given, store = folder_of_histories(tmp_path, callboard), tmp_path / "s.sqlite"
    swept = callboard("sweep", given, "--seeds", "2", "--slowdown", "--store", str(store))
    assert swept[0] == 0, swept
    for command in ("plot {} --to {out}/p.svg", "report {} --to {out}/r.html"):
        assert outcome(command, str(store), tmp_path, callboard)[0] == 0


def outcome(command: str, given: str, folder: Path, callboard: Run) -> tuple[int, str]:
    """The status, and what was said on standard error: of a refusal a line."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    try:
        status, _, error = callboard(*split(command.replace("{}", given).format(out=out)))
    except SystemExit as leaving:  # of argparse: an option that this command has not
        return int(leaving.code or 0), ""
    if status:
        assert (status, error[:11], error.count("\n")) == (2, "callboard: ", 1), error
    return status, error
