"""What an experiment found, read by trace, discipline and point."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from callboard.experiments.ideal_study.cells import Point, RunOutcome
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.study_runs import Found
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.many import statistics


class SummaryLine(NamedTuple):
    """One discipline at one point, in seconds; `difference` is to the reference, run by run."""

    discipline: str
    point: Point
    mean: statistics.Interval
    spread: statistics.RunRange
    difference: statistics.Interval


class Results(NamedTuple):
    """A study and its outcomes."""

    study: Study
    found: Found

    def outcomes(self, trace: Trace, discipline: str, point: Point) -> list[RunOutcome]:
        """One outcome a run, in order of the runs."""
        cell = self.study.cell(trace, discipline, point)
        return [self.found[cell][run] for run in cell.runs(self.study.runs)]

    def mean_sojourns(self, trace: Trace, discipline: str, point: Point) -> list[float]:
        """The mean sojourn of each run, in seconds."""
        return [outcome.mean_s for outcome in self.outcomes(trace, discipline, point)]

    def summary_line(
        self, trace: Trace, discipline: str, point: Point, against: str
    ) -> SummaryLine:
        """The summary of a discipline at a point, against a reference discipline."""
        ours = self.mean_sojourns(trace, discipline, point)
        difference = statistics.paired_interval(ours, self.mean_sojourns(trace, against, point))
        return SummaryLine(
            discipline, point, statistics.interval(ours), statistics.run_range(ours), difference
        )

    def summary_lines(self, trace: Trace, against: str) -> Iterator[SummaryLine]:
        """All summaries of a trace, point by point."""
        for point, discipline in product(self.study.points, self.study.disciplines):
            yield self.summary_line(trace, discipline, point, against)
