"""Small worlds of the simulator that Sparrow's authors released (radlab/sparrow), draws given."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from callboard.actors.books.frontend import Frontend
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.message import Message
from callboard.actors.sparrow.draws import Draws, ProbeRatios
from callboard.actors.sparrow.late_binding import LateBinding
from callboard.actors.sparrow.probe_messages import EnqueueTaskReservations, GetTask, NoTask
from callboard.actors.sparrow.sparrow import Sparrow, SparrowParams
from callboard.actors.vocabulary.messages import LaunchTask
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, NodeId, Stage
from trials.oracles.comparison import Cell
from trials.oracles.oracle_runs import SCALE, responses_ms

PLACEMENTS = {
    "late": SparrowParams(cancellation=False),
    "cancel": SparrowParams(),
    "batch": SparrowParams(placement="batch"),
    "per_task": SparrowParams(placement="per-task"),
    "random": SparrowParams(placement="random"),
    "central": SparrowParams(placement="central"),
}
"""Ours by its names."""


class _Replayed(Draws):
    """Asks nodes in the orders that were drawn elsewhere, one a job."""

    def __init__(self, orders: Sequence[Sequence[NodeId]]) -> None:
        self._orders = orders

    def distinct(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        assert (stage, batch) == (0, 0), "the simulator asks once for each job"
        return self._orders[job][:count]


class ReplayedSparrow(Sparrow):
    """Sparrow with orders of probes that were drawn elsewhere."""

    def __init__(self, params: SparrowParams, orders: Sequence[Sequence[NodeId]]) -> None:
        super().__init__(params)
        self._orders = orders

    def draws(self, world: World) -> Draws:  # noqa: ARG002
        return _Replayed(self._orders)


class QueuedSparrow(ReplayedSparrow):
    """The same with one scheduler, which hears nodes that ask at one instant as the simulator does:
    in the order in which it told them what makes them ask now.
    """

    def __init__(
        self,
        params: SparrowParams,
        orders: Sequence[Sequence[NodeId]],
        lengths_ms: Sequence[Millis],
    ) -> None:
        super().__init__(replace(params, schedulers=1), orders)
        self._lengths_ms = lengths_ms

    def frontend(self, number: int, world: World, draws: Draws) -> Frontend:
        params = self.params
        if params.placement != "late":
            return super().frontend(number, world, draws)
        cancels, ratios = params.cancellation, ProbeRatios(params.probes)
        found = _Queued(number, world, draws, ratios=ratios, cancellation=cancels)
        found.lengths_ms = self._lengths_ms
        return found


class _Queued(LateBinding):
    """Who asks when is known: whom a slot will be free, a round trip after it was told so."""

    lengths_ms: Sequence[Millis]
    """Of each job's tasks."""

    def __init__(
        self, number: int, world: World, draws: Draws, *, ratios: ProbeRatios, cancellation: bool
    ) -> None:
        super().__init__(number, world, draws, ratios=ratios, cancellation=cancellation)
        self._round_trip_ms = 2 * world.cluster.latency_ms
        self._told = 0
        self._turns: dict[Millis, dict[NodeId, deque[int]]] = {}
        """By the instant at which nodes may ask, and by node: the numbers of what they were told
        that lets them."""

    def tell_node(self, node: NodeId, message: Message, cause: int) -> None:
        if isinstance(message, LaunchTask):
            self._note_turn(node, self.lengths_ms[message.job])
        elif isinstance(message, NoTask | EnqueueTaskReservations):
            self._note_turn(node, 0)
        super().tell_node(node, message, cause)

    def _note_turn(self, node: NodeId, busy_ms: Millis) -> None:
        self._told += 1
        asks_ms = self.now_ms + busy_ms + self._round_trip_ms
        self._turns.setdefault(asks_ms, {}).setdefault(node, deque()).append(self._told)

    def questions_due(self) -> list[tuple[GetTask, int]]:
        """In the order of the turns."""
        turns = self._turns.pop(self.now_ms)
        return sorted(super().questions_due(), key=lambda each: turns[each[0].node].popleft())


def jobs_of_maps(
    arrivals_ms: Sequence[Millis], lengths_ms: Sequence[Millis], tasks: int
) -> list[JobSpec]:
    """A job for each arrival, of that many maps that are as long as each other."""
    return [
        JobSpec(job=number, name=f"job-{number}", submit_ms=at_ms, maps=tasks, map_ms=length_ms)
        for number, (at_ms, length_ms) in enumerate(zip(arrivals_ms, lengths_ms, strict=True))
    ]


def micro_responses(case: dict[str, Any], schedulers: int = 1) -> list[float]:
    """The responses of a small world, in the simulator's ms."""
    params = PLACEMENTS[case["which"]]
    if params.placement != "central":
        params = replace(params, schedulers=schedulers)
    arrivals_ms = [round(SCALE * arrival) for arrival, _, _ in case["jobs"]]
    lengths_ms = [SCALE * case["duration"]] * len(arrivals_ms)
    jobs = jobs_of_maps(arrivals_ms, lengths_ms, case["tasks"])
    sparrow = ReplayedSparrow(params, case["worker_orders"])
    found = responses_ms(sparrow, jobs, workers=case["workers"], slots=case["slots"], seed=1)
    return [each / SCALE for each in found]


def micro_cells(cases: Sequence[dict[str, Any]]) -> list[Cell]:
    """`sparrow-micro.json`: every response, to the digit."""
    found = []
    for place, case in enumerate(cases):
        name = f"{place} {case['which']}"
        known = case["which"] in PLACEMENTS
        ours = micro_responses(case) if known else [None] * len(case["jobs"])
        for number, (each, (_, _, theirs)) in enumerate(zip(ours, case["jobs"], strict=True)):
            found.append(Cell(f"{name}, job {number}", theirs, each))
    return found
