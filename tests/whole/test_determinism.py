"""A run is a function of (scenario, seed): S11, in processes that never heard of Hypothesis.

Hypothesis' pytest plugin makes Trio's scheduler deterministic, which users do not have; so each
run here is a fresh process, with its own PYTHONHASHSEED, and says that Hypothesis is not in it.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import io, sys
from pathlib import Path
from rich.console import Console
from msgspec.structs import replace
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from callboard.progress_line import run_progress

policy, driver, journal, watched = sys.argv[1:]
settings = ["workload.jobs=25", "cluster.heartbeat.phase_grid_ms=100"]
spec = replace(load_run("hfsp-test", settings), policy=policy)
how = {"driver": driver, "journal": Path(journal) if journal else None}
console = Console(file=io.StringIO(), force_terminal=True)
if watched:
    with run_progress(console, "run", len(spec.jobs)) as watcher:
        result = run_simulation(spec, watcher=watcher, **how)
else:
    result = run_simulation(spec, **how)
assert "hypothesis" not in sys.modules
assert result.summary.ties > 100, "the test wants simultaneous events"
print(result.summary.digest)
"""


def digest(
    policy: str = "fair",
    *,
    driver: str = "trio",
    journal: Path | None = None,
    watched: bool = False,
    hash_seed: int = 0,
) -> str:
    arguments = [policy, driver, str(journal or ""), "yes" if watched else ""]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return run_python(["-c", PROGRAM, *arguments], environment).strip()


def run_python(arguments: Sequence[str], environment: dict[str, str]) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def plain() -> str:
    return digest()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """The digest of a run that is recorded, and its journal."""
    journal = tmp_path_factory.mktemp("recorded") / "a.journal"
    return digest(journal=journal, hash_seed=8), journal.read_bytes()


@pytest.mark.parametrize("hash_seed", [1, 4242])
def test_the_digest_does_not_hang_on_hashes_or_trios_order(plain: str, hash_seed: int) -> None:
    assert digest(hash_seed=hash_seed) == plain


def test_the_digest_does_not_hang_on_who_watches(plain: str, recorded: tuple[str, bytes]) -> None:
    assert digest(watched=True, hash_seed=7) == plain
    assert recorded[0] == plain


def test_the_digest_does_not_hang_on_the_driver(plain: str) -> None:
    assert digest(driver="direct") == plain


def test_two_journals_of_one_run_are_the_same_bytes(
    recorded: tuple[str, bytes], tmp_path: Path
) -> None:
    digest(journal=tmp_path / "b.journal", hash_seed=1)
    assert (tmp_path / "b.journal").read_bytes() == recorded[1]


def test_another_policy_is_another_run(plain: str) -> None:
    assert digest("fifo") != plain
