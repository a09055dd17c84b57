"""The time bar: the whole run as far as it is known, its marks, and the present moment."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from textual import events

from callboard.actors.vocabulary.events import Mark
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.signs import MARK_SIGNS
from callboard.journal.tell.time_format import axis_time
from callboard.tui.panels.charts import LABEL_WIDTH, Sought, column_of
from callboard.tui.panels.pane import Pane, Span
from callboard.tui.theme import style

DIVERGENCE_SIGN = "╫"
"""Where two compared runs first differ."""

_NICE_MS = tuple(
    1000 * s
    for s in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
)
_TICK_LEAST = 12


class TimeBar(Pane, can_focus=False):
    """Marks, the bar, the axis.  A click or a drag goes to that moment, on a mark to its own."""

    @property
    def column_count(self) -> int:
        return max(self.content_size.width - LABEL_WIDTH - 2, 1)

    def view_fields(self) -> dict[str, int]:
        return {"columns": self.column_count}

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        return (self._marks_line, self._position_line, self._axis_line)[min(y, 2)](frame)

    def _marks_line(self, frame: Frame) -> Iterator[Span]:
        palette = self.palette
        yield f"{'marks':<{LABEL_WIDTH}} ", self.ink(palette.dim)
        for mark, run in groupby(frame.charts.marks):
            yield (
                MARK_SIGNS[Mark(mark)] * len(list(run)),
                self.ink(palette.mark(Mark(mark)), bold=True),
            )

    def _position_line(self, frame: Frame) -> Iterator[Span]:
        palette, columns = self.palette, len(frame.charts.marks)
        here = column_of(frame.at_ms, frame, columns)
        yield f"{axis_time(frame.at_ms):<{LABEL_WIDTH}} ", self.ink(bold=True)
        bar = ["━"] * here + ["●"] + ["─"] * (columns - here - 1)
        colours = [palette.accent] * here + [palette.text] + [palette.faint] * (columns - here - 1)
        if frame.comparison is not None and frame.comparison.divergence is not None:
            there = column_of(frame.comparison.divergence.at_ms, frame, columns)
            if there != here:
                bar[there], colours[there] = DIVERGENCE_SIGN, palette.warning
        for colour, run in groupby(zip(colours, bar, strict=True), itemgetter(0)):
            yield "".join(sign for _, sign in run), self.ink(colour, bold=colour == palette.text)

    def _axis_line(self, frame: Frame) -> Iterator[Span]:
        columns, end_ms = len(frame.charts.marks), max(frame.end_ms, 1)
        step = next((ms for ms in _NICE_MS if ms * columns >= _TICK_LEAST * end_ms), _NICE_MS[-1])
        line = [" "] * columns
        tail = axis_time(end_ms) + ("" if frame.complete else "…")
        for ms in range(0, end_ms, step):
            at, text = ms * columns // end_ms, f"╵{axis_time(ms)}"
            if at + len(text) < columns - len(tail):
                line[at : at + len(text)] = text
        line[max(columns - len(tail), 0) :] = tail
        known = "so far" if not frame.complete else ""
        yield f"{known:<{LABEL_WIDTH}} ", self.ink(self.palette.dim)
        yield "".join(line), style(self.palette.dim, self.palette.ground)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._seek_to_click(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self._seek_to_click(event)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        self.release_mouse()

    def _seek_to_click(self, event: events.MouseEvent) -> None:
        if self.frame is None:
            return
        x = event.x - self.gutter.left - LABEL_WIDTH - 1
        columns = len(self.frame.charts.marks)
        if event.y == 0 and 0 <= x < columns and self.frame.charts.marks[x]:
            self.post_message(Sought(-(-self.frame.end_ms * x // columns), mark=True))
            return
        share = max(0.0, min((x + 0.5) / columns, 1.0)) if x >= 0 else 0.0
        self.post_message(Sought(round(self.frame.end_ms * share)))
