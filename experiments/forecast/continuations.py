"""Other futures of the same past: what had not ended by an instant is drawn anew.

Up to the instant such a run is the one that it continues, message by message: scheduling hangs on
what has happened, and tasks that had ended take what they took.  All others are drawn from those
(`tasks_to_come`), and jobs still to come from those that had come.
"""

from array import array
from collections.abc import Iterator, Mapping

import numpy as np
from msgspec.structs import replace

from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.experiments.forecast.known_state import KnownState, RunningTask, stages_of
from callboard.experiments.forecast.lengths import CensoredLengths
from callboard.experiments.forecast.tasks_to_come import SeenStage, TasksToCome
from callboard.experiments.run.run_spec import RunSpec
from callboard.scheduler.model import MAPS, REDUCES, STAGES, JobId, Locality, Millis, Stage

_FAR = 3
"""A shuffle that goes on for so many times as long as all that are known is of another kind."""

_LONG_SHUFFLE = f"reduces shuffle for over {_FAR} times as long as any has after its last map"

_CALLED: Mapping[Stage, str] = {MAPS: "maps", REDUCES: "reduces"}

ARRIVALS_MAX = 1000
"""At most that many jobs are still to come."""


class Continuations:
    """Of a run of recorded jobs, from what is known at an instant.  Jobs come on as they have come,
    until `last_arrival_ms` where that is known.
    """

    def __init__(
        self, spec: RunSpec, state: KnownState, last_arrival_ms: Millis | None = None
    ) -> None:
        self.spec = spec
        self.state = state
        self._last_arrival_ms = last_arrival_ms
        self._come = [job for job in spec.jobs if job.job in state.submitted]
        seen: dict[Stage, dict[JobId, SeenStage]] = {stage: {} for stage in STAGES}
        for job in self._come:
            for stage, tasks in stages_of(job.maps, job.reduces):
                seen[stage][job.job] = self._seen_stage(job, stage, tasks)
        self._lengths = {stage: TasksToCome(seen[stage]) for stage in STAGES}
        ready = [job.initialisation_ms for job in self._come if self._is_initialised(job)]
        waiting = [
            state.at_ms - job.submit_ms for job in self._come if not self._is_initialised(job)
        ]
        self._initialisations = CensoredLengths(ready, waiting)

    def why_no_interval(self, job: JobId) -> str:
        """Why no interval can be told of a job's end: what it has still to do is of lengths of
        which nothing, or a single one, is known.
        """
        spec = next(each for each in self._come if each.job == job)
        for stage, tasks in stages_of(spec.maps, spec.reduces):
            left = tasks - len(self.state.ended_tasks(job, stage, tasks))
            if left and stage == REDUCES and self._has_overlong_shuffle(spec):
                return _LONG_SHUFFLE
            why = self._lengths[stage].why_lengths_unknown(spec, _CALLED[stage]) if left else ""
            if why:
                return why
        return ""

    def _has_overlong_shuffle(self, job: JobSpec) -> bool:
        """Whether a reduce of it has shuffled far longer since its last map than any known one."""
        maps_done_ms = self.state.maps_done_ms.get(job.job)
        found = (self.state.running.get((job.job, REDUCES, task)) for task in range(job.reduces))
        open_ = [each.since_ms for each in found if each is not None and each.shuffled_ms is None]
        longest_ms = self._lengths[REDUCES].longest_shuffle_tail_ms(job)
        if maps_done_ms is None or not open_ or not longest_ms:
            return False
        return self.state.at_ms - max(maps_done_ms, min(open_)) > _FAR * longest_ms

    def _is_initialised(self, job: JobSpec) -> bool:
        return job.ready_ms <= self.state.at_ms

    def _seen_stage(self, job: JobSpec, stage: Stage, tasks: int) -> SeenStage:
        state, recorded = self.state, _recorded_tasks_of_job(job)
        ended = state.ended_tasks(job.job, stage, tasks)
        lengths = [recorded.nominal_ms(stage, task, self.spec.scenario.tasks) for task in ended]
        found = (state.running.get((job.job, stage, task)) for task in range(tasks))
        running = [self._worked_ms(each, stage) for each in found if each is not None]
        parts = [recorded.reduce(task) for task in ended] if stage == REDUCES else []
        return SeenStage(job, lengths, running, [(each.shuffle_ms, each.tail_ms) for each in parts])

    def _worked_ms(self, running: RunningTask, stage: Stage) -> float:
        """What it has done so far, as long as it would take on a node of speed 1, a map with its
        input there, a reduce without its shuffle.
        """
        since_ms = running.since_ms if stage == MAPS else running.shuffled_ms
        if since_ms is None:
            return 0.0
        factor = self._locality_factor(running.level) if stage == MAPS else 1.0
        return (self.state.at_ms - since_ms) * running.speed / factor

    def _locality_factor(self, level: Locality) -> float:
        return self.spec.scenario.tasks.locality_factor(level)

    # Drawing.

    def drawn_run(self, number: int) -> RunSpec:
        """Continuation `number`, always the same."""
        rng = np.random.default_rng([self.spec.scenario.seed, self.state.at_ms, number])
        jobs = [self._continued_job(job, rng) for job in self._come]
        jobs += self._jobs_still_to_come(jobs, rng)
        script = tuple(each for each in self.spec.script if each.at_ms <= self.state.at_ms)
        return replace(self.spec, jobs=tuple(jobs), script=script)

    def _continued_job(self, job: JobSpec, rng: np.random.Generator) -> JobSpec:
        state, recorded = self.state, _recorded_tasks_of_job(job)
        if job.job in state.finished_ms:
            return job
        columns = {
            name: array("q", getattr(recorded, name))
            for name in ("map_ms", "shuffle_ms", "tail_ms", "rest_ms")
        }
        for stage, tasks in stages_of(job.maps, job.reduces):
            draw = self._lengths[stage].length_law(job, rng)
            for task in range(tasks):
                if (job.job, stage, task) in state.ended:
                    continue
                running = state.running.get((job.job, stage, task))
                ms = draw(0.0 if running is None else self._worked_ms(running, stage))
                if stage == MAPS:
                    level = Locality(recorded.map_levels[task])
                    columns["map_ms"][task] = max(round(ms * self._locality_factor(level)), 1)
                else:
                    columns["rest_ms"][task] = round(ms)
                    self._draw_shuffle(columns, job, task, running, rng)
        failures = {
            of: tries for of, tries in recorded.failures.items() if (job.job, *of) in state.ended
        }
        killed_ms = job.killed_ms
        if killed_ms is not None and job.submit_ms + killed_ms > state.at_ms:
            killed_ms = None
        changes = {
            "killed_ms": killed_ms,
            "initialisation_ms": self._drawn_initialisation_ms(job, rng),
        }
        tasks_now = replace(recorded, **columns, failures=failures)
        return replace(job, recorded=tasks_now, **changes, **tasks_now.mean_lengths())

    def _drawn_initialisation_ms(self, job: JobSpec, rng: np.random.Generator) -> Millis:
        """Of one that still is, longer than it has been; as long again where no other had been."""
        if self._is_initialised(job):
            return job.initialisation_ms
        so_far_ms = self.state.at_ms - job.submit_ms
        drawn = self._initialisations.draw(rng, so_far_ms) if self._initialisations else 0
        return max(round(drawn or 2 * so_far_ms), so_far_ms + 1)

    def _draw_shuffle(
        self,
        columns: Mapping[str, "array[int]"],
        job: JobSpec,
        task: int,
        running: RunningTask | None,
        rng: np.random.Generator,
    ) -> None:
        """That of a reduce which is over stays; one that goes on does so for longer."""
        if running is not None and running.shuffled_ms is not None:
            return
        shuffle_ms, tail_ms = self._lengths[REDUCES].drawn_shuffle(job, rng)
        maps_done_ms = self.state.maps_done_ms.get(job.job)
        if running is not None and maps_done_ms is not None:
            tail_ms += self.state.at_ms - max(maps_done_ms, running.since_ms)
            shuffle_ms += self.state.at_ms - running.since_ms
        columns["shuffle_ms"][task], columns["tail_ms"][task] = shuffle_ms, tail_ms

    def _jobs_still_to_come(
        self, jobs: list[JobSpec], rng: np.random.Generator
    ) -> Iterator[JobSpec]:
        """Jobs that come after the instant, each like one that has come."""
        came_ms = sorted(job.submit_ms for job in jobs)
        gaps = np.diff(came_ms)
        if not len(gaps) or not gaps.any():
            return
        waited_ms = self.state.at_ms - came_ms[-1]
        between = CensoredLengths(gaps.tolist(), [waited_ms])
        at_ms = came_ms[-1] + between.draw(rng, waited_ms)
        for number in range(len(jobs), len(jobs) + min(len(jobs), ARRIVALS_MAX)):
            submit_ms = max(round(at_ms), self.state.at_ms + 1)
            if self._last_arrival_ms is not None and submit_ms > self._last_arrival_ms:
                return
            yield replace(jobs[rng.integers(len(jobs))], job=number, submit_ms=submit_ms)
            at_ms += between.draw(rng)


def _recorded_tasks_of_job(job: JobSpec) -> RecordedTasks:
    assert job.recorded is not None, "only what was recorded is continued"
    return job.recorded
