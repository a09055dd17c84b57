"""The checker: a sink that holds every event against the rules, and stops at the first broken one.

`Checker` beside a live run also looks at the master's books between supersteps, and stands
beside the master (`attend`).  `check` holds a recorded run against the rules that events alone
can show.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from callboard.actors.kernel.address import MASTER
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, FaultStruck, RunStarted
from callboard.actors.vocabulary.faults import RestartMaster, ResumeMaster, SwitchPolicy
from callboard.journal.checks.beside import Beside, Queues, Repeats, Victims, WatchedMaster
from callboard.journal.checks.book import Book
from callboard.journal.checks.rule import Check, Rule, Setup, Violation
from callboard.journal.checks.sums import Digests, JobTimes, SlotTimes, Sums
from callboard.journal.checks.tasks import Attempts, Lifecycles, Shuffles, Successes
from callboard.journal.checks.truth import Causes, DeadNodes, Slots
from callboard.journal.checks.waiting import Waits
from callboard.journal.metrics import Metrics
from callboard.journal.sentences import Narrator
from callboard.scheduler.policy import Policy

RECENT = 6
"""How many events a violation tells, the last one among them."""


class Checker:
    """Holds a run against S1 to S15.

    `policy` is the run's own, if it is at hand; `metrics` one that has heard each event before
    the checker does.
    """

    def __init__(self, policy: Policy | None = None, metrics: Metrics | None = None) -> None:
        self.book = Book()
        self._policy = policy
        self._own_metrics = metrics is None
        self._metrics = metrics or Metrics()
        self._sums = Sums(self.book)
        self._waits = Waits(self.book)
        self.repeats = Repeats(self.book)
        victims, queues = Victims(self.book), Queues(self.book)
        self._beside = Beside(self.repeats, victims, queues)
        # Causes and lifecycles go first: the others may rely on them.
        self.rules: tuple[Rule, ...] = (
            Causes(self.book),
            Lifecycles(self.book),
            Slots(self.book),
            Successes(self.book),
            Attempts(self.book),
            Shuffles(self.book),
            self._sums,
            self.repeats,
            SlotTimes(self.book, self._metrics),
            JobTimes(self.book, self._metrics),
            Digests(self.book),
            DeadNodes(self.book),
            victims,
            self._waits,
            queues,
        )
        self._setup: Setup | None = None
        self._spelling = ""
        self._switches = False
        self._looks: dict[type[AnyEvent], tuple[Callable[[Any], None], ...]] = {}
        self._recent: deque[AnyEvent] = deque(maxlen=RECENT)
        self._master: WatchedMaster | None = None

    def attend(self, kernel: Kernel) -> None:
        """Look at the books of this run's master too, a `WatchedMaster`, between supersteps."""
        master = kernel.actors[MASTER]
        assert isinstance(master, WatchedMaster), "the run was not assembled for being checked"
        master.witness = self._beside
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
            if event.at_ms < self.book.last_ms:
                raise self.rules[0].broken(event, f"it is {self.book.last_ms} ms already")
            for look in self._looks.get(kind, ()):
                look(event)
        except Violation as violation:
            self._tell(violation)
            raise
        self.book.last_ms = event.at_ms
        take = self.book.take.get(kind)
        if take is not None:
            take(event)
        if kind is FaultStruck:
            self._strike(event)

    __call__ = observe

    def settle(self) -> None:
        """A superstep is over: look at the books.  Raises Violation."""
        found = self._beside.found
        book = self.book
        try:
            if found is not None:
                raise found
            if book.touched and self._master is not None:
                self._sums.settle(self._master.ledger)
                self._waits.settle(self._master.ledger)
        except Violation as violation:
            self._tell(violation)
            raise
        for job in book.touched.values():
            if job.finished is not None and not any(job.open):
                book.leave(job)
        book.touched.clear()

    def report(self) -> list[Check]:
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
        self._switches = self.book.paused
        if self._policy is None:
            self._setup.policy = self._setup.policy_of(spelling)

    def _tell(self, violation: Violation) -> None:
        """Put what happened last into words."""
        narrator = Narrator()
        narrator.attempts = self.book.launches()
        narrator.jobs = {n: job.submitted.name for n, job in self.book.jobs.items()}
        violation.sentences = tuple(narrator.line(event) for event in self._recent)


def check(events: Iterable[AnyEvent]) -> list[Check]:
    """Hold a recorded run against the rules that its events alone can show.  Raises Violation."""
    checker = Checker()
    for event in events:
        checker.observe(event)
        if len(checker.book.touched) > 1000:
            checker.settle()
    return checker.report()
