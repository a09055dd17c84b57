"""What differs between two drawings of a pane, line by line: over a network, and in the terminal,
what is written counts.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip


def changed_regions(old: Sequence[Strip], new: Sequence[Strip]) -> list[Region]:
    """The part of each line that differs; both have as many lines of the same width."""
    pairs = enumerate(zip(old, new, strict=True))
    return [_changed_part(was, now, y) for y, (was, now) in pairs if was != now]


def _changed_part(old: Strip, new: Strip, y: int) -> Region:
    was, now = list(old), list(new)
    before = _equal_prefix_length(zip(was, now, strict=False))
    left = min(len(was), len(now)) - before
    pairs = zip(reversed(was[len(was) - left :]), reversed(now[len(now) - left :]), strict=True)
    after = _equal_prefix_length(pairs)
    begin = _total_width(now[:before])
    return Region(begin, y, new.cell_length - begin - _total_width(now[len(now) - after :]), 1)


def _equal_prefix_length(pairs: Iterable[tuple[Segment, Segment]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _total_width(segments: Iterable[Segment]) -> int:
    return sum(segment.cell_length for segment in segments)
