"""The cells of a sweep as a table: what was varied, and each policy's figures in each setting."""

from collections.abc import Iterable, Sequence

from callboard.experiments.many.seed_runs import Figure
from callboard.experiments.many.statistics import Interval, interval
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.many.sweeps.sweep_rows import by_setting
from callboard.experiments.run.run_result import RunResult
from callboard.scheduler.registry.spelling import short_policy, without_common_params

PARAMS_MAX = 28
"""The longest parameters of a part that a label has whole."""

SCENARIO = "scenario"
"""What stands for a key where cells are of several scenarios."""


class CellTable:
    """The runs of a sweep by setting and policy.

    Where there are several scenarios, which one it is counts as a key that was varied.  Of seeds
    that are all one run the first alone counts.
    """

    def __init__(self, cells: Iterable[PlayedCell]) -> None:
        self.cells = tuple(cells)
        groups = [group.without_copies() for group in by_setting(self.cells)]
        several = len({group.scenario for group in groups}) > 1
        self._runs = {
            ((SCENARIO, group.scenario), *group.setting) if several else group.setting: group.runs
            for group in groups
        }
        self.settings: tuple[Setting, ...] = tuple(self._runs)
        self.policies = tuple(dict.fromkeys(cell.policy for cell in self.cells))
        self.seeds = tuple(sorted({seed for group in groups for seed in group.runs.seeds}))

    @property
    def varied(self) -> dict[str, tuple[str, ...]]:
        """The keys that differ between the settings, and their values in the order in which they
        come; a setting may be without a key.
        """
        settings = [dict(setting) for setting in self.settings]
        keys = dict.fromkeys(key for setting in settings for key in setting)
        found = {key: dict.fromkeys(setting.get(key) for setting in settings) for key in keys}
        return {
            key: tuple(value for value in values if value is not None)
            for key, values in found.items()
            if len(values) > 1
        }

    @property
    def numbers_of_runs(self) -> list[int]:
        """How many runs each policy has that was played in a setting."""
        found = (len(self.results(s, policy)) for s in self.settings for policy in self.policies)
        return [number for number in found if number]

    def results(self, setting: Setting, policy: str) -> list[RunResult]:
        """What was played of a policy in a setting, in the order of seeds."""
        runs = self._runs[setting]
        return (
            runs.results_of_policy(runs.policies.index(policy)) if policy in runs.policies else []
        )

    def interval(self, setting: Setting, policy: str, figure: Figure) -> Interval:
        """The figure's mean over the seeds, with its interval; of no run where none was asked."""
        runs = self._runs[setting]
        if policy not in runs.policies:
            return interval(())
        return runs.mean(runs.policies.index(policy), figure)

    def difference(self, setting: Setting, policy: str, figure: Figure) -> Interval:
        """The policy's figure minus the first policy's in the same setting, seed by seed; of no run
        where one of the two was not asked.
        """
        runs = self._runs[setting]
        return runs.against_policy(policy, self.policies[0], figure).difference


def parsed_numbers(values: Sequence[str]) -> list[float] | None:
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
    """The policies as labels, shortened where that keeps them apart: of several of one head,
    `fair(…)` beside `fair`, a shortened one says what sets it apart.  One that stands there several
    times is numbered.
    """
    short = [short_policy(policy, PARAMS_MAX) for policy in policies]
    told = [
        name
        if name == policy
        else _distinguishing_label(policy, [each for each in policies if each != policy])
        for policy, name in zip(policies, short, strict=True)
    ]
    whole = [
        policy if told.count(name) > 1 else name
        for policy, name in zip(policies, told, strict=True)
    ]
    return [
        f"{name} #{whole[: place + 1].count(name)}" if whole.count(name) > 1 else name
        for place, name in enumerate(whole)
    ]


def _distinguishing_label(policy: str, others: Sequence[str]) -> str:
    """The policy without long parameters, but for those that others of its head do not have."""
    head = short_policy(policy, 0).replace("(…)", "")
    alike = [each for each in others if short_policy(each, 0).replace("(…)", "") == head]
    if not alike:
        return short_policy(policy, PARAMS_MAX)
    return without_common_params(policy, alike, PARAMS_MAX)
