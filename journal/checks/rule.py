"""What a rule is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.architectures import architecture_name, made_architecture, shipped_catalogue
from callboard.actors.config import Cluster, Tasks
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.findings import RuleReport, Violation
from callboard.journal.checks.task_book import TaskBook
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_records import NEVER
from callboard.journal.run_state import RunState
from callboard.journal.told_scenario import told_part_settings, told_scenario, told_scenario_table
from callboard.scheduler.model import Millis
from callboard.scheduler.policy import Policy, PolicySpecError
from callboard.scheduler.registry.parts import make_policy

Handlers = Mapping[type[ev.Event], Callable[[Any], object]]


class RunFacts:
    """What rules have to know of the run besides its events.

    `params` are those of the architecture.  `cluster` and `tasks` are None where the journal does
    not tell them, `policy` where it cannot be made from its spelling, as that of another
    architecture.  The policy may change during the run,
    at `switched_ms`; events of that very instant may be due to the old one or the new one.
    `repeats_kills` says that attempts may be killed by nobody's order, since they were when they
    were recorded.
    """

    def __init__(self, started: ev.RunStarted, live: Architecture | None) -> None:
        self.architecture = architecture_name(started.policy) if live is None else live.name
        self.params = _architecture_params(started, live)
        self.nodes = started.nodes
        self.cluster = told_scenario_table(started, "cluster", Cluster)
        self.tasks = told_scenario_table(started, "tasks", Tasks)
        heartbeat = (self.cluster or Cluster()).heartbeat
        self.heartbeat_ms: Millis = heartbeat.period_ms(len(started.nodes))
        self.latency_ms: Millis = 0 if self.cluster is None else self.cluster.latency_ms
        self.parts = told_part_settings(started)
        self.policy = self.policy_by_spelling(started.policy) if live is None else live.policy
        self.switched_ms: Millis = NEVER
        self.repeats_kills = told_scenario(started).plays_history

    def policy_by_spelling(self, spelling: str) -> Policy | None:
        """The policy of this spelling; None for one that is not shipped."""
        try:
            return make_policy(spelling, shipped_catalogue(self.parts))
        except PolicySpecError:
            return None


def _architecture_params(started: ev.RunStarted, live: Architecture | None) -> object:
    """What the architecture was made with; None for a policy, or for one that does not ship."""
    if live is not None:
        return getattr(live, "params", None)
    try:
        return getattr(made_architecture(started.policy, {}), "params", None)
    except PolicySpecError:
        return None


class Rule:
    """One invariant, which holds for these `architectures` (None: for all).

    `handlers` says which events it looks at; it sees each before the run's state takes it in.
    `found` is a violation seen beside the master, to be raised when the superstep is over.  `idle`
    says why there was nothing to check, where that is known.
    """

    id: ClassVar[str]
    says: ClassVar[str]
    architectures: ClassVar[tuple[str, ...] | None] = None
    idle: str = "nothing of the kind happened"

    def __init__(self, run_state: RunState, tasks: TaskBook) -> None:
        self.run_state = run_state
        self.tasks = tasks
        self.times = 0
        self.found: Violation | None = None

    def begin(self, run_facts: RunFacts) -> None:
        """The run begins."""
        self.run_facts = run_facts

    @classmethod
    def holds_for(cls, architecture: str) -> bool:
        """Whether it says anything of this architecture."""
        return cls.architectures is None or architecture in cls.architectures

    @classmethod
    def is_reported_for(cls, architecture: str) -> bool:
        """Whether it is told of a run that it does not hold for: not if it is another family's."""
        return cls.holds_for(architecture) or cls.holds_for(CENTRAL)

    def probed_addresses(
        self,
        kernel: Kernel[ev.AnyEvent],  # noqa: ARG002
        architecture: Architecture,
    ) -> Sequence[int]:
        """The addresses beside which it looks on, if it is a probe."""
        return architecture.schedulers()

    def begin_policy(self, at_ms: Millis) -> None:
        """Another policy is in force, or the same begins anew."""

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:  # noqa: ARG002
        """The run has ended, with these figures: what was found in its last superstep is raised."""
        if self.found is not None:
            raise self.found

    def check_books(self, architecture: Architecture) -> None:
        """A superstep of a live run is over in which something became of tasks: look at books."""

    def handlers(self) -> Handlers:
        """What looks at which event."""
        return {}

    def keep_first_violation(self, explanation: str) -> None:
        """What was seen beside an actor; of several the first is told."""
        if self.found is None:
            self.found = self.violation(None, explanation)

    def violation(self, event: ev.Event | None, explanation: str, *about: object) -> Violation:
        """A violation, to be raised."""
        return Violation(self.id, self.says, event, explanation, *about)

    @property
    def report(self) -> RuleReport:
        return RuleReport(self.id, self.says, self.times, "" if self.times else self.idle)
