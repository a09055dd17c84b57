"""Preemption that goes round: noticed in a run that would not end, and told in words.

A run goes round when preemption has taken attempts for as long as three of the longest would have
needed (three quarters of `progress_timeout_ms`), and none has succeeded since the first was taken.
Parameters can ask for that: a killed attempt begins anew, and checks may come faster than any task
can end.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler.model import AttemptId, JobId, Millis
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.text.quantities import clock, count, duration

LEAST_KILLED = 10
"""Fewer attempts than this do not make a run go round."""

_SHOWN = 3
_TIMES: Mapping[Reason, tuple[str, ...]] = {
    Reason.STARVATION: ("interval_s", "fair_share_timeout_s", "min_share_timeout_s"),
    Reason.LONG_JOB: ("period_s", "long_s"),
    Reason.SUSPENDED_TOO_LONG: ("kill_after_s", "interval_s"),
}
"""The parameters by which attempts were killed too soon, by the reason that they were given."""


class _Killing(msgspec.Struct, frozen=True):
    """Which rule killed an attempt of which job, for which claimant, and why."""

    rule: str
    reason: Reason
    victim: JobId
    beneficiary: str


_WATCHED = frozenset(
    (ev.AttemptLaunched, ev.KillOrdered, ev.AttemptEnded, ev.AttemptClosed, ev.JobFinished)
)
"""Half of all events are none of these."""


class LivelockWatch:
    """A sink that ends the run when it goes round; `from_ms` is when its faults are over."""

    def __init__(
        self, policy: Policy, stop: Callable[[], None], timeout_ms: Millis, from_ms: Millis = 0
    ) -> None:
        self._policy = policy
        self._stop = stop
        self._timeout_ms = timeout_ms
        self._from_ms = from_ms
        self._job_of: dict[AttemptId, JobId] = {}
        self._ordered: set[AttemptId] = set()
        self.story = ""
        """What has been going on, in lines for people; empty unless the run was ended for it."""
        self._reset_counts()

    def _reset_counts(self) -> None:
        self._first_ms: Millis | None = None
        self._killings: Counter[_Killing] = Counter()
        self._ran_ms: list[Millis] = []

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) not in _WATCHED:
            return
        match event:
            case ev.AttemptLaunched():
                self._job_of[event.attempt] = event.job
            case ev.KillOrdered() if not event.why.reason.is_the_masters:
                self._note_kill(event)
            case ev.AttemptEnded() if event.attempt in self._ordered:
                self._ran_ms.append(event.at_ms - event.started_ms - event.suspended_ms)
            case ev.AttemptClosed():
                self._job_of.pop(event.attempt, None)
                self._ordered.discard(event.attempt)
                if event.outcome is Outcome.SUCCEEDED and (self._killings or self._ran_ms):
                    self._reset_counts()
            case ev.JobFinished():
                self._reset_counts()

    def _note_kill(self, order: ev.KillOrdered) -> None:
        self._ordered.add(order.attempt)
        self._killings[_killing_from_reason(order.why, self._job_of[order.attempt])] += 1
        if self._first_ms is None:
            self._first_ms = max(order.at_ms, self._from_ms)
        lasted_ms = order.at_ms - self._first_ms
        if lasted_ms >= self._timeout_ms and self._killings.total() >= LEAST_KILLED:
            if not self.story:
                self.story = "\n  ".join(self._story_lines(order.at_ms, lasted_ms))
            self._stop()

    def _story_lines(self, at_ms: Millis, lasted_ms: Millis) -> Iterator[str]:
        taken = count(self._killings.total(), "attempt")
        yield (
            f"the run goes round and was ended at {clock(at_ms)}: for {duration(lasted_ms)} no"
            f" attempt has succeeded, and preemption took {taken}"
        )
        for killing, times in self._killings.most_common(_SHOWN):
            whom, whose = count(times, "attempt"), job_name(killing.victim)
            yield f"`{killing.rule}` took {whom} of {whose}{killing.beneficiary}"
        if len(self._killings) > _SHOWN:
            yield f"and {len(self._killings) - _SHOWN} more pairs of jobs"
        if self._ran_ms:
            mean_ms = sum(self._ran_ms) // len(self._ran_ms)
            yield f"they had run {duration(mean_ms)} on average, too short for any to end"
        yield from self._remedy_lines()

    def _remedy_lines(self) -> Iterator[str]:
        (first, _), *_ = self._killings.most_common(1)
        rule = self._policy.preemption
        known = getattr(rule, "params", None) if rule.name == first.rule else None
        names = _TIMES.get(first.reason, ("interval_s",))
        told = [f"{name} = {getattr(known, name):g}" for name in names if hasattr(known, name)]
        which = f"`{first.rule}` goes by {', '.join(told)}: " if told else ""
        yield f"{which}let it take attempts later or more rarely, or let the run go on (--patient)"


def _killing_from_reason(why: Why, victim: JobId) -> _Killing:
    whom = "" if why.beneficiary is None else f" for {claimant_name(why.beneficiary)}"
    return _Killing(why.part, why.reason, victim, whom)
