"""COSHH on plain views: classes, min shares, shares, spare slots, and what it learns."""

import sys
from fractions import Fraction
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Heartbeats, NodeGroup
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import AttemptResumed, JobFinished, Outcome
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.cli import run_command_line
from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.decisions import Suspend
from callboard.scheduler.facts import Closed, JobLeft, TasksPending
from callboard.scheduler.model import KINDS, MAPS, JobId, SlotKind, Stage
from callboard.scheduler.orders.coshh import linear_program, task_times
from callboard.scheduler.orders.coshh.coshh import Coshh
from callboard.scheduler.orders.coshh.user_entitlements import UserParams
from callboard.scheduler.policy import Policy, PolicySpecError, QueuedJob
from callboard.scheduler.reasons import ClassPlace, Grounds, JobClaimant, Reason, UserClaimant
from callboard.scheduler.registry.parts import make_policy
from tests.support.preempt import Scripted
from tests.support.view import (
    FakeCluster,
    FakeJob,
    FakeNode,
    FakeOffer,
    close,
    heartbeat,
    informed,
    queued,
)
from tests.support.world import IN_STEP, job, play

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE


class Truth:
    """An oracle that is told each job's task time on each kind of node, in seconds."""

    def __init__(self, **on: dict[JobId, float]) -> None:
        self._on = on

    def mean_task_ms(self, job: JobId, stage: Stage, on: str) -> float:  # noqa: ARG002
        return self._on[on].get(job, 1.0) * 1000

    def size_ms(self, job: JobId, stage: Stage) -> int:  # noqa: ARG002
        raise AssertionError("COSHH asks for no sizes")

    def requested_task_ms(self, job: JobId) -> int | None:  # noqa: ARG002
        return None

    def normal(self, job: JobId, stage: Stage) -> float:  # noqa: ARG002
        raise AssertionError("COSHH has no errors")


class Lab:
    """Two nodes, `a` and `b`, and jobs with known times on both."""

    def __init__(
        self,
        jobs: list[FakeJob],
        a: dict[JobId, float],
        b: dict[JobId, float],
        slots: tuple[int, int] = (2, 0),
        **params: Any,
    ) -> None:
        self.order = Coshh(Coshh.Params(size="oracle", **params))
        self.policy = Policy(self.order)
        self.policy.set_oracle(Truth(a=a, b=b))
        self.nodes = [FakeNode(0, slots, node_type="a"), FakeNode(1, slots, node_type="b")]
        self.cluster = FakeCluster(self.nodes, jobs)
        informed(self.policy, self.cluster)

    def queue(self, node: int, kind: SlotKind = MAP) -> list[JobId]:
        return [number for number, _ in queued(self.order, kind, self.cluster, node)]

    def ranked(self, node: int) -> list[QueuedJob]:
        return list(self.order.queue(MAP, FakeOffer(self.nodes[node]), self.cluster))

    def serve(self, node: int) -> list[JobId]:
        return [launch.job for launch in heartbeat(self.policy, self.cluster, self.nodes[node])]


def a_job(number: JobId, user: str, maps: int = 10, reduces: int = 0) -> FakeJob:
    return FakeJob(number, [maps, reduces], submitted_ms=number, user=user)


def users(**named: UserParams) -> dict[str, UserParams]:
    return named


def test_each_node_serves_what_suits_it_and_leaves_the_rest() -> None:
    """Job 0 is at home on a, job 1 on b; ten tasks wait for two slots, and elsewhere a task takes
    ten times as long as that would: nobody helps.
    """
    lab = Lab([a_job(0, "ann"), a_job(1, "bob")], a={0: 1, 1: 90}, b={0: 90, 1: 1})
    assert (lab.queue(0), lab.queue(1)) == ([0], [1])
    assert lab.serve(0) == [0, 0]
    assert lab.serve(1) == [1, 1]


@pytest.mark.parametrize(
    ("spare", "slow", "queue"),
    [("help", 6, []), ("help", 4, [0]), ("leave", 4, []), ("any", 90, [0])],
)
def test_what_a_node_does_with_spare_slots(spare: str, slow: float, queue: list[JobId]) -> None:
    """Ten tasks of 1 s on the two slots of a are done in 5 s: b helps if it takes less for one."""
    jobs = [a_job(0, "ann"), a_job(1, "bob")]
    lab = Lab(jobs, {0: 1, 1: 90}, {0: slow, 1: 1}, spare=spare)
    assert lab.queue(1)[:1] == [1]
    jobs[1].pending_[MAP] = 0
    lab.policy.observe(TasksPending(1, MAPS), lab.cluster)
    assert lab.queue(1) == queue


def test_who_lacks_most_of_a_min_share_goes_first_then_shares_by_weight() -> None:
    """Ann lacks 2, bob 3; when both have theirs, running / weight decides: cid, of weight 4."""
    due = users(ann=UserParams(min_maps=2), bob=UserParams(min_maps=3), cid=UserParams(weight=4.0))
    jobs = [a_job(0, "cid"), a_job(1, "ann"), a_job(2, "bob")]
    lab = Lab(jobs, {}, {}, slots=(6, 0), users=due)
    assert lab.serve(0) == [2, 1, 2, 1, 2, 0]
    assert lab.serve(1) == [0] * 6
    why = lab.ranked(0)[0]
    assert why.grounds == Grounds(Reason.CLASS_SHARE, ClassPlace(0, "a", 1.0, "cid"))
    assert why.score == 1.75


def test_the_reason_of_a_launch_tells_class_kind_and_shortfall() -> None:
    due = users(ann=UserParams(min_maps=3))
    lab = Lab([a_job(0, "bob"), a_job(1, "ann")], {}, {}, users=due)
    first, second = heartbeat(lab.policy, lab.cluster, lab.nodes[0])
    assert reason_in_words(first.why) == "coshh: class 1 suits a, ann lacks 3 of 3"
    assert reason_in_words(second.why) == "coshh: class 1 suits a, ann lacks 2 of 3"
    assert (first.why.score, second.why.score) == (3, 2)


def test_a_min_share_above_the_capacity_takes_all_and_no_more() -> None:
    due = users(ann=UserParams(min_maps=50))
    lab = Lab([a_job(0, "bob"), a_job(1, "ann", maps=3)], {}, {}, users=due)
    assert lab.serve(0) + lab.serve(1) == [1, 1, 1, 0]


def test_a_min_share_is_had_where_the_first_program_says() -> None:
    """Only ann has a min share, so the first program has her class alone and suggests it to both
    nodes; without it she is suggested to a only.
    """
    jobs = [a_job(0, "bob"), a_job(1, "ann")]
    times: dict[str, dict[JobId, float]] = {"a": {0: 90, 1: 1}, "b": {0: 1, 1: 90}}
    assert Lab(jobs, times["a"], times["b"]).queue(1) == [0]
    due = users(ann=UserParams(min_maps=3))
    assert Lab(jobs, times["a"], times["b"], users=due).queue(1) == [1, 0]


def test_of_equal_shares_the_one_given_less_so_far_is_next() -> None:
    lab = Lab([a_job(0, "ann"), a_job(1, "bob")], {}, {}, slots=(3, 0))
    assert lab.serve(0) == [0, 1, 0]
    for attempt in list(lab.cluster.attempts_):
        close(lab.policy, lab.cluster, attempt, succeeded=True)
    assert lab.serve(0) == [1, 0, 1]


def test_jobs_of_one_user_go_by_submission_whatever_their_classes() -> None:
    jobs = [a_job(n, "ann", maps=1) for n in range(5)]
    lab = Lab(jobs, {1: 2.0, 3: 7.0}, {1: 4.0, 3: 7.0}, slots=(5, 0), spare="any")
    assert sorted(lab.queue(0)) == [0, 1, 2, 3, 4]
    suggested = [n for n in lab.queue(0) if reason_of(lab, n, 0) is Reason.CLASS_SHARE]
    assert suggested == sorted(suggested)


def reason_of(lab: Lab, number: JobId, node: int) -> Reason:
    return next(each.grounds.reason for each in lab.ranked(node) if each.job.job == number)


def test_maps_and_reduces_are_matched_apart() -> None:
    lab = Lab([a_job(0, "ann", 2, 2), a_job(1, "bob", 2, 0)], {0: 1, 1: 9}, {0: 9, 1: 1}, (2, 2))
    assert (lab.queue(0), lab.queue(1)) == ([0], [1])
    assert (lab.queue(0, REDUCE), lab.queue(1, REDUCE)) == ([0], [0])
    assert [s.second.solved for s in lab.order.matchers] == [2, 1]


def test_one_kind_of_node_is_fair_sharing_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """All classes in proportion: nothing to match, though their times differ."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("there is nothing to solve")

    monkeypatch.setattr(linear_program, "_optimum", refuse)
    jobs = [a_job(n, f"user{n}") for n in range(4)]
    lab = Lab(jobs, {n: 1.0 + n for n in range(4)}, {n: 2.0 + 2 * n for n in range(4)}, (4, 0))
    assert lab.serve(0) == [0, 1, 2, 3]
    assert lab.serve(1) == [0, 1, 2, 3]


def test_programs_are_solved_for_news_and_never_for_a_decision() -> None:
    jobs = [a_job(n, f"user{n % 3}", maps=20) for n in range(9)]
    on = ({n: 1.0 + n % 3 for n in range(9)}, {n: 3.0 - n % 3 for n in range(9)})
    lab = Lab(jobs, *on, slots=(20, 0))
    second = lab.order.matchers[MAP].second
    assert second.solved <= 9
    before = second.solved
    assert len(lab.serve(0)) == 20
    for attempt in list(lab.cluster.attempts_):
        close(lab.policy, lab.cluster, attempt, succeeded=True)
    assert second.solved == before


def test_work_that_has_left_counts_until_it_is_forgotten() -> None:
    lab = Lab([a_job(0, "ann"), a_job(1, "bob", maps=1)], {0: 1, 1: 9}, {0: 9, 1: 1}, memory_s=60)
    lab.serve(1)
    close(lab.policy, lab.cluster, next(iter(lab.cluster.attempts_)), succeeded=True)
    lab.cluster.leave(1, lab.policy)
    classes = lab.order.matchers[MAP].second.rates
    assert len(classes) == 2
    lab.cluster.now_ms = 60_001
    lab.cluster.add(a_job(2, "ann"), lab.policy)  # as job 0's on neither node
    assert 1 not in lab.order.matchers[MAP].second.rates


def test_what_tasks_take_is_learnt_by_job_user_and_kind_of_node() -> None:
    """Nobody knows job 0 at first: it is suggested to both.  After one task on each kind, a is
    where it belongs, and so do ann's other jobs, of which none has run.
    """
    order = Coshh()
    policy = Policy(order)
    nodes = [FakeNode(0, (1, 0), node_type="a"), FakeNode(1, (1, 0), node_type="b")]
    jobs = [a_job(0, "ann"), a_job(1, "bob", maps=20), a_job(2, "ann")]
    cluster = FakeCluster(nodes, jobs)
    informed(policy, cluster)
    assert queued(order, MAP, cluster, 0) == queued(order, MAP, cluster, 1)
    for number, node, ran_ms in ((0, 0, 1000), (0, 1, 50_000), (1, 0, 50_000), (1, 1, 1000)):
        policy.observe(Closed(number, MAPS, 99, node, True, ran_ms), cluster)
    suggestions = order.matchers[MAP]
    classes = [suggestions.cohort_of(number).number for number in range(3)]
    assert classes[0] == classes[2] != classes[1]
    assert [job for job, _ in queued(order, MAP, cluster, 0)] == [0, 2]
    assert [job for job, _ in queued(order, MAP, cluster, 1)] == [1]


@pytest.mark.parametrize("waiting", [10, 400])
def test_what_is_learnt_of_a_user_moves_all_waiting_jobs_as_one(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact asks for as many mean times with 400 jobs waiting as with 10."""
    asked: list[str] = []
    mean = task_times.LearnedTaskTimes._most_telling_mean

    def counted(self: Any, own: Any, user: str, *what: Any) -> float:
        asked.append(user)
        return mean(self, own, user, *what)

    order = Coshh()
    policy = Policy(order)
    jobs = [a_job(n, f"user{n % 2}") for n in range(waiting)]
    cluster = FakeCluster([FakeNode(0, (1, 0)), FakeNode(1, (1, 0), node_type="b")], jobs)
    informed(policy, cluster)
    before = order.matchers[MAP].cohort_of(2).number
    monkeypatch.setattr(task_times.LearnedTaskTimes, "_most_telling_mean", counted)
    for node, ran_ms in ((0, 1000), (1, 50_000), (0, 9000)):
        policy.observe(Closed(0, MAPS, 99, node, True, ran_ms), cluster)
    assert len(asked) <= 40
    found = {order.matchers[MAP].cohort_of(n).number for n in range(2, waiting, 2)}
    assert len(found) == 1
    assert before not in found


def test_a_failed_attempt_teaches_nothing() -> None:
    lab = Lab([a_job(0, "ann")], {}, {})
    online = Policy(Coshh())
    informed(online, lab.cluster)
    before = online.order.matchers[MAP].cohort_of(0).number  # type: ignore[attr-defined]
    online.observe(Closed(0, MAPS, 1, 0, False, 5), lab.cluster)
    assert online.order.matchers[MAP].cohort_of(0).number == before  # type: ignore[attr-defined]


def test_claims_are_the_users_fair_shares() -> None:
    due = users(ann=UserParams(weight=3.0), bob=UserParams(min_maps=2))
    jobs = [a_job(0, "ann", 1), a_job(1, "ann", 9), a_job(2, "bob", 9), a_job(3, "cid", 9)]
    lab = Lab(jobs, {}, {}, users=due)
    claims = lab.order.entitlements(MAP, lab.cluster, "pool")
    assert [(c.claimant, c.jobs, c.demand, c.share, c.min_share) for c in claims] == [
        (UserClaimant("ann"), (0, 1), 10, Fraction(3, 2), 0),
        (UserClaimant("bob"), (2,), 9, Fraction(2), 2),
        (UserClaimant("cid"), (3,), 9, Fraction(1, 2), 0),
    ]
    each = lab.order.entitlements(MAP, lab.cluster, "job")
    assert [(c.claimant, c.share) for c in each] == [
        (JobClaimant(0), Fraction(1)),
        (JobClaimant(1), Fraction(1, 2)),
        (JobClaimant(2), Fraction(2)),
        (JobClaimant(3), Fraction(1, 2)),
    ]
    assert make_policy("coshh+kill").order.name == "coshh"


def recounted(lab: Lab, node: int, kind: SlotKind) -> list[JobId]:
    """The queue by sorting everything."""
    order, cluster = lab.order, lab.cluster
    suggestions, lines = order.matchers[kind], order._user_queues[kind]
    waiting = [j for j in cluster.jobs() if j.pending(kind)]
    mine: dict[str, list[Any]] = {}
    for each in cluster.jobs():
        mine.setdefault(each.user, []).append(each)

    def share(user: str) -> Any:
        params = order.params.users.get(user, UserParams())
        running = sum(j.running(kind) for j in mine[user])
        launched = lines.users[user].launched
        oldest = min((j.submitted_ms, j.job) for j in mine[user] if j.pending(kind))
        weight = params.weight
        lacks = max(params.minimum(kind) - running, 0)
        return (running / weight, launched / weight, oldest), (-lacks, -weight, oldest), lacks

    def among(classes: Any, place: int) -> list[JobId]:
        chosen = [j for j in waiting if suggestions.cohort_of(j.job).number in classes]
        if place:
            chosen = [j for j in chosen if share(j.user)[2]]
        chosen.sort(key=lambda j: (share(j.user)[place], j.submitted_ms, j.job))
        return [j.job for j in chosen]

    first, second = suggestions.first.suggested, suggestions.second.suggested
    suggested = second[node] if second else ()
    queue = among(first[node] if first else (), 1)
    queue += among(suggested, 0)
    queue += among([c for c in suggestions.second.rates if c not in suggested], 0)
    return list(dict.fromkeys(queue))


@given(
    times=st.lists(
        st.tuples(st.sampled_from([1.0, 2.0, 8.0]), st.sampled_from([1.0, 3.0])),
        min_size=6,
        max_size=6,
    ),
    owners=st.lists(st.sampled_from(["ann", "bob", "cid"]), min_size=6, max_size=6),
    moves=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=20),
    due=st.sampled_from([{}, {"ann": UserParams(weight=2.5, min_maps=2, min_reduces=1)}]),
)
@settings(derandomize=True, max_examples=100, deadline=None)
def test_the_lines_stay_what_a_recount_gives(
    times: list[tuple[float, float]],
    owners: list[str],
    moves: list[tuple[int, int]],
    due: dict[str, UserParams],
) -> None:
    a, b = ({n: each[k] for n, each in enumerate(times)} for k in (0, 1))
    lab = Lab([], a, b, slots=(2, 1), users=due, spare="any", change=0.0, classes=3)
    coming = [a_job(n, user, 1 + n % 3, n % 2) for n, user in enumerate(owners)]
    for what, which in [(4, 0), (4, 0), *moves]:
        open_ = list(lab.cluster.attempts_)
        idle = [
            j.job for j in lab.cluster.jobs() if not any(j.running(k) + j.pending(k) for k in KINDS)
        ]
        if what <= 1:
            lab.serve(which % 2)
        elif what == 2 and open_:
            number = open_[which % len(open_)]
            close(lab.policy, lab.cluster, number, succeeded=which % 3 > 0)
        elif what == 3 and idle:
            lab.cluster.leave(idle[0], lab.policy)
        elif coming:
            lab.cluster.add(coming.pop(0), lab.policy)
        for node, kind in product((0, 1), KINDS):
            assert lab.queue(node, kind) == recounted(lab, node, kind)


@pytest.mark.parametrize("policy", ["coshh", 'coshh(size="oracle")', 'coshh(spare="leave")'])
@pytest.mark.parametrize(
    "jobs",
    [
        [job(0, maps=0), job(1, maps=3, map_ms=0, reduces=2, reduce_ms=0)],
        [job(n, maps=4, map_ms=5000, user=f"u{n}") for n in range(6)],
        [job(0, 9, 4000, factors=(("io", 0.1),)), job(1, 9, 4000, reduces=3, reduce_ms=900)],
    ],
)
def test_edge_cases_come_to_an_end(policy: str, jobs: list[Any]) -> None:
    """No maps, no length, no reduces, all equal; on one kind and on two."""
    for group in ((), (NodeGroup(nodes=1, node_type="io", speed=2.0),)):
        cluster = Cluster(nodes=2, racks=1, heartbeat=IN_STEP, group=group)
        assert len(play(jobs, policy, cluster=cluster).all(JobFinished)) == len(jobs)


def test_nodes_that_join_after_jobs_are_matched_too() -> None:
    """Heartbeats are spread over three seconds: the second kind comes when jobs have long been
    there.
    """
    group = (NodeGroup(nodes=2, node_type="io"),)
    cluster = Cluster(nodes=2, racks=1, heartbeat=Heartbeats(), group=group)
    jobs = [job(0, 200, 9000, factors=(("io", 0.1),)), job(1, 20, 9000, factors=(("io", 10.0),))]
    run = play(jobs, 'coshh(size="oracle")', cluster=cluster)
    late = [e for e in run.launches() if 5000 < e.at_ms < 30_000]
    assert {(e.job, e.node >= 2) for e in late} == {(0, True), (1, False)}


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            "coshh(users={bob = {}, ann = {weight = 0}})",
            "parameter `users.ann.weight`: expected a number of more than 0, got 0",
        ),
        (
            "coshh(users={ann = {min_maps = -1}})",
            "`users.ann.min_maps`: expected a whole number of at least 0, got -1",
        ),
        (
            "coshh(users={ann = {min_map = 1}})",
            "`users.ann.min_map`: unknown field `min_map` in .users.ann.; did you mean `min_maps`",
        ),
        ("coshh(classes=0)", "`classes`: expected a whole number of at least 1, got 0"),
        ("coshh(classes=101)", "`classes`: expected a whole number of at most 100, got 101"),
        ('coshh(spare="maybe")', "spare"),
        ("coshh(alike=0)", "`alike`: expected a number of at least 0.001, got 0"),
        ("hybrid(margin=-1)", "`margin`: expected a number of at least 0, got -1"),
        ("hybrid(balanced_from=2)", "balanced_from must be"),
    ],
)
def test_bad_parameters_are_refused_in_words(policy: str, words: str) -> None:
    with pytest.raises(PolicySpecError, match=words):
        make_policy(policy)


@pytest.mark.parametrize("policy", ["coshh", "hybrid"])
def test_without_scipy_there_is_one_clear_message(
    policy: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("scipy", "scipy.optimize", "scipy.cluster", "scipy.cluster.vq"):
        monkeypatch.setitem(sys.modules, name, None)
    linear_program.scipy_module.cache_clear()
    try:
        assert run_command_line(["run", "two-jobs", "--policy", policy]) == 2
        assert run_command_line(["policies"]) == 0
    finally:
        linear_program.scipy_module.cache_clear()
    out, err = capsys.readouterr()
    assert err.startswith("callboard: `coshh` needs SciPy: ")
    assert err.endswith("pip install 'callboard[coshh]'\n")
    assert policy in out


def test_a_job_may_leave_that_nobody_has_run() -> None:
    lab = Lab([a_job(0, "ann", maps=0)], {}, {})
    lab.policy.observe(JobLeft(0), lab.cluster)
    assert lab.queue(0) == []


UNLIKE = Cluster(
    nodes=2, racks=1, heartbeat=IN_STEP, group=(NodeGroup(nodes=1, speed=0.5, node_type="cpu"),)
)
"""Two plain nodes, and one on which both jobs below take longer, of six map slots in all."""


@pytest.mark.parametrize("spare", ["leave", "help", "any"])
def test_a_task_that_failed_on_every_suggested_node_goes_elsewhere(spare: str) -> None:
    """Job 0 is suggested to the plain nodes only, and its map fails on both.  It may not return to
    where it failed (JobInProgress.findTaskFromList) before it has failed everywhere.
    """
    ill = msgspec.structs.replace(
        job(0, maps=1, map_ms=20_000, factors=(("cpu", 4.0),), poisoned=((0,), ())), fails_at=0.0
    )
    policy = make_policy(f'coshh(spare="{spare}",size="oracle")')
    run = play([ill, job(1, maps=30, map_ms=20_000)], policy, cluster=UNLIKE)
    tried = [e.node for e in run.launches() if e.job == 0]
    assert {*tried[:2]} == {0, 1}
    assert tried[2] == 2
    assert len(tried) == 4
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.FAILED, Outcome.SUCCEEDED}


def test_a_policy_that_comes_later_leaves_no_task_behind_that_failed_before_it() -> None:
    ill = msgspec.structs.replace(
        job(0, maps=1, map_ms=20_000, factors=(("cpu", 4.0),), poisoned=((0,), ())), fails_at=0.0
    )
    script = [ScheduledFault(30_000, SwitchPolicy('coshh(spare="leave",size="oracle")'))]
    run = play([ill, job(1, maps=5, map_ms=20_000)], cluster=UNLIKE, script=script)
    tried = [(e.node, e.at_ms < 30_000) for e in run.launches() if e.job == 0]
    assert tried[:3] == [(0, True), (1, True), (2, False)]
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.FAILED, Outcome.SUCCEEDED}


def test_an_attempt_held_suspended_by_a_node_that_is_no_longer_suggested_goes_on() -> None:
    """Job 0 alone is suggested to every node; with job 1 only to the plain ones."""
    policy = make_policy('coshh(spare="leave",size="oracle")')
    policy.preemption = Scripted((10_000, Suspend, 5), (10_000, Suspend, 6))
    jobs = [
        job(0, maps=6, map_ms=60_000, factors=(("cpu", 4.0),)),
        job(1, maps=30, map_ms=20_000, submit_ms=5000, user="other"),
    ]
    run = play(jobs, policy, cluster=UNLIKE)
    assert {e.node for e in run.launches() if e.attempt in (5, 6)} == {2}
    assert {e.attempt for e in run.all(AttemptResumed)} == {5, 6}
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.SUCCEEDED}
