"""What the charts of runs draw, on a run worked out by hand (`tests/journal/stories.py`)."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import (
    AnyEvent,
    FaultStruck,
    JobSubmitted,
    NodeFacts,
    RunEnded,
    RunStarted,
)
from callboard.experiments.pages.charts.chart_catalogue import RUN_CHARTS
from callboard.experiments.pages.charts.chart_run import DownTime, NothingToDraw, chart_run
from callboard.experiments.pages.charts.chart_style import save_chart
from callboard.experiments.pages.charts.gantt_chart import gantt_chart
from callboard.experiments.pages.charts.gantt_page import gantt_page
from callboard.experiments.pages.charts.job_charts import ecdf_chart, jobs_chart, slowdown_chart
from callboard.experiments.pages.charts.run_labels import labelled_runs
from callboard.experiments.pages.charts.slot_charts import (
    debt_chart,
    locality_chart,
    shares_chart,
    utilisation_chart,
)
from callboard.journal.replay.pool_shares import PoolShares
from callboard.scheduler.model import MAP, REDUCE
from tests.experiments.charts.support import SOLO_MS, legend_labels, lines, story_run
from tests.journal.replay.support import events_of, with_setups
from tests.journal.stories import START, STORY, cut_at

EMPTY: list[AnyEvent] = [START, RunEnded(0, "until", 1, 0, "d")]


def test_ecdf_is_the_share_of_the_jobs_submitted() -> None:
    figure = ecdf_chart([story_run()])
    assert lines(figure.axes[0]) == {"fifo": ([1.3, 1.3, 4.4], [0.0, 0.5, 1.0])}
    assert legend_labels(figure) == ["fifo"]


def test_ecdf_counts_jobs_that_have_not_completed() -> None:
    figure = ecdf_chart([story_run("fair", cut_at(3000)), story_run()])
    found = lines(figure.axes[0])
    assert found["fair (1 of 2 jobs)"] == ([1.3, 1.3], [0.0, 0.5])
    assert found["fifo"] == ([1.3, 1.3, 4.4], [0.0, 0.5, 1.0])


def test_slowdown_is_by_the_number_of_tasks() -> None:
    axes = slowdown_chart([story_run()]).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1\n(1)", "2–10\n(1)"]
    assert axes.containers[0].lines[0].get_ydata().tolist() == [1.0, 2.0]


def test_slowdown_without_times_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="how long its jobs take alone is not known"):
        slowdown_chart([replace(story_run(), solo_ms=None)])


def test_jobs_are_drawn_where_their_number_changes() -> None:
    at, counts = lines(jobs_chart([story_run()]).axes[0])["fifo"]
    assert (at, counts) == ([0, 1, 2.3, 4.4, 4.4], [1, 2, 1, 0, 0])


def test_utilisation_has_the_run_s_mean() -> None:
    maps, reduces = utilisation_chart([story_run()]).axes
    for axes, busy_ms in ((maps, 5000), (reduces, 3000)):
        _, shares = lines(axes)["fifo"]
        assert np.mean(shares) == pytest.approx(busy_ms / 8800)
    assert (maps.get_ylabel(), reduces.get_ylabel()) == ("map slots busy", "reduce slots busy")


def test_gantt_has_a_bar_for_each_attempt_on_its_slot() -> None:
    figure = gantt_chart([story_run()])
    (axes,) = figure.axes
    assert legend_labels(figure) == ["ads", "logs", "failed, killed or lost"]
    drawn = [sorted(_boxes(each)) for each in axes.collections]
    assert drawn[0] == [(0, 0.101, 1.101), (2, 0.201, 1.701), (2, 1.301, 4.301), (2, 1.801, 3.301)]
    assert drawn[1] == [(0, 1.201, 2.201)]
    assert drawn[-1] == [(2, 0.201, 1.701)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["node-0", "node-1"]


def _boxes(collection: Any) -> list[tuple[int, float, float]]:
    """Row, begin and end of each bar."""
    corners = [path.vertices[:4] for path in collection.get_paths()]
    return [
        (round(box[:, 1].mean()), round(box[:, 0].min(), 3), round(box[:, 0].max(), 3))
        for box in corners
    ]


def test_gantt_of_a_large_cluster_says_how_busy_each_node_was() -> None:
    nodes = tuple(NodeFacts(node, 0, 1, 1, 1.0) for node in range(250))
    run, started = story_run(), msgspec.structs.replace(START, nodes=nodes)
    large = replace(run, history=replace(run.slot_history, started=started))
    maps, reduces, _ = gantt_chart([large]).axes
    assert maps.get_title(loc="left") == "fifo, map slots: tiny, seed 7"
    assert reduces.get_title(loc="left") == "fifo, reduce slots"
    shares = [axes.get_images()[0].get_array() for axes in (maps, reduces)]
    assert shares[0].shape[0] == 84  # three nodes a row, of a slot of each kind
    busy_ms = [(each.sum(axis=1) * 3 * 4400 / each.shape[1]).round().tolist() for each in shares]
    assert [each[:2] for each in busy_ms] == [[5000, 0], [3000, 0]]
    assert "3 a row" in maps.get_ylabel()


def test_gantt_shows_when_a_node_was_down() -> None:
    story = [*STORY]
    story.insert(-1, FaultStruck(4400, faults.Crash(1)))
    story[-1] = RunEnded(5000, "complete", 1, 0, "d")
    run = story_run("fifo", story)
    assert run.slot_history.down == (DownTime(1, 4400, 5000),)
    assert "node down" in legend_labels(gantt_chart([run]))


def test_locality_counts_launched_maps_by_size() -> None:
    whole, by_size = locality_chart([story_run()]).axes
    widths = [[bar.get_width() for bar in bars] for bars in whole.containers]
    assert widths == [[0.5], [0.0], [0.5]]
    assert lines(by_size)["fifo"] == ([0, 1], [1.0, 1 / 3])


def test_locality_counts_no_setups_and_cleanups() -> None:
    """They read nothing: they were counted as off-rack maps."""
    whole, _ = locality_chart([chart_run(with_setups())]).axes
    assert [[bar.get_width() for bar in bars] for bars in whole.containers] == [[1.0], [0.0], [0.0]]


def test_the_sizes_of_locality_stand_apart() -> None:
    """All five, beside the longest names of policies: they were drawn over each other."""
    run = chart_run(events_of("facebook-morning", "fair", "cluster.nodes=20", "workload.jobs=40"))
    named = [replace(run, label=f"fair+delay(node={wait},rack=15)") for wait in (5, 10)]
    figure = locality_chart(named)
    figure.draw_without_rendering()
    _, by_size = figure.axes
    boxes = [label.get_window_extent() for label in by_size.get_xticklabels()]
    assert len(boxes) == 5
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_shares_are_held_and_due_by_user_where_there_are_no_pools() -> None:
    figure = shares_chart([story_run()])
    assert [axes.get_ylabel() for axes in figure.axes] == ["default\n(slots)", "prod\n(slots)"]
    assert legend_labels(figure) == ["slots held", "slots due"]
    shares = story_run().slot_history.shares
    assert shares is not None
    assert shares.at_ms.tolist() == [0, 1000, 2000, 3000, 4000, 4400]
    assert shares.pools == ("default", "prod")
    assert shares.held.tolist() == [[0, 0, 1, 0, 0, 0], [0, 2, 2, 2, 1, 0]]


def test_shares_of_many_runs_are_titled_by_what_they_have_in_common() -> None:
    """Above four policies there was neither scenario nor seed."""
    policies = ["fifo", "fair", "hfsp", "fair+kill"]
    figure = shares_chart(labelled_runs([story_run(policy) for policy in policies]))
    titles = [axes.get_title(loc="left") for axes in figure.axes[:4]]
    assert titles == ["tiny, seed 7\nfifo", *policies[1:]]


def test_the_rows_of_a_node_are_told_apart() -> None:
    """Nothing said which of a node's rows is its map slot."""
    (axes,) = gantt_chart([story_run()]).axes
    rows = "of each node map slots above reduce slots"
    assert axes.get_title(loc="left") == f"fifo: tiny, seed 7; {rows}"
    assert "Of each node map slots are above reduce slots." in gantt_page([story_run()])


def test_of_nodes_without_reduce_slots_no_rows_are_told_apart() -> None:
    """The page said that map slots were above reduce slots where there were none."""
    nodes = tuple(msgspec.structs.replace(each, reduce_slots=0) for each in START.nodes)
    begun = msgspec.structs.replace(START, nodes=nodes)
    until_first_reduce = (begun, *STORY[1:9])
    assert "reduce slots" not in gantt_page([story_run("fifo", until_first_reduce)])


def test_a_debt_grows_by_what_is_lacking_and_is_repaid_by_what_is_above_the_share() -> None:
    at_ms = np.array([0, 1000, 2000, 4000, 5000], np.int64)
    held = np.array([[0.0, 3, 1, 4, 0]])
    shares = PoolShares(at_ms, ("ads",), held, np.full((1, 5), 2.0))
    assert shares.shortfall_slot_seconds().tolist() == [[0, 2, 1, 3, 1]]


def test_debts_are_drawn_by_pool_with_a_line_a_run() -> None:
    runs = labelled_runs([story_run("fifo"), story_run("fair")])
    figure = debt_chart(runs)
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == ["default", "prod"]
    shares = runs[0].slot_history.shares
    assert shares is not None
    drawn = figure.axes[1].lines[0].get_ydata().tolist()
    assert drawn == (shares.shortfall_slot_seconds()[1] / 3600).tolist()


def test_several_runs_stand_in_one_picture_each_with_its_look() -> None:
    runs = labelled_runs([story_run("fifo"), story_run("fair"), story_run("fair")])
    assert [run.label for run in runs] == ["fifo", "fair", "fair #2"]
    for name, chart in RUN_CHARTS.items():
        figure = chart.draw(runs)
        said = legend_labels(figure) + [axes.get_title(loc="left") for axes in figure.axes]
        said += [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
        if name in ("gantt", "shares"):
            assert [title for title in said if title in ("fair", "fair #2")] == ["fair", "fair #2"]
        else:
            assert {"fifo", "fair", "fair #2"} <= set(said), name


def test_labels_tell_scenarios_and_seeds_apart() -> None:
    one = story_run("fair")
    other = replace(one, summary=msgspec.structs.replace(one.summary, scenario="big", seed=8))
    labels = [run.label for run in labelled_runs([one, other])]
    assert labels == ["fair, tiny, seed 7", "fair, big, seed 8"]


@pytest.mark.parametrize("name", RUN_CHARTS)
def test_of_an_empty_run_there_is_nothing_to_draw(name: str) -> None:
    with pytest.raises(NothingToDraw):
        RUN_CHARTS[name].draw([story_run("fifo", EMPTY)])


@pytest.mark.parametrize("name", RUN_CHARTS)
def test_one_of_several_runs_may_be_empty(name: str) -> None:
    assert RUN_CHARTS[name].draw([story_run("fifo", EMPTY), story_run("fair")]).axes


def test_events_that_contradict_each_other_are_told() -> None:
    with pytest.raises(ValueError, match="attempt"):
        chart_run([*STORY[:1], *STORY[3:]])
    with pytest.raises(ValueError, match="no run has been recorded"):
        chart_run([])


def test_a_run_s_slots_are_counted_by_kind() -> None:
    history = story_run().slot_history
    assert (history.slots(MAP), history.slots(REDUCE)) == (2, 2)


def test_of_a_run_without_a_journal_only_its_jobs_are_drawn() -> None:
    run = replace(story_run(), history=None)
    for draw in (ecdf_chart, slowdown_chart, jobs_chart):
        assert draw([run]).axes
    for draw in (gantt_chart, shares_chart, utilisation_chart, locality_chart):
        with pytest.raises(ValueError, match="fifo: of this run only its jobs are known"):
            draw([run])


ODD = "_$\\frac{$ 名🎭\t\n\x1b[31m<b>&" + 200 * "x"


def _oddly_named(event: AnyEvent) -> AnyEvent:
    match event:
        case JobSubmitted(job=job):
            name = f"{job}{ODD}" if job else ODD
            return msgspec.structs.replace(event, name=name, user=name, pool=name)
        case RunStarted():
            return msgspec.structs.replace(event, name=ODD, policy=f'./a.py:Mine(text="{ODD}")')
    return event


@pytest.mark.parametrize("name", RUN_CHARTS)
def test_names_may_hold_anything(name: str, tmp_path: Path) -> None:
    """Warnings are errors here, such as for a letter that the font has not."""
    events = [_oddly_named(event) for event in STORY]
    run = replace(chart_run(events), solo_ms=SOLO_MS)
    figure = RUN_CHARTS[name].draw([story_run("fair", events), run])
    save_chart(figure, tmp_path / "a.svg")
    if name == "gantt":
        assert len(legend_labels(figure)) == 3
