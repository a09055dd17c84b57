"""A look into the master's books after its messages: sums, what should have left them, and whether
the policy decided something that they do not allow.
"""

from collections.abc import Sequence

from callboard.actors.architecture import Architecture
from callboard.actors.central.master import Master
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.lifecycle import BookedJobState
from callboard.scheduler.facts import Fact, Rejected
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import ClusterView
from tests.support.coshh_check import check_matching
from tests.support.ledger_check import check_sums

EVERY = 20
"""Of how many messages of which nothing was noted one is looked behind, and every other message."""


class BooksProbe(Onlooker, Probe):
    """Recounts every sum, and looks for jobs and outputs that nobody wants any more; raises
    AssertionError in the master.
    """

    def __init__(self) -> None:
        self._silent = 0
        self._changed = False
        self._rejected: list[Rejected] = []

    def begin(self, kernel: Kernel[ev.AnyEvent], architecture: Architecture) -> None:
        for address in architecture.schedulers():
            kernel.probe(address, self)
        if architecture.policy is not None:
            self._hear_of_rejections(architecture.policy)

    def _hear_of_rejections(self, policy: Policy) -> None:
        told = policy.observe

        def observe(fact: Fact, view: ClusterView) -> None:
            if isinstance(fact, Rejected):
                self._rejected.append(fact)
            told(fact, view)

        policy.observe = observe  # type: ignore[method-assign]

    def before_message(self, actor: Master, message: object) -> None:  # noqa: ARG002
        """Asking what is next may tidy the books up, so not while others compare them."""
        if self._changed:
            self._changed = False
            check_matching(actor)

    def after_message(self, actor: Master, message: object, noted: Sequence[ev.AnyEvent]) -> None:  # noqa: ARG002
        if not noted:
            self._silent += 1
            if self._silent % EVERY:
                return
        assert not self._rejected, f"a shipped policy decides what cannot be: {self._rejected}"
        check_sums(actor.ledger)
        self._look_for_leavings(actor)
        self._look_for_doomed(actor)
        self._changed = True

    def _look_for_leavings(self, master: Master) -> None:
        """A job that is over stays only while attempts of it run, and without outputs."""
        for job in master.ledger.jobs():
            over = job.state is BookedJobState.ENDING
            assert job.attempts or not over, f"job {job.job} is over and in the books"
            assert not (over and job.outputs), f"outputs of job {job.job} stay, and it is over"
        here = {job.job for job in master.ledger.jobs()}
        for node in master.ledger.members.values():
            gone = node.with_outputs.keys() - here
            assert not gone, f"outputs of job {min(gone)} stay on node {node.node}"

    def _look_for_doomed(self, master: Master) -> None:
        """The other attempt of a task that has failed too often is known to be for nothing."""
        ledger = master.ledger
        for attempt in ledger.attempts():
            job = ledger.job(attempt.job)
            failures = job._failures.get((attempt.stage, attempt.task), 0)
            told = f"attempt {attempt.attempt} of a task that has failed {failures} times"
            assert attempt.doomed == (failures >= job._max_attempts), told
