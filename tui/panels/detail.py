"""The detail pane: the selected job, node or slot in words, and its timeline."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from textwrap import wrap
from typing import NamedTuple

from callboard.journal.replay.frame import WASTED, DetailText, Frame, Lane, SlotState
from callboard.journal.tell.time_format import NO_BREAK, axis_time, with_unbroken_units
from callboard.scheduler.text.quantities import count
from callboard.tui.panels.bars import block
from callboard.tui.panels.pane import Pane, Span
from callboard.tui.theme import style


class _Fact(NamedTuple):
    """A line of a fact; `begins` says whether it is its first one."""

    label: str
    text: str
    wrong: bool
    begins: bool


_LABEL = 12
_FACTS_LEAST = 3
_AXIS_TEXT = len("0:00:00  full height:   00:00:00")
_RIGHT = ("up and well", "counts on it", "knows", "up and well; the master counts on it")
"""The facts about a node when nothing is wrong."""
_HINTS = ("choose a job, a node or a slot: click it,", "or go there with 2 or 1, arrow keys, enter")
_STRETCHES = {SlotState.SHUFFLE: "▒", SlotState.COPY: "▞", WASTED: "░"}
"""Stretches that are no plain bar: a shuffle, a speculative attempt, wasted work."""


class DetailPane(Pane):
    """Facts about the selection, and its timeline."""

    key, heading = "4", "detail"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._top = 0
        """The first fact in view."""

    def show(self, frame: Frame) -> None:
        heading = frame.detail.title if frame.detail else self.heading
        title = f"[{self.key}] {heading}{self.title_suffix}"
        if self._title != title:
            self.set_title(title)
            self._top = 0
        super().show(frame)
        self._scroll_facts(0)

    def _scroll_facts(self, by: int) -> None:
        detail = self.frame.detail if self.frame else None
        if detail is None:
            self.set_subtitle("")
            return
        facts, room = len(self._wrapped_facts(detail)), self._visible_fact_count(detail)
        self._top = max(0, min(self._top + by, facts - room))
        more = facts - room - self._top
        self.set_subtitle(f"{more} more below: ↓" if more else "↑" if self._top else "")
        self.refresh_changes()

    def view_fields(self) -> dict[str, int]:
        """The width of the timeline, and how many lanes fit under a few facts."""
        rows = max(self.content_size.height - _FACTS_LEAST - 2, 0)
        return {"lane_columns": self._lane_columns, "lane_rows": rows}

    @property
    def _lane_columns(self) -> int:
        return max(self.content_size.width - _LABEL - 1, 0)

    def action_move_cursor(self, across: int, down: int) -> None:  # noqa: ARG002
        self._scroll_facts(down)

    def _visible_fact_count(self, detail: DetailText) -> int:
        """How many lines of facts are shown: lanes come first, but for a few facts, of which none
        ends in the middle.
        """
        lanes = (
            len(detail.lanes) + 1 + bool(self._meaning_below_axis(detail)) if detail.lanes else 0
        )
        lines = self._wrapped_facts(detail)
        shown = max(
            min(self.content_size.height - lanes, len(lines)), min(len(lines), _FACTS_LEAST)
        )
        below = lines[self._top + shown :]
        return shown + next((n for n, line in enumerate(below) if line.begins), len(below))

    def _wrapped_facts(self, detail: DetailText) -> list[_Fact]:
        width = max(self.content_size.width - _LABEL - 1, 10)
        lines: list[_Fact] = []
        for label, text in detail.facts:
            wrong = label in ("node", "the master", "the scheduler") and text not in _RIGHT
            for number, piece in enumerate(wrapped(text, width)):
                lines.append(_Fact("" if number else label, piece, wrong, number == 0))
        return lines

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        detail = frame.detail
        if detail is None:
            hint = _HINTS[y] if y < len(_HINTS) else ""
            return [(hint, self.ink(self.palette.dim))]
        lines = self._detail_lines(frame, detail)
        return lines[y] if y < len(lines) else ()

    def _detail_lines(self, frame: Frame, detail: DetailText) -> list[Iterable[Span]]:
        facts = self._wrapped_facts(detail)[
            self._top : self._top + self._visible_fact_count(detail)
        ]
        lines: list[Iterable[Span]] = [self._fact_line(*each[:3]) for each in facts]
        if detail.lanes:
            lines += [()] if len(lines) + len(detail.lanes) + 3 <= self.content_size.height else []
            room = max(self.content_size.height - len(lines) - 1, 1)  # beside the axis
            lines += [self._lane_line(frame, each) for each in detail.lanes[:room]]
            lines += [self._axis_line(detail)]
            below = self._meaning_below_axis(detail)
            lines += [self._fact_line("full height", below, False)] if below else []
        return lines

    def _fact_line(self, label: str, text: str, wrong: bool) -> Iterable[Span]:
        yield f"{label:<{_LABEL}} ", self.ink(self.palette.dim)
        yield text, self.ink(self.palette.fault if wrong else None)

    def _lane_line(self, frame: Frame, lane: Lane) -> Iterator[Span]:
        """A job's lane is a profile, a node's a row of stretches."""
        palette = self.palette
        yield f"{lane.label:<{_LABEL}} ", self.ink(palette.dim)
        profile = lane.most > 0
        for owner, state, fill in zip(lane.owners, lane.states, lane.fill, strict=True):
            if not owner:
                yield "·" if not profile else " ", self.ink(palette.faint)
                continue
            hue = palette.jobs[frame.hue(owner - 1)]
            if profile:
                yield block(fill), self.ink(hue)
            else:
                shade = 1 if state == SlotState.SHUFFLE else 2
                glyph = _STRETCHES.get(state, "█" if fill > 0.5 else "▌")
                yield glyph, style(palette.shade(hue, shade), palette.ground)

    def _axis_line(self, detail: DetailText) -> Iterable[Span]:
        begin, end = axis_time(detail.from_ms), axis_time(detail.to_ms)
        told = "" if self._meaning_below_axis(detail) else _full_column_meaning(detail)
        middle = f"full height: {told}" if told else ""
        gap = max(self._lane_columns - len(begin) - len(end), 1)
        yield " " * (_LABEL + 1), self.ink()
        yield f"{begin}{middle:^{gap}}{end}", self.ink(self.palette.dim)

    def _meaning_below_axis(self, detail: DetailText) -> str:
        """What a full column stands for, if it does not fit between the ends of the axis."""
        told = _full_column_meaning(detail)
        return told if len(told) + _AXIS_TEXT > self._lane_columns else ""


@lru_cache(512)
def wrapped(text: str, width: int) -> tuple[str, ...]:
    """The text in lines of that width, one at least: asked for again with every line drawn.  A
    number keeps its unit: “4 min 10 s” breaks before the 10.
    """
    pieces = wrap(with_unbroken_units(text), width)
    return tuple(each.replace(NO_BREAK, " ") for each in pieces) or ("",)


def _full_column_meaning(detail: DetailText) -> str:
    """What a full column of each profile stands for; empty where there is none."""
    known = (count(lane.most, lane.label.removesuffix("s")) for lane in detail.lanes if lane.most)
    return ", ".join(known)
