"""A run among many: where it stands among them, and what it came to."""

import re
from pathlib import Path

import msgspec

from callboard.experiments.run.run_result import RunResult
from callboard.scheduler.model import Millis

_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (\w+)', re.MULTILINE)

Setting = tuple[tuple[str, str], ...]
"""What was varied: dotted keys of the scenario with their values as written; () if nothing was."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """What a sweep calls a content."""

    scenario: str
    setting: Setting
    policy: str
    seed: int


class CellOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a sweep asked of a run beside its place: its scenario's timeline or not, and its end."""

    faults: bool = True
    until_ms: Millis | None = None


class PlayedCell(msgspec.Struct, frozen=True):
    """A scenario in a setting, under a policy, with a seed.

    `result` is None for a run that failed, and `error` says why; both are empty while it has not
    been played.  `key` names its content (`content_key.task_key`); `options` are None where they
    are not known.
    """

    scenario: str
    setting: Setting
    policy: str
    seed: int
    result: RunResult | None = None
    error: str = ""
    key: str = ""
    options: CellOptions | None = None

    @property
    def was_played(self) -> bool:
        """Whether it came to a result, or to an error."""
        return self.result is not None or bool(self.error)

    @property
    def error_in_short(self) -> str:
        """The line of the error that says it in short: the first, with the line of a policy's file
        that follows it, but of a traceback the last.  Empty if there is none.
        """
        first, *_, last = self.error.strip().split("\n") * 2
        if first.startswith("Traceback"):
            return last
        frame = _FRAME.search(self.error)
        where = "" if frame is None else f" ({Path(frame[1]).name}, line {frame[2]}, in {frame[3]})"
        return first + where

    @property
    def place(self) -> Place:
        """Where it stands among the others."""
        return Place(self.scenario, self.setting, self.policy, self.seed)
