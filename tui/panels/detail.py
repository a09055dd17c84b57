"""The detail pane: the selected job, node or slot in words, and its timeline."""

from collections.abc import Iterable, Iterator

from callboard.journal.replay.frame import WASTED, Detail, Frame, Lane, SlotState
from callboard.journal.tell.time_format import axis_time
from callboard.tui.palette import style
from callboard.tui.panels.pane import Pane, Span

_LABEL = 12
_FACTS_LEAST = 3
_HINTS = ("choose a job, a node or a slot: click it,", "or go there with 2 or 1, arrow keys, enter")
_STRETCHES = {SlotState.SHUFFLE: "▒", SlotState.COPY: "▞", WASTED: "░"}
"""What is not a plain bar: a shuffle, a copy of a straggler, work that came to nothing."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"


class DetailPane(Pane):
    """What is known of what is selected."""

    key, heading = "4", "detail"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._top = 0
        """The first fact in view."""

    def show(self, frame: Frame) -> None:
        title = (
            f"{self.key} {frame.detail.title if frame.detail else self.heading}{self.title_suffix}"
        )
        if self.border_title != title:
            self.border_title = title
            self._top = 0
        super().show(frame)
        self.scroll_facts(0)

    def scroll_facts(self, by: int) -> None:
        """Show the facts so many further down."""
        detail = self.frame.detail if self.frame else None
        if detail is None:
            self.border_subtitle = ""
            return
        room = self._room(detail)
        self._top = max(0, min(self._top + by, len(detail.facts) - room))
        more = len(detail.facts) - room - self._top
        self.border_subtitle = f"{more} more below: ↓" if more else "↑" if self._top else ""
        self.refresh()

    @property
    def lane_columns(self) -> int:
        """How many columns the timeline has."""
        return max(self.content_size.width - _LABEL - 1, 0)

    @property
    def lane_rows(self) -> int:
        """How many lanes there is room for, under a few facts."""
        return max(self.content_size.height - _FACTS_LEAST - 2, 0)

    def _room(self, detail: Detail) -> int:
        """How many facts are shown: they make way for the lanes, all but a few."""
        lanes = len(detail.lanes) + 1 if detail.lanes else 0
        least = min(len(detail.facts), _FACTS_LEAST)
        return max(min(self.content_size.height - lanes, len(detail.facts)), least)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        detail = frame.detail
        if detail is None:
            hint = _HINTS[y] if y < len(_HINTS) else ""
            return [(hint, self.ink(self.palette.dim))]
        lines = self._lines(detail)
        return lines[y] if y < len(lines) else ()

    def _lines(self, detail: Detail) -> list[Iterable[Span]]:
        """The facts, then the lanes."""
        facts = detail.facts[self._top : self._top + self._room(detail)]
        lines: list[Iterable[Span]] = [self._fact(*each) for each in facts]
        if detail.lanes:
            lines += [()] if len(lines) + len(detail.lanes) + 2 <= self.content_size.height else []
            lines += [self._lane(each) for each in detail.lanes]
            lines += [self._axis(detail)]
        return lines

    def _fact(self, label: str, text: str) -> Iterable[Span]:
        wrong = label in ("truth", "the master") and text not in ("up and well", "believes in it")
        yield f"{label:<{_LABEL}} ", self.ink(self.palette.dim)
        yield text, self.ink(self.palette.fault if wrong else None)

    def _lane(self, lane: Lane) -> Iterator[Span]:
        """A job's lane is a profile, a node's a row of stretches."""
        palette = self.palette
        yield f"{lane.label:<{_LABEL}} ", self.ink(palette.dim)
        profile = "≤" in lane.label
        for owner, state, fill in zip(lane.owners, lane.states, lane.fill, strict=True):
            if not owner:
                yield "·" if not profile else " ", self.ink(palette.faint)
                continue
            hue = palette.hue(owner - 1)
            if profile:
                yield _EIGHTHS[max(1, round(fill * 8))], self.ink(hue)
            else:
                shade = 1 if state == SlotState.SHUFFLE else 2
                glyph = _STRETCHES.get(state, "█" if fill > 0.5 else "▌")
                yield glyph, style(palette.shade(hue, shade), palette.ground)

    def _axis(self, detail: Detail) -> Iterable[Span]:
        begin, end = axis_time(detail.from_ms), axis_time(detail.to_ms)
        gap = max(self.lane_columns - len(begin) - len(end), 1)
        yield " " * (_LABEL + 1), self.ink()
        yield f"{begin}{' ' * gap}{end}", self.ink(self.palette.dim)
