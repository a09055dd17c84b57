"""Tests of Hadoop 1's Capacity Scheduler (TestCapacityScheduler), heartbeat by heartbeat.

A case has trackers `tt1`, `tt2`, … and queues `[name, capacity, maximum capacity, minimum user
limit percent, user limit factor]`; its steps are `submit` (job, queue, user, maps, reduces), `beat`
(tracker, the attempts that it has to bring), `finish`, `add` (a tracker), and `capacity` (of maps,
of a queue).  The policy is asked and told as the master does it; attempts are named by job, kind
and number.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from bench.oracles.comparison import Cell
from callboard.scheduler.facts import NodeJoined, TasksPending
from callboard.scheduler.model import MAP, REDUCE, REDUCES, AttemptId, SlotKind
from callboard.scheduler.orders.capacity.capacity import Capacity
from callboard.scheduler.orders.capacity.queues import QueueParams
from callboard.scheduler.policy import Policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, close, heartbeat

_LETTERS = {MAP: "m", REDUCE: "r"}


class NotPlayed(ValueError):
    """What a case needs and is not here."""


class Check(NamedTuple):
    """What a step asks for beside what comes out."""

    step: str
    theirs: Any
    ours: Any


class Replay:
    """One case at play."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.order = Capacity(
            Capacity.Params(queues={row[0]: _queue_params(*row[1:]) for row in case["queues"]})
        )
        self.policy = Policy(self.order)
        self.cluster = FakeCluster([], [])
        self.nodes: dict[str, FakeNode] = {}
        self.named: dict[str, AttemptId] = {}
        self.launched: Counter[tuple[int, SlotKind]] = Counter()
        self.held_back: dict[int, tuple[int, int]] = {}
        for number in range(1, case["trackers"] + 1):
            self.add(f"tt{number}")

    def checks(self) -> Iterator[Check]:
        """Play the steps; NotPlayed for one that cannot be."""
        for place, (what, *given) in enumerate(self.case["steps"], start=1):
            if what == "beat":
                yield Check(f"{place} beat {given[0]}", given[1], self.beat(given[0]))
            elif what == "capacity":
                due = self.order.queues[given[0]].capacity(self.cluster.slots(MAP))
                yield Check(f"{place} capacity of {given[0]}", given[1], due)
            elif what in _STEPS:
                _STEPS[what](self, *given)
            else:
                raise NotPlayed(f"step `{what}`")

    def add(self, tracker: str) -> None:
        node = FakeNode(len(self.nodes), (self.case["map_slots"], self.case["reduce_slots"]))
        self.nodes[tracker] = node
        self.cluster._nodes.append(node)
        self.policy.observe(NodeJoined(node.node), self.cluster)

    def submit(
        self,
        job: int,
        queue: str,
        user: str,
        maps: int,
        reduces: int,
        more: dict[str, int] | None = None,
    ) -> None:
        told = dict(more or {})
        slowstart = told.pop("slowstart", 0)
        if told:
            raise NotPlayed("tasks of several slots" if "slots_map" in told else ", ".join(told))
        if slowstart:
            self.held_back[job] = (slowstart, reduces)
        coming = FakeJob(
            job, [maps, 0 if slowstart else reduces], submitted_ms=job, user=user, pool=queue
        )
        self.cluster.add(coming, self.policy)

    def beat(self, tracker: str) -> list[str]:
        """The attempts that the tracker's heartbeat brings."""
        before = self.cluster.last_attempt
        launches = heartbeat(self.policy, self.cluster, self.nodes[tracker])
        names = []
        for attempt, launch in enumerate(launches, start=before + 1):
            self.launched[launch.job, launch.kind] += 1
            number = self.launched[launch.job, launch.kind]
            names.append(f"j{launch.job}{_LETTERS[launch.kind]}{number}")
            self.named[names[-1]] = attempt
        return names

    def finish(self, tracker: str, name: str) -> None:  # noqa: ARG002
        """An attempt has succeeded; with enough maps the job's reduces may start."""
        attempt = self.named.pop(name, None)
        if attempt is None:
            return  # it was never launched, which its heartbeat has told
        job, kind = self.cluster.attempts_[attempt].job, self.cluster.attempts_[attempt].kind
        close(self.policy, self.cluster, attempt, succeeded=True)
        if kind is MAP and job in self.held_back:
            wanted, reduces = self.held_back.pop(job)
            if wanted > 1:
                self.held_back[job] = (wanted - 1, reduces)
                return
            self.cluster.job(job).pending_[REDUCE] = reduces
            self.policy.observe(TasksPending(job, REDUCES), self.cluster)


_STEPS: dict[str, Callable[..., None]] = {
    "add": Replay.add,
    "submit": Replay.submit,
    "finish": Replay.finish,
}


def _queue_params(capacity: float, maximum: float | None, least: int, factor: float) -> QueueParams:
    return QueueParams(
        capacity=capacity,
        maximum_capacity=maximum,
        minimum_user_limit_percent=least,
        user_limit_factor=factor,
    )


def cells(cases: Sequence[dict[str, Any]]) -> list[Cell]:
    """A cell a case: how many of its steps bring what they have to, of how many."""
    return [_cell(case) for case in cases]


def _cell(case: dict[str, Any]) -> Cell:
    asked = sum(step[0] in ("beat", "capacity") for step in case["steps"])
    try:
        checks = list(Replay(case).checks())
    except NotPlayed as lack:
        return Cell(f"{case['test']}: {lack}", asked, None)
    wrong = [each for each in checks if each.theirs != each.ours]
    first = _first(wrong[0]) if wrong else ""
    return Cell(f"{case['test']}{first}", asked, asked - len(wrong))


def _first(wrong: Check) -> str:
    return f": step {wrong.step}, {_list(wrong.theirs)}, here {_list(wrong.ours)}"


def _list(found: Any) -> str:
    return " ".join(found) or "nothing" if isinstance(found, list) else str(found)
