"""What is measured of a run besides its summary, for single artefacts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from callboard.actors.vocabulary import events as ev
from callboard.journal.figures.user_shares import UserShareMeter
from callboard.scheduler.model import MAP
from callboard.scheduler.reasons import Reason


class UsersMeter:
    """How users share: `unfairness` and `dissatisfaction`, means over time; NaN without any."""

    def __init__(self) -> None:
        self._meter = UserShareMeter()

    def observe(self, event: ev.AnyEvent) -> None:
        self._meter.observe(event)

    def figures(self) -> Mapping[str, Sequence[float]]:
        shares = self._meter.unfairness_and_dissatisfaction()
        named = {"unfairness": shares.unfairness, "dissatisfaction": shares.dissatisfaction}
        return {name: [] if value is None else [value] for name, value in named.items()}


class PeakTrainingMeter:
    """The most attempts that trained at once, of either kind: those launched for training."""

    def __init__(self) -> None:
        self._training: dict[Any, set[Any]] = {}
        self.most = 0
        self.launched = 0

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.AttemptLaunched and event.why.reason is Reason.TRAINING:
            now = self._training.setdefault(event.kind, set())
            now.add(event.attempt)
            self.launched += 1
            self.most = max(self.most, len(now))
        elif type(event) is ev.AttemptClosed:
            for now in self._training.values():
                now.discard(event.attempt)

    def figures(self) -> Mapping[str, Sequence[float]]:
        return {"most": [self.most], "launched": [self.launched]}


class KillsMeter:
    """The attempts booked as killed: `job` names the jobs, `killed` has how many of each."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}
        self._killed: Counter[int] = Counter()

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.AttemptLaunched:
            self._of[event.attempt] = event.job
        elif type(event) is ev.AttemptClosed:
            job = self._of.pop(event.attempt)
            self._killed[job] += event.outcome is ev.Outcome.KILLED

    def figures(self) -> Mapping[str, Sequence[float]]:
        found = sorted(+self._killed)
        return {"job": found, "killed": [self._killed[job] for job in found]}


class FirstMapsMeter:
    """The most maps of each job that ran at once within 150 s of its submission (global preemption,
    VI-E): `job` names the jobs, `most` has how many.
    """

    WITHIN_MS = 150_000

    def __init__(self) -> None:
        self._until_ms: dict[int, int] = {}
        self._of: dict[int, int] = {}
        self._running: Counter[int] = Counter()
        self._most: Counter[int] = Counter()

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.JobSubmitted:
            self._until_ms[event.job] = event.at_ms + self.WITHIN_MS
        elif type(event) is ev.AttemptLaunched and event.kind is MAP:
            self._of[event.attempt] = event.job
            self._running[event.job] += 1
            if event.at_ms <= self._until_ms[event.job]:
                self._most[event.job] = max(self._most[event.job], self._running[event.job])
        elif type(event) is ev.AttemptClosed and event.attempt in self._of:
            self._running[self._of.pop(event.attempt)] -= 1

    def figures(self) -> Mapping[str, Sequence[float]]:
        found = sorted(self._most)
        return {"job": found, "most": [self._most[job] for job in found]}


class SwitchesMeter:
    """When the hybrid order put which of its orders in force: the number of jobs that had been
    submitted by then, in columns named by the order.
    """

    def __init__(self) -> None:
        self._submitted = 0
        self._switches: dict[str, list[float]] = {}

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.JobSubmitted:
            self._submitted += 1
        elif type(event) is ev.OrderSwitched:
            self._switches.setdefault(event.now, []).append(self._submitted)

    def figures(self) -> Mapping[str, Sequence[float]]:
        return self._switches


class ThoughtsMeter:
    """What schedulers of a shared cell have thought: how long each `job` waited in the queue until
    it was thought about first (`first_wait_s`), and how long thoughts took that brought conflicts
    (`wasted_s`).
    """

    def __init__(self) -> None:
        self._waits_s: dict[int, float] = {}
        self._wasted_s: list[float] = []

    def observe(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.SchedulingAttempted:
            self._waits_s.setdefault(event.job, event.queued_ms / 1000)
            if event.conflicted:
                self._wasted_s.append(event.thought_ms / 1000)

    def figures(self) -> Mapping[str, Sequence[float]]:
        jobs, waits_s = [*self._waits_s], [*self._waits_s.values()]
        return {"job": jobs, "first_wait_s": waits_s, "wasted_s": self._wasted_s}


METERS: dict[str, Callable[[], Any]] = {
    "first maps": FirstMapsMeter,
    "kills": KillsMeter,
    "switches": SwitchesMeter,
    "thoughts": ThoughtsMeter,
    "training": PeakTrainingMeter,
    "users": UsersMeter,
}
