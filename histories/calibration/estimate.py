"""What an estimate is."""

from math import exp, log

import msgspec


class Estimate(msgspec.Struct, frozen=True):
    """A figure of a cluster as its history tells it, between `low` and `high` with the confidence
    that was asked for.  `value` is None where only a bound is known, `high` where there is no upper
    one; `of` says how much it goes by.  `field` is the scenario's, if it is one.
    """

    name: str
    field: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    of: str

    def covers(self, truth: float) -> bool:
        """Whether the truth lies within."""
        above = self.low is None or truth >= self.low
        return above and (self.high is None or truth <= self.high)


class Untold(msgspec.Struct, frozen=True):
    """What the history cannot tell, and why."""

    name: str
    why: str


HistoryFinding = Estimate | Untold


def log_interval(value: float, spread: float) -> tuple[float, float]:
    """From an estimate and the half width of its logarithm's interval."""
    return exp(log(value) - spread), exp(log(value) + spread)
