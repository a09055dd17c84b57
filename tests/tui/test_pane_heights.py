"""Panes are as high as what they show: what is empty makes room."""

from collections.abc import Callable

from callboard.tui.panels.charts import ChartsPane
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.jobs import JobsPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.screens.pane_heights import PaneWants, small_height, wide_heights
from tests.journal.replay.support import events_of, outage, recorded
from tests.tui.support import SMALL, Screen, drive


def always(lines: int) -> Callable[[int], int]:
    return lambda most: min(lines, most)


def test_few_jobs_and_few_nodes_take_few_lines() -> None:
    heights = wide_heights(45, PaneWants(always(8), jobs=3, charts=4))
    assert heights.slots == 10
    assert heights.jobs == 7
    assert heights.charts == 4 * 3 + 2  # what the slots leave is the events' and the charts'


def test_many_take_two_thirds_at_most() -> None:
    heights = wide_heights(45, PaneWants(always(100), jobs=500, charts=5))
    assert (heights.slots, heights.jobs, heights.charts) == (22, 22, 12)


def test_a_job_more_does_not_move_the_panes() -> None:
    found = [wide_heights(45, PaneWants(always(8), jobs, 4)).jobs for jobs in range(1, 9)]
    assert found == [7, 7, 7, 7, 11, 11, 11, 11]


def test_on_a_small_screen_the_pane_below_gets_what_slots_do_not_need() -> None:
    assert small_height(19, PaneWants(always(6), 2, 4), "log") == 11
    assert small_height(19, PaneWants(always(50), 2, 4), "log") == 9
    assert small_height(19, PaneWants(always(50), 2, 4), "jobs") == 7
    assert small_height(19, PaneWants(always(50), 40, 4), "jobs") == 9


def heights(screen: Screen) -> dict[type[Pane], int]:
    kinds = (SlotsPane, JobsPane, LogPane, DetailPane, ChartsPane)
    shown = screen.app.query_one("#single")
    return {kind: shown.query_one(kind).outer_size.height for kind in kinds}


def test_on_the_screen() -> None:
    """Two jobs have a table of few lines, so that the details are whole; zoom still fills."""

    async def act(screen: Screen) -> None:
        await screen.press("2", "down")
        await screen.until(lambda: "waited " in screen.text())
        found = heights(screen)
        assert found[JobsPane] == 7
        assert found[SlotsPane] + found[LogPane] == found[JobsPane] + found[DetailPane]
        assert sum(found[kind] for kind in (SlotsPane, LogPane, ChartsPane)) == 40 - 5
        await screen.press("z")
        await screen.until(lambda: heights(screen)[JobsPane] == 40 - 5)
        await screen.press("z")
        await screen.until(lambda: heights(screen) == found)

    drive(recorded(events_of("two-jobs", "fair")), act, (120, 40))


def test_tab_goes_by_the_numbers_of_the_panes() -> None:
    async def act(screen: Screen) -> None:
        order = [SlotsPane, JobsPane, LogPane, DetailPane, ChartsPane]
        await screen.press("1")
        for kind in (*order[1:], order[0]):
            await screen.press("tab")
            assert isinstance(screen.app.focused, kind)
        await screen.press("shift+tab")
        assert isinstance(screen.app.focused, ChartsPane)

    drive(recorded(outage()), act)


def test_a_small_screen_is_full() -> None:
    """Whichever pane is below the slots, the two fill what the bars leave."""

    async def act(screen: Screen) -> None:
        kinds = {"2": JobsPane, "3": LogPane, "4": DetailPane, "5": ChartsPane}
        for key, kind in kinds.items():
            await screen.press(key)
            await screen.until(lambda kind=kind: sum_of(screen, kind) == 24 - 5)  # type: ignore[misc]

    def sum_of(screen: Screen, kind: type[Pane]) -> int:
        found = heights(screen)
        return found[SlotsPane] + found[kind]

    drive(recorded(events_of("two-jobs", "fair")), act, SMALL)
