"""Where a job's response went: its chain of attempts, and what the cluster did while it waited.

The first reading of a journal cuts the response into pieces (`critical_chain`), the second looks at
the cluster in those in which a task of the job waited.  Either keeps what concerns one job, and
what is of the size of the cluster.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from callboard.actors.architectures import architecture_name
from callboard.actors.vocabulary import events as ev
from callboard.journal.run_records import AttemptRecord
from callboard.journal.run_state import RunState
from callboard.journal.tell.critical_chain import NOT_YET, ChainLink, ChainReader, Piece
from callboard.journal.tell.names import slot_kind_name
from callboard.journal.waiting_reservations import WaitingReservations
from callboard.scheduler.model import KINDS, JobId, Millis, SlotKind, slot_kind
from callboard.scheduler.text.quantities import count, percent_cell

HOLDERS_SHOWN = 3
"""How many of the jobs that held the slots are named."""

_QUEUED, _BY_SHARE, _FREE = "queued, holding no slot", "by its share", "a slot free"
_THOUGHT, _IN_LINE = "its scheduler thought", "in its scheduler's queue"
_UNOFFERED, _RESERVED, _PROBED = "nothing offered", "in queues of nodes", "probes under way"
_NO_ROOM, _BY_DEMANDS = "no room", "a slot free, and demands"
_LABELS = {
    ChainLink.DELAY: "passed over for locality, by delay scheduling",
    ChainLink.LOCAL_MAP: "a map ran, on its data's node",
    ChainLink.REMOTE_MAP: "a map ran that read from another node",
    ChainLink.SHUFFLE: "a reduce shuffled",
    ChainLink.REDUCE_WORK: "a reduce ran",
    ChainLink.STALLED: "an attempt made no progress",
    ChainLink.SUSPENDED: "an attempt was suspended",
    ChainLink.LOST: "work was lost, and done again",
    ChainLink.SPECULATION: "a slow attempt ran, which a speculative one overtook",
    ChainLink.NODE_QUEUE: "a task waited for a slot in the queue of its node",
    ChainLink.MESSAGES: "messages and heartbeats, between decisions and deeds",
    ChainLink.UNHEARD: "an attempt was over in vain, of which its scheduler had not heard",
    ChainLink.INITIALISATION: "the job was initialised",
    ChainLink.SETUP: "the job was set up",
    ChainLink.CLEANUP: "the job was cleaned up",
}
_WAITS = {
    _QUEUED: "queued: others held all the slots",
    _BY_SHARE: "by its share: its own tasks held all the slots that it was given",
    _THOUGHT: "its scheduler thought about where to place it",
    _IN_LINE: "a slot was free: its scheduler had other jobs to think about first",
    _UNOFFERED: "a slot was free: its scheduler waited to be offered it",
    _PROBED: "a slot was free: nodes were being asked how much waited there",
    _RESERVED: "a slot was free: its reservations waited in the queues of other nodes",
    _NO_ROOM: "a slot was free: its scheduler had found no room for it on any node",
    _FREE: "a slot was free: word from its node was awaited, or a rule kept it",
    _BY_DEMANDS: "a slot was free: word from its node was awaited, its queue or a rule kept it, or"
    " no node had room for it",
}


class ResponseParts(NamedTuple):
    """The response in milliseconds by what it went to, longest first, and what its waits were like.

    `ms` sums to the response; `waits` has a phase's waiting, by kind.
    """

    ms: Counter[str]
    waits: Sequence["SlotWait"]


class SlotWait:
    """What the cluster did while a task of one kind waited for a slot, in sums over that time.

    It goes by the master's books: a slot whose attempt has ended is another's only when a heartbeat
    has told of it, and until then it is taken.
    """

    def __init__(
        self, job: JobId, kind: SlotKind, pieces: Sequence[Piece], thinking: "_Thinking"
    ) -> None:
        self.job, self.kind = job, kind
        self.ms_by: Counter[str] = Counter()
        self.held_ms: Counter[JobId] = Counter()
        """Slot time by its holder."""
        self.jobs_ms = 0
        self.slots_ms = 0
        self._pieces = [(p.from_ms, p.to_ms) for p in pieces if p.kind is kind]
        mine = [each for each in thinking.placings_of_job if each.kind is kind]
        self._thought = _common_stretches(
            self._pieces, [(each.begun_ms, each.done_ms) for each in mine]
        )
        queued = _common_stretches(
            self._pieces, [(each.queued_ms, each.unqueued_ms) for each in mine]
        )
        others = _common_stretches(self._pieces, thinking.stretches_about_others)
        self._in_line = others if thinking.by_offers else queued
        self._unoffered = _stretches_without(queued, self._in_line)
        self._probed = _common_stretches(self._pieces, _joined_stretches(thinking.probing[kind]))
        self._without_room = _common_stretches(
            self._pieces, _joined_stretches(thinking.stretches_without_room(kind))
        )
        self._free = _BY_DEMANDS if thinking.by_containers else _FREE
        self._held: Counter[JobId] = Counter()
        self._since: dict[JobId, Millis] = {}
        self._taken = 0

    @property
    def ms(self) -> Millis:
        return self.ms_by.total()

    def pass_until(
        self, at_ms: Millis, run_state: RunState, slots: int, reservations: WaitingReservations
    ) -> None:
        """Let the time from the state's last event until `at_ms` pass."""
        waited = _overlap_ms(self._pieces, run_state.now_ms, at_ms)
        if waited:
            thought = _overlap_ms(self._thought, run_state.now_ms, at_ms)
            self.ms_by[_THOUGHT] += thought
            rest = waited - thought
            if self._taken < slots:
                in_line = min(_overlap_ms(self._in_line, run_state.now_ms, at_ms), rest)
                unoffered = _overlap_ms(self._unoffered, run_state.now_ms, at_ms)
                unoffered = min(unoffered, rest - in_line)
                self.ms_by[_IN_LINE] += in_line
                self.ms_by[_UNOFFERED] += unoffered
                probed = _overlap_ms(self._probed, run_state.now_ms, at_ms)
                self.ms_by[_PROBED] += probed
                reserved = reservations.any_waits_for(self.job, self.kind)
                rest -= in_line + unoffered + probed
                without_room = _overlap_ms(self._without_room, run_state.now_ms, at_ms)
                without_room = min(without_room, rest)
                self.ms_by[_NO_ROOM] += without_room
                self.ms_by[_RESERVED if reserved else self._free] += rest - without_room
            else:
                self.ms_by[_BY_SHARE if self._held[self.job] else _QUEUED] += rest
            self.jobs_ms += waited * len(run_state.live)
            self.slots_ms += waited * slots

    def change_held_slots(self, job: JobId, by: int) -> None:
        """A job gets `by` more slots, or gives them back."""
        self._add_held_time(job)
        self._held[job] += by
        self._taken += by

    def _add_held_time(self, job: JobId) -> None:
        since, self._since[job] = self._since.get(job, 0), self.ms
        self.held_ms[job] += self._held[job] * (self.ms - since)

    def add_all_held_time(self) -> None:
        """Take in what is still held."""
        for job in self._held:
            self._add_held_time(job)


class _Placing(NamedTuple):
    """When tasks of a kind came into a scheduler's queue and left it (under Mesos with the offer),
    and when it began to think about them, and had done.
    """

    kind: SlotKind
    queued_ms: Millis
    unqueued_ms: Millis
    begun_ms: Millis
    done_ms: Millis


class _Thinking:
    """What schedulers that think have thought while a job was there, and when nodes were asked how
    much waits there.
    """

    def __init__(self, job: JobId) -> None:
        self.by_offers = False
        """Whether they place only on what they are offered."""
        self.by_containers = False
        """Whether a manager gives containers of what nodes have."""
        self._job = job
        self.probing: dict[SlotKind, list[tuple[Millis, Millis]]] = {kind: [] for kind in KINDS}
        """From when until when nodes were asked for tasks of the job."""
        self._told: dict[tuple[int, Millis], list[ev.SchedulingAttempted]] = {}
        """By scheduler and instant."""

    def observe(self, event: ev.AnyEvent, *, is_here: bool) -> None:
        if isinstance(event, ev.RunStarted):
            name = architecture_name(event.policy)
            self.by_offers, self.by_containers = name == "mesos", name == "yarn"
        if isinstance(event, ev.SchedulingAttempted) and is_here:
            self._told.setdefault((event.scheduler, event.at_ms), []).append(event)
        if isinstance(event, ev.ProbesAnswered) and event.job == self._job:
            self.probing[slot_kind(event.stage)].append((event.asked_ms, event.at_ms))

    @property
    def placings_of_job(self) -> list["_Placing"]:
        """The job's own."""
        return [placing for event, placing in self._thoughts_with_times() if event.job == self._job]

    def stretches_without_room(self, kind: SlotKind) -> "_Stretches":
        """From each thought about the job's tasks that has found no room until the next one."""
        mine = [
            (placing, bool(event.committed or event.conflicted))
            for event, placing in self._thoughts_with_times()
            if event.job == self._job and placing.kind is kind
        ]
        nexts = [*(placing.begun_ms for placing, _ in mine), NOT_YET][1:]
        return [
            (placing.done_ms, until_ms)
            for (placing, has_placed), until_ms in zip(mine, nexts, strict=True)
            if not has_placed and until_ms > placing.done_ms
        ]

    @property
    def stretches_about_others(self) -> "_Stretches":
        """When the job's schedulers thought about others."""
        its = {
            event.scheduler for event, _ in self._thoughts_with_times() if event.job == self._job
        }
        return _joined_stretches(
            (placing.begun_ms, placing.done_ms)
            for event, placing in self._thoughts_with_times()
            if event.job != self._job and event.scheduler in its
        )

    def _thoughts_with_times(self) -> Iterator[tuple[ev.SchedulingAttempted, "_Placing"]]:
        """Thoughts about one offer are told together, and came one after the other."""
        for (_, at_ms), events in self._told.items():
            ms = [event.thought_ms for event in events]
            for place, event in enumerate(events):
                lasted_ms = sum(ms[place:]) if self.by_offers else event.thought_ms
                begun_ms = at_ms - lasted_ms
                queued_ms = at_ms - sum(ms) if self.by_offers else begun_ms
                times = queued_ms - event.queued_ms, queued_ms, begun_ms, begun_ms + ms[place]
                yield event, _Placing(slot_kind(event.stage), *times)


ReadEvents = Callable[[], Iterable[ev.AnyEvent]]
"""Reads a run from its beginning, each time it is called."""


def response_parts(
    read: ReadEvents, job: JobId, until_ms: Millis | None = None
) -> ResponseParts | None:
    """Where the response of a job went, or its time so far, to the last event or to `until_ms`
    behind that; None if it was not submitted.  Errors as in reading.
    """
    chain, run_state, thinking = ChainReader(job), RunState(), _Thinking(job)
    for event in read():
        run_state.observe_if_possible(event)
        chain.observe(event, run_state)
        thinking.observe(event, is_here=job in run_state.live)
    if chain.submitted is None:
        return None
    pieces = chain.pieces(run_state.now_ms if until_ms is None else until_ms)
    waiting = [piece for piece in pieces if piece.link is ChainLink.WAITING]
    waits = _slot_waits(read, job, waiting, thinking)
    ms: Counter[str] = Counter()
    for piece in pieces:
        if piece.link is not ChainLink.WAITING:
            ms[_LABELS[piece.link]] += piece.ms
    for wait in waits:
        for why, waited in wait.ms_by.items():
            ms[_WAITS[why]] += waited
    return ResponseParts(+ms, [wait for wait in waits if wait.ms])


def _slot_waits(
    read: ReadEvents, job: JobId, pieces: Sequence[Piece], thinking: _Thinking
) -> list[SlotWait]:
    waits, run_state = [SlotWait(job, kind, pieces, thinking) for kind in KINDS], RunState()
    reservations = WaitingReservations()
    slots = [0, 0]
    end_ms = max((piece.to_ms for piece in pieces), default=0)
    for event in read():
        for wait in waits:
            wait.pass_until(event.at_ms, run_state, slots[wait.kind], reservations)
        if event.at_ms >= end_ms:
            break
        number = event.attempt if isinstance(event, ev.AttemptEvent) else 0
        before = run_state.attempts.get(number)
        taken = _takes_slot(before)
        run_state.observe_if_possible(event)
        if isinstance(event, _CHANGES_OF_SLOTS):
            slots = [_slots_in_service(run_state, kind) for kind in KINDS]
        attempt = before or run_state.attempts.get(number)
        reservations.observe(event, attempt)
        if attempt is not None and _takes_slot(attempt) != taken:
            launch = attempt.launch
            waits[launch.kind].change_held_slots(launch.job, -1 if taken else 1)
    else:
        for wait in waits:
            wait.pass_until(end_ms, run_state, slots[wait.kind], reservations)
    for wait in waits:
        wait.add_all_held_time()
    return waits


_CHANGES_OF_SLOTS = (ev.RunStarted, ev.FaultStruck, ev.NodeLost, ev.NodeReturned)


def _takes_slot(attempt: AttemptRecord | None) -> bool:
    """Whether the master counts it as running."""
    return attempt is not None and attempt.closed is None and not attempt.is_suspended


def _slots_in_service(run_state: RunState, kind: SlotKind) -> int:
    """The slots that the master counts on."""
    there = (node.facts for node in run_state.nodes.values() if not (node.is_lost or node.absent))
    return sum((facts.map_slots, facts.reduce_slots)[kind] for facts in there)


_Stretches = Sequence[tuple[Millis, Millis]]
"""From when, until when."""


def _overlap_ms(stretches: _Stretches, from_ms: Millis, to_ms: Millis) -> Millis:
    return sum(max(0, min(end, to_ms) - max(start, from_ms)) for start, end in stretches)


def _common_stretches(some: _Stretches, others: _Stretches) -> _Stretches:
    both = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return [(start, end) for start, end in both if start < end]


def _stretches_without(some: _Stretches, others: _Stretches) -> _Stretches:
    """What is left of some; the others are in order, and apart."""
    left = list(some)
    for start, end in others:
        cut = [((a, min(b, start)), (max(a, end), b)) for a, b in left]
        left = [(a, b) for both in cut for a, b in both if a < b]
    return left


def _joined_stretches(stretches: Iterable[tuple[Millis, Millis]]) -> _Stretches:
    """The same time, none of it twice."""
    joined: list[tuple[Millis, Millis]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def response_lines(
    parts: ResponseParts, title: Callable[[JobId], str], *, finished: bool
) -> Iterator[str]:
    """The parts for people, and what the waits were like in a sentence each, in which other jobs
    are called by their `title`; none where no time has passed.
    """
    response_ms = parts.ms.total()
    if not response_ms:
        return
    took = _seconds_text(response_ms)
    what = f"its response of {took} s" if finished else f"its {took} s so far"
    waits = "tasks that it waited for" if finished else "task that it waits for"
    yield f"Where {what} went, along the {waits}:"
    width = len(took)
    for label, ms in parts.ms.most_common():
        yield f"  {_seconds_text(ms):>{width}} s  {percent_cell(ms / response_ms)}  {label}"
    for wait in parts.waits:
        yield from _wait_lines(wait, title)


def _wait_lines(wait: SlotWait, title: Callable[[JobId], str]) -> Iterator[str]:
    """Its share and who held the rest, as means over the time that it waited."""
    slots, own = wait.slots_ms / wait.ms, wait.held_ms[wait.job] / wait.ms
    others = wait.jobs_ms / wait.ms - 1
    yield (
        f"  While a {slot_kind_name(wait.kind)} waited it held {own:.1f} of {slots:.0f}"
        f" {slot_kind_name(wait.kind)} slots on average, and {others:.1f} other jobs were in the "
        "system"
    )
    held = Counter({job: ms for job, ms in wait.held_ms.items() if job != wait.job and ms})
    if held:
        shown = ", ".join(
            f"{title(job)} {ms / wait.ms:.1f}" for job, ms in held.most_common(HOLDERS_SHOWN)
        )
        rest = len(held) - HOLDERS_SHOWN
        more = f", and {count(rest, 'other job')} the rest" if rest > 0 else ""
        yield f"    others held: {shown}{more}"


def _seconds_text(ms: Millis) -> str:
    return f"{ms / 1000:,.3f}"
