"""Damaged inputs for the command line: `python -m trials.fuzz --inputs 100000`.

Scenarios, traces, journals, spellings of policies and whole command lines that are right are
damaged at random and given to `callboard`.  Each has to be taken or refused: exit status 0, 1 or 2,
never a traceback, and what is refused in one message and within two seconds of processor time.
Exit status 1 if any was not.
"""

import argparse
import contextlib
import io
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from callboard.arguments import whole_number_type
from callboard.cli import run_command_line
from callboard.scenarios.scenario_file import find_scenario
from trials.processor_limit import processor_limit

SECONDS_MAX = 2.0
"""Of processor time for what is refused."""

TAKEN_SECONDS_MAX = 60.0
"""For what is taken: a run may be long, and is left then."""

MESSAGE_MAX = 4000
"""Characters of a refusal."""

MEMORY_MAX = 3_000_000_000
"""Bytes of address space, most of them libraries; beyond it allocating fails."""

ODD = (
    *("", " ", "-", "--", "-1", "0", "-0.0", "1e999", "nan", "inf", "9" * 30, "0x10", "1_000"),
    *("é", "\N{SNOWMAN}", "\x1b[31m", "'", '"', "\\", "[", "]", "{", "}", "(", ")", "=", "+", ","),
    *("..", "/", "~", "%", "$HOME", "#", "\n", "\t", "true", "null", "x" * 3000),
)
"""What is put in the place of something."""

POLICIES = (
    "fifo",
    "fair(pools={a={weight=2,min_maps=3}})+delay(node=5,rack=5)+kill(interval_s=2)",
    "hfsp(half_speed=true)+preemptive",
    "coshh(size='oracle',users={bob={weight=2}})+late(cap=0.2)",
    "psbs(size='requested')+delay(skips=3)+mantri",
)

TRACE = "\n".join(f"job{n}\t{7 * n}\t7\t{n * 90_000_000}\t{n * 9000}\t{n * 70}" for n in range(9))


class FuzzResult(NamedTuple):
    """What became of an input: `taken`, `refused`, `left` after a minute, or what was wrong."""

    outcome: str
    seconds: float
    told: str = ""

    @property
    def is_flaw(self) -> bool:
        return self.outcome not in ("taken", "refused", "left")


class _LeftAlone(BaseException):
    """It has taken the time that it may."""


def try_command(arguments: list[str]) -> FuzzResult:
    """Give a command line to `callboard`, and see whether it is answered as it should be."""
    began, printed, complained = time.process_time(), io.StringIO(), io.StringIO()
    try:
        with (
            processor_limit(TAKEN_SECONDS_MAX, _LeftAlone()),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
        ):
            status: object = run_command_line(arguments)
    except _LeftAlone:
        return FuzzResult("left", TAKEN_SECONDS_MAX)
    except SystemExit as end:
        status = end.code
    except MemoryError:
        return FuzzResult("out of memory", time.process_time() - began)
    except BaseException:  # whatever it is, it is a flaw
        return FuzzResult("raised", time.process_time() - began, traceback.format_exc(limit=-4))
    return _judged(status, complained.getvalue(), time.process_time() - began)


def _judged(status: object, told: str, seconds: float) -> FuzzResult:
    if status not in (0, 1, 2, None):
        return FuzzResult(f"exit status {status}", seconds, told)
    if "Traceback" in told:
        return FuzzResult("traceback", seconds, told)
    if status != 2:
        return FuzzResult("taken", seconds)
    if not told.strip():
        return FuzzResult("refused without a word", seconds)
    if len(told) > MESSAGE_MAX:
        return FuzzResult("refused at length", seconds, told)
    if seconds > SECONDS_MAX:
        return FuzzResult("refused late", seconds, told)
    return FuzzResult("refused", seconds, told)


class Fuzzer:
    """Draws damaged inputs, in a folder of its own with a journal and files to begin with."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.kinds: Mapping[str, Callable[[np.random.Generator], list[str]]] = {
            "scenario": self._scenario,
            "trace": self._trace,
            "journal": self._journal,
            "policy": self._policy,
            "command line": self._command_line,
        }
        self._made = folder / "made.journal"
        scenario = str(find_scenario("two-jobs"))
        try_command(["run", scenario, "--policy", "fair", "--journal", str(self._made)])
        self._lines = tuple(
            [part.format(journal=self._made, folder=folder) for part in line.split()]
            for line in (
                "run two-jobs --policy fair --seed 3 --until 60",
                "run two-jobs --policy fifo --policy hfsp --json --set tasks.sigma=0.5",
                "show {journal} --job short",
                "explain {journal} 0",
                "diff {journal} {journal}",
                "export {journal} --to {folder}/out.csv",
                "export {journal} --to {folder}/out.html",
                "export {journal} --format swf --to {folder}/out.swf",
                "scenarios",
                "policies",
                "help run",
                "completion bash",
            )
        )

    def arguments(self, seed: int) -> tuple[str, list[str]]:
        """The kind of the seed's input and the command line that gives it."""
        random = np.random.default_rng([seed, 4])
        kind = tuple(self.kinds)[seed % len(self.kinds)]
        return kind, self.kinds[kind](random)

    def _scenario(self, random: np.random.Generator) -> list[str]:
        names = sorted(find_scenario("two-jobs").parent.glob("*.toml"))
        text = names[random.integers(len(names))].read_text(encoding="utf-8")
        path = self._folder / "damaged.toml"
        path.write_text(damaged_text(text, random), encoding="utf-8", errors="replace")
        return ["run", str(path), "--until", "1", "--policy", "fifo"]

    def _trace(self, random: np.random.Generator) -> list[str]:
        path = self._folder / "damaged.tsv"
        path.write_text(damaged_text(TRACE, random), encoding="utf-8", errors="replace")
        return ["run", str(path), "--until", "1", "--policy", "fifo", "--nodes", "4"]

    def _journal(self, random: np.random.Generator) -> list[str]:
        data = bytearray(self._made.read_bytes())
        for _ in range(random.integers(1, 4)):
            data[random.integers(len(data))] = random.integers(256)
        if random.random() < 0.3:
            del data[random.integers(len(data)) :]
        path = self._folder / "damaged.journal"
        path.write_bytes(bytes(data))
        return ["show", str(path)]

    def _policy(self, random: np.random.Generator) -> list[str]:
        text = damaged_text(POLICIES[random.integers(len(POLICIES))], random)
        return ["run", "two-jobs", "--until", "1", f"--policy={text}"]

    def _command_line(self, random: np.random.Generator) -> list[str]:
        line = list(self._lines[random.integers(len(self._lines))])
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(len(line) + 1))
            match random.integers(4):
                case 0:
                    line[at : at + 1] = []
                case 1:
                    line[at:at] = [_odd(random)]
                case 2:
                    line[at : at + 1] = [_odd(random)]
                case _:
                    line[at : at + 1] = [damaged_text(each, random) for each in line[at : at + 1]]
        return line or ["scenarios"]  # without any command it would open the screen


def damaged_text(text: str, random: np.random.Generator) -> str:
    """The text with one to three places cut out, doubled, or replaced by something odd."""
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(text) + 1))
        length = int(random.choice([0, 1, 1, 4, 20]))
        here = text[at : at + length]
        piece = (_odd(random), "", here * 2)[random.integers(3)]
        text = text[:at] + piece + text[at + length :]
    return text


def _odd(random: np.random.Generator) -> str:
    return ODD[random.integers(len(ODD))]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=whole_number_type(1), default=10_000, help="how many")
    parser.add_argument("--seed", type=whole_number_type(0), default=1, help="the first")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    counts: Counter[tuple[str, str]] = Counter()
    slowest = FuzzResult("refused", 0.0)
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer, "of", "inputs")  # so that `..` holds little, too
        folder.mkdir(parents=True)
        os.chdir(folder)
        fuzzer = Fuzzer(folder)
        for seed in range(options.seed, options.seed + options.inputs):
            kind, line = fuzzer.arguments(seed)
            result = try_command(line)
            counts[kind, result.outcome] += 1
            if result.outcome == "refused":
                slowest = max(slowest, result, key=lambda each: each.seconds)
            if result.is_flaw:
                shown = [part[:200] for part in line]
                print(f"seed {seed}: {result.outcome}: {shown}\n{result.told[:1500]}", flush=True)
        os.chdir("/")
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:14} {outcome:24} {count:,}")
    print(f"slowest refusal {slowest.seconds:.2f} s")
    flaws = sum(n for (_, outcome), n in counts.items() if FuzzResult(outcome, 0).is_flaw)
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
