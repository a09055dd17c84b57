"""Orders by a key: a job stands by its key of now, whatever of the job the key is made of (S15)."""

import pytest

from callboard.journal.checks.findings import Violation
from callboard.scheduler.facts import Closed, Fact, StageFact
from callboard.scheduler.model import MAPS, SlotKind
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.policy import Order, Policy
from callboard.scheduler.view import ClusterView, JobView
from tests.support.world import job, play

JOBS = [
    job(0, maps=6, map_ms=8000, reduces=6, reduce_ms=5000),
    job(1, maps=9, map_ms=5000, reduces=6, reduce_ms=5000, submit_ms=2000),
    job(2, maps=3, map_ms=9000, reduces=6, reduce_ms=5000, submit_ms=2000),
]


class MapsLeft(KeyedOrder):
    """Fewest maps to be done first, for reduces as well."""

    name = "maps-left"
    summary = "for tests"

    def key(self, job: JobView, kind: SlotKind) -> SortKey:  # noqa: ARG002
        return (job.total(MAPS) - job.finished(MAPS), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0])


class TimeTaken(MapsLeft):
    """First the job whose tasks took the least so far; its `__init__` forgets the other one."""

    def __init__(self) -> None:
        self.took_ms: dict[int, int] = {}

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, Closed):
            self.took_ms[fact.job] = self.took_ms.get(fact.job, 0) + fact.ran_ms
        super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:  # noqa: ARG002
        return (self.took_ms.get(job.job, 0), job.submitted_ms)


class BySlots(Fifo):
    """Fifo's queue, by another key."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (job.running(kind), *super().key(job, kind))

    def score(self, key: SortKey) -> float:
        return float(key[0])


@pytest.mark.parametrize("order", [MapsLeft, TimeTaken, BySlots])
def test_a_key_of_the_job_itself_or_of_what_is_known_of_it_is_that_of_now(
    order: type[Order],
) -> None:
    """Else S15 breaks, as below."""
    assert len(play(JOBS, Policy(order())).launches()) == 36


class OfItsStage(MapsLeft):
    """Keys a job anew by the facts of one stage alone."""

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, StageFact):
            self.place(fact.job, fact.kind, view)
        else:
            super().observe(fact, view)


class OfAll(MapsLeft):
    """Compares by what changes with others' facts."""

    ended = 0

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self.ended += isinstance(fact, Closed)
        super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:  # noqa: ARG002
        return (self.ended, job.submitted_ms)


@pytest.mark.parametrize("order", [OfItsStage, OfAll])
def test_a_key_that_is_out_of_date_is_found(order: type[Order]) -> None:
    with pytest.raises(Violation) as found:
        play(JOBS, Policy(order()), recount=False)
    assert found.value.rule == "S15"
    assert "and its key is " in found.value.explanation
