"""A look into the master's books after its messages: sums, what should have left them, and whether
the policy decided something that they do not allow.
"""

from collections.abc import Sequence

import msgspec

from callboard.actors.job import ATTEMPTS_MAX
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.lifecycle import BookedJobState
from callboard.journal.checks.master_rules import InstrumentedMaster, MasterProbe
from tests.support.coshh_check import check_matching
from tests.support.ledger_check import check_sums

EVERY = 20
"""Of how many messages of which nothing was noted one is looked behind, and every other message."""


class BooksProbe(MasterProbe):
    """Recounts every sum, and looks for jobs and outputs that nobody wants any more; raises
    AssertionError in the master.
    """

    def __init__(self) -> None:
        self._silent = 0
        self._changed = False

    def before(self, master: InstrumentedMaster, message: msgspec.Struct) -> None:  # noqa: ARG002
        """Whoever asks what is next may tidy the books up, so not while others compare them."""
        if self._changed:
            self._changed = False
            check_matching(master)

    def after(
        self,
        master: InstrumentedMaster,
        message: msgspec.Struct,  # noqa: ARG002
        noted: Sequence[ev.AnyEvent],
    ) -> None:
        if not noted:
            self._silent += 1
            if self._silent % EVERY:
                return
        assert not master.rejected, f"a shipped policy decides what cannot be: {master.rejected}"
        check_sums(master.ledger)
        self._look_for_leavings(master)
        self._look_for_doomed(master)
        self._changed = True

    def _look_for_leavings(self, master: InstrumentedMaster) -> None:
        """A job that is over stays only while attempts of it run, and without outputs."""
        for job in master.ledger.jobs():
            over = job.state is BookedJobState.ENDING
            assert job.attempts or not over, f"job {job.job} is over and in the books"
            assert not (over and job.outputs), f"outputs of job {job.job} stay, and it is over"
        here = {job.job for job in master.ledger.jobs()}
        for node in master.ledger.members():
            gone = node.with_outputs.keys() - here
            assert not gone, f"outputs of job {min(gone)} stay on node {node.node}"

    def _look_for_doomed(self, master: InstrumentedMaster) -> None:
        """The other attempt of a task that has failed too often is known to be for nothing."""
        ledger = master.ledger
        for attempt in ledger.attempts():
            job = ledger.job(attempt.job)
            failures = job._failures.get((attempt.kind, attempt.task), 0)
            told = f"attempt {attempt.attempt} of a task that has failed {failures} times"
            assert attempt.doomed == (failures >= ATTEMPTS_MAX), told
