"""What an order took phases for, beside what they really came to."""

import pytest

from callboard.actors.config import Cluster, Tasks
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.events import AnyEvent, SizeEstimated
from callboard.journal.figures.metrics import Metrics
from callboard.scheduler.model import MAPS, REDUCES
from tests.journal.stories import MAP, REDUCE, STORY, cut_at
from tests.support.world import IN_STEP, job, play


def told(*estimates: SizeEstimated, story: list[AnyEvent] | None = None) -> Metrics:
    """The story, with estimates behind the submission of both jobs."""
    events = list(STORY) if story is None else story
    return Metrics.of([*events[:7], *estimates, *events[7:]])


def test_an_estimate_stands_beside_what_the_tasks_took() -> None:
    """The maps of job 0 that succeeded held slots for 1000 and 1500 ms, its reduce for 3000 ms,
    2199 of them in its shuffle.
    """
    sizes = told(
        SizeEstimated(1000, 0, MAP, 5000, 100), SizeEstimated(1000, 0, REDUCE, 801, 0)
    ).phase_sizes()
    assert (sizes.job.tolist(), sizes.kind.tolist()) == ([0, 0], [MAP, REDUCE])
    assert sizes.real_ms.tolist() == [2500, 801]
    assert sizes.errors(MAPS).tolist() == [2.0]
    assert sizes.errors(REDUCES).tolist() == [1.0]


def test_jobs_can_be_chosen() -> None:
    sizes = told(
        SizeEstimated(1000, 0, MAP, 5000, 0), SizeEstimated(1000, 1, MAP, 500, 0)
    ).phase_sizes()
    assert sizes.errors(MAPS).tolist() == [2.0, 0.5]
    assert sizes.errors(MAPS, [1]).tolist() == [0.5]


def test_what_nobody_measured_or_is_not_done_has_no_error() -> None:
    assert len(told().phase_sizes().job) == 0
    unfinished = told(SizeEstimated(1000, 0, MAP, 5000, 0), story=cut_at(3000))
    assert unfinished.phase_sizes().errors(MAPS).size == 0


def test_hfsp_measures_equal_tasks_rightly_and_unequal_ones_roughly() -> None:
    """Its estimates are of slot time where the tasks ran: only noise within the job errs."""
    errors = {}
    for sigma in (0.0, 0.5):
        run = play(
            [job(0, maps=40, map_ms=20_000, reduces=6, shuffle_ms=5000, reduce_ms=20_000)],
            "hfsp",
            cluster=Cluster(nodes=4, racks=1, map_slots=2, reduce_slots=2, heartbeat=IN_STEP),
            tasks=Tasks(sigma=sigma),
        )
        sizes = Metrics.of(run.events).phase_sizes()
        errors[sigma] = [*sizes.errors(MAPS), *sizes.errors(REDUCES)]
    assert errors[0.0] == pytest.approx([1, 1], abs=0.001)
    assert 0.001 < max(abs(error - 1) for error in errors[0.5]) < 1


def test_an_estimate_is_told_once() -> None:
    """Also where the fact after the one that gave it is an offer, of which orders do not hear."""
    run = play(
        [job(0, maps=12, map_ms=3000), job(1, maps=12, map_ms=20_000)],
        "hfsp(t=4)+delay(node=60,rack=60)",
        cluster=Cluster(nodes=12, racks=2, map_slots=1, reduce_slots=0, replication=1),
        tasks=Tasks(sigma=0.5),
    )
    told = [each for each in run.events if isinstance(each, SizeEstimated)]
    assert len(told) == len({(each.job, each.kind) for each in told}) > 0
    assert all(each.cause != NO_CAUSE for each in told if each.job == 0)
