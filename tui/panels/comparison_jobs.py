"""The jobs of two compared runs, each in one row."""

from collections.abc import Iterator

from rich.style import Style

from callboard.journal.replay.frame import ComparedJob, Frame, JobSortKey, JobStatus
from callboard.journal.tell.shortening import cut_apart, cut_within
from callboard.journal.tell.time_format import short_duration
from callboard.tui.panels.job_table import JobColumn, JobTablePane, task_bar
from callboard.tui.panels.pane import Span
from callboard.tui.theme import style

_JOB, _NAME, _DIFFERENCE = 5, 10, 11
_BAR_LEAST, _BAR_MOST = 6, 24
_NAME_MOST = 24
_SAME_MS = 50
"""Less than this would be written as 0.0 s, and is shown as no difference."""

SIDE_COLUMNS = (
    JobColumn("done", JobSortKey.DONE, 6, 1, lambda row: f"{sum(row.done):,}"),
    JobColumn("running", JobSortKey.RUNNING, 7, 2, lambda row: f"{sum(row.running) or ''}"),
    JobColumn("time", JobSortKey.TIME, 7, 0, lambda row: short_duration(row.time_ms)),
)
"""The columns that each of the two runs has, after its bar."""


class ComparisonJobsPane(JobTablePane[ComparedJob]):
    """The table: a bar and columns for each of the two runs, then the difference."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._columns: list[JobColumn] = []
        self._bar = 0
        self._name_width = 0

    def fit_size(self) -> None:
        """Choose the columns that fit; the name and the bars get the rest of the width."""
        width = self.content_size.width - 2 - (_JOB + 1) - (_NAME + 1) - (_DIFFERENCE + 1)
        kept = list(SIDE_COLUMNS)
        while kept and 2 * (_BAR_LEAST + 2 + sum(each.width + 1 for each in kept)) > width:
            kept.remove(max(kept, key=lambda each: each.rank))
        spare = width - 2 * (2 + sum(each.width + 1 for each in kept))
        self._columns, self._bar = kept, max(min(spare // 2, _BAR_MOST), 0)
        self._name_width = min(_NAME + max(spare - 2 * self._bar, 0), _NAME_MOST)
        super().fit_size()

    def show(self, frame: Frame) -> None:
        super().show(frame)
        if (comparison := frame.comparison) is not None:
            rows, top, found = comparison.rows, comparison.rows_top, comparison.rows_found
            self.set_border_texts(len(rows), top, found, "either system")

    def shown_columns(self) -> list[JobColumn]:
        titles = [
            JobColumn("job", JobSortKey.ID, _JOB),
            JobColumn("name", JobSortKey.NAME, self._name_width, left=True),
        ]
        comparison = self.frame.comparison if self.frame is not None else None
        both = [figures.policy for figures in comparison.figures] if comparison is not None else []
        for side, name in enumerate(cut_apart(both, self._bar)):
            front = comparison is not None and side == comparison.lead
            colour = self.palette.accent if front else self.palette.text
            bar = JobColumn(name, JobSortKey.DONE, self._bar, left=True, colour=colour)
            titles += [bar, *self._columns, JobColumn("", JobSortKey.TIME, 0)]
        return [*titles, JobColumn("difference", None, _DIFFERENCE)]

    def rows_of(self, frame: Frame) -> list[ComparedJob]:
        return [] if frame.comparison is None else frame.comparison.rows

    def rows_found(self, frame: Frame) -> int:
        return 0 if frame.comparison is None else frame.comparison.rows_found

    def no_rows_text(self, frame: Frame) -> str:  # noqa: ARG002
        return "no job is in either system; a shows all submitted so far"

    def is_over(self, row: ComparedJob) -> bool:
        return all(side is not None and side.state >= JobStatus.SUCCEEDED for side in row.sides)

    def cells(self, row: ComparedJob, hue: str, ink: Style, ground: str) -> Iterator[Span]:
        palette = self.palette
        name = cut_within(row.name, self._name_width)
        yield f"{row.job:>{_JOB}} {name:<{self._name_width}} ", ink
        for side in row.sides:
            if side is None:
                blank = self._bar + sum(each.width + 1 for each in self._columns) + 2
                yield f"{'not yet here':<{blank}}"[:blank], style(palette.faint, ground)
                continue
            yield from task_bar(side, hue, self._bar, palette, ground)
            for column in self._columns:
                yield f" {column.text(side):>{column.width}}", ink
            yield "  ", ink
        text, colour = self._lead_and_colour(row)
        yield f"{text:>{_DIFFERENCE}}", style(colour, ground, bold=bool(ink.bold))

    def _lead_and_colour(self, row: ComparedJob) -> tuple[str, str]:
        """How far the second run is ahead: in time once both have ended the job, else in tasks."""
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
