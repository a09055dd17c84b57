"""The rows of tables of figures: of whole runs, and of the jobs of a pool or a user."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite, isnan
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np

from callboard.experiments.many.seed_runs import Figure
from callboard.experiments.run.run_result import RunResult
from callboard.journal.figures.job_groups import completed_among, response_statistics, share_within
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.scheduler.text.quantities import duration

GroupKey = Literal["pool", "user"]
GROUP_KEYS: tuple[GroupKey, ...] = get_args(GroupKey)


class TableRow(NamedTuple):
    """One row: its label, where the figure comes from, how it is written, and which is best.

    `over_seeds` says whether a mean over several seeds tells something.  If `where` is there the
    row is left out where this is 0 in all runs.
    """

    label: str
    of: Figure
    write: Callable[[float], str]
    best: Callable[[Sequence[float]], float] | None = None
    over_seeds: bool = True
    where: Figure | None = None

    def tells_anything(self, runs: Iterable[RunResult]) -> bool:
        """Whether there is anything to say in a row of these runs."""
        asked = self.of if self.where is None else self.where
        known = [value for run in runs if (value := asked(run)) is not None and isfinite(value)]
        return bool(known) if self.where is None else any(known)


def _response_figure(name: str) -> Figure:
    return lambda run: getattr(run.summary.response_seconds, name, None)


def _slowdown_figure(name: str) -> Figure:
    return lambda run: getattr(run.slowdown and run.slowdown.statistics, name, None)


def write_seconds(seconds: float) -> str:
    """Seconds with a decimal where they are few."""
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.1f} s"


def _wasted_share(run: RunResult) -> float | None:
    time = run.summary.slot_seconds
    return time.wasted / time.total if time.total else None


def _speculative_attempts(run: RunResult) -> float | None:
    return run.summary.speculation.speculative_attempts


def _wall_seconds(run: RunResult) -> float | None:
    return None if isnan(run.wall_seconds) else run.wall_seconds


def _virtual_time_text(seconds: float) -> str:
    """As response times are rounded, so that none is longer than the run."""
    return duration(1000 * seconds)


def _row_if_nonzero(
    label: str,
    of: Figure,
    write: Callable[[float], str],
    best: Callable[[Sequence[float]], float] | None = None,
) -> TableRow:
    """The row of a count or share that is 0 in most runs."""
    return TableRow(label, of, write, best, where=of)


OUTCOME_ROWS = (
    TableRow("jobs completed", lambda run: run.summary.jobs.completed, "{:,.0f}".format),
    _row_if_nonzero("     failed", lambda run: run.summary.jobs.failed, "{:,.0f}".format),
    _row_if_nonzero("     killed", lambda run: run.summary.jobs.killed, "{:,.0f}".format),
    _row_if_nonzero("     unfinished", lambda run: run.summary.jobs.unfinished, "{:,.0f}".format),
    TableRow("response time, mean", _response_figure("mean"), write_seconds, min),
    TableRow("  median (p50)", _response_figure("median"), write_seconds, min),
    TableRow("  p95", _response_figure("p95"), write_seconds, min),
    TableRow("  p99", _response_figure("p99"), write_seconds, min),
    TableRow("  longest", _response_figure("max"), write_seconds, min),
    TableRow("slowdown, mean", _slowdown_figure("mean"), "{:,.1f}×".format, min),
    TableRow("  longest", _slowdown_figure("max"), "{:,.1f}×".format, min),
    TableRow("  norm l2", _slowdown_figure("l2"), "{:,.1f}×".format, min),
    TableRow("normalised performance", _slowdown_figure("snp"), "{:.2f}".format, max),
    TableRow("unfairness", _slowdown_figure("unfairness"), "{:.2f}".format, min),
    TableRow("data-local maps", lambda run: run.summary.locality.node, "{:.0%}".format, max),
    TableRow("map slots busy", lambda run: run.summary.utilisation.map, "{:.0%}".format),
    TableRow("reduce slots busy", lambda run: run.summary.utilisation.reduce, "{:.0%}".format),
    _row_if_nonzero("slot time wasted", _wasted_share, "{:.1%}".format, min),
    _row_if_nonzero("speculative attempts", _speculative_attempts, "{:,.0f}".format),
    TableRow(
        "  won",
        lambda run: run.summary.speculation.won,
        "{:,.0f}".format,
        where=_speculative_attempts,
    ),
    TableRow(
        "virtual time", lambda run: run.summary.virtual_seconds, _virtual_time_text, None, False
    ),
)
"""What a run came to, top to bottom."""

NOT_DONE_ROW = _row_if_nonzero(
    "jobs not done",
    lambda run: run.summary.jobs.unfinished,
    lambda jobs: f"{jobs:,.1f}".removesuffix(".0"),
)
"""Of a table of many settings: its means of runs that were cut off are of the other jobs alone."""

SLOWDOWN_WORDS = {
    "slowdown": "a job's response time over the least that it could take alone on the empty "
    "cluster; at least 1.",
    "norm l2": "the root of the mean of the squared slowdowns: a few very slow jobs weigh more in "
    "it than in the mean.",
    "normalised performance": "the geometric mean of 1 / slowdown over the jobs: 1 if each ran as "
    "if it were alone, less the longer they waited.",
    "unfairness": "how much 1 / slowdown differs from job to job, its standard deviation over its "
    "mean: 0 if all were slowed down alike.",
}
"""What the rows of slowdowns mean, in the glossary's sentences."""

SPEED_ROWS = (
    TableRow("time to decide", lambda run: run.scheduling.us_per_decision, "{:.1f} µs".format),
    TableRow("computed in", _wall_seconds, "{:.1f} s".format),
)
"""How long computing it has taken."""

TIES_LABEL = "  ties among them"

COST_ROWS = (
    TableRow("messages", lambda run: run.summary.messages, "{:,.0f}".format),
    TableRow(TIES_LABEL, lambda run: run.summary.ties, "{:,.0f}".format, None, False),
    *SPEED_ROWS,
)
"""What computing it has cost."""

TABLE_ROWS, VERBOSE_ROWS = (*OUTCOME_ROWS, *SPEED_ROWS), (*OUTCOME_ROWS, *COST_ROWS)
"""What `callboard run` prints, and with `--verbose`."""


def done_within_row(seconds: float) -> TableRow:
    """Which share of the jobs submitted had completed within that many seconds."""

    def share(run: RunResult) -> float | None:
        return share_within(run.jobs, run.jobs.job, seconds)

    return TableRow(f"jobs done within {seconds:,.15g} s", share, _PERCENT, max)


def run_as_json(result: RunResult, by: Sequence[GroupKey]) -> dict[str, object]:
    """A run as plain data, with its jobs by each of these keys."""
    groups = {f"by_{key}": figures_by_group(result, key) for key in by}
    return result.as_json() | groups


def figures_by_group(result: RunResult, by: GroupKey) -> dict[str, dict[str, object]]:
    """The jobs and response times of each pool or user, by name, as plain data."""
    return {
        name: {
            "submitted": len(mine),
            "completed": int(completed_among(result.jobs, mine).sum()),
            "response_seconds": msgspec.to_builtins(response_statistics(result.jobs, mine)),
        }
        for name in _group_names([result], by)
        for mine in [_jobs_of_group(result, by, name)]
    }


def group_rows(
    results: Sequence[RunResult], by: GroupKey, within_s: float | None = None
) -> tuple[TableRow, ...]:
    """For each pool or user how many jobs it has, and their response times; and, if that is asked,
    which share of them had completed within that many seconds.
    """
    names = _group_names(results, by)
    return tuple(row for name in names for row in _rows_of_group(by, name, within_s))


def _rows_of_group(by: GroupKey, name: str, within_s: float | None) -> Iterator[TableRow]:
    def of_group(figure: Callable[[JobColumns, Ints], float | None]) -> Figure:
        return lambda run: figure(run.jobs, _jobs_of_group(run, by, name))

    def response(figure: str) -> Figure:
        return of_group(lambda jobs, mine: getattr(response_statistics(jobs, mine), figure))

    def jobs_not_completed(jobs: JobColumns, mine: Ints) -> int:
        return len(mine) - int(completed_among(jobs, mine).sum())

    head, written = f"{name or _UNNAMED[by]}: jobs", "{:,.0f}".format
    yield TableRow(head, of_group(lambda _, mine: len(mine)), written)
    yield _row_if_nonzero("  not completed", of_group(jobs_not_completed), written)
    yield TableRow("  response time, mean", response("mean"), write_seconds, min)
    for label, of in _PERCENTILES:
        yield TableRow(f"    {label}", response(of), write_seconds, min)
    if within_s:
        within = of_group(lambda jobs, mine: share_within(jobs, mine, within_s))
        yield TableRow(f"  done within {within_s:,.15g} s", within, _PERCENT, max)


_UNNAMED: dict[GroupKey, str] = {"pool": "default (no pool)", "user": "(no user)"}
"""What jobs without a pool, which go to `default`, and without a user stand under."""
_PERCENT = "{:.1%}".format
_PERCENTILES = (("median (p50)", "median"), ("p95", "p95"), ("p99", "p99"))


def _jobs_of_group(result: RunResult, by: GroupKey, name: str) -> Ints:
    mine = [each == name for each in getattr(result.jobs, by)]
    return result.jobs.job[np.array(mine, np.bool_)]


def _group_names(results: Sequence[RunResult], by: GroupKey) -> list[str]:
    return sorted({name for result in results for name in getattr(result.jobs, by)})
