"""What a watched run plays: a scenario, and what somebody has done to its world by hand.

Both are the same kind of thing.  A deed is one more strike in the script, or one more burst in the
timeline, so the run that somebody interferes with is the run of a scenario that says so.
"""

from collections.abc import Sequence
from typing import Self

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.plugins import load_policy
from callboard.experiments.simulation import RunOptions
from callboard.journal.replay.source import Intervene
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import Scenario, make_script
from callboard.scenarios.script import burst_jobs
from callboard.scenarios.timeline import BurstEntry
from callboard.scenarios.validation import check_slots
from callboard.scheduler.model import Millis


class TimedIntervention(msgspec.Struct, frozen=True):
    """Something done by hand, and when it takes effect."""

    at_ms: Millis
    intervention: Intervene


class ResolvedRun(msgspec.Struct, frozen=True):
    """All that `make_kernel` wants to know of what is played."""

    scenario: Scenario
    jobs: Sequence[JobSpec]
    script: Sequence[ScheduledFault]


class RunSpec(msgspec.Struct, frozen=True):
    """What to play; `script` as in `experiments.simulation.run_simulation`, `done` in the order of
    time.
    """

    scenario: Scenario
    jobs: Sequence[JobSpec]
    policy: str
    options: RunOptions = RunOptions()
    script: Sequence[ScheduledFault] | None = None
    done: tuple[TimedIntervention, ...] = ()

    def world(self) -> ResolvedRun:
        """The scenario with what was done by hand: a burst is one more entry of its timeline.

        Raises ScenarioError for jobs that this cluster cannot run.
        """
        scenario, jobs = self.scenario, list(self.jobs)
        script = list(make_script(scenario, jobs) if self.script is None else self.script)
        for each in self.done:
            script += [ScheduledFault(each.at_ms, fault) for fault in each.intervention.faults]
            if each.intervention.burst is not None:
                job = _named_anew(each.intervention.burst, jobs)
                entry = BurstEntry(at_s=each.at_ms / 1000, job=job)
                more = burst_jobs((entry,), scenario.seed, first=len(jobs))
                check_slots(scenario.cluster, more)
                jobs = sorted([*jobs, *more], key=_submitted)
                timeline = (*scenario.timeline, entry)
                scenario = msgspec.structs.replace(scenario, timeline=timeline)
        return ResolvedRun(scenario, jobs, script)

    def up_to(self, at_ms: Millis) -> Self:
        """The same without what is done after a moment."""
        return msgspec.structs.replace(
            self, done=tuple(each for each in self.done if each.at_ms <= at_ms)
        )

    def with_intervention(self, at_ms: Millis, intervention: Intervene) -> Self:
        """The same with one thing more, done at a moment after all others.

        Raises ScenarioError and PolicySpecError for what cannot be done.
        """
        for fault in intervention.faults:
            if isinstance(fault, SwitchPolicy):
                load_policy(fault.policy, self.scenario.parts)
        plan = msgspec.structs.replace(
            self, done=(*self.done, TimedIntervention(at_ms, intervention))
        )
        plan.world()
        return plan


def _submitted(job: JobSpec) -> Millis:
    return job.submit_ms


def _named_anew(job: ListedJob, jobs: Sequence[JobSpec]) -> ListedJob:
    """The burst's jobs under a name that nobody has yet."""
    wanted, number = job.name or "burst", 1
    name = wanted
    while any(each.name == name or each.name.startswith(f"{name}-") for each in jobs):
        number += 1
        name = f"{wanted}-{number}"
    return msgspec.structs.replace(job, name=name)
