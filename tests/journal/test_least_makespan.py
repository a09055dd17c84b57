"""The least time for tasks on slots: exact for equal tasks, never above the best schedule."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.journal.figures.least_makespan import least_makespan


def least(rows: Sequence[Sequence[int]], slots: Sequence[int]) -> int:
    return least_makespan(np.array(rows, np.int64).reshape(len(rows), len(slots)), slots)


@pytest.mark.parametrize(
    ("lengths", "slots", "expected"),
    [
        ([5], 3, 5),
        ([5, 5, 5], 3, 5),
        ([5, 5, 5, 5], 3, 10),
        ([5] * 7, 3, 15),
        ([9, 1, 1], 2, 9),
        ([4, 4, 4, 1], 2, 8),  # work alone would say 7
        ([3, 3, 2, 2, 2], 2, 6),
        ([], 2, 0),
    ],
)
def test_on_equal_slots(lengths: list[int], slots: int, expected: int) -> None:
    assert least([[each] for each in lengths], [slots]) == expected


def test_a_fast_slot_does_more_of_equal_tasks() -> None:
    """In 12 the fast slot does three, each slow one does one."""
    assert least([[4, 12]] * 5, [1, 2]) == 12
    assert least([[4, 12]] * 6, [1, 2]) == 16


def test_types_without_slots_do_not_count() -> None:
    assert least([[4, 1]] * 2, [1, 0]) == 8


@settings(derandomize=True, deadline=None, max_examples=150)
@given(data=st.data(), slots=st.tuples(st.integers(1, 2), st.integers(0, 2)))
def test_no_schedule_beats_it(data: st.DataObject, slots: tuple[int, int]) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(1, 9)] * 2), max_size=5))
    assert least(rows, slots) <= best_schedule(tuple(rows), slots)


def best_schedule(rows: tuple[tuple[int, ...], ...], slots: tuple[int, ...]) -> int:
    """The end of the best of all schedules, by trying each slot for each task."""
    types = [kind for kind, count in enumerate(slots) for _ in range(count)]

    @cache
    def best(task: int, loads: tuple[int, ...]) -> int:
        if task == len(rows):
            return max(loads)
        return min(
            best(task + 1, (*loads[:slot], load + rows[task][types[slot]], *loads[slot + 1 :]))
            for slot, load in enumerate(loads)
        )

    return best(0, (0,) * len(types))
