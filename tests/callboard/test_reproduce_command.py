"""`callboard reproduce`: what it lists, computes, keeps and writes."""

import json
import re
from pathlib import Path

import pytest

from callboard.cli import make_parser
from callboard.commands import reproduce_command
from callboard.commands.reproduce_command import artefacts_by_options
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS, chosen_artefacts
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.worked_examples import Worked
from tests.callboard.conftest import Run

FIELDS = {
    *("id", "paper", "place", "printed", "ours", "interval", "seeds", "verdict", "why"),
    *("command", "seconds", "classes", "fitted_on"),
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Where results are kept; what `--traces` puts into the environment is taken back."""
    monkeypatch.setenv("CALLBOARD_TRACES", "")
    return "--cache", str(tmp_path / "kept.sqlite")


def test_without_arguments_it_lists_every_artefact(callboard: Run, cache: tuple[str, str]) -> None:
    status, out, _ = callboard("reproduce", *cache)
    assert status == 0
    assert all(each.id in out for each in ARTEFACTS)
    assert "0 verdicts computed here" in out
    assert re.search(r"hfsp-fig-8 +differs .*\n +fitted ", out)


def test_an_example_is_computed_and_listed_from_then_on(
    callboard: Run, cache: tuple[str, str]
) -> None:
    status, out, _ = callboard("reproduce", "hfsp-fig-2", *cache)
    assert status == 0
    assert re.search(r"estimated again after each task +4.50 s +4.50 s +reproduced", out)
    assert "1 verdict computed here" in callboard("reproduce", *cache)[1]


def test_json_says_all_of_it(callboard: Run, cache: tuple[str, str]) -> None:
    _, out, _ = callboard("reproduce", "hfsp-fig-2", "hfsp-fig-5", "--json", *cache)
    found = json.loads(out)
    assert [each["id"] for each in found] == ["hfsp-fig-2", "hfsp-fig-5"]
    assert all(set(each) >= FIELDS for each in found)
    assert found[0]["printed"] == found[0]["ours"]
    assert list(found[0]["ours"].values()) == [3.5, 4, 4.5]
    assert (found[0]["verdict"], found[0]["why"]) == ("reproduced", "")
    assert set(found[0]["classes"].values()) == {"worked"}
    _, out, _ = callboard("reproduce", "--json", *cache)
    fitted = {each["id"] for each in json.loads(out) if each["fitted_on"]}
    assert fitted == {"hfsp-fig-8", "slides-small-jobs"}


def test_a_report_needs_nothing_outside_and_draws_the_print(
    callboard: Run, cache: tuple[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "papers.html"
    names = ("hfsp-fig-2", "slides-formula-gain", "gp-largest-jobs")
    assert callboard("reproduce", *names, "--report", str(page), *cache)[0] == 0
    html = page.read_text("utf-8")
    assert all(name in html for name in names)
    assert html.count("<svg") == 3
    assert not re.search(r"(?:src|href)=\"(?!#)|@import|url\((?!#)", html)


def test_markdown_has_the_tables(callboard: Run, cache: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "papers.md"
    assert callboard("reproduce", "hfsp-fig-3", "--markdown", str(page), *cache)[0] == 0
    assert "| | virtual size of job 2 | 2.50 s | 2.50 s | reproduced |" in page.read_text("utf-8")


def test_explore_sweeps_what_is_not_printed(
    callboard: Run, cache: tuple[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A table of the settings, and where the printed number comes out."""
    (figure,) = chosen_artefacts(["hfsp-fig-2"])
    settings = {"as printed": Worked("one-estimate"), "likewise": Worked("one-estimate")}
    sweep = Exploration(
        artefact=figure.id,
        assumption="nothing at all",
        plausible="twice the same",
        settings=settings,
        quantities=figure.quantities[:1],
    )
    monkeypatch.setattr(reproduce_command, "EXPLORATIONS", (sweep,))
    status, out, _ = callboard("reproduce", "hfsp-fig-2", "--explore", *cache)
    assert status == 0
    assert "comes out at as printed to likewise" in " ".join(out.split())
    _, out, _ = callboard("reproduce", "hfsp-fig-2", "--explore", "--json", *cache)
    assert json.loads(out)[0]["settings"] == list(settings)
    page = tmp_path / "explored.html"
    assert callboard("reproduce", "hfsp-fig-2", "--explore", "--report", str(page), *cache)[0] == 0
    html = page.read_text("utf-8")
    assert html.count("<svg") == 1
    assert "comes out at as printed to likewise" in html


@pytest.mark.parametrize("option", [["--quick"], ["--seeds", "2"], ["--report", "all.html"]])
def test_what_plays_without_a_name_plays_all(option: list[str]) -> None:
    parser = make_parser("reproduce")
    assert artefacts_by_options(parser.parse_args(["reproduce", *option])) == list(ARTEFACTS)
    assert not artefacts_by_options(parser.parse_args(["reproduce"]))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("hfsp-fig-66",), "hfsp-fig-66: no such paper or artefact; did you mean hfsp-fig-6"),
        (("hfsp", "--all"), "leave out the names, or --all"),
        (("hfsp-fig-2", "--explore"), "nothing is swept for these; it is for hfsp-fig-6, "),
        (("slides-waits", "--explore", "--markdown", "a.md"), "has no Markdown"),
        (("hfsp-fig-2", "--seeds", "0"), "--seeds 0: at least one"),
        (("hfsp-fig-2", "--seeds", "5..1"), "5..1"),
        (("hfsp-fig-2", "--report", "papers.txt"), "end its name in .html"),
        (("hfsp-fig-2", "--report", "/dev/null/papers.html"), "/dev/null is a file, and no folder"),
        (("report-3.1", "--traces", "no-such"), "there is no such folder"),
    ],
)
def test_what_cannot_be_is_refused_before_work_begins(
    callboard: Run, cache: tuple[str, str], arguments: tuple[str, ...], says: str
) -> None:
    status, _, error = callboard("reproduce", *arguments, *cache)
    assert status == 2
    assert says in " ".join(error.split())


def test_traces_that_are_not_at_hand_are_said(
    callboard: Run, cache: tuple[str, str], tmp_path: Path
) -> None:
    status, out, _ = callboard("reproduce", "report-3.2", "--traces", str(tmp_path), *cache)
    assert status == 0
    assert "not run" in out
    assert "FB-2009_samples_24_times_1hr_1.tsv" in out
