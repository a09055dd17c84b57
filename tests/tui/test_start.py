"""The first screen: what it offers, and what comes of the keys."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from callboard.commands.start_command import library_entries, scenario_description
from callboard.scenarios import scenario_file
from callboard.tui.screens.start import StartApp, StartChoice


def started(
    act: Callable[[Pilot[StartChoice]], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> StartChoice | None:
    """What was chosen on a screen of this size."""
    app = StartApp(library_entries(), scenario_file.DEFAULT_SCENARIO)

    async def play() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(pilot)

    asyncio.run(play())
    return app.return_value


def test_every_scenario_is_offered_with_its_story() -> None:
    listed = {offer.name: offer for offer in library_entries()}
    assert list(listed) == [name for name, _, _ in scenario_file.library_scenarios()]
    for offer in listed.values():
        assert offer.story
        assert "Look for" in offer.about, offer.name
        assert "callboard run" not in offer.about, offer.name
        assert offer.policies


def test_enter_takes_the_scenario_under_its_first_policy() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("down", "enter")

    names = [name for name, _, _ in scenario_file.library_scenarios()]
    after = names[names.index(scenario_file.DEFAULT_SCENARIO) + 1]
    policies = scenario_file.load_scenario(scenario_file.find_scenario(after)).policies
    assert started(act) == StartChoice(after, policies[:1], "dark")


def test_arrows_choose_a_policy_for_each_scenario() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("right", "down", "left", "up", "ctrl+t", "enter")

    policies = scenario_file.load_scenario(
        scenario_file.find_scenario(scenario_file.DEFAULT_SCENARIO)
    ).policies
    assert started(act) == StartChoice(scenario_file.DEFAULT_SCENARIO, policies[1:2], "light")


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c"])
def test_leaving_chooses_nothing(key: str) -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press(key)

    assert started(act) is None


def test_what_is_told_is_of_the_one_that_the_bar_is_on() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        listed = pilot.app.query_one(OptionList)
        for offer in library_entries():
            listed.highlighted = listed.get_option_index(offer.name)
            await pilot.pause()
            assert offer.story in str(pilot.app.query_one("#story", Static).visual)
            for policy in offer.policies:
                assert policy in str(pilot.app.query_one("#policies", Static).visual)

    started(act, (160, 50))


def test_the_story_leaves_out_what_only_a_shell_needs() -> None:
    text = "# One\n# line.\n#\n#   callboard run x\n#\n# Two.\n\nname = 'x'\n# three\n"
    assert scenario_description(text) == "One line.\n\nTwo."


def shown(pilot: Pilot[StartChoice]) -> list[str | None]:
    listed = pilot.app.query_one(OptionList)
    return [listed.get_option_at_index(at).id for at in range(listed.option_count)]


def test_typing_filters() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        everything = shown(pilot)
        await pilot.press(*"outage")
        assert "rack-outage" in shown(pilot)
        assert len(shown(pilot)) < len(everything)
        assert "/outage" in str(pilot.app.query_one("#question", Static).visual)
        await pilot.press(*"xx", "enter")
        assert shown(pilot) == []
        assert "no scenario has" in str(pilot.app.query_one("#story", Static).visual)
        await pilot.press("slash", *"rack-out", "x", "backspace")
        assert shown(pilot) == ["rack-outage"]
        await pilot.press("escape")
        assert shown(pilot) == everything
        await pilot.press(*"rack-outage", "enter")

    chosen = started(act)
    assert chosen is not None
    assert chosen.scenario == "rack-outage"


def test_two_policies_can_be_marked() -> None:
    """A third takes the place of the first; marking again takes the mark away."""

    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press(*"rack-outage", "space", "right", "space")
        assert str(pilot.app.query_one("#policies", Static).visual).count("✓") == 2
        await pilot.press("space")
        assert str(pilot.app.query_one("#policies", Static).visual).count("✓") == 1
        await pilot.press("space", "enter")

    policies = scenario_file.load_scenario(scenario_file.find_scenario("rack-outage")).policies
    assert started(act) == StartChoice("rack-outage", policies[:2], "dark")


def test_the_keys_are_told() -> None:
    async def act(pilot: Pilot[StartChoice]) -> None:
        await pilot.press("question_mark")
        assert "leads back here" in str(pilot.app.query_one("#story", Static).visual)
        await pilot.press("escape")
        assert "leads back here" not in str(pilot.app.query_one("#story", Static).visual)
        assert pilot.app.is_running

    started(act)
