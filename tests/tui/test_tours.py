"""The tours of the library, played through: what each step says to look at is there."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.player import Opening
from callboard.scenarios.library_list import LIBRARY, tour_names
from callboard.scenarios.scenario_file import load_scenario
from callboard.scenarios.tour import Tour, TourStep, find_tour, load_tour
from callboard.tui.app import CallboardApp
from callboard.tui.keymap import Keymap
from callboard.tui.panels.caption import Caption
from callboard.tui.panels.pane import Pane
from tests.support.soak import one_in
from tests.tui.support import Screen, SlowSource, drive
from tests.tui.test_interventions import plan

Act = Callable[[Screen], Awaitable[None]]


def tour_of(name: str) -> Tour:
    return load_tour(find_tour(LIBRARY / f"{name}.toml"))


def play(name: str, act: Act, size: tuple[int, int], tour: Tour | None = None) -> None:
    tour = tour or tour_of(name)
    with LiveServer([plan(name, policy) for policy in tour.policies]) as server:
        drive(server, act, size, tour=tour)


def check(screen: Screen, step: TourStep) -> None:
    """Everything that the step says is so."""
    totals, text = screen.frame.totals, screen.text()
    if step.at_ms is not None:
        assert abs(screen.frame.at_ms - step.at_ms) <= 1000 or screen.frame.over
    for words in step.shows:
        assert words in text, f"{words!r} is not in\n{text}"
    told = (step.unaware, step.given_up, step.in_system)
    so = (totals.unaware, totals.lost, totals.in_system)
    assert [each for each in told if each is not None] == [
        is_so for each, is_so in zip(told, so, strict=True) if each is not None
    ], text
    if step.pane:
        assert isinstance(screen.app.focused, Pane)
        assert step.pane in (screen.app.focused.id or "")


async def go_on(screen: Screen, step: TourStep) -> None:
    """As the step asks for: by its key, or by the one for the next step."""
    guide = screen.app.guide
    assert guide is not None
    place = guide.place
    await screen.press(step.key or "n")
    while guide.place == place:
        assert screen.playing()
        await screen.tick(0.25)
    await screen.pilot.pause()
    await screen.until(lambda: screen.app.playback.answers == screen.app.playback.requests)


@pytest.mark.soak
@pytest.mark.parametrize("name", one_in(4, tour_names()))
def test_every_step_shows_what_it_says(name: str) -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.player.speed = 3600
        guide = screen.app.guide
        assert guide is not None
        for step in guide.pages[:-1]:
            check(screen, step)
            caption = screen.app.query_one(Caption)
            assert guide.step is step
            await go_on(screen, step)
        assert "An answer: " in str(caption.content)

    play(name, act, (120, 40))


@pytest.mark.parametrize("name", tour_names())
def test_captions_fit_a_small_screen_and_the_scenario_is_there(name: str) -> None:
    tour = tour_of(name)
    said = [step.text for step in tour.steps] + [
        f"A question for the class: {tour.question}",
        f"An answer: {tour.answer}",
    ]
    assert max(map(len, said)) <= 300
    assert set(tour.policies) <= set(load_scenario(LIBRARY / f"{name}.toml").policies)


@pytest.mark.parametrize("name", tour_names())
def test_a_question_is_not_answered_before(name: str) -> None:
    """And no sign is spoken of that is drawn only where every slot is."""
    tour = tour_of(name)
    told = " ".join(step.text for step in tour.steps)
    assert not ("has the better mean" in tour.question and "the mean is" in told)
    assert not {"□", "◇", "◆"} & set(told)


def test_queries_get_in_while_the_nightly_job_has_maps() -> None:
    """As the step says: it stood at a moment with three maps left."""

    async def act(screen: Screen) -> None:
        await screen.press("n")
        nightly, query = screen.frame.jobs
        assert (query.name, query.running[0], query.time_ms) == ("query-3", 8, 10_000)
        assert nightly.tasks[0] - nightly.done[0] - nightly.running[0] > 50

    play("rack-outage", act, (80, 24))


def test_at_least_four_scenarios_tell_themselves() -> None:
    assert len(tour_names()) >= 4


def test_next_and_back_go_to_the_moments_of_their_steps() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("n", "n", "n")
        assert screen.frame.at_ms == 520_000
        assert "4 of 9  space on  n next  N back" in screen.text()
        await screen.press("N")
        assert screen.frame.at_ms == 405_000
        await screen.press(*"NNNN")
        assert (screen.frame.at_ms, screen.playing()) == (0, False)
        assert "tour, 1 of 9  space on  n next━" in screen.text()

    play("master-pause", act, (80, 24))


def test_the_strip_names_the_keys_in_force() -> None:
    """It said `space on` where `space` took a picture."""

    async def act(screen: Screen) -> None:
        assert "tour, 1 of 9  p on  n next━" in screen.text()
        await screen.press("n")
        assert "tour, 2 of 9  p on  n next  N back━" in screen.text()

    keymap = Keymap({"play": "p", "picture": "space"})
    tour = tour_of("master-pause")
    with LiveServer([plan("master-pause", policy) for policy in tour.policies]) as server:
        drive(server, act, (80, 24), tour=tour, keymap=keymap)


def test_a_step_at_the_runs_end_does_not_say_so_over_the_caption() -> None:
    """The last steps of `two-jobs` stand at 3:36; the long job ends at 3:34 under Fair.  A message
    lay over the question and its answer with each of them.
    """

    async def act(screen: Screen) -> None:
        await screen.press(*"nnnnnnn")
        assert screen.frame.over
        await screen.press("N", "n")
        assert screen.said() == []
        await screen.press("g", *"9:00", "enter")
        assert screen.said() == ["the run ends at 0:03:34"]

    play("two-jobs", act, (80, 24))


def test_a_caption_is_whole_on_a_small_screen() -> None:
    tour = tour_of("rack-outage")

    async def act(screen: Screen) -> None:
        for _ in range(len(tour.steps) + 1):
            await screen.press("n")
        words = " ".join(screen.text().split())
        assert tour.answer.replace("—", "") in words

    play("rack-outage", act, (80, 24))


def test_all_panes_keep_their_borders_under_a_caption_of_any_height() -> None:
    """Under one of three lines the lower border had gone, and with it the names of other panes."""
    tour = tour_of("rack-outage")

    async def act(screen: Screen) -> None:
        await screen.press(*"n" * (len(tour.steps) - 1))
        heights = []
        for _ in range(3):
            heights.append(screen.app.query_one(Caption).size.height)
            (bottom,) = (line for line in screen.text().splitlines() if "[4] detail" in line)
            assert bottom[0] + bottom[-1] == "╰╯"
            await screen.press("n")
        assert heights == [2, 2, 3]

    play("rack-outage", act, (80, 24))


def test_on_a_small_screen_for_an_audience_the_other_run_comes_to_the_front() -> None:
    """Its caption says so; the pane that stood alone stayed that of the first run."""

    async def act(screen: Screen) -> None:
        await screen.press("P", "n", "1")
        for policy in ("hfsp", "fifo", "hfsp"):
            await screen.press("v")
            assert f"[1] {policy} by user" in screen.text()

    play("small-behind-giant", act, (80, 24))


def test_pausing_on_the_way_does_not_end_the_tour() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("space")
        await screen.tick(0.25)
        await screen.press("space")
        assert not screen.playing()
        assert screen.frame.at_ms == 15_000
        await screen.press("space")
        assert "tour: step 1 was at 0:00:00, on to step 2, at 0:06:35" in screen.text()
        for _ in range(40):
            await screen.tick(0.25)
        assert screen.frame.at_ms == 395_000
        assert "In five seconds the master stands still" in screen.text()

    play("master-pause", act, (80, 24))


def test_a_tour_begins_with_its_first_moment_at_rest() -> None:
    """However the config file lets screens begin: yarn-queues began at 0, not at its 0:20."""

    async def act(screen: Screen) -> None:
        assert (screen.frame.at_ms, screen.playing()) == (20_000, False)

    tour = tour_of("yarn-queues")
    with LiveServer([plan("yarn-queues", policy) for policy in tour.policies]) as server:
        drive(server, act, (80, 24), tour=tour, opening=Opening(playing=True))


async def played_on(screen: Screen) -> None:
    """What `space` leads to has come."""
    await screen.press("space")
    while screen.playing():
        await screen.tick(0.25)
    await screen.until(lambda: not screen.app.playback.open_requests)


@pytest.mark.soak
def test_space_alone_leads_through_a_tour_and_then_plays_freely() -> None:
    """Also in steps with no key, with another one, and before steps that have no moment."""

    async def act(screen: Screen) -> None:
        caption, guide = screen.app.query_one(Caption), screen.app.guide
        assert guide is not None
        screen.app.playback.player.speed = 3600
        told = [(screen.frame.at_ms, str(caption.content))]
        for _ in guide.pages[1:]:
            await played_on(screen)
            told.append((screen.frame.at_ms, str(caption.content)))
        moments = [0, 31_000, 66_000, 66_000, 75_000, *[214_143] * 3]
        assert told == [
            (at_ms, page.text) for at_ms, page in zip(moments, guide.pages, strict=True)
        ]
        assert "tour, 8 of 8: the tour is over  space plays freely  N back━" in screen.text()
        await screen.press("space")
        await screen.tick(0.001)
        assert (caption.display, screen.playing()) == (False, True)
        assert screen.frame.at_ms == 3_600

    play("two-jobs", act, (80, 24))


def test_a_step_that_asks_to_play_leads_to_the_runs_end_if_none_follows() -> None:
    last = TourStep(text="Press space.", at_s=60, key="space")
    tour = Tour(policies=("fair",), steps=(last,), question="Why?", answer="So.")

    async def act(screen: Screen) -> None:
        await played_on(screen)
        assert screen.frame.over
        assert "A question for the class: Why?" in screen.text()
        assert screen.frame.at_ms > 60_000
        at_ms = screen.frame.at_ms
        await played_on(screen)
        assert "An answer: So." in screen.text()
        assert screen.frame.at_ms == at_ms

    play("two-jobs", act, (80, 24), tour)


def test_space_goes_back_to_a_step_that_has_been_passed() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("end", "g", *"5:00", "enter", "space")
        assert (screen.frame.at_ms, screen.playing()) == (31_000, False)
        assert "“short” has arrived" in screen.text()

    play("two-jobs", act, (80, 24))


def test_an_audience_sees_both_runs_where_there_is_room() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("n", "P")
        assert ("[1] fifo" in screen.text(), "[1] fair" in screen.text()) == (True, True)
        assert "╭─ [5] over" not in screen.text()

    play("two-jobs", act, (120, 40))


def test_a_small_screen_has_both_sides_of_a_small_cluster() -> None:
    """The tour speaks of left and right; to an audience `1` showed a border only."""

    async def act(screen: Screen) -> None:
        both, jobs, heights = [], [], []
        slots = [screen.app.query_one(f"#compare-slots-{side}") for side in (0, 1)]
        for keys in ("n", "P", "2", "1", "P"):
            await screen.press(keys)
            text = screen.text()
            both.append("[1] fifo" in text and "[1] fair" in text)
            jobs.append("[2] jobs" in text)
            heights.append([each.size.height for each in slots])
        assert both == [True, True, False, True, True]
        assert jobs == [True, False, True, False, True]
        assert heights[1] == heights[3] == [14, 14]

    play("two-jobs", act, (80, 24))


def test_a_small_screen_shows_an_audience_one_pane_and_what_came_of_it() -> None:
    """`1` after `3` had both; the result was never there."""

    async def act(screen: Screen) -> None:
        await screen.press("P", "3", "1")
        assert ("─ [1] slots" in screen.text(), "─ [3] events" in screen.text()) == (True, False)
        await screen.press("g", *"9:00:00", "enter")
        assert "A job took 3 min 35 s on average under fair." in screen.text()

    play("rack-outage", act, (80, 24))


def test_at_the_end_a_small_screen_says_who_is_ahead() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("g", *"9:00:00", "enter")
        assert "fair ahead: mean time −30%" in screen.text().splitlines()[0]

    play("two-jobs", act, (80, 24))


def test_a_tour_of_two_runs_ends_where_one_is_kept() -> None:
    """Its next step went to a pane that is not there."""

    async def act(screen: Screen) -> None:
        await screen.press("n", "n", "w", "n", "n")
        assert screen.said()[0] == "the tour is over: it tells of two runs"
        assert not screen.app.query_one(Caption).display
        assert not screen.app.shows_two_runs

    play("two-jobs", act, (80, 24))


def test_keys_that_come_before_the_first_frame_lead_to_their_step_alone() -> None:
    """On a busy machine `n n d` went to a pane of two runs that was not there yet, and `n` told of
    a step at whose moment the screen did not stand.
    """

    async def act() -> None:
        app = CallboardApp(source, ticking=False, tour=tour_of("two-jobs"))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("n", "n", "d", "space")
            source.slow = False
            while source.behind:
                source.answer_one()
            screen = Screen(app, pilot)
            await screen.until(lambda: app.playback.answers == app.playback.requests)
            assert app.shows_two_runs
            assert (screen.frame.at_ms, app.guide and app.guide.place) == (66_000, 2)

    with LiveServer([plan("two-jobs", policy) for policy in ("fifo", "fair")]) as server:
        source = SlowSource(server)
        source.slow = True
        asyncio.run(act())


def test_for_an_audience_there_are_fewer_panes_and_a_caption() -> None:
    async def act(screen: Screen) -> None:
        await screen.press("space")
        await screen.tick(0.2)
        assert "╭─ [5] over" in screen.text()
        await screen.press("P")
        text = screen.text()
        assert "╭─ [5] over" not in text
        assert "[1] slots" in text
        assert "[2] jobs" in text
        assert "job-0 “long” submitted by user" in text
        assert "━the latest event━" in text
        await screen.press("3", "P")
        assert "╭─ [5] over" in screen.text()
        assert not screen.app.query_one(Caption).display
        await screen.press("n")
        assert screen.said() == ["no tour is on; `callboard watch NAME --tour` takes one of "
                                 + ", ".join(tour_names())]  # fmt: skip

    with LiveServer([plan("master-pause", "fair")]) as server:
        drive(server, act, (120, 40))
