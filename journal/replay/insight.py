"""What is to be said of jobs beyond what has been counted: shares, ranks, sizes, rivals."""

import re
from functools import cached_property

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.fair_share import FairShares
from callboard.journal.replay.job_oracle import JobOracle
from callboard.journal.run_records import JobRecord
from callboard.scheduler.decisions import Why
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import parse_policy

SCORE_FORMATS = {
    "fair": "{:g} running / weight",
    "ps": "{:g} running",
    "las": "{:,.1f} slot-s attained",
    "srpt": "{:,.1f} slot-s left",
    "sjf": "{:,.1f} slot-s in all",
    "hfsp": "{:,.1f} slot-s of virtual size",
    "fsp+fifo": "{:,.1f} slot-s of virtual size",
    "fsp+ps": "{:,.1f} slot-s of virtual size",
    "psbs": "{:,.1f} slot-s of virtual size",
}
"""What an order compares jobs by (`Why.score`)."""

_CLAIMANT = re.compile(r"job-\d+|pool [^\s,;)]+")
_ORDER = re.compile(r"[^\s:,]+")


class Insight:
    """Whoever has read what a run's journal begins with."""

    def __init__(self, started: RunStarted) -> None:
        self._started = started

    @cached_property
    def _oracle(self) -> JobOracle:
        return JobOracle.of(self._started)

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
            return self._oracle.estimated_ms(row.submission, self._sigma)
        return cluster.expected_ms(row)

    def size_ms(self, row: JobRecord) -> Millis | None:
        """The job's true size."""
        return self._oracle.size_ms(row.submission)

    def stretch(self, row: JobRecord, at_ms: Millis) -> float | None:
        """How many times the least that it could take the job has been there."""
        least_ms = self._oracle.least_ms(row.submission)
        until_ms = at_ms if row.finished_ms is None else row.finished_ms
        return (until_ms - row.submission.at_ms) / least_ms if least_ms else None


def beneficiary(why: Why) -> str:
    """For whom an attempt had to give way, if the reason names somebody."""
    found = _CLAIMANT.search(why.rule)
    return found.group() if found else ""


def queue_position(why: Why) -> str:
    """By what the job stood where it stood when it was launched: the order, the number."""
    order = _ORDER.match(why.rule)
    said = SCORE_FORMATS.get(order.group() if order else "")
    number = f", {said.format(why.score)}" if said and ":" not in why.rule else ""
    return f"{why.rule}{number}"
