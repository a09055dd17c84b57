"""What the tables of jobs share: titles to sort by, and a progress bar."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec
from rich.style import Style
from textual import events
from textual.message import Message

from callboard.journal.replay.frame import ComparedJob, Frame, JobRow, JobSortKey
from callboard.journal.replay.palette import Palette
from callboard.scheduler.model import JobId
from callboard.tui.panels.list_pane import ListPane
from callboard.tui.panels.pane import Span, cell
from callboard.tui.theme import style

Row = TypeVar("Row", JobRow, ComparedJob)


class JobColumn(msgspec.Struct, frozen=True):
    """One column: its title, the key that a click on it sorts by, its width, its text for a job.

    Where there is no room the columns of the highest `rank` are left out first.  A title with a
    `colour` is bold; ° in a title marks what the scheduler cannot know.
    """

    title: str
    key: JobSortKey | None
    width: int
    rank: int = 0
    text: Callable[[JobRow], str] = str
    left: bool = False
    colour: str | None = None


class JobTablePane(ListPane, Generic[Row]):
    """One job a row, in the order of the frame."""

    key, heading = "2", "jobs"
    head_lines = 1

    @dataclass
    class Chosen(Message):
        """A job was chosen."""

        job: JobId

    @dataclass
    class SortBy(Message):
        """A column's title was clicked."""

        key: JobSortKey

    def shown_columns(self) -> list[JobColumn]:
        """The columns that fit."""
        raise NotImplementedError

    def rows_of(self, frame: Frame) -> list[Row]:
        raise NotImplementedError

    def rows_found(self, frame: Frame) -> int:
        """How many there are, with those that the pane had no room for."""
        raise NotImplementedError

    def is_over(self, row: Row) -> bool:
        """Whether the job has ended."""
        raise NotImplementedError

    def cells(self, row: Row, hue: str, ink: Style, ground: str) -> Iterable[Span]:
        """The spans of one row, from its second column on."""
        raise NotImplementedError

    def _row_spans(self, row: Row, hue: str) -> Iterator[Span]:
        palette, chosen = self.palette, row.job == self.view.job
        ground = palette.raised if chosen else palette.ground
        yield "■ ", style(hue, ground)
        colour = palette.dim if self.is_over(row) else palette.text
        yield from self.cells(row, hue, style(colour, ground, bold=chosen), ground)

    def no_rows_text(self, frame: Frame) -> str:
        """What is said where there are no rows, though none are filtered out."""
        raise NotImplementedError

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        rows = self.rows_of(frame)
        if y == 0:
            return self.head()
        if y <= len(rows):
            return self._row_spans(rows[y - 1], self.palette.jobs[frame.hue(rows[y - 1].job)])
        if y != 2 or self.rows_found(frame):  # one that has just come up has asked for none yet
            return ()
        told = self._no_match(frame) if self.view.filter else self.no_rows_text(frame)
        return [(f"  {told}", self.ink(self.palette.dim))]

    def _no_match(self, frame: Frame) -> str:
        """That no job is as the filter wants it, and how more jobs are looked at."""
        told = f"no job matches /{self.view.filter}"
        return told if self.view.all_jobs or frame.over else f"{told}; a looks at all that came"

    def listed_numbers(self) -> list[JobId]:
        return [row.job for row in self.rows_of(self.frame)] if self.frame is not None else []

    def view_fields(self) -> dict[str, int]:
        return {"jobs_rows": self.rows_that_fit, "with_fair_shares": False}

    def set_border_texts(
        self, rows: int, top: int, found: int, system: str, note: str = ""
    ) -> None:
        """Say in the border which jobs are listed, and a note."""
        view = self.view
        over = self.frame is not None and self.frame.over
        jobs = "all jobs" if view.all_jobs or over else f"jobs in {system}"
        self.set_title(f"[{self.key}] {jobs}{f', /{view.filter}' if view.filter else ''}")
        listed = f"{top + 1}–{top + rows} of {found:,}" if rows else ""
        self.set_subtitle("  ".join(each for each in (note, listed) if each))

    def head(self) -> Iterator[Span]:
        palette, view = self.palette, self.view
        yield "  ", self.ink()
        for column in self.shown_columns():
            sorts = column.key is view.jobs_key and column.colour is None
            arrow = ("▾" if view.jobs_reverse else "▴") if sorts else ""
            colour = column.colour or (palette.text if sorts else palette.dim)
            text = cell(
                column.title[: column.width - len(arrow)] + arrow, column.width, column.left
            )
            yield f"{text} ", self.ink(colour, bold=sorts or column.colour is not None)

    def chosen_number(self) -> JobId | None:
        return self.view.job

    def choose(self, at: int) -> None:
        self.post_to_app(self.Chosen(self.listed_numbers()[at]))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y or self.frame is None:
            return
        x = offset.x - 2
        for column in self.shown_columns():
            x -= column.width + 1
            if x < 0:
                if column.key is not None:
                    self.post_to_app(self.SortBy(column.key))
                return


def task_bar(row: JobRow, hue: str, width: int, palette: Palette, ground: str) -> Iterator[Span]:
    """Tasks done, running and waiting in one bar, maps and reduces together."""
    tasks = max(sum(row.tasks), 1)
    done = round(sum(row.done) * width / tasks)
    running = min(-(-sum(row.running) * width // tasks), width - done)
    yield "━" * done, style(hue, ground)
    yield "╍" * running, style(palette.shade(hue, 1), ground)
    yield "·" * (width - done - running), style(palette.faint, ground)
