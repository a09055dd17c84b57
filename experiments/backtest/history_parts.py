"""A history in two parts by submission: the first calibrates, the rest is held back and predicted.

What the first part tells of the cluster goes into the scenario; where it tells nothing the scenario
stands as it is.  Of the jobs that are held back their submissions, tasks and lengths are known, as
of any load that is to be planned for: what is predicted is what the cluster makes of them.  How
long they are initialised is the cluster's doing too, and taken from the first part: its median.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from statistics import median
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from callboard.experiments.backtest.backtest import Backtest, JobErrors
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.user_errors import InputError
from callboard.histories.calibration.calibrate import Calibration, calibration_of
from callboard.histories.recording_file import Imported
from callboard.scenarios.calibrated_scenario import grid_overrides, overrides
from callboard.scheduler.model import JobId

_SHARE = re.compile(r"(?P<percent>[0-9]{1,2}(?:\.[0-9]+)?)%|(?P<part>0?\.[0-9]+)")


class HistoryPart(NamedTuple):
    """Some jobs of a history in the order of their submission, and what they are called."""

    name: str
    first: JobId
    behind: JobId

    def errors_in(self, found: Backtest) -> JobErrors:
        """Its errors."""
        return found.errors_of_job_range(self.first, self.behind)


def unparted_history(jobs: int) -> tuple[HistoryPart, ...]:
    """A history that is not parted."""
    return (HistoryPart("", 0, jobs),)


def part_name_of_job(job: JobId, parts: Sequence[HistoryPart]) -> str:
    """What the part is called in which a job is."""
    return next(part.name for part in parts if part.first <= job < part.behind)


def parted_history(asked: str, jobs: int) -> tuple[HistoryPart, HistoryPart]:
    """The parts by a share such as `60%` or `0.6`; InputError if it is none, or if a part has no
    job.
    """
    match = _SHARE.fullmatch(asked.strip())
    if match is None:
        told = "expected a share of the jobs above 0 and below 100%, as in 60% or 0.6"
        raise InputError(f"--train: {told}; got {asked[:40]!r}")
    share = Decimal(match["part"] or match["percent"]) / (1 if match["part"] else 100)
    first = int(jobs * share)
    if not 0 < first < jobs:
        part = "predict" if first else "learn from"
        raise InputError(f"--train {asked}: of {jobs:,} jobs that leaves none to {part}")
    return HistoryPart(f"first {first:,}", 0, first), HistoryPart("held back", first, jobs)


def calibration_of_part(found: Imported, part: HistoryPart) -> Calibration:
    """What a part of the jobs tells; InputError for a history that keeps no attempts."""
    log = found.log
    if log is None:
        raise InputError("--train: this file of recorded tasks has no attempts; import it again")
    jobs = found.recording.jobs[part.first : part.behind]
    names = np.array(log.names, dtype=object)
    kept = np.isin(names, [job.name for job in jobs])
    return calibration_of(found._replace(log=log.restricted_to_jobs(kept)))


def run_with_typical_initialisation(spec: RunSpec, parts: Sequence[HistoryPart]) -> RunSpec:
    """The run in which jobs that are held back are initialised for the median of the first part's;
    of a history that is not parted all are for as long as they were.
    """
    if len(parts) < 2:
        return spec
    behind = parts[0].behind
    typical_ms = round(median(job.initialisation_ms for job in spec.jobs[:behind]))
    held = [replace(job, initialisation_ms=typical_ms) for job in spec.jobs[behind:]]
    return replace(spec, jobs=(*spec.jobs[:behind], *held))


def trained_overrides(calibration: Calibration) -> list[str]:
    """What the scenario is changed by."""
    return [*overrides(calibration), *grid_overrides(calibration)]
