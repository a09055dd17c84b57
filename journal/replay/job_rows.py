"""Columns of the table of jobs beyond the job's own counts, and sorting by them."""

from collections.abc import Callable

import msgspec

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import JobRow, JobSortKey
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.job_stats import JobStats
from callboard.journal.tell.names import claimant_name
from callboard.scheduler.model import JobId, Millis


class InsightColumns:
    """Insight into the jobs at one moment; `with_fair_shares` costs a look at all jobs."""

    def __init__(
        self, insight: Insight, cluster: ClusterState, at_ms: Millis, with_fair_shares: bool
    ) -> None:
        self._insight = insight
        self._cluster = cluster
        self._at_ms = at_ms
        self._fair_shares: dict[JobId, float] = (
            insight.fair_shares(cluster) if with_fair_shares else {}
        )

    def put(self, line: JobRow, row: JobStats) -> JobRow:
        """The row with these columns."""
        _, why = row.launch or (0, None)
        taker = row.last_preemption[1].beneficiary if row.last_preemption else None
        return msgspec.structs.replace(
            line,
            fair_share=self._fair_shares.get(line.job),
            rank=why.rank if why is not None else 0,
            score=why.score if why is not None else 0.0,
            expected_ms=self._insight.expected_ms(self._cluster, row),
            size_ms=self._insight.size_ms(row),
            stretch=self._insight.stretch(row, self._at_ms),
            preempted=row.preempted,
            by="" if taker is None else claimant_name(taker),
        )

    def sort_key(self, key: JobSortKey, reverse: bool) -> Callable[[JobStats], float] | None:
        """The function to sort rows by, if the key is one of these; unknown values come last."""
        insight = self._insight
        keys: dict[JobSortKey, Callable[[JobStats], float | None]] = {
            JobSortKey.FAIR_SHARE: lambda row: self._fair_shares.get(row.submission.job),
            JobSortKey.EXPECTED: lambda row: insight.expected_ms(self._cluster, row),
            JobSortKey.SIZE: insight.size_ms,
            JobSortKey.STRETCH: lambda row: insight.stretch(row, self._at_ms),
            JobSortKey.SCORE: lambda row: row.launch[1].score if row.launch else None,
            JobSortKey.PREEMPTIONS: lambda row: row.preempted,
        }
        found = keys.get(key)
        if found is None:
            return None

        unknown = float("-inf" if reverse else "inf")

        def known(row: JobStats) -> float:
            value = found(row)
            return unknown if value is None else value

        return known
