"""Early binding: tasks are sent to the nodes that say that their queues are short.

A task is bound to a node before it can run there, and waits in the node's queue.  What Sparrow is
compared with (SOSP 2013, §3 and §4.1): nodes drawn at random without a question, per-task sampling
(each task goes to the shortest queue of `probes` nodes of its own) and batch sampling (the m tasks
of a stage go to the m shortest of `probes` · m).
"""

from collections.abc import Callable, Sequence
from math import ceil

import msgspec

from callboard.actors.books.frontend import Frontend
from callboard.actors.sparrow.draws import Batches, Draws, DrawsWithinReach, ProbeRatios
from callboard.actors.sparrow.probe_messages import ProbeReply, QueueProbe
from callboard.actors.vocabulary import events as ev
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, NodeId, Stage, slot_kind
from callboard.scheduler.reasons import Reason, Why

_LOST = 1_000_000_000
"""For a load: the node is given up."""


class Sample(msgspec.Struct):
    """The probed nodes; once all have told their load, the least loaded get `tasks` tasks."""

    job: JobId
    stage: Stage
    tasks: int
    nodes: Sequence[NodeId]
    loads: dict[int, int] = {}
    """What is known of them, by place in `nodes`."""
    asked_ms: Millis = 0

    @property
    def has_all_loads(self) -> bool:
        return len(self.loads) == len(self.nodes)

    def least_loaded(self) -> list[NodeId]:
        """The node of each task; of equal loads the first in the order of the draw.  A sample with
        fewer nodes than tasks is gone through again.  None if all nodes are given up.
        """
        there = [place for place, load in self.loads.items() if load != _LOST]
        order = sorted(sorted(there), key=self.loads.__getitem__)
        return [self.nodes[order[place % len(order)]] for place in range(self.tasks) if order]

    def lose(self, node: NodeId) -> None:
        """The node will not answer, or cannot be used any more."""
        for place, each in enumerate(self.nodes):
            if each == node:
                self.loads[place] = _LOST


_AnyDraws = Draws | DrawsWithinReach

Sampled = Callable[[_AnyDraws, float, JobId, Stage, int, int], list[Sample]]
"""The samples of (draws, probes a task, job, stage, batch, tasks)."""


def per_task(
    draws: _AnyDraws, probes: float, job: JobId, stage: Stage, batch: int, tasks: int
) -> list[Sample]:
    """A sample a task, of distinct nodes as far as there are as many."""
    each = ceil(probes)
    nodes = draws.distinct(job, stage, batch, each * tasks)
    count = min(each, len(nodes))

    def sample(first: int) -> list[NodeId]:
        return [nodes[(first + place) % len(nodes)] for place in range(count)]

    return [Sample(job, stage, 1, sample(each * task)) for task in range(tasks)]


def batch_sample(
    draws: _AnyDraws, probes: float, job: JobId, stage: Stage, batch: int, tasks: int
) -> list[Sample]:
    """One sample for all tasks."""
    nodes = draws.distinct(job, stage, batch, ceil(probes * tasks))
    return [Sample(job, stage, tasks, nodes)]


class Binding(Frontend):
    """Sends tasks to nodes that may have no slot free yet."""

    binds_early = True

    def __init__(self, number: int, world: World, draws: Draws) -> None:
        super().__init__(number, world)
        self._draws = DrawsWithinReach(draws, self.contacts, self.allowed_node_types)
        self._batches = Batches()

    def bind_tasks(self, number: JobId, stage: Stage, nodes: Sequence[NodeId], cause: int) -> None:
        """Send each of these nodes a task, as long as any is left."""
        job = self.ledger.known_job(number)
        for node in nodes:
            if job is None or not self.tasks_to_place(job, stage):
                return
            if self.launch_task(job, stage, node, cause) is None:  # what is left has failed there
                self.place_tasks(number, stage, 1, cause)

    def forget_all(self) -> None:
        self._batches = Batches()

    def tasks_being_placed(self, job: JobId, stage: Stage) -> int:  # noqa: ARG002
        """How many of the stage's tasks will have a node in a while."""
        return 0

    def place_remaining_tasks(self, job: JobId, stage: Stage, cause: int) -> None:
        lacking = self.tasks_left(job, stage) - self.tasks_being_placed(job, stage)
        if lacking > 0:
            self.place_tasks(job, stage, lacking, cause)

    def withdraw_job(self, job: JobId, cause: int) -> None:  # noqa: ARG002
        self._batches.forget_job(job)


class AtRandom(Binding):
    """Each task goes to a node of its own as far as there are as many, as in the simulator that
    Sparrow's authors released.
    """

    why = Why(Reason.AT_RANDOM, "sparrow")

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        nodes = self._draws.distinct(job, stage, self._batches.next_batch(job, stage), tasks)
        chosen = [nodes[task % len(nodes)] for task in range(tasks) if nodes]
        self.bind_tasks(job, stage, chosen, cause)


class Sampling(Binding):
    """Asks nodes first; `sampled` says which, for which tasks."""

    why = Why(Reason.SHORT_QUEUE, "sparrow")

    def __init__(
        self, number: int, world: World, draws: Draws, sampled: Sampled, ratios: ProbeRatios
    ) -> None:
        super().__init__(number, world, draws)
        self._sampled = sampled
        self._ratios = ratios
        self._samples: dict[int, Sample] = {}
        """The probed sets that still wait for a reply, by number."""
        self._last_sample = 0

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        batch, kind = self._batches.next_batch(job, stage), slot_kind(stage)
        probes = self._ratios.ratio_for(self.allowed_node_types(job))
        for sample in self._sampled(self._draws, probes, job, stage, batch, tasks):
            if not sample.nodes:
                return  # until one is back
            sample.asked_ms = self.now_ms
            self._last_sample += 1
            self._samples[self._last_sample] = sample
            what = job, self.number, self._last_sample, stage, sample.tasks, tuple(sample.nodes)
            self.note(ev.NodesProbed(self.now_ms, *what, cause=cause))
            for place, node in enumerate(sample.nodes):
                probe = QueueProbe(kind, self.address, self._last_sample, place)
                self.tell_node(node, probe, cause)

    def forget_all(self) -> None:
        super().forget_all()
        self._samples.clear()

    def on_probe_reply(self, reply: ProbeReply) -> None:
        """Bind the tasks of a sample once all of its nodes have answered."""
        sample = self._samples.get(reply.sample)
        if sample is None:  # an earlier life has asked
            return
        sample.loads[reply.place] = reply.load
        self._bind_if_known(reply.sample, self.cause)

    def _bind_if_known(self, number: int, cause: int) -> None:
        sample = self._samples[number]
        if not sample.has_all_loads:
            return
        del self._samples[number]
        nodes = sample.least_loaded()
        self.note(self._probes_answered_event(number, sample, cause))
        self.bind_tasks(sample.job, sample.stage, nodes, cause)
        if not nodes:
            self.place_remaining_tasks(sample.job, sample.stage, cause)

    def _probes_answered_event(self, number: int, sample: Sample, cause: int) -> ev.ProbesAnswered:
        told = [sample.loads[place] for place in range(len(sample.nodes))]
        return ev.ProbesAnswered(
            self.now_ms,
            sample.job,
            self.number,
            number,
            sample.stage,
            sample.asked_ms,
            sample.tasks,
            tuple(sample.nodes),
            tuple(None if load == _LOST else load for load in told),
            cause=cause,
        )

    def tasks_being_placed(self, job: JobId, stage: Stage) -> int:
        samples = self._samples.values()
        return sum(each.tasks for each in samples if (each.job, each.stage) == (job, stage))

    def node_lost(self, node: NodeId, cause: int) -> None:
        """Nobody waits for its answer."""
        for number, sample in list(self._samples.items()):
            sample.lose(node)
            self._bind_if_known(number, cause)
