"""What orders by size have in common: where sizes come from, and how the oracle gets in."""

import msgspec

from callboard.scheduler.estimation import Estimator, OnlineSizes, OracleSizes, SizeSource
from callboard.scheduler.facts import Closed, Fact, JobLeft, Suspended
from callboard.scheduler.policy import Part
from callboard.scheduler.view import ClusterView


class SizeParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where sizes come from.

    `size` is `online` (learnt from completed tasks) or `oracle` (the truth); `sigma` is the shape
    of a log-normal error on the truth; `guess` is the seconds that a task is taken for before
    any of its kind has completed.
    """

    size: SizeSource = "online"
    sigma: float = 0.0
    guess: float = 60.0

    def __post_init__(self) -> None:
        if self.sigma < 0:
            raise ValueError("sigma must not be negative")
        if self.sigma and self.size != "oracle":
            raise ValueError('sigma is an error on true sizes: say size="oracle" with it')
        if self.guess <= 0:
            raise ValueError("guess must be positive")


class SizeBased(Part):
    """A part that goes by sizes."""

    Params = SizeParams

    def __init__(self, params: SizeParams | None = None) -> None:
        super().__init__()
        self.params = params or SizeParams()
        self.sizes = self._estimator()
        self.wants_oracle = self.params.size == "oracle"

    def observe(self, fact: Fact, view: ClusterView) -> None:
        """Let the estimator learn, before the order that goes by it is told."""
        if isinstance(fact, Closed):
            self.sizes.learn(fact)
        elif isinstance(fact, Suspended):
            self.sizes.pause(fact)
        elif isinstance(fact, JobLeft):
            self.sizes.forget(fact.job)
        super().observe(fact, view)

    def _estimator(self) -> Estimator:
        if self.params.size == "oracle":
            return OracleSizes(lambda: self.oracle, self.params.sigma)
        return OnlineSizes(round(self.params.guess * 1000))
