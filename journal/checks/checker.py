"""The checker: a sink that holds every event against the rules, and stops at the first broken one.

`Checker` beside a live run also looks at the master's books between supersteps, and stands
beside the master (`attach`).  `check` holds a recorded run against the rules that events alone
can show.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from callboard.actors.kernel.address import MASTER
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, FaultStruck, RunStarted
from callboard.actors.vocabulary.faults import RestartMaster, ResumeMaster, SwitchPolicy
from callboard.journal.checks.accounting import (
    Determinism,
    LittlesLaw,
    SlotTimeConservation,
    TaskConservation,
)
from callboard.journal.checks.delay_scheduling import DelayScheduling
from callboard.journal.checks.execution import Causality, DeadNodes, SlotExclusivity
from callboard.journal.checks.master_rules import (
    IdempotentHeartbeats,
    InstrumentedMaster,
    MasterRules,
    PreemptionLimits,
    StrictQueues,
)
from callboard.journal.checks.rule import Rule, RuleReport, Setup, Violation
from callboard.journal.checks.tasks import AttemptLimits, Lifecycles, Shuffles, Successes
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.policy import Policy

RECENT_EVENTS = 6
"""How many events a violation tells, the last one among them."""


class Checker:
    """Holds a run against S1 to S15.

    `policy` is the run's own, if it is at hand; `metrics` one that has heard each event before
    the checker does.
    """

    def __init__(self, policy: Policy | None = None, metrics: Metrics | None = None) -> None:
        self.run_state = RunState()
        self._policy = policy
        self._own_metrics = metrics is None
        self._metrics = metrics or Metrics()
        self._task_conservation = TaskConservation(self.run_state)
        self._delay_scheduling = DelayScheduling(self.run_state)
        self.repeats = IdempotentHeartbeats(self.run_state)
        victims, queues = PreemptionLimits(self.run_state), StrictQueues(self.run_state)
        self._master_rules = MasterRules(self.repeats, victims, queues)
        # Causes and lifecycles go first: the others may rely on them.
        self.rules: tuple[Rule, ...] = (
            Causality(self.run_state),
            Lifecycles(self.run_state),
            SlotExclusivity(self.run_state),
            Successes(self.run_state),
            AttemptLimits(self.run_state),
            Shuffles(self.run_state),
            self._task_conservation,
            self.repeats,
            SlotTimeConservation(self.run_state, self._metrics),
            LittlesLaw(self.run_state, self._metrics),
            Determinism(self.run_state),
            DeadNodes(self.run_state),
            victims,
            self._delay_scheduling,
            queues,
        )
        self._setup: Setup | None = None
        self._spelling = ""
        self._switches = False
        self._looks: dict[type[AnyEvent], tuple[Callable[[Any], None], ...]] = {}
        self._recent: deque[AnyEvent] = deque(maxlen=RECENT_EVENTS)
        self._master: InstrumentedMaster | None = None

    def attach(self, kernel: Kernel) -> None:
        """Look at the books of this run's master too, between supersteps."""
        master = kernel.actors[MASTER]
        assert isinstance(master, InstrumentedMaster), "the run was not assembled for being checked"
        master.probes.append(self._master_rules)
        self._master = master
        kernel.settled = self.settle

    def observe(self, event: AnyEvent) -> None:
        """Hold one event against the rules.  Raises Violation."""
        if self._own_metrics:
            self._metrics.observe(event)
        self._recent.append(event)
        kind = type(event)
        if kind is RunStarted:
            assert isinstance(event, RunStarted)
            self._begin(event)
        try:
            if event.at_ms < self.run_state.last_ms:
                raise self.rules[0].broken(event, f"it is {self.run_state.last_ms} ms already")
            for look in self._looks.get(kind, ()):
                look(event)
        except Violation as violation:
            self._tell(violation)
            raise
        self.run_state.last_ms = event.at_ms
        take = self.run_state.take.get(kind)
        if take is not None:
            take(event)
        if kind is FaultStruck:
            self._strike(event)

    __call__ = observe

    def settle(self) -> None:
        """A superstep is over: look at the books.  Raises Violation."""
        found = self._master_rules.found
        run_state = self.run_state
        try:
            if found is not None:
                raise found
            if run_state.changed_jobs and self._master is not None:
                self._task_conservation.settle(self._master.ledger)
                self._delay_scheduling.settle(self._master.ledger)
        except Violation as violation:
            self._tell(violation)
            raise
        for job in run_state.changed_jobs.values():
            if job.finished is not None and not any(job.open):
                run_state.leave(job)
        run_state.changed_jobs.clear()

    def report(self) -> list[RuleReport]:
        """What became of each rule so far, by its number."""
        checks = [rule.check for rule in self.rules]
        return sorted(checks, key=lambda check: int(check.rule.removeprefix("S")))

    def _begin(self, event: RunStarted) -> None:
        self._spelling = event.policy
        setup = self._setup = Setup(event, self._policy)
        looks: dict[type[AnyEvent], list[Callable[[Any], None]]] = {}
        for rule in self.rules:
            rule.begin(setup)
            for kind, look in rule.handlers().items():
                looks.setdefault(kind, []).append(look)
        self._looks = {kind: tuple(each) for kind, each in looks.items()}

    def _strike(self, event: AnyEvent) -> None:
        """Know of another policy, or of the same that begins anew; that of a live run changes by
        itself.
        """
        assert isinstance(event, FaultStruck)
        assert self._setup is not None
        match event.fault:
            case SwitchPolicy(policy):
                spelling = policy
            case RestartMaster():
                spelling = self._spelling
            case ResumeMaster() if self._switches:  # it was told in the pause
                self._switches = False
                self._setup.switched_ms = event.at_ms
                return
            case _:
                return
        self._setup.switched_ms = event.at_ms
        self._switches = self.run_state.paused
        if self._policy is None:
            self._setup.policy = self._setup.policy_of(spelling)

    def _tell(self, violation: Violation) -> None:
        """Put what happened last into words."""
        narrator = Narrator()
        narrator.attempts = self.run_state.launches()
        narrator.jobs = {n: job.submitted.name for n, job in self.run_state.jobs.items()}
        violation.sentences = tuple(narrator.line(event) for event in self._recent)


def check_events(events: Iterable[AnyEvent]) -> list[RuleReport]:
    """Hold a recorded run against the rules that its events alone can show.  Raises Violation."""
    checker = Checker()
    for event in events:
        checker.observe(event)
        if len(checker.run_state.changed_jobs) > 1000:
            checker.settle()
    return checker.report()
