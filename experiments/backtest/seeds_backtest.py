"""A policy's backtests over several seeds: what is drawn (phases that no start tells, places of
inputs that no file names) varies, and the figures have intervals over it.
"""

from collections.abc import Callable
from typing import NamedTuple

from callboard.experiments.backtest.backtest import Backtest, JobError, JobErrors
from callboard.experiments.backtest.history_parts import HistoryPart
from callboard.experiments.many.statistics import Interval, interval

FIGURES: dict[str, Callable[[JobErrors], float | None]] = {
    "median error": lambda errors: errors.error_percentile(50),
    "p95": lambda errors: errors.error_percentile(95),
    "of the mean": lambda errors: errors.mean_response_error,
    "rank correlation": lambda errors: errors.rank_correlation,
}
"""The figures of a table, by its headings."""

CAUSES = {
    "initialised": "job initialisation",
    "waited_free": "load not in the file",
    "waited_full": "wait",
    "worked": "work",
}
"""The causes of errors, in the words of a table."""


class PolicyBacktest(NamedTuple):
    """What a policy would have made of the history, seed by seed."""

    policy: str
    runs: tuple[Backtest, ...]

    def figure_over_seeds(
        self, part: HistoryPart, of: Callable[[JobErrors], float | None]
    ) -> Interval:
        """A figure of a part's jobs: its mean over the seeds, and the interval of that."""
        return interval([of(part.errors_in(each)) for each in self.runs])

    def bias_by_cause(self, part: HistoryPart) -> dict[str, Interval] | None:
        """The error of the mean by its causes; None where the history does not tell them."""
        told = [part.errors_in(each).bias_by_cause for each in self.runs]
        return {
            words: interval([None if each is None else each[name] for each in told])
            for name, words in CAUSES.items()
            if any(told)
        } or None

    def predicted_response_ms(self, error: JobError) -> Interval:
        """A job's response over the seeds in which it ended, in milliseconds."""
        found = [each for run in self.runs for each in run.errors.jobs if each.job == error.job]
        return interval([each.predicted_ms for each in found])
