"""What `callboard backtest` prints: the errors by policy and part of the history, and by cause."""

from collections.abc import Iterator, Sequence
from math import isnan

from callboard.console import aligned_lines
from callboard.experiments.backtest.backtest import Backtest, JobError
from callboard.experiments.backtest.history_parts import HistoryPart, part_name_of_job
from callboard.experiments.backtest.seeds_backtest import CAUSES, FIGURES, PolicyBacktest
from callboard.experiments.many.statistics import Interval
from callboard.experiments.pages.figure_text import interval_text, skewed_words
from callboard.scheduler.registry.spelling import short_policy
from callboard.scheduler.text.quantities import (
    compared_durations,
    duration,
    with_sign,
)

TENFOLD = 10.0
"""A greater share of what was recorded is not told in percent."""

MORE_THAN_TENFOLD = "over tenfold"

_SIGNED = "of the mean"
_PLAIN = "rank correlation"


def error_lines(found: Sequence[PolicyBacktest], parts: Sequence[HistoryPart]) -> Iterator[str]:
    """A line for each policy and part, with the figures of its errors."""
    rows = [(f"{'':22}", *FIGURES)]
    for each in found:
        for part in parts:
            cells = (
                _figure_cell(name, each.figure_over_seeds(part, of)) for name, of in FIGURES.items()
            )
            rows.append((_row_title(each, part), *cells))
    return aligned_lines(rows, figures=True)


def cause_lines(found: Sequence[PolicyBacktest], parts: Sequence[HistoryPart]) -> Iterator[str]:
    """The error of the mean by its causes; nothing where the history tells none."""
    rows = [(f"{'of the mean, by cause':22}", *CAUSES.values())]
    for each in found:
        for part in parts:
            if causes := each.bias_by_cause(part):
                rows.append(
                    (
                        _row_title(each, part),
                        *(_figure_cell(_SIGNED, one) for one in causes.values()),
                    )
                )
    return aligned_lines(rows, figures=True) if len(rows) > 1 else iter(())


def skewed_error_words(found: Sequence[PolicyBacktest], parts: Sequence[HistoryPart]) -> str:
    """Of which policies and parts the seeds are too few for how skewed their errors are; empty for
    none.
    """
    of_mean = FIGURES[_SIGNED]
    return skewed_words(
        {
            _row_title(each, part): each.figure_over_seeds(part, of_mean)
            for each in found
            for part in parts
        }
    )


def job_lines(found: PolicyBacktest, parts: Sequence[HistoryPart]) -> Iterator[str]:
    """A line for each job, which says in which of several parts it is."""
    rows = [(f"{'job':22}", "recorded", "predicted", "error", *["part"][: len(parts) - 1])]
    for each in found.runs[0].errors.jobs:
        recorded, predicted = duration(each.recorded_ms), found.predicted_response_ms(each)
        error = error_percent_text(predicted.mean / each.recorded_ms - 1, signed=True)
        part = [part_name_of_job(each.job, parts)][: len(parts) - 1]
        rows.append((each.name[:29], recorded, _duration_text(predicted), error, *part))
    return aligned_lines(rows, figures=True)


def worst_lines(found: Backtest, *, of_seeds: bool = False) -> Iterator[str]:
    """The jobs that are predicted worst, and why; of several seeds by the first."""
    if found.worst:
        yield "worst predicted, with the first seed" if of_seeds else "worst predicted"
    for worst in found.worst:
        yield f"  {_job_error_words(worst.error)}"
        yield f"    {worst.why}"
        for line in worst.explained:
            yield f"    {line}"


def error_percent_text(value: float | None, *, signed: bool = False) -> str:
    """In percent, or in words where a percentage tells nothing; empty for None."""
    if value is None:
        return ""
    if value > TENFOLD:
        return MORE_THAN_TENFOLD
    return with_sign(value, ",.1%") if signed else f"{value:,.1%}"


def _row_title(found: PolicyBacktest, part: HistoryPart) -> str:
    policy = short_policy(found.policy)
    return f"{policy}, {part.name}" if part.name else policy


def _figure_cell(name: str, found: Interval) -> str:
    if isnan(found.mean):
        return ""
    if name == _PLAIN:
        return interval_text("{:.3f}".format, found)
    return interval_text(lambda mean: error_percent_text(mean, signed=name == _SIGNED), found)


def _duration_text(found: Interval) -> str:
    if found.half is None:  # of one run, which is told elsewhere too
        return duration(found.mean)
    return f"{duration(found.mean)} ± {duration(found.half)}"


def _job_error_words(error: JobError) -> str:
    recorded, predicted = compared_durations(error.recorded_ms, error.predicted_ms)
    off = error_percent_text(error.error, signed=True)
    return f"{error.name}: {recorded}, predicted {predicted} ({off})"
