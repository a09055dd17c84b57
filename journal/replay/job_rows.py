"""What a row of the jobs' table says beside the job's own counts, and sorting by it."""

from collections.abc import Callable

import msgspec

from callboard.actors.vocabulary.events import Outcome
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import JobRow, JobSortKey, JobState
from callboard.journal.replay.insight import Insight, beneficiary
from callboard.journal.run_records import JobRecord
from callboard.scheduler.model import JobId, Millis

_OUTCOMES = {
    Outcome.SUCCEEDED: JobState.SUCCEEDED,
    Outcome.FAILED: JobState.FAILED,
    Outcome.KILLED: JobState.KILLED,
}


def job_state(row: JobRecord) -> JobState:
    """Where the job stands."""
    if row.outcome is not None:
        return _OUTCOMES[row.outcome]
    if row.first_launch_ms is None:
        return JobState.WAITING
    return JobState.RUNNING if row.open > row.suspended else JobState.STARVED


def waiting_tasks(row: JobRecord) -> int:
    """How many of the job's tasks neither are done nor run."""
    told = row.submission
    return told.maps + told.reduces - sum(phase.done + phase.running for phase in row.phases)


class InsightColumns:
    """Insight into the jobs as they stand at one moment; without `with_dues` not what each is due,
    which takes a look at all.
    """

    def __init__(
        self, insight: Insight, cluster: ClusterState, at_ms: Millis, with_fair_shares: bool
    ) -> None:
        self._insight = insight
        self._cluster = cluster
        self._at_ms = at_ms
        self._fair_shares: dict[JobId, float] = (
            insight.fair_shares(cluster) if with_fair_shares else {}
        )

    def put(self, line: JobRow, row: JobRecord) -> JobRow:
        """The row with all that."""
        why = row.last_launch.why if row.last_launch is not None else None
        gave_way = row.last_preemption
        return msgspec.structs.replace(
            line,
            fair_share=self._fair_shares.get(line.job),
            rank=why.rank if why is not None else 0,
            score=why.score if why is not None else 0.0,
            expected_ms=self._insight.expected_ms(self._cluster, row),
            size_ms=self._insight.size_ms(row),
            stretch=self._insight.stretch(row, self._at_ms),
            preempted=row.preempted,
            by=beneficiary(gave_way.why) if gave_way is not None else "",
        )

    def sort_key(self, key: JobSortKey, reverse: bool) -> Callable[[JobRecord], float] | None:
        """What the rows are sorted by, if it is one of these; what is not known comes last."""
        insight = self._insight
        keys: dict[JobSortKey, Callable[[JobRecord], float | None]] = {
            JobSortKey.FAIR_SHARE: lambda row: self._fair_shares.get(row.submission.job),
            JobSortKey.EXPECTED: lambda row: insight.expected_ms(self._cluster, row),
            JobSortKey.SIZE: insight.size_ms,
            JobSortKey.STRETCH: lambda row: insight.stretch(row, self._at_ms),
            JobSortKey.SCORE: lambda row: row.last_launch.why.score if row.last_launch else None,
            JobSortKey.PREEMPTIONS: lambda row: row.preempted,
        }
        found = keys.get(key)
        if found is None:
            return None

        unknown = float("-inf" if reverse else "inf")

        def known(row: JobRecord) -> float:
            value = found(row)
            return unknown if value is None else value

        return known
