"""The house style: who looks like what, and that equal pictures are equal files."""

import sys
from pathlib import Path

import pytest

from callboard.experiments.pages.charts.chart_style import (
    CHART_ENDINGS,
    LINE_STYLES,
    check_matplotlib,
    policy_looks,
    save_chart,
)
from callboard.experiments.pages.charts.job_charts import ecdf_chart
from callboard.scheduler.text.missing_extra import MissingExtraError
from tests.experiments.charts.support import story_run


def test_a_policy_has_its_order_s_look_whoever_stands_beside_it() -> None:
    for others in ([], ["fifo"], ["hfsp", "psbs", "fifo"]):
        fair = policy_looks([*others, "fair+delay(node=5)"])[-1]
        assert fair[1:] == LINE_STYLES["fair"][1:], others
        assert fair.label == "fair+delay(node=5)"


def test_the_bare_order_has_its_look_whichever_policy_of_it_comes_first() -> None:
    """`fair` was not blue beside `fair+delay` where that came first, as of a folder's journals."""
    policies = ["fair+delay", "fair"]
    for order in (policies, policies[::-1]):
        looks = dict(zip(order, policy_looks(order), strict=True))
        assert looks["fair"][1:] == LINE_STYLES["fair"][1:], order
        assert looks["fair+delay"].colour != LINE_STYLES["fair"].colour


def test_an_order_with_a_plus_in_its_name_is_not_taken_for_a_shorter_one() -> None:
    assert policy_looks(["srpt+ps"])[0].colour == LINE_STYLES["srpt+ps"].colour
    assert policy_looks(["srpt+kill"])[0].colour == LINE_STYLES["srpt"].colour
    assert policy_looks(["srptish"])[0][1:] != LINE_STYLES["srpt"][1:]


def test_no_two_look_alike_in_colour_nor_in_grey() -> None:
    looks = policy_looks(["fair", *(f"fair+delay(node={n})" for n in range(7)), "fifo"])
    assert len({look.colour for look in looks}) == 9
    assert len({(look.marker, str(look.dashes)) for look in looks}) == 9
    many = policy_looks([f"mine-{n}" for n in range(27)])
    assert len({(look.colour, look.marker) for look in many}) == 27


def test_a_policy_of_ones_own_has_no_order_s_look() -> None:
    """Alone or beside FIFO it had that of HFSP, which was not in the picture."""
    orders = {look.marker for look in LINE_STYLES.values()}
    for mine in ("./mine.py:Mine", "./mine.py:Other"):
        assert policy_looks([mine])[0].marker not in orders
        assert policy_looks(["fifo", mine])[1].marker not in orders


@pytest.mark.soak
@pytest.mark.parametrize("ending", CHART_ENDINGS)
def test_equal_data_is_an_equal_file(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{name}{ending}" for name in "ab"]
    for path in paths:
        save_chart(ecdf_chart([story_run()]), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert len(first) > 1000
    save_chart(ecdf_chart([story_run("fair")]), paths[1])
    assert paths[1].read_bytes() != first


def test_letters_are_paths_and_nothing_is_dated(tmp_path: Path) -> None:
    save_chart(ecdf_chart([story_run()]), tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text()
    assert "<text" not in svg
    assert "<dc:date>" not in svg


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'callboard\[experiments\]'"):
        check_matplotlib()
