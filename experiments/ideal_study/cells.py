"""A cell of the experiment, and what it takes to compute one."""

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from callboard.experiments.ideal_study.swim import Trace
from callboard.scheduler import ideal
from callboard.scheduler.ideal.report_workload import estimates, normals, sizes_from_bytes
from callboard.scheduler.numba_cache import package_digest


class Point(NamedTuple):
    """Where in the report's space of parameters: load, d/n, sigma."""

    load: float
    dn: float
    sigma: float


class StudyCell(NamedTuple):
    """One discipline at one point on one trace; `trace` is the trace's digest.

    Made by `Study.cell`, so that what cannot differ is one cell: disciplines that are blind to
    estimates have sigma 0, and where sigma is 0 the seed is 0 and there is one run.
    """

    trace: str
    model: str
    discipline: str
    load: float
    dn: float
    sigma: float
    seed: int

    def runs(self, wanted: int) -> range:
        """The runs of this cell when `wanted` are asked for."""
        return range(wanted if self.sigma else 1)


class RunOutcome(NamedTuple):
    """Of a run: sojourns in seconds, and the mean of sojourn / size over jobs that have a size."""

    mean_s: float
    median_s: float
    p95_s: float
    slowdown: float


def run_outcomes(trace: Trace, cell: StudyCell, runs: Sequence[int]) -> list[RunOutcome]:
    """What each of these runs of the cell comes to; raises `ValueError` for a trace that has no
    load.
    """
    size = sizes_from_bytes(
        trace.submit_s,
        trace.input_bytes,
        trace.shuffle_bytes,
        trace.output_bytes,
        cell.load,
        cell.dn,
        cell.model,
    )
    outcomes = []
    for run in runs:
        believed = estimates(size, cell.sigma, cell.seed, run)
        sojourn = ideal.simulate(cell.discipline, trace.submit_s, size, believed) - trace.submit_s
        median, p95 = np.percentile(sojourn, [50, 95])
        slowdown = (sojourn[size > 0] / size[size > 0]).mean()
        outcomes.append(
            RunOutcome(float(sojourn.mean()), float(median), float(p95), float(slowdown))
        )
    return outcomes


@cache
def program_digest() -> str:
    """A digest of the ideal machine's sources, of this module, and of the first draws, which NumPy
    may change from version to version.
    """
    of_package = package_digest(Path(ideal.__file__).parent)
    digest = blake2b(of_package.encode(), digest_size=8)
    digest.update(Path(__file__).read_bytes())
    digest.update(normals(0, 0, 8).tobytes())
    return digest.hexdigest()
