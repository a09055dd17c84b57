"""Names from files are inert wherever they are written: no writer lets one act or break a line."""

import csv
import io
import json
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from callboard.cli import run_command_line
from callboard.scenarios.scenario_file import from_dict
from callboard.scenarios.toml_writer import to_toml
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written

PIECES = (
    *("\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\r", "\n", "\n1 0 0 9 9 -1\n", "\x00", "\u202e"),
    *("\u2028", "\x7f", "[bold red]", ":smile:", "=1+1", "@x", "<b>&amp;", "</script>", "]]>"),
    *('"', "'", "\\", ",", ";", "${x}", "$x_1^2$", "%s", "{}", "a b", "ü", "\ud7ff", "\ufffe"),
)
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)

WRITERS = (
    "run {scenario} --by pool",
    "run {scenario} --by user --seeds 2",
    "run {scenario} --by user --json",
    "run {scenario} --policy fifo --journal {out}/r.journal",
    "show {out}/r.journal",
    "explain {out}/r.journal 0",
    "diff {out}/r.journal {out}/r.journal",
    "export {out}/r.journal --to {out}/e.csv",
    "export {out}/r.journal --to {out}/jobs.csv --rows jobs",
    "export {out}/r.journal --to {out}/e.json",
    "export {out}/r.journal --to {out}/e.html",
    "export {out}/r.journal --to {out}/e.swf",
    "export {out}/r.journal --to {out}/e.history",
    "export {out}/r.journal --to {out}/batsim.csv --format batsim",
    "export {out}/r.journal --to {out}/sls/ --format sls",
    "sweep {scenario} --store {out}/s.sqlite --export {out}/s.csv",
)
DRAWN = ("plot {out}/r.journal --to {out}/p.svg", "report {out}/r.journal --to {out}/r.html")


def scenario_of(name: str, user: str, pool: str) -> str:
    job = {"maps": 2, "map_s": 1, "reduces": 1, "shuffle_s": 1, "reduce_s": 1}
    raw = {
        "name": name,
        "story": "",
        "policies": ['fair(pool_by="pool")'],
        "cluster": {"nodes": 2, "racks": 1},
        "workload": {"kind": "jobs", "job": [{"name": name, "user": user, "pool": pool, **job}]},
    }
    return to_toml(from_dict(raw))


def acting(text: str) -> Iterator[str]:
    """Characters that a terminal, an editor or a parser of lines acts upon."""
    for each in text:
        if each not in "\n\t" and unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            yield each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def check_all(commands: tuple[str, ...], folder: Path, callboard: Run) -> None:
    """Nothing that is printed or written acts, and what has a grammar can be read."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    for command in commands:
        asked = command.format(scenario=folder / "hostile.toml", out=out)
        status, told, error = callboard(*asked.split())
        assert status == 0, (asked, error)
        assert not list(acting(told + error)), (asked, told, error)
    for path in out.rglob("*"):
        if path.is_file() and path.suffix not in (".journal", ".sqlite"):
            text = path.read_bytes().decode("utf-8")
            assert not list(acting(text)), (path.name, list(acting(text)))


def test_no_writer_lets_a_name_act(folder: Path, callboard: Run) -> None:
    check_writers(folder, callboard, "evil\n1 0 0 999 99 -1 -1 99\n;", "\x1b[2J", "\x1b[32m[bold]")


@pytest.mark.soak
@settings(
    derandomize=True,
    deadline=None,
    max_examples=30,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=HOSTILE, user=HOSTILE, pool=HOSTILE)
def test_nor_any_that_is_drawn(
    folder: Path, callboard: Run, name: str, user: str, pool: str
) -> None:
    check_writers(folder, callboard, name, user, pool)


def check_writers(folder: Path, callboard: Run, name: str, user: str, pool: str) -> None:
    """What is written of a scenario with these names can be read, and nothing in it acts."""
    (folder / "hostile.toml").write_text(scenario_of(name, user, pool), encoding="utf-8")
    check_all(WRITERS, folder, callboard)
    out = folder / "out"
    jobs = [line for line in (out / "e.swf").read_text().splitlines() if line[0] != ";"]
    assert len(jobs) == 1
    for path in out.glob("*.csv"):
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        assert len({len(row) for row in rows}) == 1, path.name
        assert not any(cell[:1] in ("=", "@") for row in rows for cell in row), path.name
    json.loads((out / "e.json").read_text())
    Xml.parse(out / "sls" / "fair-scheduler.xml")


@pytest.mark.soak
def test_nor_do_figures_and_reports(folder: Path, callboard: Run) -> None:
    """All pieces at once: these take their time."""
    hostile = scenario_of("".join(PIECES), "x".join(PIECES), " ".join(PIECES))
    (folder / "hostile.toml").write_text(hostile, encoding="utf-8")
    check_all((WRITERS[3], *DRAWN), folder, callboard)
    for path in (folder / "out").glob("*.svg"):
        Xml.parse(path)


@pytest.mark.parametrize(
    "damage",
    [b"\xff\xa5", b"[" * 100_000, b'{"a":' * 100_000],
    ids=["another encoding", "lists in lists", "objects in objects"],
)
@pytest.mark.parametrize(
    "form", [b'{"jobID": "%s"}', b'{"am.type": "%s"}', b"Avro-Json\n%s", b"%s"]
)
def test_an_odd_history_is_read_or_refused_in_a_line(
    form: bytes, damage: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = form % damage if damage[0] > 0x80 else form.replace(b'"%s"', b"%s") % damage
    path = tmp_path / "odd.json"
    path.write_bytes(text)
    assert run_command_line(["import", str(path), "--to", str(tmp_path / "to")]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_a_history_that_was_read_well_is_not_touched(tmp_path: Path, callboard: Run) -> None:
    """Beside the damaged ones: the same command plays a whole one."""
    path = written(tmp_path, HADOOP1)
    assert callboard("import", str(path), "--to", str(tmp_path / "to"))[0] == 0
