"""The oracle tells the truth, draws addressed errors, and speaks only to who says so."""

import pytest

from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AttemptEnded, AttemptLaunched, AttemptStarted
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.scheduler.model import MAPS, REDUCES, STAGES, Stage
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.single_server import Sjf, Srpt
from callboard.scheduler.orders.size_based.size_source import SizeParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.world import job, play

NOISY = Tasks(sigma=0.7, rack_factor=1.0, off_rack_factor=1.0)
JOBS = [job(n, maps=3 + n, map_ms=8000, reduces=n, reduce_ms=5000) for n in range(3)]


def test_the_truth_is_what_slots_really_take() -> None:
    """With local speed everywhere, a job's maps take together, to the ms, what the oracle says."""
    run = play(JOBS, "fifo", cluster=Cluster(nodes=3, racks=1), tasks=NOISY, seed=5)
    job_of = {e.attempt: (e.job, e.stage) for e in run.all(AttemptLaunched)}
    took: dict[tuple[int, Stage], int] = {}
    for end in run.all(AttemptEnded):
        took[job_of[end.attempt]] = took.get(job_of[end.attempt], 0) + end.at_ms - end.started_ms
    truth = WorkloadOracle(JOBS, NOISY, 5)
    for spec in JOBS:
        assert truth.size_ms(spec.job, MAPS) == took[spec.job, MAPS]
    assert len(run.all(AttemptStarted)) == sum(spec.maps + spec.reduces for spec in JOBS)


def test_the_truth_knows_how_long_a_mean_task_takes_on_a_kind_of_node() -> None:
    """What COSHH calls m(J, R): noise and all, on a node of speed 1."""
    spec = job(0, maps=4, map_ms=8000, reduces=2, reduce_ms=3000, factors=(("io", 0.25),))
    truth = WorkloadOracle([spec, job(1)], Tasks(), 1)
    told = [truth.mean_task_ms(0, stage, on) for stage in STAGES for on in ("", "io")]
    assert told == [8000, 2000, 3000, 750]
    assert truth.mean_task_ms(1, REDUCES, "io") == 0
    noisy = WorkloadOracle([spec], NOISY, 5)
    assert noisy.mean_task_ms(0, MAPS, "io") == noisy.size_ms(0, MAPS) / 4 * 0.25


def test_errors_are_paired_and_depend_on_the_seed() -> None:
    draws = [WorkloadOracle(JOBS, NOISY, seed).normal(1, MAPS) for seed in (5, 5, 6)]
    assert draws[0] == draws[1] != draws[2]
    believed = []
    for make in (Srpt, Sjf):
        order = make(SizeParams(size="oracle", sigma=1.0))
        order.set_oracle(WorkloadOracle(JOBS, Tasks(), 5))
        run = play(JOBS, "fifo", until_ms=10)
        views = list(run.master.ledger.jobs())
        believed.append([order.sizes.size_ms(view, stage) for view in views for stage in STAGES])
    assert believed[0] == believed[1]
    exact = [
        WorkloadOracle(JOBS, Tasks(), 5).size_ms(s.job, stage) for s in JOBS for stage in STAGES
    ]
    assert believed[0] != exact


class Curious(Fifo):
    """An order that would like to know the truth and does not say so."""

    asked = False

    def set_oracle(self, oracle: object) -> None:  # noqa: ARG002
        self.asked = True


def test_nobody_is_told_who_does_not_ask_in_public() -> None:
    order = Curious()
    play(JOBS, Policy(order))
    assert not order.asked
    assert not any(Policy(make()).wants_oracle for make in ORDERS.values())


@pytest.mark.parametrize("order", [Hfsp(Hfsp.Params(size="oracle")), Srpt(SizeParams("oracle"))])
def test_who_goes_by_the_truth_says_oracle(order: Srpt | Hfsp) -> None:
    policy = Policy(order)
    assert policy.wants_oracle
    assert order.params.size == "oracle"
    play(JOBS, policy)


def test_skewed_tasks_count_with_their_skew() -> None:
    spec = JobSpec(job=0, name="j", submit_ms=0, maps=4, map_ms=1000, skewed=((1, 3), ()), skew=5.0)
    assert WorkloadOracle([spec], Tasks(), 1).size_ms(0, MAPS) == 12_000
