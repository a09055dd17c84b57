"""Delay scheduling: a job waits a little for a node that holds its data.

Zaharia et al., "Delay Scheduling" (slides "Delay Scheduling Details"; EuroSys 2010).  The first
job, without a node-local map for the offering node, is passed over until that has lasted long
enough.

**By time** (the slides; Hadoop's Fair Scheduler).  A job has a level, first NODE, and a wait, first
0.  At level NODE it may launch node-local maps only; once it has waited T1 (`node`) also rack-local
ones, once it has waited T1 + T2 (`rack`) any.  At level RACK it may launch rack-local maps, and any
once it has waited T2; at level OFF_RACK any.  A launch sets the wait to 0 and the level to the
launch's own.

**How a wait accrues.**  A *map decision* is a heartbeat in which a map was launched or a job was
passed over for one.  A job that was passed over, and got no map in the same heartbeat, is credited
with the time from then to the next map decision, on any node, even one that does not come to the
job (`docs/policies.md` compares this with Hadoop's credit).

**By count** (EuroSys; the slides' analysis).  A job passed over in `skips` offers may launch its
maps anywhere, until it launches a node-local one: only that sets the count back to 0.  One
heartbeat is one offer, however many slots it has.  There is no rack level.

A map that must run again counts as node-local everywhere (`JobView.nearest`) and so never waits.
"""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from callboard.scheduler import model
from callboard.scheduler.facts import Fact, JobArrived, JobLeft, Launched, OfferAnswered
from callboard.scheduler.model import JobId, Locality, Millis
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.policy import LocalityRule, LocalityWait
from callboard.scheduler.reasons import DelayByCount, DelayByTime, Refusal
from callboard.scheduler.view import ClusterView, JobView, Offer

_NODE = Locality.NODE
_OFF_RACK = Locality.OFF_RACK
_RACK = Locality.RACK

WaitSeconds = Annotated[float, Meta(ge=0, le=1_000_000)]
AUTO_WAIT_MAX_MS: Millis = 15_000
"""The most that a wait comes to when it is not given (MAX_AUTOCOMPUTED_LOCALITY_DELAY)."""


def auto_wait_ms(heartbeat_ms: Millis) -> Millis:
    """T1 and T2 where they are not given: 1.5 heartbeat intervals, at most 15 s (Hadoop)."""
    return min(AUTO_WAIT_MAX_MS, heartbeat_ms * 3 // 2)


class DelayParams(PartParams, frozen=True):
    """How long a job waits, in seconds or in offers."""

    node: WaitSeconds | None = None
    """T1, seconds until rack-local maps are taken; unset, min(15, 1.5 heartbeat intervals)."""
    rack: WaitSeconds | None = None
    """T2, seconds more until off-rack maps are taken; unset, the same."""
    skips: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    """D, a number of offers, in place of both."""

    def __post_init__(self) -> None:
        super().__post_init__()
        times = [name for name in ("node", "rack") if getattr(self, name) is not None]
        if times and self.skips is not None:
            raise ValueError(
                f"`skips` counts offers and `{times[0]}` takes time; a job cannot wait by both"
            )


@dataclass(slots=True, eq=False)
class _Job:
    """How long a job has waited."""

    level: Locality = _NODE
    waited_ms: Millis = 0
    skips: int = 0  # since its last map launch
    count: int = 0  # since its last node-local one


class Delay(LocalityRule):
    """Delay scheduling, by time or by count."""

    name = "delay"
    summary = "pass a job over for a while until a node with its data offers a slot"
    Params = DelayParams
    hears_offers = True
    hears_progress = False

    def __init__(self, params: DelayParams | None = None) -> None:
        self.params = params or DelayParams()
        self._jobs: dict[JobId, _Job] = {}
        self._decided_ms: Millis = 0  # when the last map decision was
        self._skipped: dict[JobId, None] = {}  # passed over at that instant
        self._launched_map = False  # in the offer that is being answered
        self._waits: tuple[Millis, Millis] = (0, 0)  # T1 and T2 at the interval …
        self._waits_for: Millis = -1

    def refusal(
        self, job: JobView, level: Locality, offer: Offer, view: ClusterView
    ) -> Refusal | None:
        if self.permits(job, level, offer, view):
            return None
        state = self._jobs[job.job]
        if self.params.skips is not None:
            return DelayByCount(level, state.count, self.params.skips)
        node_ms, rack_ms = self.waits_ms(view)
        if state.level is _RACK:
            until_ms = rack_ms
        else:
            until_ms = node_ms if level is _RACK else node_ms + rack_ms
        allowed, waited_ms = self.allowed_level(job.job, view), self.waited_ms(job.job, view)
        return DelayByTime(level, allowed, waited_ms, until_ms, state.skips)

    def permits(self, job: JobView, level: Locality, offer: Offer, view: ClusterView) -> bool:  # noqa: ARG002
        return level is _NODE or level <= self.allowed_level(job.job, view)

    def locality_wait(self, job: JobView, view: ClusterView) -> LocalityWait:
        return LocalityWait(self._jobs[job.job].skips, self.waited_ms(job.job, view))

    def allowed_level(self, job: JobId, view: ClusterView) -> Locality:
        """The furthest level at which the job may launch a map now."""
        state = self._jobs[job]
        if self.params.skips is not None:
            return _OFF_RACK if state.count >= self.params.skips else _NODE
        if state.level is _OFF_RACK:
            return _OFF_RACK
        known = view.heartbeat_ms == self._waits_for
        node_ms, rack_ms = self._waits if known else self.waits_ms(view)
        waited_ms = state.waited_ms
        if job in self._skipped:
            waited_ms += view.now_ms - self._decided_ms
        if state.level is _RACK:
            return _OFF_RACK if waited_ms >= rack_ms else _RACK
        if waited_ms >= node_ms + rack_ms:
            return _OFF_RACK
        return _RACK if waited_ms >= node_ms else _NODE

    def waited_ms(self, job: JobId, view: ClusterView) -> Millis:
        waited_ms = self._jobs[job].waited_ms
        if job in self._skipped:
            waited_ms += view.now_ms - self._decided_ms
        return waited_ms

    def waits_ms(self, view: ClusterView) -> tuple[Millis, Millis]:
        if view.heartbeat_ms != self._waits_for:
            auto_ms = auto_wait_ms(view.heartbeat_ms)
            node, rack = self.params.node, self.params.rack
            node_ms = auto_ms if node is None else round(node * 1000)
            self._waits = (node_ms, auto_ms if rack is None else round(rack * 1000))
            self._waits_for = view.heartbeat_ms
        return self._waits

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if type(fact) is OfferAnswered:  # nearly all that it hears
            self._note_offer(fact.skipped, view.now_ms)
            return
        match fact:
            case JobArrived(job):
                self._jobs[job] = _Job()
            case Launched(job, model.MAPS) if not fact.original:
                self._note_launch(job, fact.level)
            case JobLeft(job):
                self._jobs.pop(job, None)
                self._skipped.pop(job, None)

    def _note_launch(self, job: JobId, level: Locality) -> None:
        state = self._jobs[job]
        state.level, state.waited_ms, state.skips = level, 0, 0
        if level is _NODE:
            state.count = 0
        self._skipped.pop(job, None)
        self._launched_map = True

    def _note_offer(self, skipped: tuple[JobId, ...], now_ms: Millis) -> None:
        """Credit the jobs that the last map decision passed over; note those of this one."""
        if not skipped and not self._launched_map:
            return  # no map decision
        self._launched_map = False
        since_ms = now_ms - self._decided_ms
        if since_ms:
            for job in self._skipped:
                self._jobs[job].waited_ms += since_ms
            self._skipped.clear()
            self._decided_ms = now_ms
        jobs, passed_over = self._jobs, self._skipped
        for job in skipped:
            state = jobs[job]
            state.skips += 1
            state.count += 1
            passed_over[job] = None
