"""Which file was meant, where there is none of a name."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from itertools import islice
from pathlib import Path

_NAMES_MAX = 1000
"""So many files of a folder are looked at."""


def likely_file(path: Path, names: Sequence[str] = ()) -> str | None:
    """What is called most like it, of these names and of its folder; None if nothing is."""
    known = {name: name for name in names}
    with suppress(OSError, ValueError):  # no folder, or no name that any could have
        there = sorted(islice(path.parent.iterdir(), _NAMES_MAX))
        there.sort(key=partial(_likeness, path))  # of two of a name the last counts
        known.update({each.stem: str(each) for each in there if each.is_file()})
    near = get_close_matches(path.stem[:200].lower(), known, n=1)
    return known[near[0]] if near else None


def _likeness(path: Path, other: Path) -> tuple[float, bool]:
    """How much a file's ending is like that of `path`, and whether it is a scenario's."""
    alike = SequenceMatcher(None, path.suffix, other.suffix).ratio() if path.suffix else 0.0
    return alike, other.suffix == ".toml"
