"""Tests of Hadoop 1's Capacity Scheduler (TestCapacityScheduler), heartbeat by heartbeat.

A case has trackers `tt1`, `tt2`, … and queues `[name, capacity, maximum capacity, minimum user
limit percent, user limit factor]`; its steps are `submit` (job, queue, user, maps, reduces), `beat`
(tracker, the attempts that it has to bring), `finish`, `add` (a tracker), and `capacity` (of maps,
of a queue).  The policy is asked and told as the master does it; attempts are named by job, kind
and number.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from callboard.scheduler.facts import NodeJoined, TasksPending
from callboard.scheduler.model import MAP, REDUCE, REDUCES, AttemptId, SlotKind
from callboard.scheduler.orders.capacity.capacity import Capacity
from callboard.scheduler.orders.capacity.queues import QueueParams
from callboard.scheduler.policy import Policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, close, heartbeat
from trials.oracles.comparison import Cell, Check, NotPlayed, case_as, case_cell

_LETTERS = {MAP: "m", REDUCE: "r"}


class Submit(msgspec.Struct, tag="submit", array_like=True):
    """A job is submitted; `more` may hold back its reduces until that many maps have succeeded."""

    job: int
    queue: str
    user: str
    maps: int
    reduces: int
    more: dict[str, int] = {}


class Beat(msgspec.Struct, tag="beat", array_like=True):
    """A tracker's heartbeat, and the attempts that it has to bring."""

    tracker: str
    attempts: list[str]


class Finish(msgspec.Struct, tag="finish", array_like=True):
    """An attempt has succeeded."""

    tracker: str
    attempt: str


class Add(msgspec.Struct, tag="add", array_like=True):
    """A tracker comes."""

    tracker: str


class CapacityOf(msgspec.Struct, tag="capacity", array_like=True):
    """How many map slots a queue is due now."""

    queue: str
    slots: int


class Queue(msgspec.Struct, array_like=True):
    """A queue of the case."""

    name: str
    capacity: float
    maximum_capacity: float | None
    minimum_user_limit_percent: int
    user_limit_factor: float

    def params(self) -> QueueParams:
        return QueueParams(
            capacity=self.capacity,
            maximum_capacity=self.maximum_capacity,
            minimum_user_limit_percent=self.minimum_user_limit_percent,
            user_limit_factor=self.user_limit_factor,
        )


class Case(msgspec.Struct):
    """One test."""

    test: str
    trackers: int
    map_slots: int
    reduce_slots: int
    queues: list[Queue]
    steps: list[Submit | Beat | Finish | Add | CapacityOf]


class Replay:
    """One case at play."""

    def __init__(self, case: Case) -> None:
        self.case = case
        try:
            queues = {queue.name: queue.params() for queue in case.queues}
            self.order = Capacity(Capacity.Params(queues=queues))
        except ValueError as error:
            raise NotPlayed(str(error)) from None
        self.policy = Policy(self.order)
        self.cluster = FakeCluster([], [])
        self.nodes: dict[str, FakeNode] = {}
        self.named: dict[str, AttemptId] = {}
        self.launched: Counter[tuple[int, SlotKind]] = Counter()
        self.maps_to_go: dict[int, int] = {}
        self.held_back: dict[int, int] = {}
        for number in range(1, case.trackers + 1):
            self.add(f"tt{number}")

    def checks(self) -> Iterator[Check]:
        """Play the steps; NotPlayed for one that cannot be."""
        for place, step in enumerate(self.case.steps, start=1):
            match step:
                case Submit():
                    self.submit(step)
                case Beat(tracker, attempts):
                    yield Check(f"step {place} (beat {tracker})", attempts, self.beat(tracker))
                case Finish(_, attempt):
                    self.finish(attempt)
                case Add(tracker):
                    self.add(tracker)
                case CapacityOf(queue, slots):
                    yield Check(f"step {place} (capacity of {queue})", slots, self.capacity(queue))

    def capacity(self, queue: str) -> int:
        if queue not in self.order.queues:
            raise NotPlayed(f"no queue `{queue}`")
        return self.order.queues[queue].capacity(self.cluster.slots(MAP))

    def add(self, tracker: str) -> None:
        node = FakeNode(len(self.nodes), (self.case.map_slots, self.case.reduce_slots))
        self.nodes[tracker] = node
        self.cluster._nodes.append(node)
        self.policy.observe(NodeJoined(node.node), self.cluster)

    def submit(self, step: Submit) -> None:
        unknown = sorted(step.more.keys() - {"slowstart"})
        if unknown:
            several = unknown[0].startswith("slots_")
            raise NotPlayed("tasks of several slots" if several else f"a job's {unknown[0]}")
        slowstart = step.more.get("slowstart", 0)
        if slowstart:
            self.maps_to_go[step.job], self.held_back[step.job] = slowstart, step.reduces
        reduces = 0 if slowstart else step.reduces
        self.cluster.add(
            FakeJob(
                step.job,
                [step.maps, reduces],
                submitted_ms=step.job,
                user=step.user,
                pool=step.queue,
            ),
            self.policy,
        )

    def beat(self, tracker: str) -> list[str]:
        """The attempts that the tracker's heartbeat brings."""
        if tracker not in self.nodes:
            raise NotPlayed(f"no tracker `{tracker}`")
        before = self.cluster.last_attempt
        launches = heartbeat(self.policy, self.cluster, self.nodes[tracker])
        names = []
        for attempt, launch in enumerate(launches, start=before + 1):
            self.launched[launch.job, launch.kind] += 1
            number = self.launched[launch.job, launch.kind]
            names.append(f"j{launch.job}{_LETTERS[launch.kind]}{number}")
            self.named[names[-1]] = attempt
        return names

    def finish(self, name: str) -> None:
        """An attempt has succeeded; with enough maps its job's reduces may start."""
        number = self.named.pop(name, None)
        if number is None:
            return  # it was never launched, which its heartbeat has told
        attempt = self.cluster.attempts_[number]
        close(self.policy, self.cluster, number, succeeded=True)
        if attempt.kind is MAP and attempt.job in self.held_back:
            self.maps_to_go[attempt.job] -= 1
            if not self.maps_to_go[attempt.job]:
                self.open_reduces(attempt.job)

    def open_reduces(self, job: int) -> None:
        self.cluster.job(job).pending_[REDUCE] = self.held_back.pop(job)
        self.policy.observe(TasksPending(job, REDUCES), self.cluster)


def cells(cases: Sequence[dict[str, Any]]) -> list[Cell]:
    """A cell a case: how many of its steps bring what they have to, of how many."""
    return [_cell(case) for case in cases]


def _cell(data: dict[str, Any]) -> Cell:
    asked = sum(step[:1] in (["beat"], ["capacity"]) for step in data["steps"])
    return case_cell(data["test"], asked, lambda: Replay(case_as(data, Case)).checks())
