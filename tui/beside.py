"""What a row of the jobs' table says beside the job's own counts, and sorting by it."""

from collections.abc import Callable

import msgspec

from callboard.scheduler.model import JobId, Millis
from callboard.tui.frame import JobKey, JobRow
from callboard.tui.insight import Insight, rival
from callboard.tui.stage import Stage
from callboard.tui.tally import Tally


class Beside:
    """Insight into the jobs as they stand at one moment; without `with_dues` not what each is due,
    which takes a look at all.
    """

    def __init__(self, insight: Insight, stage: Stage, at_ms: Millis, with_dues: bool) -> None:
        self._insight = insight
        self._stage = stage
        self._at_ms = at_ms
        self._dues: dict[JobId, float] = insight.dues(stage) if with_dues else {}

    def put(self, line: JobRow, row: Tally) -> JobRow:
        """The row with all that."""
        _, why = row.launch or (0, None)
        _, taken = row.taken or (0, None)
        return msgspec.structs.replace(
            line,
            due=self._dues.get(line.job),
            rank=why.rank if why is not None else 0,
            score=why.score if why is not None else 0.0,
            expected_ms=self._insight.expected_ms(self._stage, row),
            size_ms=self._insight.size_ms(row),
            stretch=self._insight.stretch(row, self._at_ms),
            preempted=row.preempted,
            by=rival(taken) if taken is not None else "",
        )

    def sort_key(self, key: JobKey, reverse: bool) -> Callable[[Tally], float] | None:
        """What the rows are sorted by, if it is one of these; what is not known comes last."""
        insight = self._insight
        keys: dict[JobKey, Callable[[Tally], float | None]] = {
            JobKey.DUE: lambda row: self._dues.get(row.told.job),
            JobKey.EXPECTED: lambda row: insight.expected_ms(self._stage, row),
            JobKey.SIZE: insight.size_ms,
            JobKey.STRETCH: lambda row: insight.stretch(row, self._at_ms),
            JobKey.SCORE: lambda row: row.launch[1].score if row.launch else None,
            JobKey.GAVE_WAY: lambda row: row.preempted,
        }
        found = keys.get(key)
        if found is None:
            return None

        unknown = float("-inf" if reverse else "inf")

        def known(row: Tally) -> float:
            value = found(row)
            return unknown if value is None else value

        return known
