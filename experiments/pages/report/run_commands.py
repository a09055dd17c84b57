"""The commands that play again what is told of."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.run.run_spec import RunSpec, spec_options
from callboard.experiments.run.trust import trust_option
from callboard.journal.format import is_journal


class AskedWorld(msgspec.Struct, frozen=True):
    """How a scenario was asked for: by its name or path, with what set, and whether code that it
    names may run.
    """

    source: str
    setting: Setting = ()
    trust: bool = False


def comparison_commands(
    asked: AskedWorld, policies: Sequence[str], seeds: Sequence[int], *, slowdown: bool
) -> list[str]:
    """The command for policies on the same seeds; one for each seed where these are no range."""
    named = [word for policy in policies for word in ("--policy", policy)]
    low, high = min(seeds), max(seeds)
    options = [["--seed", str(seed)] for seed in seeds]
    if sorted(seeds) == list(range(low, high + 1)) and low < high:
        options = [["--seeds", f"{low}..{high}"]]
    return [
        _run_command_line(asked, [*named, *each, *["--slowdown"] * slowdown]) for each in options
    ]


def spec_command(asked: AskedWorld, spec: RunSpec) -> str:
    """The command for one run."""
    seed = [] if is_journal(Path(asked.source)) else ["--seed", str(spec.scenario.seed)]
    return _run_command_line(asked, ["--policy", spec.policy, *seed, *spec_options(spec)])


def journal_command(path: Path, policy: str) -> str:
    """The command for a recorded run."""
    return f"callboard run {shlex.quote(str(path))}{trust_option(policy)}"


def backtest_command_line(
    history: str, policies: Iterable[str], options: Iterable[str] = ()
) -> str:
    """How to learn how far predictions of a history are off under these policies."""
    named = [word for policy in policies for word in ("--policy", policy)]
    return shlex.join(["callboard", "backtest", history, *named, *options])


def _run_command_line(asked: AskedWorld, options: Sequence[str]) -> str:
    fixed = [word for key, value in asked.setting for word in ("--set", f"{key}={value}")]
    trusted = ["--trust"] * asked.trust
    return shlex.join(["callboard", "run", asked.source, *fixed, *options, *trusted])
