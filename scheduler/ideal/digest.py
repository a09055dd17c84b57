"""A fingerprint of the code that decides what an ideal machine computes."""

from functools import cache
from pathlib import Path

from callboard.scheduler.numba_cache import package_digest


@cache
def source_digest() -> str:
    """Sixteen hexadecimal digits over this package's text, for results kept on disk."""
    return package_digest(Path(__file__).parent)
