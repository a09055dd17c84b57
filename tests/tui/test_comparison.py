"""Two runs beside each other on the screen: what keys and clicks do, and how it is marked."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from textual.events import Resize

from callboard.actors.vocabulary.events import FaultStruck
from callboard.actors.vocabulary.faults import Crash, SwitchPolicy
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.frame import JobSortKey, NodeStatus, RunFigures
from callboard.tui.panels.charts import LABEL_WIDTH
from callboard.tui.panels.comparison_figures import verdict
from callboard.tui.panels.comparison_jobs import ComparisonJobsPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.panels.timebar import DIVERGENCE_SIGN, TimeBar
from callboard.tui.screens.comparison_view import ComparisonView
from tests.journal.replay.test_lockstep import pair, versus
from tests.tui.support import SMALL, WIDE, Screen, drive
from tests.tui.test_intervention_menu import at, said
from tests.tui.test_interventions import plan, taped

Act = Callable[[Screen], Awaitable[None]]


def on_two(act: Act, size: tuple[int, int] = WIDE, *policies: str) -> LiveServer:
    """Act on the outage under FIFO and Fair, or under one policy."""
    server = LiveServer(pair(*(policies or ("fifo", "fair"))))
    drive(server, act, size)
    return server


def titles(screen: Screen) -> list[str]:
    """The panes of the pair that are there, by their titles."""
    panes = screen.app.query("RunView Pane")
    return [str(pane.border_title) for pane in panes if pane.region.area and pane.is_on_screen]


class TestBeside:
    def test_all_panes_where_there_is_room(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000)
            assert "rack-outage under fifo and fair" in screen.text()
            assert titles(screen) == [
                "[1] fifo",
                "[1] fair",
                "[2] jobs in either system",
                "[4] side by side",
                "[3] events: headlines · fifo",
                "[3] events: headlines · fair",
                "[5] over time: fifo above, fair below",
            ]
            rows = {row.job: row for row in versus(screen.frame).rows}
            assert rows[0].name == "nightly"

        on_two(act)

    def test_both_sides_are_laid_out_alike(self) -> None:
        """Also where one needs a line for its legend: its racks moved up, the other's did not."""

        async def act(screen: Screen) -> None:
            await at(screen, 20_000)
            sides = [screen.app.query_one(f"#compare-slots-{n}", SlotsPane) for n in range(2)]
            before = [side.slot_layout.lines for side in sides]
            other = versus(screen.frame).other
            ailing = bytes([NodeStatus.SLOW, NodeStatus.PAUSED, NodeStatus.CUT, NodeStatus.DRAINED])
            sides[1].show(msgspec.structs.replace(other, node_status=ailing))
            await screen.pilot.pause()
            after = [side.slot_layout.lines for side in sides]
            assert before[0] == before[1] != after[1]
            assert after[0] == after[1]

        with LiveServer([plan("two-jobs", policy) for policy in ("fifo", "fair")]) as server:
            drive(server, act, (120, 40))

    def test_slots_are_laid_out_anew_although_nothing_tells_them_of_their_size(self) -> None:
        """As sometimes when the result comes: half of the racks were below the border."""

        async def act(screen: Screen) -> None:
            await at(screen, 300_000)
            slots = screen.app.query_one("#compare-slots-0", SlotsPane)
            box = screen.app.query_one("#compare-slots")
            box.styles.height = 12
            await screen.pilot.pause()
            assert len(slots.slot_layout.lines) == 8
            for each in screen.app.query(SlotsPane):
                each.disable_messages(Resize)
            box.styles.height = 6
            await screen.pilot.pause()
            assert len(slots.slot_layout.lines) == slots.content_size.height == 4

        with LiveServer([plan("two-jobs", policy) for policy in ("fifo", "fair")]) as server:
            drive(server, act, (120, 40))

    def test_on_a_small_screen_too_the_result_says_that_it_is_of_one_seed(self) -> None:
        """In the border: the lines were taken by what was found."""

        async def act(screen: Screen) -> None:
            await at(screen, 300_000)
            told = screen.text()
            assert "1 of 2 jobs was done sooner under fair, 1 later." in told
            assert "One seed: `callboard run` with `--seeds 10` tells whether that" in told

        with LiveServer([plan("two-jobs", policy) for policy in ("fifo", "fair")]) as server:
            drive(server, act, SMALL)

    def test_a_job_is_found_by_name_whatever_is_shown(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000)
            await screen.press("3", "colon", *"nightly", "enter")
            assert screen.view().job == 0

        on_two(act, SMALL)

    @pytest.mark.soak
    @pytest.mark.parametrize("size", [SMALL, WIDE])
    @pytest.mark.parametrize(
        ("policies", "told"),
        [
            (("fair+delay(node=5)", "fair+delay(node=15)"), ("…5)", "…15)")),
            (("fair", "fair(max_jobs_per_user=3)"), ("fair", "fair(")),
        ],
    )
    def test_heads_too_narrow_for_their_policies_tell_them_apart(
        self, size: tuple[int, int], policies: tuple[str, str], told: tuple[str, str]
    ) -> None:
        """Two of one file both stood there as its name."""

        async def act(screen: Screen) -> None:
            await at(screen, 100_000)
            await screen.press("2")
            heads = [line for line in screen.text().splitlines() if " name " in line]
            await screen.press("4")
            lines = screen.text().splitlines()
            heads += [lines[n - 1] for n, line in enumerate(lines) if "jobs succeeded" in line]
            assert len(heads) == 2
            for head in heads:
                first, second = (head.find(f" {each}") for each in told)
                assert 0 <= first < second

        on_two(act, size, *policies)

    def test_a_small_screen_shows_the_one_in_front(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000)
            assert titles(screen) == ["[1] fifo", "[2] jobs in either system"]
            await screen.press("v")
            assert titles(screen) == ["[1] fair", "[2] jobs in either system"]
            for key, title in (
                ("3", "[3] events: headlines · fair"),
                ("4", "[4] side by side"),
                ("5", "[5] over time: fifo above, fair below"),
            ):
                await screen.press(key)
                assert titles(screen) == ["[1] fair", title]
            await screen.press("2", "down", "4", "v")
            assert titles(screen)[1].startswith("[4] job-0 “nightly” · fifo")
            assert len(screen.text().splitlines()) == 24

        on_two(act, SMALL)

    def test_a_small_screen_that_grows(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.pilot.resize_terminal(*WIDE)
            await screen.until(lambda: len(titles(screen)) == 7)

        on_two(act, SMALL)

    def test_a_selected_job_in_both(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000, "2", "down", "4")
            assert [title for title in titles(screen) if title.startswith("[4] job")] == [
                "[4] job-0 “nightly” · fifo",
                "[4] job-0 “nightly” · fair",
            ]
            await screen.press("4")  # from the detail to the figures
            assert screen.app.focused is not None
            assert screen.app.focused.id == "compare-figures"
            await screen.press("3")
            assert "[3] events: headlines · fair" in titles(screen)

        on_two(act)

    def test_one_pane_alone(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("1", "z")
            assert titles(screen) == ["[1] fifo"]
            await screen.press("escape")
            assert len(titles(screen)) == 7

        on_two(act)


class TestInFront:
    """The one in front is who moves by events, and whom a policy is put in force of."""

    def test_who_goes_to_a_pane_of_a_run_has_it_in_front(self) -> None:
        async def act(screen: Screen) -> None:
            assert screen.view().lead == 0
            await screen.pilot.click("#compare-log-1")
            await screen.pilot.pause()
            assert screen.view().lead == 1
            assert screen.frame.policy == "fair"
            await screen.press("v")
            assert screen.view().lead == 0
            assert screen.said() == ["fifo is in front"]  # side by side nothing else shows it
            assert screen.app.focused is not None
            assert screen.app.focused.id == "compare-log-0"

        on_two(act)

    def test_steps_are_its_own(self) -> None:
        async def act(screen: Screen) -> None:
            ends = []
            for _ in range(2):
                await screen.press("home", "j")
                ends.append(screen.frame.at_ms)
                assert "succeeded" in screen.frame.log[-1].text
                await screen.press("v")
            assert ends[0] > ends[1]  # queries wait under FIFO

        on_two(act)

    def test_an_event_of_either_run(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000, "v", "3", "up", "up")
            log = screen.app.query_one("#compare-log-1", LogPane)
            assert log.chosen is not None
            assert log.frame is not None
            line = next(each for each in log.frame.log if each.index == log.chosen)
            await screen.press("enter")
            assert screen.frame.at_ms == line.at_ms
            assert screen.frame.log[-1].text == line.text

        on_two(act)

    @pytest.mark.soak
    def test_a_policy_for_it_and_a_crash_for_both(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "v", "1", "right", "x")
            assert "Intervene in both runs at 00:01:40.000" in screen.text()
            await screen.press("k", "x", "o", "2")
            assert "rack-outage under fifo and hfsp" in screen.text()

        server = on_two(act)
        for side in range(2):
            assert FaultStruck(100_001, Crash(0)) in taped(server, side)
            switched = FaultStruck(100_002, SwitchPolicy("hfsp")) in taped(server, side)
            assert switched is bool(side)

    def test_the_side_that_comes_to_the_front_says_what_its_colours_stand_for(self) -> None:
        """Its title lacked them until the next key."""

        async def act(screen: Screen) -> None:
            await at(screen, 600_000)
            before = str(screen.app.query("#comparison SlotsPane").first().border_title)
            await screen.press("v")
            (front,) = (title for title in titles(screen) if title.startswith("[1]"))
            assert front == before.replace("fifo", "fair")
            assert "■" in front

        with LiveServer([plan("small-behind-giant", each) for each in ("fifo", "fair")]) as server:
            drive(server, act, SMALL)


class TestDifferences:
    def test_the_first_is_one_key_away(self) -> None:
        async def act(screen: Screen) -> None:
            assert "no difference so far" in screen.text()
            await screen.press("space", "d")
            divergence = versus(screen.frame).divergence
            assert divergence is not None
            assert screen.frame.at_ms == divergence.at_ms
            assert not screen.playing()
            assert f"fair: {divergence.lines[1][:30]}" in screen.text()
            await at(screen, 400_000)
            column = (
                divergence.at_ms * screen.app.query_one(TimeBar).column_count // screen.frame.end_ms
            )
            assert screen.text().splitlines()[-3].index(DIVERGENCE_SIGN) == 2 + LABEL_WIDTH + column

        on_two(act)

    def test_slots_at_the_same_work_step_back(self) -> None:
        """Until the runs part all do; `D` shows them as those of one run."""

        def bright(screen: Screen, side: int) -> int:
            """How many of the slots that are at something do not step back."""
            slots = screen.app.query_one(f"#compare-slots-{side}", SlotsPane)
            palette = screen.app.palette
            inks = [slots._table[code] for code in slots._codes]
            return sum(
                ink.text in "■◇◆"
                and ink.style is not None
                and ink.style.color is not None
                and ink.style.color.name != palette.faint.lower()
                for ink in inks
            )

        async def act(screen: Screen) -> None:
            await at(screen, 100_000)
            assert [bright(screen, side) for side in range(2)] == [0, 0]
            await screen.press("D")
            assert [bright(screen, side) for side in range(2)] == [78, 78]
            await screen.press("D")
            await at(screen, 250_000)
            both = versus(screen.frame).frames(screen.frame)
            owners = [frame.owners for frame in both]
            differ = [
                owners[0][place : place + 4] != owners[1][place : place + 4]
                for place in range(0, len(owners[0]), 4)
            ]
            assert 0 < bright(screen, 0) <= sum(differ)

        on_two(act)

    @pytest.mark.soak
    def test_who_is_ahead(self) -> None:
        """Tasks while a job is in either system, time once both have ended it."""

        async def act(screen: Screen) -> None:
            await at(screen, 10**7, "a")
            text = screen.text()
            row = next(row for row in versus(screen.frame).rows if row.name == "query-1")
            assert row.sooner_ms is not None
            assert row.sooner_ms > 0
            line = next(line for line in text.splitlines() if "query-1 " in line)
            assert "−" in line.split("│")[1].split()[-1]
            assert "ended at" in text
            await at(screen, 180_000)
            line = next(line for line in screen.text().splitlines() if "query-1 " in line)
            assert line.split("│")[1].rstrip().endswith("tasks")

        on_two(act)


class TestChoosing:
    def test_jobs_by_arrows_and_clicks(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000, "2", "down")
            assert screen.view().job == 0
            await screen.pilot.click(ComparisonJobsPane, offset=(10, 3))
            await screen.pilot.pause()
            assert screen.view().job == versus(screen.frame).rows[1].job
            panes = screen.app.query_one(ComparisonView).query(SlotsPane)
            assert [slots.view.job for slots in panes] == [screen.view().job] * 2
            await screen.press("escape")
            assert screen.view().job is None

        on_two(act)

    def test_sorting_and_the_filter(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 10**7, "a", "s")
            assert versus(screen.frame).rows[0].name == "nightly"
            pane = screen.app.query_one(ComparisonJobsPane)
            await screen.pilot.click(ComparisonJobsPane, offset=(pane.size.width - 14, 1))
            await screen.pilot.pause()
            assert screen.view().jobs_key is JobSortKey.TIME
            await screen.press("slash", *"query-1", "enter")
            assert {row.name for row in versus(screen.frame).rows} == {
                "query-1", "query-10", "query-11", "query-12"}  # fmt: skip

        on_two(act)

    def test_a_node_in_both(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 500_000, "1", "right", "right", "c")
            cursors = {slots.cursor for slots in screen.app.query(SlotsPane)}
            sizes = {slots.size_asked for slots in screen.app.query("#comparison SlotsPane")}  # type: ignore[attr-defined]
            assert (cursors, len(sizes)) == ({4}, 1)
            await screen.press("4")
            assert "[4] node-4 · fair" in titles(screen)

        on_two(act)


class TestForking:
    @pytest.mark.soak
    def test_from_the_moment_shown(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 200_000, "f")
            assert "Fork at 00:03:20.000" in screen.text()
            await screen.press("1")
            assert "rack-outage under fair and fifo" in screen.text()
            assert screen.frame.at_ms == 200_001
            assert len(titles(screen)) == 7
            await screen.press("v", "w")
            assert "rack-outage under fifo" in screen.text()
            assert [title for title in titles(screen) if title.startswith("[1]")] == [
                "[1] slots, a colour a job"
            ]
            assert screen.frame.at_ms == 200_001
            await screen.press("f", "t", *(["backspace"] * 4), *"fair+kill", "enter")
            assert "rack-outage under fifo and fair+kill" in screen.text()

        on_two(act, WIDE, "fair")

    @pytest.mark.parametrize("size", [WIDE, SMALL])
    def test_the_run_that_goes_on_alone_has_its_panes_as_before(
        self, size: tuple[int, int]
    ) -> None:
        """Its slots fell to a bar a rack, and on a small screen no job was listed."""

        async def act(screen: Screen) -> None:
            slots = screen.app.query_one("#single SlotsPane", SlotsPane)
            await at(screen, 200_000)
            was, jobs = slots.slot_layout.size, len(screen.frame.jobs)
            await screen.press("f", "1", "w")
            await screen.pilot.pause()
            assert (slots.slot_layout.size, len(screen.frame.jobs)) == (was, jobs)

        server = LiveServer([plan("small-behind-giant", "fifo")])
        drive(server, act, size)

    @pytest.mark.parametrize("key", ["d", "v", "w", "D"])
    def test_what_is_for_two_says_so(self, key: str) -> None:
        async def act(screen: Screen) -> None:
            await screen.press(key)
            assert "f forks a second one" in said(screen)
            assert "swap" not in screen.text().splitlines()[-1]

        on_two(act, SMALL, "fair")


def test_a_fork_in_the_past_is_played_beside_what_is_known(tmp_path: Path) -> None:
    """The first run keeps what is known of it; the fork's journal stands beside its own."""
    server = LiveServer(pair("fair"), [tmp_path / "run.journal"])

    async def act(screen: Screen) -> None:
        await at(screen, 600_000)
        await at(screen, 100_000, "f", "2")
        assert screen.frame.end_ms >= 600_000
        await at(screen, 500_000)

    drive(server, act)
    server.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["run-fork-hfsp.journal", "run.journal"]


def figures(done: int, in_system_ms: float | None) -> RunFigures:
    return RunFigures("p", done, None, None, in_system_ms, (0.0, 0.0), 0.0, None)


class TestWhoIsAhead:
    @pytest.mark.parametrize(
        ("first", "second", "said"),
        [
            ((0, 100.0), (5, 62.0), "hfsp ahead: 5 jobs, mean time −38%"),
            ((5, 62.0), (0, 100.0), "fifo ahead: 5 jobs, mean time −38%"),
            ((3, 100.0), (2, 62.0), "hfsp ahead: mean time −38%, though 1 job fewer done"),
            ((2, 100.0), (2, 50.0), "hfsp ahead: mean time −50%"),
            ((2, 100.0), (3, 100.1), "hfsp ahead: 1 job"),
            ((2, 100.0), (2, 100.1), "level so far"),
            ((0, None), (0, None), "level so far"),
        ],
    )
    def test_in_a_line(
        self, first: tuple[int, float | None], second: tuple[int, float | None], said: str
    ) -> None:
        one, other = (
            msgspec.structs.replace(figures(*each), policy=policy)
            for each, policy in ((first, "fifo"), (second, "hfsp"))
        )
        assert verdict((one, other)) == said

    @pytest.mark.soak
    @pytest.mark.parametrize("size", [SMALL, (120, 40)])
    def test_with_a_bar_to_its_side(self, size: tuple[int, int]) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 600_000)
            await screen.press("4")
            one, other = versus(screen.frame).figures
            assert verdict((one, other)) in screen.text()
            lines = screen.text().splitlines()
            (bar,) = (line for line in lines if "━│─" in line or "─│━" in line)
            assert one.in_system_ms is not None
            assert other.in_system_ms is not None
            assert ("─│━" in bar) == (other.in_system_ms < one.in_system_ms)

        on_two(act, size)
        on_two(act, size, "fair", "fifo")
