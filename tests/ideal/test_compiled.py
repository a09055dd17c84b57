"""Where numba's machine code is kept, and what happens where it cannot be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.scheduler.numba_cache import numba_is_installed, package_digest

pytestmark = pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")

ROOT = Path(__file__).parents[2]
CALL = """
from callboard.scheduler.ideal import simulate
from callboard.scheduler.ideal.compiled import COMPILED_LOOPS
assert simulate("srpt", [0, 1], [5, 1], path="compiled").tolist() == [6, 2]
loop = COMPILED_LOOPS["smallest_first"]
stats = getattr(loop, "stats", None) or loop.__wrapped__.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def call(cache: Path) -> str:
    """Run `CALL` in a process of its own, with its cache there; hits and misses."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", CALL]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.soak
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    """And what it finds lies in a folder named after the sources, so it is never stale."""
    assert call(tmp_path) == "0 1"
    digest = package_digest(ROOT / "scheduler" / "ideal")
    assert [path.name for path in tmp_path.iterdir()] == [f"callboard-ideal-{digest}"]
    assert call(tmp_path) == "1 0"


@pytest.mark.soak
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    """A file where the folder should be: each process compiles anew, and all is well."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert call(blocked) == "0 1"
    assert call(blocked) == "0 1"
