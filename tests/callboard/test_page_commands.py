"""What a Python call's page says of its world, and how to run it again: that gives the same."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

import callboard as library
from callboard.notebook import Run as PlayedRun
from tests.callboard.conftest import Run

pytestmark = pytest.mark.usefixtures("in_this_process")

CHANGED = ["cluster.nodes=6", "tasks.sigma=0.4"]


def commands_of(page: Path) -> list[str]:
    told = unescape(page.read_text("utf-8"))
    assert "6 nodes in" in told
    return re.findall(r"callboard run [^<\n]*", told)


@pytest.mark.parametrize(
    ("seeds", "options"), [(2, ["--seeds 1..2"]), ([3, 7], ["--seed 3", "--seed 7"])]
)
def test_of_a_comparison(
    callboard: Run, tmp_path: Path, seeds: int | list[int], options: list[str]
) -> None:
    """It told of the library's cluster, named no override, and had no command."""
    page = tmp_path / "found.html"
    found = library.compare("two-jobs", ["fifo", "fair"], seeds=seeds, overrides=CHANGED)
    found.report(page)
    assert "tasks.sigma = 0.4" in page.read_text("utf-8")
    changed = "--set cluster.nodes=6 --set tasks.sigma=0.4"
    asked = f"callboard run two-jobs {changed} --policy fifo --policy fair"
    commands = commands_of(page)
    assert commands == [f"{asked} {each}" for each in options]
    one = " ".join([asked, "--seed", str(found.seeds[-1])])
    told = callboard(*shlex.split(one)[1:], "--json")[1]
    assert [run["digest"] for run in json.loads(told)] == found.runs["digest"][-2:].tolist()


def test_of_a_run(callboard: Run, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    options = library.RunOptions(until_ms=100_512, tie_order=3)
    run = library.run("two-jobs", "fair", seed=5, overrides=CHANGED, options=options)
    run.report(page)
    (command,) = commands_of(page)
    (again,) = json.loads(callboard(*shlex.split(command)[1:], "--json")[1])
    assert again["digest"] == run.summary.digest


def test_of_a_recorded_run(tmp_path: Path) -> None:
    journal, page = tmp_path / "my run.journal", tmp_path / "one.html"
    options = library.RunOptions(journal=journal)
    library.run("two-jobs", "fair", overrides=CHANGED, options=options)
    loaded = library.load(journal)
    assert isinstance(loaded, PlayedRun)
    loaded.report(page)
    assert commands_of(page) == [f"callboard run {shlex.quote(str(journal))}"]
