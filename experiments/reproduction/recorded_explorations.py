"""What explorations came to where docs/reproduction.md was made, as `--explore --json` printed."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from callboard.experiments.reproduction.exploration import Explored

RECORDED_EXPLORATIONS = Path(__file__).with_name("recorded_explorations.json")


def explored_as_json(found: Sequence[Explored]) -> str:
    """As the command prints them."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()


@cache
def recorded_explorations() -> tuple[Explored, ...]:
    """The explorations that Callboard brings along."""
    if not RECORDED_EXPLORATIONS.exists():
        return ()
    return msgspec.json.decode(RECORDED_EXPLORATIONS.read_bytes(), type=tuple[Explored, ...])
