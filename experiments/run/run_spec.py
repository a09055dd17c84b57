"""What is played: a scenario's world under a policy, with its interventions.

Equal specs give the same run, event for event and message for message.  An intervention is what a
scenario could say too: one more fault in the script, one more burst in the timeline.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.journal_paths import fresh_name
from callboard.experiments.run.interventions import Intervene, TimedIntervention
from callboard.experiments.run.plugins import load_architecture, load_policy
from callboard.journal.tell.time_format import seconds_in_full
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import Scenario, make_fault_script, make_jobs
from callboard.scenarios.timeline import BurstEntry
from callboard.scenarios.validation import check_demands, check_slots
from callboard.scheduler.model import Millis


class RunSpec(msgspec.Struct, frozen=True):
    """All that a run depends on.

    `jobs` and `script` are what the scenario's workload and timeline come to, in the order of time;
    `policy` is a spelling.  The run ends after `until_ms`; `tie_order` permutes simultaneous
    messages.  `interventions` are in the order of time.  A `patient` run goes on however long its
    preemption goes round (`experiments.livelock`).
    """

    scenario: Scenario
    jobs: tuple[JobSpec, ...]
    script: tuple[ScheduledFault, ...]
    policy: str
    until_ms: Millis | None = None
    tie_order: int | None = None
    interventions: tuple[TimedIntervention, ...] = ()
    patient: bool = False

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        policy: str = "",
        *,
        jobs: Sequence[JobSpec] | None = None,
        base_dir: str | Path | None = None,
        until_ms: Millis | None = None,
    ) -> Self:
        """The scenario under a policy, its first one unless named; `jobs` in place of its own.

        `base_dir` is where traces are looked for; without it those of failures are left out.
        ScenarioError where the scenario makes no sense.
        """
        if jobs is None:
            jobs = make_jobs(scenario, base_dir or ".")
        script = make_fault_script(scenario, jobs, base_dir)
        return cls(scenario, tuple(jobs), script, policy or scenario.policies[0], until_ms)

    @property
    def task_count(self) -> int:
        """How many tasks its jobs have."""
        return sum(job.maps + job.reduces for job in self.jobs)

    def with_interventions_applied(self) -> Self:
        """The same run with the interventions written in; ScenarioError if they do not fit."""
        scenario, jobs, script = self.scenario, list(self.jobs), list(self.script)
        for each in self.interventions:
            script += [ScheduledFault(each.at_ms, fault) for fault in each.intervention.faults]
            if each.intervention.burst is not None:
                entry = BurstEntry(
                    at_s=each.at_ms / 1000, job=_burst_under_new_name(each.intervention.burst, jobs)
                )
                from callboard.scenarios.bursts import burst_jobs

                more = burst_jobs((entry,), scenario.seed, jobs)
                check_slots(scenario.cluster, more)
                check_demands(scenario.cluster, more)
                jobs = sorted([*jobs, *more], key=lambda job: job.submit_ms)
                timeline = (*scenario.timeline, entry)
                scenario = msgspec.structs.replace(scenario, timeline=timeline)
        return msgspec.structs.replace(
            self, scenario=scenario, jobs=tuple(jobs), script=tuple(script), interventions=()
        )

    def without_later_interventions(self, at_ms: Millis) -> Self:
        """The same without the interventions after a moment."""
        return msgspec.structs.replace(
            self, interventions=tuple(each for each in self.interventions if each.at_ms <= at_ms)
        )

    def with_intervention(self, at_ms: Millis, intervention: Intervene) -> Self:
        """The same with one more, the last; ScenarioError or PolicySpecError if it cannot be."""
        parts = self.scenario.parts
        for fault in intervention.faults:
            if isinstance(fault, SwitchPolicy):
                load_policy(fault.policy, parts)
        more = TimedIntervention(at_ms, intervention)
        spec = msgspec.structs.replace(self, interventions=(*self.interventions, more))
        whole = spec.with_interventions_applied()
        load_architecture(self.policy, parts).check(whole.jobs, whole.script)
        return spec


def _burst_under_new_name(job: ListedJob, jobs: Sequence[JobSpec]) -> ListedJob:
    """The burst's jobs under a name that no job has yet."""

    def is_taken(name: str) -> bool:
        return any(each.name == name or each.name.startswith(f"{name}-") for each in jobs)

    name = fresh_name(job.name or "burst", is_taken)
    return msgspec.structs.replace(job, name=name)


def spec_options(spec: RunSpec) -> Iterator[str]:
    """What decides a run beside its scenario and its seed, as commands take it."""
    if spec.until_ms is not None:
        yield from ("--until", seconds_in_full(spec.until_ms))
    if spec.tie_order is not None:
        yield from ("--tie-order", str(spec.tie_order))
    if spec.patient:
        yield "--patient"
