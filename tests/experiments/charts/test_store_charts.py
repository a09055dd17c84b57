"""What the charts of sweeps draw."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest

from callboard.experiments.many.statistics import interval
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.pages.charts.cell_table import CellTable, setting_label
from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.pages.charts.chart_style import LINE_STYLES
from callboard.experiments.pages.charts.key_words import key_words, setting_words
from callboard.experiments.pages.charts.measures import MEASURES
from callboard.experiments.pages.charts.store_charts import (
    Sensitivity,
    differences_chart,
    intervals_chart,
    tornado_chart,
)
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.run.stopwatch import SchedulingCost
from tests.experiments.charts.support import legend_labels, story_run

SIGMA = "tasks.sigma"


def result(mean_s: float) -> RunResult:
    """A run with that mean response time."""
    run = story_run()
    response = msgspec.structs.replace(run.summary.response_seconds, mean=mean_s)
    return RunResult(
        summary=msgspec.structs.replace(
            run.summary, response_seconds=response, digest=f"{mean_s:g}"
        ),
        jobs=run.jobs,
        scheduling=SchedulingCost(0.0, 0, 0, None),
        wall_seconds=1.0,
        processor_seconds=1.0,
    )


MEANS = {"fifo": 100.0, "fair": 50.0}


def cells(*settings: Setting, seeds: Sequence[int] = (1, 2, 3)) -> Iterator[PlayedCell]:
    """FIFO at 100 + seed + place of the setting, Fair at half of that without the seed."""
    for place, setting in enumerate(settings):
        for policy, mean_s in MEANS.items():
            for seed in seeds:
                found = result(mean_s + seed + 10 * place)
                yield PlayedCell("toy", setting, policy, seed, found)


def of_sigma(*values: str) -> list[Setting]:
    return [((SIGMA, value),) for value in values]


def drawn(axes: object) -> dict[str, tuple[list[float], list[float], list[float]]]:
    """Of each series: where, the means, half the intervals' widths."""
    found = {}
    for bars in axes.containers:  # type: ignore[attr-defined]
        line, _, (ranges,) = bars.lines
        # An interval that is not known is a segment without an end.
        segments = [each.tolist() or [[0, 0], [0, 0]] for each in ranges.get_segments()]
        spans = [max(abs(a - b) for a, b in zip(*ends, strict=True)) / 2 for ends in segments]
        found[bars.get_label()] = (list(line.get_xdata()), list(line.get_ydata()), spans)
    return found


def test_over_numbers_each_policy_is_a_line_with_its_intervals() -> None:
    figure = intervals_chart(cells(*of_sigma("0.5", "1.0", "0.0")))
    (axes,) = figure.axes
    assert axes.get_xlabel() == "noise of task lengths σ"
    assert axes.get_title(loc="left") == "toy, 3 seeds"
    assert legend_labels(figure) == ["fifo", "fair"]
    at, means, halves = drawn(axes)["fifo"]
    assert at == pytest.approx([0, 0.5, 1.0], abs=0.02)
    assert means == [122, 102, 112]  # sorted by the value, not by when it was played
    assert halves[0] == pytest.approx(interval([1, 2, 3]).half)


def test_a_second_key_has_a_panel_a_value() -> None:
    settings = [((SIGMA, s), ("cluster.racks", r)) for s in ("0", "1", "2") for r in ("1", "4")]
    figure = intervals_chart(cells(*settings))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["racks = 1", "racks = 4"]
    assert drawn(figure.axes[1])["fifo"][1] == [112, 132, 152]


def test_panels_have_the_ticks_of_all_their_values() -> None:
    """Both had the one tick of the last: 40 nodes stood over an axis that showed 30 alone."""
    settings = [(("cluster.nodes", n), ("cluster.racks", r)) for n, r in (("40", "1"), ("30", "4"))]
    for axes in intervals_chart(cells(*settings)).axes:
        assert list(axes.get_xticks()) == [30, 40]


def test_policies_of_unlike_numbers_of_seeds_are_said_to_be() -> None:
    """“12 seeds”, a figure said of one with 12 and one with 2."""
    some = [each for each in cells(*of_sigma("0", "1")) if each.policy == "fifo" or each.seed == 1]
    (axes,) = intervals_chart(some).axes
    assert axes.get_title(loc="left") == "toy, 1 to 3 seeds"


def test_an_axis_of_values_begins_at_0_or_says_that_it_does_not() -> None:
    (axes,) = intervals_chart(cells(*of_sigma("0.5", "1.0", "0.0"))).axes
    assert axes.get_ylim()[0] == 0
    assert "not from 0" not in axes.get_ylabel()
    words = [(("cluster.heartbeat.out_of_band", value),) for value in ("true", "false")]
    (axes,) = intervals_chart(cells(*words)).axes
    assert axes.get_xlim()[0] == 0
    fifo = [each for each in cells(*of_sigma("0.5", "1.0", "0.0")) if each.policy == "fifo"]
    (axes,) = intervals_chart(fifo).axes
    assert axes.get_ylim()[0] > 50
    assert axes.get_ylabel() == "mean response time (s); not from 0"


def test_an_interval_that_reaches_below_0_is_cut_there_and_said_to_be() -> None:
    """docs/figures.md: no response takes less than nothing, however few the seeds."""
    settings = of_sigma("0.5", "1.0")
    far = [
        PlayedCell("toy", each, "fifo", seed, result(mean_s))
        for each in settings
        for seed, mean_s in ((1, 10.0), (2, 90.0))
    ]
    (axes,) = intervals_chart(far).axes
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "mean response time (s);\ncut at 0"


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "slowdown"])
def test_every_measure_of_a_run_can_be_drawn(name: str) -> None:
    (axes,) = intervals_chart(cells(*of_sigma("0.5", "1.0")), MEASURES[name]).axes
    assert axes.get_ylabel().startswith(MEASURES[name].label)
    assert set(drawn(axes)) == {"fifo", "fair"}


def test_words_have_a_row_each() -> None:
    settings = [(("cluster.heartbeat.out_of_band", value),) for value in ("true", "false")]
    (axes,) = intervals_chart(cells(*settings)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["heartbeats out of band = true", "heartbeats out of band = false"]
    assert drawn(axes)["fair"][0] == [52, 62]


def test_settings_that_have_not_the_same_keys_have_a_row_each() -> None:
    settings = [*of_sigma("0", "0.5"), (("cluster.nodes", "6"),)]
    (axes,) = intervals_chart(cells(*settings)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["noise of task lengths σ = 0", "noise of task lengths σ = 0.5", "nodes = 6"]
    assert drawn(axes)["fifo"][0] == [102, 112, 122]


def ticks(axis: Any) -> list[str]:
    """Those that are seen."""
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    shown = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for at, label in shown if low <= at <= high]


def test_numbers_on_axes_are_written_as_people_write_them() -> None:
    """It was `1500` seconds, and between whole ones `12.5` nodes."""
    settings = [(("cluster.nodes", nodes),) for nodes in ("10", "15", "20")]
    slow = [
        msgspec.structs.replace(each, result=result(200 if each.policy == "fair" else 1800))
        for each in cells(*settings)
    ]
    (axes,) = intervals_chart(slow).axes
    assert ticks(axes.yaxis)[:3] == ["0", "500", "1,000"]
    assert ticks(axes.xaxis) == ["10", "15", "20"]
    (axes,) = differences_chart(slow).axes
    assert ticks(axes.yaxis)[:2] == ["−1,500", "−1,000"]
    long = [msgspec.structs.replace(each, result=result(6e7)) for each in slow]
    (axes,) = intervals_chart(long).axes
    assert ticks(axes.yaxis)[:2] == ["0 M", "20 M"]
    (axes,) = intervals_chart(cells(*of_sigma("0.25", "0.5"))).axes
    assert ticks(axes.xaxis)[0] == "0.25"


def test_a_few_values_of_a_key_have_each_its_tick() -> None:
    """Of 10 and 20 nodes the axis said 12, 15 and 18."""
    few = [(("cluster.nodes", value),) for value in ("10", "20")]
    assert ticks(intervals_chart(cells(*few)).axes[0].xaxis) == ["10", "20"]
    close = [(("cluster.nodes", value),) for value in ("40", "41", "42", "80")]
    found = ticks(intervals_chart(cells(*close)).axes[0].xaxis)
    assert found != ["40", "41", "42", "80"]
    assert all(each.isdigit() for each in found)


def test_an_axis_of_what_is_equal_everywhere_begins_at_0() -> None:
    """Where all runs had completed 2 jobs it went from 1.900 to 2.100."""
    (axes,) = intervals_chart(cells(*of_sigma("0", "1")), MEASURES["completed"]).axes
    assert ticks(axes.yaxis) == ["0", "1", "2"]
    assert axes.get_ylabel() == "completed jobs (number)"


def names_of_rows(figure: Any) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_long_name_of_a_row_goes_on_in_another_line_and_keeps_its_value() -> None:
    """Four rows were `two-jobs, heartbeats out of band = …` and `arrival-burst, heartbeats out of
    ba…`, twice each, on however wide a picture.
    """
    settings = [(("cluster.heartbeat.out_of_band", value),) for value in ("true", "false")]
    some = list(cells(*settings))
    others = [msgspec.structs.replace(cell, scenario="arrival-burst") for cell in some]
    assert names_of_rows(intervals_chart([*some, *others])) == [
        "toy, heartbeats out of band = true",
        "toy, heartbeats out of band = false",
        "arrival-burst,\nheartbeats out of band = true",
        "arrival-burst,\nheartbeats out of band = false",
    ]


def test_panels_and_rows_are_in_the_order_of_their_numbers() -> None:
    """`σ = 1` was left of `σ = 0`, which the sweep had played later, and 12 nodes above 4."""
    sigmas = [((SIGMA, s), ("cluster.racks", r)) for s in ("0", "2", "1") for r in ("12", "4")]
    figure = intervals_chart(cells(*sigmas))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["racks = 4", "racks = 12"]
    band = "cluster.heartbeat.out_of_band"
    rows = [((band, w), *each) for w in ("true", "false") for each in sigmas[-2:] + sigmas[:2]]
    names = names_of_rows(figure := intervals_chart(cells(*rows)))
    told = [f"noise of task lengths σ = {s}, racks = {r}" for s in "01" for r in (4, 12)]
    assert [name.replace("\n", " ").partition(", ")[2] for name in names] == told * 2
    assert drawn(figure.axes[0])["fifo"][0] == [132, 122, 112, 102, 172, 162, 152, 142]


def test_of_a_name_too_long_for_a_line_the_middle_is_left_out() -> None:
    paths = [((f"workload.{'long_' * 8}path", f"of-june-{day}.jsonl"),) for day in (1, 2)]
    assert names_of_rows(intervals_chart(cells(*paths))) == [
        f"long long lo… path = of-june-{day}.jsonl" for day in (1, 2)
    ]


def outside(figure: Any) -> list[str]:
    """The titles of axes that do not fit into the picture."""
    figure.draw_without_rendering()
    labels = [each for axes in figure.axes for each in (axes.xaxis.label, axes.yaxis.label)]
    return [
        label.get_text()
        for label in labels
        if label.get_text() and not _within(label.get_window_extent(), figure.bbox)
    ]


def _within(inner: Any, outer: Any) -> bool:
    return all(outer.contains(*corner) for corner in inner.corners())


def test_titles_of_axes_stay_within_the_picture() -> None:
    """It ended with `mean response time minus fai`."""
    settings = [(("cluster.heartbeat.out_of_band", value),) for value in ("true", "false")]
    for measure in MEASURES.values():
        if measure.of_summary is not None:
            assert outside(differences_chart(cells(*settings), measure)) == []
            assert outside(intervals_chart(cells(*of_sigma("0", "1")), measure)) == []
    found = [Sensitivity(key, 0.5) for key in ("tasks.sigma", "cluster.heartbeat.expiry_ms")]
    assert outside(tornado_chart(found, "share of the variance of mean response")) == []


def test_differences_are_to_the_first_policy_seed_by_seed() -> None:
    figure = differences_chart(cells(*of_sigma("0", "1")))
    (axes,) = figure.axes
    assert legend_labels(figure) == ["fair"]
    _, means, halves = drawn(axes)["fair"]
    assert means == [-50, -50]
    assert halves == [0, 0]  # the same in every seed
    assert axes.get_ylabel() == "mean response time\nminus fifo’s (s)"
    line = axes.containers[0].lines[0]
    assert line.get_color() == LINE_STYLES["fair"].colour


def test_what_failed_is_left_out_of_the_mean() -> None:
    every = list(cells(()))
    broken = [msgspec.structs.replace(every[0], result=None, error="stuck"), *every[1:]]
    (axes,) = intervals_chart(broken).axes
    assert drawn(axes)["fifo"][0] == [102.5]
    assert CellTable(broken).seeds == (1, 2, 3)
    with pytest.raises(NothingToDraw):
        intervals_chart([msgspec.structs.replace(each, result=None) for each in every])


def test_one_seed_has_no_interval() -> None:
    (axes,) = intervals_chart(cells((), seeds=[1])).axes
    found = drawn(axes)["fifo"]
    assert found[0] == [101]
    assert found[2] == [0]


def test_one_policy_has_no_differences() -> None:
    alone = [cell for cell in cells(()) if cell.policy == "fifo"]
    with pytest.raises(NothingToDraw, match="only one policy"):
        differences_chart(alone)


def test_a_measure_that_no_run_has_is_not_drawn() -> None:
    with pytest.raises(NothingToDraw):
        intervals_chart(cells(()), MEASURES["slowdown"])


def test_several_scenarios_count_as_varied() -> None:
    some = list(cells(()))
    others = [msgspec.structs.replace(cell, scenario="big") for cell in some]
    (axes,) = intervals_chart([*some, *others]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["toy", "big"]


def test_settings_are_named_by_what_tells_them_apart() -> None:
    setting = (("a.x", "1"), ("b.x", "2"), ("c.y", "3"))
    assert setting_label(setting, ["a.x", "b.x", "c.y"]) == "a.x = 1, b.x = 2, y = 3"


def test_a_tornado_has_the_greatest_on_top() -> None:
    figure = tornado_chart(
        [Sensitivity("a", 0.1), Sensitivity("b", 0.7, 0.2, first=0.5, first_half=0.1)],
        "total index",
        "first-order index",
    )
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]
    bars = [each for each in axes.containers if hasattr(each, "patches")]
    assert [next(bar.get_width() for bar in each) for each in bars] == [0.7, 0.5]
    assert legend_labels(figure) == ["total index", "first-order index"]
    with pytest.raises(NothingToDraw):
        tornado_chart([Sensitivity("a", float("nan"))], "")


def test_very_many_settings_are_not_squeezed_into_one_picture() -> None:
    settings = [(("a.x", f"word{n}"),) for n in range(61)]
    with pytest.raises(NothingToDraw, match="61 settings are too many for one picture"):
        intervals_chart(cells(*settings, seeds=[1]))


def test_keys_are_called_by_words_and_as_they_are_spelled_where_those_are_the_same() -> None:
    assert key_words("cluster.heartbeat.interval_ms") == "heartbeat interval (ms)"
    assert key_words("workload.gap_s") == "gap (s)"
    assert key_words("tasks.input_wait_ms") == "input wait (ms)"
    keys = ["a.gap_s", "b.gap_s", "cluster.nodes"]
    setting = (("a.gap_s", "1"), ("b.gap_s", "2"), ("cluster.nodes", "3"))
    assert setting_words(setting, keys) == "a.gap_s = 1, b.gap_s = 2, nodes = 3"
