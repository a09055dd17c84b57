"""What is installed: one package, whatever a user's own files are called."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLAY = """\
import callboard
import scheduler, actors

result = callboard.run("two-jobs", policy="fair")
print(result.summary.digest, scheduler.MINE, actors.MINE)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(ROOT)], check=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """The interpreter of an environment that holds the wheel and what it depends on, no more.

    What it depends on is lent by the environment of the tests; an editable install in there is
    not seen, since that is a line in a `.pth` file and those of a lent folder are not read.
    """
    folder = wheel.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    names = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", "venv", names))
    zipfile.ZipFile(wheel).extractall(site)
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Path(sysconfig.get_path("scripts", "venv", names)) / "python"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with a user's own `scheduler.py` and `actors.py`."""
    for name in ("scheduler", "actors"):
        (tmp_path / f"{name}.py").write_text('MINE = "mine"\n')
    return tmp_path


def test_a_wheel_has_the_papers(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "callboard/experiments/reproduction/papers/hfsp.toml" in names


def test_a_wheel_holds_one_package(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    beside = (".dist-info", ".data")
    assert {name for name in names if not name.endswith(beside)} == {"callboard"}
    assert "callboard/py.typed" in zipfile.ZipFile(wheel).namelist()
    assert "callboard/experiments/pages/report/page.html.jinja" in zipfile.ZipFile(wheel).namelist()
    for part in ("page.html", "page.css", "main.js"):
        assert f"callboard/journal/export/page/{part}" in zipfile.ZipFile(wheel).namelist()


def test_a_wheel_brings_the_man_page(wheel: Path) -> None:
    data = [name for name in zipfile.ZipFile(wheel).namelist() if ".data/" in name]
    assert [name.partition(".data/")[2] for name in data] == ["data/share/man/man1/callboard.1"]


@pytest.mark.soak
def test_a_users_own_scheduler_and_actors_shadow_nothing(python: Path, folder: Path) -> None:
    (folder / "play.py").write_text(PLAY)
    from_python = run(python, folder, "play.py").split()
    assert from_python[1:] == ["mine", "mine"]
    from_the_command_line = run(
        python, folder, "-m", "callboard", "run", "two-jobs", "--policy=fair", "--verbose"
    )
    assert f"digest {from_python[0]}" in from_the_command_line


def test_a_clone_without_links_says_what_to_do(tmp_path: Path) -> None:
    """Git on Windows writes a link as a file that holds its target, unless it may make links."""
    shutil.copytree(ROOT / "callboard", tmp_path / "callboard", symlinks=True)
    for link in (tmp_path / "callboard").iterdir():
        if link.is_symlink():
            target = str(link.readlink())
            link.unlink()
            link.write_text(target)
    command = [sys.executable, "-c", "import callboard"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "core.symlinks" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def run(python: Path, folder: Path, *arguments: str) -> str:
    """What a command prints in a folder."""
    command = [str(python), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
