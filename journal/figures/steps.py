"""Step functions of virtual time: jobs in the system, busy slots."""

from dataclasses import dataclass

import numpy as np

from callboard.journal.figures.tables import Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """A count over time: `counts[i]` holds from `times[i]` (ms) up to `times[i + 1]`.

    `times` begins with 0 and strictly increases; neighbouring counts differ.  The last count
    holds to the end of the run, `until_ms`.
    """

    times: Ints
    counts: Ints
    until_ms: int

    def integral(self) -> int:
        """The area under the steps from 0 to the end of the run, in count × ms, exactly."""
        widths = np.diff(self.times, append=self.until_ms)
        return int(self.counts @ widths)

    def mean(self) -> float | None:
        """The average count over the run; None for a run of no length."""
        return self.integral() / self.until_ms if self.until_ms else None

    def peak(self) -> int:
        """The highest count that held for at least 1 ms."""
        held = np.diff(self.times, append=self.until_ms) > 0
        return int(self.counts[held].max(initial=0))


def steps(begins: Ints, ends: Ints, until_ms: int) -> Steps:
    """How many of the intervals [begin, end) cover each moment."""
    moments = np.concatenate((np.zeros(1, np.int64), begins, ends))
    change = np.concatenate(
        (np.zeros(1, np.int64), np.ones(len(begins), np.int64), np.full(len(ends), -1, np.int64))
    )
    order = np.argsort(moments, kind="stable")
    times, first = np.unique(moments[order], return_index=True)
    counts = np.add.reduceat(change[order], first).cumsum()
    kept = np.concatenate((np.ones(1, np.bool_), counts[1:] != counts[:-1]))
    return Steps(times[kept], counts[kept], until_ms)
