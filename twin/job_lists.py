"""The lists of jobs in `lists`."""

from callboard.twin.columns import Tables


def remove_from_list(w: Tables, which: int, count: int, entry: int) -> int:
    """Remove the entry from a list of that many, and move up those behind it; the place it had."""
    at = 0
    while w.lists[which, at] != entry:
        at += 1
    for place in range(at, count - 1):
        w.lists[which, place] = w.lists[which, place + 1]
    return at
