"""A run among many: where it stands among them, and what it came to."""

import msgspec

from callboard.experiments.run.run_result import RunResult

Setting = tuple[tuple[str, str], ...]
"""What was varied: dotted keys of the scenario with their values as written; () if nothing was."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """What a sweep calls a content."""

    scenario: str
    setting: Setting
    policy: str
    seed: int


class PlayedCell(msgspec.Struct, frozen=True):
    """A scenario in a setting, under a policy, with a seed.

    `result` is None for a run that failed, and `error` says why; both are empty while it has not
    been played.  `key` names its content (`cell.cell_key`).
    """

    scenario: str
    setting: Setting
    policy: str
    seed: int
    result: RunResult | None = None
    error: str = ""
    key: str = ""

    @property
    def why(self) -> str:
        """The last line of the error, which says it in short; empty if there is none."""
        return self.error.strip().rpartition("\n")[2]

    @property
    def place(self) -> Place:
        """Where it stands among the others."""
        return Place(self.scenario, self.setting, self.policy, self.seed)
