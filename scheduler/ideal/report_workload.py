"""The report's workloads: sizes in seconds from bytes, and estimates with errors (the simulator
report, RR-13-282, §2.1 and §2.2; the released simulator for the variant `schedsim`).
"""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from callboard.scheduler.ideal.disciplines import FloatRow

SizeModel: TypeAlias = Literal["report", "schedsim"]
SIZE_MODELS: tuple[str, ...] = get_args(SizeModel)

_PURPOSE = int.from_bytes(b"estimate", "big")


def sizes_from_bytes(
    submit_s: ArrayLike,
    input_bytes: ArrayLike,
    shuffle_bytes: ArrayLike,
    output_bytes: ArrayLike,
    load: float = 0.9,
    disk_over_network: float = 4.0,
    model: str = "report",
) -> FloatRow:
    """Seconds that each job needs with the whole cluster, so that the system has load `load`.

    `disk_over_network` is the ratio of aggregate disk to network bandwidth, d/n in the report:
    the larger it is, the dearer a shuffled byte.  With c seconds a byte of disk,

    - `report`: S = c·(input + output) + c·(d/n)·shuffle, and c such that the sizes sum to `load`
      times the seconds from the first to the last submission (§2.2);
    - `schedsim`, as the released simulator reads a trace: S = c·(input + (1 + d/n)·shuffle +
      output), and the seconds are counted from 0 to the last submission.

    Raises `ValueError` for a load or ratio that is not a finite number above 0, an unknown
    model, no jobs, no bytes at all, or no time between the submissions.
    """
    for name, value in (("load", load), ("d/n", disk_over_network)):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{name}: {value} is not a finite number above 0")
    if model not in SIZE_MODELS:
        raise ValueError(f"no size model {model!r}; there are {', '.join(SIZE_MODELS)}")
    submit, read, shuffled, written = (
        np.asarray(row, dtype=np.float64)
        for row in (submit_s, input_bytes, shuffle_bytes, output_bytes)
    )
    if not len(submit):
        raise ValueError("no jobs")
    cost = disk_over_network + (1 if model == "schedsim" else 0)
    work = read + cost * shuffled + written
    span = float(submit.max() - (submit.min() if model == "report" else 0))
    if span <= 0:
        raise ValueError("all jobs are submitted at one instant, so there is no load to speak of")
    if work.sum() <= 0:
        raise ValueError("no job reads, shuffles or writes a byte")
    scaled: FloatRow = work * (load * span / work.sum())
    return scaled


def normals(seed: int, run: int, jobs: int) -> FloatRow:
    """One standard normal number a job, at the address (seed, "estimate", run, job): NumPy's
    Philox, keyed by a SeedSequence over (seed, purpose, run).

    A longer row begins with the shorter one.  Every discipline, load, ratio and sigma sees the same
    draws (common random numbers).
    """
    key = np.random.SeedSequence([seed, _PURPOSE, run])
    return np.random.Generator(np.random.Philox(key)).standard_normal(jobs)


def estimates(true_sizes: FloatRow, sigma: float, seed: int, run: int) -> FloatRow:
    """The sizes times log-normal errors, exp(sigma · z): median 1 (report §2.1).

    Raises `ValueError` for a sigma that is negative, not finite, or so large that an estimate
    overflows.
    """
    if not (np.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"sigma: {sigma} is not a finite number of 0 or more")
    if sigma == 0:
        return true_sizes
    with np.errstate(over="ignore", invalid="ignore"):
        wrong: FloatRow = true_sizes * np.exp(sigma * normals(seed, run, len(true_sizes)))
    if not np.isfinite(wrong).all():
        raise ValueError(f"sigma: {sigma} is so large that an estimate is too large for a float")
    return wrong
