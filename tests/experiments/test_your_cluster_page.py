"""docs/your-cluster.md takes a reader from a history to a what-if table, as its commands print."""

import shutil
from pathlib import Path

import pytest

from tests.support.book_pages import CONSOLE, WRITE, check_command, page_text
from tests.support.traces import trace

pytestmark = pytest.mark.soak

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

BLOCKS = CONSOLE.findall(page_text("your-cluster.md"))
OF_HADOOP_2 = [(command, wanted) for command, wanted in BLOCKS if "jobs.toml" in command]
OF_SLURM = [(command, wanted) for command, wanted in BLOCKS if "sacct.txt" in command]
OWN = [each for each in BLOCKS if ".gz" not in each[0] and each not in (*OF_HADOOP_2, *OF_SLURM)]
OF_HADOOP_1 = [(command, wanted) for command, wanted in BLOCKS if "tracker-logs.gz" in command]
JHIST = (
    "job_0.23.9-FAILED.jhist",
    "job_1329348432655_0001-10.jhist",
    "job_1416424547277_0002-1416424775281-root-TeraGen-1416424785433-2-0-SUCCEEDED-default-"
    "1416424779349.jhist",
)
OF_A_TRACE = [(command, wanted) for command, wanted in BLOCKS if "trace.json.gz" in command]


@pytest.mark.soak
def test_the_commands_from_a_history_to_a_plan_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {command.split()[1] for command, _ in OWN} == {
        *("run", "export", "import", "calibrate", "backtest", "sweep", "explain", "forecast")
    }
    for command, wanted in OWN:
        check_command(command, wanted, capsys)
    assert (tmp_path / "busy.svg").is_file()
    assert (tmp_path / "sls" / "fair-scheduler.xml").is_file()


def test_the_backtest_of_a_real_history_of_hadoop_1_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "sample-job-tracker-logs.gz"
    shutil.copy(trace(f"hadoop1/{name}"), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    ((command, wanted),) = OF_HADOOP_1
    check_command(command, wanted, capsys)


def test_the_walk_of_a_folder_of_hadoop_2_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jhist").mkdir()
    for name in JHIST:
        shutil.copy(trace(f"jhist/{name}"), tmp_path / "jhist")
    monkeypatch.chdir(tmp_path)
    assert [command.split()[1] for command, _ in OF_HADOOP_2] == ["import", "backtest"]
    for command, wanted in OF_HADOOP_2:
        check_command(command, wanted, capsys)


def test_the_commands_on_a_real_trace_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(trace("rumen/folder-input-trace.json.gz"), tmp_path / "trace.json.gz")
    monkeypatch.chdir(tmp_path)
    assert len(OF_A_TRACE) == 3
    for command, wanted in OF_A_TRACE:
        check_command(command, wanted, capsys)


def test_the_import_of_what_sacct_prints_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ((name, rows),) = WRITE.findall(page_text("your-cluster.md"))
    Path(name).write_text(rows, encoding="utf-8")
    ((command, wanted),) = OF_SLURM
    check_command(command, wanted, capsys)
