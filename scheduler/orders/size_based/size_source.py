"""What orders by size have in common: where sizes come from, and how the oracle gets in."""

from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler.estimation import Estimator, OnlineSizes, OracleSizes, RequestedSizes
from callboard.scheduler.facts import Fact
from callboard.scheduler.part_params import PartParams, Positive
from callboard.scheduler.policy import Part
from callboard.scheduler.view import ClusterView

SizeError = Annotated[float, Meta(ge=0, le=50)]
"""σ of a log-normal error: a float has room for any size times exp(σ · z), |z| being under 9."""


def check_sigma(sigma: float, size: str) -> None:
    """Refuse an error on sizes that are not the true ones."""
    if sigma and size != "oracle":
        raise ValueError('sigma is an error on true sizes: say size="oracle" with it')


class SizeParams(PartParams, frozen=True):
    """Where sizes come from."""

    size: Literal["online", "oracle", "requested"] = "online"
    """`online` is learnt from completed tasks, `requested` is what users said, `oracle` the truth.
    """
    sigma: SizeError = 0.0
    """With `oracle`, the shape of a log-normal error on each size."""
    guess: Positive = 60.0
    """A task's seconds before any of its kind has completed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sigma(self.sigma, self.size)


class SizeBased(Part):
    """A part that goes by sizes."""

    Params = SizeParams

    def __init__(self, params: SizeParams | None = None) -> None:
        super().__init__()
        self.params = params or SizeParams()
        self.sizes = self._estimator()
        self.wants_oracle = self.params.size != "online"

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self.sizes.learn(fact)
        super().observe(fact, view)

    def _estimator(self) -> Estimator:
        guess_ms = round(self.params.guess * 1000)
        match self.params.size:
            case "oracle":
                return OracleSizes(lambda: self.oracle, self.params.sigma)
            case "requested":
                return RequestedSizes(lambda: self.oracle, guess_ms)
        return OnlineSizes(guess_ms)
