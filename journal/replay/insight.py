"""What is to be said of jobs beyond what has been counted: shares, ranks, sizes, rivals."""

from functools import cached_property

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.fair_share import FairShares
from callboard.journal.replay.job_oracle import JobOracle, MakeOracle
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.registry.parts import ORDERS, parse_policy

_BY_SCORE = (Reason.BY_KEY, Reason.POOL, Reason.POOL_MIN_SHARE)


class Insight:
    """Whoever has read what a run's journal begins with; without `make_oracle` true sizes are not
    known.
    """

    def __init__(self, started: RunStarted, make_oracle: MakeOracle | None = None) -> None:
        self._started = started
        self._make_oracle = make_oracle

    @cached_property
    def _oracle(self) -> JobOracle | None:
        return None if self._make_oracle is None else self._make_oracle(self._started)

    @cached_property
    def _fair_shares(self) -> FairShares:
        return FairShares(self._started)

    @cached_property
    def _sigma(self) -> float | None:
        """The error with which the policy is told true sizes; None if it learns them."""
        try:
            params = parse_policy(self._started.policy)["order"].params
        except PolicySpecError:  # a part that is not shipped
            return None
        told = getattr(params, "size", "") == "oracle"
        return float(getattr(params, "sigma", 0.0)) if told else None

    def fair_shares(self, cluster: ClusterState) -> dict[JobId, float]:
        """The fair share of each job in the system, in slots."""
        return self._fair_shares.at(cluster)

    def expected_ms(self, cluster: ClusterState, row: JobRecord) -> float | None:
        """The job's size as a policy can tell it now: by what it has been told of true sizes if it
        is one that goes by them, else by the tasks that have been done.
        """
        if self._sigma is not None:
            oracle = self._oracle
            return None if oracle is None else oracle.estimated_ms(row.submission, self._sigma)
        return cluster.expected_ms(row)

    def size_ms(self, row: JobRecord) -> Millis | None:
        """The job's true size."""
        return None if self._oracle is None else self._oracle.size_ms(row.submission)

    def stretch(self, row: JobRecord, at_ms: Millis) -> float | None:
        """How many times the least that it could take the job has been there."""
        least_ms = None if self._oracle is None else self._oracle.least_ms(row.submission)
        until_ms = at_ms if row.finished_ms is None else row.finished_ms
        return (until_ms - row.submission.at_ms) / least_ms if least_ms else None


def queue_position(why: Why) -> str:
    """By what the job stood where it stood when it was launched: the order, the number."""
    order = ORDERS.get(why.serving or why.part)
    if order is None or not order.score_format or why.reason not in _BY_SCORE:
        return reason_in_words(why)
    return f"{reason_in_words(why)}, {order.score_format.format(why.score)}"
