"""What a rule is, a violation of it, and its report."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from callboard.actors.config import Cluster, Tasks
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.task_book import TaskBook
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_records import NEVER
from callboard.journal.run_state import RunState
from callboard.scheduler.model import Millis
from callboard.scheduler.policy import Policy, PolicySpecError
from callboard.scheduler.registry.parts import SHIPPED, PartSettings, make_policy

Handlers = Mapping[type[ev.Event], Callable[[Any], object]]


class Setup:
    """What rules have to know of the run besides its events.

    `cluster` and `tasks` are None where the journal does not tell them, `policy` where it cannot be
    made from its spelling.  The policy may change during the run, at `switched_ms`; events of that
    very instant may be due to the old one or the new one.  `repeats_kills` says that attempts may
    be killed by nobody's order, since they were when they were recorded.
    """

    def __init__(self, started: ev.RunStarted, policy: Policy | None) -> None:
        self.cluster: Cluster | None = _table(started, "cluster", Cluster)
        self.tasks: Tasks | None = _table(started, "tasks", Tasks)
        heartbeat = (self.cluster or Cluster()).heartbeat
        self.heartbeat_ms: Millis = heartbeat.period_ms(len(started.nodes))
        self.latency_ms: Millis = 0 if self.cluster is None else self.cluster.latency_ms
        self.parts: PartSettings = _table(started, "parts", dict[str, dict[str, Any]]) or {}
        self.policy = policy or self.policy_of(started.policy)
        self.switched_ms: Millis = NEVER
        workload = started.scenario.get("workload")
        self.repeats_kills = isinstance(workload, dict) and workload.get("kind") == "recorded"

    def policy_of(self, spelling: str) -> Policy | None:
        """The policy of this spelling; None for one that is not shipped."""
        try:
            return make_policy(spelling, SHIPPED.with_settings(self.parts))
        except PolicySpecError:
            return None


def _table(started: ev.RunStarted, name: str, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(started.scenario[name], kind)
    except (KeyError, msgspec.ValidationError):
        return None


class Violation(Exception):
    """A run broke a rule.  `state` is what the rule looked at, a line each; `sentences` are the
    last events, the one at which it showed among them.
    """

    def __init__(
        self, rule: "Rule", event: ev.Event | None, explanation: str, *about: object
    ) -> None:
        super().__init__(explanation)
        self.rule = rule.id
        self.says = rule.says
        self.event = event
        self.explanation = explanation
        self.state = tuple(str(each) for each in about)
        self.sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.rule} is broken: {self.says}", f"  {self.explanation}"]
        lines += [f"  {line}" for line in self.state]
        if self.sentences:
            lines += ["The last events, the one at which it showed last:"]
            lines += [f"  {line}" for line in self.sentences]
        return "\n".join(lines)


class RuleReport(msgspec.Struct, frozen=True):
    """How often a rule was checked in a run; if it never was, why."""

    rule: str
    says: str
    times: int
    idle: str = ""


class Rule:
    """One invariant.

    `handlers` says which events it looks at; it sees each before the run's state takes it in.
    `found` is a violation seen beside the master, to be raised when the superstep is over.  `idle`
    says why there was nothing to check, where that is known.
    """

    id: ClassVar[str]
    says: ClassVar[str]
    idle: str = "nothing of the kind happened"

    def __init__(self, run_state: RunState, tasks: TaskBook) -> None:
        self.run_state = run_state
        self.tasks = tasks
        self.times = 0
        self.found: Violation | None = None

    def begin(self, setup: Setup) -> None:
        """The run begins."""
        self.setup = setup

    def begin_anew(self, at_ms: Millis) -> None:
        """Another policy is in force, or the same begins anew."""

    def weigh(self, event: ev.RunEnded, metrics: Metrics) -> None:
        """The run has ended, with these figures."""

    def handlers(self) -> Handlers:
        """What looks at which event."""
        return {}

    def broken(self, event: ev.Event | None, explanation: str, *about: object) -> Violation:
        """A violation, to be raised."""
        return Violation(self, event, explanation, *about)

    @property
    def report(self) -> RuleReport:
        return RuleReport(self.id, self.says, self.times, "" if self.times else self.idle)
