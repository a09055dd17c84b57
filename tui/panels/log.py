"""The events pane: one sentence an event, the newest at the bottom."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual.message import Message

from callboard.actors.vocabulary.events import Importance, Mark
from callboard.journal.replay.frame import Frame, LogLine
from callboard.journal.replay.signs import MARK_SIGNS
from callboard.journal.tell.time_format import clock_time
from callboard.tui.panels.list_pane import ListPane
from callboard.tui.panels.pane import Span
from callboard.tui.theme import style

_LEVELS = {
    Importance.HEADLINE: "headlines",
    Importance.DECISION: "with decisions",
    Importance.DETAIL: "everything",
}

_BEFORE_TEXT = len("00:00:00 ■ ")
_SHORTER = (
    (re.compile(r"^([^:]+): .*, digest ([0-9a-f]{12})[0-9a-f]*$"), r"\1: digest \2"),
    (re.compile(r"^(run of .*?), by Callboard .*$"), r"\1"),
    (re.compile(r"^(run of .*) \([^()]*\)$"), r"\1"),
    (re.compile(r"^(.* submitted.*) \(normal priority\)$"), r"\1"),
    (re.compile(r"^(job-\d+) “[^”]*” (submitted .*)$"), r"\1 \2"),
)
"""What can be left out of a line where there is no room, one after the other."""


class LogPane(ListPane):
    """The log.  A line can be chosen, and gone to."""

    key, heading = "3", "events"
    entry = -1

    @dataclass
    class Chosen(Message):
        """A line was chosen."""

        line: LogLine

    @dataclass
    class Opened(Message):
        """Go to the event of that number."""

        index: int

    @dataclass
    class Folded(Message):
        """Show the events of a group one by one, or as one line again, scrolled back so far."""

        group: int
        unfold: bool
        back: int

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.chosen: int | None = None
        """The number of the event whose line is chosen."""

    def view_fields(self) -> dict[str, int]:
        return {"log_rows": max(self.rows_that_fit, 1)}

    def show(self, frame: Frame) -> None:
        view = self.view
        shown = [view.log_kind or _LEVELS[view.log_level]]
        shown += ["of the selection"] if view.log_of_selection else []
        shown += [f"/{view.filter}"] if view.filter else []
        self.set_title(f"[{self.key}] {self.heading}: {', '.join(shown)}{self.title_suffix}")
        back = f"{view.log_back} lines back" if view.log_back else ""
        self.set_subtitle(self._fold_hint(frame) or back)
        super().show(frame)

    def _fold_hint(self, frame: Frame) -> str:
        """What an arrow key does to the chosen line, if it stands for several or is one of them."""
        line = self._chosen_line(frame)
        if line is None or line.folded == 1:
            return ""
        return f"enter unfolds {line.folded:,}" if line.is_fold else "← folds"

    def _chosen_line(self, frame: Frame | None) -> LogLine | None:
        lines = frame.log if frame is not None else []
        return next((line for line in lines if line.index == self.chosen), None)

    @property
    def first_row_y(self) -> int:
        """The last line is at the bottom, unless the log begins within the pane."""
        if self.frame is None or self.frame.log_top:
            return 0
        return self.content_size.height - len(self.frame.log)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        at = y - self.first_row_y
        if not 0 <= at < len(frame.log):
            empty = y == 0 and not frame.log
            return [(self._no_events(), self.ink(self.palette.dim))] if empty else ()
        return self._line_spans(frame, frame.log[at])

    def _no_events(self) -> str:
        """That there are none so far, or none of those that are asked for."""
        view = self.view
        if view.filter:
            return f"no event so far matches /{view.filter}"
        chosen = " of the selection" if view.log_of_selection else ""
        return f"no {view.log_kind or 'events'}{chosen} yet"

    def _line_spans(self, frame: Frame, line: LogLine) -> Iterator[Span]:
        palette = self.palette
        ground = palette.raised if line.index == self.chosen else palette.ground
        yield f"{clock_time(line.at_ms)} ", style(palette.dim, ground)
        if line.mark is not Mark.NONE:
            yield f"{MARK_SIGNS[line.mark]} ", style(palette.mark(line.mark), ground, bold=True)
        elif line.job is not None:
            yield "■ ", style(palette.jobs[frame.hue(line.job)], ground)
        else:
            yield "  ", style(palette.dim, ground)
        strong = line.level is Importance.HEADLINE
        colour = palette.mark(line.mark) if line.mark is not Mark.NONE else None
        room = self.content_size.width - _BEFORE_TEXT
        if line.folded > 1:
            yield "▸ " if line.is_fold else "│ ", style(palette.accent, ground)
            room -= 2
        yield (
            _shortened_text(line.text, room),
            style(colour or (palette.text if strong else palette.dim), ground),
        )

    def text_to_copy(self) -> str:
        lines = self.frame.log if self.frame is not None else []
        chosen = [line for line in lines if line.index == self.chosen]
        return "\n".join(f"{clock_time(line.at_ms)} {line.text}" for line in chosen or lines)

    # Choosing.

    def listed_numbers(self) -> list[int]:
        return [line.index for line in self.frame.log] if self.frame is not None else []

    def chosen_number(self) -> int | None:
        return self.chosen

    def choose(self, at: int) -> None:
        assert self.frame is not None
        line = self.frame.log[at]
        self.chosen = line.index
        self.post_to_app(self.Chosen(line))

    def action_enter(self) -> None:
        """Unfold the chosen line, or go to its event."""
        line = self._chosen_line(self.frame)
        if line is not None and line.is_fold:
            self._unfold_group(line)
        elif self.chosen is not None:
            self.post_to_app(self.Opened(self.chosen))

    def action_move_cursor(self, across: int, down: int) -> None:
        """Up and down choose; right unfolds the chosen line, left folds its group again."""
        line = self._chosen_line(self.frame)
        if across > 0 and line is not None and line.is_fold:
            self._unfold_group(line)
        elif across < 0 and line is not None and line.group is not None:
            self.chosen = line.group
            back = max(self.view.log_back - line.folded + 1, 0)
            self.post_to_app(self.Folded(line.group, unfold=False, back=back))
        else:
            super().action_move_cursor(across, down)

    def _unfold_group(self, line: LogLine) -> None:
        """Scroll back by as much as keeps the group's first event in the pane."""
        listed = self.listed_numbers()
        below = len(listed) - 1 - listed.index(line.index) + line.folded - 1
        back = self.view.log_back + max(below - (self.rows_that_fit - 1), 0)
        self.post_to_app(self.Folded(line.index, unfold=True, back=back))


def _shortened_text(text: str, room: int) -> str:
    """The text without what can be left out, as far as that is needed."""
    for pattern, kept in _SHORTER:
        if len(text) <= room:
            break
        text = pattern.sub(kept, text)
    return text
