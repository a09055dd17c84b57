"""What all panes share: a frame to draw, lines made of coloured spans, a colour for each theme.

Panes use Textual's Line API: a line is drawn when the terminal needs it, from the frame alone.
Stock widgets cost ten to a hundred times as much for content that changes twenty times a second.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.palette import DARK, Palette
from callboard.journal.tell.shortening import cut
from callboard.tui.panels.changes import changed_regions
from callboard.tui.theme import style

Span = tuple[str, Style]


class Pane(Widget, can_focus=True):
    """A pane that draws the last frame it was shown, in the colours of the theme in force."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move_cursor(0, -1)", show=False),
        Binding("down", "move_cursor(0, 1)", show=False),
        Binding("left", "move_cursor(-1, 0)", show=False),
        Binding("right", "move_cursor(1, 0)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter", "enter", show=False),
    ]
    frame: Frame | None = None
    view: View = View()
    """The view that the frame was made for."""
    palette: Palette = DARK
    key: str = ""
    """The digit that goes to this pane."""
    heading: str = ""
    before_frames: str = ""
    """What stands in it until there is a frame."""
    side: int | None = None
    """The compared run that it shows: 0 or 1; None for both, or where there is one run."""
    others: str = ""
    """The panes whose place it takes on a small screen, with their keys."""
    title_suffix: str = ""
    """The end of its title, if it shows one of two runs."""
    _title: str | Content = ""
    _subtitle: str | Content = ""
    _fitted_to: Size | None = None
    """The size at which it was fitted last."""
    _drawn: Sequence[Strip] = ()
    """Its lines as they were drawn last; none where that is not known."""

    class Refitted(Message):
        """The pane has another size, and may want a frame with more or fewer rows."""

    def on_mount(self) -> None:
        self.set_title(f"[{self.key}] {self.heading}" if self.key else self.heading)
        self.screen.screen_layout_refresh_signal.subscribe(self, self._refit_if_resized)

    def _refit_if_resized(self, _screen: Screen[object]) -> None:
        """Fit the pane to the size that the layout has given it, if it is another one.

        Textual leaves out the `Resize` where a region was asked for after a style had changed and
        before the screen was laid out for it.  A pane that is not shown has no size, and is fitted
        anew once it is: what it was asked for meanwhile, it has answered for none.
        """
        size = self.content_size
        if size != self._fitted_to:
            self._fitted_to = size
            if size:
                self.fit_size()

    def set_key(self, key: str) -> None:
        """Another key goes to this pane."""
        if key != self.key:
            self.key = key
            self.set_title(f"[{key}] {self.heading}")

    def fit_size(self) -> None:
        """It has another size."""
        self.post_message(self.Refitted())

    def draw(self, frame: Frame, view: View, palette: Palette) -> None:
        self.view, self.palette = view, palette
        self.show(frame)

    def show(self, frame: Frame) -> None:
        """Take the frame, and set the texts of the border."""
        self.frame = frame
        self.refresh_changes()

    def refresh_changes(self) -> None:
        """Draw again what differs from what is drawn, and no more."""
        width, height = self.scrollable_content_region.size
        before, lines = self._drawn, [self.render_line(y) for y in range(height)]
        same_size = len(before) == height and all(line.cell_length == width for line in before)
        if not same_size:
            self.refresh()
        elif changed := changed_regions(before, lines):
            super().refresh(*changed)
        self._drawn = lines

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Draw all of it again, and forget what is drawn."""
        self._drawn = []
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def set_title(self, title: str | Content) -> None:
        """Set the title of the border, which is drawn again only if it is another one."""
        if title != self._title:
            self._title, drawn = title, self._drawn
            self.border_title = Content(title) if isinstance(title, str) else title
            self._drawn = drawn  # the border alone is another one

    def set_subtitle(self, text: str) -> None:
        """What its lower border says, besides which other panes there are."""
        whole = "  ".join(each for each in (self.others, text) if each)
        if whole != self._subtitle:
            self._subtitle, drawn = whole, self._drawn
            self.border_subtitle = Content(whole)
            self._drawn = drawn

    def view_fields(self) -> dict[str, int]:
        """How much the pane has room for, as fields of a `View`."""
        return {}

    def action_move_cursor(self, across: int, down: int) -> None:
        """An arrow key was pressed: choose a neighbour."""

    def action_page(self, pages: int) -> None:
        """Scroll down by pages, or up below 0."""

    def action_enter(self) -> None:
        """Go into what is chosen."""

    def text_to_copy(self) -> str:
        """What is copied from it: the text that it shows."""
        lines = (self.render_line(y).text.rstrip() for y in range(self.content_size.height))
        return "\n".join(lines).strip("\n")

    def post_to_app(self, message: Message) -> None:
        """Tell the app at once, before the next key: bubbling would take its time."""
        self.app.post_message(message)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        """The spans of one line."""
        raise NotImplementedError

    def ink(self, colour: str | None = None, *, bold: bool = False) -> Style:
        """The style of text on this pane, plain or in a colour."""
        palette = self.palette
        return style(colour or palette.text, palette.ground, bold=bold)

    def render_line(self, y: int) -> Strip:
        width, blank = self.content_size.width, self.ink()
        if self.frame is None:
            return fitted([(self.before_frames, blank)] if y == 0 else [], width, blank)
        return fitted(self.line(self.frame, y), width, blank)

    def get_line_filters(self) -> list[LineFilter]:
        """All filters but the one for ANSI colours, which a pane does not use."""
        filters: Iterable[LineFilter] = super().get_line_filters()
        return [each for each in filters if not isinstance(each, ANSIToTruecolor)]


def fitted(spans: Iterable[Span], width: int, blank: Style) -> Strip:
    """The spans as a line of exactly that width, shortened with `…`."""
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


def cell(text: str, width: int, left: bool = False) -> str:
    """The text in exactly `width` columns, aligned to the right unless `left` is set."""
    return f"{cut(text, width):{'<' if left else '>'}{width}}"
