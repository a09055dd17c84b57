"""What the tasks of one job took, from their attempts: lengths, shuffles, failures."""

from collections.abc import Iterable, Sequence
from statistics import median_low
from typing import NamedTuple

from callboard.actors.config import ATTEMPTS_MAX, SECONDS_MAX, TASKS_MAX
from callboard.actors.recorded_tasks import RecordedFailure, RecordedReduce
from callboard.histories.model.cluster_history import HistoryAttempt, HistoryJob, HistoryTask
from callboard.histories.model.import_report import Remarks
from callboard.scheduler.model import MAPS, REDUCES, Millis, Stage
from callboard.scheduler.text.scenario_error import ScenarioError

LONGEST_MS = int(SECONDS_MAX) * 1000
_NAMES = ("maps", "reduces")


class TimedTask(NamedTuple):
    """A task, the attempt that counts (the last that succeeded), how long that took, those that
    failed, by start, and with them those that were killed and are played.  Without a success what
    failed says how long it takes.
    """

    task: HistoryTask
    best: HistoryAttempt | None
    ms: Millis | None
    failed: tuple[HistoryAttempt, ...]
    stopped: tuple[HistoryAttempt, ...]


class TaskLengths:
    """Works the lengths of a job's tasks out, and notes what it had to assume."""

    def __init__(self, job: HistoryJob, source: str, remarks: Remarks) -> None:
        self._job = job
        self._source = source
        self._remarks = remarks
        self.maps = [self._timed_task(each) for each in job.tasks_of(MAPS)]
        self.reduces = [self._timed_task(each) for each in job.tasks_of(REDUCES)]
        booked = (_success_booked_ms(each) for each in self.maps)
        self._last_map_ms = max((at_ms for at_ms in booked if at_ms is not None), default=None)
        """When the master had booked the last map; None where that is not told."""

    def map_ms(self) -> list[Millis]:
        """What each map took, those that never ran last; empty if no map tells."""
        lengths = self._with_usual_lengths(
            MAPS, [each.ms for each in self.maps], self._job.maps_told
        )
        return lengths or self._lengths_until_killed()

    def _lengths_until_killed(self) -> list[Millis]:
        """Lengths by which no map of a killed job ends before that, if one had begun."""
        job, begun = self._job, any(each.task.attempts for each in self.maps)
        response_ms = (job.finish_ms or 0) - (job.submit_ms or 0)
        if job.ending != "killed" or not begun or not 0 < response_ms <= LONGEST_MS:
            return []
        note = "maps of jobs that were killed before one of them had ended: they run until then"
        self._remarks.add("guessed", note, job.place_in_file, len(self.maps))
        return [response_ms] * (
            len(self.maps) + self._number_of_missing_tasks(len(self.maps), job.maps_told, MAPS)
        )

    def reduce_parts(self) -> list[RecordedReduce]:
        """The parts of each reduce, those that never ran last."""
        parts = [self._parts_of_reduce(each) for each in self.reduces]
        waited = [each for each, known in parts if each is not None and not known]
        known = [each.shuffle_ms for each, all_known in parts if each is not None and all_known]
        usual_ms = median_low(known) if known else 0
        note = "reduces that waited for their job's last map: of the shuffle only what came after"
        self._remarks.add("inferred", note, self._job.place_in_file, len(waited))
        whole = [
            each
            if each is None or all_known
            else each._replace(shuffle_ms=max(each.shuffle_ms, usual_ms))
            for each, all_known in parts
        ]
        return self._reduces_with_missing(whole)

    def failures(self, stage: Stage) -> list[tuple[int, HistoryAttempt, RecordedFailure]]:
        """(task, attempt, failure) of every attempt that failed and can be played again."""
        found: list[tuple[int, HistoryAttempt, RecordedFailure]] = []
        for number, timed in enumerate(self.maps if stage == MAPS else self.reduces):
            failed = self._playable_attempts(timed)
            found += [(number, each, self._recorded_failure(stage, timed, each)) for each in failed]
        return found

    def _task_place_in_file(self, task: HistoryTask) -> str:
        """Where a task stands, for people."""
        return f"{self._job.file}:{task.line}"

    def _timed_task(self, task: HistoryTask) -> TimedTask:
        attempts = task.attempts_by_start()
        won = [each for each in attempts if each.ending == "succeeded"]
        failed = tuple(each for each in attempts if each.ending == "failed")
        best = won[-1] if won else None
        stopped = tuple(
            each
            for each in attempts
            if each.ending == "failed" or _was_killed_alone(each, task, best)
        )
        self._note_attempts(task, attempts, won, best)
        ms = self._ran_ms(best, task) if best is not None else None
        if ms is None:
            ran = [self._ran_ms(each, task) for each in failed]
            ms = max((each for each in ran if each is not None), default=None)
        return TimedTask(task, best, ms, failed, stopped)

    def _note_attempts(
        self,
        task: HistoryTask,
        attempts: Sequence[HistoryAttempt],
        won: Sequence[HistoryAttempt],
        best: HistoryAttempt | None,
    ) -> None:
        if len(attempts) == 1 == len(won) and not _by_another_clock(task, attempts[0]):
            return
        add, place = self._remarks.add, self._task_place_in_file(task)
        for each in attempts:
            if each.ending == "killed" and _was_killed_alone(each, task, best):
                add("inferred", _KILLED_ALONE, place)
            elif each.ending == "killed":
                beside = _ran_beside_another(each, task)
                add("dropped", _KILLED_BESIDE if beside else _KILLED_FOR_GOOD, place)
        apart = sum(_by_another_clock(task, each) for each in attempts)
        clocks = (
            "attempts by a clock apart from the master's: they begin before or end after their task"
        )
        add("inferred", clocks, place, apart)
        open_ = sum(each.ending == "unknown" for each in attempts)
        add("dropped", "attempts that have no end in the file", place, open_)
        again = "successes of tasks that succeeded again later: their outputs must have been lost"
        add("dropped", again, place, max(len(won) - 1, 0))

    def _ran_ms(self, attempt: HistoryAttempt, task: HistoryTask) -> Millis | None:
        """How long it ran, at least a millisecond; None where its times are of no use."""
        ran_ms = attempt.ran_ms
        if ran_ms is None:
            return None
        if ran_ms < 0:
            note = "attempts that end before they start: their length is not known"
            self._remarks.add("dropped", note, self._task_place_in_file(task))
            return None
        if ran_ms > LONGEST_MS:
            problem = f"an attempt runs for {ran_ms / 1000:,.0f} s"
            limit = f"the limit is {SECONDS_MAX:,.0f} s (are its times in milliseconds?)"
            raise ScenarioError(f"{problem}; {limit}", source=self._task_place_in_file(task))
        if ran_ms == 0:
            note = "attempts of no length: taken for a millisecond"
            self._remarks.add("inferred", note, self._task_place_in_file(task))
        return max(ran_ms, 1)

    def _with_usual_lengths(
        self, stage: Stage, lengths: Sequence[Millis | None], told: int | None
    ) -> list[Millis]:
        known = [each for each in lengths if each is not None]
        if not known:
            return []
        usual_ms, missing = (
            median_low(known),
            self._number_of_missing_tasks(len(lengths), told, stage),
        )
        note = f"{_NAMES[stage]} of which no length is known: the median of their job's"
        unknown = len(lengths) - len(known) + missing
        self._remarks.add("guessed", note, self._job.place_in_file, unknown)
        return [usual_ms if each is None else each for each in lengths] + [usual_ms] * missing

    def _number_of_missing_tasks(self, there: int, told: int | None, stage: Stage) -> int:
        """How many tasks the job had of which nothing is told."""
        total = max(there, told or 0)
        if total > TASKS_MAX:
            problem = f"{total:,} {_NAMES[stage]}; the limit is {TASKS_MAX:,}"
            raise ScenarioError(problem, source=self._job.place_in_file or self._source)
        return total - there

    def _parts_of_reduce(self, timed: TimedTask) -> tuple[RecordedReduce | None, bool]:
        """The parts of a reduce, None if unknown; and whether its whole shuffle is known."""
        best, ms, last_map_ms = timed.best, timed.ms, self._last_map_ms
        if ms is None:
            return None, True
        if best is None or best.start_ms is None:
            return RecordedReduce(0, 0, ms), True
        if best.shuffled_ms is None:
            return RecordedReduce(0, 0, self._reduce_ms_after_maps(best, ms)), True
        assert best.finish_ms is not None
        waited = last_map_ms is not None and last_map_ms > best.start_ms
        begin_ms = last_map_ms if waited and last_map_ms is not None else best.start_ms
        shuffled_ms = self._shuffle_end_within(best.shuffled_ms, best, timed.task)
        shuffle_ms = shuffled_ms - begin_ms
        if shuffle_ms < 0:
            note = "reduces whose shuffle ended before their job's last map: clocks are apart"
            self._remarks.add("inferred", note, self._task_place_in_file(timed.task))
            shuffle_ms = 0
        tail_ms = shuffle_ms if waited else shuffle_ms // max(len(self.maps), 1)
        return RecordedReduce(shuffle_ms, tail_ms, best.finish_ms - shuffled_ms), not waited

    def _reduce_ms_after_maps(self, attempt: HistoryAttempt, ms: Millis) -> Millis:
        """How long a reduce worked whose shuffle no file tells: it had to wait for its last map."""
        begun_ms, last_map_ms = attempt.start_ms, self._last_map_ms
        assert begun_ms is not None
        if last_map_ms is None or last_map_ms <= begun_ms:
            return ms
        note = "reduces whose shuffle is not told: they work from their job's last map on"
        self._remarks.add("inferred", note, self._job.place_in_file)
        return max(ms - (last_map_ms - begun_ms), 1)

    def _shuffle_end_within(
        self, shuffled_ms: Millis, best: HistoryAttempt, task: HistoryTask
    ) -> Millis:
        """When the shuffle ended, put between the attempt's start and its end."""
        assert best.start_ms is not None
        assert best.finish_ms is not None
        put_ms = min(max(shuffled_ms, best.start_ms), best.finish_ms)
        if put_ms != shuffled_ms:
            note = "shuffles that end outside of their attempt: put at its start or its end"
            self._remarks.add("inferred", note, self._task_place_in_file(task))
        return put_ms

    def _reduces_with_missing(self, parts: Sequence[RecordedReduce | None]) -> list[RecordedReduce]:
        known = [each for each in parts if each is not None]
        missing = self._number_of_missing_tasks(len(parts), self._job.reduces_told, REDUCES)
        if known:
            note = "reduces of which no length is known: the median of their job's"
            self._remarks.add(
                "guessed", note, self._job.place_in_file, len(parts) - len(known) + missing
            )
        usual = _median_reduce(known) if known else self._unknown_reduce(len(parts) + missing)
        return [usual if each is None else each for each in parts] + [usual] * missing

    def _unknown_reduce(self, reduces: int) -> RecordedReduce:
        """A reduce of a job in which none ever ran."""
        known = [each.ms for each in self.maps if each.ms is not None]
        note = "reduces of jobs in which no reduce tells its length: as long as the median map"
        self._remarks.add("guessed", note, self._job.place_in_file, reduces)
        return RecordedReduce(0, 0, median_low(known) if known else 1)

    def _playable_attempts(self, timed: TimedTask) -> list[HistoryAttempt]:
        """What failed or was killed and is played: as many failures as do not end a job that went
        on.
        """
        if not timed.stopped:
            return []
        lengths = [(each, self._ran_ms(each, timed.task)) for each in timed.stopped]
        known = [each for each, ms in lengths if ms is not None]
        add, place = self._remarks.add, self._task_place_in_file(timed.task)
        unknown = "failed or killed attempts of unknown length"
        add("dropped", unknown, place, len(lengths) - len(known))
        failed = [each for each in known if each.ending == "failed"]
        most = ATTEMPTS_MAX - 1 if timed.best is not None else ATTEMPTS_MAX
        note = "failures of a task that would end a job which went on (the limit is four)"
        add("dropped", note, place, max(len(failed) - most, 0))
        too_many = failed[most:]
        return [each for each in known if each not in too_many]

    def _recorded_failure(
        self, stage: Stage, timed: TimedTask, failed: HistoryAttempt
    ) -> RecordedFailure:
        assert failed.start_ms is not None
        assert failed.finish_ms is not None
        killed = failed.ending == "killed"
        ran_ms = max(failed.finish_ms - failed.start_ms, 1)
        if stage == MAPS:
            return RecordedFailure(ran_ms, killed=killed)
        if timed.best is None or timed.best.shuffled_ms is None:
            return RecordedFailure(self._reduce_ms_after_maps(failed, ran_ms), killed=killed)
        if failed.shuffled_ms is None:
            note = "reduces that failed in their shuffle: they fail when it ends"
            self._remarks.add("inferred", note, self._job.place_in_file)
            return RecordedFailure(1)
        return RecordedFailure(max(failed.finish_ms - failed.shuffled_ms, 1), killed=killed)


_KILLED_BESIDE = (
    "killed attempts beside another of their task (speculation): the policy played makes its own"
)
_KILLED_ALONE = (
    "attempts that were killed and whose task began anew later (preempted, lost): killed again"
    " after as long"
)
_KILLED_FOR_GOOD = (
    "killed attempts whose task did not succeed later (ended with their job), and reduces killed"
    " in their shuffle"
)


def _was_killed_alone(
    attempt: HistoryAttempt, task: HistoryTask, best: HistoryAttempt | None
) -> bool:
    """Whether an attempt was killed while it ran alone, and its task succeeded later; of a reduce,
    after its shuffle.
    """
    if attempt.ending != "killed" or best is None or _ran_beside_another(attempt, task):
        return False
    begun, again = attempt.start_ms, best.start_ms
    if begun is None or again is None or begun >= again:
        return False
    return best.shuffled_ms is None or attempt.shuffled_ms is not None


def _ran_beside_another(attempt: HistoryAttempt, task: HistoryTask) -> bool:
    """Whether another attempt of the task ran at the same time."""
    return any(_attempts_overlap(attempt, other) for other in task.attempts if other is not attempt)


def _by_another_clock(task: HistoryTask, attempt: HistoryAttempt) -> bool:
    """Whether an attempt does not lie within its task: nodes and master have clocks of their own,
    and lengths are differences of one clock.
    """
    begun, ended = attempt.start_ms, attempt.finish_ms
    early = None not in (begun, task.start_ms) and (begun or 0) < (task.start_ms or 0)
    late = None not in (ended, task.finish_ms) and (ended or 0) > (task.finish_ms or 0)
    return early or (late and attempt.ending == "succeeded")


def _attempts_overlap(one: HistoryAttempt, other: HistoryAttempt) -> bool:
    if one.start_ms is None or one.finish_ms is None:
        return False
    if other.start_ms is None or other.finish_ms is None:
        return False
    return one.start_ms < other.finish_ms and other.start_ms < one.finish_ms


def _success_booked_ms(timed: TimedTask) -> Millis | None:
    """When the master had booked a map's success: only then do reduces hear of it."""
    if timed.best is None:
        return None
    return timed.task.finish_ms or timed.best.finish_ms


def _median_reduce(parts: Iterable[RecordedReduce]) -> RecordedReduce:
    return RecordedReduce(*(median_low(column) for column in zip(*parts, strict=True)))
