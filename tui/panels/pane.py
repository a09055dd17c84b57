"""What all panes share: a frame to draw, lines made of coloured spans, a colour for each theme.

Panes use Textual's Line API: a line is drawn when the terminal needs it, from the frame alone.
Stock widgets cost ten to a hundred times as much for what changes twenty times a second.
"""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from callboard.journal.replay.frame import Frame
from callboard.tui.palette import DARK, Palette, style

Span = tuple[str, Style]


class Pane(Widget, can_focus=True):
    """A pane that draws the frame it was shown last."""

    frame: Frame | None = None
    key: str = ""
    """The digit that goes to this pane."""
    heading: str = ""
    side: int | None = None
    """Which of two runs beside each other it shows; None for the one in front, or both."""
    title_suffix: str = ""
    """What its title ends in, if it shows one of two runs."""
    palette: Palette = DARK
    """The colours of the theme in force."""

    class Refitted(Message):
        """The pane has another size: a frame for it may have other rows."""

    def on_mount(self) -> None:
        self.border_title = f"{self.key} {self.heading}" if self.key else self.heading

    def on_resize(self) -> None:
        self.post_message(self.Refitted())

    def show(self, frame: Frame) -> None:
        """Draw this from now on."""
        self.frame = frame
        self.refresh()

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        """The spans of one line."""
        raise NotImplementedError

    def ink(self, colour: str | None = None, *, bold: bool = False) -> Style:
        """The style of plain text, or of some colour, on this pane."""
        palette = self.palette
        return style(colour or palette.text, palette.ground, bold=bold)

    def render_line(self, y: int) -> Strip:
        width, blank = self.content_size.width, self.ink()
        if self.frame is None:
            return Strip.blank(width, blank)
        return fitted(self.line(self.frame, y), width, blank)

    def get_line_filters(self) -> list[LineFilter]:
        """The filters for what a pane draws: its colours are true ones already."""
        filters: Iterable[LineFilter] = super().get_line_filters()
        return [each for each in filters if not isinstance(each, ANSIToTruecolor)]


def fitted(spans: Iterable[Span], width: int, blank: Style) -> Strip:
    """The spans as a line of exactly that width; what is too long ends in `…`."""
    segments: list[Segment] = []
    left = width
    for text, ink in spans:
        size = len(text) if text.isascii() else cell_len(text)
        if size > left:
            if left > 0:
                segments.append(Segment(set_cell_size(text, left - 1) + "…", ink))
            left = 0
            break
        segments.append(Segment(text, ink))
        left -= size
    if left:
        segments.append(Segment(" " * left, blank))
    return Strip(segments, width)


def cut(text: str, width: int) -> str:
    """The text in at most so many columns, `…` for what is cut off."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"[:width]
