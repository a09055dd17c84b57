"""Where the real traces are, and what released programs gave, if they are."""

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[3] / "shared"
FOLDER = Path(os.environ.get("CALLBOARD_TRACES", _SHARED / "traces"))
ORACLES = Path(os.environ.get("CALLBOARD_ORACLES", _SHARED / "oracles"))


def trace(name: str) -> Path:
    """The trace of this name; skips the test where it is not at hand."""
    return _found(FOLDER / name, "CALLBOARD_TRACES")


def oracle(name: str) -> Path:
    """The file of this name with what a released program gave; skips the test without it."""
    return _found(ORACLES / name, "CALLBOARD_ORACLES")


def _found(path: Path, variable: str) -> Path:
    if not path.is_file():
        pytest.skip(f"{path.name} is not in {path.parent} (set {variable} to its folder)")
    return path
