"""Where a job's tasks waited that nodes had to ask for, or that were bound to a node early, for
`explain`: Sparrow, Hawk and Eagle.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.tell.names import node_name
from callboard.journal.tell.sentences import nodes_shown
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId, Stage
from callboard.scheduler.text.quantities import clock, count, duration

WAITS_SHOWN = 3
"""How many of the longest waits are told one by one."""

_Place = tuple[Stage, NodeId]
_Wait = tuple[Millis, str]
"""How long, and where and behind what."""


class ReservationStory:
    """The reservations of one job; `observe` takes in all events of a run, by their numbers."""

    def __init__(self, job: JobId) -> None:
        self._job = job
        self._scheduler = 0
        self._sent: Counter[int] = Counter()
        """How many each scheduler has sent that were not refused; another one if it was lost."""
        self._sent_to: defaultdict[int, set[NodeId]] = defaultdict(set)
        self._probed: set[NodeId] = set()
        self._awaited_ms: list[Millis] = []
        """How long each set of probed nodes took to answer, all of them."""
        self._long = False
        self._nodes: set[NodeId] = set()
        self._refused: Counter[NodeId] = Counter()
        self._stolen = 0
        self._waiting: defaultdict[_Place, deque[Millis]] = defaultdict(deque)
        """Since when each that waits at a node was sent."""
        self._ends: dict[int, JobId] = {}
        """Whose attempts ended at nodes where some wait, by the number of the event."""
        self._bound: dict[AttemptId, ev.AttemptLaunched] = {}
        """Tasks that wait at a node for a slot."""
        self._waits: list[_Wait] = []
        self._bound_waits: list[_Wait] = []

    @property
    def has_probed(self) -> bool:
        """Whether nodes were asked how much waits there."""
        return bool(self._probed)

    @property
    def has_reservations(self) -> bool:
        """Whether there were any."""
        return bool(self._sent)

    def observe(self, number: int, event: ev.AnyEvent, launch: ev.AttemptLaunched | None) -> None:
        """Take note of an event; `launch` is of the attempt that it is about."""
        match event:
            case ev.ProbesAnswered() if event.job == self._job:
                self._note_probed(event)
            case ev.ReservationsSent() if event.job == self._job:
                self._note_sent(event)
            case ev.ReservationsStolen() if event.job == self._job:
                self._stolen += event.count
                self._move_stolen(event)
            case ev.AttemptLaunched() if event.job == self._job:
                self._note_launch(event)
            case ev.AttemptStarted() if event.attempt in self._bound:
                bound = self._bound.pop(event.attempt)
                where = f"on {node_name(event.node)}, from {clock(bound.at_ms)} on"
                self._bound_waits.append((event.at_ms - bound.at_ms, where))
            case ev.AttemptEnded() if launch is not None and launch.node in self._nodes:
                self._ends[number] = launch.job

    def _note_probed(self, event: ev.ProbesAnswered) -> None:
        self._scheduler = event.scheduler
        self._probed.update(event.nodes)
        self._awaited_ms.append(event.at_ms - event.asked_ms)

    def _note_sent(self, event: ev.ReservationsSent) -> None:
        if event.scheduler not in self._sent:
            self._waiting.clear()  # nodes have forgotten those of one that was lost
        self._scheduler, self._long = event.scheduler, event.long
        self._sent[event.scheduler] += len(event.nodes) - len(event.refused)
        self._sent_to[event.scheduler].update(event.nodes)
        self._refused.update(event.refused)
        for node in event.refused:
            if waiting := self._waiting[event.stage, node]:
                waiting.pop()
        for node in event.nodes:
            self._nodes.add(node)
            self._waiting[event.stage, node].append(event.at_ms)

    def _move_stolen(self, event: ev.ReservationsStolen) -> None:
        waiting = self._waiting[event.stage, event.victim]
        for _ in range(min(event.count, len(waiting))):
            self._waiting[event.stage, event.node].append(waiting.popleft())
        self._nodes.add(event.node)
        self._sent_to[self._scheduler].add(event.node)

    def _note_launch(self, event: ev.AttemptLaunched) -> None:
        if event.why.reason.may_wait_at_node:
            self._bound[event.attempt] = event
        waiting = self._waiting[event.stage, event.node]
        if waiting:
            other = self._ends.get(event.cause)
            behind = "" if other in (None, self._job) else f", behind {job_name(other)}"
            sent_ms = waiting.popleft()
            where = f"on {node_name(event.node)}, from {clock(sent_ms)} on{behind}"
            self._waits.append((event.at_ms - sent_ms, where))

    def lines(self) -> Iterator[str]:
        """What came of them; nothing where there are none."""
        if self._awaited_ms:
            nodes = count(len(self._probed), "node")
            yield f"  Scheduler {self._scheduler} asked {nodes} how much waits there"
            mean = duration(sum(self._awaited_ms) / len(self._awaited_ms))
            longest = duration(max(self._awaited_ms))
            times = count(len(self._awaited_ms), "time")
            yield f"    {times}; all had answered after {mean} on average, {longest} at most"
        for scheduler, sent in self._sent.items():
            what = count(sent, "placement" if self._long else "reservation")
            nodes, lost = count(len(self._sent_to[scheduler]), "node"), ", and then was lost"
            told = f"  Scheduler {scheduler} sent {what} for it, to {nodes}"
            yield told + lost * (scheduler != self._scheduler)
        if self._refused:
            refused = count(self._refused.total(), "time")
            who = nodes_shown(node for node, _ in self._refused.most_common())
            yield f"    refused {refused}, for long work on {who}, and sent to others"
        if self._stolen:
            yield f"    {self._stolen:,} waited behind long work, and idle nodes took them over"
        of_all = "of all " if len(self._sent) > 1 else ""
        yield from _wait_lines(f"{of_all}brought a task", self._waits)
        yield from _wait_lines("tasks were bound to nodes", self._bound_waits)


def _wait_lines(what: str, waits: list[_Wait]) -> Iterator[str]:
    """How long they waited, and where the longest did."""
    if not waits:
        return
    total = sum(ms for ms, _ in waits)
    mean = duration(total / len(waits))
    yield f"    {len(waits):,} {what}, and waited there {mean} on average"
    longest = sorted(waits, key=lambda each: -each[0])[:WAITS_SHOWN]
    yield from (f"      {duration(ms)} {where}" for ms, where in longest if ms * len(waits) > total)
