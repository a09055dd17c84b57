"""What `callboard explain JOURNAL JOB` prints: why a job waited, told from the journal alone.

One pass.  What is kept is of the size of the cluster (attempts that run, jobs that are there) plus
counts by job: launches of others before the job's first, and refusals by their reasons.  A launch's
reason names at most eight of the jobs passed over before it, and a heartbeat that launched nothing
leaves no reason; how often the job was passed over in all is told by its own launches, which carry
the count, and those named in others' reasons are told as examples.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.consistency import check_begins_with_start
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell import names, reason_words
from callboard.journal.tell.critical_chain import ChainReader
from callboard.journal.tell.reservation_story import ReservationStory
from callboard.journal.tell.response_parts import response_lines, response_parts
from callboard.journal.tell.scheduling_story import SchedulingStory
from callboard.journal.tell.sentences import Narrator
from callboard.journal.tell.show import job_in_journal
from callboard.scheduler.model import (
    CLEANUP,
    MAPS,
    REDUCES,
    SETUP,
    STAGE_NAMES,
    STAGES,
    AttemptId,
    JobId,
    Millis,
    Stage,
)
from callboard.scheduler.reasons import Claimant, JobClaimant, Reason, Refusal
from callboard.scheduler.text.quantities import clock, count, duration, printable

_Key = TypeVar("_Key", int, str)

OTHERS_SHOWN = 5
"""How many other jobs, and how many reasons, are named; the rest are counted."""


@dataclass
class _PhaseStats:
    """What became of the tasks of a job's stage."""

    launched: int = 0
    first_ms: Millis = 0
    first_skips: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    skips: int = 0
    waited_ms: Millis = 0
    firsts: int = 0
    ranked: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    says_more: bool = False  # than the order's name, in some reason
    speculative: int = 0
    running: int = 0
    most: int = 0


class _JobHistory:
    """Reads the events of one journal and keeps what concerns one job."""

    def __init__(self, job: JobId) -> None:
        self.job = job
        self.submitted: ev.JobSubmitted | None = None
        self.finished: ev.JobFinished | None = None
        self.policy = ""
        self.last_ms: Millis = 0
        self.phases = {stage: _PhaseStats() for stage in STAGES}
        self.before: Counter[JobId] = Counter()  # others' launches before the job's first
        self.mentioned: set[JobId] = set()  # others whose own names have been told
        self.refusals: Counter[str] = Counter()
        self.example: dict[str, str] = {}
        self.preemption: list[str] = []  # kills, suspensions and what came of them, in order
        self.speculation: list[str] = []  # speculative attempts and what became of them, in order
        self.ended_early: list[str] = []  # attempts that gave way to neither a job nor another one
        self.chain = ChainReader(job)
        self.scheduling = SchedulingStory()
        self.reservations = ReservationStory(job)
        self._run_state = RunState()
        self._narrator = Narrator(self._run_state)
        self._number = -1  # of the last event
        self._given_for: dict[int, Claimant | None] = {}
        """The claimants for which attempts give way, by the numbers of the orders, and then of the
        ends that come of them.
        """
        self._freed: dict[int, tuple[JobId, Claimant | None]] = {}
        """The job that gave a slot up, and for which claimant, by the number of the event that
        freed it.
        """
        self._suspended: set[AttemptId] = set()
        self.initialised_ms: Millis | None = None
        self.set_up_ms: Millis | None = None
        self.cleans_up_ms: Millis | None = None

    @property
    def was_launched(self) -> bool:
        """Whether a task of the job has been; what a restart of the master repeats is no part of
        its first wait.
        """
        return any(phase.launched for phase in self.phases.values())

    def title_at_first_mention(self, job: JobId) -> str:
        """What another job is called: with its own name at the first mention."""
        record = self._run_state.jobs.get(job)
        if record is None or job in self.mentioned:
            return job_name(job)
        self.mentioned.add(job)
        return job_title(job, record.submission.name)

    def observe(self, event: ev.AnyEvent) -> None:
        """Take note of one event."""
        self._number += 1
        self.last_ms = event.at_ms
        match event:
            case ev.RunStarted():
                self.policy = event.policy
            case ev.JobSubmitted() if event.job == self.job:
                self.submitted = event
            case ev.JobInitialised() if event.job == self.job and not self.was_launched:
                self.initialised_ms, self.set_up_ms = event.at_ms, None
            case ev.JobFinished() if event.job == self.job:
                self.finished = event
            case ev.AttemptLaunched():
                self._note_slot_taken(event, event)
                if event.job == self.job and event.stage == CLEANUP:
                    self.cleans_up_ms = event.at_ms
                elif event.job == self.job and event.stage < SETUP:
                    self._note_own_launch(event)
                elif event.job != self.job and self.submitted and not self.finished:
                    self._note_launch_of_another(event)
            case ev.SchedulingAttempted() if event.job == self.job:
                self.scheduling.add(event)
            case ev.AttemptEnded() if event.cause in self._given_for:
                self._given_for[self._number] = self._given_for.pop(event.cause)
            case ev.AttemptEvent():
                attempt = self._run_state.attempts.get(event.attempt)
                if attempt is not None and attempt.closed is None:
                    self._note_attempt(event, attempt.launch)
        about = event.attempt if isinstance(event, ev.AttemptEvent) else 0
        self.reservations.observe(self._number, event, self._run_state.launch(about))
        self._run_state.observe_if_possible(event)
        self.chain.observe(event, self._run_state)

    def _note_attempt(self, event: ev.AttemptEvent, launch: ev.AttemptLaunched) -> None:
        """What happens to an attempt that the master counts."""
        match event:
            case ev.KillOrdered() | ev.SuspendOrdered():
                self._note_preemption_order(event, launch)
            case ev.AttemptSuspended():
                self._suspended.add(event.attempt)
                self._note_slot_freed(event, launch)
            case ev.ResumeOrdered():
                self._suspended.discard(event.attempt)
                self._note_slot_taken(event, launch)
                if launch.job == self.job:
                    self._count_running(launch.stage)
            case ev.AttemptResumed() if launch.job == self.job:
                self.preemption.append(self._narrator.line(event))
            case ev.AttemptClosed() if launch.stage >= SETUP:
                is_own_setup = launch.job == self.job and launch.stage == SETUP
                if is_own_setup and not self.was_launched:
                    self.set_up_ms = event.at_ms
            case ev.AttemptClosed() if event.attempt in self._suspended:
                self._suspended.discard(event.attempt)
                self._given_for.pop(event.cause, None)  # the slot was freed before
            case ev.AttemptClosed():
                self._note_slot_freed(event, launch)

    def _note_launch_of_another(self, event: ev.AttemptLaunched) -> None:
        if not self.was_launched:
            self.before[event.job] += 1
        for skip in event.why.skipped:
            if skip.job == self.job:
                self._count_refusal(skip.refusal)

    def _count_refusal(self, refusal: Refusal) -> None:
        """Refusals that differ only in their numbers are one; the last is the example."""
        told = reason_words.refusal_without_numbers(refusal)
        if told not in self.refusals and len(self.refusals) >= 100:
            told = "other reasons"
        self.refusals[told] += 1
        self.example[told] = reason_words.refusal_in_words(refusal)

    def _note_own_launch(self, event: ev.AttemptLaunched) -> None:
        phase, why = self.phases[event.stage], event.why
        if not phase.launched:
            phase.first_ms, phase.first_skips = event.at_ms, why.skips
        phase.launched += 1
        phase.levels[event.level] += 1
        phase.skips += why.skips
        phase.waited_ms += why.waited_ms
        if event.original:
            phase.speculative += 1
            self.speculation.append(self._narrator.line(event))
        else:
            phase.firsts += why.rank == 1
            phase.ranked += why.rank > 0
            told = reason_words.reason_in_words(why)
            phase.reasons[told] += 1
            phase.says_more |= told != why.part
        self._count_running(event.stage)

    def _count_running(self, stage: Stage) -> None:
        phase = self.phases[stage]
        phase.running += 1
        phase.most = max(phase.most, phase.running)

    def _note_preemption_order(
        self, event: ev.KillOrdered | ev.SuspendOrdered, launch: ev.AttemptLaunched
    ) -> None:
        own = launch.job == self.job
        if not event.why.reason.is_the_masters:
            self._given_for[self._number] = event.why.beneficiary
            if own:
                ran = duration(event.at_ms - launch.at_ms)
                self.preemption.append(f"{self._narrator.line(event)}, {ran} after its launch")
        elif own:
            told = self.speculation if event.why.reason is Reason.TASK_DONE else self.ended_early
            told.append(self._narrator.line(event))

    def _note_slot_freed(
        self, event: ev.AttemptSuspended | ev.AttemptClosed, launch: ev.AttemptLaunched
    ) -> None:
        """The attempt holds its slot no more: it may have been ordered to give way."""
        if event.cause in self._given_for:
            self._freed[self._number] = (launch.job, self._given_for.pop(event.cause))
        if launch.job == self.job:
            self.phases[launch.stage].running -= 1

    def _note_slot_taken(
        self, event: ev.AttemptLaunched | ev.ResumeOrdered, launch: ev.AttemptLaunched
    ) -> None:
        """The attempt has a slot, which one of another job may have given up."""
        victim, claimant = self._freed.pop(event.cause, (launch.job, None))
        if victim == launch.job or self.job not in (victim, launch.job):
            return
        slot = f"a {names.slot_kind_name(launch.kind)} slot on {names.node_name(launch.node)}"
        taken = f"{slot} that {job_name(victim)} had to give up"
        if claimant is not None and claimant != JobClaimant(launch.job):
            taken += f" for {reason_words.claimant_name(claimant)}"
        self.preemption.append(f"{clock(event.at_ms)}  {taken} goes to {job_name(launch.job)}")


def explain(path: str | Path, job: JobId | str) -> Iterator[str]:
    """The lines about `job`, a number or a text that means one job (see `find_job`), in the journal
    at `path`.

    Raises LookupError, with a message for people, if the journal has no such job; JournalError
    and OSError as `Journal` does.
    """
    journal = Journal(path)
    for first in islice(journal, 1):
        check_begins_with_start(first, journal.path)
    number = job_in_journal(path, job)
    history = _JobHistory(number)
    for event in journal:
        history.observe(event)
    if history.submitted is None:
        raise LookupError(f"{path}: no {job_name(number)} was submitted in this run")
    yield from map(printable, _history_lines(history, history.submitted))
    parts = response_parts(partial(Journal, path), number)
    if parts is not None:
        lines = response_lines(
            parts, history.title_at_first_mention, finished=history.finished is not None
        )
        yield from map(printable, lines)
    if not journal.complete:
        yield "The journal ends here, without the end of the run."


def explain_from_events(events: Iterable[ev.AnyEvent], job: JobId) -> Iterator[str]:
    """The first of these lines, of a job that was submitted in a run that is at hand."""
    history = _JobHistory(job)
    for event in events:
        history.observe(event)
    if history.submitted is not None:
        yield from map(printable, _history_lines(history, history.submitted))


def _history_lines(history: _JobHistory, submitted: ev.JobSubmitted) -> Iterator[str]:
    tasks = f"{count(submitted.maps, 'map')}, {count(submitted.reduces, 'reduce')}"
    title = f"{job_title(history.job, submitted.name)} of {submitted.user}"
    yield f"{title} ({tasks}), under {history.policy}"
    yield f"{clock(submitted.at_ms)}  submitted"
    yield from _first_wait_lines(history, submitted)
    yield from history.scheduling.lines(placed=history.was_launched)
    yield from history.reservations.lines()
    for stage, phase in history.phases.items():
        yield from _phase_lines(phase, stage, submitted)
    yield from _refusal_lines(history)
    for title, lines in (
        ("Speculation:", history.speculation),
        ("Preemption:", history.preemption),
        ("Ended early:", history.ended_early),
    ):
        if lines:
            yield title
        yield from (f"  {line}" for line in lines)
    if history.cleans_up_ms is not None:
        yield f"{clock(history.cleans_up_ms)}  all its tasks are done, and it is cleaned up"
    finished = history.finished
    if finished is None:
        yield f"{clock(history.last_ms)}  the journal leaves it unfinished"
    else:
        took, why = duration(finished.at_ms - submitted.at_ms), _given_up_text(history)
        yield f"{clock(finished.at_ms)}  {finished.outcome} after {took}{why}"


def _given_up_text(history: _JobHistory) -> str:
    """That its scheduler has given it up; empty if it has not."""
    if not (history.chain.was_given_up and history.scheduling.attempts):
        return ""
    thoughts = count(history.scheduling.attempts, "thought")
    return f": its scheduler has given it up, after {thoughts} about where its tasks have room"


def _first_wait_lines(history: _JobHistory, submitted: ev.JobSubmitted) -> Iterator[str]:
    """How long until the first launch, and which jobs were launched meanwhile."""
    firsts = [phase.first_ms for phase in history.phases.values() if phase.launched]
    end_ms = history.last_ms if history.finished is None else history.finished.at_ms
    until_ms = min(firsts, default=end_ms)
    waited = duration(until_ms - submitted.at_ms)
    if firsts:
        yield f"{clock(until_ms)}  its first task is launched, after {waited}"
    else:
        yield f"It waited {waited} and was never launched"
    ready_ms = submitted.at_ms
    if history.initialised_ms is not None:
        taken, ready_ms = duration(history.initialised_ms - ready_ms), history.initialised_ms
        yield f"  For {taken} of it the job was being initialised"
    if history.set_up_ms is not None:
        taken, ready_ms = duration(history.set_up_ms - ready_ms), history.set_up_ms
        yield f"  For {taken} of it the job was being set up"
    total = history.before.total()
    if total:
        ranked = _most_frequent_first(history.before)
        shown = ", ".join(
            f"{history.title_at_first_mention(job)} {n:,}" for job, n in ranked[:OTHERS_SHOWN]
        )
        rest = len(ranked) - OTHERS_SHOWN
        more = f", and {count(rest, 'other job')}" if rest > 0 else ""
        yield f"  Meanwhile {count(total, 'task')} of others went first: {shown}{more}"
    elif until_ms > ready_ms + (_SOON_MS if ready_ms > submitted.at_ms else 0):
        awaited = "a free slot, or for word from its node"
        skips = history.phases[MAPS].first_skips
        if skips:
            awaited = f"a node nearer to its input, and was passed over {count(skips, 'time')}"
        elif history.scheduling.attempts:
            awaited = "its scheduler, which thought, or for room"
        elif history.reservations.has_probed:
            awaited = "the nodes that were asked how much waits there"
        elif history.reservations.has_reservations:
            awaited = "a node with a reservation to ask for a task"
        yield f"  Meanwhile nothing was launched: it waited for {awaited}"


_SOON_MS = 10
"""A job that was made ready and is launched within that time has waited for nothing else."""


def _most_frequent_first(counts: Mapping[_Key, int]) -> list[tuple[_Key, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _phase_lines(phase: _PhaseStats, stage: Stage, submitted: ev.JobSubmitted) -> Iterator[str]:
    tasks = submitted.maps if stage == MAPS else submitted.reduces
    if not phase.launched:
        return
    if stage == REDUCES:
        after = duration(phase.first_ms - submitted.at_ms)
        yield f"{clock(phase.first_ms)}  its first reduce is launched, {after} after submission"
    waves = -(-phase.launched // phase.most)
    yield (
        f"  {STAGE_NAMES[stage]}s: {phase.launched:,} launched for {count(tasks, 'task')},"
        f" at most {phase.most:,} at once, so {count(waves, 'wave')} or more"
    )
    if stage == MAPS:
        levels = [f"{phase.levels[level]:,} {name}" for level, name in names.LOCALITY_NAMES.items()]
        yield f"  locality: {', '.join(levels)}"
    if phase.ranked:  # else there is no queue
        yield f"  it stood first in the queue at {phase.firsts:,} of these launches"
    if phase.says_more:
        ranked = _most_frequent_first(phase.reasons)
        yield from (f"  {times:,} × {reason}" for reason, times in ranked[:OTHERS_SHOWN])
        if len(ranked) > OTHERS_SHOWN:
            yield f"  and {count(len(ranked) - OTHERS_SHOWN, 'other reason')}"
    if phase.speculative:
        yield f"  {phase.speculative:,} of them to run a task twice"


def _refusal_lines(history: _JobHistory) -> Iterator[str]:
    """How often it was passed over, and the reasons that others' launches give."""
    phase = history.phases[MAPS]
    if phase.skips:
        waited = duration(phase.waited_ms)
        yield (
            f"Passed over for locality {count(phase.skips, 'time')} before its launches,"
            f" which counts as {waited} of waiting"
        )
    named = history.refusals.total()
    if not named:
        return
    launches = "one launch" if named == 1 else f"{named:,} launches"
    yield f"Named as passed over in the reasons of {launches} of others:"
    for told, times in history.refusals.most_common(OTHERS_SHOWN):
        yield f"  {times:,} × {history.example[told] if times == 1 else told}"
        if times > 1:
            yield f"      the last: {history.example[told]}"
