"""COSHH: classes of jobs matched with node types, then min shares and fair shares of users.

(Rasooli and Down, "A Hybrid Scheduling Approach for Scalable Heterogeneous Hadoop Systems", II-C
and III; "An adaptive scheduling algorithm for dynamic heterogeneous Hadoop systems", CASCON 2011.)

Jobs whose tasks take equally long on each node type are a class (`job_classes`).  A linear program
suggests classes to types (`linear_program`), once among the users with a min share and once among
all (`matching`).  At a slot the users below their min share choose among what the first suggests,
then all users among what the second does (`user_queues`).  Maps and reduces are matched apart.
docs/coshh.md says what the papers leave open.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from callboard.scheduler import facts
from callboard.scheduler.entitlements import ClaimantKind, Entitlements
from callboard.scheduler.estimation import SizeSource
from callboard.scheduler.guarantees import MONOTONE_SHARES
from callboard.scheduler.model import KINDS, JobId, NodeId, SlotKind, stage_on
from callboard.scheduler.orders.coshh import task_times
from callboard.scheduler.orders.coshh.cohorts import Cohort
from callboard.scheduler.orders.coshh.linear_program import scipy_module
from callboard.scheduler.orders.coshh.matching import ClassMatcher
from callboard.scheduler.orders.coshh.task_times import NodeType
from callboard.scheduler.orders.coshh.user_entitlements import UserParams, user_entitlements
from callboard.scheduler.orders.coshh.user_queues import UserQueue, UserQueues, WaitingJob
from callboard.scheduler.part_params import NotNegative, PartParams, Positive
from callboard.scheduler.policy import Order, QueuedJob
from callboard.scheduler.reasons import ClassPlace, Grounds, Reason
from callboard.scheduler.view import ClusterView, JobView, NodeView, Offer


@dataclass(slots=True, eq=False)
class _Job:
    """What the queues know of a job's tasks of one kind."""

    user: UserQueue
    waiting: WaitingJob
    cohort: Cohort
    pending: int = 0
    running: int = 0

    @property
    def class_number(self) -> int:
        """Its class."""
        return self.cohort.number


class Coshh(Order):
    """Suggested classes first, in them min shares, then least running for its weight."""

    name = "coshh"
    summary = "match classes of jobs with kinds of node by a linear program, then share fairly"
    hears_progress = False
    ages = False
    same_for_every_node = False

    class Params(PartParams, frozen=True, kw_only=True):
        """Where task times come from, who the users are, and what a class and a change is."""

        size: SizeSource = "online"
        """Task times are learnt (`online`) or true (`oracle`)."""
        guess: Positive = 60.0
        """A task's seconds before any has completed."""
        users: dict[str, UserParams] = msgspec.field(default_factory=dict)
        """What each user is due, by name."""
        classes: Annotated[int, Meta(ge=1, le=100)] = 10
        """The most classes of jobs."""
        alike: Annotated[float, Meta(ge=0.001, le=10)] = 0.1
        """Jobs whose task times differ by less than about this share are one class."""
        memory_s: NotNegative = 3600.0
        """For how long work counts from its submission."""
        change: NotNegative = 0.25
        """A matching holds until a part of it has changed by the factor 1 + this."""
        spare: Literal["help", "any", "leave"] = "help"
        """With nothing suggested waiting a node may `help` others where its slot would be done
        before their own nodes' get to them, serve `any`, or `leave` its slots free; none keeps it
        from jobs that may run on no suggested node.
        """

    def __init__(self, params: Params | None = None) -> None:
        self.params = params = params or Coshh.Params()
        if msgspec.structs.replace(params, size="online") == Coshh.Params():
            self.guarantees = ("makespan", "lone-job", "scale", "truthful", *MONOTONE_SHARES)
        for part in ("optimize", "vq"):
            scipy_module(part)
        self.wants_oracle = params.size == "oracle"
        self._times: task_times.TaskTimes = task_times.LearnedTaskTimes(round(params.guess * 1000))
        if self.wants_oracle:
            self._times = task_times.OracleTaskTimes(lambda: self.oracle)
        weights = {name: Fraction(repr(user.weight)) for name, user in params.users.items()}
        self._scale = lcm(*(w.numerator for w in weights.values()))
        self._node_type_of: dict[NodeId, int] = {}
        self._slots_of: dict[NodeId, tuple[int, ...]] = {}
        self._node_types: list[NodeType] = []
        self._jobs: tuple[dict[JobId, _Job], ...] = ({}, {})
        self._pending: tuple[Counter[Cohort], ...] = (Counter(), Counter())
        self._pending_of_class: tuple[Counter[int], ...] = (Counter(), Counter())
        self._user_queues = (UserQueues(), UserQueues())
        # Jobs of which attempts came to nothing, or are held suspended: tasks of theirs may be kept
        # from some nodes, or to one.
        self._particular: tuple[dict[JobId, None], ...] = ({}, {})
        self.matchers = tuple(self._new_matcher(kind) for kind in KINDS)

    def _new_matcher(self, kind: SlotKind) -> ClassMatcher:
        params = self.params
        guaranteed = {n: u.weight for n, u in params.users.items() if u.minimum(kind)}
        return ClassMatcher(
            kind,
            self._times,
            most=params.classes,
            alike=params.alike,
            memory_ms=round(params.memory_s * 1000),
            change=params.change,
            guaranteed=guaranteed,
        )

    def observe(self, fact: facts.Fact, view: ClusterView) -> None:
        match fact:
            case facts.Launched(job):
                self._refresh_job(view.job(job), fact.kind, launched=1)
            case facts.Closed():
                self._note_attempt_end(fact, view)
            case facts.Suspended(job):
                self._particular[fact.kind][job] = None
                self._refresh_job(view.job(job), fact.kind)
            case facts.TaskOutputsLost(job):
                self._particular[fact.kind][job] = None
            case facts.StageFact(job):
                self._refresh_job(view.job(job), fact.kind)
            case facts.JobArrived(job):
                self._add_job(view.job(job), view)
            case facts.JobLeft(job):
                self._remove_job(job, view)
            case facts.NodeGone(node) | facts.NodeDrained(node):
                self._remove_node_slots(node)
            case facts.NodeJoined(node):
                joined = view.node(node)
                assert joined is not None
                self._add_node(joined)

    def _add_node(self, node: NodeView) -> None:
        node_type = NodeType(node.node_type, node.speed)
        if node_type not in self._node_types:
            self._node_types.append(node_type)
        self._remove_node_slots(node.node)
        self._node_type_of[node.node] = self._node_types.index(node_type)
        self._slots_of[node.node] = tuple(node.slots(kind) for kind in KINDS)
        for kind in KINDS:
            if self.matchers[kind].add_slots(node_type, node.slots(kind)):
                self._move_to_new_cohorts(kind)
                self._recount_classes(kind)

    def _remove_node_slots(self, node: NodeId) -> None:
        """A node's slots count no more.  Its type stays known, since what runs there may go on."""
        slots = self._slots_of.pop(node, None)
        if slots is not None:
            node_type = self._node_types[self._node_type_of[node]]
            for kind in KINDS:
                self.matchers[kind].add_slots(node_type, -slots[kind])

    def _add_job(self, job: JobView, view: ClusterView) -> None:
        for kind in KINDS:
            if job.total(stage_on(kind)):
                regrouped = self.matchers[kind].enter(job, view.now_ms)
                cohort = self.matchers[kind].cohort_of(job.job)
                self._jobs[kind][job.job] = _Job(
                    self._user_queue(job.user, kind), (job.submitted_ms, job.job), cohort
                )
                if regrouped:
                    self._recount_classes(kind)
                if job.submitted_ms < view.now_ms:  # another policy had it, and knew what failed
                    self._particular[kind][job.job] = None
                self._refresh_job(job, kind)

    def _remove_job(self, job: JobId, view: ClusterView) -> None:
        for kind in KINDS:
            self._particular[kind].pop(job, None)
            left = self._jobs[kind].pop(job, None)
            if left is not None:
                assert not left.pending, f"job {job} leaves with pending tasks"
                self.matchers[kind].leave(job, left.waiting[0], view.now_ms)
        self._times.forget_job(job)

    def _note_attempt_end(self, fact: facts.Closed, view: ClusterView) -> None:
        job = view.job(fact.job)
        if not fact.succeeded:
            self._particular[fact.kind][fact.job] = None
        if fact.succeeded and not self.wants_oracle:
            node_type = self._node_types[self._node_type_of[fact.node]]
            self._times.learn_end(fact, job.user, node_type)
            moved = self.matchers[fact.kind].reclassify_after_learning(fact.job)
            self._move_to_new_cohorts(fact.kind)
            if moved:
                self._recount_classes(fact.kind)
        self._refresh_job(job, fact.kind)

    def _user_queue(self, name: str, kind: SlotKind) -> UserQueue:
        users = self._user_queues[kind].users
        if name not in users:
            params = self.params.users.get(name, UserParams())
            pace = self._scale / Fraction(repr(params.weight))
            assert pace.denominator == 1
            users[name] = UserQueue(name, pace.numerator, params.minimum(kind))
        return users[name]

    def _refresh_job(self, view: JobView, kind: SlotKind, launched: int = 0) -> None:
        job = self._jobs[kind][view.job]
        user, pending, running = job.user, view.pending(kind), view.running(kind)
        if job.pending and not pending:
            user.drop(job.waiting, job.cohort)
        if pending and not job.pending:
            user.put(job.waiting, job.cohort)
        if pending != job.pending:
            self._add_pending(kind, job.cohort, pending - job.pending)
        user.running += running - job.running
        user.launched += launched
        job.pending, job.running = pending, running
        self._user_queues[kind].refresh(user)

    def _move_to_new_cohorts(self, kind: SlotKind) -> None:
        """Follow the jobs that have come into another cohort."""
        matcher = self.matchers[kind]
        for number in matcher.refiled:
            job, cohort = self._jobs[kind][number], matcher.cohort_of(number)
            if job.pending and cohort is not job.cohort:
                job.user.drop(job.waiting, job.cohort)
                job.user.put(job.waiting, cohort)
                self._add_pending(kind, job.cohort, -job.pending)
                self._add_pending(kind, cohort, job.pending)
            job.cohort = cohort
        matcher.refiled.clear()

    def _recount_classes(self, kind: SlotKind) -> None:
        """Go by the classes that cohorts are in now."""
        of_class = self._pending_of_class[kind]
        of_class.clear()
        for cohort, tasks in self._pending[kind].items():
            of_class[cohort.number] += tasks
        queues = self._user_queues[kind]
        for user in queues.users.values():
            queues.refresh(user)

    def _add_pending(self, kind: SlotKind, cohort: Cohort, tasks: int) -> None:
        pending = self._pending[kind]
        pending[cohort] += tasks
        if not pending[cohort]:
            del pending[cohort]
        self._pending_of_class[kind][cohort.number] += tasks

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        """Score: the slots lacking below the min share, then running / weight."""
        node_type = self._node_type_of[offer.node.node]
        matcher, queues = self.matchers[kind], self._user_queues[kind]
        where, jobs = self._node_types[node_type], self._jobs[kind]
        first: set[JobId] = set()
        for user, job in queues.jobs_below_min_share(
            _classes_for_type(matcher.first.suggested, node_type)
        ):
            first.add(job)
            lacks = user.shortfall
            place = ClassPlace(jobs[job].class_number, *where, user.name, lacks, user.minimum)
            grounds = Grounds(Reason.CLASS_MIN_SHARE, place)
            yield QueuedJob(view.job(job), float(lacks), grounds)
        served: set[int] = set()
        for reason, classes in self._class_levels(kind, node_type):
            served.update(classes)
            for user, job in queues.jobs_by_share(classes):
                if job not in first:
                    place = ClassPlace(jobs[job].class_number, *where, user.name)
                    yield QueuedJob(
                        view.job(job), self._running_over_weight(user), Grounds(reason, place)
                    )
        for _, job in sorted(self._stranded_jobs(kind, served, view)):
            if job not in first:
                user = jobs[job].user
                place = ClassPlace(jobs[job].class_number, *where, user.name)
                grounds = Grounds(Reason.UNMATCHED_CLASS, place)
                yield QueuedJob(view.job(job), self._running_over_weight(user), grounds)

    def _running_over_weight(self, user: UserQueue) -> float:
        return user.running * user.inverse_weight / self._scale

    def _stranded_jobs(
        self, kind: SlotKind, served: set[int], view: ClusterView
    ) -> Iterator[WaitingJob]:
        """Jobs that wait, with nothing that may run on any node suggested to their class: a task
        may not return to where it failed, and a suspended attempt stays where it is.
        """
        for number in self._particular[kind]:
            job = self._jobs[kind][number]
            if job.pending and job.class_number not in served:
                found, nodes = view.job(number), self._suggested_nodes(kind, job.class_number)
                if not any(_may_run_on(found, kind, node) for node in nodes):
                    yield job.waiting

    def _suggested_nodes(self, kind: SlotKind, number: int) -> Iterator[NodeId]:
        suggested = self.matchers[kind].second.suggested
        for node, slots in self._slots_of.items():
            if slots[kind] and number in _classes_for_type(suggested, self._node_type_of[node]):
                yield node

    def _class_levels(
        self, kind: SlotKind, node_type: int
    ) -> Iterator[tuple[Reason, Sequence[int]]]:
        """The classes that users share such nodes by: the suggested ones, then others."""
        second = self.matchers[kind].second
        suggested = _classes_for_type(second.suggested, node_type)
        yield Reason.CLASS_SHARE, suggested
        if self.params.spare != "leave":
            others = [each for each in second.rates if each not in suggested]
            others = [each for each in others if self._class_may_help(each, kind, node_type)]
            yield Reason.UNMATCHED_CLASS, others

    def _class_may_help(self, number: int, kind: SlotKind, node_type: int) -> bool:
        waiting = self._pending_of_class[kind].get(number, 0)
        if not waiting or self.params.spare == "any":
            return waiting > 0
        level = self.matchers[kind].second
        return level.times_ms[number][node_type] * level.rates[number] <= waiting

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:
        return user_entitlements(kind, view, each, self.params.users)


def _classes_for_type(suggested: Sequence[tuple[int, ...]], node_type: int) -> tuple[int, ...]:
    return suggested[node_type] if node_type < len(suggested) else ()


def _may_run_on(job: JobView, kind: SlotKind, node: NodeId) -> bool:
    """Whether a pending task of the job may be launched on the node, or resumed there."""
    return job.nearest(kind, node) is not None or job.resumable(kind, node) is not None
