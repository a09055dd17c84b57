"""From a history to recorded tasks: what each task took, where its input lay, what failed, and the
cluster that must have been there.  All that is inferred, guessed or dropped on the way is noted.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import ATTEMPTS_MAX, JOBS_MAX, SECONDS_MAX, SLOTS_MAX
from callboard.actors.job_spec import Amounts
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.histories.inference.cluster_inference import (
    ClusterInference,
    RecordedCluster,
    StatedCluster,
)
from callboard.histories.inference.draft_jobs import (
    UNKNOWN_LEVEL,
    DraftFinisher,
    DraftJob,
    FailedAttempt,
)
from callboard.histories.inference.task_lengths import LONGEST_MS, TaskLengths
from callboard.histories.model.attempt_log import AttemptLog, AttemptLogMaker
from callboard.histories.model.cluster_history import (
    NO_HOST,
    Ending,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
    HostNames,
)
from callboard.histories.model.container_amounts import Demands, inferred_capacity, slots_for
from callboard.histories.model.import_report import Remarks
from callboard.histories.model.tasks_file import ClusterRecording, RecordedJob, packed_inputs
from callboard.scheduler.model import CLEANUP, KINDS, SETUP, STAGES, Millis, Priority
from callboard.scheduler.text.scenario_error import ScenarioError

_ENDINGS: dict[Ending, str] = {
    "succeeded": "attempts that succeeded",
    "failed": "attempts that failed",
    "killed": "attempts that were killed",
    "unknown": "attempts whose end is not told",
}


class RecordingMaker:
    """Takes jobs one by one, and makes the recording of them."""

    def __init__(
        self, form: str, source: str, remarks: Remarks, hosts: HostNames | None = None
    ) -> None:
        self.hosts = hosts or HostNames()
        self.remarks = remarks
        self.stated: StatedCluster | None = None
        self.capacities: list[Amounts] = []
        """What nodes have besides slots, of those of which it is told."""
        self.jobs = self.tasks = self.attempts = 0
        self.begin_ms: Millis = 0
        """The first submission by the file's own clock, once all jobs are there."""
        self.log: AttemptLog | None = None
        """Every attempt of the jobs that count, once all are there."""
        self._log_maker = AttemptLogMaker()
        self._format = form
        self._source = source
        self._drafts: list[DraftJob] = []
        self._names: set[str] = set()
        self._times: dict[str, set[tuple[Millis | None, ...]]] = {}
        self._repeated: Counter[str] = Counter()
        self._inference = ClusterInference(self.hosts, remarks)

    def is_second_start(self, attempt: HistoryAttempt, place: str) -> bool:
        """Whether an attempt that starts on this line had started before, which is noted."""
        if attempt.start_ms is None:
            return False
        self.remarks.add("dropped", "second starts of an attempt: the first is kept", place)
        return True

    def ends_again(self, attempt: HistoryAttempt, ending: Ending, place: str) -> bool:
        """Whether an attempt that ends on this line had ended so before, which is noted, as is a
        success that is taken back.
        """
        if attempt.ending == ending != "unknown":
            self.remarks.add("dropped", "second ends of an attempt: the first is kept", place)
            return True
        if attempt.ending == "succeeded":
            note = "successes that were taken back: the outputs were lost, the task ran again"
            self.remarks.add("dropped", note, place)
        return False

    def priority_of_word(self, word: str | None, before: Priority, place: str) -> Priority:
        """The priority that Hadoop calls so; the one before for `DEFAULT`, as Hadoop 3 calls what
        its user did not set, and, which is noted, for no word of its.
        """
        if word is not None and word in Priority.__members__:
            return Priority[word]
        word = None if word == "DEFAULT" else word
        self.remarks.add("dropped", "priorities that Hadoop does not know", place, word is not None)
        return before

    def add(self, job: HistoryJob) -> bool:
        """Take a job, which the reader has come to the end of; whether it can be played."""
        times = (job.submit_ms, job.launch_ms, job.finish_ms)
        if times in self._times.setdefault(job.name, set()):
            self.remarks.add(
                "dropped", "jobs that were there before, with the same times", job.place_in_file
            )
            return False
        self._times[job.name].add(times)
        self._rename_repeated(job)
        if len(self._names) > JOBS_MAX:
            raise ScenarioError(f"over {JOBS_MAX:,} jobs", source=self._source)
        draft = self._draft_job(job)
        if draft is not None:
            self._drafts.append(draft)
            self._log_maker.add_job(job)
        return draft is not None

    def _rename_repeated(self, job: HistoryJob) -> None:
        """Give a job whose name another has a name of its own: `sort`, then `sort~2`."""
        name, number = job.name, self._repeated[job.name]
        while job.name in self._names:
            number += 1
            job.name = f"{name}~{number + 1}"
        self._repeated[name] = number
        note = "jobs of a name that was there before: renamed, as in `sort~2`"
        self.remarks.add("inferred", note, job.place_in_file, job.name != name)
        self._names.add(job.name)

    def finish(self) -> ClusterRecording:
        """The recording of all jobs; ScenarioError where none can be played."""
        if not self._drafts:
            dropped = self.remarks.with_fate("dropped")
            why = "".join(
                f"; {each.what}: {each.count:,}{each.places_in_words}" for each in dropped
            )
            problem = f"there is no job in it that can be played{why}"
            raise ScenarioError(problem, source=self._source)
        cluster = self._inference.cluster(self.stated, self._source)
        self.log = self._log_maker.attempt_log(self.hosts, cluster.renumbered)
        begin_ms = self.begin_ms = min(draft.submit_ms for draft in self._drafts)
        self._check_span(begin_ms)
        ordered = sorted(self._drafts, key=lambda draft: draft.submit_ms)
        late = sum(one.submit_ms > next_.submit_ms for one, next_ in pairwise(self._drafts))
        self.remarks.add("inferred", "jobs out of order: sorted by their submission", count=late)
        self._drafts = []
        finisher = DraftFinisher(cluster, begin_ms, self.remarks)
        jobs = tuple(map(finisher.recorded_job, ordered))
        span_ms = max(draft.end_ms for draft in ordered) - begin_ms
        demands = [job.demands for job in jobs]
        slots = self._slots_a_node(cluster, demands)
        kept = (cluster.nodes, cluster.rack_sizes, *slots)
        capacity = inferred_capacity(self.capacities, cluster.nodes, demands, slots, self.remarks)
        told = (cluster.names, jobs, span_ms, cluster.round_robin)
        return ClusterRecording(
            self._format, *kept, *told, capacity, self.remarks.cut_files_in_words
        )

    def _slots_a_node(
        self, cluster: RecordedCluster, demands: Sequence[Demands]
    ) -> tuple[int, int]:
        """The slots a node: as many as ran at once, or as containers fit if that is more."""
        ran, found = (cluster.map_slots, cluster.reduce_slots), []
        for kind, name, most in zip(KINDS, ("map", "reduce"), ran, strict=True):
            fits = min(slots_for(self.capacities, [each[kind] for each in demands]), SLOTS_MAX)
            note = f"{name} slots a node instead: as many of the smallest containers as fit"
            self.remarks.add("inferred", note, count=fits if fits > most else 0)
            found.append(max(fits, most))
        return found[0], found[1]

    def _count_job(self, job: HistoryJob) -> None:
        add = self.remarks.add
        self.jobs += 1
        self.tasks += len(job.maps) + len(job.reduces)
        add("read", "jobs")
        add("read", "maps", count=len(job.maps))
        add("read", "reduces", count=len(job.reduces))
        for task in job.own_tasks():
            self.attempts += len(task.attempts)
            for attempt in task.attempts:
                add("read", _ENDINGS[attempt.ending])
        add("read", "tasks that set up a job or clean up after it", count=len(job.others))

    def _draft_job(self, job: HistoryJob) -> DraftJob | None:
        lengths = TaskLengths(job, self._source, self.remarks)
        map_ms = lengths.map_ms()
        if not map_ms:
            self.remarks.add(
                "dropped", "jobs of which no map tells how long it takes", job.place_in_file
            )
            return None
        self._count_job(job)
        self._feed_cluster_inference(job)
        tasks, ran_on = _recorded_tasks_and_hosts(lengths, map_ms)
        failed = [
            FailedAttempt(stage, task, failure, attempt.host)
            for stage in STAGES
            for task, attempt, failure in lengths.failures(stage)
        ]
        submit_ms = self._submit_ms(job)
        recorded = self._recorded_job(job, tasks, submit_ms, failed)
        end_ms = max(_last_moment_ms(job), submit_ms)
        return DraftJob(recorded, job.place_in_file, submit_ms, end_ms, ran_on, failed)

    def _feed_cluster_inference(self, job: HistoryJob) -> None:
        for kind, tasks in zip(KINDS, (job.maps, job.reduces), strict=True):
            for task in tasks.values():
                for attempt in task.attempts:
                    self._inference.note_attempt(kind, attempt)

    def _recorded_job(
        self, job: HistoryJob, tasks: RecordedTasks, submit_ms: Millis, failed: list[FailedAttempt]
    ) -> RecordedJob:
        response_ms = None if job.finish_ms is None else job.finish_ms - submit_ms
        if response_ms is not None and response_ms < 0:
            self.remarks.add("dropped", "ends of jobs before their submission", job.place_in_file)
            response_ms = None
        note = 'estimates of users, for policies that say size="requested"'
        self.remarks.add("read", note, count=job.requested_ms is not None)
        killed_ms, attempts = self._killed_ms_and_max_attempts(job, response_ms, failed)
        auxiliary = self._auxiliary_ms(job)
        who = (job.name, job.user or "user", job.queue, job.priority, 0)
        note = "memory and vcores of containers, for architectures that place by resources"
        self.remarks.add("read", note, count=any(job.demands))
        kept = (killed_ms, job.requested_ms, response_ms)
        initialised_ms = self._initialisation_ms(job, submit_ms)
        return RecordedJob(*who, *kept, tasks, *auxiliary, job.demands, initialised_ms, attempts)

    def _initialisation_ms(self, job: HistoryJob, submit_ms: Millis) -> Millis:
        """How long it took until tasks of it might run: until its launch, as Hadoop calls that, but
        not beyond the first beginning of a task by the same clock.
        """
        if job.launch_ms is None:
            return 0
        begun = (each.start_ms for each in job.all_tasks() if each.start_ms)
        begun_ms = min(begun, default=job.launch_ms)
        note = "jobs of which a task began before they had been initialised: until then"
        self.remarks.add("inferred", note, job.place_in_file, begun_ms < job.launch_ms)
        found = min(max(min(job.launch_ms, begun_ms) - submit_ms, 0), LONGEST_MS)
        self.remarks.add("read", "jobs that took time to be initialised", count=found > 0)
        return found

    def _auxiliary_ms(self, job: HistoryJob) -> tuple[Millis, Millis]:
        """How long its setup and its cleanup took; 0 without one."""
        played: list[Millis] = []
        for purpose in (SETUP, CLEANUP):
            ran = (
                _auxiliary_ran_ms(each) for each in job.others.values() if each.purpose == purpose
            )
            played.append(next((ms for ms in ran if ms), 0))
        left_out = len(job.others) - sum(map(bool, played))
        note = "tasks to set up or clean up that did not succeed, or were for an attempt"
        self.remarks.add("dropped", note, job.place_in_file, left_out)
        return played[0], played[1]

    def _killed_ms_and_max_attempts(
        self, job: HistoryJob, response_ms: Millis | None, failed: list[FailedAttempt]
    ) -> tuple[Millis | None, int]:
        """When the job is killed, after its submission, and how many attempts its tasks have."""
        if job.ending not in ("killed", "failed"):
            note = "jobs whose end is not told: they are played to their end"
            self.remarks.add("guessed", note, job.place_in_file, job.ending == "unknown")
            return None, ATTEMPTS_MAX
        what = "jobs that were killed"
        if job.ending == "failed":
            what = "jobs that failed, and none of their tasks tells why"
            most = _fatal_failure_count(job, failed)
            note = f"jobs that failed before a task had {ATTEMPTS_MAX} times: so they do again"
            self.remarks.add("inferred", note, job.place_in_file, 0 < most < ATTEMPTS_MAX)
            if most:
                return None, most
        if response_ms is None:
            self.remarks.add(
                "dropped", f"ends of {what}, since it is not known when", job.place_in_file
            )
            return None, ATTEMPTS_MAX
        self.remarks.add(
            "inferred", f"{what}: killed so long after their submission", job.place_in_file
        )
        return response_ms, ATTEMPTS_MAX

    def _submit_ms(self, job: HistoryJob) -> Millis:
        if job.submit_ms is not None:
            return job.submit_ms
        launched = () if job.launch_ms is None else (job.launch_ms,)
        note = "jobs without a time of submission: submitted when the first thing happens to them"
        self.remarks.add("guessed", note, job.place_in_file)
        return min((*launched, *job.starts_ms()), default=0)

    def _check_span(self, begin_ms: Millis) -> None:
        for draft in self._drafts:
            if draft.submit_ms - begin_ms > LONGEST_MS:
                years = (draft.submit_ms - begin_ms) / 31_557_600_000
                problem = f'job "{draft.job.name}" is submitted {years:,.1f} years after the first'
                limit = f"a scenario may last {SECONDS_MAX:,.0f} s; import fewer files"
                raise ScenarioError(f"{problem}; {limit}", source=draft.place or self._source)


def _recorded_tasks_and_hosts(
    lengths: TaskLengths, map_ms: Sequence[Millis]
) -> tuple[RecordedTasks, NDArray[np.int32]]:
    """The tasks, their hosts by the file's numbers, and the host of each map."""
    reduces = lengths.reduce_parts()
    told = [each.best or (each.failed[-1] if each.failed else None) for each in lengths.maps]
    missing = len(map_ms) - len(told)
    best = told + [None] * missing
    inputs = [*(each.task.input_hosts for each in lengths.maps), *[()] * missing]
    levels = (None if each is None else each.level for each in best)
    tasks = RecordedTasks(
        array("q", map_ms),
        bytes(UNKNOWN_LEVEL if level is None else level for level in levels),
        array("q", (each.shuffle_ms for each in reduces)),
        array("q", (each.tail_ms for each in reduces)),
        array("q", (each.rest_ms for each in reduces)),
        {},
        *packed_inputs(inputs),
        0,
    )
    ran_on = [NO_HOST if each is None else each.host for each in best]
    return tasks, np.array(ran_on, dtype=np.int32)


def _fatal_failure_count(job: HistoryJob, failed: Sequence[FailedAttempt]) -> int:
    """How often a task failed that never succeeded, so that the job did; 0 if one that went on had
    failed as often.
    """
    blamed = (each for each in failed if not each.failure.killed)
    times = Counter((each.stage, each.task) for each in blamed)
    won = (
        (stage, number)
        for stage, tasks in zip(STAGES, (job.maps, job.reduces), strict=True)
        for number, (_, task) in enumerate(sorted(tasks.items()))
        if task.succeeded
    )
    survived = max((times.pop(each, 0) for each in won), default=0)
    most = min(max(times.values(), default=0), ATTEMPTS_MAX)
    return most if most > survived else 0


def _auxiliary_ran_ms(task: HistoryTask) -> Millis | None:
    """How long it took to succeed, at least a millisecond; None if it did not."""
    won = (each.ran_ms for each in task.attempts if each.ending == "succeeded")
    return next((min(max(ms, 1), LONGEST_MS) for ms in won if ms is not None and ms >= 0), None)


def _last_moment_ms(job: HistoryJob) -> Millis:
    """The last moment that the history tells of the job."""
    ends = [each.finish_ms for task in job.own_tasks() for each in task.attempts]
    return max((each for each in (job.finish_ms, *ends) if each is not None), default=0)
