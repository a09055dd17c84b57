"""Figures and reports from Python."""

import sys
from pathlib import Path

import pytest

import callboard
from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.user_errors import InputError
from callboard.notebook import Comparison, Run, Sweep
from callboard.scheduler.text.missing_extra import MissingExtraError
from tests.experiments.charts.support import legend_labels
from tests.experiments.report.html import ReadPage

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def runs() -> tuple[Run, Run]:
    return callboard.run("two-jobs", "fifo"), callboard.run("two-jobs", "fair")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    noise = ["tasks.sigma=0.4"]
    return callboard.compare("two-jobs", ["fifo", "fair"], seeds=3, overrides=noise, cores=1)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    store = tmp_path_factory.mktemp("sweep") / "s.sqlite"
    vary = {"tasks.sigma": [0.1, 0.5]}
    return callboard.sweep("two-jobs", store=store, vary=vary, seeds=2, cores=1)


def test_runs_stand_in_one_figure(runs: tuple[Run, Run]) -> None:
    first, second = runs
    assert legend_labels(first.plot("jobs", second).figure) == ["fifo", "fair"]
    assert legend_labels(first.plot("slowdown").figure) == ["fifo"]


def test_a_comparison_and_a_sweep_have_figures_of_stores(
    comparison: Comparison, sweep: Sweep
) -> None:
    assert legend_labels(comparison.plot().figure) == ["fifo", "fair"]
    assert legend_labels(comparison.plot("differences", of="p95").figure) == ["fair"]
    assert sweep.plot("intervals").figure.axes[0].get_xlabel() == "noise of task lengths σ"
    with pytest.raises(NothingToDraw):
        sweep.plot("tornado")


def test_a_figure_shows_itself_and_is_saved(runs: tuple[Run, Run], tmp_path: Path) -> None:
    picture = runs[0].plot("ecdf")
    assert repr(picture) == "<figure of 3.5 × 2.5 inches>"
    assert "</svg>" in picture._repr_svg_()
    assert picture.save(tmp_path / "a.svg").read_text().endswith("</svg>\n")
    with pytest.raises(InputError, match=r"end the name in one of \.svg, \.png, \.pdf"):
        picture.save(tmp_path / "a.gif")


def test_a_figure_that_there_is_not_is_said(runs: tuple[Run, Run], comparison: Comparison) -> None:
    with pytest.raises(InputError, match="eggs: there is no such figure; there are ecdf"):
        runs[0].plot("eggs")
    with pytest.raises(InputError, match="gantt: there is no such figure; there are intervals"):
        comparison.plot("gantt")
    with pytest.raises(InputError, match="eggs: no measure is called so; there are mean"):
        comparison.plot(of="eggs")


@pytest.mark.soak
def test_reports_of_all_three(
    runs: tuple[Run, Run], comparison: Comparison, sweep: Sweep, tmp_path: Path
) -> None:
    made = (
        (runs[0].report(tmp_path / "run.html", runs[1], within_s=100), "jobs done within 100 s"),
        (comparison.report(tmp_path / "c.html"), "data-local maps"),
        (sweep.report(tmp_path / "s.html"), "tasks.sigma"),
    )
    for path, said in made:
        page = ReadPage(path.read_text(encoding="utf-8"))
        assert page.said("h1") == ["two-jobs: fifo, fair"]
        assert not page.outside
        assert said in page.said("td") + page.said("dt")
    assert f"--store {sweep.store}" in " ".join(ReadPage(made[2][0].read_text()).said("pre"))


def test_without_matplotlib(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"callboard\[experiments\]"):
        runs[0].plot()


def test_a_page_that_cannot_be_written_is_an_oserror(comparison: Comparison) -> None:
    with pytest.raises(OSError, match=r"File exists|Not a directory"):
        comparison.report(Path(__file__, "a.html"))
