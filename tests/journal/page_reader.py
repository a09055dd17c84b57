"""The run in a page, read as the page's own scripts read it: the state at any moment."""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

_DATA = '<script type="application/json" id="run">'


def data_of(page: str) -> dict[str, Any]:
    """What stands in the element of the data, which ends at the first end tag of a script."""
    text = page.partition(_DATA)[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


def rows_at(
    columns: dict[str, Any], subjects: int, moments: Sequence[int]
) -> list[list[list[int]]]:
    """The row of each subject at the end of each of these milliseconds, which ascend."""
    width = len(columns["kinds"][0]) if columns["kinds"] else 0
    rows = [[0] * width for _ in range(subjects)]
    changes = zip(accumulate(columns["at"]), columns["of"], columns["kind"], strict=True)
    found, change = [], next(changes, None)
    for at_ms in moments:
        while change is not None and change[0] <= at_ms:
            added = columns["kinds"][change[2]]
            rows[change[1]] = [a + b for a, b in zip(rows[change[1]], added, strict=True)]
            change = next(changes, None)
        found.append(rows.copy())
    return found


def slots_at(
    columns: dict[str, Any], slots: int, moments: Sequence[int]
) -> list[list[tuple[int, ...]]]:
    """State, job, task and locality of each slot at each moment; (0,) of an empty one."""
    now: list[tuple[int, ...]] = [(0,)] * slots
    taken = zip(columns["job"], columns["task"], columns["level"], strict=True)
    changes = zip(accumulate(columns["at"]), columns["of"], columns["state"], strict=True)
    found, change = [], next(changes, None)
    for at_ms in moments:
        while change is not None and change[0] <= at_ms:
            _, of, letter = change
            told = next(taken) if letter >= "h" else now[of][1:]
            state = (ord(letter) - ord("a")) % 7
            now[of] = (state, *told) if state else (0,)
            change = next(changes, None)
        found.append(now.copy())
    return found


def sentences(log: dict[str, Any]) -> list[tuple[int, str]]:
    """When, and the sentence, of each line of the log."""
    numbers, found = iter(log["numbers"]), []
    for at, number in zip(accumulate(log["at"]), log["pattern"], strict=True):
        first, *rest = log["patterns"][number]
        found.append((at, first + "".join(f"{next(numbers)}{part}" for part in rest)))
    assert next(numbers, None) is None
    return found
