"""The runs of a store side by side: by scenario and setting, and as rows of a table."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callboard.experiments.many.seed_runs import SeedRuns
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
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
    keys = list(dict.fromkeys(key for cell in cells for key, _ in cell.setting))
    columns: Columns = {name: [] for name in ("scenario", *keys, *_FIGURES)}
    for cell in cells:
        setting = dict(cell.setting)
        columns["scenario"].append(cell.scenario)
        for key in keys:
            columns[key].append(setting.get(key))
        for name, value in _figures_of_cell(cell).items():
            columns[name].append(value)
    return {**columns, **{key: as_numbers(columns[key]) for key in keys}}


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


def _figures_of_cell(cell: PlayedCell) -> dict[str, TableCell]:
    head: dict[str, TableCell] = {
        "policy": cell.policy,
        "seed": cell.seed,
        "error": cell.error or None,
    }
    if cell.result is None:
        return dict.fromkeys(_FIGURES) | head
    summary, slowdown = cell.result.summary, cell.result.slowdown
    response, waiting = summary.response_seconds, summary.waiting_seconds
    return head | {
        "digest": summary.digest,
        "jobs_completed": summary.jobs.completed,
        "jobs_failed": summary.jobs.failed,
        "mean_response_s": response.mean,
        "median_response_s": response.median,
        "p95_response_s": response.p95,
        "p99_response_s": response.p99,
        "max_response_s": response.max,
        "mean_waiting_s": waiting.mean,
        "mean_slowdown": None if slowdown is None else slowdown.statistics.mean,
        "node_local_share": summary.locality.node,
        "map_utilisation": summary.utilisation.map,
        "reduce_utilisation": summary.utilisation.reduce,
        "wasted_slot_s": summary.slot_seconds.wasted,
        "virtual_s": summary.virtual_seconds,
        "messages": summary.messages,
        "wall_s": cell.result.wall_seconds,
        "processor_s": cell.result.processor_seconds,
    }


_FIGURES = (
    *("policy", "seed", "error", "digest", "jobs_completed", "jobs_failed", "mean_response_s"),
    *("median_response_s", "p95_response_s", "p99_response_s", "max_response_s"),
    *("mean_waiting_s", "mean_slowdown", "node_local_share", "map_utilisation"),
    *("reduce_utilisation", "wasted_slot_s", "virtual_s", "messages", "wall_s", "processor_s"),
)

TEXT_FIGURES = frozenset({"scenario", "policy", "error", "digest"})
"""The columns of text, beside those of keys with a value that is no number."""
