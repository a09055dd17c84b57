"""The chain of attempts that a job's end waited for, from its last booking back to its submission.

The job ended with the attempt that was booked last.  That one was launched when it was; before that
its task waited, or ran in vain in an earlier attempt, or in one that was too slow.  A reduce whose
shuffle still lacked a map output waited for that map, and one that was not allowed to run yet for
the map whose booking opened the reduces.  So every millisecond of the response belongs to one link,
and their lengths sum to the response exactly.

A job that has not finished has a chain so far, back from a task that it waits for now: a map that
no attempt does yet, or else the map launched last; with all maps done, a reduce in the same way.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import NamedTuple

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import AttemptRecord
from callboard.journal.run_state import RunState
from callboard.journal.told_scenario import told_scenario
from callboard.scheduler.model import (
    MAP,
    MAPS,
    REDUCES,
    SETUP,
    AttemptId,
    JobId,
    Locality,
    Millis,
    SlotKind,
    Stage,
    slot_kind,
)

NOT_YET: Millis = 1 << 62


class ChainLink(StrEnum):
    """What a job's end waited for."""

    WAITING = "waiting"
    """No attempt of the task had been launched, or a new one was awaited."""
    DELAY = "delay"
    """The part of that for which the job had been passed over for locality, as its launch says."""
    LOCAL_MAP = "local map"
    REMOTE_MAP = "remote map"
    SHUFFLE = "shuffle"
    REDUCE_WORK = "reduce work"
    STALLED = "stalled"
    SUSPENDED = "suspended"
    LOST = "lost"
    """An attempt that failed, was killed or lost its output, and the whole job before a restart."""
    SPECULATION = "speculation"
    """A slow attempt, until the speculative one was launched that did its task."""
    NODE_QUEUE = "node queue"
    """At a node that had been given the task and had no slot free."""
    MESSAGES = "messages"
    """Between a launch and its start, or an end and its booking."""
    UNHEARD = "unheard"
    """The same after an end in vain: a crash is known once a node has been silent for long."""
    INITIALISATION = "initialisation"
    SETUP = "setup"
    CLEANUP = "cleanup"


class Piece(NamedTuple):
    """A stretch of the response, and what it went to; `kind` is of the task that it is about."""

    from_ms: Millis
    to_ms: Millis
    link: ChainLink
    kind: SlotKind = MAP

    @property
    def ms(self) -> Millis:
        return self.to_ms - self.from_ms


@dataclass
class _OwnAttempt:
    """An attempt of the job, and from when on it did what."""

    record: AttemptRecord
    phases: list[tuple[Millis, ChainLink]] = field(default_factory=list)
    lost_ms: Millis | None = None

    @property
    def launch(self) -> ev.AttemptLaunched:
        return self.record.launch

    @property
    def closed_ms(self) -> Millis:
        """When the master booked its end; never, if it has not."""
        return NOT_YET if self.record.closed is None else self.record.closed.at_ms

    @property
    def known_useless_ms(self) -> Millis:
        """When the master knew that its work was of no use."""
        return self.closed_ms if self.lost_ms is None else self.lost_ms

    @property
    def succeeded(self) -> bool:
        closed = self.record.closed
        return closed is not None and closed.outcome is Outcome.SUCCEEDED

    def works_as(self) -> ChainLink:
        """What it does from its start on, or when it goes on."""
        if self.launch.stage == REDUCES:
            return ChainLink.SHUFFLE if self.record.shuffled is None else ChainLink.REDUCE_WORK
        return ChainLink.LOCAL_MAP if self.launch.level is Locality.NODE else ChainLink.REMOTE_MAP


class ChainReader:
    """Reads the events of one run and keeps what the chain of one job needs: its attempts."""

    def __init__(self, job: JobId) -> None:
        self.job = job
        self.submitted: ev.JobSubmitted | None = None
        self.finished: ev.JobFinished | None = None
        self.was_given_up = False
        """Whether it has failed without an attempt that did."""
        self._cut_short: list[_Mark] | None = None
        """The links of a job that was killed or given up, as they were then: what ran is closed
        after that.
        """
        self._attempts: dict[AttemptId, _OwnAttempt] = {}
        self._slowstart = 0.0
        self._latency_ms: Millis = 0
        self._restarted_ms: Millis | None = None
        self._initialised_ms: Millis | None = None
        self._set_up_ms: Millis | None = None
        self._setup: AttemptId = 0
        """The attempt that sets it up."""

    def observe(self, event: ev.AnyEvent, run_state: RunState) -> None:
        """Take note of an event that the state has taken in."""
        match event:
            case ev.RunStarted():
                told = told_scenario(event)
                self._slowstart, self._latency_ms = told.tasks.slowstart, told.cluster.latency_ms
            case ev.AttemptLaunched() if event.job == self.job and event.stage < SETUP:
                record = run_state.attempts.get(event.attempt)
                if record is not None:
                    self._attempts[event.attempt] = _OwnAttempt(record)
            case ev.AttemptLaunched() if event.job == self.job and event.stage == SETUP:
                self._setup = event.attempt
            case ev.AttemptClosed(outcome=Outcome.SUCCEEDED) if event.attempt == self._setup:
                self._set_up_ms = event.at_ms
            case ev.AttemptEvent() if event.attempt in self._attempts:
                self._note_attempt(event, self._attempts[event.attempt])
            case ev.JobEvent() if event.job == self.job:
                self._note_job(event)

    def _note_attempt(self, event: ev.AttemptEvent, own: _OwnAttempt) -> None:
        match event:
            case ev.AttemptStarted() | ev.AttemptResumed() | ev.ShuffleEnded() | ev.StallEnded():
                own.phases.append((event.at_ms, own.works_as()))
            case ev.AttemptStalled():
                own.phases.append((event.at_ms, ChainLink.STALLED))
            case ev.AttemptSuspended():
                own.phases.append((event.at_ms, ChainLink.SUSPENDED))
            case ev.AttemptEnded(outcome=Outcome.SUCCEEDED):
                own.phases.append((event.at_ms, ChainLink.MESSAGES))
            case ev.AttemptEnded():
                own.phases.append((event.at_ms, ChainLink.UNHEARD))

    def _note_job(self, event: ev.JobEvent) -> None:
        match event:
            case ev.JobSubmitted():
                self.submitted = event
            case ev.JobFinished():
                self.was_given_up = self._is_given_up(event)
                if event.outcome is Outcome.KILLED or self.was_given_up:
                    self._cut_short = list(self._marks_backwards(event.at_ms))
                self.finished = event
            case ev.JobInitialised():
                self._initialised_ms = event.at_ms
            case ev.JobResubmitted():
                self._restarted_ms, self._set_up_ms = event.at_ms, None
                self._initialised_ms = None
            case ev.MapOutputsLost():
                for number in event.attempts:
                    if number in self._attempts:
                        self._attempts[number].lost_ms = event.at_ms

    def _is_given_up(self, finished: ev.JobFinished) -> bool:
        """Whether it fails without an attempt that did: its scheduler found no room for a task."""
        last = self._last_closed(finished.outcome, finished.at_ms)
        closed = None if last is None else last.record.closed
        failed = closed is not None and closed.outcome is Outcome.FAILED
        return finished.outcome is Outcome.FAILED and not failed

    def pieces(self, now_ms: Millis | None = None) -> list[Piece]:
        """The response cut into pieces, in the order of time; of a job that has not finished its
        time until `now_ms`, or none where that is not given.
        """
        end_ms = now_ms if self.finished is None else self.finished.at_ms
        if self.submitted is None or end_ms is None:
            return []
        return list(reversed(list(self._pieces_backwards(self.submitted.at_ms, end_ms))))

    def _pieces_backwards(self, from_ms: Millis, to_ms: Millis) -> Iterator[Piece]:
        """Backwards, so that what comes later in the chain has the time that two links claim."""
        begin_ms = from_ms if self._restarted_ms is None else self._restarted_ms
        initialised_ms = begin_ms if self._initialised_ms is None else self._initialised_ms
        ready_ms = initialised_ms if self._set_up_ms is None else self._set_up_ms
        found = self._marks_backwards(to_ms) if self._cut_short is None else self._cut_short
        marks = (_Mark(max(m.since_ms, ready_ms), m.link, m.kind) for m in found)
        ends = (
            _Mark(initialised_ms, ChainLink.SETUP),
            _Mark(begin_ms, ChainLink.INITIALISATION),
            _Mark(from_ms, ChainLink.LOST),
        )
        at_ms = to_ms
        for mark in (*marks, *ends):
            if mark.since_ms < at_ms:
                yield Piece(mark.since_ms, at_ms, mark.link, mark.kind)
                at_ms = mark.since_ms

    def _marks_backwards(self, to_ms: Millis) -> Iterator["_Mark"]:
        """All links backwards from the job's end, or from now; the last with no end of its own."""
        if self.finished is None:
            own, kind = yield from self._links_of_now()
        else:
            own, kind = self._last_closed(self.finished.outcome, to_ms), MAP
        while own is not None:
            kind = own.launch.kind
            own = yield from self._links_of(own)
        yield _Mark(0, ChainLink.WAITING, kind)

    def _last_closed(self, outcome: Outcome, to_ms: Millis) -> _OwnAttempt | None:
        """The attempt whose booking ended the job; of one that did not succeed, the last booked."""
        well = outcome is Outcome.SUCCEEDED
        closed = [own for own in self._attempts.values() if own.closed_ms <= to_ms]
        return _last_booked(own for own in closed if own.succeeded or not well)

    def _links_of_now(self) -> Generator["_Mark", None, tuple[_OwnAttempt | None, SlotKind]]:
        """The links of a task that waits now, if one does; the attempt to go on with, and of which
        kind of task this is.
        """
        assert self.submitted is not None
        for stage, tasks in ((MAPS, self.submitted.maps), (REDUCES, self.submitted.reduces)):
            latest = self._latest_attempts(stage)
            waiting = [each for each in range(tasks) if _needs_another_attempt(latest.get(each))]
            if waiting and self._may_run(stage):
                before, kind = latest.get(waiting[-1]), slot_kind(stage)
                if before is not None:
                    yield _Mark(before.known_useless_ms, ChainLink.WAITING, kind)
                    yield _Mark(before.launch.at_ms, ChainLink.LOST, kind)
                    yield from self._links_before(before)
                return (yield from self._links_since_opener(stage)), kind
            running = [own for own in latest.values() if own.closed_ms == NOT_YET]
            if running:
                own = max(running, key=lambda each: each.launch.attempt)
                return own, own.launch.kind
        return self._last_closed(Outcome.SUCCEEDED, NOT_YET), MAP

    def _latest_attempts(self, stage: Stage) -> dict[int, _OwnAttempt]:
        """The attempt of each task that has done it, or does so now; else its last one."""
        latest: dict[int, _OwnAttempt] = {}
        for own in self._attempts.values():  # in the order of their launches
            task = own.launch.task
            if own.launch.stage == stage and _needs_another_attempt(latest.get(task)):
                latest[task] = own
        return latest

    def _may_run(self, stage: Stage) -> bool:
        """Whether tasks of the stage wait for slots, and not for maps."""
        return stage == MAPS or len(list(self._succeeded_maps())) >= self._maps_needed

    def _links_of(self, own: _OwnAttempt) -> Generator["_Mark", None, _OwnAttempt | None]:
        """The links of one attempt and of its task before; the attempt to go on with, if any."""
        kind = own.launch.kind
        yield _Mark(own.closed_ms, ChainLink.CLEANUP, kind)
        awaited = self._map_awaited_by(own)
        for since_ms, link in reversed(own.phases):
            if awaited is not None and since_ms < awaited.closed_ms:
                yield _Mark(awaited.closed_ms, link, kind)
                return awaited
            yield _Mark(since_ms, link, kind)
        yield from self._links_before(own)
        return (yield from self._links_since_opener(own.launch.stage))

    def _links_since_opener(self, stage: Stage) -> Generator["_Mark", None, _OwnAttempt | None]:
        """How long a task waited since the map that let it run; that map, if there is one."""
        opener = self._map_that_opened(stage)
        if opener is not None:
            yield _Mark(opener.closed_ms, ChainLink.WAITING, slot_kind(stage))
        return opener

    def _links_before(self, own: _OwnAttempt | None) -> Iterator["_Mark"]:
        """What became of a task until an attempt of it started."""
        while own is not None:
            launch, earlier = own.launch, self._earlier_attempt(own)
            if launch.why.reason.may_wait_at_node:
                there_ms = launch.at_ms + self._latency_ms
                yield _Mark(there_ms, ChainLink.NODE_QUEUE, launch.kind)
            yield _Mark(launch.at_ms, ChainLink.MESSAGES, launch.kind)
            if launch.original:
                before = self._attempts.get(launch.original)
                if before is not None:
                    yield _Mark(before.launch.at_ms, ChainLink.SPECULATION, launch.kind)
                own = before
                continue
            free_ms = 0 if earlier is None else earlier.known_useless_ms
            yield _Mark(
                max(launch.at_ms - launch.why.waited_ms, free_ms), ChainLink.DELAY, launch.kind
            )
            if earlier is not None:
                yield _Mark(free_ms, ChainLink.WAITING, launch.kind)
                yield _Mark(earlier.launch.at_ms, ChainLink.LOST, launch.kind)
            own = earlier

    def _earlier_attempt(self, own: _OwnAttempt) -> _OwnAttempt | None:
        task = own.launch.stage, own.launch.task
        before = [
            each
            for each in self._attempts.values()
            if (each.launch.stage, each.launch.task) == task
            and each.launch.number < own.launch.number
        ]
        return max(before, key=lambda each: each.launch.number, default=None)

    def _map_awaited_by(self, own: _OwnAttempt) -> _OwnAttempt | None:
        """The map that was booked last while this reduce shuffled."""
        started, shuffled = own.record.started, own.record.shuffled
        if own.launch.stage == MAPS or started is None or shuffled is None:
            return None
        return _last_booked(
            each
            for each in self._succeeded_maps()
            if started.at_ms < each.closed_ms <= shuffled.at_ms
        )

    @property
    def _maps_needed(self) -> int:
        """How many maps have to be done before reduces may run."""
        assert self.submitted is not None
        return ceil(self._slowstart * self.submitted.maps)

    def _map_that_opened(self, stage: Stage) -> _OwnAttempt | None:
        """The map whose booking let tasks of the stage run, if it is that of reduces."""
        needed = self._maps_needed
        if stage == MAPS or not needed:
            return None
        done = sorted(
            self._succeeded_maps(), key=lambda each: (each.closed_ms, each.launch.attempt)
        )
        first = [each for each in done if each.closed_ms > (self._restarted_ms or 0)]
        return first[needed - 1] if needed <= len(first) else None

    def _succeeded_maps(self) -> Iterator[_OwnAttempt]:
        maps = (own for own in self._attempts.values() if own.launch.stage == MAPS)
        return (own for own in maps if own.succeeded)


class _Mark(NamedTuple):
    """A link, and since when it held; until when the mark before it tells."""

    since_ms: Millis
    link: ChainLink
    kind: SlotKind = MAP


def _needs_another_attempt(last: _OwnAttempt | None) -> bool:
    """Whether a task waits for an attempt after this one."""
    if last is None:
        return True
    return last.closed_ms != NOT_YET and (last.lost_ms is not None or not last.succeeded)


def _last_booked(attempts: Iterable[_OwnAttempt]) -> _OwnAttempt | None:
    return max(attempts, key=lambda own: (own.closed_ms, own.launch.attempt), default=None)
