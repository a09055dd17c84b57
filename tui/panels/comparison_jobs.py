"""The jobs of two runs beside each other, each in one row."""

from collections.abc import Callable, Iterable, Iterator

import msgspec
from textual import events

from callboard.journal.replay.frame import ComparedJob, Frame, JobRow, JobSortKey, JobState
from callboard.journal.tell.time_format import short_duration
from callboard.scheduler.model import JobId
from callboard.tui.palette import style
from callboard.tui.panels.jobs import JobsPane, task_bar
from callboard.tui.panels.pane import Pane, Span, cut

_JOB, _NAME, _DIFFERENCE = 5, 10, 11
_BAR_LEAST, _BAR_MOST = 6, 24
_NAME_MOST = 24
_GAP = 2
"""Columns between the two runs."""
_SAME_MS = 50
"""What would be written as 0.0 s is no difference."""


class SideColumn(msgspec.Struct, frozen=True):
    """A column that each of the two runs has; `rank` as in the table of one run."""

    title: str
    key: JobSortKey
    width: int
    rank: int
    text: Callable[[JobRow], str]


SIDE_COLUMNS = (
    SideColumn("done", JobSortKey.DONE, 6, 1, lambda row: f"{sum(row.done):,}"),
    SideColumn("on", JobSortKey.RUNNING, 4, 2, lambda row: f"{sum(row.running) or ''}"),
    SideColumn("time", JobSortKey.TIME, 7, 0, lambda row: short_duration(row.time_ms)),
)


class ComparisonJobsPane(Pane):
    """The table.  It tells what is chosen in it as `JobsPane` does."""

    key, heading = "2", "jobs in both"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.job: JobId | None = None
        self.sorted_by = JobSortKey.ID
        self.reverse = False
        self._columns: list[SideColumn] = []
        self._bar = 0
        self._name_width = 0

    @property
    def rows(self) -> int:
        """How many jobs fit."""
        return max(self.content_size.height - 1, 0)

    def on_resize(self) -> None:
        """Choose the columns that there is room for; what is left is the name's and the bars'."""
        width = self.content_size.width - 2 - (_JOB + 1) - (_NAME + 1) - _DIFFERENCE
        kept = list(SIDE_COLUMNS)
        while kept and 2 * (_BAR_LEAST + _GAP + sum(each.width + 1 for each in kept)) > width:
            kept.remove(max(kept, key=lambda each: each.rank))
        spare = width - 2 * (_GAP + sum(each.width + 1 for each in kept))
        self._columns, self._bar = kept, max(min(spare // 2, _BAR_MOST), 0)
        self._name_width = min(_NAME + max(spare - 2 * self._bar, 0), _NAME_MOST)
        self.post_message(JobsPane.Scrolled(0))  # there is room for other rows

    def show(self, frame: Frame) -> None:
        if (comparison := frame.comparison) is not None:
            last = comparison.rows_top + len(comparison.rows)
            of = (
                f"{comparison.rows_top + 1}–{last} of {comparison.rows_found:,}"
                if comparison.rows
                else ""
            )
            self.border_subtitle = of
        super().show(frame)

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        if frame.comparison is None:
            return ()
        rows = frame.comparison.rows
        if y == 0:
            return self._head(frame)
        if y > len(rows):
            said = "  no job is in either system; a shows all that came so far"
            return [(said, self.ink(self.palette.dim))] if y == 2 and not rows else ()
        return self._row(rows[y - 1])

    def _head(self, frame: Frame) -> Iterator[Span]:
        palette, comparison = self.palette, frame.comparison
        assert comparison is not None
        yield f"  {self._title('job', JobSortKey.ID, _JOB)} ", self.ink(palette.dim)
        name = self._title("name", JobSortKey.NAME, self._name_width, left=True)
        yield f"{name} ", self.ink(palette.dim)
        for side, figures in enumerate(comparison.figures):
            front = side == comparison.lead
            ink = self.ink(palette.accent if front else palette.text, bold=front)
            yield f"{cut(figures.policy, self._bar):<{self._bar}}", ink
            for column in self._columns:
                title = self._title(column.title, column.key, column.width)
                yield f" {title}", self.ink(palette.dim)
            yield " " * _GAP, ink
        yield f"{'difference':>{_DIFFERENCE}}", self.ink(palette.dim)

    def _title(self, title: str, key: JobSortKey, width: int, *, left: bool = False) -> str:
        arrow = ("▾" if self.reverse else "▴") if key is self.sorted_by else ""
        text = title + arrow
        return f"{text:<{width}}" if left else f"{text:>{width}}"

    def _row(self, row: ComparedJob) -> Iterator[Span]:
        palette = self.palette
        chosen = row.job == self.job
        ground = palette.raised if chosen else palette.ground
        over = all(side is not None and side.state >= JobState.SUCCEEDED for side in row.sides)
        ink = style(palette.dim if over else palette.text, ground, bold=chosen)
        yield "■ ", style(palette.hue(row.job), ground)
        yield f"{row.job:>{_JOB}} {cut(row.name, self._name_width):<{self._name_width}} ", ink
        for side in row.sides:
            if side is None:
                blank = self._bar + sum(each.width + 1 for each in self._columns) + _GAP
                yield f"{'not yet here':<{blank}}"[:blank], style(palette.faint, ground)
                continue
            yield from task_bar(side, self._bar, palette, ground)
            for column in self._columns:
                yield f" {column.text(side):>{column.width}}", ink
            yield " " * _GAP, ink
        text, colour = self._difference(row)
        yield f"{text:>{_DIFFERENCE}}", style(colour, ground, bold=chosen)

    def _difference(self, row: ComparedJob) -> tuple[str, str]:
        """How the second run does beside the first: time once both have ended the job, else tasks
        done.
        """
        palette = self.palette
        first, second = row.sides
        if row.sooner_ms is not None:
            if abs(row.sooner_ms) < _SAME_MS:
                return "=", palette.faint
            sign, colour = ("−", palette.good) if row.sooner_ms > 0 else ("+", palette.fault)
            return f"{sign}{short_duration(abs(row.sooner_ms))}", colour
        if first is None or second is None:
            return "", palette.faint
        more = sum(second.done) - sum(first.done)
        if not more:
            return "=", palette.faint
        sign, colour = ("+", palette.good) if more > 0 else ("−", palette.fault)
        return f"{sign}{abs(more):,} {'task' if abs(more) == 1 else 'tasks'}", colour

    # Choosing.

    def move_cursor(self, by: int) -> None:
        """Choose the job so many rows further down."""
        if self.frame is None or self.frame.comparison is None or not self.frame.comparison.rows:
            return
        jobs = [row.job for row in self.frame.comparison.rows]
        at = jobs.index(self.job) + by if self.job in jobs else 0
        if 0 <= at < len(jobs):
            self.post_message(JobsPane.Chosen(jobs[at]))
        else:
            self.post_message(JobsPane.Scrolled(by))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None or self.frame.comparison is None:
            return
        rows = self.frame.comparison.rows
        if offset.y == 0:
            key = self._title_at(offset.x)
            if key is not None:
                self.post_message(JobsPane.SortBy(key))
        elif offset.y <= len(rows):
            self.post_message(JobsPane.Chosen(rows[offset.y - 1].job))

    def _title_at(self, x: int) -> JobSortKey | None:
        widths = [(2 + _JOB + 1, JobSortKey.ID), (self._name_width + 1, JobSortKey.NAME)]
        for _ in range(2):
            widths += [(self._bar, JobSortKey.DONE)]
            widths += [(each.width + 1, each.key) for each in self._columns]
            widths += [(_GAP, JobSortKey.TIME)]
        for width, key in widths:
            x -= width
            if x < 0:
                return key
        return None

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(JobsPane.Scrolled(3))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(JobsPane.Scrolled(-3))
