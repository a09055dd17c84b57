"""HFSP against its paper: Figures 2, 3 and 5, Algorithm 1, training, priorities."""

from collections.abc import Mapping
from math import log
from typing import Any, Literal

import pytest

from callboard.scheduler.decisions import SizeEstimate
from callboard.scheduler.facts import Closed, Launched, NodeJoined, Progressed
from callboard.scheduler.model import MAPS, REDUCES, Priority, Stage
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.single_server import Ps
from callboard.scheduler.orders.size_based.training import TaskTimeHistory, TrainingPhase
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import Reason
from tests.support.machine import MAP, FixedOracle, Machine, Work, work
from tests.support.view import FakeCluster, FakeJob, FakeNode, heartbeats, informed, queued

ORACLE = Hfsp.Params(size="oracle")


def cut(job: int, size_ms: int, at_ms: int = 0, task_ms: int = 10) -> Work:
    return work(job, *[task_ms] * (size_ms // task_ms), at_ms=at_ms)


def mean_s(sizes: Mapping[int, int], believed: Mapping[int, int] | None = None) -> float:
    jobs = [cut(n, size) for n, size in sizes.items()]
    return Machine(Hfsp(ORACLE), jobs, believed=believed).play().mean_ms() / 1000


def test_figure_2_page_3_one_estimate_right_or_inverted() -> None:
    """J1 of 3 s, J2 of 2 s: J2 at 2, J1 at 5, mean 3.5; inverted, J1 at 3, J2 at 5, mean 4."""
    assert mean_s({1: 3000, 2: 2000}) == 3.5
    assert mean_s({1: 3000, 2: 2000}, believed={1: 2000, 2: 3000}) == 4.0


def test_figure_2_page_3_flapping() -> None:
    """The same sizes, cut so that each mean misleads in its turn: re-estimating after every task
    gives J1 at 5 and J2 at 4, mean 4.5, as in the figure; one estimate gives 3.5 and 5, mean 4.25.
    """
    flapping = Machine(Hfsp(Hfsp.Params(t=1, T=1, flapping=True)), flapping_jobs()).play()
    assert (flapping.ends, flapping.mean_ms()) == ({1: 5000, 2: 4000}, 4500)
    once = Machine(Hfsp(Hfsp.Params(t=1, T=1)), flapping_jobs()).play()
    assert (once.ends, once.mean_ms()) == ({1: 3500, 2: 5000}, 4250)


def flapping_jobs() -> list[Work]:
    return [work(1, 500, 1500, 1000), work(2, 500, 500, 1000)]


def test_figure_3_page_4_virtual_sizes() -> None:
    """Jobs of 3 and 4 s at 0, job 3 of 3 s at 3 s: then the virtual sizes are 1.5, 2.5 and 3."""
    jobs = [cut(1, 3000), cut(2, 4000), cut(3, 3000, at_ms=3000)]
    ends = Machine(Hfsp(ORACLE), jobs).play().ends
    again = Hfsp(ORACLE)
    policy, cluster = Policy(again), FakeCluster([FakeNode(0, (1, 0))], list(jobs[:2]))
    for job in jobs:
        job.pending_ = [len(job.lengths), 0]
    again.set_oracle(FixedOracle(jobs))
    informed(policy, cluster)
    cluster.now_ms = 3000
    cluster._jobs[3] = jobs[2]
    again.enter(3, MAP, cluster)
    virtual = [again.clusters[MAP].size_ms(n, 3000) for n in (1, 2, 3)]
    assert virtual == [1500.0, 2500.0, 3000.0]
    assert queued(again, MAP, cluster) == [(1, 1.5), (2, 2.5), (3, 3.0)]
    # So job 2 goes before job 3, although job 3 is really shorter.
    assert ends == {1: 3000, 2: 7000, 3: 10_000}


@pytest.mark.parametrize(
    ("sizes", "right", "inverted", "shared"),
    [({1: 1000, 2: 2000}, 2.0, 2.5, 2.5), ({1: 1000, 2: 10_000}, 6.0, 10.5, 6.5)],
)
def test_figure_5_page_6_errors(
    sizes: dict[int, int], right: float, inverted: float, shared: float
) -> None:
    """Similar sizes: an inversion costs no more than sharing.  Different ones: it costs much."""
    assert mean_s(sizes) == right
    assert mean_s(sizes, believed={1: sizes[2] + 1000, 2: sizes[1]}) == inverted
    ps = Machine(Ps(), [cut(n, size) for n, size in sizes.items()]).play()
    assert ps.mean_ms() / 1000 == pytest.approx(shared, abs=0.01)


def test_algorithm_1_page_5_step_by_step() -> None:
    """Three slots, t = 2, T = 2, s0 = 60 s.  A: six maps of 10 s at 0; B: three of 4 s at 1.

    0 s: two slots train A; then T_curr = T, so the third goes by virtual size: A again.
    10 s: A's training tasks are told first: s̄ = 10, S_f = 10 · (6 − 2) = 40.  T_curr is 0, B is
    in training: two slots train it.  The third goes by virtual size: A's 40 is below B's 46.5
    (60 less 9 s at half of three slots).
    14 s: B's end: s̄ = 4, S_f = 4 · (3 − 2) = 4.  B's third map goes first, then A.
    18 s: B's is done; its slot goes to A's last one.
    """
    jobs = [work(0, *[10_000] * 6), work(1, *[4000] * 3, at_ms=1000)]
    machine = Machine(Hfsp(Hfsp.Params(t=2, T=2)), jobs, slots=3).play()
    told = [(at, job, why.reason, round(why.score, 3)) for at, job, why in machine.launches]
    assert told == [
        (0, 0, Reason.TRAINING, 60.0),
        (0, 0, Reason.TRAINING, 60.0),
        (0, 0, Reason.BY_KEY, 60.0),
        (10_000, 1, Reason.TRAINING, 60.0),
        (10_000, 1, Reason.TRAINING, 60.0),
        (10_000, 0, Reason.BY_KEY, 40.0),
        (14_000, 1, Reason.BY_KEY, 4.0),
        (14_000, 0, Reason.BY_KEY, 34.0),
        (18_000, 0, Reason.BY_KEY, 26.0),
    ]
    assert machine.ends == {1: 18_000, 0: 28_000}


def test_no_more_than_t_slots_train_at_once() -> None:
    """T of 3, ten jobs at once on eight slots: three train, the others go by virtual size."""
    jobs = [work(n, *[5000] * 9) for n in range(10)]
    machine = Machine(Hfsp(Hfsp.Params(T=3)), jobs, slots=8).play()
    rules = [why.reason for at, _, why in machine.launches if at == 0]
    assert rules == [Reason.TRAINING] * 3 + [Reason.BY_KEY] * 5


def test_after_t_training_tasks_a_phase_asks_for_no_more_training_slots() -> None:
    """Four slots may train and t is 2: the third task goes by virtual size."""
    machine = Machine(Hfsp(Hfsp.Params(t=2, T=4)), [work(0, *[1000] * 3)], slots=3).play()
    assert [why.reason for *_, why in machine.launches] == [Reason.TRAINING] * 2 + [Reason.BY_KEY]


def test_a_training_task_that_came_by_its_virtual_size_takes_no_training_slot() -> None:
    """T = 1, two slots: A's second task is launched by the second branch of Algorithm 1.  When the
    first ends, at 5 s, no slot trains, although the second runs on; so B may train.
    """
    jobs = [work(0, 5000, 20_000, 5000), work(1, *[5000] * 3, at_ms=1000)]
    machine = Machine(Hfsp(Hfsp.Params(t=2, T=1)), jobs, slots=2).play()
    told = [(at, job, why.reason) for at, job, why in machine.launches[:3]]
    assert told == [(0, 0, Reason.TRAINING), (0, 0, Reason.BY_KEY), (5000, 1, Reason.TRAINING)]


def test_the_final_size_as_printed_with_a_task_measured_on_its_way() -> None:
    """III-A: t = 2, five tasks.  One ended in 20 s; the other had done a quarter after 60 s, so
    s̃ is 240 s.  s̄ = 130, and S_f = 130 · [(5 − 2) + 0 + 0.75] = 487.5 s.
    """
    training = TrainingPhase(5, 2)
    assert [training.note_launch(n) for n in (1, 2, 3)] == [True, True, False]
    training.note_end(Closed(0, MAPS, 1, 0, True, 20_000))
    trained = []
    for progress, ran_ms in ((0.24, 59_999), (0.25, 60_000)):
        training.note_progress(Progressed(0, MAPS, 2, progress, ran_ms), 60_000)
        trained.append(training.is_trained)
    assert trained == [False, True]
    assert training.final_size_ms() == 487_500


def test_a_reduces_progress_counts_from_the_end_of_its_shuffle() -> None:
    """100 s of shuffle, then 60 s, in which half of the rest (1/3 + 1/2 · 2/3) was done: 120 s."""
    training = TrainingPhase(1, 1)
    training.note_launch(1)
    training.note_progress(Progressed(0, REDUCES, 1, 0.0, 100_000, 100_000), 60_000)
    assert not training.is_trained
    training.note_progress(Progressed(0, REDUCES, 1, 2 / 3, 160_000, 100_000), 60_000)
    assert training.mean_ms() == pytest.approx(120_000)


def test_a_task_beyond_the_training_tasks_measures_nothing_however_early_it_ends() -> None:
    """Else the shortest of all that run would be taken for the usual."""
    training = TrainingPhase(5, 2)
    assert [training.note_launch(n) for n in (1, 2, 3)] == [True, True, False]
    trained = []
    for attempt, ran_ms in ((3, 1000), (1, 20_000), (2, 30_000)):
        training.note_end(Closed(0, MAPS, attempt, 0, True, ran_ms))
        trained.append(training.is_trained)
    assert trained == [False, False, True]
    assert training.mean_ms() == 25_000


def test_a_killed_training_task_is_replaced() -> None:
    training = TrainingPhase(4, 2)
    assert training.note_launch(1)
    assert training.note_launch(2)
    training.note_end(Closed(0, MAPS, 1, 0, False, 500))
    assert (training.tasks_to_launch, training.note_launch(3), training.note_launch(4)) == (
        1,
        True,
        False,
    )


def test_a_map_that_has_done_nothing_after_delta_says_nothing() -> None:
    training = TrainingPhase(1, 1)
    training.note_launch(1)
    training.note_progress(Progressed(0, MAPS, 1, 0.0, 60_000), 60_000)
    assert not training.is_trained


def test_what_a_training_task_had_told_stands_when_it_ends() -> None:
    """It told 120 s and took 100: the size is what was told, and it is done."""
    training = TrainingPhase(3, 1)
    training.note_launch(1)
    training.note_progress(Progressed(0, MAPS, 1, 0.5, 60_000), 60_000)
    training.note_end(Closed(0, MAPS, 1, 0, True, 100_000))
    assert training.final_size_ms() == 2 * 120_000


def test_a_reduces_shuffle_is_no_part_of_its_size() -> None:
    """III-A: of 90 s, 50 in the shuffle, 40 count: in training and in the mean of all jobs."""
    ended = Closed(0, REDUCES, 1, 0, True, 90_000, 50_000)
    training, history = TrainingPhase(1, 1), TaskTimeHistory()
    training.note_launch(1)
    training.note_end(ended)
    assert training.mean_ms() == 40_000
    history.learn_end(ended)
    history.learn_completed_job(0)
    assert history.usual_tasks_ms(3, REDUCES) == 120_000


@pytest.mark.parametrize("first", [1, 2])
def test_a_copied_training_task_is_measured_by_whichever_ends_well(first: int) -> None:
    """And the other one's end, or one of them killed before, asks for no new training task."""
    training = TrainingPhase(4, 1)
    training.note_launch(1)
    training.note_copy(1, 2)
    training.note_end(Closed(0, MAPS, first, 0, False, 500))
    assert training.tasks_to_launch == 0
    training.note_end(Closed(0, MAPS, 3 - first, 0, True, 7000))
    assert (training.is_trained, training.mean_ms(), training.tasks_to_launch) == (True, 7000, 0)


@pytest.mark.parametrize("first", [1, 2])
def test_the_loser_of_a_copied_training_task_changes_nothing(first: int) -> None:
    training = TrainingPhase(4, 1)
    training.note_launch(1)
    training.note_copy(1, 2)
    training.note_end(Closed(0, MAPS, first, 0, True, 7000))
    training.note_end(Closed(0, MAPS, 3 - first, 0, False, 7100))
    assert (training.final_size_ms(), training.tasks_to_launch) == (21_000, 0)


def in_training(t: int = 2, maps: int = 5, slots: int = 1) -> tuple[Policy, Hfsp, FakeCluster]:
    """A job whose first maps train."""
    order = Hfsp(Hfsp.Params(t=t, delta=2.0))
    cluster = FakeCluster([FakeNode(0, (slots, 0))], [FakeJob(0, [maps, 0])])
    policy = informed(Policy(order), cluster)
    heartbeats(policy, cluster)
    return policy, order, cluster


def test_a_copy_of_a_training_task_is_no_training_task_of_its_own() -> None:
    policy, order, cluster = in_training(slots=1)
    policy.observe(Launched(0, MAPS, 9, 0, original=1), cluster)
    assert len(order.training_slots[MAP]) == 1
    assert order.urgent_tasks(MAP, cluster) == [(0, 1)]


def test_only_training_tasks_are_measured_while_they_run() -> None:
    _, order, _ = in_training(slots=1)
    told_of = [Launched(0, MAPS, 1, 0), Launched(0, MAPS, 9, 0), Launched(3, MAPS, 4, 0)]
    assert [order.wants_progress_of(launched) for launched in told_of] == [True, False, False]
    assert order.wants_progress
    assert not Hfsp(ORACLE).wants_progress


def test_progress_of_a_job_that_does_not_train_is_nothing() -> None:
    policy, order, cluster = in_training(t=5, maps=2)
    policy.observe(Progressed(0, MAPS, 1, 0.5, 60_000), cluster)
    assert queued(order, MAP, cluster) == [(0, 0.0)]


def test_progress_before_delta_says_nothing() -> None:
    policy, order, cluster = in_training(t=1, maps=2)
    for ran_ms, training in ((1999, {1}), (2000, set())):
        policy.observe(Progressed(0, MAPS, 1, 0.5, ran_ms), cluster)
        assert order.spared_attempts(MAP) == training


def test_a_size_is_announced_once_when_training_ends() -> None:
    """t = 2 of five maps: 20 s, and a quarter in 60 s, which is 240 s.  So s̄ = 130 s, all of it
    650 s, and S_f = 130 · (3 + 0.75) s.
    """
    policy, order, cluster = in_training(t=2, maps=5, slots=2)
    told = []
    for fact in (
        Closed(0, MAPS, 1, 0, True, 20_000),
        Progressed(0, MAPS, 2, 0.25, 60_000),
        Progressed(0, MAPS, 2, 0.5, 90_000),
    ):
        policy.observe(fact, cluster)
        told.append(order.last_estimate)
    assert told == [None, SizeEstimate(0, MAPS, 650_000, 487_500), None]


def test_a_measured_phase_uses_as_many_slots_as_it_has_tasks_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two of five maps took 10 s each: of a hundred slots the other three use three."""
    policy, order, cluster = in_training(t=2, maps=5, slots=100)
    monkeypatch.setattr(FakeJob, "finished", lambda *_: 2)
    for attempt in (1, 2):
        policy.observe(Closed(0, MAPS, attempt, 0, True, 10_000), cluster)
    virtual = [order.clusters[MAP].size_ms(0, cluster.now_ms + after) for after in (0, 1000)]
    assert virtual == [30_000.0, 27_000.0]


def test_a_phase_of_exactly_t_tasks_is_not_tiny() -> None:
    machine = Machine(Hfsp(), [work(0, *[1000] * 5)]).play()
    assert {why.reason for _, _, why in machine.launches} == {Reason.TRAINING}


def test_an_oracle_errs_by_sigma() -> None:
    """The simulator report, 2.1: true sizes times exp(σ · z), here with z = 1."""

    class Off(FixedOracle):
        def normal(self, job: int, stage: Stage) -> float:  # noqa: ARG002
            return 1.0

    order = Hfsp(Hfsp.Params(size="oracle", sigma=log(2)))
    job = work(0, *[1000] * 9)
    order.set_oracle(Off([job]))
    informed(Policy(order), FakeCluster([FakeNode(0, (1, 0))], [job]))
    assert order.clusters[MAP].size_ms(0, 0) == 18_000


def test_at_half_speed_a_job_ages_by_half() -> None:
    order = Hfsp(Hfsp.Params(size="oracle", half_speed=True))
    job = work(0, *[1000] * 9)
    order.set_oracle(FixedOracle([job]))
    informed(Policy(order), FakeCluster([FakeNode(0, (1, 0))], [job]))
    assert order.clusters[MAP].size_ms(0, 4000) == 7000


@pytest.mark.parametrize(
    "bad",
    [{"t": 0}, {"T": -1}, {"delta": -1.0}, {"xi": 0.5}, {"s0": 0.0}, {"sigma": -0.5}],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    name, value = next(iter(bad.items()))
    with pytest.raises(ValueError, match=rf"^{name}: expected a .*number of .* got {value}$"):
        Hfsp.Params(**bad)


@pytest.mark.parametrize("good", [{"T": 0}, {"delta": 0.0}, {"delta": 0.5}, {"T": 0, "s0": 0.5}])
def test_parameters_at_their_limits_are_taken(good: dict[str, Any]) -> None:
    Hfsp.Params(**good)


def test_progress_after_delta_ends_the_training_of_a_long_task() -> None:
    """A's two maps of 30 s, t = 1, Δ = 2 s.  At 1 s nothing can be said; at 3 s a tenth is done:
    s̃ = 30 s and S_f = 30 · (1 + 0.9) = 57 s, without waiting for the end.  B, tiny at one map of
    1 s, comes at 4 s, and the slot falls free at 30 s for it.
    """
    order = Hfsp(Hfsp.Params(t=1, delta=2.0))
    jobs = [work(0, 30_000, 30_000), work(1, at_ms=4000)]
    machine = Machine(order, jobs, tells_progress_at=[1000, 3000]).play()
    assert [(at, job) for at, job, _ in machine.launches] == [(0, 0), (30_000, 0)]
    # 57 s at 3 s, aged by one slot for 27 s.
    assert machine.launches[1][2].score == pytest.approx(30.0)


def test_tiny_jobs_go_first_and_among_themselves_by_arrival() -> None:
    """III-A: fewer than t tasks count as nothing; only training goes before them."""
    jobs = [work(0, *[1000] * 20)] + [work(n, 1000, 1000, at_ms=100 * n) for n in (1, 2, 3)]
    machine = Machine(Hfsp(), jobs).play()
    assert [job for _, job, _ in machine.launches][:11] == [0] * 5 + [1, 1, 2, 2, 3, 3]
    assert {why.reason for _, job, why in machine.launches if job} == {Reason.TINY}


def test_the_initial_size_is_n_xi_s_bar_once_a_job_has_completed() -> None:
    """Job 0, two maps of 3 s, is done at 6 s; job 1 then counts as 10 · 1.5 · 3 = 45 s."""
    jobs = [work(0, 3000, 3000), work(1, *[1000] * 10, at_ms=7000)]
    machine = Machine(Hfsp(Hfsp.Params(xi=1.5)), jobs).play()
    first = next(why for _, job, why in machine.launches if job == 1)
    assert (first.reason, first.score) == (Reason.TRAINING, 45.0)


def test_priority_is_a_speed_modifier() -> None:
    """III-B: in 4 s that three jobs share, one of high priority ages by twice as much, one of very
    low by a quarter; switched off, all age alike.
    """
    sizes: dict[str, list[float]] = {}
    ways: tuple[Literal["speed", "off"], ...] = ("speed", "off")
    for priority in ways:
        ranks = (Priority.NORMAL, Priority.HIGH, Priority.VERY_LOW)
        jobs = [work(n, *[1000] * 9, priority=rank) for n, rank in enumerate(ranks)]
        order = Hfsp(Hfsp.Params(size="oracle", priority=priority))
        order.set_oracle(FixedOracle(jobs))
        informed(Policy(order), FakeCluster([FakeNode(0, (3, 0))], list(jobs)))
        sizes[priority] = [order.clusters[MAP].size_ms(n, 4000) for n in range(3)]
    assert sizes["speed"] == [5000.0, 1000.0, 8000.0]
    assert sizes["off"] == [5000.0, 5000.0, 5000.0]


def test_the_virtual_cluster_follows_the_detected_one() -> None:
    """Failures (III-B): four slots age a job by 4 s in a second; when one node of two is known to
    be lost, by 2 s; when it is back, by 4 s again.
    """
    nodes = [FakeNode(0, (2, 0)), FakeNode(1, (2, 0))]
    job = work(0, *[1000] * 100)
    order = Hfsp(ORACLE)
    order.set_oracle(FixedOracle([job]))
    cluster = FakeCluster(list(nodes), [job])
    policy = informed(Policy(order), cluster)
    sizes = []
    for now_ms, there in ((1000, nodes[:1]), (2000, nodes), (3000, nodes)):
        cluster.now_ms = now_ms
        cluster._nodes = list(there)
        policy.observe(NodeJoined(0), cluster)
        sizes.append(order.clusters[MAP].size_ms(0, now_ms))
    assert sizes == [96_000.0, 94_000.0, 90_000.0]
