"""The jobs pane: a table of those in the system, or of all."""

from collections.abc import Callable, Iterable, Iterator

import msgspec
from rich.style import Style
from textual import events
from textual.message import Message

from callboard.journal.replay.frame import Frame, JobRow, JobSortKey, JobState
from callboard.journal.tell.time_format import short_duration
from callboard.scheduler.model import JobId
from callboard.tui.palette import Palette, style
from callboard.tui.panels.pane import Pane, Span

STATE_WORDS = {
    JobState.WAITING: "waits",
    JobState.RUNNING: "runs",
    JobState.STARVED: "starved",
    JobState.SUCCEEDED: "done",
    JobState.FAILED: "failed",
    JobState.KILLED: "killed",
}


class JobColumn(msgspec.Struct, frozen=True):
    """One column: its title, what it sorts by, its width, and what it says of a job.

    `rank` says how soon it goes when there is no room: the highest first.  A title with ° is of
    what only the audience knows.
    """

    title: str
    key: JobSortKey
    width: int
    rank: int
    text: Callable[[JobRow], str]
    left: bool = False


def _tasks(which: int) -> Callable[[JobRow], str]:
    def text(row: JobRow) -> str:
        tasks, done = row.tasks[which], row.done[which]
        return f"{done}/{tasks}" if tasks else "–"

    return text


def _running(row: JobRow) -> str:
    return f"{sum(row.running)}{'‖' if row.suspended else ''}" if sum(row.running) else ""


def _fair_share(row: JobRow) -> str:
    return f"{row.fair_share:.3g}" if row.fair_share else ""


def _score(row: JobRow) -> str:
    if not row.rank:
        return ""
    return f"{row.score:,.0f}" if abs(row.score) >= 1000 else f"{row.score:.4g}"


def _preemptions(row: JobRow) -> str:
    by = row.by.removeprefix("pool ")
    return f"{row.preempted}× {by}".rstrip() if row.preempted else ""


def _length(ms: float | None) -> str:
    return "" if ms is None else short_duration(round(ms))


def _times(share: float | None) -> str:
    return "" if share is None else f"{share:.1f}" if share < 99.95 else f"{share:,.0f}"


JOB_COLUMNS = (
    JobColumn("job", JobSortKey.ID, 5, 0, lambda row: str(row.job)),
    JobColumn("name", JobSortKey.NAME, 12, 0, lambda row: row.name, left=True),
    JobColumn("pool", JobSortKey.POOL, 7, 6, lambda row: row.pool or row.user, left=True),
    JobColumn("state", JobSortKey.STATE, 7, 5, lambda row: STATE_WORDS[row.state], left=True),
    JobColumn("maps", JobSortKey.DONE, 9, 3, _tasks(0)),
    JobColumn("reduces", JobSortKey.DONE, 8, 4, _tasks(1)),
    JobColumn("on", JobSortKey.RUNNING, 5, 1, _running),
    JobColumn("waiting", JobSortKey.WAITING, 7, 2, lambda row: str(_waiting(row))),
    JobColumn("fair", JobSortKey.FAIR_SHARE, 5, 3, _fair_share),
    JobColumn("waited", JobSortKey.WAITED, 6, 8, lambda row: short_duration(row.waited_ms)),
    JobColumn("time", JobSortKey.TIME, 6, 1, lambda row: short_duration(row.time_ms)),
    JobColumn("score", JobSortKey.SCORE, 7, 9, _score),
    JobColumn("gave way", JobSortKey.PREEMPTIONS, 12, 10, _preemptions, left=True),
    JobColumn("size≈", JobSortKey.EXPECTED, 6, 12, lambda row: _length(row.expected_ms)),
    JobColumn("size°", JobSortKey.SIZE, 6, 11, lambda row: _length(row.size_ms)),
    JobColumn("×least°", JobSortKey.STRETCH, 7, 9, lambda row: _times(row.stretch)),
)
_BAR_LEAST = 10
_BAR_FROM = 50
"""The width from which on there is a bar."""
_BAR_MOST = 24


def _waiting(row: JobRow) -> int:
    return sum(row.tasks) - sum(row.done) - sum(row.running)


class JobsPane(Pane):
    """The table.  Its order is the frame's; it shows as many rows as fit."""

    key, heading = "2", "jobs"

    class Chosen(Message):
        """Somebody has chosen a job."""

        def __init__(self, job: JobId) -> None:
            super().__init__()
            self.job = job

    class Scrolled(Message):
        """Rows further up or down are wanted."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class SortBy(Message):
        """A column's title was clicked."""

        def __init__(self, key: JobSortKey) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.job: JobId | None = None
        self.sorted_by = JobSortKey.ID
        self.reverse = False
        self.columns: list[tuple[JobColumn, int]] = []
        self.bar = 0

    @property
    def rows(self) -> int:
        """How many jobs fit."""
        return max(self.content_size.height - 1, 0)

    @property
    def with_fair_shares(self) -> bool:
        """Whether it shows what jobs are due."""
        return any(column.key is JobSortKey.FAIR_SHARE for column, _ in self.columns)

    def show(self, frame: Frame) -> None:
        last = frame.jobs_top + len(frame.jobs)
        of = f"{frame.jobs_top + 1}–{last} of {frame.jobs_found:,}" if frame.jobs else ""
        self.border_subtitle = of
        super().show(frame)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Choose the columns that there is room for; what is left is the bar's."""
        width = self.content_size.width - 2
        kept = list(JOB_COLUMNS)
        bar = _BAR_LEAST + 1 if width > _BAR_FROM else 0
        while kept and bar + sum(each.width + 1 for each in kept) > width:
            kept.remove(max(kept, key=lambda each: each.rank))
        spare = width - sum(each.width + 1 for each in kept)
        self.bar = min(spare - 1, _BAR_MOST) if spare > _BAR_LEAST else 0
        spare -= self.bar + 1 if self.bar else 0
        self.columns = [
            (each, each.width + (min(spare, 16) if each.key is JobSortKey.NAME else 0))
            for each in kept
        ]

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        if y == 0:
            return self._head()
        if y > len(frame.jobs):
            return self._nothing(frame) if y == 2 and not frame.jobs else ()
        return self._row(frame.jobs[y - 1])

    def _nothing(self, frame: Frame) -> Iterable[Span]:
        submitted = frame.totals.submitted
        said = "no job is in the system" if submitted else "no job has been submitted yet"
        if submitted:
            said += f"; a shows all {submitted:,} that came so far"
        yield f"  {said}", self.ink(self.palette.dim)

    def _head(self) -> Iterator[Span]:
        palette = self.palette
        yield "  ", self.ink()
        for column, width in self.columns:
            chosen = column.key is self.sorted_by
            arrow = ("▾" if self.reverse else "▴") if chosen else ""
            text = _set(column.title + arrow, width, column.left)
            yield text + " ", self.ink(palette.text if chosen else palette.dim, bold=chosen)
            if column.key is JobSortKey.NAME and self.bar:
                yield _set("progress", self.bar, True) + " ", self.ink(palette.dim)

    def _row(self, row: JobRow) -> Iterator[Span]:
        palette = self.palette
        chosen = row.job == self.job
        ground = palette.raised if chosen else palette.ground
        over = row.state >= JobState.SUCCEEDED
        ink = style(palette.dim if over else palette.text, ground, bold=chosen)
        yield "■ ", style(palette.hue(row.job), ground)
        for column, width in self.columns:
            yield (
                _set(column.text(row), width, column.left) + " ",
                _tinted(column, row, palette, ground, chosen) or ink,
            )
            if column.key is JobSortKey.NAME and self.bar:
                yield from task_bar(row, self.bar, palette, ground)
                yield " ", ink

    # Choosing.

    def move_cursor(self, by: int) -> None:
        """Choose the job so many rows further down."""
        if self.frame is None or not self.frame.jobs:
            return
        jobs = [row.job for row in self.frame.jobs]
        if self.job not in jobs:
            self.post_message(self.Chosen(jobs[0]))
            return
        at = jobs.index(self.job) + by
        if 0 <= at < len(jobs):
            self.post_message(self.Chosen(jobs[at]))
        else:
            self.post_message(self.Scrolled(by))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.frame is None:
            return
        if offset.y == 0:
            key = self._title_at(offset.x)
            if key is not None:
                self.post_message(self.SortBy(key))
        elif offset.y <= len(self.frame.jobs):
            self.post_message(self.Chosen(self.frame.jobs[offset.y - 1].job))

    def _title_at(self, x: int) -> JobSortKey | None:
        at = 2
        for column, width in self.columns:
            at += width + 1
            if x < at:
                return column.key
            if column.key is JobSortKey.NAME and self.bar:
                at += self.bar + 1
        return None

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Scrolled(3))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Scrolled(-3))


def task_bar(row: JobRow, width: int, palette: Palette, ground: str) -> Iterator[Span]:
    """Maps and reduces done, on, and waiting, in one bar."""
    hue, tasks = palette.hue(row.job), max(sum(row.tasks), 1)
    done = round(sum(row.done) * width / tasks)
    on = min(-(-sum(row.running) * width // tasks), width - done)
    yield "█" * done, style(hue, ground)
    yield "▒" * on, style(palette.shade(hue, 1), ground)
    yield "·" * (width - done - on), style(palette.faint, ground)


def _set(text: str, width: int, left: bool) -> str:
    """The text in so many columns, `…` for what is cut off."""
    if len(text) > width:
        return text[: width - 1] + "…"
    return f"{text:<{width}}" if left else f"{text:>{width}}"


def _tinted(
    column: JobColumn, row: JobRow, palette: Palette, ground: str, chosen: bool
) -> Style | None:
    """The colour of a word that is a warning."""
    if column.key is JobSortKey.STATE and row.state in (JobState.STARVED, JobState.FAILED):
        return style(palette.fault, ground, bold=chosen)
    if column.key is JobSortKey.STATE and row.state is JobState.WAITING:
        return style(palette.warning, ground, bold=chosen)
    if column.key is JobSortKey.FAIR_SHARE and row.fair_share and _waiting(row):
        starved = sum(row.running) - row.suspended < row.fair_share / 2
        return style(palette.warning, ground, bold=chosen) if starved else None
    if column.title.endswith("°"):
        return style(palette.accent, ground, bold=chosen)
    return None
