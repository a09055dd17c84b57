"""A slot as a card of two lines: job, task and locality; progress and time left."""

from callboard.journal.replay.frame import SlotCard
from callboard.journal.tell.shortening import cut
from callboard.journal.tell.time_format import short_duration

CARD_WIDTH = 12
"""The columns of a card with the gap after it."""

_TEXT = CARD_WIDTH - 1
_LETTERS = "NRO"
"""Node-local, rack-local, off-rack."""


def card_head(card: SlotCard | None, sign: str, chosen: bool) -> str:
    """`■3 m12 N`: the state, the job, the task, the locality of a map."""
    mark = "▸" if chosen else " "
    if card is None:
        return f"{mark}{sign}".ljust(_TEXT)
    letter = "" if card.level is None else f" {_LETTERS[card.level]}"
    task = f"{'mr'[card.kind]}{card.task}"
    return cut(f"{mark}{sign} {card.job} {task}{letter}", _TEXT).ljust(_TEXT)


def card_progress(card: SlotCard | None) -> str:
    """A bar, and the time left as such tasks usually take; `+` if it takes longer, and how long it
    has taken so far where none has succeeded yet.
    """
    if card is None:
        return " " * _TEXT
    if not card.usual_ms:
        return f"for {short_duration(card.held_ms)}".rjust(_TEXT)
    left_ms = round(card.usual_ms) - card.held_ms
    sign = "≈" if left_ms >= 0 else "+"
    told = f" {sign}{short_duration(abs(left_ms))}"
    width = _TEXT - len(told)
    done = min(round(width * card.held_ms / card.usual_ms), width)
    return "━" * done + "─" * (width - done) + told
