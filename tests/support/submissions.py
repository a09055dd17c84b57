"""Jobs put into books by hand."""

from collections.abc import Sequence

import numpy as np

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.vocabulary.messages import JobProfile, MapWork, SubmitStage
from callboard.scheduler.model import MAPS, JobId, NodeId, Priority


def submit_maps(
    ledger: Ledger, job: JobId, *, homes: Sequence[NodeId], reduces: int = 0
) -> BookedJob:
    """A job whose maps may run now, each with its input on one node."""
    profile = JobProfile("u", "", Priority.NORMAL, (len(homes), reduces))
    blocks = (1, np.array(homes, dtype="<i4").tobytes())
    ledger.submit_stage(SubmitStage(job, profile, MAPS, MapWork(1), *blocks), cause=1)
    return ledger.job(job)
