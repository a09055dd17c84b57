"""All that a history tells of its cluster, and what it cannot."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from callboard.histories.calibration.estimate import Estimate, HistoryFinding, Untold, log_interval
from callboard.histories.calibration.heartbeat_grid import heartbeat_period
from callboard.histories.calibration.slot_counts import replication, slot_counts
from callboard.histories.calibration.slowstart_bounds import slowstart
from callboard.histories.calibration.task_noise import task_noise
from callboard.histories.model.attempt_log import SUCCEEDED, UNTOLD, AttemptLog
from callboard.histories.quantiles import require_scipy, sign_test_rank, student_bound
from callboard.histories.recording_file import Imported, import_files, load_recording_with_attempts
from callboard.scheduler.model import MAP, REDUCE
from callboard.scheduler.text.quantities import count, duration
from callboard.scheduler.text.scenario_error import ScenarioError

UNKNOWN_PERIOD_MS = 3000.0
"""Taken for the heartbeat period where the history does not tell it: Hadoop's least before 1.2."""

_NEVER_TOLD = (
    Untold("speeds of nodes", "what a slow node adds cannot be told from noise and stragglers"),
    Untold("latency", "a start tells the heartbeat and the way to the node together"),
    Untold("the policy", "`callboard backtest` says how well one would have done the same"),
)


class Calibration(NamedTuple):
    """What a history tells, what it does not, and what was read of it."""

    estimates: tuple[Estimate, ...]
    untold: tuple[Untold, ...]
    imported: Imported

    def estimate_of(self, field: str) -> Estimate | None:
        """The estimate of a scenario's field."""
        return next((each for each in self.estimates if each.field == field), None)


def calibrate(paths: Sequence[Path], columns: str = "", confidence: float = 0.95) -> Calibration:
    """Estimate what can be; raises what reading does, and MissingExtraError without SciPy."""
    require_scipy()
    imported = (
        load_recording_with_attempts(paths[0], columns)
        if len(paths) == 1
        else import_files(paths, columns)
    )
    if imported.log is None:
        problem = "this file of recorded tasks has no attempts; import the history again"
        raise ScenarioError(problem, source=paths[0])
    return calibration_of(imported, confidence)


def calibration_of(imported: Imported, confidence: float = 0.95) -> Calibration:
    """What the attempts of an imported history tell; they must have been kept."""
    assert imported.log is not None
    findings = history_findings(imported.log, confidence)
    estimates = tuple(each for each in findings if isinstance(each, Estimate))
    untold = tuple(each for each in findings if isinstance(each, Untold))
    return Calibration(estimates, (*untold, *_NEVER_TOLD), imported)


def history_findings(log_: AttemptLog, confidence: float) -> list[HistoryFinding]:
    """Every estimate that the attempts allow, at this confidence."""
    period = heartbeat_period(log_, confidence)
    told = isinstance(period, Estimate) and period.value is not None
    period_ms = period.value if told and isinstance(period, Estimate) else None
    slots = slot_counts(log_, period_ms or UNKNOWN_PERIOD_MS)
    reduces = slots[1].value if isinstance(slots[1], Estimate) else None
    all_reduces = (reduces or 0) * log_.hosts
    return [
        *slots,
        replication(log_),
        period,
        *task_noise(log_, confidence),
        shuffle_rate(log_, confidence),
        slowstart(log_, period_ms or UNKNOWN_PERIOD_MS, all_reduces),
        job_initialisation(log_, confidence),
    ]


def job_initialisation(log_: AttemptLog, confidence: float) -> HistoryFinding:
    """How long jobs take from their submission until they have been initialised: the median job's,
    between two jobs by the sign test.
    """
    name = "job initialisation"
    told = (log_.submit_ms != UNTOLD) & (log_.launch_ms != UNTOLD)
    lengths = np.maximum(log_.launch_ms - log_.submit_ms, 0)[told].astype(np.float64)
    if not len(lengths):
        return Untold(name, "no job tells when it had been initialised")
    rank = sign_test_rank(len(lengths), confidence)
    if not rank:
        few = f"only {count(len(lengths), 'job')} tell when: too few for an interval of the median"
        return Untold(name, few)
    ordered, median = np.sort(lengths), float(np.median(lengths))
    least, most = (duration(each) for each in (ordered[0], ordered[-1]))
    of = f"the median of {count(len(lengths), 'job')}, {least} to {most}, each played with its own"
    low, high = float(ordered[rank - 1]), float(ordered[-rank])
    return Estimate(name, "", median, low, high, "ms", of)


def shuffle_rate(log_: AttemptLog, confidence: float) -> HistoryFinding:
    """Bytes a second of reduces that began when all maps were done: they waited for none."""
    name = "shuffle rate"
    if not (log_.kind == REDUCE).any():
        return Untold(name, "there is no reduce")
    known = log_.placed_rows(REDUCE) & (log_.ending == SUCCEEDED) & (log_.shuffled_ms != UNTOLD)
    if not known.any():
        return Untold(name, "no reduce that succeeded tells when its shuffle ended")
    last_map = np.full(len(log_.maps), UNTOLD)
    maps = (log_.kind == MAP) & (log_.ending == SUCCEEDED)
    ends = np.maximum(log_.booked_ms[maps], log_.end_ms[maps])
    np.maximum.at(last_map, log_.job[maps], ends)
    kept = known & (log_.begin_ms >= last_map[log_.job]) & (log_.shuffled_ms > log_.begin_ms)
    if not kept.any():
        return Untold(name, "no reduce began after its job's last map: all waited in their shuffle")
    kept &= log_.shuffled_bytes > 0
    if kept.sum() < 3:
        told = f"only {int(kept.sum())}" if kept.any() else "none"
        return Untold(name, f"{told} of the reduces that waited for no map tell their bytes")
    seconds = (log_.shuffled_ms - log_.begin_ms)[kept] / 1000
    rates = np.log(log_.shuffled_bytes[kept] / 1e6 / seconds)
    error = float(rates.std(ddof=1)) / len(rates) ** 0.5
    half = student_bound(len(rates) - 1, confidence) * error
    value = float(np.exp(rates.mean()))
    half += 0.5 / 1000 / float(np.median(seconds))
    of = f"{len(rates):,} reduces that waited for no map"
    return Estimate(name, "", value, *log_interval(value, half), "MB/s", of)
