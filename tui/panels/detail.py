"""The detail pane: the selected job or node in words, and its timeline."""

from collections.abc import Iterable, Iterator

from tui.frame import Detail, Frame, Lane, SlotState
from tui.palette import style
from tui.panels.pane import Pane, Span
from tui.words import axis

_LABEL = 12
_EIGHTHS = " ▁▂▃▄▅▆▇█"


class DetailPane(Pane):
    """What is known of what is selected."""

    key, heading = "4", "detail"

    def show(self, frame: Frame) -> None:
        title = frame.detail.title if frame.detail else self.heading
        self.border_title = f"{self.key} {title}{self.whose}"
        super().show(frame)

    @property
    def lane_columns(self) -> int:
        """How many columns the timeline has."""
        return max(self.content_size.width - _LABEL - 1, 0)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        detail = frame.detail
        if detail is None:
            hint = (
                "choose a job or a node: click it, or go to it with 2 or 1 and the arrow keys"
                if y == 0
                else ""
            )
            return [(hint, self.ink(self.palette.dim))]
        lines = self._lines(detail)
        return lines[y] if y < len(lines) else ()

    def _lines(self, detail: Detail) -> list[Iterable[Span]]:
        """The facts, then the lanes; facts make way where there is not room for both."""
        height = self.content_size.height
        lanes = len(detail.lanes) + 2 if detail.lanes else 0
        facts = detail.facts[: max(height - lanes, min(len(detail.facts), 3))]
        lines: list[Iterable[Span]] = [self._fact(*each) for each in facts]
        if detail.lanes:
            lines += [()] if len(lines) + lanes <= height else []
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
                glyph = "▞" if state == SlotState.COPY else "█" if fill > 0.5 else "▌"
                yield glyph, style(palette.shade(hue, shade), palette.ground)

    def _axis(self, detail: Detail) -> Iterable[Span]:
        begin, end = axis(detail.from_ms), axis(detail.to_ms)
        gap = max(self.lane_columns - len(begin) - len(end), 1)
        yield " " * (_LABEL + 1), self.ink()
        yield f"{begin}{' ' * gap}{end}", self.ink(self.palette.dim)
