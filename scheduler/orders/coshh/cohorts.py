"""Cohorts: jobs of one user in one cell of task times, so that they are of one class.

Jobs of whose own tasks nothing has been measured have the times of their user, and so move
together: however many wait, a change of what is believed of their user moves one cohort.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sortedcontainers import SortedList

from callboard.scheduler.orders.coshh.job_classes import GridCell


@dataclass(slots=True, eq=False)
class Cohort:
    """`number` is their class; `entries` are their places in the order in which jobs came, `tasks`
    how many they have together.
    """

    user: str
    cell: GridCell
    number: int
    unmeasured: bool
    entries: SortedList[int] = field(default_factory=SortedList)
    tasks: int = 0


class Cohorts:
    """All cohorts of the jobs that are there."""

    def __init__(self) -> None:
        self._unmeasured: dict[str, list[Cohort]] = {}
        self._measured: dict[tuple[str, GridCell], Cohort] = {}

    def __iter__(self) -> Iterator[Cohort]:
        yield from self.unmeasured()
        yield from self._measured.values()

    def unmeasured(self) -> Iterator[Cohort]:
        for cohorts in self._unmeasured.values():
            yield from cohorts

    def add(
        self, user: str, cell: GridCell, number: int, entry: int, tasks: int, *, unmeasured: bool
    ) -> Cohort:
        """Put a job into its cohort, which is made if there is none."""
        if unmeasured:
            there = self._unmeasured.setdefault(user, [])
            cohort = next((each for each in there if each.cell == cell), None)
            if cohort is None:
                cohort = Cohort(user, cell, number, unmeasured)
                there.append(cohort)
        else:
            cohort = self._measured.get((user, cell))
            if cohort is None:
                cohort = self._measured[user, cell] = Cohort(user, cell, number, unmeasured)
        cohort.entries.add(entry)
        cohort.tasks += tasks
        return cohort

    def remove(self, cohort: Cohort, entry: int, tasks: int) -> None:
        """Take a job out of its cohort, which goes with its last."""
        cohort.entries.remove(entry)
        cohort.tasks -= tasks
        if cohort.entries:
            return
        if not cohort.unmeasured:
            del self._measured[cohort.user, cohort.cell]
            return
        there = self._unmeasured[cohort.user]
        there.remove(cohort)
        if not there:
            del self._unmeasured[cohort.user]
