"""The README's pictures and its sample are what the project draws and prints."""

from pathlib import Path

import matplotlib
import pytest

from callboard.experiments.pages.charts.chart_catalogue import STORE_CHARTS
from callboard.experiments.pages.charts.chart_style import save_chart
from callboard.experiments.pages.charts.measures import MEASURES
from docs.making.figures import FOLDER as FIGURES
from docs.making.figures import SWEPT, swept
from docs.making.screens import FOLDER as SCREENS
from docs.making.screens import MOVING, draw_moving

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_moving_picture_is_drawn_by_the_command() -> None:
    """docs/screens/rack-fails.svg is what `python -m docs.making.screens` draws, to the byte."""
    assert f"docs/screens/{MOVING}" in README
    drawn = draw_moving()
    assert (SCREENS / MOVING).read_text(encoding="utf-8") == drawn
    assert "101 maps of nightly run again" in drawn
    assert "prefers-reduced-motion" in drawn
    assert "<script" not in drawn


@pytest.mark.soak
def test_the_chart_is_drawn_by_the_command(tmp_path: Path) -> None:
    """The chart of what `make run` plays, to the byte as `python -m docs.making.figures` draws."""
    (morning,) = (each for each in SWEPT if each.scenario == "facebook-morning")
    name = "intervals-facebook-morning.svg"
    assert f"docs/figures/{name}" in README
    committed = (FIGURES / name).read_text(encoding="utf-8")
    if f"Matplotlib v{matplotlib.__version__}," not in committed:
        pytest.skip("drawn by another version of matplotlib, which places letters in its own way")
    figure = STORE_CHARTS["intervals"].draw(swept(morning), MEASURES["mean"])
    save_chart(figure, tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8") == committed


def test_what_make_run_finds_is_what_the_docs_print() -> None:
    """The page of experiments is run by its own test; the README quotes its conclusion."""
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    quoted = " ".join(line[2:] for line in README.splitlines() if line.startswith("> "))
    assert quoted.startswith("Under hfsp a job took")
    assert quoted in page.splitlines()
