"""The result of a run that is over, above all other panes: one figure in large digits, and what it
means.
"""

from collections.abc import Iterable
from itertools import zip_longest
from textwrap import wrap

from textual.renderables.digits import DIGITS, DIGITS3X3_BOLD

from callboard.journal.replay.frame import Frame, ResultHeadline
from callboard.tui.panels.pane import Pane, Span

ROWS = 3
"""The lines of a large digit."""

_FORMS = DIGITS3X3_BOLD


class ResultPane(Pane, can_focus=False):
    """It is there only while there is a result."""

    heading = "the result"

    def show(self, frame: Frame) -> None:
        super().show(frame)
        self.set_class(frame.headline is not None, "shown")
        self.set_subtitle(self._sentence_below(frame))

    def fit_size(self) -> None:
        super().fit_size()
        if self.frame is not None:
            self.set_subtitle(self._sentence_below(self.frame))

    @property
    def lines_taken(self) -> int:
        """How many lines of the screen it takes, with its borders."""
        return ROWS + 2 if self.has_class("shown") else 0

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        if frame.headline is None or y >= ROWS:
            return
        large = large_digits(frame.headline.figure)[y]
        yield f" {large}   ", self.ink(self.palette.accent, bold=True)
        told, _ = self._fitting_sentences(frame.headline)
        yield told[y] if y < len(told) else "", self.ink(bold=not y)

    def _fitting_sentences(self, headline: ResultHeadline) -> tuple[list[str], list[str]]:
        digits = len(large_digits(headline.figure)[0])
        width = max(self.content_size.width - digits - 5, 10)
        return fitting_sentences(headline.sentences, width)

    def _sentence_below(self, frame: Frame) -> str:
        """The first sentence for which there was no room, if the border has room for it."""
        if frame.headline is None:
            return ""
        _, left = self._fitting_sentences(frame.headline)
        return left[0] if left and len(left[0]) <= self.content_size.width - 4 else ""


def large_digits(text: str) -> list[str]:
    """The text in three lines; what is no digit stands small in the last."""
    rows = [""] * ROWS
    for sign in text.replace("−", "-"):
        at = DIGITS.find(sign)
        small = [" ", " ", sign]
        form = small if at < 0 else [row.ljust(3) for row in _FORMS[3 * at : 3 * at + ROWS]]
        rows = [row + part for row, part in zip_longest(rows, form, fillvalue="")]
    return rows


def fitting_sentences(sentences: Iterable[str], width: int) -> tuple[list[str], list[str]]:
    """As many of the sentences as three lines have room for, each on a line of its own or more; and
    those that are left.
    """
    told: list[str] = []
    left: list[str] = []
    for sentence in sentences:
        lines = wrap(sentence, width)
        if len(told) + len(lines) <= ROWS:
            told += lines
        else:
            left.append(sentence)
    return told, left
