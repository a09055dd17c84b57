"""A scenario under a policy, played as often as a property wants it, and what came of it.

Beside the journal's events a run keeps what the master believed after each message that it
handled: who runs how many tasks, and who has how many to launch.  From these every decision can be
seen as it was made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import MASTER
from callboard.actors.kernel.drivers import run_direct
from callboard.actors.kernel.kernel import ActorFailed, Kernel, KernelError
from callboard.actors.master.ledger import Ledger
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    Event,
    RunEnded,
    RunStarted,
)
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.master_rules import InstrumentedMaster
from callboard.journal.checks.rule import RuleReport, Violation
from callboard.scenarios.build import assemble, node_facts
from callboard.scenarios.scenario_file import Scenario, make_jobs, make_script, to_dict
from callboard.scheduler.entitlements import Entitlement, EntitlingOrder
from callboard.scheduler.model import JobId, Millis, TaskKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.parts import PartSettings

E = TypeVar("E", bound=Event)

MakePolicy = Callable[[str, PartSettings], Policy]
"""Makes a policy from its spelling and from a scenario's settings of parts."""

CountsByJob = Mapping[JobId, int]

EXPERIMENT_MAX_MS: Millis = 28_800_000
"""A run of a drawn scenario takes minutes; one of eight hours will not end at all."""


def make_shipped_policy(text: str, settings: PartSettings) -> Policy:
    """A fresh policy of parts that ship."""
    return parts.make_policy(text, parts.SHIPPED.with_settings(settings))


class Observation(NamedTuple):
    """What the master believed once it had handled a message: of each job how many tasks of each
    kind run, and how many could; and what it launched meanwhile.
    """

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
    def others(self) -> Iterator[JobId]:
        """The other jobs that had something to launch too."""
        return (job for job, left in self.pending.items() if left and job != self.launch.job)


class ObservedMaster(InstrumentedMaster):
    """A master that is looked at after every message."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.observations: list[Observation] = []
        self._launched: list[AttemptLaunched] = []

    def receive(self, message: msgspec.Struct) -> None:
        super().receive(message)
        launches, self._launched = tuple(self._launched), []
        now_ms = self.ledger.now_ms
        running, pending = _counts(self.ledger, "running"), _counts(self.ledger, "pending")
        last = self.observations[-1] if self.observations else None
        if launches or last is None or (last.running, last.pending) != (running, pending):
            self.observations.append(Observation(now_ms, running, pending, launches))

    def note(self, event: AnyEvent) -> int:
        if isinstance(event, AttemptLaunched):
            self._launched.append(event)
        return super().note(event)


def _counts(ledger: Ledger, what: str) -> tuple[CountsByJob, CountsByJob]:
    maps, reduces = (
        {job.job: getattr(job, what)(kind) for job in ledger.jobs()} for kind in TaskKind
    )
    return maps, reduces


class EntitlementMaster(ObservedMaster):
    """A master whose order is asked after every message what the claimants of map slots are due."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.entitlement_log: list[tuple[Millis, Sequence[Entitlement]]] = []

    def receive(self, message: msgspec.Struct) -> None:
        super().receive(message)
        order, ledger = self._policy.order, self.ledger
        if isinstance(order, EntitlingOrder):
            self.entitlement_log.append(
                (ledger.now_ms, order.entitlements(TaskKind.MAP, ledger, "pool"))
            )


class ObservedRun:
    """A run that is over: its events, and the master's beliefs.

    `trouble` is what ended it before its time: a broken rule, a policy's exception, a run that
    got stuck.
    """

    def __init__(
        self,
        scenario: Scenario,
        jobs: Sequence[JobSpec],
        policy: Policy,
        events: list[AnyEvent],
        master: ObservedMaster,
        checks: Sequence[RuleReport],
        trouble: Violation | KernelError | None,
    ) -> None:
        self.scenario = scenario
        self.jobs = jobs
        self.policy = policy
        self.events = events
        self.observations = master.observations
        self.entitlement_log = (
            master.entitlement_log if isinstance(master, EntitlementMaster) else []
        )
        self.checked = {check.rule: check.times for check in checks}
        self.trouble = trouble

    def all(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if type(event) is kind]

    @property
    def violation(self) -> Violation | None:
        """The rule that was broken, if one was."""
        return self.trouble if isinstance(self.trouble, Violation) else None

    @cached_property
    def ended(self) -> RunEnded:
        """The last event."""
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last

    @cached_property
    def decisions(self) -> list[LaunchDecision]:
        """Every launch that is no copy, as the master saw the jobs when it decided it."""
        return [each for look in self.observations for each in _decisions(look)]

    @property
    def period_ms(self) -> Millis:
        """From one beat's arrival to the next one's of the same node: H + 2ℓ."""
        cluster = self.scenario.cluster
        nodes = len(node_facts(cluster))
        return cluster.heartbeat.period_ms(nodes) + 2 * cluster.latency_ms

    def slots(self, kind: TaskKind) -> int:
        """All slots of the kind."""
        facts = node_facts(self.scenario.cluster)
        return sum((node.map_slots, node.reduce_slots)[kind] for node in facts)


def _decisions(observation: Observation) -> list[LaunchDecision]:
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


class Experiment:
    """A scenario and the spelling of the policy that it is held under.

    `make_policy` makes a policy from its spelling; who knows users' own parts hands in another.
    """

    def __init__(
        self, scenario: Scenario, policy: str, make_policy: MakePolicy = make_shipped_policy
    ) -> None:
        self.scenario = scenario
        self.policy = policy
        self.make_policy = make_policy

    def fresh_policy(self, spelling: str | None = None) -> Policy:
        """A fresh policy: the trial's own, or another."""
        return self.make_policy(spelling or self.policy, self.scenario.parts)

    @cached_property
    def run(self) -> ObservedRun:
        """The scenario under the policy."""
        return self.play()

    @cached_property
    def entitlement_run(self) -> ObservedRun:
        """The same, with what everybody was due."""
        return self.play(master=EntitlementMaster)

    def play(
        self,
        scenario: Scenario | None = None,
        policy: Policy | None = None,
        *,
        jobs: Sequence[JobSpec] | None = None,
        master: type[ObservedMaster] = ObservedMaster,
    ) -> ObservedRun:
        """The run of another scenario, policy or workload, or the same once more."""
        scenario = scenario or self.scenario
        jobs = make_jobs(scenario) if jobs is None else jobs
        script = make_script(scenario, jobs)
        policy = policy or self.fresh_policy()
        return run_observed(scenario, jobs, script, policy, self.policy, self.make_policy, master)


def run_observed(
    scenario: Scenario,
    jobs: Sequence[JobSpec],
    script: Sequence[ScheduledFault],
    policy: Policy,
    spelling: str,
    make_policy: MakePolicy,
    master: type[ObservedMaster] = ObservedMaster,
) -> ObservedRun:
    """One run, held against S1 to S15 as it goes; it never raises what the policy brings about."""
    events: list[AnyEvent] = []
    checker = Checker(policy)

    def sink(event: AnyEvent) -> None:
        events.append(event)
        checker.observe(event)

    kernel = Kernel(sink=sink, until_ms=EXPERIMENT_MAX_MS)
    assemble(
        kernel,
        cluster=scenario.cluster,
        tasks=scenario.tasks,
        jobs=jobs,
        policy=policy,
        seed=scenario.seed,
        master=master,
        script=script,
        make_policy=lambda text: make_policy(text, scenario.parts),
    )
    observed = kernel.actors[MASTER]
    assert isinstance(observed, ObservedMaster)
    nodes = node_facts(scenario.cluster)
    sink(RunStarted(0, "0", scenario.name, spelling, scenario.seed, to_dict(scenario), nodes))
    checker.attach(kernel)
    trouble: Violation | KernelError | None = None
    try:
        run_direct(kernel)
        reason = kernel.reason or "complete"
        sink(RunEnded(kernel.now_ms, reason, kernel.messages, kernel.ties, kernel.digest()))
    except (Violation, KernelError) as error:
        trouble = _cause_of(error)
    return ObservedRun(scenario, jobs, policy, events, observed, checker.report(), trouble)


def _cause_of(error: Violation | KernelError) -> Violation | KernelError:
    """The violation itself where an actor brought it up."""
    cause = error.__cause__
    return cause if isinstance(error, ActorFailed) and isinstance(cause, Violation) else error
