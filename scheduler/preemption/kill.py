"""Kill: whoever starves gets slots from who has more than its share, newest attempts first.

Every `interval_s` the deficits of all starving claimants of a kind are added up (see
`scheduler.preemption.starvation`), less the attempts that are being killed already, and as many
attempts are killed.  `victims` says which:

- `global`: the newest of all attempts of claimants above their share, as Hadoop's Fair Scheduler
  1.2.1 does (`preemptTasks`); jobs in one pool are not held against each other;
- `job`: the newest of each job beyond its own share, one job after the other, those most above it
  first, as the global-preemption paper says that Hadoop does (§V).

Either way no claimant falls below its share rounded down.  A victim's reason names who starves;
its rank is the victim's place among this check's victims, its score how many attempts its
claimant had beyond its share rounded down.  Hadoop's timeouts are infinite by
default, which preempts nobody; here they are `min_share_timeout_s` and `fair_share_timeout_s`,
and `inf` turns one off.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from callboard.scheduler import decisions
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import JobId, TaskKind
from callboard.scheduler.preemption.share_based import ShareBasedRule, starving
from callboard.scheduler.preemption.victims import Excess, newest_first
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView

VictimScope = Literal["global", "job"]
"""Over whom the newest are looked for: all attempts above their shares, or each job's."""


class NewestAboveShare(ShareBasedRule):
    """Selects the newest attempts above the shares, as many as starving claimants lack slots."""

    def __init__(
        self,
        victims: VictimScope,
        check_s: float,
        min_share_timeout_s: float,
        fair_share_timeout_s: float,
    ) -> None:
        super().__init__(check_s, min_share_timeout_s, fair_share_timeout_s)
        self._by_job = victims == "job"

    def selected(
        self, kind: TaskKind, view: ClusterView, may: Callable[[AttemptView], bool] | None = None
    ) -> Iterator[tuple[AttemptView, Why]]:
        """The victims of one check, each with its reason; `may` says who can be one."""
        deficits = self.deficits(kind, view)
        if not deficits:
            return
        alive, leaving = newest_first(kind, view)
        wanted = sum(deficit.slots for deficit in deficits) - leaving
        excess = Excess(self.entitlements(kind, view), alive)
        if self._by_job:
            alive = _in_turns(alive, self.job_entitlements(kind, view))
        rank, given_for = 0, starving(deficits)
        for attempt in alive:
            if rank >= wanted:
                return
            above = excess.of(attempt.job)
            if above > 0 and (may is None or may(attempt)):
                rank += 1
                excess.take(attempt.job)
                yield attempt, Why(Reason.STARVATION, self.name, rank, float(above), *given_for)


class KillPreemption(NewestAboveShare):
    """Kill the newest attempts above the shares, for who starves."""

    name = "kill"
    summary = "kill the newest attempts of who has more than its share, for who starves"
    guarantees = ("newest-first", "patient", "fair-share-timeout", "min-share-timeout")

    class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """When to check, who starves, and which attempts die; times in seconds."""

        victims: VictimScope = "global"
        interval_s: float = 15.0
        min_share_timeout_s: float = 30.0
        fair_share_timeout_s: float = 60.0

        def __post_init__(self) -> None:
            check_times(self.interval_s, self.min_share_timeout_s, self.fair_share_timeout_s)

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or KillPreemption.Params()
        super().__init__(
            self.params.victims,
            self.params.interval_s,
            self.params.min_share_timeout_s,
            self.params.fair_share_timeout_s,
        )

    def chosen(self, kind: TaskKind, view: ClusterView) -> Iterator[decisions.Kill]:
        for attempt, why in self.selected(kind, view):
            yield decisions.Kill(attempt.attempt, why)


def check_times(interval_s: float, *timeouts_s: float) -> None:
    """Refuse times that make no sense."""
    if not (all(time >= 0 for time in timeouts_s) and 0 < interval_s < float("inf")):
        raise ValueError("interval_s must be above 0 and finite, timeouts not below 0")


def _in_turns(
    alive: Sequence[AttemptView], entitlements: Sequence[Entitlement]
) -> list[AttemptView]:
    """Each job's attempts beyond its share, newest first, dealt out one a job in turn."""
    excess = Excess(entitlements, alive)
    most_first = sorted(
        {attempt.job: excess.of(attempt.job) for attempt in alive}.items(),
        key=lambda item: (-item[1], item[0]),
    )
    place = {job: n for n, (job, _) in enumerate(most_first)}
    turns: defaultdict[JobId, int] = defaultdict(int)
    dealt: list[tuple[int, int, AttemptView]] = []
    for attempt in alive:
        if excess.of(attempt.job) > 0:
            excess.take(attempt.job)
            dealt.append((turns[attempt.job], place[attempt.job], attempt))
            turns[attempt.job] += 1
    dealt.sort(key=lambda item: item[:2])
    return [attempt for _, _, attempt in dealt]
