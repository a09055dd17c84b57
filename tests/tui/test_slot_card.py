"""Slots as cards: what they say, and that they are chosen as tiles are."""

import pytest

from callboard.journal.replay.frame import SlotCard
from callboard.journal.replay.source import GoTo
from callboard.tui.panels.slot_card import CARD_WIDTH, card_head, card_progress
from callboard.tui.panels.slot_layout import CellSize
from callboard.tui.panels.slots import SlotsPane
from tests.journal.replay.support import events_of, outage, recorded
from tests.tui.support import SMALL, Screen, drive

MAP = SlotCard(3, 0, 12, 1, 15_000, 20_000.0)


@pytest.mark.parametrize(
    ("card", "head", "progress"),
    [
        (MAP, " ■ 3 m12 R ", "━━━━─ ≈5.0s"),
        (SlotCard(3, 0, 12, 0, 26_000, 20_000.0), " ■ 3 m12 N ", "━━━━━ +6.0s"),
        (SlotCard(3, 1, 0, None, 90_000, None), " ■ 3 r0    ", "  for 1m30s"),
        (None, " ■         ", "           "),
        (SlotCard(1234, 0, 56789, 2, 0, 9e7), " ■ 1234 m5…", "──── ≈1d01h"),
    ],
)
def test_two_lines(card: SlotCard | None, head: str, progress: str) -> None:
    assert (card_head(card, "■", chosen=False), card_progress(card)) == (head, progress)
    assert len(head) == len(progress) == CARD_WIDTH - 1


def test_a_small_cluster_has_cards_with_what_runs_there() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(65_000))
        await screen.press("1", "right")
        assert screen.app.query_one("#slots", SlotsPane).slot_layout.size is CellSize.CARDS
        launched = {(card.job, card.task) for card in screen.frame.cards if card is not None}
        assert {(1, 0), (1, 1), (0, 4), (0, 6)} <= launched
        assert "■ 1 m0 N" in screen.text()
        assert "◇ 0 r0" in screen.text()
        await screen.press("enter")
        assert "▸■ 1 m0 N" in screen.text()
        await screen.press("down")  # to another node, not to the other line of the card
        assert screen.view().node != 0
        assert screen.view().slot == 0

    drive(recorded(events_of("two-jobs", "fair")), act, SMALL)


def test_a_click_on_either_line_chooses_the_job() -> None:
    async def act(screen: Screen) -> None:
        screen.app.playback.ask_frame(GoTo(65_000))
        await screen.press("escape")
        for y in (3, 4):
            await screen.press("escape")
            await screen.pilot.click("#slots", offset=(6, y))
            await screen.pilot.pause()
            assert screen.view().job == 1

    drive(recorded(events_of("two-jobs", "fair")), act, SMALL)


def test_a_large_cluster_has_none_and_asks_for_none() -> None:
    async def act(screen: Screen) -> None:
        for _ in CellSize:
            await screen.press("c")
            assert screen.app.query_one("#slots", SlotsPane).slot_layout.size is not CellSize.CARDS
            assert screen.frame.cards == []

    drive(recorded(outage()), act)
