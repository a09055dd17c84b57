"""The runs of a store side by side: by scenario and setting, and as rows of a table."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from callboard.experiments.many.seed_runs import (
    SeedRuns,
    mean_response_s,
    mean_slowdown,
    p95_response_s,
)
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.run.run_result import RunResult
from callboard.journal.export.rows import Columns, TableCell


class SettingRuns(NamedTuple):
    """What was played of one scenario in one setting: the runs of those seeds that every policy
    has, how many cells failed of each policy, and how many have not been played.
    """

    scenario: str
    setting: Setting
    runs: SeedRuns
    failures: tuple[int, ...]
    missing: int

    @property
    def failure_count(self) -> int:
        return sum(self.failures)

    def without_copies(self) -> "SettingRuns":
        """The same with one seed where all are one run."""
        return self._replace(runs=self.runs.without_copies())


def by_setting(cells: Iterable[PlayedCell]) -> list[SettingRuns]:
    """The cells by scenario and setting, in the order in which these came up."""
    groups: dict[tuple[str, Setting], list[PlayedCell]] = {}
    for cell in cells:
        groups.setdefault((cell.scenario, cell.setting), []).append(cell)
    return [_setting_runs(*where, group) for where, group in groups.items()]


def _setting_runs(scenario: str, setting: Setting, cells: Sequence[PlayedCell]) -> SettingRuns:
    policies = tuple(dict.fromkeys(cell.policy for cell in cells))
    results = {(cell.seed, cell.policy): cell.result for cell in cells}
    seeds = sorted({cell.seed for cell in cells if cell.result is not None})
    rows = tuple(tuple(results.get((seed, policy)) for policy in policies) for seed in seeds)
    failures = tuple(
        sum(bool(cell.error) for cell in cells if cell.policy == policy) for policy in policies
    )
    missing = sum(not cell.was_played for cell in cells)
    return SettingRuns(
        scenario, setting, SeedRuns(scenario, policies, tuple(seeds), rows), failures, missing
    )


def varied_keys(groups: Iterable[SettingRuns]) -> list[str]:
    """The keys whose values differ between the settings."""
    values: dict[str, set[str | None]] = {}
    settings = [dict(group.setting) for group in groups]
    for setting in settings:
        for key in setting:
            values.setdefault(key, {each.get(key) for each in settings})
    return [key for key, several in values.items() if len(several) > 1]


def columns_of_runs(cells: Sequence[PlayedCell]) -> Columns:
    """A row for each run, for CSV, Parquet and Python: where it stands, and its main figures."""
    keys = dict.fromkeys(key for cell in cells for key, _ in cell.setting)
    settings = [dict(cell.setting) for cell in cells]
    columns: Columns = {"scenario": [cell.scenario for cell in cells]}
    columns |= {key: as_numbers([each.get(key) for each in settings]) for key in keys}
    columns |= {
        "policy": [cell.policy for cell in cells],
        "seed": [cell.seed for cell in cells],
        "error": [cell.error or None for cell in cells],
    }
    for name, of in _FIGURES.items():
        columns[name] = [None if cell.result is None else of(cell.result) for cell in cells]
    return columns


_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", re.ASCII)


def number_or_text(text: str) -> int | float | str:
    """What a key is set to, a number where it is plainly written as one."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[2] else int(text)


def as_numbers(values: Sequence[TableCell]) -> list[TableCell]:
    """Values as they were written, as numbers if all of them are."""
    read = [number_or_text(each) if isinstance(each, str) else each for each in values]
    return list(values) if any(isinstance(each, str) for each in read) else read


_FIGURES: dict[str, Callable[[RunResult], TableCell]] = {
    "digest": lambda run: run.summary.digest,
    "jobs_completed": lambda run: run.summary.jobs.completed,
    "jobs_failed": lambda run: run.summary.jobs.failed,
    "mean_response_s": mean_response_s,
    "median_response_s": lambda run: run.summary.response_seconds.median,
    "p95_response_s": p95_response_s,
    "p99_response_s": lambda run: run.summary.response_seconds.p99,
    "max_response_s": lambda run: run.summary.response_seconds.max,
    "mean_waiting_s": lambda run: run.summary.waiting_seconds.mean,
    "mean_slowdown": mean_slowdown,
    "node_local_share": lambda run: run.summary.locality.node,
    "map_utilisation": lambda run: run.summary.utilisation.map,
    "reduce_utilisation": lambda run: run.summary.utilisation.reduce,
    "wasted_slot_s": lambda run: run.summary.slot_seconds.wasted,
    "virtual_s": lambda run: run.summary.virtual_seconds,
    "messages": lambda run: run.summary.messages,
    "wall_s": lambda run: run.wall_seconds,
    "processor_s": lambda run: run.processor_seconds,
}
"""The columns of a run that was played."""

TEXT_FIGURES = frozenset({"scenario", "policy", "error", "digest"})
"""The columns of text, beside those of keys with a value that is no number."""
