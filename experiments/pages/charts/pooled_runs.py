"""The jobs of several seeds drawn as those of one run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.pages.charts.cell_table import CellTable, policy_labels
from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw
from callboard.experiments.run.run_result import RunResult
from callboard.journal.figures.tables import Ints, JobColumns


def pooled_runs(cells: Sequence[PlayedCell]) -> list[ChartRun]:
    """For each policy its jobs of all seeds together, of which only jobs can be drawn.

    NothingToDraw where no run has a result, or where there are several settings.
    """
    table = CellTable(cells)
    if len(table.settings) > 1:
        raise NothingToDraw("the sweep has several settings, whose jobs are not to be mixed")
    (setting,) = table.settings
    played = [table.results(setting, policy) for policy in table.policies]
    labels = policy_labels(table.policies)
    runs = [_pooled_run(label, each) for label, each in zip(labels, played, strict=True) if each]
    if not runs:
        raise NothingToDraw("no run has come to an end")
    return runs


def _pooled_run(label: str, results: Sequence[RunResult]) -> ChartRun:
    alone = [result.solo_ms for result in results]
    known = [each for each in alone if each is not None]
    return ChartRun(
        label=label,
        summary=results[0].summary,
        jobs=joined_jobs([result.jobs for result in results]),
        solo_ms=np.concatenate(known) if len(known) == len(alone) else None,
        seeds=len(results),
    )


def joined_jobs(tables: Sequence[JobColumns]) -> JobColumns:
    """The rows of all tables, under new numbers from 0 on."""
    columns: dict[str, Any] = {}
    for name in JobColumns.__dataclass_fields__:
        parts = [getattr(table, name) for table in tables]
        whole = isinstance(parts[0], tuple)
        columns[name] = tuple(x for part in parts for x in part) if whole else _joined_column(parts)
    columns["job"] = np.arange(len(columns["name"]), dtype=np.int64)
    return JobColumns(**columns)


def _joined_column(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts)
