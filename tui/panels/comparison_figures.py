"""Two runs in figures, and their first difference."""

from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap

import msgspec

from callboard.journal.replay.frame import Frame, RunComparison, RunFigures
from callboard.journal.tell.shortening import cut_apart
from callboard.journal.tell.time_format import axis_time, short_duration
from callboard.scheduler.text.quantities import clock, count, printable
from callboard.tui.panels.pane import Pane, Span

_LABEL, _VALUE, _DIFFERENCE = 19, 10, 9


class FigureRow(msgspec.Struct, frozen=True):
    """One figure: its label, where it comes from, how it is written.

    `less_is_better` is None where neither is.  A `relative` difference is shown in per cent.
    """

    label: str
    of: Callable[[RunFigures], float | None]
    written: Callable[[float], str]
    less_is_better: bool | None = None
    relative: bool = False

    def best(self, first: float, second: float) -> int | None:
        return None if self.less_is_better is None else int((second < first) == self.less_is_better)


FIGURE_ROWS = (
    FigureRow("jobs succeeded", lambda f: f.done, "{:,.0f}".format, False),
    FigureRow("mean response", lambda f: f.response_ms, short_duration, None, True),
    FigureRow("  of the same jobs", lambda f: f.common_ms, short_duration, True, True),
    FigureRow("mean time in system", lambda f: f.in_system_ms, short_duration, True, True),
    FigureRow("map slots busy", lambda f: f.busy[0], "{:.1%}".format),
    FigureRow("reduce slots busy", lambda f: f.busy[1], "{:.1%}".format),
    FigureRow("slot time wasted", lambda f: f.wasted, "{:.1%}".format, True),
    FigureRow("ended at", lambda f: f.run_ended_ms, lambda ms: axis_time(round(ms)), True, True),
)


_BAR_LEAST = 32
"""The least room for a bar beside the words."""

_ROWS_LEAST = 3
"""Figures that are shown before anything else: how many jobs, and how long they took."""

_LEVEL = 0.005
"""A smaller difference of means is none."""


def _policy_heads(both: tuple[RunFigures, RunFigures]) -> list[str]:
    return cut_apart([figures.policy for figures in both], _VALUE)


def _lead_of_second(both: tuple[RunFigures, RunFigures]) -> float:
    """By what share of the slower run's mean time in the system the second one is ahead; below 0
    the first one is.
    """
    first, second = (each.in_system_ms or 0 for each in both)
    return (first - second) / max(first, second, 1)


def verdict(both: tuple[RunFigures, RunFigures]) -> str:
    """Which run is ahead: `hfsp ahead: 5 jobs, mean time −38%`.  The mean is that of the time in
    the system of all jobs submitted so far.
    """
    lead, jobs = _lead_of_second(both), both[1].done - both[0].done
    by_mean = abs(lead) >= _LEVEL
    ahead = lead > 0 if by_mean else jobs > 0
    if not by_mean and not jobs:
        return "level so far"
    more, mean = jobs if ahead else -jobs, f"mean time −{abs(lead):.0%}"
    if more < 0:
        return f"{both[ahead].policy} ahead: {mean}, though {count(-more, 'job')} fewer done"
    said = [count(more, "job")] * bool(more) + [mean] * by_mean
    return f"{both[ahead].policy} ahead: {', '.join(said)}"


def failure_words(both: tuple[RunFigures, RunFigures]) -> str:
    """Which run has failed, and why, in a line; empty if neither has."""
    said = (
        f"{each.policy} failed: {each.failure.splitlines()[0]}" for each in both if each.failure
    )
    return printable("; ".join(said))


class ComparisonFiguresPane(Pane):
    """Both runs so far."""

    key, heading = "4", "side by side"

    def show(self, frame: Frame) -> None:
        super().show(frame)
        self.set_subtitle("")

    def line(self, frame: Frame, y: int) -> Iterable[Span]:
        if frame.comparison is None:
            return ()
        lines = self._figures_and_divergence(frame.comparison)
        return lines[y] if y < len(lines) else ()

    def _figures_and_divergence(self, comparison: RunComparison) -> list[Iterable[Span]]:
        """The figures and the divergence, which comes before all but the first of them where there
        is no room for both.
        """
        divergence = list(self._divergence_lines(comparison))
        figures: list[Iterable[Span]] = [
            *self._lines_of_lead(comparison),
            self._policies_line(comparison),
        ]
        least = len(figures) + _ROWS_LEAST
        figures += [self._figure_line(row, comparison.figures) for row in FIGURE_ROWS]
        height = self.content_size.height
        if len(figures) + 1 + len(divergence) <= height:
            figures.append([("", self.ink())])
        if height - len(divergence) < least:
            divergence = divergence[:1]  # when it was; the events tell the rest
        return figures[: max(height - len(divergence), least)] + divergence

    def _lines_of_lead(self, comparison: RunComparison) -> Iterator[Iterable[Span]]:
        """Which run is ahead in one line, and by how much as a bar to its side; none is where one
        has failed.
        """
        if failed := failure_words(comparison.figures):
            lines = wrap(failed, max(self.content_size.width, 10), max_lines=3, placeholder=" …")
            yield from ([(line, self.ink(self.palette.fault, bold=True))] for line in lines)
            return
        said = (verdict(comparison.figures), self.ink(bold=True))
        width, beside = self.content_size.width, self.content_size.width - len(said[0]) - 3
        if beside >= _BAR_LEAST:
            yield [said, ("   ", self.ink()), *self._lead_bar(comparison.figures, beside)]
        else:
            yield [said]
            yield self._lead_bar(comparison.figures, width)

    def _lead_bar(self, both: tuple[RunFigures, RunFigures], width: int) -> Iterator[Span]:
        """A bar that grows from the middle towards the run that is ahead."""
        first, second = _policy_heads(both)
        half, lead = max((width - len(first) - len(second) - 3) // 2, 0), _lead_of_second(both)
        length = min(round(abs(lead) * half), half)
        left, right = (0, length) if lead > 0 else (length, 0)
        empty, full = self.ink(self.palette.faint), self.ink(self.palette.good)
        yield f"{first} ", self.ink(self.palette.dim)
        yield "─" * (half - left), empty
        yield "━" * left, full
        yield "│", self.ink()
        yield "━" * right, full
        yield "─" * (half - right), empty
        yield f" {second}", self.ink(self.palette.dim)

    def _policies_line(self, comparison: RunComparison) -> Iterator[Span]:
        palette = self.palette
        yield f"{'':<{_LABEL}}", self.ink()
        for side, name in enumerate(_policy_heads(comparison.figures)):
            front = side == comparison.lead
            ink = self.ink(palette.accent if front else palette.text, bold=front)
            yield f" {name:>{_VALUE}}", ink

    def _figure_line(self, row: FigureRow, both: tuple[RunFigures, RunFigures]) -> Iterator[Span]:
        palette = self.palette
        first, second = (row.of(figures) for figures in both)
        yield f"{row.label:<{_LABEL}}", self.ink(palette.dim)
        texts = ["–" if value is None else row.written(value) for value in (first, second)]
        if first is None or second is None or texts[0] == texts[1] or failure_words(both):
            yield from ((f" {text:>{_VALUE}}", self.ink()) for text in texts)
            return
        best = row.best(first, second)
        for side, text in enumerate(texts):
            strong = best == side
            yield f" {text:>{_VALUE}}", self.ink(palette.good if strong else None, bold=strong)
        more = second - first
        if row.relative:
            said = f"{more / first:+.0%}" if first else ""
        elif row.written(0).endswith("%"):
            said = f"{100 * more:+.1f} pp"
        else:
            said = f"{more:+,.0f}"
        if said.strip("+-0.% p"):
            yield f" {said.replace('-', '−'):>{_DIFFERENCE}}", self.ink(palette.dim)

    def _divergence_lines(self, comparison: RunComparison) -> Iterator[Iterable[Span]]:
        palette, divergence = self.palette, comparison.divergence
        width, height = self.content_size
        rows = 2 if height >= len(FIGURE_ROWS) + 7 else 1
        if divergence is None:
            if failure_words(comparison.figures):
                return
            yield [("no difference so far", self.ink(palette.dim))]
            return
        said = f"first difference at {clock(divergence.at_ms)}"
        yield [(said, self.ink(palette.warning, bold=True)), ("  d", self.ink(palette.accent))]
        names = _policy_heads(comparison.figures)
        for policy, line in zip(names, divergence.lines, strict=True):
            name = f"{policy}: "
            parts = wrap(line, max(width - len(name), 10), max_lines=rows, placeholder=" …")
            for number, part in enumerate(parts):
                head = name if number == 0 else " " * len(name)
                yield [(head, self.ink(palette.dim)), (part, self.ink())]
