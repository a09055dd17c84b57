"""Naming the best policy, with a stated probability of error: the procedure KN of Kim and Nelson
("A fully sequential procedure for indifference-zone selection in simulation", ACM TOMACS 2001).

The best is the policy with the lowest mean.  A difference of up to `delta`, the indifference zone,
does not matter to the one who asks.  All policies are run on the same seeds, a first stage of n0
seeds gives the variances of all pairwise differences, and then each seed may eliminate policies:
after r seeds policy i goes if for some other policy l that was still there

    Σ figures of i − Σ figures of l  >  max(0, (h² S²_il / delta − delta r) / 2)

where S²_il is the variance of the difference in the first stage, h² = 2 c η (n0 − 1) with c = 1,
and η solves P(error) for one pair, ½ (1 + 2η)^(−(n0 − 1)/2) = α/(k − 1): of the k − 1 comparisons
with the best each may err with α/(k − 1) (Bonferroni, which also holds for common seeds).
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.stopping import (
    FigureMatrix,
    SeedRows,
    Stopping,
    check_seeds,
    check_share,
    count_seeds,
    figure_matrix,
    in_percent,
)


class Selection(msgspec.Struct, frozen=True):
    """What a selection rule says of the first `seeds` seeds; it looked at no later ones."""

    stopping: Stopping
    seeds: int
    wanted: int
    """The rule cannot stop before it has so many more seeds, of the survivors."""
    at_most: int
    """It stops, or gives up, after so many more seeds at the latest."""
    survivors: tuple[int, ...]
    """The columns of the policies that are not eliminated; those of the same mean, if several
    remain at the end.
    """
    error: float
    """The probability of naming another than the best, at most, if the best is `delta` better."""
    delta: float | None
    """The indifference zone in the figure's unit, known after the first stage."""
    left_out: int
    """Seeds in which a policy that was not eliminated had no figure."""

    @property
    def best(self) -> int | None:
        """The column of the best policy, if there is a single one."""
        is_decided = self.stopping is Stopping.DONE and len(self.survivors) == 1
        return self.survivors[0] if is_decided else None

    def sentence(self, policies: Sequence[str]) -> str:
        """The answer for a person; `policies` are the names of the columns."""
        names = ", ".join(policies[column] for column in self.survivors)
        surely = f"with a probability of at least {in_percent(1 - self.error)}"
        after = f"after {count_seeds(self.seeds, self.left_out)}"
        if self.best is not None:
            zone = f"differences of less than {self.delta or 0:.3g} do not count"
            return f"{names} has the lowest mean {surely} ({zone}), {after}"
        match self.stopping:
            case Stopping.DONE:
                return f"no single best: {after} these have the same mean: {names}"
            case Stopping.GAVE_UP:
                return f"no single best {surely} {after}: these remain: {names}"
        return f"not yet decided {after}: these remain: {names}"


class SelectionRule(msgspec.Struct, frozen=True):
    """Name the policy with the lowest mean, with a probability of `error` at most to name another
    where the best is better than all others by `share` of the first policy's mean.
    `first_stage` seeds give the variances, `most` bound the effort; ValueError for what makes no
    rule.
    """

    error: float = 0.05
    share: float = 0.05
    first_stage: int = 10
    most: int = 200

    def __post_init__(self) -> None:
        check_share("error", self.error, below=0.5)
        check_share("share", self.share)
        check_seeds(self.first_stage, self.most)

    def judge(self, rows: SeedRows) -> Selection:
        """What the seeds so far say.  An eliminated policy needs no figures any more; a seed in
        which another has none is left out for all.  The answer depends on the order of the seeds
        alone: what was run too much is not looked at.  ValueError for a single policy.
        """
        figures = figure_matrix(rows)[: self.most]
        if figures.shape[1] < 2 and len(figures):
            raise ValueError("the best of a single policy is that policy; name two or more")
        complete = np.flatnonzero(np.isfinite(figures).all(axis=1))
        looked = figures[: 2 * self.first_stage]
        if not (complete < len(looked)).any():
            return self._before_screening(looked, 0)
        if len(complete) < self.first_stage:
            return self._before_screening(figures, len(complete))
        return self._screened(figures, complete[: self.first_stage])

    def _before_screening(self, figures: FigureMatrix, complete: int) -> Selection:
        """In the first stage; it gives up if not one of twice as many seeds is complete."""
        seeds = len(figures)
        hopeless = not complete and seeds >= 2 * self.first_stage
        gave_up = hopeless or seeds >= self.most
        left = 0 if gave_up else self.most - seeds
        return Selection(
            stopping=Stopping.GAVE_UP if gave_up else Stopping.MORE,
            seeds=seeds,
            wanted=min(self.first_stage - complete, left),
            at_most=left,
            survivors=tuple(range(figures.shape[1])),
            error=self.error,
            delta=None,
            left_out=seeds - complete,
        )

    def _screened(self, figures: FigureMatrix, used: NDArray[np.int64]) -> Selection:
        first = figures[used]
        delta = self.share * abs(float(first[:, 0].mean()))
        figures = figures if delta else figures[: used[-1] + 1]
        reach = screening_reach(first, self.error, delta)
        alive, used, decided = _screen(figures, used, reach, delta)
        seeds = int(used[-1]) + 1 if decided else len(figures)
        more = not decided and seeds < self.most and delta > 0
        left = self.most - seeds if more else 0
        longest = float(reach[np.ix_(alive, alive)].max())
        latest = np.ceil(longest / delta) - len(used) if delta else left
        return Selection(
            stopping=Stopping.DONE if decided else Stopping.MORE if more else Stopping.GAVE_UP,
            seeds=seeds,
            wanted=min(1, left),
            at_most=int(min(max(latest, 0), left)),
            survivors=tuple(int(column) for column in alive),
            error=self.error,
            delta=delta,
            left_out=seeds - len(used),
        )


def screening_reach(first: FigureMatrix, error: float, delta: float) -> FigureMatrix:
    """By pair of policies h² S² / delta, from the rows of the first stage: how far apart the sums
    of two policies are allowed to be, twice, were there no more seeds.
    """
    n0, policies = first.shape
    eta = ((2 * error / (policies - 1)) ** (-2 / (n0 - 1)) - 1) / 2
    h_squared = 2 * eta * (n0 - 1)
    variances = (first[:, :, None] - first[:, None, :]).var(axis=0, ddof=1)
    infinite = np.where(variances > 0, np.inf, 0)
    return h_squared * variances / delta if delta else infinite


def _screen(
    figures: FigureMatrix, used: NDArray[np.int64], reach: FigureMatrix, delta: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Who survives the seeds after the first stage, the seeds used, and whether that is the end."""
    alive = np.arange(figures.shape[1])
    while True:
        later = figures[used[-1] + 1 :, alive]
        more = used[-1] + 1 + np.flatnonzero(np.isfinite(later).all(axis=1))
        start, used = len(used), np.concatenate([used, more])
        r, out = _next_event(figures[used][:, alive], reach[np.ix_(alive, alive)], delta, start)
        if r is None:
            return alive, used, False
        used, alive = used[:r], alive[~out]
        if not out.any():
            return alive, used, True


def _next_event(
    figures: FigureMatrix, reach: FigureMatrix, delta: float, start: int
) -> tuple[int | None, NDArray[np.bool_]]:
    """From `start` seeds on the first number with which policies are eliminated, and which; or
    with which nothing can change any more, and none.
    """
    sums = np.cumsum(figures, axis=0)[start - 1 :]
    r = np.arange(start, len(figures) + 1)
    allowed = np.maximum(0, (reach - delta * r[:, None, None]) / 2)
    out = np.asarray((sums[:, :, None] - sums[:, None, :] > allowed).any(axis=2))
    settled = (allowed == 0).all(axis=(1, 2))
    events = np.flatnonzero(np.logical_or(out.any(axis=1), settled))
    if not len(events):
        return None, out[0]
    return int(r[events[0]]), out[events[0]]
