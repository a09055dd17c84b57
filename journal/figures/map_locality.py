"""Where each job's maps were launched: beside their input, in its rack, or elsewhere."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from callboard.journal.figures.summary import LocalityShares
from callboard.journal.figures.tables import Ints
from callboard.journal.run_records import JobRecord
from callboard.scheduler.model import JobId


@dataclass(frozen=True, eq=False)
class MapLocality:
    """One row for each submitted job, by job id: how many of its maps were launched at which level,
    speculative ones and those that ran again included.
    """

    job: Ints
    node: Ints
    rack: Ints
    off_rack: Ints

    def shares(self, jobs: Collection[JobId] | None = None) -> LocalityShares:
        """Of all launched maps of these jobs, or of all; None where there was none."""
        chosen = np.isin(self.job, list(self.job if jobs is None else jobs))
        counts = [int(level[chosen].sum()) for level in (self.node, self.rack, self.off_rack)]
        total = sum(counts)
        return LocalityShares(*(count / total if total else None for count in counts))


def map_locality(jobs: Iterable[JobRecord]) -> MapLocality:
    """The table of these jobs."""
    ordered = sorted(jobs, key=lambda job: job.submission.job)
    rows = [(job.submission.job, *job.levels) for job in ordered]
    return MapLocality(*np.array(rows, np.int64).reshape(-1, 4).T)
