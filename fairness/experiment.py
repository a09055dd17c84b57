"""A scenario under a policy, played as often as a property wants it, and what came of it.

Beside the events a run keeps what the master believed after each message: how many tasks of each
job ran, and how many waited.  From these every decision can be seen as it was made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.central.central import Central
from callboard.actors.config import node_facts
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import ActorFailed, Kernel, KernelError
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import AnyEvent, AttemptLaunched, Event, RunEnded
from callboard.actors.vocabulary.faults import ResumeMaster
from callboard.experiments.error_messages import failure_line
from callboard.experiments.run.plugins import is_architecture, load_architecture, load_policy
from callboard.experiments.run.run_result import LIVELOCK
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.fairness.variants import without_unsupported_faults
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.findings import Violation
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.entitlements import Entitlement, EntitlingOrder
from callboard.scheduler.model import JobId, Millis, SlotKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.parts import PartSettings
from callboard.scheduler.view import ClusterView

E = TypeVar("E", bound=Event)

CountsByJob = Mapping[JobId, int]

EXPERIMENT_MAX_MS: Millis = 28_800_000
"""A run of a drawn scenario takes minutes; one of eight hours will not end at all."""


class Observation(NamedTuple):
    """After a message: how many tasks of each job run, how many could, and what was launched."""

    at_ms: Millis
    running: tuple[CountsByJob, CountsByJob]
    pending: tuple[CountsByJob, CountsByJob]
    launches: tuple[AttemptLaunched, ...]


class LaunchDecision(NamedTuple):
    """A launch, and what each job ran and had to launch just before it, of the launch's kind."""

    launch: AttemptLaunched
    running: CountsByJob
    pending: CountsByJob

    @property
    def other_waiting_jobs(self) -> Iterator[JobId]:
        """The other jobs that had something to launch too."""
        return (job for job, left in self.pending.items() if left and job != self.launch.job)


class BooksObserver(Onlooker, Probe):
    """Notes what the policy's view says after each message and, if asked, its order's
    `entitlements`.
    """

    def __init__(self, *, entitlements: bool) -> None:
        self.observations: list[Observation] = []
        self.entitlement_log: list[tuple[Millis, Sequence[Entitlement]]] = []
        self._entitlements = entitlements

    def begin(self, kernel: Kernel[AnyEvent], architecture: Architecture) -> None:
        self._architecture = architecture
        for address in architecture.schedulers():
            kernel.probe(address, self)

    def after_message(self, actor: Any, message: Any, noted: Sequence[AnyEvent]) -> None:  # noqa: ARG002
        if isinstance(message, ResumeMaster):
            return  # what it held back has been looked at, message by message
        view, policy = self._architecture.view, self._architecture.policy
        assert view is not None
        assert policy is not None
        order = policy.order
        launches = tuple(event for event in noted if isinstance(event, AttemptLaunched))
        running, pending = (
            _task_counts_by_job(view, "running"),
            _task_counts_by_job(view, "pending"),
        )
        last = self.observations[-1] if self.observations else None
        if launches or last is None or (last.running, last.pending) != (running, pending):
            self.observations.append(Observation(view.now_ms, running, pending, launches))
        if self._entitlements and isinstance(order, EntitlingOrder):
            due = order.entitlements(SlotKind.MAP, view, "pool")
            self.entitlement_log.append((view.now_ms, due))


def _task_counts_by_job(view: ClusterView, what: str) -> tuple[CountsByJob, CountsByJob]:
    maps, reduces = (
        {job.job: getattr(job, what)(kind) for job in view.jobs()} for kind in SlotKind
    )
    return maps, reduces


@dataclass(frozen=True, eq=False)
class ObservedRun:
    """A run that is over, with the master's beliefs, how often each rule was checked, entitlements
    if asked for, and the `trouble` that ended it early: a broken rule, an exception, a stuck run.
    Where no master decides by a policy there is none, and no beliefs.
    """

    scenario: Scenario
    jobs: Mapping[JobId, JobSpec]
    masters_policy: Policy | None
    events: Sequence[AnyEvent]
    observations: Sequence[Observation]
    entitlement_log: Sequence[tuple[Millis, Sequence[Entitlement]]]
    checked: Mapping[str, int]
    trouble: Violation | KernelError | None

    @property
    def policy(self) -> Policy:
        """The master's, of a run that has one."""
        assert self.masters_policy is not None
        return self.masters_policy

    def events_of_type(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if type(event) is kind]

    @property
    def why_unfinished(self) -> str:
        """Why it did not come to its end, in a line; empty if it did."""
        if self.trouble is not None:
            return failure_line(self.trouble)
        reason, at_s = self.end_event.reason, self.end_event.at_ms / 1000
        if reason == LIVELOCK:
            return f"preemption went round for {at_s:,.0f} s, and nothing succeeded"
        return "" if reason == "complete" else f"the run had not ended after {at_s:,.0f} s"

    @property
    def violation(self) -> Violation | None:
        return self.trouble if isinstance(self.trouble, Violation) else None

    @property
    def end_event(self) -> RunEnded:
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last

    @cached_property
    def launch_decisions(self) -> list[LaunchDecision]:
        """Every launch but speculative ones, as the master saw the jobs when it decided it."""
        return [each for look in self.observations for each in _launch_decisions(look)]

    @property
    def heartbeat_round_ms(self) -> Millis:
        """From the arrival of a node's heartbeat to that of its next one: H + 2ℓ."""
        return self.scenario.cluster.heartbeat_cycle_ms()

    @property
    def launch_gap_ms(self) -> Millis:
        """δ = H + 3ℓ, the longest time from when a slot is free to the next launch on it."""
        return self.heartbeat_round_ms + self.scenario.cluster.latency_ms

    def slot_count(self, kind: SlotKind) -> int:
        facts = node_facts(self.scenario.cluster)
        return sum((node.map_slots, node.reduce_slots)[kind] for node in facts)


def _launch_decisions(observation: Observation) -> list[LaunchDecision]:
    """The launches of one message, undone one by one from the last."""
    running = tuple(dict(each) for each in observation.running)
    pending = tuple(dict(each) for each in observation.pending)
    found: list[LaunchDecision] = []
    for launch in reversed(observation.launches):
        kind, job = launch.kind, launch.job
        if job in running[kind]:
            running[kind][job] -= 1
            if not launch.original:
                pending[kind][job] += 1
        if not launch.original:
            found.append(LaunchDecision(launch, dict(running[kind]), dict(pending[kind])))
    return found[::-1]


MakePolicy = Callable[[str, PartSettings], Policy]
"""Makes a policy from its spelling and from a scenario's settings of parts."""


class Experiment:
    """A scenario under a policy, which `make_policy` makes from its spelling, or under an
    architecture that `is_architecture`, without what it has no answer to.
    """

    def __init__(
        self, scenario: Scenario, policy: str, make_policy: MakePolicy = load_policy
    ) -> None:
        self.policy = policy
        self.make_policy = make_policy
        self.stands_alone = make_policy is load_policy and is_architecture(policy, scenario.parts)
        self.scenario = scenario
        if self.stands_alone and scenario.timeline:
            self.scenario = without_unsupported_faults(scenario, self.fresh_architecture())

    def fresh_architecture(self) -> Architecture:
        """Schedulers without any memory."""
        return load_architecture(self.policy, self.scenario.parts)

    def fresh_policy(self, spelling: str | None = None) -> Policy:
        """The experiment's own policy or another, without any memory."""
        return self.make_policy(spelling or self.policy, self.scenario.parts)

    @cached_property
    def run(self) -> ObservedRun:
        return self.play()

    @cached_property
    def entitlement_run(self) -> ObservedRun:
        """The same, with all entitlements."""
        return self.play(entitlements=True)

    def play(
        self,
        scenario: Scenario | None = None,
        policy: Policy | None = None,
        *,
        jobs: Sequence[JobSpec] | None = None,
        entitlements: bool = False,
        tie_order: int | None = None,
    ) -> ObservedRun:
        """A run, perhaps of another scenario, policy or workload, or with simultaneous messages
        permuted, with every rule checked.  PolicySpecError where an architecture cannot play it.
        """
        spec = RunSpec.of(
            scenario or self.scenario, self.policy, jobs=jobs, until_ms=EXPERIMENT_MAX_MS
        )
        spec = msgspec.structs.replace(spec, tie_order=tie_order)
        events: list[AnyEvent] = []
        checker, observer = Checker(), BooksObserver(entitlements=entitlements)
        onlookers: list[Onlooker] = [checker]
        if self.stands_alone:
            architecture = self.fresh_architecture()
        else:
            policy = policy or self.fresh_policy()
            architecture = Central(policy, self.fresh_policy)
            onlookers.append(observer)
        simulation = Simulation(
            spec, [events.append], architecture=architecture, onlookers=onlookers
        )
        trouble: Violation | KernelError | None = None
        try:
            simulation.run()
        except (Violation, KernelError) as error:
            trouble = _cause_of(error)
        return ObservedRun(
            spec.scenario,
            {job.job: job for job in spec.jobs},
            policy,
            events,
            observer.observations,
            observer.entitlement_log,
            {check.rule: check.times for check in checker.report()},
            trouble,
        )


def _cause_of(error: Violation | KernelError) -> Violation | KernelError:
    """The violation itself where an actor brought it up."""
    cause = error.__cause__
    return cause if isinstance(error, ActorFailed) and isinstance(cause, Violation) else error
