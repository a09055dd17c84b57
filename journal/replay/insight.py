"""What else is known of jobs than their counts: fair shares, sizes, places in the queue."""

from functools import cached_property

from callboard.actors.vocabulary.events import Outcome, RunStarted
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.fair_share import FairShares
from callboard.journal.replay.job_oracle import JobOracle, MakeOracle
from callboard.journal.run_records import JobRecord
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import parse_policy


class Insight:
    """What can be computed from the start of a run; without `make_oracle` no true sizes."""

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
    def _told_size_sigma(self) -> float | None:
        """The error with which the policy is told true sizes; None if it learns them."""
        try:
            params = parse_policy(self._started.policy)["order"].params
        except PolicySpecError:  # a part that is not shipped
            return None
        told = getattr(params, "size", "") == "oracle"
        return float(getattr(params, "sigma", 0.0)) if told else None

    @property
    def planned_pools_and_users(self) -> list[tuple[str, str]] | None:
        """Of each job of the scenario its pool and its user; None if its trace is gone."""
        return None if self._oracle is None else self._oracle.pools_and_users

    def fair_shares(self, cluster: ClusterState) -> dict[JobId, float]:
        """The fair share of each job in the system, in slots."""
        return self._fair_shares.shares_at(cluster)

    def expected_size_ms(self, cluster: ClusterState, row: JobRecord) -> float | None:
        """The job's size as the policy can know it now: by the oracle if it is told true sizes,
        else by the tasks that have been done.
        """
        if self._told_size_sigma is None:
            return cluster.expected_size_ms(row)
        oracle = self._oracle
        return (
            None if oracle is None else oracle.estimated_ms(row.submission, self._told_size_sigma)
        )

    def size_ms(self, row: JobRecord) -> Millis | None:
        return None if self._oracle is None else self._oracle.size_ms(row.submission)

    def slowdown(self, row: JobRecord, at_ms: Millis) -> float | None:
        """The job's time in the system over the least that it could take alone, as the glossary
        has it.  While it has not ended, the least that this can come to, which is at least 1; none
        if it has failed.
        """
        if row.outcome not in (None, Outcome.SUCCEEDED):
            return None
        least_ms = None if self._oracle is None else self._oracle.least_ms(row.submission)
        so_far = (row.end_or(at_ms) - row.submission.at_ms) / least_ms if least_ms else None
        return so_far if so_far is None or row.finished_ms is not None else max(so_far, 1.0)
