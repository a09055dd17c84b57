"""The cells of a sweep as a table: what was varied, and each policy's figures in each setting."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from callboard.experiments.run_result import RunResult
from callboard.experiments.seed_runs import Figure
from callboard.experiments.statistics import (
    Interval,
    PairedComparison,
    compare_paired,
    interval,
)
from callboard.experiments.sweeps.played_cell import PlayedCell, Setting
from callboard.scheduler.registry.spelling import short_policy

SCENARIO = "scenario"
"""What stands for a key where cells are of several scenarios."""


class CellTable:
    """Cells by setting, policy and seed; those that failed or were not played have no result.

    Where there are several scenarios, which one it is counts as a key that was varied.
    """

    def __init__(self, cells: Iterable[PlayedCell]) -> None:
        self.cells = tuple(cells)
        self._several = len({cell.scenario for cell in self.cells}) > 1
        self.settings: tuple[Setting, ...] = tuple(
            dict.fromkeys(self._setting(cell) for cell in self.cells)
        )
        self.policies = tuple(dict.fromkeys(cell.policy for cell in self.cells))
        self.seeds = tuple(sorted({cell.seed for cell in self.cells}))

    def _setting(self, cell: PlayedCell) -> Setting:
        return ((SCENARIO, cell.scenario), *cell.setting) if self._several else cell.setting

    @cached_property
    def _results(self) -> dict[tuple[Setting, str, int], RunResult | None]:
        return {(self._setting(cell), cell.policy, cell.seed): cell.result for cell in self.cells}

    @property
    def failed(self) -> list[PlayedCell]:
        """The cells that failed, each with its `error`."""
        return [cell for cell in self.cells if cell.error]

    @property
    def missing(self) -> int:
        """How many cells have neither failed nor been played."""
        return sum(cell.result is None and not cell.error for cell in self.cells)

    @property
    def varied(self) -> dict[str, tuple[str, ...]]:
        """The keys that have several values, and these in the order in which they come."""
        found: dict[str, dict[str, None]] = {}
        for setting in self.settings:
            for key, value in setting:
                found.setdefault(key, {})[value] = None
        return {key: tuple(values) for key, values in found.items() if len(values) > 1}

    def results(self, setting: Setting, policy: str) -> list[RunResult | None]:
        """The results of a policy in a setting, by seed; None for what is not there."""
        return [self._results.get((setting, policy, seed)) for seed in self.seeds]

    def figures(self, setting: Setting, policy: str, figure: Figure) -> list[float | None]:
        """The figure, seed by seed."""
        found = self.results(setting, policy)
        return [None if result is None else figure(result) for result in found]

    def interval(self, setting: Setting, policy: str, figure: Figure) -> Interval:
        """The figure's mean over the seeds, with its interval."""
        return interval(self.figures(setting, policy, figure))

    def comparison(self, setting: Setting, policy: str, figure: Figure) -> PairedComparison:
        """The policy against the first one in the same setting, seed by seed."""
        first = self.figures(setting, self.policies[0], figure)
        return compare_paired(self.figures(setting, policy, figure), first)


def numbers_of(values: Sequence[str]) -> list[float] | None:
    """The values as numbers; None if one is none."""
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


def setting_label(setting: Setting, keys: Iterable[str]) -> str:
    """The setting in words, of these keys only: the last part of a key is enough where it is
    unlike the others' last parts.
    """
    wanted = list(keys)
    shown = [(short_key(key, wanted), value) for key, value in setting if key in wanted]
    return ", ".join(value if key == SCENARIO else f"{key} = {value}" for key, value in shown)


def short_key(key: str, keys: Sequence[str]) -> str:
    """`racks` for `cluster.racks`, unless another key ends so too."""
    last = key.rpartition(".")[2]
    alike = sum(other.rpartition(".")[2] == last for other in keys)
    return last if alike <= 1 else key


def policy_labels(policies: Sequence[str]) -> list[str]:
    """The policies as labels, shortened where that keeps them apart."""
    short = [short_policy(policy, 28) for policy in policies]
    return [
        policy if short.count(name) > 1 else name
        for policy, name in zip(policies, short, strict=True)
    ]
