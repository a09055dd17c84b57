"""What is done to a live run with keys, menus and clicks: what becomes of the world and of time."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from callboard.actors.vocabulary.events import FaultStruck, JobFinished, JobSubmitted, Outcome
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Drain,
    KillJob,
    PauseNode,
    Restart,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
)
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.reader import Journal
from callboard.journal.replay.frame import Frame, NodeStatus
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.source import GoTo, Request
from callboard.scheduler.model import Priority
from tests.journal.replay.support import outage, recorded
from tests.tui.support import SMALL, WIDE, Screen, SlowSource, drive
from tests.tui.test_interventions import VIEW, plan, played_again, taped, to_the_end

Act = Callable[[Screen], Awaitable[None]]

NODE_4 = ("1", "right", "right")
"""Keys that choose it, in rack-0."""


def live(act: Act, size: tuple[int, int] = WIDE, journal: Path | None = None) -> LiveServer:
    """Act on the outage as it is played; it is left open, for a look at what came of it."""
    server = LiveServer([plan()], [journal])
    drive(server, act, size, recorded=journal is not None)
    return server


def injected(server: LiveServer) -> list[AnyFault]:
    """The faults injected before the scenario's own rack failure."""
    events = [event for event in taped(server) if isinstance(event, FaultStruck)]
    return [event.fault for event in events if event.at_ms < 400_000]


def said(screen: Screen) -> str:
    """All that was told in the corner of the screen."""
    return "\n".join(note.message for note in screen.app._notifications)


async def at(screen: Screen, at_ms: int, *keys: str) -> None:
    screen.app.playback.ask_frame(GoTo(at_ms))
    await screen.pilot.pause()
    await screen.press(*keys)


class TestNodes:
    def test_a_node_is_killed_and_started_again(self) -> None:
        """The menu offers what makes sense as things stand."""

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x")
            text = screen.text()
            assert "Intervene at 00:01:40.000" in text
            assert "node-4: up and well" in text
            assert "rack-0 (10 nodes): up and well" in text
            assert "start again" not in text
            await screen.press("k")
            assert screen.frame.at_ms == 100_001
            assert screen.frame.node_status[4] == NodeStatus.DOWN
            assert "node-4 crashes" in screen.text()
            await screen.press("x")
            assert "node-4: down" in screen.text()
            assert "rack-0 (10 nodes): 1 down" in screen.text()
            await screen.press("r")
            assert screen.frame.node_status[4] == 0

        assert injected(live(act)) == [Crash(4), Restart(4)]

    @pytest.mark.soak
    def test_a_rack_with_capitals(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "P")
            await screen.press("x")
            assert "rack-0 (10 nodes): 10 paused" in screen.text()
            await screen.press("G")

        nodes = range(0, 40, 4)
        assert injected(live(act)) == [*map(PauseNode, nodes), *map(ResumeNode, nodes)]

    def test_only_those_of_a_rack_to_whom_it_can_be_done(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "k", "x")
            assert "K  kill (crash): map outputs there are lost, 9 of them" in screen.text()
            await screen.press("k")  # the node's key, which a node that is down has not
            assert "k is no key here, and K is another one" in screen.text()
            await screen.press("escape", "x", "R")

        assert injected(live(act))[:2] == [Crash(4), Restart(4)]

    def test_it_happens_at_the_moment_that_the_menu_names(self) -> None:
        """A frame that was on its way while the run played had the screen, and what was chosen,
        half a minute later than the menu's title.
        """
        server = LiveServer([plan()])
        source = SlowSource(server)

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4)
            source.slow = True
            screen.app.playback.player.playing = True
            screen.app.playback.tick(0.2)
            assert source.behind == 1
            await screen.press("x")
            while source.behind:
                source.answer_one()
            source.slow = False
            await screen.until(lambda: not screen.app.playback.open_requests)
            first, *lines = screen.text().splitlines()
            assert "00:01:40.000" in first
            assert any("Intervene at 00:01:40.000" in line for line in lines)
            await screen.press("k")

        drive(source, act, WIDE)
        (struck,) = [event for event in taped(server) if isinstance(event, FaultStruck)]
        assert (struck.at_ms, struck.fault) == (100_001, Crash(4))

    @pytest.mark.soak
    def test_slower_and_back(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "s")
            assert screen.app.focused is screen.app.screen.query_one(Input)
            await screen.press("backspace", *"zero", "enter")
            assert "'zero': expected a number from 0.001 to 1,000" in screen.text()
            await screen.press(*(["backspace"] * 4), *"2.5", "enter")
            assert screen.frame.node_status[4] == NodeStatus.SLOW
            await screen.press("x", "f")
            assert screen.frame.node_status[4] == 0

        assert injected(live(act)) == [Slow(4, 2.5), Slow(4, 1.0)]

    def test_out_of_service_and_back(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "d")
            assert screen.frame.node_status[4] == NodeStatus.DRAINED
            assert " 4⊘" in screen.text()
            assert "out of service" in screen.text()
            await screen.press("x", "e")
            assert screen.frame.node_status[4] == 0

        assert injected(live(act)) == [Drain(4, True), Drain(4, False)]

    @pytest.mark.soak
    def test_nodes_by_their_names(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "x")
            assert "kill" not in screen.text()  # nothing is selected
            await screen.press("n", *"rack-9", "enter")
            assert "'rack-9' is no node here; try node-0 to node-39" in screen.text()
            await screen.press("backspace", "1", "enter")
            assert "rack-1 (10 nodes): up and well" in screen.text()
            await screen.press("k", "x", "n", "7", "enter", "p")

        assert injected(live(act)) == [*map(Crash, range(1, 40, 4)), PauseNode(7)]

    def test_by_arrows_and_by_a_click(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "down", "enter")
            assert screen.frame.node_status[4] == NodeStatus.PAUSED
            await screen.press("x")
            await screen.pilot.click(OptionList, offset=(5, 1))
            await screen.pilot.pause()
            assert screen.frame.node_status[4] == NodeStatus.DOWN

        assert injected(live(act)) == [PauseNode(4), Crash(4)]


class TestJobsAndTheCluster:
    def test_a_job_is_killed(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "2", "down", "x")
            assert "job-0 “nightly”" in screen.text()
            await screen.press("j")
            await at(screen, 110_000, "x")
            assert "kill the job" not in screen.text()  # it is over

        server = live(act)
        assert injected(server) == [KillJob(0)]
        ends = [event for event in taped(server) if isinstance(event, JobFinished)]
        assert [(end.job, end.outcome) for end in ends] == [(0, Outcome.KILLED)]

    def test_a_job_gets_another_priority_and_another_pool(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "2", "down", "x")
            assert "job-0 “nightly”, normal priority" in screen.text()
            await screen.press("i")
            assert "very low" in screen.text()
            assert "normal\n" not in screen.text()  # it has that
            await screen.press("1")
            await at(screen, 100_100, "x")
            assert "job-0 “nightly”, very high priority" in screen.text()
            await screen.press("l", *"batch", "enter")
            await at(screen, 100_200)
            assert screen.frame.selected is not None
            assert screen.frame.selected.pool == "batch"

        assert injected(live(act)) == [SetPriority(0, Priority.VERY_HIGH), SetPool(0, "batch")]

    @pytest.mark.soak
    def test_a_burst_as_it_was_filled_in(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "x", "b", *(["backspace"] * 2), "3", "enter")
            await screen.press("backspace", "x", "ctrl+s")
            assert "'x': expected a whole number from 1 to 100,000" in screen.text()
            await screen.press("backspace", "5", "ctrl+s")
            assert screen.frame.totals.submitted == 4

        jobs = [event for event in taped(live(act)) if isinstance(event, JobSubmitted)]
        assert [(job.name, job.maps, job.reduces) for job in jobs[1:]] == [
            (f"burst-{number}", 5, 1) for number in (1, 2, 3)
        ]

    @pytest.mark.soak
    def test_enter_goes_through_the_fields_and_escape_leaves(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "x", "b", *(["enter"] * 7), "escape")
            assert screen.frame.totals.submitted == 1
            await screen.press("x", "b", *(["enter"] * 8))
            assert screen.frame.totals.submitted == 11

        live(act)

    @pytest.mark.soak
    def test_another_policy(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "x", "o")
            assert "1  fifo" in screen.text()
            assert "fair\n" not in screen.text()  # it is in force
            await screen.press("1")
            assert "rack-outage under fifo" in screen.text()
            await screen.press("x", "o", "t", *(["backspace"] * 4), *"fairest", "enter")
            assert screen.frame.policy == "fifo"
            assert "fairest" in said(screen)

        live(act)

    def test_the_master_stands_still(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "x", "m")
            assert "the master is paused" in screen.text().splitlines()[0]
            await screen.press("x")
            assert "restart the master" not in screen.text()  # first it has to go on
            await screen.press("m")
            assert "the master is paused" not in screen.text().splitlines()[0]
            await screen.press("x", "z")
            assert screen.frame.policy == "fair"

        live(act)

    @pytest.mark.soak
    def test_the_palette_has_them_too(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "ctrl+p", *"node-4: kill")
            await screen.until(lambda: "node-4: kill (crash)" in screen.text())
            await screen.press("enter")
            await screen.until(lambda: screen.frame.node_status[4] == NodeStatus.DOWN)

        assert injected(live(act)) == [Crash(4)]


class TestTheMoment:
    @pytest.mark.soak
    def test_time_stands_still_while_one_chooses_and_goes_on_after(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "space")
            await screen.tick(0.1)
            await screen.press("x")
            at_ms = screen.frame.at_ms
            await screen.tick(0.2)
            assert (screen.frame.at_ms, screen.playing()) == (at_ms, False)
            await screen.press("k")
            assert (screen.frame.at_ms, screen.playing()) == (at_ms + 1, True)
            await screen.press("x", "escape")
            assert screen.playing()
            await screen.press("space", "x", "escape")
            assert not screen.playing()

        live(act)

    @pytest.mark.soak
    def test_it_happens_at_the_moment_shown_however_far_the_run_is(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 300_000, *NODE_4, "home", "J", "g", *"90s", "enter", "x", "k")
            assert screen.frame.at_ms == 90_001

        server = live(act)
        assert FaultStruck(90_001, Crash(4)) in taped(server)
        assert taped(server)[-1].at_ms < 100_000  # what came after is forgotten

    def test_a_run_that_is_over(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 10**7, *NODE_4, "x", "k")
            assert "the run is over here" in said(screen)

        live(act)

    @pytest.mark.parametrize("key", ["x", "f"])
    def test_a_recorded_run(self, key: str) -> None:
        async def act(screen: Screen) -> None:
            await screen.press(key)
            assert "this run is recorded" in said(screen)
            assert "interfere" not in screen.text().splitlines()[-1]

        drive(recorded(outage()), act)


class TestUntil:
    async def _let_go(self, screen: Screen) -> None:
        for _ in range(200):
            if not screen.playing():
                return
            await screen.tick(0.25)
        raise AssertionError("it does not stop")

    @pytest.mark.soak
    @pytest.mark.parametrize(
        ("keys", "at_ms", "words"),
        [
            (["f"], 420_000, "until a fault"),
            (["t", *"7:30.5", "enter"], 450_500, "until 0:07:30"),
            (["e"], 196_849, "until a job ends"),
            (["m"], 420_000, "until a mark"),
        ],
    )
    def test_it_stops_of_itself(self, keys: list[str], at_ms: int, words: str) -> None:
        async def act(screen: Screen) -> None:
            screen.app.playback.player.speed = 600
            await screen.press("u", *keys)
            assert screen.playing()
            assert words in screen.text()
            await self._let_go(screen)
            assert screen.frame.at_ms == at_ms
            assert words not in screen.text()

        async def fast(screen: Screen) -> None:
            await screen.press("asterisk", "u", *keys)
            await self._let_go(screen)
            assert screen.frame.at_ms == at_ms

        live(act, SMALL)
        drive(recorded(outage()), fast, SMALL)

    @pytest.mark.soak
    def test_until_the_selected_job_ends(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 250_000, "2", "down", "down", "u")
            job = screen.view().job
            assert job
            assert f"the end of job-{job} “query-{job}”" in screen.text()
            screen.app.playback.player.speed = 600
            await screen.press("j")
            await self._let_go(screen)
            assert f"job-{job} “query-{job}” succeeded" in screen.frame.log[-1].text
            await screen.press("u")
            assert f"the end of job-{job}" not in screen.text()

        live(act)

    def test_a_time_that_is_past_and_no_longer(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "u", "t", *"90s", "enter")
            assert "it is 0:01:40 already; g goes back" in screen.text()
            await screen.press("escape", "u")
            assert "no longer" not in screen.text()
            await screen.press("f", "space", "u", "n")
            await screen.tick(0.25)
            assert "until" not in screen.text().splitlines()[0]
            assert screen.playing()

        live(act)


def frame_at(source: RecordedSource | LiveServer, at_ms: int) -> Frame:
    found: list[Frame] = []
    source.ask_frame(Request(GoTo(at_ms), VIEW), found.append)
    return found[0]


@pytest.mark.soak
def test_what_was_played_by_hand_is_what_is_recorded(tmp_path: Path) -> None:
    """With keys alone: the journal is the run, shows the same, and played again has its digest."""
    path = tmp_path / "by-hand.journal"

    async def act(screen: Screen) -> None:
        await at(screen, 100_000, *NODE_4, "x", "K")
        await screen.press("space")
        await screen.tick(0.25)
        await screen.press("x", "b", "ctrl+s", "x", "o", "1")
        await screen.tick(0.25)
        await screen.press("2", "down", "x", "j")
        await at(screen, 300_000, "x", "n", *"rack-0", "enter", "r")

    with live(act, WIDE, path) as server:
        live_frames = [frame_at(server, at_ms) for at_ms in (120_000, 300_001, 350_000)]
        digest = to_the_end(server).digest
        events = taped(server)
    assert list(Journal(path)) == events
    assert digest == played_again(events)
    assert len({type(fault) for fault in injected(server)}) == 4
    source = RecordedSource(iter(Journal(path)), oracle_of_journal)
    source.read_on()
    for shown in live_frames:
        again = frame_at(source, shown.at_ms)
        for field in ("index", "totals", "states", "owners", "ages", "node_status", "jobs", "log"):
            assert getattr(again, field) == getattr(shown, field), field


class TestForkMenu:
    def test_letters_lead_to_the_policy_that_begins_with_them(self) -> None:
        """They were ignored, and enter took the first line."""

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "f", *"hfs")
            assert "hfs▏" in screen.text()
            await screen.press("x")
            assert "no line begins with hfsx" in screen.text()
            await screen.press("p", "enter")
            await screen.until(lambda: screen.app.shows_two_runs)
            assert screen.frame.comparison is not None
            assert [each.policy for each in screen.frame.comparison.figures] == ["fair", "hfsp"]

        live(act)

    def test_keys_still_choose_at_once(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "f", "h", "backspace", "9")
            assert "no line has that key or begins with 9" in screen.text()
            await screen.press("t")
            assert "Which policy?" in screen.text()

        live(act)


class TestLeaving:
    """A run that was changed by hand is not lost by one key."""

    @pytest.mark.parametrize("key", ["q", "ctrl+c"])
    def test_it_is_asked_first(self, key: str) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "k", key)
            assert "not recorded: leave?" in screen.text()
            await screen.press("s")
            assert "not recorded: leave?" not in screen.text()
            assert screen.app.return_code is None
            await screen.press(key, "l")
            assert screen.app.return_code == 0

        live(act)

    @pytest.mark.soak
    def test_it_can_be_saved_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Under a name that is free, or over a file only after a question."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "outage-by-hand.journal").write_text("precious", encoding="utf-8")

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "k", "q", "j")
            field = screen.app.screen.query_one(Input)
            assert field.value == "rack-outage-by-hand.journal"
            field.value = "outage-by-hand.journal"
            await screen.press("enter")
            assert "outage-by-hand.journal exists.  Replace it?" in screen.text()
            await screen.press("n")
            assert (tmp_path / "outage-by-hand.journal").read_text() == "precious"
            screen.app.screen.query_one(Input).value = "none/a.journal"
            await screen.press("enter")
            assert "there is no folder none" in screen.text()
            screen.app.screen.query_one(Input).value = "outage-by-hand.journal"
            await screen.press("enter", "r")
            await screen.until(lambda: screen.app.return_code == 0)
            (told,) = screen.app._exit_renderables
            journal = "outage-by-hand.journal"
            assert str(told) == f"saved as {journal}; `callboard watch {journal}` plays it"

        with live(act) as server:
            made = injected(server)
        events = list(Journal(tmp_path / "outage-by-hand.journal"))
        assert [each.fault for each in events if isinstance(each, FaultStruck)] == made
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.soak
    def test_what_is_saved_is_not_asked_about(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until it is changed again; what cannot be saved is told, and the run stays."""
        monkeypatch.chdir(tmp_path)

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "p", "q", "c", "enter")
            await screen.until(lambda: "node-4 is still paused" in said(screen))
            assert screen.app.return_code is None
            await screen.press("x", "g", "W", "c", "enter")
            await screen.until(lambda: "callboard watch rack-outage-by-hand.toml" in said(screen))
            await screen.press("x", "k", "q")
            assert "not recorded: leave?" in screen.text()
            await screen.press("s", "W", "escape")
            screen.app.playback.changed = False
            await screen.press("q")
            assert screen.app.return_code == 0

        live(act).close()
        assert [path.name for path in tmp_path.iterdir()] == ["rack-outage-by-hand.toml"]

    def test_no_time_passes_while_it_is_asked_how_to_save(self) -> None:
        """The journal ended minutes after the moment at which `W` was pressed."""

        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "space")
            assert screen.playing()
            for keys in (["W"], ["W", "j"]):
                await screen.press(*keys)
                assert not screen.app.playback.player.playing
                await screen.press("escape")
                assert screen.app.playback.player.playing

        live(act)

    def test_time_goes_on_where_a_file_cannot_be_saved(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, "space", "W", "j")
            screen.app.screen.query_one(Input).value = "/proc/a.journal"
            await screen.press("enter")
            await screen.until(lambda: screen.app.playback.player.playing)

        live(act)

    def test_a_second_ctrl_c_leaves(self) -> None:
        async def act(screen: Screen) -> None:
            await at(screen, 100_000, *NODE_4, "x", "k", "ctrl+c", "ctrl+c")
            assert screen.app.return_code == 0

        live(act)

    def test_what_is_recorded_or_unchanged_is_left_at_once(self) -> None:
        async def act(screen: Screen) -> None:
            if changed:
                await at(screen, 100_000, *NODE_4, "x", "k")
            await screen.press("q")
            assert screen.app.return_code == 0

        for changed in (True, False):
            with LiveServer([plan()]) as server:
                drive(server, act, recorded=changed)
