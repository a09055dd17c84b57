"""Each rule's numbers by hand, and its limits on both sides."""

from fractions import Fraction

import pytest

from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.decisions import Speculate
from callboard.scheduler.facts import Closed, Launched, NodeJoined, Progressed
from callboard.scheduler.model import MAPS, Locality, SlotKind
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import NoSpeculation, Policy, PolicySpecError
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.speculation.late import ExactDeviation, Late, NodeTimes, percentile
from callboard.scheduler.speculation.mantri import Mantri
from callboard.scheduler.speculation.naive import Naive
from callboard.scheduler.speculation.stragglers import StragglerRule
from tests.support.view import FakeAttempt, FakeCluster, FakeJob, FakeNode, FakeOffer, informed

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE


class Hall:
    """A cluster of one-slot nodes; job 0 has `maps` maps of which the first run, one a node."""

    def __init__(
        self, rule: StragglerRule, progress: list[float], *, maps: int = 0, ended: int = 0
    ):
        count = len(progress)
        self.rule = rule
        self.job = FakeJob(0, [0, 0], [count, 0])
        self.job.total = lambda stage: (maps or count) if stage == MAPS else 0  # type: ignore[method-assign]
        self.job.finished = lambda stage: ended if stage == MAPS else 0  # type: ignore[method-assign]
        self.cluster = FakeCluster([FakeNode(n, (1, 1)) for n in range(200)], [self.job])
        for n, done in enumerate(progress):
            number = n + 1
            attempt = FakeAttempt(number, 0, MAP, n, 0, task=n, progress=done)
            self.cluster.attempts_[number] = attempt
            rule.observe(Launched(0, MAPS, number, n, Locality.OFF_RACK), self.cluster)

    def at(self, now_ms: int) -> list[int]:
        """All have run until now; which attempts deserve a speculative one, the first first."""
        self.cluster.now_ms = now_ms
        for attempt in self.cluster.attempts_.values():
            attempt.ran_ms = now_ms - attempt.launched_ms
        self.rule.observe(Progressed(0, MAPS, 1, 0.0, now_ms), self.cluster)
        return list(self.rule.stragglers[MAP])

    def end(self, attempt: int, node: int, ran_ms: int) -> None:
        self.rule.observe(Closed(0, MAPS, attempt, node, True, ran_ms), self.cluster)

    def ask(self, node: int) -> Speculate | None:
        return self.rule.speculate(MAP, FakeOffer(FakeNode(node, (1, 1))), self.cluster)


# Naive.


@pytest.mark.parametrize(("progress", "found"), [(0.4, [5]), (0.40001, [])])
def test_naive_speculates_on_what_is_20_percent_behind_the_average(
    progress: float, found: list[int]
) -> None:
    """(4 · 0.65 + p) / 5 is 0.2 above p for p = 0.4."""
    assert Hall(Naive(), [0.65, 0.65, 0.65, 0.65, progress]).at(60_000) == found


@pytest.mark.parametrize(("now_ms", "found"), [(59_999, []), (60_000, [2])])
def test_naive_counts_60_s_from_when_the_job_came(now_ms: int, found: list[int]) -> None:
    """The second map was launched 1 s ago: it has no time to show what it can do."""
    hall = Hall(Naive(), [0.9, 0.0])
    hall.cluster.attempts_[2].launched_ms = now_ms - 1000
    assert hall.at(now_ms) == found


def test_naive_takes_tasks_not_begun_for_0_and_done_for_1_and_has_no_cap() -> None:
    """Of 10 maps 5 done: the mean is above 50 %, and all that are at 30 % or less are copied."""
    hall = Hall(Naive(), [0.3, 0.3, 0.3, 0.31], maps=10, ended=5)  # mean 0.621
    assert hall.at(60_000) == [1, 2, 3, 4]
    assert Hall(Naive(), [0.3, 0.3], maps=10, ended=4).at(60_000) == []  # mean 0.46


def test_a_rule_that_comes_late_thinks_nothing_of_what_nobody_has_told_it_yet() -> None:
    """Put in force at 50 s; of 4 maps under way it has heard of 2, and who is at 0 is not known."""
    hall = Hall(Naive(), [])
    hall.cluster.now_ms = 50_000
    late = Naive()
    late.observe(NodeJoined(0), hall.cluster)
    for number, (ran_ms, done) in enumerate([(50_000, 0.9), (50_000, 0.5), (0, 0.0)], start=1):
        hall.cluster.attempts_[number] = FakeAttempt(
            number, 0, MAP, number, 0, task=number, progress=done, ran_ms=ran_ms
        )
    hall.cluster.attempts_[4] = FakeAttempt(4, 0, MAP, 4, 50_000, task=4)  # launched since then
    hall.job.total = lambda stage: 4 if stage == MAPS else 0  # type: ignore[method-assign]
    hall.cluster.now_ms = 60_000
    late.observe(NodeJoined(1), hall.cluster)
    assert list(late.stragglers[MAP]) == [4]


# LATE, by percentiles.


@pytest.mark.parametrize(("now_ms", "found"), [(59_999, []), (60_000, [8])])
def test_late_looks_at_attempts_of_60_s_below_the_25th_percentile(
    now_ms: int, found: list[int]
) -> None:
    """Of 8 rates the 2nd smallest is the limit: one is below it."""
    assert Hall(Late(), [0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.3, 0.1]).at(now_ms) == found


def test_late_takes_nothing_of_what_is_alike() -> None:
    assert Hall(Late(), [0.5] * 12).at(80_000) == []
    assert Hall(Late(Late.Params(by="std")), [0.5] * 12).at(80_000) == []


def test_late_puts_the_longest_time_left_first_and_says_why() -> None:
    """12 % after 80 s: 80 · 0.88 / 0.12 = 587 s more.  Of 12 the 3rd is the limit."""
    hall = Hall(Late(), [0.9] * 9 + [0.2, 0.3, 0.12])
    assert hall.at(80_000) == [12, 10]
    decision = hall.ask(100)
    assert decision is not None
    assert (decision.attempt, decision.restart, decision.why.rank) == (12, False, 1)
    assert reason_in_words(decision.why) == "late: 12 % done in 80 s, some 587 s left"
    assert decision.why.score == pytest.approx(586.667)


def test_a_speculative_attempt_is_not_for_the_node_on_which_the_task_runs() -> None:
    hall = Hall(Late(Late.Params(slow_node=0)), [0.9] * 7 + [0.1])
    assert hall.at(80_000) == [8]
    assert hall.ask(7) is None
    assert hall.ask(6) is not None


def test_a_last_task_is_held_against_those_that_have_ended() -> None:
    hall = Hall(Late(), [0.25])
    for n in range(3):
        hall.end(10 + n, n, 40_000)
    hall.cluster.attempts_ = {1: hall.cluster.attempts_[1]}
    assert hall.at(60_000) == []  # the 1st of 4 is the limit itself
    hall.end(20, 5, 40_000)
    assert hall.at(63_000) == [1]


def test_late_gives_no_speculative_attempt_to_a_slow_node() -> None:
    """Of 8 nodes with some progress the 2nd lowest total is the limit."""
    hall = Hall(Late(), [0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.3, 0.1])
    hall.cluster.attempts_[8].node = 0  # so that node 7 is judged by what it did before
    hall.end(50, 7, 10_000)
    hall.at(80_000)
    assert hall.ask(6) is None
    assert hall.ask(7) is not None
    assert hall.ask(150) is not None  # it has run none, so nobody can say


@pytest.mark.parametrize(("speculative", "given"), [(19, True), (20, False)])
def test_late_speculates_on_less_than_a_tenth_of_the_slots(speculative: int, given: bool) -> None:
    hall = Hall(Late(), [0.9] * 7 + [0.1])
    for n in range(speculative):
        hall.rule.observe(Launched(1, MAPS, 100 + n, n, original=200 + n), hall.cluster)
    hall.at(80_000)
    assert (hall.ask(100) is not None) is given
    assert hall.rule.has_candidates(MAP, hall.cluster) is given
    if speculative:
        hall.rule.observe(Closed(1, MAPS, 200, 0, False), hall.cluster)  # either of the two
        assert hall.ask(100) is not None


# LATE, by standard deviations.


def test_hadoops_late_goes_by_one_standard_deviation() -> None:
    """Rates 4, 4, 4, 0: mean 3, deviation sqrt(3): 3 below is slow.  Rates 3, 1: mean 2 and
    deviation 1: exactly 1 below is not.
    """
    std = Late.Params(by="std", lag_s=0)
    assert Hall(Late(std), [0.4, 0.4, 0.4, 0.0]).at(80_000) == [4]
    assert Hall(Late(std), [0.3, 0.1]).at(80_000) == []
    assert ExactDeviation([3, 1]).is_mean_above(1, Fraction(99, 100))
    assert not ExactDeviation([3, 1]).is_mean_above(1, Fraction(1))


def test_hadoops_late_judges_nodes_by_the_means_of_nodes() -> None:
    """Nodes' means 10, 10, 10, 30 (one node with two tasks counts once): mean 15, deviation 8.7."""
    times = NodeTimes()
    for node, ms in [(0, 10), (1, 5), (1, 15), (2, 10), (3, 30)]:
        times.add(node, ms)
    assert [times.is_slow(node, Fraction(1)) for node in range(5)] == [False] * 3 + [True, False]
    assert not times.is_slow(3, Fraction(2))


@pytest.mark.parametrize(
    ("speculative", "running", "slots", "full"),
    [
        (9, 20, 100, False),
        (10, 20, 100, True),
        (10, 111, 100, False),
        (10, 110, 100, True),
        (10, 20, 1001, False),
        (11, 20, 1001, True),
    ],
)
def test_hadoops_late_has_a_cap_for_each_job(
    speculative: int, running: int, slots: int, full: bool
) -> None:
    """max(10, 1 % of the slots, 10 % of the running tasks, each of which counts once)."""
    rule = Late(Late.Params(by="std"))
    cluster = FakeCluster([FakeNode(0, (slots, 0))], [FakeJob(0, [0, 0], [running, 0])])
    for n in range(speculative):
        rule.observe(Launched(0, MAPS, 100 + n, 1, original=200 + n), cluster)
    assert rule.has_reached_cap(0, MAP, cluster) is full


@pytest.mark.parametrize(("q", "found"), [(0, 1), (25, 1), (26, 2), (50, 2), (100, 4)])
def test_a_percentile_is_by_nearest_rank(q: int, found: int) -> None:
    assert percentile([4, 2, 1, 3], Fraction(q)) == found


# Mantri.


def mantri(progress: float, *, pending: int, number: int = 0) -> Hall:
    """At 40 s: five maps that take 40 s have ended, and one is so far."""
    hall = Hall(Mantri(), [progress])
    for n in range(5):
        hall.rule.observe(Launched(0, MAPS, 10 + n, 20 + n, Locality.OFF_RACK), hall.cluster)
        hall.end(10 + n, 20 + n, 40_000)
    hall.job.pending_[MAP] = pending
    hall.cluster.attempts_[1].number = number
    hall.at(40_000)
    return hall


@pytest.mark.parametrize(("left_s", "given"), [(43.0, False), (43.1, True)])
def test_mantri_restarts_what_a_fresh_attempt_would_overtake_by_more_than_an_interval(
    left_s: float, given: bool
) -> None:
    """t_new is 40 s and Δ 3 s: of t_rem = 40 · (1 - p) / p more than 43 s may be restarted."""
    hall = mantri(40 / (40 + left_s), pending=1)
    decision = hall.rule.urgent(MAP, FakeOffer(FakeNode(100, (1, 1))), hall.cluster)
    assert (decision is not None) is given
    assert decision is None or decision.restart


@pytest.mark.parametrize(("left_s", "given"), [(49.0, False), (49.1, True)])
def test_mantri_duplicates_with_slots_to_spare_for_three_intervals(
    left_s: float, given: bool
) -> None:
    hall = mantri(40 / (40 + left_s), pending=0)
    decision = hall.ask(100)
    assert (decision is not None) is given
    assert decision is None or not decision.restart
    assert hall.rule.urgent(MAP, FakeOffer(FakeNode(100, (1, 1))), hall.cluster) is None


@pytest.mark.parametrize(("number", "restart"), [(2, True), (3, False)])
def test_mantri_begins_a_task_again_three_times(number: int, restart: bool) -> None:
    """Then it is run twice if P(2 · t_new < t_rem) > 0.25: 160 s against 2 · 40 s."""
    hall = mantri(0.2, pending=1, number=number)
    decision = hall.rule.urgent(MAP, FakeOffer(FakeNode(100, (1, 1))), hall.cluster)
    assert decision is not None
    assert decision.restart is restart


def test_mantri_does_not_begin_again_on_a_node_that_is_as_slow() -> None:
    """Node 30 took 160 s where 40 s are usual."""
    hall = mantri(0.2, pending=1)
    hall.rule.observe(Launched(0, MAPS, 90, 30, Locality.OFF_RACK), hall.cluster)
    hall.end(90, 30, 160_000)
    assert hall.rule.urgent(MAP, FakeOffer(FakeNode(30, (1, 1))), hall.cluster) is None
    assert hall.rule.urgent(MAP, FakeOffer(FakeNode(31, (1, 1))), hall.cluster) is not None


# All of them.


@pytest.mark.parametrize("rule", [Naive, Late, Mantri])
def test_a_task_with_two_attempts_or_an_ended_or_killed_one_gets_no_other(
    rule: type[StragglerRule],
) -> None:
    for spoil in ("alone", "killing", "gone"):
        hall = Hall(rule(), [0.9] * 11 + [0.1])
        for n in range(3):
            hall.rule.observe(Launched(0, MAPS, 50 + n, 60 + n), hall.cluster)
            hall.end(50 + n, 60 + n, 40_000)
        hall.at(80_000)
        assert hall.ask(100) is not None
        attempt = hall.cluster.attempts_[12]
        attempt.alone, attempt.killing = spoil != "alone", spoil == "killing"
        if spoil == "gone":
            del hall.cluster.attempts_[12]
        assert hall.ask(100) is None


def test_a_look_comes_once_an_interval() -> None:
    hall = Hall(Late(), [0.9] * 7 + [0.1])
    assert hall.at(60_000) == [8]
    hall.cluster.attempts_[8].progress = 0.9
    assert hall.at(62_999) == [8]
    assert hall.at(63_000) == []


def test_a_pools_cap_holds_back_speculative_attempts() -> None:
    """Two may run in the pool, or in one above it, and two do."""
    pools = {"small": PoolParams(max_maps=2), "small/in": PoolParams()}
    order, rule = Fair(Fair.Params(pools=pools)), Late(Late.Params(lag_s=0))
    jobs = [FakeJob(0, [0, 0], [2, 0], pool="small"), FakeJob(1, [0, 0], [2, 0], pool="free")]
    jobs += [FakeJob(2, [0, 0], [0, 0], pool="small/in")]
    cluster = FakeCluster([FakeNode(n, (9, 9)) for n in range(9)], jobs)
    informed(Policy(order, speculation=rule), cluster)
    assert [order.may_speculate(job, MAP) for job in (0, 1, 2)] == [False, True, False]
    assert order.may_speculate(0, REDUCE)


def test_no_speculation_wants_nothing_and_its_policy_asks_nothing() -> None:
    policy = make_policy("fifo")
    assert isinstance(policy.speculation, NoSpeculation)
    assert not policy.speculates
    assert make_policy("fifo+late").speculates
    policy.observe(NodeJoined(0), FakeCluster([], []))


@pytest.mark.parametrize(
    "spec", ["late(cap=2)", "late(slow_task=-1)", "naive(gap=0)", "mantri(least=0)"]
)
def test_senseless_parameters_are_refused(spec: str) -> None:
    with pytest.raises(PolicySpecError):
        make_policy(f"fifo+{spec}")
