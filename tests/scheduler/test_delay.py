"""Delay scheduling against the slides' rules ("Delay Scheduling Details") and S14, F15."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.decisions import Launch
from callboard.scheduler.facts import JobArrived, JobLeft, Launched, OfferAnswered
from callboard.scheduler.locality import Delay, auto_wait_ms
from callboard.scheduler.model import MAPS, Locality
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import DelayByTime, Refusal
from callboard.scheduler.registry.parts import make_policy
from tests.support.soak import one_in
from tests.support.view import FakeCluster, FakeJob, FakeNode, FakeOffer, heartbeat, informed

NODE, RACK, OFF = Locality.NODE, Locality.RACK, Locality.OFF_RACK


class Stage:
    """One job whose data lie on node 9, with node 8 in its rack; every other node is far off."""

    def __init__(self, spec: str, maps: int = 50, order: str = "fair") -> None:
        self.job = FakeJob(0, [maps, 0], homes=frozenset({9}), racks=frozenset({8}))
        self.cluster = FakeCluster([FakeNode(n, (2, 0)) for n in range(10)], [self.job])
        self.policy = informed(make_policy(f"{order}+{spec}"), self.cluster)

    def heartbeat(self, at_ms: int, node: int, slots: int = 1) -> int:
        """How many maps a heartbeat of `node` with that many free slots gets at that time."""
        self.cluster.now_ms = at_ms
        return len(heartbeat(self.policy, self.cluster, FakeNode(node, (slots, 0))))

    @property
    def delay(self) -> Delay:
        assert isinstance(self.policy.locality, Delay)
        return self.policy.locality

    @property
    def allowed(self) -> Locality:
        return self.delay.allowed_level(0, self.cluster)


def test_node_level_waits_t1_for_the_rack_to_the_millisecond() -> None:
    """Slide: level 0 launches rack-local once wait ≥ T1; on both sides of the limit."""
    for last_ms, launched in ((4999, 0), (5000, 1)):
        stage = Stage("delay(node=5,rack=5)")
        assert stage.heartbeat(0, 8) == 0
        assert stage.heartbeat(last_ms, 8) == launched


def test_node_level_waits_t1_and_t2_for_off_rack_to_the_millisecond() -> None:
    """Slide: level 0 launches off-rack once wait ≥ T1 + T2."""
    for last_ms, launched in ((7999, 0), (8000, 1)):
        stage = Stage("delay(node=5,rack=3)")
        assert stage.heartbeat(0, 0) == 0
        assert stage.heartbeat(last_ms, 0) == launched


def test_the_level_sticks_and_a_local_launch_steps_back() -> None:
    """Slide: a launch sets the wait to 0 and the level to its own (testDelaySchedulingOffRack)."""
    stage = Stage("delay(node=5,rack=3)")
    stage.heartbeat(0, 8)
    assert stage.heartbeat(5000, 8) == 1  # rack-local: level RACK
    assert stage.allowed is RACK
    assert stage.heartbeat(5000, 8) == 1  # at once again: the level sticks
    assert stage.heartbeat(5000, 0) == 0  # but not further
    assert stage.heartbeat(7999, 0) == 0
    assert stage.heartbeat(8000, 0) == 1  # T2 alone from level RACK
    assert stage.allowed is OFF
    assert stage.heartbeat(8000, 0) == 1
    assert stage.heartbeat(8000, 9) == 1  # node-local: back to level NODE, wait 0
    assert stage.allowed is NODE
    assert stage.heartbeat(8000, 0) == stage.heartbeat(15_999, 8) - 1 == 0


def test_a_launch_sets_the_wait_to_nothing() -> None:
    stage = Stage("delay(node=5,rack=5)")
    stage.heartbeat(0, 0)
    assert stage.heartbeat(4000, 9) == 1
    assert stage.delay.waited_ms(0, stage.cluster) == 0
    stage.heartbeat(4000, 0)
    assert stage.heartbeat(8999, 8) == 0
    assert stage.heartbeat(9000, 8) == 1


def test_time_counts_from_a_skip_to_the_next_map_decision_only() -> None:
    """F15: accrued, not wall: what passes while the job is not passed over does not count."""
    stage = Stage("delay(node=5,rack=5)")
    stage.heartbeat(1000, 0)
    assert stage.delay.waited_ms(0, stage.cluster) == 0  # not from its submission
    stage.cluster.now_ms = 2000
    stage.policy.observe(
        OfferAnswered(0, ()), stage.cluster
    )  # only reduces were asked for: no matter
    stage.delay.observe(JobArrived(1), stage.cluster)
    stage.cluster.now_ms = 3000
    stage.policy.observe(
        OfferAnswered(0, (1,)), stage.cluster
    )  # a decision that did not come to it
    stage.cluster.now_ms = 60_000
    assert stage.delay.waited_ms(0, stage.cluster) == 2000


def test_a_launched_map_is_a_map_decision_too() -> None:
    """Job 1's map at 3 s ends what job 0 is credited with, though nobody was passed over."""
    stage = Stage("delay(node=5,rack=5)")
    stage.delay.observe(JobArrived(1), stage.cluster)
    stage.heartbeat(1000, 0)
    stage.cluster.now_ms = 3000
    stage.policy.locality.observe(Launched(1, MAPS, 1, 9, NODE), stage.cluster)
    stage.policy.locality.observe(OfferAnswered(9, ()), stage.cluster)
    stage.cluster.now_ms = 60_000
    assert stage.delay.waited_ms(0, stage.cluster) == 2000


def test_decisions_of_one_instant_do_not_cut_each_other_short() -> None:
    """Else nodes whose heartbeats come in step would keep a job waiting for ever."""
    stage = Stage("delay(node=5,rack=5)")
    stage.delay.observe(JobArrived(1), stage.cluster)
    stage.heartbeat(1000, 0)
    stage.policy.observe(OfferAnswered(1, (1,)), stage.cluster)
    stage.cluster.now_ms = 4000
    assert stage.delay.waited_ms(0, stage.cluster) == 3000


def test_a_job_that_got_a_map_in_the_offer_was_not_passed_over() -> None:
    """Hadoop: visited for a map *and launched none*; here one node-local, then no more."""
    stage = Stage("delay(node=5,rack=5)", maps=2)
    stage.cluster.now_ms = 1000
    launched = Launched(0, MAPS, 1, 9, NODE)
    stage.policy.observe(launched, stage.cluster)
    stage.policy.observe(OfferAnswered(9, ()), stage.cluster)
    stage.cluster.now_ms = 9000
    assert stage.delay.locality_wait(stage.job, stage.cluster) == (0, 0)


def test_a_copy_leaves_its_jobs_wait_as_it_is() -> None:
    """No locality is asked of a copy, so it tells nothing of what the job has to put up with."""
    stage = Stage("delay(node=5,rack=5)", maps=2)
    stage.heartbeat(1000, 0)
    stage.cluster.now_ms = 4000
    copy = Launched(0, MAPS, 2, 9, NODE, original=1)
    before = stage.delay.locality_wait(stage.job, stage.cluster)
    stage.policy.observe(copy, stage.cluster)
    assert stage.delay.locality_wait(stage.job, stage.cluster) == before == (1, 3000)


@pytest.mark.parametrize(
    ("heartbeat_ms", "wait_ms"), [(1, 1), (300, 450), (333, 499), (3000, 4500), (30_000, 15_000)]
)
def test_waits_default_to_min_of_15_s_and_1_5_heartbeats(heartbeat_ms: int, wait_ms: int) -> None:
    assert auto_wait_ms(heartbeat_ms) == wait_ms
    stage = Stage("delay")
    stage.cluster.heartbeat_ms = heartbeat_ms
    stage.heartbeat(0, 8)
    assert stage.heartbeat(wait_ms - 1, 8) == 0
    assert stage.heartbeat(wait_ms, 8) == 1


def test_the_skip_form_launches_anywhere_after_d_skips() -> None:
    """EuroSys: D skips, then any number of maps anywhere until a node-local one."""
    stage = Stage("delay(skips=3)")
    assert [stage.heartbeat(0, 0) for _ in range(4)] == [0, 0, 0, 1]
    assert stage.heartbeat(0, 0, slots=5) == 5
    assert stage.heartbeat(0, 9) == 1
    assert [stage.heartbeat(0, 8) for _ in range(4)] == [0, 0, 0, 1]


def test_one_heartbeat_is_one_skip_however_many_slots() -> None:
    stage = Stage("delay(skips=2)")
    assert [stage.heartbeat(0, 0, slots=4) for _ in range(3)] == [0, 0, 4]


def test_the_next_job_is_asked_and_the_reason_says_count_wait_and_level() -> None:
    far = FakeJob(0, [1, 0], racks=frozenset({0}))
    near = FakeJob(1, [9, 0], submitted_ms=1, homes=frozenset({0}), running_=[1, 0])
    cluster = FakeCluster([FakeNode(0, (99, 0))], [far, near])
    policy = informed(make_policy("fair+delay(node=5,rack=5)"), cluster)
    heartbeat(policy, cluster, FakeNode(0, (1, 0)))
    cluster.now_ms = 1200
    (launch,) = heartbeat(policy, cluster, FakeNode(0, (1, 0)))
    assert (launch.job, launch.why.rank) == (1, 2)
    assert launch.why.skipped[0].job == 0
    refusal = DelayByTime(RACK, NODE, waited_ms=1200, until_ms=5000, skips=1)
    assert launch.why.skipped[0].refusal == refusal
    cluster.now_ms = 5000
    (launch,) = heartbeat(policy, cluster, FakeNode(0, (1, 0)))
    assert (launch.job, launch.why.skips, launch.why.waited_ms) == (0, 2, 5000)


def test_the_reason_says_how_long_until_that_level() -> None:
    """From level NODE T1 for the rack and T1 + T2 for any node; from level RACK T2 for any."""
    stage = Stage("delay(node=5,rack=3)")

    def until(level: Locality) -> Refusal | None:
        offer = FakeOffer(FakeNode(0, (1, 0)))
        return stage.delay.refusal(stage.job, level, offer, stage.cluster)

    assert until(NODE) is None
    assert until(RACK) == DelayByTime(RACK, NODE, 0, until_ms=5000, skips=0)
    assert until(OFF) == DelayByTime(OFF, NODE, 0, until_ms=8000, skips=0)
    stage.delay.observe(Launched(0, MAPS, 1, 8, RACK), stage.cluster)
    assert until(RACK) is None
    assert until(OFF) == DelayByTime(OFF, RACK, 0, until_ms=3000, skips=0)


def test_w_0_is_no_delay() -> None:
    """Metamorphic relation of §3.5."""
    for spec in ("delay(node=0,rack=0)", "delay(skips=0)"):
        assert Stage(spec).heartbeat(0, 0) == 1


@pytest.mark.parametrize("order", ["fair", "fifo"])
@pytest.mark.parametrize("spec", ["delay(node=2,rack=3)", "delay(skips=4)"])
@given(
    heartbeats=st.lists(
        st.tuples(st.integers(0, 2500), st.sampled_from([0, 1, 8, 9]), st.integers(1, 2)),
        max_size=40,
    )
)
@settings(derandomize=True, max_examples=150)
def test_s14_never_above_the_allowed_level_never_skipped_past_the_bound(
    order: str, spec: str, heartbeats: list[tuple[int, int, int]]
) -> None:
    """S14, F15, the machine of the slide run beside it: `level`, `wait` and `count` kept here."""
    stage = Stage(spec, maps=1000, order=order)
    stage.cluster = FakeCluster(
        [FakeNode(n, (2, 0)) for n in range(3)], [stage.job]
    )  # three nodes: no padding
    at_ms, level, wait_ms, count, skipped = 0, NODE, 0, 0, False
    for gap_ms, node, slots in heartbeats:
        at_ms += gap_ms
        wait_ms += gap_ms if skipped else 0
        here = NODE if node == 9 else RACK if node == 8 else OFF
        launches = stage.heartbeat(at_ms, node, slots)
        if spec.startswith("delay(skips"):
            may = here is NODE or count >= 4
        else:
            far = level is OFF or wait_ms >= (3000 if level is RACK else 5000)
            near = level is RACK or wait_ms >= 2000
            may = here is NODE or far or (here is RACK and near)
        assert (launches > 0) == may
        skipped = not may
        if may:
            level, wait_ms = here, 0
            count = 0 if here is NODE else count
        else:
            count += 1


@pytest.mark.parametrize(
    ("skips", "share"),
    one_in(4, [(5, 0.09), (1, 0.09), (20, 0.09), (1, 0.03), (20, 0.03), (5, 0.03)]),
)
def test_non_locality_falls_as_the_slides_say(skips: int, share: float) -> None:
    """Slide "Analysis": P(non-local) = (1 − f)^D, here with nodes that offer at random.

    4,000 one-map jobs, each alone: the frequency may be off by 4 standard errors.
    """
    draw = random.Random(f"{skips} {share}")
    jobs, far = 4000, 0
    homes = frozenset(range(round(100 * share)))
    for _ in range(jobs):
        job = FakeJob(0, [1, 0], homes=homes)
        cluster = FakeCluster([FakeNode(0, (99, 0))], [job])
        policy = informed(
            Policy(make_policy("fair").order, Delay(Delay.Params(skips=skips))), cluster
        )
        launches: list[Launch] = []
        while not launches:
            node = draw.randrange(100)
            launches = heartbeat(policy, cluster, FakeNode(node, (1, 0)))
        far += launches[0].level is not NODE
    # The D+1st offer launches wherever it is: D skips, then one more chance of being local.
    expected = (1 - share) ** (skips + 1)
    error = math.sqrt(expected * (1 - expected) / jobs)
    assert far / jobs == pytest.approx(expected, abs=4 * error)


def test_memory_is_of_the_living_only() -> None:
    stage = Stage("delay")
    stage.heartbeat(0, 0)
    stage.policy.observe(JobLeft(0), stage.cluster)
    stage.policy.observe(OfferAnswered(0, ()), stage.cluster)
    assert not stage.delay._jobs


def test_a_job_that_leaves_while_another_waits() -> None:
    """One was passed over and one was not; the next decision credits who is still there."""
    stage = Stage("delay")
    for number in (1, 2):
        stage.delay.observe(JobArrived(number), stage.cluster)
    stage.delay.observe(OfferAnswered(0, (0, 1)), stage.cluster)
    for number in (1, 2):
        stage.delay.observe(JobLeft(number), stage.cluster)
    stage.cluster.now_ms = 2000
    stage.delay.observe(OfferAnswered(0, (0,)), stage.cluster)
    assert stage.delay.locality_wait(stage.job, stage.cluster) == (2, 2000)
