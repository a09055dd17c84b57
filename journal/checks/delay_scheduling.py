"""Delay scheduling (S14)."""

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.scheduler.locality import Delay, DelayParams, auto_wait_ms
from callboard.scheduler.model import MAPS, JobId, Locality, Millis


class _WaitingJob:
    """A job: the level of its last map launch, when that was, and how often it was passed over
    since the last node-local one.
    """

    __slots__ = ("count", "level", "since_ms")

    def __init__(self, since_ms: Millis) -> None:
        self.level = Locality.NODE
        self.since_ms = since_ms
        self.count = 0


class DelayScheduling(Rule):
    """S14.  A launch tells how long its job had waited; that is at most the time since its last
    one.  Maps that run again and speculative attempts are exempt.  In a live run with waits by
    time the policy's own account of a job that was passed over is checked too.
    """

    id = "S14"
    architectures = (CENTRAL,)
    says = (
        "no first map is launched further from its input than its job's wait allows, and no job"
        " that has waited enough is passed over"
    )
    idle = "no delay scheduling"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._waits_ms: tuple[Millis, Millis] = (0, 0)
        self._skips: int | None = None
        self._jobs: dict[JobId, _WaitingJob] = {}
        self._passed: list[tuple[ev.AttemptLaunched, JobId]] = []
        self._since_ms: Millis = 0  # when the policy began
        self._unsure = False  # whether that may be now
        self._learn_rule()

    def handlers(self) -> Handlers:
        return {ev.AttemptLaunched: self._check_launch, ev.JobResubmitted: self._forget_job}

    def _learn_rule(self) -> None:
        locality = None if self.run_facts.policy is None else self.run_facts.policy.locality
        self._delay: Delay | None = locality if isinstance(locality, Delay) else None
        if self._delay is not None:
            params = self._delay.params
            self._skips = params.skips
            self._waits_ms = delay_waits_ms(params, self.run_facts.heartbeat_ms)

    def begin_policy(self, at_ms: Millis) -> None:
        """The new policy is told of the attempts that run, and of nothing that was before: a copy
        whose original has ended is an attempt like others.
        """
        self._since_ms, self._unsure = at_ms, True
        self._jobs.clear()
        attempts = self.run_state.attempts
        for attempt in attempts.values():
            launch = attempt.launch
            original = attempts.get(launch.original)
            copies = original is not None and original.closed is None
            if attempt.closed is None and launch.stage == MAPS and not copies:
                job = self._jobs[launch.job] = _WaitingJob(at_ms)
                job.level = launch.level

    def _forget_job(self, event: ev.JobResubmitted) -> None:
        """What ran is gone with the earlier master, and nobody remembers where."""
        self._jobs.pop(event.job, None)

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        if self._unsure and event.at_ms > self._since_ms:
            self._unsure = False
            self._learn_rule()
        if event.stage != MAPS or event.original:
            return
        job = self._jobs.get(event.job)
        if job is None:
            since_ms = max(self.run_state.jobs[event.job].submission.at_ms, self._since_ms)
            job = self._jobs[event.job] = _WaitingJob(since_ms)
        why = event.why
        if self._delay is not None and not (event.number or self._unsure):
            self.times += 1
            if why.waited_ms > event.at_ms - job.since_ms:
                raise self.violation(event, f"it could wait since {job.since_ms} ms only")
            if event.level > self._allowed_locality(job, why.waited_ms, why.skips):
                raise self.violation(
                    event, f"its last launch was {job.level.name}, {self._limits_text()}"
                )
            if self._skips is None:
                self._passed.extend((event, skip.job) for skip in why.skipped)
        job.count = 0 if event.level is Locality.NODE else job.count + why.skips
        job.level, job.since_ms = event.level, event.at_ms

    def check_books(self, architecture: Architecture) -> None:
        """No job whose wait was over can have been passed over in this superstep."""
        passed, self._passed = self._passed, []
        for event, number in passed:
            job = self._jobs.get(number) or _WaitingJob(-1)
            waits_anew = self._unsure or job.since_ms == event.at_ms
            entry, view = architecture.books_of(number), architecture.view
            if self._delay is None or entry is None or view is None or waits_anew:
                continue
            self.times += 1
            had = self._delay.locality_wait(entry, view)
            if self._allowed_locality(job, had.waited_ms, 0) is Locality.OFF_RACK:
                what = f"job-{number} had waited {had.waited_ms} ms, {self._limits_text()}"
                raise self.violation(event, f"{what}, and was passed over")

    def _allowed_locality(self, job: _WaitingJob, waited_ms: Millis, skips: int) -> Locality:
        """How far from its input the job may launch a map."""
        if self._skips is not None:
            enough = job.count + skips >= self._skips
            return Locality.OFF_RACK if enough else Locality.NODE
        node_ms, rack_ms = self._waits_ms
        if job.level is Locality.OFF_RACK:
            return Locality.OFF_RACK
        if job.level is Locality.RACK:
            return Locality.OFF_RACK if waited_ms >= rack_ms else Locality.RACK
        if waited_ms >= node_ms + rack_ms:
            return Locality.OFF_RACK
        return Locality.RACK if waited_ms >= node_ms else Locality.NODE

    def _limits_text(self) -> str:
        if self._skips is not None:
            return f"{self._skips} times passed over are enough"
        return f"T1 and T2 are {self._waits_ms[0]} and {self._waits_ms[1]} ms"


def delay_waits_ms(params: DelayParams, heartbeat_ms: Millis) -> tuple[Millis, Millis]:
    """T1 and T2 of the rule at this heartbeat interval."""
    auto_ms = auto_wait_ms(heartbeat_ms)
    node_ms = auto_ms if params.node is None else round(params.node * 1000)
    rack_ms = auto_ms if params.rack is None else round(params.rack * 1000)
    return node_ms, rack_ms
