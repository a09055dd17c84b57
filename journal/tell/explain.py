"""What `callboard explain JOURNAL JOB` prints: why a job waited, told from the journal alone.

One pass.  What is kept is of the size of the cluster (attempts that run, jobs that are there) plus
counts by job: launches of others before the job's first, and refusals by their reasons.  A launch's
reason names at most eight of the jobs passed over before it, and a heartbeat that launched nothing
leaves no reason; how often the job was passed over in all is told by its own launches, which carry
the count, and those named in others' reasons are told as examples.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptSuspended,
    JobFinished,
    JobSubmitted,
    KillOrdered,
    ResumeOrdered,
    RunStarted,
    SuspendOrdered,
)
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.named_job import job_in_journal
from callboard.journal.tell.names import (
    LOCALITY_NAMES,
    clock,
    count,
    duration,
    kind_name,
    node_name,
    printable,
)
from callboard.journal.tell.reason_words import (
    claimant_name,
    reason_in_words,
    refusal_in_words,
    refusal_without_numbers,
)
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import AttemptId, JobId, Millis, TaskKind
from callboard.scheduler.reasons import Claimant, JobClaimant, Refusal

OTHERS_SHOWN = 5
"""So many other jobs, and so many reasons, are named; the rest are counted."""


class _PhaseStats:
    """What became of a job's tasks of one kind."""

    def __init__(self) -> None:
        self.launched = 0
        self.first_ms: Millis = 0
        self.levels: Counter[int] = Counter()
        self.skips = 0
        self.waited_ms: Millis = 0
        self.ranks: Counter[int] = Counter()
        self.reasons: Counter[str] = Counter()
        self.says_more = False  # than the order's name, in some reason
        self.copies = 0
        self.most = 0


class _JobHistory:
    """All that is gathered of one job."""

    def __init__(self, job: JobId) -> None:
        self.job = job
        self.submitted: JobSubmitted | None = None
        self.finished: JobFinished | None = None
        self.policy = ""
        self.phases = (_PhaseStats(), _PhaseStats())
        self.before: Counter[JobId] = Counter()  # others' launches before the job's first
        self.named = 0
        self.refusals: Counter[str] = Counter()
        self.example: dict[str, str] = {}
        self.lines: list[str] = []  # kills, suspensions and what came of them, in order
        self.copies: list[str] = []  # copies and what became of them, in order
        self.running = [0, 0]


class _JobHistoryFold:
    """Reads the events of one journal and keeps what concerns one job."""

    def __init__(self, job: JobId) -> None:
        self.story = _JobHistory(job)
        self.run_state = RunState()
        self.narrator = Narrator(self.run_state)
        self.number = -1  # of the last event
        self.given_for: dict[int, Claimant | None] = {}
        """The claimants for which attempts give way, by the numbers of the orders, and then of the
        ends that come of them.
        """
        self.freed: dict[int, tuple[JobId, Claimant | None]] = {}
        """The job that gave a slot up, and for which claimant, by the number of the event that
        freed it.
        """
        self.suspended: set[int] = set()
        self.last_ms: Millis = 0

    def observe(self, event: AnyEvent) -> None:
        """Take note of one event."""
        self.number += 1
        self.last_ms = event.at_ms
        match event:
            case RunStarted():
                self.story.policy = event.policy
            case JobSubmitted() if event.job == self.story.job:
                self.story.submitted = event
            case AttemptLaunched():
                self._launched(event)
            case KillOrdered() | SuspendOrdered():
                self._ordered(event)
            case AttemptSuspended():
                self._suspended(event)
            case AttemptEnded() if event.cause in self.given_for:
                self.given_for[self.number] = self.given_for.pop(event.cause)
            case ResumeOrdered() | AttemptResumed():
                self._goes_on(event)
            case AttemptClosed():
                self._closed(event)
            case JobFinished() if event.job == self.story.job:
                self.story.finished = event
        self.run_state.follow(event)

    def _launch(self, number: AttemptId) -> AttemptLaunched | None:
        """The launch of an attempt that the master counts."""
        attempt = self.run_state.attempts.get(number)
        return None if attempt is None or attempt.closed is not None else attempt.launch

    def _launched(self, event: AttemptLaunched) -> None:
        history = self.story
        self._taken(event, event)
        if event.job == history.job:
            self._own(event)
            return
        if history.submitted is None or history.finished is not None:
            return
        if not any(phase.launched for phase in history.phases):
            history.before[event.job] += 1
        for skip in event.why.skipped:
            if skip.job == history.job:
                self._named(skip.refusal)

    def _own(self, event: AttemptLaunched) -> None:
        phase = self.story.phases[event.kind]
        if not phase.launched:
            phase.first_ms = event.at_ms
        phase.launched += 1
        phase.levels[event.level] += 1
        if event.original:
            phase.copies += 1
            self.story.copies.append(self.narrator.line(event))
        else:
            phase.ranks[event.why.rank] += 1
            told = reason_in_words(event.why)
            phase.reasons[told] += 1
            phase.says_more |= told != event.why.part
        phase.skips += event.why.skips
        phase.waited_ms += event.why.waited_ms
        self._runs(event.kind)

    def _runs(self, kind: TaskKind) -> None:
        """One more of the job's tasks has a slot."""
        history = self.story
        history.running[kind] += 1
        history.phases[kind].most = max(history.phases[kind].most, history.running[kind])

    def _named(self, refusal: Refusal) -> None:
        """Refusals that differ only in their numbers are one; the last is the example."""
        told = refusal_without_numbers(refusal)
        if told not in self.story.refusals and len(self.story.refusals) >= 100:
            told = "other reasons"
        self.story.named += 1
        self.story.refusals[told] += 1
        self.story.example[told] = refusal_in_words(refusal)

    def _ordered(self, event: KillOrdered | SuspendOrdered) -> None:
        launch = self._launch(event.attempt)
        if launch is None:
            return
        if event.why.reason.is_the_masters:
            if launch.job == self.story.job:
                self.story.copies.append(self.narrator.line(event))
            return
        self.given_for[self.number] = event.why.beneficiary
        if launch.job == self.story.job:
            told = self.narrator.describe(event)
            ran = duration(event.at_ms - launch.at_ms)
            self.story.lines.append(f"{clock(event.at_ms)}  {told}, {ran} after its launch")

    def _goes_on(self, event: ResumeOrdered | AttemptResumed) -> None:
        launch = self._launch(event.attempt)
        if launch is None:
            return
        if isinstance(event, ResumeOrdered):
            self.suspended.discard(event.attempt)
            self._taken(launch, event)
            if launch.job == self.story.job:
                self._runs(launch.kind)
        elif launch.job == self.story.job:
            told = self.narrator.describe(event)
            self.story.lines.append(f"{clock(event.at_ms)}  {told}")

    def _suspended(self, event: AttemptSuspended) -> None:
        launch = self._launch(event.attempt)
        if launch is None:
            return
        self._free(launch, event)
        self.suspended.add(event.attempt)
        if launch.job == self.story.job:
            self.story.running[launch.kind] -= 1

    def _closed(self, event: AttemptClosed) -> None:
        launch = self._launch(event.attempt)
        if launch is None:
            return
        if event.attempt in self.suspended:
            self.suspended.discard(event.attempt)
            self.given_for.pop(event.cause, None)  # the slot was freed before
            return
        if launch.job == self.story.job:
            self.story.running[launch.kind] -= 1
        self._free(launch, event)

    def _free(self, launch: AttemptLaunched, event: AttemptSuspended | AttemptClosed) -> None:
        """The attempt holds its slot no more: it may have been ordered to give way."""
        if event.cause in self.given_for:
            self.freed[self.number] = (launch.job, self.given_for.pop(event.cause))

    def _taken(self, launch: AttemptLaunched, event: AttemptLaunched | ResumeOrdered) -> None:
        """The job has a slot; another one may have given it up."""
        victim, claimant = self.freed.pop(event.cause, (launch.job, None))
        if victim == launch.job or self.story.job not in (victim, launch.job):
            return
        slot = f"a {kind_name(launch.kind)} slot on {node_name(launch.node)}"
        taken = f"{slot} that {job_name(victim)} had to give up"
        if claimant is not None and claimant != JobClaimant(launch.job):
            taken += f" for {claimant_name(claimant)}"
        self.story.lines.append(f"{clock(event.at_ms)}  {taken} goes to {job_name(launch.job)}")


def explain(path: str | Path, job: JobId | str) -> Iterator[str]:
    """The lines about `job`, a number or a text that means one job (see `find_job`), in the journal
    at `path`.

    Raises LookupError, with a message for people, if the journal has no such job; JournalError
    and OSError as `Journal` does.
    """
    journal = Journal(path)
    number = job_in_journal(path, job)
    fold = _JobHistoryFold(number)
    for event in journal:
        fold.observe(event)
    if fold.story.submitted is None:
        raise LookupError(f"{path}: no {job_name(number)} was submitted in this run")
    yield from map(printable, _lines(fold.story, fold.last_ms))
    if not journal.complete:
        yield "The journal ends here, without the end of the run."


def _lines(history: _JobHistory, last_ms: Millis) -> Iterator[str]:
    submitted = history.submitted
    assert submitted is not None
    tasks = f"{count(submitted.maps, 'map')}, {count(submitted.reduces, 'reduce')}"
    who = f"{job_title(history.job, submitted.name)} of {submitted.user}"
    yield f"{who} ({tasks}), under {history.policy}"
    yield f"{clock(submitted.at_ms)}  submitted"
    yield from _wait(history, submitted, last_ms)
    for kind in TaskKind:
        yield from _phase(history, kind, submitted)
    yield from _passed_over(history)
    if history.copies:
        yield "Speculation:"
        yield from (f"  {line}" for line in history.copies)
    if history.lines:
        yield "Preemption:"
        yield from (f"  {line}" for line in history.lines)
    yield _ending(history, submitted, last_ms)


def _wait(history: _JobHistory, submitted: JobSubmitted, last_ms: Millis) -> Iterator[str]:
    """How long until the first launch, and who was launched meanwhile."""
    firsts = [phase.first_ms for phase in history.phases if phase.launched]
    until_ms = min(firsts) if firsts else last_ms
    waited = duration(until_ms - submitted.at_ms)
    if firsts:
        yield f"{clock(until_ms)}  its first task is launched, after {waited}"
    else:
        yield f"It waited {waited} and was never launched"
    total = history.before.total()
    if total:
        ranked = sorted(history.before.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{job_name(job)} {n:,}" for job, n in ranked[:OTHERS_SHOWN])
        rest = len(ranked) - OTHERS_SHOWN
        more = f", and {count(rest, 'other job')}" if rest > 0 else ""
        yield f"  Meanwhile {count(total, 'task')} of others went first: {shown}{more}"
    elif until_ms > submitted.at_ms:
        yield "  Meanwhile nothing was launched: it waited for a heartbeat or a free slot"


def _phase(history: _JobHistory, kind: TaskKind, submitted: JobSubmitted) -> Iterator[str]:
    phase = history.phases[kind]
    tasks = (submitted.maps, submitted.reduces)[kind]
    if not phase.launched:
        return
    if kind is TaskKind.REDUCE:
        after = duration(phase.first_ms - submitted.at_ms)
        yield f"{clock(phase.first_ms)}  its first reduce is launched, {after} after submission"
    waves = -(-phase.launched // phase.most)
    yield (
        f"  {kind_name(kind)}s: {phase.launched:,} launched for {count(tasks, 'task')}, at most"
        f" {phase.most:,} at once, so {count(waves, 'wave')} or more"
    )
    if kind is TaskKind.MAP:
        levels = [f"{phase.levels[level]:,} {name}" for level, name in LOCALITY_NAMES.items()]
        yield f"  locality: {', '.join(levels)}"
    yield f"  it stood first in the queue at {phase.ranks[1]:,} of these launches"
    if phase.says_more:
        ranked = sorted(phase.reasons.items(), key=lambda item: (-item[1], item[0]))
        yield from (f"  {times:,} × {reason}" for reason, times in ranked[:OTHERS_SHOWN])
        if len(ranked) > OTHERS_SHOWN:
            yield f"  and {count(len(ranked) - OTHERS_SHOWN, 'other reason')}"
    if phase.copies:
        yield f"  {phase.copies:,} of them to run a task twice"


def _passed_over(history: _JobHistory) -> Iterator[str]:
    """What it put up with for locality, and the reasons that others' launches give."""
    phase = history.phases[TaskKind.MAP]
    if phase.skips:
        waited = duration(phase.waited_ms)
        yield (
            f"Passed over for locality {count(phase.skips, 'time')} before its launches,"
            f" which counts as {waited} of waiting"
        )
    if not history.named:
        return
    launches = "one launch" if history.named == 1 else f"{history.named:,} launches"
    yield f"Named as passed over in the reasons of {launches} of others:"
    for told, times in history.refusals.most_common(OTHERS_SHOWN):
        yield f"  {times:,} × {history.example[told] if times == 1 else told}"
        if times > 1:
            yield f"      the last: {history.example[told]}"


def _ending(history: _JobHistory, submitted: JobSubmitted, last_ms: Millis) -> str:
    if history.finished is None:
        return f"{clock(last_ms)}  the journal leaves it unfinished"
    took = duration(history.finished.at_ms - submitted.at_ms)
    return f"{clock(history.finished.at_ms)}  {history.finished.outcome} after {took}"
