"""Figures of bursts, from runs that are worked by hand."""

import pytest

from callboard.actors.config import Cluster
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.reproduction.hfsp_figures import peak_in_burst
from callboard.experiments.reproduction.metered_run import MeteredRun
from tests.support.world import job, spec_of

HOUR_MS = 3_600_000


@pytest.mark.parametrize("end_h", [1.2, 1.9])
def test_jobs_that_are_there_when_a_burst_begins_count_at_its_peak(end_h: float) -> None:
    """HFSP's Figure 10 shows how many jobs there are, of which one ends here after an hour and a
    half: none comes or goes before.
    """
    jobs = [job(n, map_ms=length_ms) for n, length_ms in enumerate((HOUR_MS * 3 // 2, 2 * HOUR_MS))]
    result = RunTask(spec_of(jobs, cluster=Cluster(nodes=1, racks=1))).run()
    assert peak_in_burst(MeteredRun(result, {}), 1.0, end_h) == 2
