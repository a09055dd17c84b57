"""One protocol for every engine: a small cluster whose actors are written once, here.

Nodes send a heartbeat every three seconds whatever happens.  The master answers it, tells the jobs
what it reported, and offers the node's free slots to the jobs that asked first.  A job
answers an offer with a launch, a node gives the launch to a free slot, and a slot runs it for its
duration and reports.  A job asks again for each task that it is told has finished.

A `Player` knows nothing of the engine that hosts it: it gets messages through `receive` and sends
them through `send`.  Which of two messages of one instant comes first is left to the engine; it
decides which job gets which slot, but not how many messages there are in all.
"""

from collections import deque
from collections.abc import Iterator
from typing import Protocol

import msgspec

from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.scheduler.model import Millis

BEAT_MS: Millis = 3_000
LATENCY_MS: Millis = 1
SHORTEST_MS: Millis = 5_000
LONGEST_MS: Millis = 35_000

MASTER = 1
_NODE = 1 << 16
_SLOT = 1 << 24
_JOB = 1 << 40


class Size(msgspec.Struct, frozen=True):
    """How large a cluster and how much work; heartbeats begin on a grid of `grid_ms`."""

    nodes: int = 600
    slots: int = 6
    jobs: int = 40
    tasks: int = 20_000
    grid_ms: Millis = 1

    @property
    def horizon_ms(self) -> Millis:
        """By then every task has ended: all that the slots have to do, shared out, then a tail.

        A task holds its slot for its duration and for a heartbeat, at most, between two tasks.
        """
        held_ms = (SHORTEST_MS + LONGEST_MS) // 2 + BEAT_MS + 5 * LATENCY_MS
        return self.tasks * held_ms // (self.nodes * self.slots) + LONGEST_MS + 2 * BEAT_MS


class Beat(Message, frozen=True):
    """Node to itself: it is time for a heartbeat."""


class Heartbeat(Message, frozen=True):
    """Node to master: that many slots are free, and these jobs' tasks have finished."""

    node: int
    free: int
    finished: tuple[int, ...]


class Reply(Message, frozen=True):
    """Master to node: heard you, and offered that many of your slots."""

    offered: int


class Want(Message, frozen=True):
    """Job to master: that many more of my tasks may run."""

    job: int
    tasks: int


class Offer(Message, frozen=True):
    """Master to job: this node has a slot for a task of yours."""

    node: int


class Launch(Message, frozen=True):
    """Job to node, then node to slot: run this task."""

    job: int
    task: int
    duration_ms: Millis


class Over(Message, frozen=True):
    """Slot to itself: the task's time is over."""


class Done(Message, frozen=True):
    """Slot to node: the task has ended and I am free."""

    slot: int
    job: int


class Finished(Message, frozen=True):
    """Master to job: one of your tasks has finished."""


class Send(Protocol):
    """What an engine gives to a player: send a message, now or so that it arrives later."""

    def __call__(
        self, to: int, message: msgspec.Struct, cause: int, delay_ms: Millis = 0
    ) -> None: ...


class Player:
    """An actor without an engine; the one that hosts it sets `send`, then calls `begin`."""

    send: Send

    def __init__(self, address: int) -> None:
        self.address = address

    def begin(self) -> None:
        """Send what is to be sent before anything is received."""

    def receive(self, message: msgspec.Struct) -> None:
        """Answer one message."""
        raise NotImplementedError


class Master(Player):
    """Answers heartbeats and hands free slots to the job that asked first."""

    def __init__(self) -> None:
        super().__init__(MASTER)
        self.heartbeats = 0
        self._asked: deque[int] = deque()

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case Heartbeat():
                self.on_heartbeat(message)
            case Want():
                self._asked.extend([message.job] * message.tasks)
            case _:
                raise AssertionError(message)

    def on_heartbeat(self, heartbeat: Heartbeat) -> None:
        self.heartbeats += 1
        for job in heartbeat.finished:
            self.send(_JOB + job, Finished(), NO_CAUSE)
        asked = self._asked
        offered = min(heartbeat.free, len(asked))
        for _ in range(offered):
            self.send(_JOB + asked.popleft(), Offer(heartbeat.node), NO_CAUSE)
        self.send(_NODE + heartbeat.node, Reply(offered), NO_CAUSE, LATENCY_MS)


class Node(Player):
    """Sends heartbeats, passes launches to its slots, and reports with the next what ended."""

    def __init__(self, node: int, slots: int, first_heartbeat_ms: Millis) -> None:
        super().__init__(_NODE + node)
        self._node = node
        self._first_beat_ms = first_heartbeat_ms
        self._free = [_slot_address(node, slot) for slot in range(slots)]
        self._promised = 0
        self._finished: list[int] = []

    def begin(self) -> None:
        self.send(self.address, Beat(), NO_CAUSE, self._first_beat_ms)

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case Beat():
                self.on_beat()
            case Reply():
                self._promised += message.offered
            case Launch():
                self._promised -= 1
                self.send(self._free.pop(), message, NO_CAUSE)
            case Done():
                self._free.append(message.slot)
                self._finished.append(message.job)
            case _:
                raise AssertionError(message)

    def on_beat(self) -> None:
        assert not self._promised, "a launch has been on its way for a whole heartbeat"
        heartbeat = Heartbeat(self._node, len(self._free), tuple(self._finished))
        self._finished.clear()
        self.send(MASTER, heartbeat, NO_CAUSE, LATENCY_MS)
        self.send(self.address, Beat(), NO_CAUSE, BEAT_MS)


class Slot(Player):
    """Runs one task at a time."""

    def __init__(self, node: int, slot: int) -> None:
        super().__init__(_slot_address(node, slot))
        self._node = _NODE + node
        self._job: int | None = None

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case Launch():
                assert self._job is None, "a slot runs one task at a time"
                self._job = message.job
                self.send(self.address, Over(), NO_CAUSE, message.duration_ms)
            case Over():
                assert self._job is not None
                self.send(self._node, Done(self.address, self._job), NO_CAUSE)
                self._job = None
            case _:
                raise AssertionError(message)


class Job(Player):
    """Keeps a window of its tasks asked for or running, and takes every offer."""

    def __init__(self, job: int, tasks: int, window: int) -> None:
        super().__init__(_JOB + job)
        self._job = job
        self._tasks = tasks
        self._window = min(window, tasks)
        self._asked = 0
        self._launched = 0
        self.finished = 0

    def begin(self) -> None:
        self._want(self._window, LATENCY_MS)

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case Offer():
                self.on_offer(message)
            case Finished():
                self.finished += 1
                if self._asked < self._tasks:
                    self._want(1, 0)
            case _:
                raise AssertionError(message)

    def on_offer(self, offer: Offer) -> None:
        task = self._launched
        self._launched += 1
        launch = Launch(self._job, task, duration_ms(self._job, task))
        self.send(_NODE + offer.node, launch, NO_CAUSE, LATENCY_MS)

    def _want(self, tasks: int, delay_ms: Millis) -> None:
        self._asked += tasks
        self.send(MASTER, Want(self._job, tasks), NO_CAUSE, delay_ms)


class Cast:
    """All players of one run."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self.master = Master()
        self._nodes = [Node(node, size.slots, first_beat_ms(node, size)) for node in _nodes(size)]
        self._slots = [Slot(node, slot) for node in _nodes(size) for slot in range(size.slots)]
        window = -(-size.nodes * size.slots * 10 // (9 * size.jobs))
        self._jobs = [Job(job, tasks, window) for job, tasks in enumerate(_shares(size))]

    def __iter__(self) -> Iterator[Player]:
        yield self.master
        yield from self._nodes
        yield from self._slots
        yield from self._jobs

    @property
    def finished(self) -> int:
        """How many tasks the jobs were told have finished."""
        return sum(job.finished for job in self._jobs)


def duration_ms(job: int, task: int) -> Millis:
    """How long a task runs: spread evenly, on every millisecond, the same for every engine."""
    scattered = (job * 1_000_003 + task) * 2_654_435_761 >> 8
    return SHORTEST_MS + scattered % (LONGEST_MS - SHORTEST_MS)


def first_beat_ms(node: int, size: Size) -> Millis:
    """When a node sends its first heartbeat: evenly over one interval, on the grid; never at 0."""
    steps = BEAT_MS // size.grid_ms
    return (1 + node * steps // size.nodes) * size.grid_ms


def _nodes(size: Size) -> range:
    return range(size.nodes)


def _shares(size: Size) -> list[int]:
    """The tasks of each job."""
    least, more = divmod(size.tasks, size.jobs)
    return [least + (job < more) for job in range(size.jobs)]


def _slot_address(node: int, slot: int) -> int:
    return _SLOT + (node << 8) + slot
