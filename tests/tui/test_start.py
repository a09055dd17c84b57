"""The first screen: what it offers, and what comes of the keys."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from callboard.commands.start_command import arguments_of, recent_journals
from callboard.journal.writer import JournalWriter
from callboard.scenarios.library_list import DEFAULT_SCENARIO, library_entries
from callboard.tui.screens.policy_boxes import PolicyBoxes
from callboard.tui.screens.start import StartApp, StartChoice, too_many_policies_text
from tests.callboard import support
from tests.journal.replay.support import events_of

ENTRIES = {entry.name: entry for entry in library_entries()}
Act = Callable[[Pilot[StartChoice]], Awaitable[None]]


def started(
    act: Act,
    size: tuple[int, int] = (80, 24),
    journals: Sequence[Path] = (),
    before: StartChoice | None = None,
    trouble: str = "",
) -> StartChoice | None:
    """What was chosen on a screen of this size, everything being filled in."""
    app = StartApp(list(ENTRIES.values()), journals, before)
    app.trouble = trouble

    async def play() -> None:
        async with app.run_test(size=size) as pilot:
            await app.workers.wait_for_complete()
            await pilot.pause()
            await act(pilot)

    asyncio.run(play())
    return app.return_value


def text_of(pilot: Pilot[StartChoice], selector: str) -> str:
    return str(pilot.app.query_one(selector, Static).visual)


def boxes(pilot: Pilot[StartChoice]) -> list[str]:
    listed = pilot.app.query_one(PolicyBoxes)
    return [str(option.prompt) for option in listed.options]


def shown(pilot: Pilot[StartChoice]) -> list[str]:
    """The scenarios and journals in the list, without the headings."""
    listed = pilot.app.query_one("#scenarios", OptionList)
    return [option.id for option in listed.options if option.id]


def highlight(pilot: Pilot[StartChoice], name: str) -> None:
    listed = pilot.app.query_one("#scenarios", OptionList)
    listed.highlighted = listed.get_option_index(name)


def test_the_first_picture_needs_neither_the_engine_nor_numpy() -> None:
    """They are loaded behind it."""
    done = support.python("""
import asyncio, sys
from pathlib import Path
from callboard.commands.start_command import recent_journals
from callboard.scenarios.library_list import library_entries
from callboard.tui.screens.start import StartApp

StartApp._gather_facts = lambda app: None
app = StartApp(list(library_entries()), recent_journals(Path.cwd()))

async def play():
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        assert "A Facebook-like morning" in str(app.query_one("#story").visual)
        assert "[x] fifo" in str(app.query_one("#policies").get_option_at_index(0).prompt)

asyncio.run(play())
rooms = [name for name in sys.modules if name.startswith(("callboard.actors.", "numpy", "trio"))]
rooms.remove("callboard.actors.version")
assert not rooms, rooms
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.soak
def test_each_scenario_shows_what_it_is_like() -> None:
    """Of rack-outage: 40 nodes in 4 racks, 13 jobs, its crash, and a picture of the load."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        highlight(pilot, "estimation-error")
        await pilot.pause()
        assert ENTRIES["estimation-error"].story in text_of(pilot, "#story")
        for policy, box in zip(ENTRIES["estimation-error"].policies, boxes(pilot), strict=False):
            assert box[4:] == policy
        highlight(pilot, "rack-outage")
        await pilot.pause()
        lines = text_of(pilot, "#story").splitlines()
        assert "nodes   40 in 4 racks, 80 + 80 slots" in lines
        assert "jobs    13, of 560 tasks" in lines
        assert "length  at least 13m45s" in lines
        assert "faults  crash rack-2 at 0:06:30" in lines
        (work,) = (line for line in lines if line.startswith("work"))
        axis, mark = lines[lines.index(work) + 1 :][:2]
        assert work[8] == "█"
        assert axis.split() == ["0:00:00", "0:13:45"]
        assert mark.index("▾") - 8 == (len(axis) - 8) * 390 // 825

    started(act)


def test_a_wide_screen_lists_all_portraits() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        listed = pilot.app.query_one("#scenarios", OptionList)
        line = str(listed.get_option("rack-outage").prompt)
        assert line.split()[:5] == ["rack-outage", "40", "13", "13m45s", "1"]
        assert "█" in line
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert str(listed.get_option("rack-outage").prompt).split() == ["rack-outage"]

    started(act, (160, 50))


def test_enter_takes_the_scenario_under_its_first_policy() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("down", "enter")

    after = list(ENTRIES)[list(ENTRIES).index(DEFAULT_SCENARIO) + 1]
    assert started(act) == StartChoice(after, ENTRIES[after].policies[:1])


@pytest.mark.parametrize("key", ["ctrl+q", "escape", "ctrl+c"])
def test_leaving_chooses_nothing(key: str) -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press(key)

    assert started(act) is None


def test_any_two_policies_can_be_ticked() -> None:
    """Also one that is not the scenario's own; each scenario keeps its own ticks."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("right")
        own = ENTRIES[DEFAULT_SCENARIO].policies
        assert boxes(pilot)[: len(own)] == [f"[x] {own[0]}", *(f"[ ] {each}" for each in own[1:])]
        place = boxes(pilot).index("[ ] psbs")
        await pilot.press(*["down"] * place, "space")
        await pilot.press("left", "down", "up", "ctrl+t", "enter")

    chosen = StartChoice(DEFAULT_SCENARIO, ("fifo", "psbs"), "light")
    assert started(act) == chosen
    assert arguments_of(chosen) == [
        "watch", DEFAULT_SCENARIO, "--policy", "fifo", "--policy", "psbs", "--theme", "light",
    ]  # fmt: skip


def test_more_than_two_are_for_a_table() -> None:
    """The screen says how; without one of the three it is left."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("right", *["space", "down"] * 3)  # takes the first tick away
        await pilot.press("home", "space", "enter")
        told = text_of(pilot, "#said")
        assert "room for 2 runs" in told
        policies = " ".join(f"--policy {each}" for each in ("fair", "capacity", "fifo"))
        assert f"callboard run {DEFAULT_SCENARIO} {policies}" in told
        await pilot.press("space")
        assert not pilot.app.query_one("#said").display
        await pilot.press("enter")

    assert started(act) == StartChoice(DEFAULT_SCENARIO, ("fair", "capacity"))


def test_the_command_for_a_table_can_be_copied_whatever_a_policys_file_is_called() -> None:
    policies = ("./my file.py:Mine", "fair+delay", "fair(x=1)")
    asked = "--policy './my file.py:Mine' --policy fair+delay --policy 'fair(x=1)'"
    assert f"callboard run two-jobs {asked} --seed 3" in too_many_policies_text(
        "two-jobs", policies, "3"
    )


def test_a_policy_can_be_typed_in() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("right", "end", "space")
        await pilot.press(*"fare", "enter")
        assert "did you mean `fair`?" in str(pilot.app.screen.query_one("#problem", Static).visual)
        await pilot.press(*["backspace"] * 4, *"fair+kill", "enter")
        assert "[x] fair+kill" in boxes(pilot)
        await pilot.press("enter")

    assert started(act) == StartChoice(DEFAULT_SCENARIO, ("fifo", "fair+kill"))


def test_a_tour_brings_its_own_policies() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press(*"o-j", "right", "home", "space")
        assert [box for box in boxes(pilot) if "[x]" in box] == [boxes(pilot)[0]]
        await pilot.press("enter")

    chosen = started(act)
    assert chosen == StartChoice("two-jobs", (), tour=True)
    assert arguments_of(chosen) == ["watch", "two-jobs", "--tour", "--theme", "dark"]


def test_a_policy_takes_away_the_tour() -> None:
    """One ticked beside it was refused, when the run was to begin, in words of the command line."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press(*"o-j", "right", "home", "space", "down", "space")
        assert [box for box in boxes(pilot) if "[x]" in box] == [boxes(pilot)[1]]
        await pilot.press("enter")

    assert started(act) == StartChoice("two-jobs", ("fifo",))


def test_a_seed_of_ones_own() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        seed = pilot.app.query_one("#seed", Input)
        await pilot.press("tab", "tab", "tab")
        assert seed.has_focus
        assert seed.placeholder == "the scenario's own, 1"
        await pilot.press(*"x2y6", "enter")

    chosen = started(act)
    assert chosen == StartChoice(DEFAULT_SCENARIO, ("fifo",), seed="26")
    assert arguments_of(chosen)[-4:] == ["--seed", "26", "--theme", "dark"]


def test_coming_back_it_is_as_it_was_left() -> None:
    before = StartChoice("ping-pong", ("psbs", "las"), "light", seed="7")

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("enter")

    assert started(act, before=before) == before


def test_what_could_not_be_played_is_told_until_something_else_is_chosen() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        assert text_of(pilot, "#said") == "the policy `coshh` needs SciPy"
        await pilot.press("right", "space")
        assert not pilot.app.query_one("#said").display

    started(act, trouble="the policy `coshh` needs SciPy")


@pytest.mark.soak
def test_recorded_runs_of_the_folder_are_offered(tmp_path: Path) -> None:
    """The newest first; what is no journal is left out."""
    for number, name in enumerate(["old", "new"]):
        with JournalWriter(tmp_path / f"{name}.journal") as journal:
            for event in events_of("two-jobs", "fair")[:3]:
                journal(event)
        os.utime(tmp_path / f"{name}.journal", (number, number))
    (tmp_path / "other.journal").write_text("a diary")
    journals = recent_journals(tmp_path)
    assert [path.name for path in journals] == ["new.journal", "old.journal"]

    async def act(pilot: Pilot[StartChoice]) -> None:
        assert shown(pilot)[:2] == [str(path) for path in journals]
        await pilot.press("home")
        assert "two-jobs under fair, seed 1, on 4 nodes" in text_of(pilot, "#story")
        assert not pilot.app.query_one("#policies").display
        await pilot.press("enter")

    chosen = started(act, journals=journals)
    assert chosen is not None
    assert arguments_of(chosen) == ["replay", str(journals[0]), "--theme", "dark"]


def test_a_journal_that_is_gone_takes_none_of_the_others_with_it(tmp_path: Path) -> None:
    """One link to nowhere, and no recorded run was offered."""
    with JournalWriter(tmp_path / "a.journal"):
        pass
    (tmp_path / "b.journal").symlink_to("nowhere")
    assert recent_journals(tmp_path) == [tmp_path / "a.journal"]
    assert recent_journals(tmp_path / "none") == []


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_a_long_name_of_a_journal_is_cut_in_its_middle(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """It broke in mid-word, and its end stood in a line of its own."""
    names = [f"exam-mine.py-Mine-{'x' * 60}-{number}.journal" for number in range(2)]
    for name in names:
        with JournalWriter(tmp_path / name) as journal:
            for event in events_of("two-jobs", "fair")[:3]:
                journal(event)

    async def act(pilot: Pilot[StartChoice]) -> None:
        edge = pilot.app.query_one("#scenarios").region.right
        told = [line[:edge] for line in lines_of(pilot) if "exam-" in line[:edge]]
        assert len(told) == 2
        for line in told:
            assert "exam-min" in line
            assert "journal" in line.partition("…")[2]
        assert sum("journal" in line[:edge] for line in lines_of(pilot)) == 2

    started(act, size, journals=recent_journals(tmp_path))


def test_typing_filters() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        everything = shown(pilot)
        assert everything == list(ENTRIES)
        await pilot.press(*"k-ou")
        assert shown(pilot) == ["rack-outage"]
        assert "/k-ou" in text_of(pilot, "#question")
        await pilot.press("x", "enter")
        assert shown(pilot) == []
        assert "no scenario has" in text_of(pilot, "#story")
        await pilot.press("slash", *"pap")  # of a group's name
        assert shown(pilot) == [each.name for each in ENTRIES.values() if "pap" in each.group]
        await pilot.press("escape")
        assert shown(pilot) == everything
        await pilot.press(*"ck-o", "enter")

    assert started(act) == StartChoice("rack-outage", ("fifo",))


def test_a_word_with_any_letter_first_can_be_typed() -> None:
    """`queues` left the screen with its first letter."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        assert text_of(pilot, "#keys").endswith("esc out")
        await pilot.press(*"queues")
        assert shown(pilot) == ["capacity-queues", "yarn-queues"]
        assert text_of(pilot, "#keys").endswith("esc back")
        await pilot.press("escape")
        assert shown(pilot) == list(ENTRIES)

    started(act)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_the_keys_are_told(size: tuple[int, int]) -> None:
    """In lines that are full, with what a key does beside it."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("question_mark")
        about = pilot.app.query_one("#about").region
        told = [line[about.x + 2 : about.right - 2] for line in lines_of(pilot)[2:]]
        paragraph = told[: told.index(" " * len(told[0]))]
        for line, after in pairwise(paragraph):
            assert len(f"{line.rstrip()} {after.split()[0]}") > len(told[0]) - 2
        (tick,) = (n for n, line in enumerate(told) if "there: tick" in line)
        assert told[tick + 1][:8].strip() in {"", "tab"}
        await pilot.press("escape")
        assert not any("ctrl+q" in line for line in lines_of(pilot))
        assert pilot.app.is_running

    started(act, size)


def lines_of(pilot: Pilot[StartChoice]) -> list[str]:
    """The screen."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def test_everything_fits_a_small_terminal() -> None:
    """At 80×24 the keys are whole, and the policies and the seed are there."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        lines = [line.rstrip() for line in lines_of(pilot)]
        assert len(lines) == 24
        assert lines[-1].endswith("esc out")
        assert lines[-2].endswith("the scenario's own, 1")
        assert any("[x] fifo" in line for line in lines)
        assert any("█" in line for line in lines)

    started(act)


def test_keys_of_a_burst_are_taken_one_after_the_other() -> None:
    """As over a slow line: each against what those before it have led to."""
    offer = next(each for each in ENTRIES.values() if not each.has_tour and len(each.policies) > 1)

    async def act(pilot: Pilot[StartChoice]) -> None:
        for key in (*offer.name, "right", "space", "down", "space", "left", "enter"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()

    chosen = started(act)
    assert chosen is not None
    assert (chosen.scenario, chosen.policies) == (offer.name, (offer.policies[1],))
