"""The jobs pane: a table of those in the system, or of all."""

from collections.abc import Iterator

from msgspec.structs import replace
from rich.style import Style

from callboard.journal.replay.frame import Frame, JobRow, JobSortKey, JobStatus
from callboard.journal.replay.palette import Palette
from callboard.journal.replay.signs import STATE_WORDS
from callboard.journal.tell.shortening import cut_within
from callboard.journal.tell.time_format import short_duration
from callboard.tui.panels.job_table import JobColumn, JobTablePane, task_bar
from callboard.tui.panels.pane import Span, cell
from callboard.tui.theme import style


def _done_of_total(row: JobRow, which: int) -> str:
    return f"{row.done[which]}/{row.tasks[which]}" if row.tasks[which] else "–"


def _running_text(row: JobRow) -> str:
    return f"{sum(row.running)}{'‖' if row.suspended else ''}" if sum(row.running) else ""


def _fair_share_text(row: JobRow) -> str:
    return f"{row.fair_share:.3g}" if row.fair_share else ""


def _score_text(row: JobRow) -> str:
    if not row.rank:
        return ""
    return f"{row.score:,.0f}" if abs(row.score) >= 1000 else f"{row.score:.4g}"


def _preemptions_text(row: JobRow) -> str:
    by = row.by.removeprefix("pool ")
    return f"{row.preempted}× {by}".rstrip() if row.preempted else ""


def _duration_text(ms: float | None) -> str:
    return "" if ms is None else short_duration(ms)


def _slowdown_text(share: float | None) -> str:
    return "" if share is None else f"{share:.1f}" if share < 99.95 else f"{share:,.0f}"


JOB_COLUMNS = (
    JobColumn("job", JobSortKey.ID, 5, 0, lambda row: str(row.job)),
    JobColumn("name", JobSortKey.NAME, 12, 0, lambda row: row.name, left=True),
    JobColumn("pool/user", JobSortKey.POOL, 9, 6, lambda row: row.pool or row.user, left=True),
    JobColumn("state", JobSortKey.STATE, 7, 5, lambda row: STATE_WORDS[row.state], left=True),
    JobColumn("maps", JobSortKey.DONE, 9, 3, lambda row: _done_of_total(row, 0)),
    JobColumn("reduces", JobSortKey.DONE, 8, 4, lambda row: _done_of_total(row, 1)),
    JobColumn("running", JobSortKey.RUNNING, 7, 1, _running_text),
    JobColumn("waiting", JobSortKey.WAITING, 7, 2, lambda row: str(row.waiting)),
    JobColumn("fair", JobSortKey.FAIR_SHARE, 5, 3, _fair_share_text),
    JobColumn("waited", JobSortKey.WAITED, 6, 8, lambda row: short_duration(row.waited_ms)),
    JobColumn("time", JobSortKey.TIME, 6, 1, lambda row: short_duration(row.time_ms)),
    JobColumn("score", JobSortKey.SCORE, 7, 9, _score_text),
    JobColumn("preempted", JobSortKey.PREEMPTIONS, 12, 10, _preemptions_text, left=True),
    JobColumn("expected", JobSortKey.EXPECTED, 8, 12, lambda row: _duration_text(row.expected_ms)),
    JobColumn("true size°", JobSortKey.SIZE, 10, 11, lambda row: _duration_text(row.size_ms)),
    JobColumn("slowdown°", JobSortKey.SLOWDOWN, 9, 9, lambda row: _slowdown_text(row.slowdown)),
)
ASCENDING = (JobSortKey.ID, JobSortKey.NAME, JobSortKey.POOL, JobSortKey.SCORE)
"""By these keys the jobs are sorted in ascending order at first, by others in descending."""

_BAR = JobColumn("progress", None, 0, left=True)
_BAR_LEAST = 10
_BAR_FROM = 50
"""The least width of a table with a bar."""
_BAR_MOST = 24


class JobsPane(JobTablePane[JobRow]):
    """The table, with as many columns as there is room for."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.columns: list[JobColumn] = []

    def view_fields(self) -> dict[str, int]:
        shares = any(column.key is JobSortKey.FAIR_SHARE for column in self.columns)
        return {**super().view_fields(), "with_fair_shares": shares}

    def show(self, frame: Frame) -> None:
        super().show(frame)
        hidden = any(column.title.endswith("°") for column in self.columns)
        note = "° what no scheduler knows" if hidden else ""
        self.set_border_texts(len(frame.jobs), frame.jobs_top, frame.jobs_found, "the system", note)

    def fit_size(self) -> None:
        """Choose the columns that fit; the bar and the name get the rest of the width."""
        width = self.content_size.width - 2
        kept = list(JOB_COLUMNS)
        bar = _BAR_LEAST + 1 if width > _BAR_FROM else 0
        while kept and bar + sum(each.width + 1 for each in kept) > width:
            kept.remove(max(kept, key=lambda each: each.rank))
        spare = width - sum(each.width + 1 for each in kept)
        bar = min(spare - 1, _BAR_MOST) if spare > _BAR_LEAST else 0
        spare -= bar + 1 if bar else 0
        self.columns = kept
        for at, each in enumerate(kept):
            if each.key is JobSortKey.NAME:
                kept[at] = replace(each, width=each.width + min(spare, 16))
                kept[at + 1 : at + 1] = [replace(_BAR, width=bar)] if bar else []
                break
        super().fit_size()

    def shown_columns(self) -> list[JobColumn]:
        return self.columns

    def rows_of(self, frame: Frame) -> list[JobRow]:
        return frame.jobs

    def rows_found(self, frame: Frame) -> int:
        return frame.jobs_found

    def no_rows_text(self, frame: Frame) -> str:
        if not (submitted := frame.totals.submitted):
            return "no job has been submitted yet"
        return f"no job is in the system; a shows all {submitted:,} submitted so far"

    def is_over(self, row: JobRow) -> bool:
        return row.state >= JobStatus.SUCCEEDED

    def cells(self, row: JobRow, hue: str, ink: Style, ground: str) -> Iterator[Span]:
        palette = self.palette
        for column in self.columns:
            if column.key is None:
                yield from task_bar(row, hue, column.width, palette, ground)
                yield " ", ink
                continue
            colour = _cell_colour(column, row, palette)
            whole = column.text(row)
            if column.key is JobSortKey.NAME:
                whole = cut_within(whole, column.width)
            text = cell(whole, column.width, column.left)
            yield f"{text} ", style(colour, ground, bold=bool(ink.bold)) if colour else ink


def _cell_colour(column: JobColumn, row: JobRow, palette: Palette) -> str | None:
    """The colour of a warning, or of what the scheduler cannot know."""
    if column.key is JobSortKey.STATE and row.state in (JobStatus.STARVED, JobStatus.FAILED):
        return palette.fault
    if column.key is JobSortKey.STATE and row.state is JobStatus.WAITING:
        return palette.warning
    if column.key is JobSortKey.FAIR_SHARE and row.fair_share and row.waiting:
        starved = sum(row.running) - row.suspended < row.fair_share / 2
        return palette.warning if starved else None
    return palette.accent if column.title.endswith("°") else None
