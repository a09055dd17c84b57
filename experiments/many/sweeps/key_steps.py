"""What one key does: settings that differ from the first of their scenario in that key alone."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from callboard.experiments.many.seed_runs import Figure
from callboard.experiments.many.statistics import PairedComparison, compare_paired
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns


class KeyStep(NamedTuple):
    """From the first setting of a scenario to one in which only `key` has another value."""

    key: str
    first: SettingRuns
    other: SettingRuns

    @property
    def value(self) -> str:
        """What the key is set to there."""
        return dict(self.other.setting)[self.key]

    @property
    def policies(self) -> list[str]:
        """Those that were asked for in both settings."""
        return [name for name in self.first.runs.policies if name in self.other.runs.policies]

    def difference(self, policy: str, figure: Figure) -> PairedComparison:
        """The figure there against the first setting's, on the seeds that both have; on one of them
        where nothing is drawn in either.
        """
        both = self.other, self.first
        if all(each.runs.are_seeds_copies for each in both):
            both = self.other.without_copies(), self.first.without_copies()
        mine, before = (_figures_by_seed(each, policy, figure) for each in both)
        seeds = [seed for seed in mine if seed in before]
        return compare_paired([mine[seed] for seed in seeds], [before[seed] for seed in seeds])


def _figures_by_seed(group: SettingRuns, policy: str, figure: Figure) -> dict[int, float | None]:
    runs = group.runs
    return dict(
        zip(runs.seeds, runs.figures_of_policy(runs.policies.index(policy), figure), strict=True)
    )


def single_key_steps(groups: Iterable[SettingRuns]) -> Iterator[KeyStep]:
    """Every such pair, in the order of settings."""
    firsts: dict[str, SettingRuns] = {}
    for group in groups:
        first = firsts.setdefault(group.scenario, group)
        before, here = dict(first.setting), dict(group.setting)
        changed = [key for key in {**before, **here} if before.get(key) != here.get(key)]
        if len(changed) == 1 and changed[0] in here:
            yield KeyStep(changed[0], first, group)
