"""COSHH's suggestions for one kind of slot: which classes of jobs each node type should serve.

The program (`scheduler.orders.coshh.linear_program`) is solved again when a class or a type comes
or goes, or when some part of the work or of the slots has changed by more than `change`; never for
a decision.

A class's **work** is the number of tasks of its jobs that are in the system or were submitted
within the last `memory_ms`: rates of arrival but for a common factor, and never 0 for a job that is
there.  For the first level the tasks of users with a min share count, times their weights.

What is learnt of a user's tasks moves all jobs of the user that have none of their own to go by, as
one (`cohorts`); those that have some on some types only are looked at one by one.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callboard.scheduler.left_to_right_sum import left_to_right_sum
from callboard.scheduler.model import JobId, Millis, SlotKind, stage_on
from callboard.scheduler.orders.coshh.cohorts import Cohort, Cohorts
from callboard.scheduler.orders.coshh.job_classes import GridCell, JobClasses
from callboard.scheduler.orders.coshh.linear_program import MatchingSolution, solve_matching
from callboard.scheduler.orders.coshh.task_times import NodeType, TaskTimes
from callboard.scheduler.view import JobView


@dataclass(slots=True, eq=False)
class _Counted:
    """A job that counts; `entry` is its place in the order in which jobs came.  Of one that has
    left `view` and `cohort` are None, and `cell` is where it was.
    """

    view: JobView | None
    user: str
    tasks: int
    entry: int
    cohort: Cohort | None = None
    cell: GridCell = -1


class CurrentMatching:
    """A matching in force, and what it was made for."""

    def __init__(self, change: float) -> None:
        self._ratio = 1 + change
        self._classes: tuple[int, ...] = ()
        self._parts: tuple[float, ...] = ()
        self.suggested: tuple[tuple[int, ...], ...] = ()
        self.rates: dict[int, float] = {}
        self.times_ms: dict[int, tuple[float, ...]] = {}
        self.solved = 0
        """How often the program was solved."""

    def update(
        self, classes: JobClasses, work: dict[int, float], slots: Sequence[int], *, anew: bool
    ) -> None:
        names = tuple(sorted(name for name, tasks in work.items() if tasks > 0))
        times = [classes.times_ms(name) for name in names]
        loads = [
            work[name] * min(each, default=0.0) for name, each in zip(names, times, strict=True)
        ]
        parts = (*_parts_of_total(loads), *_parts_of_total(slots))
        if not anew and names == self._classes and self._is_near(parts):
            return
        self._classes, self._parts = names, parts
        if not names:
            self.suggested, self.rates, self.times_ms = (), {}, {}
            return
        self.solved += 1
        found: MatchingSolution = solve_matching(times, [work[name] for name in names], slots)
        self.suggested = tuple(tuple(names[i] for i in each) for each in found.suggested)
        self.rates = dict(zip(names, found.rates, strict=True))
        self.times_ms = dict(zip(names, times, strict=True))

    def _is_near(self, parts: tuple[float, ...]) -> bool:
        return len(parts) == len(self._parts) and all(
            new <= old * self._ratio and old <= new * self._ratio
            for new, old in zip(parts, self._parts, strict=True)
        )


def _parts_of_total(amounts: Sequence[float]) -> list[float]:
    total = left_to_right_sum(amounts)
    return [each / total for each in amounts] if total else list(amounts)


class ClassMatcher:
    """Classes and matchings for one kind of slot."""

    def __init__(
        self,
        kind: SlotKind,
        times: TaskTimes,
        *,
        most: int,
        alike: float,
        memory_ms: Millis,
        change: float,
        guaranteed: Mapping[str, float],
    ) -> None:
        """`guaranteed` are the weights of the users with a min share."""
        self._kind = kind
        self._times = times
        self._most = most
        self._alike = alike
        self._memory_ms = memory_ms
        self.classes = JobClasses(most, alike)
        self.node_types: list[NodeType] = []
        self.slots: list[int] = []
        self.first, self.second = CurrentMatching(change), CurrentMatching(change)
        self._guaranteed = guaranteed
        self._jobs: dict[JobId, _Counted] = {}
        self._entered = 0
        self._cohorts = Cohorts()
        self._partly: dict[JobId, _Counted] = {}
        """Jobs that have been measured on some node types and not on all."""
        self.refiled: list[JobId] = []
        """Jobs that have come into another cohort; for the caller, who empties it."""
        self._tasks: Counter[tuple[GridCell, str]] = Counter()  # "": users without a min share
        self._leaving: list[tuple[Millis, JobId]] = []
        self._usual: dict[str, tuple[int, ...]] = {}
        self._grouped = 0

    def add_slots(self, node_type: NodeType, count: int) -> bool:
        """Add a node's slots (below 0: take away); True if its type, so every class, is new."""
        if node_type not in self.node_types:
            self.node_types.append(node_type)
            self.slots.append(0)
            self.slots[-1] += count
            self._reset_classes()
            self._solve_matching(anew=True)
            return True
        self.slots[self.node_types.index(node_type)] += count
        self._solve_matching()
        return False

    def enter(self, job: JobView, now_ms: Millis) -> bool:
        """A job with tasks of the kind has come; whether others' classes have changed by it."""
        self._entered += 1
        known = _Counted(job, job.user, job.total(stage_on(self._kind)), self._entered)
        self._jobs[job.job] = known
        self._put_into_cohort(known, job, self._hold_cell(job))
        self._forget_left_jobs(now_ms)
        return self._solve_matching()

    def leave(self, job: JobId, submitted_ms: Millis, now_ms: Millis) -> None:
        """A job has left; its work counts until its submission is `memory_ms` ago."""
        known = self._jobs.get(job)
        if known is not None:
            assert known.cohort is not None
            known.cell = known.cohort.cell
            self._cohorts.remove(known.cohort, known.entry, known.tasks)
            self._partly.pop(job, None)
            known.view = known.cohort = None
            heapq.heappush(self._leaving, (submitted_ms + self._memory_ms, job))
            self._forget_left_jobs(now_ms)
            self._solve_matching()

    def reclassify_after_learning(self, job: JobId) -> bool:
        """Task times have been learnt from a task of this job; whether any class has changed."""
        known = self._jobs[job]
        moved = self._move_to_current_cell(known)
        if self._prior_point_changed("") | self._prior_point_changed(known.user):
            moved |= self._reclassify_unmeasured_jobs()
        return moved and (self._solve_matching() or True)

    def cohort_of(self, job: JobId) -> Cohort:
        cohort = self._jobs[job].cohort
        assert cohort is not None, f"job {job} has left"
        return cohort

    def _hold_cell(self, job: JobView) -> GridCell:
        return self.classes.hold_cell(
            [self._times.mean_ms(job, self._kind, s) for s in self.node_types]
        )

    def _put_into_cohort(self, known: _Counted, job: JobView, cell: GridCell) -> None:
        """Put a job that holds the cell into its cohort, and count it there."""
        lacking = self._times.unmeasured_type_count(job.job, self._kind, self.node_types)
        unmeasured = lacking == len(self.node_types)
        what = (known.user, cell, self.classes.class_of(cell), known.entry, known.tasks)
        known.cohort = self._cohorts.add(*what, unmeasured=unmeasured)
        self._partly.pop(job.job, None)
        if lacking and not unmeasured:
            self._partly[job.job] = known
        self._add_work(cell, known.user, known.tasks)

    def _move_to_current_cell(self, known: _Counted) -> bool:
        """Look at a job's times again; whether it is in another cell now."""
        job, old = known.view, known.cohort
        assert job is not None
        assert old is not None
        cell = self._hold_cell(job)
        self.classes.release_cell(old.cell)
        self._add_work(old.cell, known.user, -known.tasks)
        self._cohorts.remove(old, known.entry, known.tasks)
        self._put_into_cohort(known, job, cell)
        self.refiled.append(job.job)
        return cell != old.cell

    def _add_work(self, cell: GridCell, user: str, tasks: int) -> None:
        """Add to the work of a cell; one without any is forgotten."""
        key = (cell, user if user in self._guaranteed else "")
        self._tasks[key] += tasks
        if not self._tasks[key]:
            del self._tasks[key]

    def _reclassify_unmeasured_jobs(self) -> bool:
        """Look again at all jobs that go by their users' times, in the order in which they came: at
        a cohort when its first one's turn comes, and its old cell is let go at its last one's.
        Which cells are held when they are joined anew depends on it.
        """
        turns: list[tuple[int, bool, Cohort | _Counted]] = []
        for cohort in self._cohorts.unmeasured():
            turns += (cohort.entries[0], False, cohort), (cohort.entries[-1], True, cohort)
        turns += [(known.entry, False, known) for known in self._partly.values()]
        left: dict[Cohort, GridCell] = {}
        moved = False
        for _, is_last, each in sorted(turns, key=lambda turn: turn[:2]):
            if isinstance(each, _Counted):
                moved |= self._move_to_current_cell(each)
            elif not is_last:
                left[each] = self._move_cohort_to_cell(each)
                moved |= left[each] != each.cell
            else:
                self.classes.release_cell(left[each], len(each.entries))
        return moved

    def _move_cohort_to_cell(self, cohort: Cohort) -> GridCell:
        """Have a cohort without times of its own hold the cell of its user; the one it was in."""
        old, user = cohort.cell, cohort.user
        times = [self._times.prior_ms(user, self._kind, each) for each in self.node_types]
        cohort.cell = self.classes.hold_cell(times, len(cohort.entries))
        cohort.number = self.classes.class_of(cohort.cell)
        self._add_work(old, user, -cohort.tasks)
        self._add_work(cohort.cell, user, cohort.tasks)
        return old

    def _reset_classes(self) -> None:
        """Classes by times on other node types; jobs that have left no longer count."""
        self.classes = JobClasses(self._most, self._alike)
        self._cohorts = Cohorts()
        self._partly.clear()
        self._usual.clear()
        self._leaving.clear()
        self._tasks.clear()
        self._jobs = {job: known for job, known in self._jobs.items() if known.view is not None}
        for known in self._jobs.values():
            assert known.view is not None
            self._put_into_cohort(known, known.view, self._hold_cell(known.view))
        self.refiled = list(self._jobs)
        self._renumber_cohorts()

    def _renumber_cohorts(self) -> None:
        for cohort in self._cohorts:
            cohort.number = self.classes.class_of(cohort.cell)

    def _prior_point_changed(self, user: str) -> bool:
        """Whether the place of the user's jobs without a completed task has changed."""
        usual = [self._times.prior_ms(user, self._kind, each) for each in self.node_types]
        place = self.classes.grid_point(usual)
        old, self._usual[user] = self._usual.get(user), place
        return old != place

    def _forget_left_jobs(self, now_ms: Millis) -> None:
        while self._leaving and self._leaving[0][0] <= now_ms:
            known = self._jobs.pop(heapq.heappop(self._leaving)[1])
            self._add_work(known.cell, known.user, -known.tasks)
            self.classes.release_cell(known.cell)

    def _solve_matching(self, *, anew: bool = False) -> bool:
        """Solve what has to be solved again; whether classes have been joined anew."""
        work: defaultdict[int, float] = defaultdict(float)
        preferred: defaultdict[int, float] = defaultdict(float)
        for (cell, user), tasks in sorted(self._tasks.items()):
            number = self.classes.class_of(cell)
            work[number] += tasks
            if user:
                preferred[number] += tasks * self._guaranteed[user]
        grouped = self._grouped != self.classes.groupings
        self._grouped = self.classes.groupings
        if grouped:
            self._renumber_cohorts()
        anew = anew or grouped
        self.first.update(self.classes, preferred, self.slots, anew=anew)
        self.second.update(self.classes, work, self.slots, anew=anew)
        return grouped
