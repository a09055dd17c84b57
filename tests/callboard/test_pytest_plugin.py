"""The pytest plugin: three lines test a user's own policy."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from callboard import pytest_plugin
from tests.callboard.support import ROOT, environment

TEST = """
@pytest.mark.callboard("{policy}", max_examples=15)
def test_my_{fixture}({fixture}):
    {fixture}.keep()
"""

WRONG_MARKS = """
import pytest

@pytest.mark.callboard("./gone.py:Mine")
def test_gone(guarantee):
    guarantee.keep()

def test_unmarked(guarantee):
    guarantee.keep()

@pytest.mark.callboard("fair", profile="quik")
def test_profile(guarantee):
    guarantee.keep()

@pytest.mark.callboard("fair", examples=3)
def test_word(guarantee):
    guarantee.keep()

@pytest.mark.callboard(5)
def test_no_policy(guarantee):
    guarantee.keep()

@pytest.mark.callboard("fair", max_examples=0)
def test_examples(guarantee):
    guarantee.keep()

@pytest.mark.callboard("fair", seed="x")
def test_seed(guarantee):
    guarantee.keep()

def test_of_something_else():
    pass
"""


def test_pytest_finds_the_plugin_where_callboard_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"callboard": pytest_plugin.__name__}


def run(folder: Path, policy: str, *fixtures: str) -> subprocess.CompletedProcess[str]:
    tests = [TEST.format(policy=policy, fixture=fixture) for fixture in fixtures]
    (folder / "test_mine.py").write_text("\n".join(["import pytest", *tests]))
    return pytest_of(folder, "-k", "max-min or pareto")


def pytest_of(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["-m", "pytest", "-p", "callboard.pytest_plugin", "-p", "no:cacheprovider", "-rA"]
    return subprocess.run(
        [sys.executable, *command, *options, "--strict-markers", "test_mine.py"],
        cwd=folder,
        env=environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.soak
def test_a_test_for_each_property_that_is_guaranteed(tmp_path: Path) -> None:
    """`promise` is what the fixture was called before."""
    kept = run(tmp_path, "fair", "guarantee", "promise")
    assert kept.returncode == 0, kept.stdout
    for fixture in ("guarantee", "promise"):
        assert f"PASSED test_mine.py::test_my_{fixture}[pareto]" in kept.stdout


@pytest.mark.soak
def test_a_broken_guarantee_fails_with_its_counterexample(tmp_path: Path) -> None:
    broken = run(tmp_path, f"{ROOT}/docs/examples/most_first.py:MostFirst", "guarantee")
    assert broken.returncode == 1
    assert "FAILED test_mine.py::test_my_guarantee[max-min]" in broken.stdout
    assert 'went to "job-0", which ran 1, and not to "job-1", which ran 0' in broken.stdout
    path = broken.stdout.partition("written to ")[2].split()[0]
    assert "# property: max-min" in Path(path).read_text()


def test_a_wrong_mark_ends_its_own_test_alone(tmp_path: Path) -> None:
    """It ended the collection of the whole file before."""
    (tmp_path / "test_mine.py").write_text(WRONG_MARKS)
    played = pytest_of(tmp_path)
    assert played.returncode == 1
    assert "1 passed, 7 errors" in played.stdout
    for told in (
        "./gone.py: there is no such file",
        "`guarantee` is for tests marked `@pytest.mark.callboard(policy, profile='quick',",
        "no profile 'quik'; choose ",
        "the mark has no `examples`",
        "a policy is its spelling, as 'fair' or './mine.py:Mine'; got 5",
        "`max_examples` is a whole number from 1 on; got 0",
        "`seed` is a whole number from 0 on; got 'x'",
    ):
        assert told in played.stdout
