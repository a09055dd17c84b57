"""Whether what was played agrees with theory, by a test of equivalence."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import ceil
from typing import NamedTuple

from callboard.experiments.ideal_study.law_systems import (
    LawMeans,
    LawSystem,
    ServedBy,
    exact_mean,
    mean_without_rare,
)
from callboard.experiments.many.control_variates import controlled_interval
from callboard.experiments.many.statistics import Interval

LAW_MARGIN = 0.01
"""How far from the formula's mean the whole interval may reach to be equal."""


class LawVerdict(StrEnum):
    """Two one-sided tests of 2.5 % (Schuirmann 1987): the interval within the margin is equality,
    outside it is none.
    """

    EQUAL = "equal"
    DIFFERS = "differs"
    OPEN = "not told"
    RARE = "too rare"
    """It would be one of the first two, but the mean hangs on jobs that these runs hardly had."""
    NO_FORMULA = "no formula"


class LawLine(NamedTuple):
    """A discipline of a system: its mean by formula, if there is one, and played."""

    system: LawSystem
    served: ServedBy
    exact: float | None
    played: Interval
    verdict: LawVerdict

    @property
    def is_equal(self) -> bool:
        return self.verdict is LawVerdict.EQUAL

    @property
    def relative_error(self) -> float | None:
        """How much larger the played mean is, as a share of the exact one."""
        return None if self.exact is None else self.played.mean / self.exact - 1

    @property
    def relative_half_width(self) -> float | None:
        """The half width as a share of the exact mean, or without one of the played mean."""
        return (
            None
            if self.played.half is None
            else self.played.half / (self.exact or self.played.mean)
        )

    @property
    def runs_to_decide(self) -> int | None:
        """How many runs would make the interval half as wide as the margin on either side, by the
        spread of those played; None where the verdict is not open, or they tell no spread.  An
        equal mean is then told nineteen times in twenty.
        """
        if self.verdict is not LawVerdict.OPEN or self.relative_half_width is None:
            return None
        return max(
            self.played.runs + 1,
            ceil(self.played.runs * (2 * self.relative_half_width / LAW_MARGIN) ** 2),
        )


def law_lines(
    system: LawSystem, served: Sequence[ServedBy], runs: Sequence[LawMeans], jobs: int
) -> Iterator[LawLine]:
    """A line a discipline; `jobs` were played in all."""
    controls = [each.controls for each in runs]
    for place, each in enumerate(served):
        played = controlled_interval([run.means[place] for run in runs], controls)
        exact = exact_mean(system, each)
        yield LawLine(
            system, each, exact, played, _equivalence_verdict(system, each, exact, played, jobs)
        )


def _equivalence_verdict(
    system: LawSystem, served: ServedBy, exact: float | None, played: Interval, jobs: int
) -> LawVerdict:
    if exact is None:
        return LawVerdict.NO_FORMULA
    margin = LAW_MARGIN * exact
    if played.half is None:
        return LawVerdict.OPEN
    least, most = played.mean - played.half, played.mean + played.half
    equal = exact - margin <= least and most <= exact + margin
    if not equal and least <= exact + margin and most >= exact - margin:
        return LawVerdict.OPEN
    if system.servers == 1 and exact - mean_without_rare(system, served, jobs) > margin / 2:
        return LawVerdict.RARE
    return LawVerdict.EQUAL if equal else LawVerdict.DIFFERS
