"""`make run` installs what running needs, and `make test` the rest; either says what went wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(venv: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "-C", str(ROOT), f"VENV={venv}", *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)


def stand_in(venv: Path, *lines: str) -> None:
    """An environment whose Python only does these lines of shell."""
    python = venv / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("\n".join(("#!/bin/sh", *lines, "")))
    python.chmod(0o755)


def test_running_needs_no_kit_and_testing_does(tmp_path: Path) -> None:
    run, test = (make(tmp_path / "venv", "--dry-run", target).stdout for target in ("run", "test"))
    assert ".[coshh]" in run
    assert ".[dev]" not in run
    assert ".[coshh]" in test
    assert ".[dev]" in test


def test_an_installation_shows_that_it_goes_on(tmp_path: Path) -> None:
    stand_in(tmp_path / "venv", "echo much that nobody reads")
    done = make(tmp_path / "venv", str(tmp_path / "venv" / ".installed-to-run"))
    assert done.returncode == 0
    first, dots = done.stdout.splitlines()
    assert first.startswith("installing Callboard into")
    assert set(dots) <= {"."}
    assert (tmp_path / "venv" / ".installed-to-run").exists()


def test_one_that_fails_tells_what_pip_said_and_is_tried_again(tmp_path: Path) -> None:
    stand_in(tmp_path / "venv", "echo no room left >&2", "exit 3")
    for _ in range(2):
        done = make(tmp_path / "venv", str(tmp_path / "venv" / ".installed-to-run"))
        assert done.returncode != 0
        assert "no room left" in done.stdout
