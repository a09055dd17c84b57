"""What is said of jobs beyond counts, in the table: as far as there is room."""

from callboard.journal.replay.source import GoTo
from callboard.tui.panels.detail import DetailPane, wrapped
from tests.journal.replay.support import outage, recorded
from tests.tui.support import SMALL, WIDE, Screen, drive


def test_the_table_shows_all_of_it_where_there_is_room() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.press("2", "z")
        cursor = next(line for line in screen.text().splitlines() if "name" in line)
        for title in (
            "fair",
            "score",
            "preempted",
            "expected",
            "true size°",
            "slowdown°",
            "progress",
        ):
            assert title in cursor
        assert screen.view().with_fair_shares

    drive(recorded(outage()), act, WIDE)


def test_what_nobody_sees_is_not_computed() -> None:
    """On a narrow screen the column makes way, and then no shares are asked for."""

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.pilot.pause()
        shown = "fair" in screen.text().split("[2] jobs")[1].splitlines()[1]
        assert screen.view().with_fair_shares is shown

    for size in (SMALL, WIDE):
        drive(recorded(outage()), act, size)


def test_a_wrapped_fact_keeps_a_number_with_its_unit() -> None:
    assert wrapped("job-0 “nightly” for 0.000 s", 26) == ("job-0 “nightly” for", "0.000 s")
    assert wrapped("silent for 10 min 10 s", 19) == ("silent for 10 min", "10 s")


def test_no_fact_ends_in_the_middle() -> None:
    """“It went to 99% a map ran that read from”, the pane said, and then came the chart."""

    async def act(screen: Screen) -> None:
        await screen.press("end", "2", "a")
        cut = 0
        for _ in range(8):
            await screen.press("down")
            pane = screen.app.query_one(DetailPane)
            assert screen.frame.detail is not None
            lines = pane._wrapped_facts(screen.frame.detail)
            shown = pane._visible_fact_count(screen.frame.detail)
            assert shown == len(lines) or lines[shown].begins
            shared = [n for n, line in enumerate(lines) if line.label == "it went to"]
            cut += bool(shared) and not lines[shared[0] + 1].begins
        assert cut, "no first share that takes two lines"

    drive(recorded(outage()), act, (100, 40))
