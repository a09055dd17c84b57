"""The checker: a sink that checks the rules at every event, and stops at the first violation.

Beside a live run a `Checker` also looks at the master's books between supersteps, and at each
message that the master handles (`begin`).  `check_events` checks what events alone can show.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks import (
    accounting,
    container_rules,
    execution,
    master_rules,
    probe_rules,
    reservation_rules,
    shared_cell_rules,
    tasks,
)
from callboard.journal.checks.delay_scheduling import DelayScheduling
from callboard.journal.checks.findings import RuleReport, Violation
from callboard.journal.checks.rule import Rule, RunFacts
from callboard.journal.checks.task_book import TaskBook
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_records import AttemptRecord
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import Millis

RECENT_EVENTS = 6
"""How many events a violation tells."""

RULES: tuple[type[Rule], ...] = (
    execution.Causality,
    tasks.Lifecycles,
    execution.SlotExclusivity,
    reservation_rules.ReservationAnswers,
    reservation_rules.TasksGivenOnce,
    probe_rules.ReservationsAreKept,
    probe_rules.LongTasksStayOut,
    probe_rules.TasksRunOnAllowedNodes,
    probe_rules.ShortestQueuesAreTaken,
    tasks.Successes,
    tasks.AttemptLimits,
    tasks.Shuffles,
    accounting.TaskConservation,
    master_rules.IdempotentHeartbeats,
    accounting.SlotTimeConservation,
    accounting.LittlesLaw,
    accounting.Determinism,
    execution.DeadNodes,
    master_rules.PreemptionLimits,
    DelayScheduling,
    master_rules.StrictQueues,
    shared_cell_rules.ConflictsLaunchNothing,
    shared_cell_rules.ClaimsHaveRoom,
    shared_cell_rules.ConflictsHaveCauses,
    container_rules.ContainersHaveRoom,
    container_rules.ContainersLiveOnce,
    container_rules.QueuesHoldTheirContainers,
)
"""Causes and lifecycles go first: the others may rely on them."""


class Checker(Onlooker):
    """Checks a run against S1 to S15, and the rules of its architecture.

    The rules look at an event before the run's state takes it in, and `metrics` after that.
    """

    def __init__(self) -> None:
        self.run_state = RunState()
        self.metrics = Metrics(self.run_state)
        self.tasks = TaskBook(self.run_state)
        self.rules = tuple(rule(self.run_state, self.tasks) for rule in RULES)
        self._probes = [rule for rule in self.rules if isinstance(rule, Probe)]
        self._settling = [
            rule for rule in self.rules if type(rule).check_books is not Rule.check_books
        ]
        self._run_facts: RunFacts | None = None
        self._policies = 0
        self._looks: dict[type[ev.Event], tuple[Callable[[Any], object], ...]] = {}
        self._recent: deque[tuple[ev.AnyEvent, AttemptRecord | None]] = deque(maxlen=RECENT_EVENTS)
        self._architecture: Architecture | None = None

    def begin(self, kernel: Kernel[ev.AnyEvent], architecture: Architecture) -> None:
        """Look at the books of this run's schedulers too, and at their answers to messages."""
        self._architecture = architecture
        for rule in self._probes:
            if rule.holds_for(architecture.name):
                for address in rule.probed_addresses(kernel, architecture):
                    kernel.probe(address, rule)

    def observe(self, event: ev.AnyEvent) -> None:
        """Check the rules at one event.  Raises Violation."""
        if not self._looks and isinstance(event, ev.RunStarted):
            self._begin_rules(event)
        run_state = self.run_state
        number = getattr(event, "attempt", 0)
        self._recent.append((event, run_state.attempts.get(number)))
        try:
            if event.at_ms < run_state.now_ms:
                raise self.rules[0].violation(event, f"it is {run_state.now_ms} ms already")
            for look in self._looks.get(type(event), ()):
                look(event)
            attempt = run_state.observe(event)
            self.tasks.observe(event, attempt)
            self.metrics.note_event(event, attempt)
            if run_state.ended is not None and isinstance(event, ev.RunEnded):
                for rule in self.rules:
                    rule.check_at_end(event, self.metrics)
        except Violation as violation:
            self._attach_recent_events(violation)
            raise
        if run_state.policies != self._policies:
            self._begin_rules_anew(event.at_ms)

    __call__ = observe

    def after_superstep(self) -> None:
        """A superstep is over: look at the books.  Raises Violation."""
        try:
            for probe in self._probes:  # the others raise what they find
                if probe.found is not None:
                    raise probe.found
            if not self.tasks.changed:
                return
            if self._architecture is not None:
                for rule in self._settling:
                    rule.check_books(self._architecture)
        except Violation as violation:
            self._attach_recent_events(violation)
            raise
        self.tasks.drop_tasks_of_ended_jobs()

    def report(self) -> list[RuleReport]:
        name = CENTRAL if self._run_facts is None else self._run_facts.architecture
        told = [rule for rule in self.rules if rule.is_reported_for(name)]
        return sorted(
            (rule.report for rule in told), key=lambda report: _sort_key_of_rule(report.rule)
        )

    def _begin_rules(self, event: ev.RunStarted) -> None:
        run_facts = self._run_facts = RunFacts(event, self._architecture)
        looks: dict[type[ev.Event], list[Callable[[Any], object]]] = {}
        for rule in self.rules:
            rule.begin(run_facts)
            if not rule.holds_for(run_facts.architecture):
                rule.idle = f"{run_facts.architecture} keeps no such rule"
                continue
            for kind, look in rule.handlers().items():
                looks.setdefault(kind, []).append(look)
        self._looks = {kind: tuple(each) for kind, each in looks.items()}

    def _begin_rules_anew(self, at_ms: Millis) -> None:
        """Another policy is in force, or the same anew; that of a live run changes by itself."""
        assert self._run_facts is not None
        self._policies = self.run_state.policies
        self._run_facts.switched_ms = at_ms
        if self._architecture is None:
            self._run_facts.policy = self._run_facts.policy_by_spelling(self.run_state.policy)
        for rule in self.rules:
            rule.begin_policy(at_ms)

    def _attach_recent_events(self, violation: Violation) -> None:
        """Put what happened last into words, with what is known of attempts that are over."""
        known = self.run_state.copy()
        over = {each.launch.attempt: each for _, each in self._recent if each is not None}
        known.attempts = over | known.attempts
        narrator = Narrator(known)
        violation.sentences = tuple(narrator.line(event) for event, _ in self._recent)


def _sort_key_of_rule(rule: str) -> tuple[bool, str, int]:
    """Where a rule stands among others: S first, then the other letters, by number."""
    return rule[0] != "S", rule[0], int(rule[1:])


def check_events(events: Iterable[ev.AnyEvent]) -> list[RuleReport]:
    """Check a recorded run against the rules that its events alone can show.  Raises Violation."""
    checker = Checker()
    for event in events:
        checker.observe(event)
        if len(checker.tasks.changed) > 1000:
            checker.after_superstep()
    return checker.report()
