"""Naming the best policy, with a stated probability of error: the procedure KN++ of Kim and Nelson
("On the asymptotic validity of fully sequential selection procedures for steady-state simulation",
Operations Research 54, 2006), which is their KN (ACM TOMACS 11, 2001) with the variances of all
seeds so far in place of the first stage's.

The best is the policy with the lowest mean.  A difference of up to `delta`, the indifference zone,
does not matter to the one who asks.  All policies are run on the same seeds, n0 of them before the
first look, and then each seed may eliminate policies: after r seeds policy i goes if for some other
policy l that was still there

    Σ figures of i − Σ figures of l  >  max(0, (h² S²_il / delta − delta r) / 2)

where S²_il is the variance of the r differences, h² = 2 c η (r − 1) with c = 1, and η solves
P(error) for one pair, ½ (1 + 2η)^(−(r − 1)/2) = α/(k − 1): of the k − 1 comparisons with the best
each may err with α/(k − 1) (Bonferroni, which also holds for common seeds).

One thing is not theirs.  Where the other policy is rarely, but then much, worse than i, so that the
differences are skewed to below (`experiments.many.skewness`), seeds without that flatter it, and i
does not go for its sake.  Differences that are skewed to above can only be larger than they look.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.skewness import is_skewed, running_skewness
from callboard.experiments.many.stopping import (
    FIRST_STAGE,
    FigureMatrix,
    SeedRows,
    Stopping,
    check_seeds,
    check_share,
    figure_matrix,
    in_percent,
    seed_count_words,
)


class Selection(msgspec.Struct, frozen=True):
    """What a selection rule says of the first `seeds` seeds; it looked at no later ones."""

    stopping: Stopping
    seeds: int
    wanted: int
    """The rule cannot stop before it has that many more seeds, of the survivors."""
    at_most: int
    """It stops, or gives up, after that many more seeds at the latest."""
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
        """The answer for a person, of response times; `policies` are the names of the columns."""
        names = ", ".join(policies[column] for column in self.survivors)
        surely = f"with a probability of at least {in_percent(1 - self.error)}"
        after = f"after {seed_count_words(self.seeds, self.left_out)}"
        if self.best is not None:
            ahead = f"if the best is ahead of all others by {self.delta or 0:.3g} s or more"
            return f"{names} has the lowest mean, {after}: this is right {surely} {ahead}"
        match self.stopping:
            case Stopping.DONE:
                return f"no single best: {after} these have the same mean: {names}"
            case Stopping.GAVE_UP:
                return f"no single best {surely} {after}: these remain: {names}"
        return f"not yet decided {after}: these remain: {names}"


class SelectionRule(msgspec.Struct, frozen=True):
    """Name the policy with the lowest mean, with a probability of `error` at most to name another
    where the best is better than all others by `share` of the first policy's mean.
    `first_stage` seeds come before the first look, `most` bound the effort; ValueError for what
    makes no rule.
    """

    error: float = 0.05
    share: float = 0.05
    first_stage: int = FIRST_STAGE
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
        looked = figures[: self.first_stage]
        if not (complete < len(looked)).any():
            return self._selection_before_screening(looked, 0)
        if len(complete) < self.first_stage:
            return self._selection_before_screening(figures, len(complete))
        return self._selection_after_screening(figures, complete[: self.first_stage])

    def _selection_before_screening(self, figures: FigureMatrix, complete: int) -> Selection:
        """In the first stage; it gives up if not one of as many seeds is complete."""
        seeds = len(figures)
        hopeless = not complete and seeds >= self.first_stage
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

    def _selection_after_screening(
        self, figures: FigureMatrix, used: NDArray[np.int64]
    ) -> Selection:
        delta = self.share * abs(float(figures[used, 0].mean()))
        figures = figures if delta else figures[: used[-1] + 1]
        alive, used, decided = _surviving_policies(figures, used, self.error, delta)
        seeds = int(used[-1]) + 1 if decided else len(figures)
        more = not decided and seeds < self.most and delta > 0
        left = self.most - seeds if more else 0
        return Selection(
            stopping=Stopping.DONE if decided else Stopping.MORE if more else Stopping.GAVE_UP,
            seeds=seeds,
            wanted=min(1, left),
            at_most=left,
            survivors=tuple(int(column) for column in alive),
            error=self.error,
            delta=delta,
            left_out=seeds - len(used),
        )


def screening_factor(seeds: NDArray[np.int64], error: float) -> FigureMatrix:
    """h² after that many seeds, for a comparison that may err with the probability `error`."""
    eta = ((2 * error) ** (-2 / (seeds - 1)) - 1) / 2
    return np.asarray(2 * eta * (seeds - 1))


def _surviving_policies(
    figures: FigureMatrix, used: NDArray[np.int64], error: float, delta: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Who survives the seeds after the first stage, the seeds used, and whether that is the end."""
    alive = np.arange(figures.shape[1])
    share = error / (len(alive) - 1)
    while True:
        later = figures[used[-1] + 1 :, alive]
        more = used[-1] + 1 + np.flatnonzero(np.isfinite(later).all(axis=1))
        start, used = len(used), np.concatenate([used, more])
        r, out = _next_elimination(figures[used][:, alive], share, delta, start)
        if r is None:
            return alive, used, False
        used, alive = used[:r], alive[~out]
        if not out.any():
            return alive, used, True


def _next_elimination(
    figures: FigureMatrix, error: float, delta: float, start: int
) -> tuple[int | None, NDArray[np.bool_]]:
    """From `start` seeds on the first number with which policies are eliminated, and which; or
    with which nothing can change any more, and none.  Mostly few seeds more decide, so not all are
    looked at at once.
    """
    stop = 2 * start
    while True:
        out, settled = _eliminations_by_seeds(figures[:stop], error, delta, start)
        events = np.flatnonzero(np.logical_or(out.any(axis=1), settled))
        if len(events):
            return int(events[0]) + start, out[events[0]]
        if stop >= len(figures):
            return None, out[0]
        stop *= 2


def _eliminations_by_seeds(
    figures: FigureMatrix, error: float, delta: float, start: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """By number of seeds, from `start` on: which policies are eliminated, and whether no number of
    them can do more.
    """
    differences = figures[:, :, None] - figures[:, None, :]
    allowed = _allowed_gaps(differences, error, delta)[start - 1 :]
    flattered = _are_left_skewed(differences)[start - 1 :]
    worse = np.cumsum(differences, axis=0)[start - 1 :] > allowed
    out = np.asarray((worse & ~flattered).any(axis=2))
    return out, ((allowed == 0) & ~(worse & flattered)).all(axis=(1, 2))


def _allowed_gaps(differences: FigureMatrix, error: float, delta: float) -> FigureMatrix:
    """By number of seeds and pair, how far apart the sums are allowed to be."""
    variances = _running_variances(differences)
    if not delta:
        return np.where(variances > 0, np.inf, 0)
    r = np.arange(1, len(differences) + 1)
    factor = screening_factor(np.maximum(r, 2), error)
    scaled = factor[:, None, None] * variances / delta
    return np.asarray(np.maximum(0, (scaled - delta * r[:, None, None]) / 2))


def _running_variances(values: FigureMatrix) -> FigureMatrix:
    """The variances of the first 1, 2, … values, 0 of the first alone, by sums of what is above it
    (so that equal values have a variance of 0).
    """
    n = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    above = values - values[:1]
    squares = np.cumsum(above**2, axis=0) - np.cumsum(above, axis=0) ** 2 / n
    return np.asarray(np.maximum(squares, 0) / np.maximum(n - 1, 1))


def _are_left_skewed(differences: FigureMatrix) -> NDArray[np.bool_]:
    """By number of seeds and pair, whether the differences are skewed to below."""
    skewness = running_skewness(differences)
    n = np.arange(1, len(differences) + 1)[:, None, None]
    return np.asarray(is_skewed(skewness, n) & (skewness < 0))
