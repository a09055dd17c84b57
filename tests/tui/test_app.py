"""Every key and every click: what it does to the time, the view and the screen."""

import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import Importance
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.frame import ColourBy, JobSortKey, LogLine
from callboard.journal.replay.palette import THEMES
from callboard.journal.replay.player import Opening
from callboard.journal.replay.source import GoTo
from callboard.tui import screenshot
from callboard.tui.keymap import COMMANDS
from callboard.tui.panels.charts import LABEL_WIDTH, ChartsPane
from callboard.tui.panels.jobs import JOB_COLUMNS, JobsPane
from callboard.tui.panels.log import LogPane
from callboard.tui.panels.slot_layout import CellSize
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.panels.timebar import TimeBar
from callboard.tui.screenshot import png_of
from tests.journal.replay.support import events_of, outage, recorded
from tests.tui.support import SMALL, WIDE, Screen, drive
from tests.tui.test_interventions import plan

Act = Callable[[Screen], Awaitable[None]]


class Resvg:
    """As if the extra were installed."""

    @staticmethod
    def svg_to_bytes(**_: object) -> bytes:
        raise AssertionError("there is no font")


def _svg_in(folder: Path) -> str:
    (path,) = folder.glob("*.svg")
    return path.read_text(encoding="utf-8")


def on_the_outage(act: Act, size: tuple[int, int] = WIDE) -> None:
    drive(recorded(outage()), act, size)


class TestTime:
    def test_it_begins_paused_at_the_start(self) -> None:
        async def act(screen: Screen) -> None:
            assert (screen.frame.at_ms, screen.playing()) == (0, False)
            assert screen.frame.jobs[0].name == "nightly"
            await screen.tick(5)
            assert screen.frame.at_ms == 0

        on_the_outage(act)

    def test_space_plays_and_pauses(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("space")
            await screen.tick(0.2)
            assert screen.frame.at_ms == 12_000  # at ×60
            assert "▶ 00:00:12.000 ×60" in screen.text()
            await screen.press("space")
            await screen.tick(0.2)
            assert screen.frame.at_ms == 12_000
            assert "‖ 00:00:12.000" in screen.text()

        on_the_outage(act)

    def test_speed(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("minus", "minus", "minus", "space")
            await screen.tick(0.2)
            assert screen.frame.at_ms == 1000  # ×5
            await screen.press("plus", "equals_sign")
            await screen.tick(0.1)
            assert screen.frame.at_ms == 4000  # ×30
            await screen.press("asterisk")
            assert "as fast as it goes" in screen.text()
            for _ in range(5):
                await screen.tick(0.1)
            assert screen.frame.at_ms == screen.frame.end_ms
            assert not screen.playing()
            assert "the run is complete" in screen.text()
            await screen.press("asterisk", "space")  # once more from the start
            assert screen.playing()
            assert screen.frame.at_ms == 0

        on_the_outage(act)

    def test_slower_than_the_wall_clock(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.player.speed = 0.001
            await screen.press("minus", "space")
            for _ in range(8):
                await screen.tick(0.25)
            assert screen.frame.at_ms == 2  # ×0.001

        on_the_outage(act)

    def test_a_source_that_cannot_keep_up_is_not_run_after(self) -> None:
        """However long nobody looked, at most a quarter of a second is made up for."""

        async def act(screen: Screen) -> None:
            await screen.press("space")
            await screen.tick(10)
            assert screen.frame.at_ms == 15_000

        on_the_outage(act)

    @pytest.mark.parametrize(
        ("keys", "at_ms"),
        [
            (["m"], 420_000),
            (["m", "m"], 1_200_000),
            (["m", "m", "M"], 420_000),
            (["end"], 1_510_826),
            (["end", "home"], 0),
            (["right_square_bracket"], 15_108),
            (["right_curly_bracket", "left_square_bracket"], 135_972),
            (["end", "left_curly_bracket"], 1_359_746),
            (["h"], 6),
        ],
    )
    def test_going_about(self, keys: list[str], at_ms: int) -> None:
        async def act(screen: Screen) -> None:
            await screen.press(*keys)
            assert screen.frame.at_ms == at_ms

        on_the_outage(act)

    def test_steps_pause(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("space", "full_stop")
            assert not screen.playing()
            index = screen.frame.index
            await screen.press("full_stop", "full_stop", "comma")
            assert screen.frame.index == index + 1
            await screen.press("j")
            assert "succeeded after" in screen.frame.log[-1].text
            at_ms = screen.frame.at_ms
            await screen.press("j", "J")
            assert screen.frame.at_ms == at_ms
            await screen.press("H")
            assert screen.frame.at_ms < at_ms

        on_the_outage(act)

    @pytest.mark.soak
    def test_going_to_a_time(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("g", *"7:30", "enter")
            assert screen.frame.at_ms == 450_000
            await screen.press("g", *"soon", "enter")
            assert "'soon' is no time; try 7:30" in screen.text()
            await screen.press("escape")
            assert screen.frame.at_ms == 450_000
            await screen.press("g", *"9:00:00", "enter")
            assert screen.said()[-1] == "the run ends at 0:25:11"

        on_the_outage(act)

    def test_jumping(self) -> None:
        """To a job by number or name, to a node, to a time; what is none of these is said."""

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("colon", *"job-7", "enter")
            assert screen.view().job == 7
            await screen.press("colon", *"nightly", "enter")
            assert screen.view().job == 0
            await screen.press("colon", *"node-21", "enter")
            assert (screen.view().job, screen.view().node) == (None, 21)
            assert screen.app.query_one("#slots", SlotsPane).cursor == 21
            await screen.press("colon", *"7:30", "enter")
            assert screen.frame.at_ms == 450_000
            await screen.press("colon", *"node-40", "enter")
            assert "the last is node-39" in screen.text()
            await screen.press("escape", "colon", *"job-99", "enter")
            assert "job-99 is not there" in screen.text()
            await screen.press("escape", "colon", *"soon", "enter")
            assert "'soon' is none; try job-3" in screen.text()
            await screen.press("escape", "colon", *"99999999d", "enter")
            assert "'99999999d' is too late" in screen.text()

        on_the_outage(act)

    def test_a_job_is_found_by_name_wherever_it_is(self) -> None:
        """Also while another pane is in place of the jobs, and once it has left the system."""

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("3", "colon", *"nightly", "enter")
            assert screen.view().job == 0
            names = await asked_names(screen)
            (gone, *_) = (job for job in names if job not in {row.job for row in screen.frame.jobs})
            await screen.press("2", "colon", *names[gone], "enter")
            assert screen.view().job == gone
            assert screen.frame.names is None

        async def asked_names(screen: Screen) -> dict[int, str]:
            screen.app.playback.ask_names()
            await screen.pilot.pause()
            return dict(screen.app.playback.names)

        on_the_outage(act, SMALL)

    def test_the_time_bar_can_be_clicked(self) -> None:
        async def act(screen: Screen) -> None:
            bar = screen.app.query_one(TimeBar)
            middle = 2 + LABEL_WIDTH + bar.column_count // 2
            await screen.pilot.click(TimeBar, offset=(middle, 1))
            await screen.pilot.pause()
            share = screen.frame.at_ms / screen.frame.end_ms
            assert share == pytest.approx(0.5, abs=0.01)

        on_the_outage(act)

    def test_a_mark_can_be_clicked(self) -> None:
        """The crash at 420 s and the loss at 1200 s are exactly there, whatever the column."""

        async def act(screen: Screen) -> None:
            columns = [at for at, mark in enumerate(screen.frame.charts.marks) if mark]
            times = []
            for column in columns:
                await screen.pilot.click(TimeBar, offset=(2 + LABEL_WIDTH + column, 0))
                await screen.pilot.pause()
                times.append(screen.frame.at_ms)
            assert times == [420_000, 1_200_000]

        on_the_outage(act)

    def test_a_mark_at_the_very_start_can_be_clicked(self) -> None:
        """The next one came instead, at 200 s."""
        crashes = "timeline=[" + ", ".join(
            f'{{what="crash", nodes="node-3", at_s={at_s}, for_s=9}}' for at_s in (0, 200)
        )

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(100_000))
            await screen.pilot.click(TimeBar, offset=(2 + LABEL_WIDTH, 0))
            await screen.pilot.pause()
            assert screen.frame.at_ms == 0

        drive(recorded(events_of("two-jobs", "fifo", crashes + "]")), act)

    def test_the_charts_can_be_clicked(self) -> None:
        async def act(screen: Screen) -> None:
            bar = screen.app.query_one(TimeBar)
            await screen.pilot.click(
                ChartsPane, offset=(2 + LABEL_WIDTH + bar.column_count // 4, 2)
            )
            await screen.pilot.pause()
            assert screen.frame.at_ms / screen.frame.end_ms == pytest.approx(0.25, abs=0.01)

        on_the_outage(act)


class TestChoosing:
    def test_a_job_by_the_arrow_keys(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("2", "down", "down")
            assert screen.view().job == 7
            assert "[4] job-7 “query-7”" in screen.text()
            await screen.press("up")
            assert screen.view().job == 0
            await screen.press("escape")
            assert screen.view().job is None

        on_the_outage(act)

    def test_a_job_stays_chosen_wherever_its_row_goes(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("2", "down", "down", "S", "a", "end")
            assert screen.view().job == 7
            assert "[4] job-7 “query-7”" in screen.text()

        on_the_outage(act)

    def test_a_job_by_a_click_and_its_slots_stand_out(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.pilot.pause()
            await screen.pilot.click(JobsPane, offset=(10, 3))
            await screen.pilot.pause()
            assert screen.view().job == 7
            assert screen.app.query_one("#slots", SlotsPane).view.job == 7

        on_the_outage(act)

    def test_a_node_by_the_arrow_keys(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("1", "right", "right", "down")
            slots = screen.app.query_one("#slots", SlotsPane)
            assert slots.cursor == screen.view().node == 20  # the row below node-4
            assert "[4] node-20" in screen.text()
            await screen.press("left")
            assert screen.view().node == 16

        on_the_outage(act)

    def test_a_slot_by_a_click(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(100_000))
            await screen.pilot.pause()
            await screen.pilot.click("#slots", offset=(6, 3))  # node-0, its first slot
            await screen.pilot.pause()
            assert screen.view().job == 0
            await screen.pilot.click("#slots", offset=(2, 3))  # its number
            await screen.pilot.pause()
            assert screen.view().job is None
            assert screen.view().node == 0

        on_the_outage(act)

    def test_an_event_and_going_to_its_time(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "3", "up", "up")
            chosen = screen.app.query_one("#log", LogPane).chosen
            assert chosen == screen.frame.log[-2].index
            assert screen.view().job == screen.frame.log[-2].job
            await screen.press("enter")
            assert screen.frame.index == chosen + 1

        on_the_outage(act)

    def test_only_the_events_of_what_is_chosen(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "o")
            assert not screen.view().log_of_selection  # nothing is chosen
            await screen.press("2", "a", "down", "o", "e", "e")
            assert {line.job for line in screen.frame.log} == {0}
            await screen.press("escape")
            assert not screen.view().log_of_selection

        on_the_outage(act)


class TestLooking:
    def test_the_log_tells_more_and_is_scrolled_back(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "e", "e")
            assert screen.view().log_level is Importance.DETAIL
            assert "[3] events: everything" in screen.text()
            last = screen.frame.log[-1].index
            await screen.press("3", "pageup")
            assert (
                screen.frame.log[-1].index
                == last - screen.app.query_one("#log", LogPane).rows_that_fit
            )
            await screen.press("pagedown")
            assert screen.frame.log[-1].index == last
            await screen.press("e")
            assert screen.view().log_level is Importance.HEADLINE

        on_the_outage(act)

    def test_events_of_one_kind(self) -> None:
        """Of all levels of detail; `o` and the text still hold."""

        async def act(screen: Screen) -> None:
            await screen.press("end", "k")
            assert "Show events of which kind?" in screen.text()
            await screen.press("down", "down", "down", "down", "enter")
            assert screen.view().log_kind == "attempt-launched"
            assert "[3] events: attempt-launched" in screen.text()
            assert all("launched on" in line.text for line in screen.frame.log)
            await screen.press("2", "a", "down", "down", "o")
            assert {line.job for line in screen.frame.log} == {1}
            await screen.press("k", "escape")  # leaves it as it is
            assert screen.view().log_kind == "attempt-launched"
            await screen.press("escape", "escape")
            assert screen.view().log_kind == ""

        on_the_outage(act)

    def test_the_filter(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "a", "slash", *"query-1", "enter")
            assert {row.name for row in screen.frame.jobs} == {
                "query-1", "query-10", "query-11", "query-12"}  # fmt: skip
            assert all("query-1" in line.text for line in screen.frame.log)
            assert "/query-1" in screen.text()
            await screen.press("escape")
            assert screen.view().filter == ""
            await screen.press("slash", *"!query", "enter")
            assert [row.name for row in screen.frame.jobs] == ["nightly"]
            await screen.press("slash", "escape")  # leaves it as it is
            assert screen.view().filter == "!query"

        on_the_outage(act)

    @pytest.mark.parametrize("keys", [("3", "s"), ("1", "z", "s"), ("4", "s")])
    @pytest.mark.parametrize("size", [SMALL, WIDE])
    def test_sorting_while_the_jobs_are_out_of_sight(
        self, size: tuple[int, int], keys: tuple[str, ...]
    ) -> None:
        """It ended in a traceback, and a run that was changed by hand was lost."""

        async def act(screen: Screen) -> None:
            before = screen.view().jobs_key
            await screen.press(*keys)
            assert screen.view().jobs_key is not before

        on_the_outage(act, size)

    def test_nothing_is_sorted_that_was_never_shown(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.query_one(JobsPane).columns = []
            before = screen.view().jobs_key
            await screen.press("s")
            assert screen.view().jobs_key is before

        on_the_outage(act)

    def test_sorting_by_key_and_by_click(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "a", "s")
            assert screen.view().jobs_key is JobSortKey.NAME
            assert screen.frame.jobs[0].name == "nightly"
            await screen.press("S")
            assert screen.frame.jobs[0].name == "query-9"
            pane = screen.app.query_one(JobsPane)
            await screen.pilot.click(JobsPane, offset=(pane.size.width - 3, 1))
            await screen.pilot.pause()
            assert screen.view().jobs_key is JobSortKey.TIME
            for _ in range(len(JOB_COLUMNS)):  # those that are not shown would have no ▴ or ▾
                await screen.press("s")
                head = next(line for line in screen.text().splitlines() if "progress" in line)
                assert ("▴" in head) != ("▾" in head), head

        on_the_outage(act)

    def test_all_jobs_or_those_in_the_system(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "J")
            assert [row.name for row in screen.frame.jobs] == ["nightly"]
            await screen.press("a")
            assert len(screen.frame.jobs) == 13

        on_the_outage(act)

    def test_cell_sizes(self) -> None:
        async def act(screen: Screen) -> None:
            slots, seen = screen.app.query_one("#slots", SlotsPane), []
            sizes = [size for size in CellSize if size is not CellSize.CARDS]  # too many nodes
            for _ in sizes:
                await screen.press("c")
                seen.append(slots.slot_layout.size)
            assert seen == sizes
            await screen.press("c")
            assert slots.size_asked is None
            assert "rack-2" in screen.text()

        on_the_outage(act)

    def test_one_pane_alone(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("3", "z")
            text = screen.text()
            assert "[3] events" in text
            assert "[2] jobs" not in text
            assert "0:00:00" in text  # the time bar stays
            await screen.press("5")
            assert "[5] over time" in screen.text()
            assert "[3] events" not in screen.text()
            await screen.press("escape")
            assert "[2] jobs" in screen.text()

        on_the_outage(act)

    def test_a_small_screen_shows_one_pane_beside_the_slots(self) -> None:
        async def act(screen: Screen) -> None:
            assert "╭─ [2] jobs" in screen.text()
            for key, heading in ("3", "╭─ [3] events"), ("4", "╭─ [4] "), ("5", "╭─ [5] over"):
                await screen.press(key)
                assert heading in screen.text()
                assert "╭─ [2] jobs" not in screen.text()
                assert "[1] slots" in screen.text()

        on_the_outage(act, SMALL)

    def test_a_screen_that_changes_its_size(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.pilot.resize_terminal(*SMALL)
            await screen.until(lambda: "╭─ [5] over" not in screen.text())
            assert len(screen.text().splitlines()) == 24
            await screen.pilot.resize_terminal(*WIDE)
            await screen.until(lambda: "╭─ [5] over" in screen.text())

        on_the_outage(act)

    def test_a_screen_that_grows_again_shows_what_there_is_room_for(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.pilot.resize_terminal(40, 10)
            await screen.until(lambda: "nightly" not in screen.text())
            await screen.pilot.resize_terminal(*WIDE)
            await screen.until(lambda: "╭─ [5] over" in screen.text())
            await screen.until(lambda: "nightly" in screen.text())
            assert "no job is in the system" not in screen.text()

        on_the_outage(act)

    def test_where_a_filter_leaves_nothing_that_is_said(self) -> None:
        """“No job is in the system”, the pane said below a first line with three of seven."""

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(450_000))
            await screen.press("slash", *"zzz", "enter")
            assert "no job matches /zzz; a looks at all that came" in screen.text()
            assert "no event so far matches /zzz" in screen.text()
            await screen.press("a")
            assert "no job matches /zzz" in screen.text()
            assert "all that came" not in screen.text()

        on_the_outage(act)

    def test_themes(self) -> None:
        async def act(screen: Screen) -> None:
            for theme in ("light", "high-contrast", "mono", "dark"):
                await screen.press("t")
                assert screen.app.theme == theme
                assert screen.app.query_one(JobsPane).palette is THEMES[theme]
                told = f"theme: {theme}"
                await screen.until(lambda: told in screen.said())  # noqa: B023
            screen.app.set_theme("light-16")
            await screen.press("t")
            assert screen.app.theme == "dark-16"

        on_the_outage(act)

    def test_a_picture(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As SVG and as PNG, in which text can be seen; a name that one of them has is taken."""
        pytest.importorskip("resvg_py", reason="resvg-py, the extra `png`, is not installed")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "rack-outage-0.00.00.png").write_bytes(b"mine")

        async def act(screen: Screen) -> None:
            await screen.press("p")
            await screen.until(lambda: "rack-outage-0.00.00-2.png" in "".join(screen.said()))

        on_the_outage(act, SMALL)
        assert "<svg" in (tmp_path / "rack-outage-0.00.00-2.svg").read_text(encoding="utf-8")
        png = (tmp_path / "rack-outage-0.00.00-2.png").read_bytes()
        assert png.startswith(b"\x89PNG")
        assert (tmp_path / "rack-outage-0.00.00.png").read_bytes() == b"mine"
        assert png != png_of(re.sub(r"<text.*?</text>", "", _svg_in(tmp_path), flags=re.DOTALL))

    @pytest.mark.parametrize("size", [SMALL, (120, 40)])
    def test_names_too_long_for_the_table_keep_their_ends(self, size: tuple[int, int]) -> None:
        """Names of histories differ in these alone."""
        names = [f"workload.job.{n}.name=job_200902110000_{n + 17:04}" for n in range(2)]

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(31_000))
            await screen.pilot.pause()
            assert [f"{end} " in screen.text() for end in ("0017", "0018")] == [True, True]

        drive(recorded(events_of("two-jobs", "fifo", *names)), act, size)

    def test_a_profile_of_one_reduce_says_so(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(200_000))
            screen.app.select(job=0)
            await screen.press("4")
            assert "4 maps, 1 reduce " in screen.text()

        drive(recorded(events_of("two-jobs", "fifo")), act, SMALL)

    def test_a_picture_is_without_messages(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(sys.modules, "resvg_py", None)

        async def act(screen: Screen) -> None:
            await screen.press("t")
            await screen.until(lambda: "theme: light" in screen.text())
            await screen.press("p")
            await screen.until(lambda: "saved as" in "".join(screen.said()))

        drive(recorded(outage()), act, messages=True)
        assert "theme:" not in (tmp_path / "rack-outage-0.00.00.svg").read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("module", "letters", "said"),
        [(None, True, 'pip install "callboard[png]"'), (Resvg, False, "needs a font")],
    )
    def test_a_picture_without_what_png_needs(
        self,
        module: object,
        letters: bool,
        said: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The SVG is there, and what is missing is named."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(sys.modules, "resvg_py", module)
        monkeypatch.setattr(screenshot, "_has_fixed_width_font", lambda: letters)

        async def act(screen: Screen) -> None:
            await screen.press("p")
            await screen.until(lambda: said in "".join(screen.said()))

        on_the_outage(act, SMALL)
        assert [path.name for path in tmp_path.iterdir()] == ["rack-outage-0.00.00.svg"]

    def test_the_help_says_how_to_get_to_the_runs_end(self) -> None:
        """And so it is: `end` alone goes to the end of what is known."""
        (end,) = (each for each in COMMANDS if each.name == "end")
        assert "* then space" in end.help

        async def act(screen: Screen) -> None:
            await screen.press("end")
            assert not screen.frame.over
            await screen.press("*", "space")
            await screen.until(lambda: screen.frame.over)

        with LiveServer([plan("two-jobs", "fifo")]) as server:
            drive(server, act, SMALL)

    def test_help_and_palette(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("question_mark")
            assert "What the signs mean" in screen.text()
            await screen.press("escape", "ctrl+p")
            await screen.press(*"end of what")
            await screen.until(lambda: "To the end of what is known" in screen.text())
            await screen.press("enter")
            await screen.until(lambda: screen.frame.at_ms == screen.frame.end_ms)

        on_the_outage(act)

    @pytest.mark.parametrize("key", ["q", "ctrl+c"])
    def test_leaving(self, key: str) -> None:
        async def act(screen: Screen) -> None:
            await screen.press(key)
            assert screen.app.return_code == 0

        on_the_outage(act)


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_the_charts_say_what_the_first_line_says(size: tuple[int, int]) -> None:
    """The present value is that of the moment, not the mean of its column; beside it the most."""

    async def act(screen: Screen) -> None:
        await screen.press("5")
        for at_ms in (20_000, 500_000, 777_000, 1_300_000):
            screen.app.playback.ask_frame(GoTo(at_ms))
            await screen.pilot.pause()
            totals, text = screen.frame.totals, screen.text()
            now = [f"{totals.busy[kind] / totals.slots[kind]:.0%}" for kind in (0, 1)]
            if size == WIDE:
                assert f"maps {now[0]} reduces {now[1]}" in text.splitlines()[0]
            most = "" if size == SMALL else ", max "  # where there is room for it
            for shown in (*now, str(totals.in_system)):
                assert f" {shown}{most}" in text.replace("│", " "), (at_ms, shown)

    on_the_outage(act, size)


def test_what_is_copied() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("end", "3", "up", "up", "y")
        assert screen.app.clipboard.endswith(screen.frame.log[-2].text)
        assert "copied 1 line" in screen.said()
        await screen.press("2", "a", "y")
        assert "nightly" in screen.app.clipboard
        assert "query-12" in screen.app.clipboard

    on_the_outage(act)


def test_every_command_has_an_action() -> None:
    from callboard.tui.app import CallboardApp

    for each in COMMANDS:
        name = each.action.partition("(")[0]
        assert hasattr(CallboardApp, f"action_{name}"), each
    keys = [key for each in COMMANDS for key in each.textual_keys.split(",")]
    assert len(keys) == len(set(keys))


def test_colours_can_be_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR everything is shades of grey, and the glyphs still tell all."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.pilot.pause()
        assert "◇" in screen.text()
        assert "master unaware of 10" in screen.text()
        for strip in screen.app.screen._compositor.render_strips():
            for segment in strip:
                if segment.style is not None and segment.style.color is not None:
                    colour = segment.style.color.get_truecolor()
                    assert max(colour) - min(colour) <= 1, segment

    on_the_outage(act)


class TestSlots:
    """A slot is chosen within its node, and told of in the detail pane."""

    def test_by_keys(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("1", "right", "enter")
            assert (screen.view().node, screen.view().slot) == (0, 0)
            assert "[4] node-0, map 0" in screen.text()
            await screen.press("right", "right", "right", "right", "right")  # it has four
            assert "[4] node-0, reduce 1" in screen.text()
            assert "[◇]" in screen.text()
            await screen.press("down")
            assert (screen.view().node, screen.view().slot) == (16, 3)
            await screen.press("escape")
            assert (screen.view().node, screen.view().slot) == (16, None)
            await screen.press("escape")
            assert screen.view().node is None

        on_the_outage(act)

    def test_on_a_node_without_slots_none_is_chosen(self) -> None:
        """It was called `node-1, map -1`."""
        without = "cluster.group=[{nodes=1}, {nodes=3, map_slots=0, reduce_slots=0}]"

        async def act(screen: Screen) -> None:
            await screen.press("1", "right", "enter")
            assert (screen.view().node, screen.view().slot) == (0, 0)
            await screen.press("down")
            assert (screen.view().node, screen.view().slot) == (1, None)
            assert "map -1" not in screen.text()

        drive(recorded(events_of("two-jobs", "fifo", "cluster.nodes=0", without)), act)

    def test_by_a_second_click(self) -> None:
        """The first is for the job; an empty slot has none."""

        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(100_000))
            await screen.pilot.pause()
            for view in ((0, None, None), (0, 0, 0)):
                await screen.pilot.click("#slots", offset=(6, 3))
                await screen.pilot.pause()
                assert (screen.view().job, screen.view().node, screen.view().slot) == view
            await screen.pilot.click("#slots", offset=(14, 3))  # a reduce slot
            await screen.pilot.pause()
            assert (screen.view().job, screen.view().node, screen.view().slot) == (None, 0, 2)
            assert "holds        nothing" in screen.text()

        on_the_outage(act)

    def test_an_event_marks_the_node_that_it_is_of(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(400_000))
            await screen.press("e", "e", "3", "up")
            line = next(
                x
                for x in screen.frame.log
                if x.index == screen.app.query_one("#log", LogPane).chosen
            )
            assert line.node is not None
            slots = screen.app.query_one("#slots", SlotsPane)
            assert (slots.cursor, slots.view.job) == (line.node, line.job)

        on_the_outage(act)

    def test_the_facts_are_scrolled(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(500_000))
            await screen.press("2", "down", "4")
            assert "state        running" in screen.text()
            assert "more below" in screen.text()
            for _ in range(20):
                await screen.press("down")
            assert "state        running" not in screen.text()
            assert "more below" not in screen.text()
            assert "maps ran" in screen.text()
            await screen.press("2", "down", "4")  # another job begins at its top
            assert "state        running" in screen.text()

        on_the_outage(act, SMALL)


def test_without_colours_slots_keep_their_glyphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A half block tells a state by its colour alone, so that none is used."""
    seen: list[CellSize] = []

    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.pilot.pause()
        seen.append(screen.app.query_one("#slots", SlotsPane).slot_layout.size)
        beside_the_legend = screen.text().count("◇") > 1
        assert beside_the_legend is (seen[-1] is CellSize.CELLS)

    on_the_outage(act, SMALL)
    monkeypatch.setenv("NO_COLOR", "1")
    on_the_outage(act, SMALL)
    assert seen == [CellSize.HALVES, CellSize.CELLS]


class TestTheEnd:
    def test_the_result_stands_where_details_stand(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end")
            text = screen.text()
            assert "[4] the result" in text
            assert "13 of 13 succeeded" in text
            await screen.press("J")
            assert "[4] the result" not in screen.text()

        on_the_outage(act)

    @pytest.mark.parametrize("size", [SMALL, (120, 40), (200, 60)])
    def test_the_result_is_large_and_the_table_stays(self, size: tuple[int, int]) -> None:
        async def act(screen: Screen) -> None:
            assert "the result" not in screen.text()
            await screen.press("end")
            lines = screen.text().splitlines()
            top = next(at for at, line in enumerate(lines) if "─ the result ─" in line)
            digits = [line[2:13] for line in lines[top + 1 : top + 4]]
            assert digits == ["╺━┓ ┏━┓╺┓  ", " ━┫ ┃ ┃ ┃  ", "╺━┛m┗━┛╺┻╸s"]
            assert "A job took 3 min 01 s on average under fair." in lines[top + 1]
            assert [row.name for row in screen.frame.jobs][:2] == ["nightly", "query-1"]
            assert screen.frame.jobs_found == 13
            await screen.press("J")
            assert "the result" not in screen.text()
            assert screen.frame.jobs_found == 1

        on_the_outage(act, size)

    def test_a_small_screen_says_where_it_is(self) -> None:
        async def act(screen: Screen) -> None:
            assert "1–5 panes" in screen.text().splitlines()[-1]
            await screen.press("end")
            assert "[4] detail" in screen.text()
            await screen.press("4")
            assert "13 of 13 succeeded" in screen.text()

        on_the_outage(act, SMALL)

    def test_the_closing_line_is_whole(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end")
            digest = screen.frame.digest[:12]
            assert f"the run is complete: digest {digest}" in screen.text()

        on_the_outage(act, (120, 40))


class TestTheBeginning:
    @pytest.mark.parametrize("size", [SMALL, (120, 40), WIDE])
    def test_a_hint_stands_in_the_first_line_until_the_first_key(
        self, size: tuple[int, int]
    ) -> None:
        """There it hides nothing: no legend, no row."""

        async def act(screen: Screen) -> None:
            first = screen.text().splitlines()[0]
            assert "  space to play · ? for the keys" in first
            assert "outage under fair" in first
            await screen.press("down")
            assert "space to play" not in screen.text()
            assert screen.view().job == 0  # and the key did what it does

        on_the_outage(act, size)

    def test_it_can_begin_elsewhere_and_playing(self) -> None:
        async def act(screen: Screen) -> None:
            assert (screen.frame.at_ms, screen.playing()) == (400_000, True)
            assert "space to play" not in screen.text()
            await screen.tick(0.2)
            assert screen.frame.at_ms == 418_000
            await screen.press("plus")
            assert "×120" in screen.text()
            await screen.press("minus", "minus")
            assert "×30" in screen.text()

        drive(recorded(outage()), act, opening=Opening(400_000, True, 90))


class TestColours:
    def test_c_chooses_what_colours_stand_for(self) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.ask_frame(GoTo(430_000))
            await screen.press("escape")
            assert "[1] slots, a colour a job ─" in screen.text()
            await screen.press("C")
            await screen.press("l")
            assert "[1] slots by locality ■ node-local ■ rack-local ■ off-rack" in screen.text()
            assert screen.view().colour_by is screen.frame.colour_by is ColourBy.LOCALITY
            await screen.press("C", "enter")  # it says what is chosen
            assert screen.view().colour_by is ColourBy.LOCALITY
            await screen.press("C", "f")
            assert "[1] slots, a colour a job ─" in screen.text()

        on_the_outage(act)

    @pytest.mark.parametrize("size", [(80, 24), (120, 40)])
    def test_a_legend_fits_its_pane(self, size: tuple[int, int]) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("C", "p", "C", "s")
            top = next(line for line in screen.text().splitlines() if "[1] slots by size" in line)
            assert "■ <10 tasks ■ <50 ■ <200" in top
            assert "…" not in top

        on_the_outage(act, size)


class TestRoom:
    @pytest.mark.parametrize("key", "2345")
    def test_a_small_screen_says_which_other_panes_there_are(self, key: str) -> None:
        async def act(screen: Screen) -> None:
            panes = {"2": "jobs", "3": "events", "4": "detail", "5": "over time"}
            await screen.press(key)
            mine = panes.pop(key)
            bottom = next(line for line in screen.text().splitlines() if "─ [2] jobs  [3]" in line
                          or "─ [3] events  [4]" in line or "─ [2] jobs  [4]" in line)  # fmt: skip
            assert all(f"[{other}] {name}" in bottom for other, name in panes.items())
            assert f"[{key}] {mine}" not in bottom

        on_the_outage(act, SMALL)

    def test_a_large_one_does_not(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("2")
            assert "[2] jobs  [3] events" not in screen.text()
            assert "[3] events  [4]" not in screen.text()

        on_the_outage(act)

    def test_charts_of_what_has_been_zero_make_room(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("escape")
            assert "jobs in system" in screen.text()
            assert "wasted" not in screen.text()
            assert screen.app.query_one(ChartsPane).content_size.height == 4 * 3

        drive(recorded(events_of("two-jobs", "fair")), act)

    def test_nothing_is_cut_at_120_columns(self) -> None:
        async def act(screen: Screen) -> None:
            for key in ["end", *["left_curly_bracket"] * 8]:
                await screen.press(key)
                cut_off = [line for line in screen.text().splitlines() if "…" in line]
                assert not cut_off, cut_off

        on_the_outage(act, (120, 40))


class TestTypingInMenus:
    def test_only_lines_with_the_text_stay(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("end", "k", *"node-l")
            assert "events of which kind?  /node-l" in screen.text()
            assert "job-submitted" not in screen.text()
            await screen.press("enter")
            assert screen.view().log_kind == "node-lost"

        on_the_outage(act)

    def test_what_no_line_has_is_not_taken_and_backspace_takes_back(self) -> None:
        async def act(screen: Screen) -> None:
            await screen.press("k", *"lostq", "backspace", "backspace")
            assert "?  /lo" in screen.text()
            await screen.press("backspace", "backspace", "backspace")
            assert "/" not in screen.text().split("which kind?")[1].split("╮")[0]
            await screen.press("escape")
            assert screen.view().log_kind == ""

        on_the_outage(act)


class TestFolding:
    async def chosen(self, screen: Screen) -> LogLine:
        """Choose the line that stands for ten crashes."""
        screen.app.playback.ask_frame(GoTo(500_000))
        await screen.press("3", "up")
        (line,) = [each for each in screen.frame.log if each.is_fold]
        while screen.app.query_one("#log", LogPane).chosen != line.index:
            await screen.press("up")
        return line

    def test_what_is_folded_unfolds_and_folds_again(self) -> None:
        async def act(screen: Screen) -> None:
            line = await self.chosen(screen)
            assert "and 9 more of rack-2" in screen.text()
            assert "enter unfolds 10" in screen.text()
            await screen.press("enter")
            members = [each for each in screen.frame.log if each.group == line.index]
            assert [each.index for each in members][:2] == [line.index, line.index + 1]
            assert screen.text().count(" crashes") == len(members)
            await screen.press("down", "left")
            assert screen.text().count(" crashes") == 1
            assert screen.app.query_one("#log", LogPane).chosen == line.index
            assert screen.view().log_back == 0

        on_the_outage(act)

    def test_a_move_to_the_next_mark_shows_what_the_log_says_of_it(self) -> None:
        """It stayed at the lines that had been unfolded before."""

        async def act(screen: Screen) -> None:
            await self.chosen(screen)
            await screen.press("enter", *["up"] * 3)
            assert screen.view().log_back > 0
            await screen.press("m")
            assert screen.view().log_back == 0

        on_the_outage(act)

    def test_enter_on_one_of_the_unfolded_goes_to_its_time(self) -> None:
        async def act(screen: Screen) -> None:
            line = await self.chosen(screen)
            await screen.press("right", "down", "enter")
            assert (screen.frame.at_ms, screen.frame.index) == (line.at_ms, line.index + 2)

        on_the_outage(act)
