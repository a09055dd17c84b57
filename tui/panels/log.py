"""The events pane: what has happened, as sentences, the newest at the bottom."""

from collections.abc import Iterable, Iterator

from textual import events
from textual.message import Message

from callboard.actors.vocabulary.events import Importance, Mark
from callboard.journal.replay.frame import Frame, LogLine
from callboard.journal.tell.names import clock
from callboard.tui.palette import MARK_SIGNS, style
from callboard.tui.panels.pane import Pane, Span

_LEVELS = {
    Importance.HEADLINE: "headlines",
    Importance.DECISION: "with decisions",
    Importance.DETAIL: "everything",
}


class LogPane(Pane):
    """The log.  A line can be chosen; the run can go to it."""

    key, heading = "3", "events"

    class Chosen(Message):
        """Somebody has chosen a line."""

        def __init__(self, line: LogLine) -> None:
            super().__init__()
            self.line = line

    class Scrolled(Message):
        """Lines further back (or, below 0, newer ones) are wanted."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.chosen: int | None = None
        """The number of the event whose line is chosen."""

    @property
    def rows(self) -> int:
        """How many lines fit."""
        return max(self.content_size.height, 1)

    def about(
        self, level: Importance, of_selection: bool, text: str, back: int, kind: str = ""
    ) -> None:
        """Say in the frame of the pane what is told in it."""
        said = [kind or _LEVELS[level]]
        said += ["of the selection"] if of_selection else []
        said += [f"/{text}"] if text else []
        self.border_title = f"{self.key} {self.heading}: {', '.join(said)}{self.title_suffix}"
        self.border_subtitle = f"{back} lines back" if back else ""

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        at = y - (self.content_size.height - len(frame.log)) if not frame.log_top else y
        if not 0 <= at < len(frame.log):
            empty = y == 0 and not frame.log
            return [("nothing to tell yet", self.ink(self.palette.dim))] if empty else ()
        return self._line(frame.log[at])

    def _line(self, line: LogLine) -> Iterator[Span]:
        palette = self.palette
        ground = palette.raised if line.index == self.chosen else palette.ground
        yield f"{clock(line.at_ms)[:-4]} ", style(palette.dim, ground)
        if line.mark is not Mark.NONE:
            yield f"{MARK_SIGNS[line.mark]} ", style(palette.mark(line.mark), ground, bold=True)
        elif line.job is not None:
            yield "■ ", style(palette.hue(line.job), ground)
        else:
            yield "  ", style(palette.dim, ground)
        strong = line.level is Importance.HEADLINE
        colour = palette.mark(line.mark) if line.mark is not Mark.NONE else None
        yield line.text, style(colour or (palette.text if strong else palette.dim), ground)

    def move_cursor(self, by: int) -> None:
        """Choose the line so many further down."""
        if self.frame is None or not self.frame.log:
            return
        lines = self.frame.log
        places = {line.index: at for at, line in enumerate(lines)}
        at = places.get(self.chosen) if self.chosen is not None else None
        if at is None:
            self.post_message(self.Chosen(lines[-1]))
        elif 0 <= at + by < len(lines):
            self.post_message(self.Chosen(lines[at + by]))
        else:
            self.post_message(self.Scrolled(-by))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        frame = self.frame
        at = offset.y - (0 if frame.log_top else self.content_size.height - len(frame.log))
        if 0 <= at < len(frame.log):
            self.post_message(self.Chosen(frame.log[at]))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Scrolled(-3))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Scrolled(3))
