"""Where the real traces are, if they are."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("CALLBOARD_TRACES", Path(__file__).parents[3] / "shared" / "traces"))


def trace(name: str) -> Path:
    """The trace of this name; skips the test where it is not at hand."""
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {FOLDER} (set CALLBOARD_TRACES to its folder)")
    return path
