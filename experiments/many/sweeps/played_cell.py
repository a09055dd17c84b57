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
        """The line of the error that says it in short: the first, but of a traceback the last.
        Empty if there is none.
        """
        first, *_, last = self.error.strip().split("\n") * 2
        return last if first.startswith("Traceback") else first

    @property
    def place(self) -> Place:
        """Where it stands among the others."""
        return Place(self.scenario, self.setting, self.policy, self.seed)
