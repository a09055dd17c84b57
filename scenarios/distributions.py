"""Distributions, by `law`, that a scenario may state instead of a time; at most three years."""

from math import exp, log
from statistics import NormalDist
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from callboard.actors.config import SECONDS_MAX
from callboard.actors.kernel.streams import Stream
from callboard.scenarios.fields import PositiveSeconds, Seconds, Share, Sigma, to_ms
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError

WeibullShape = Annotated[float, Meta(ge=0.1, le=10)]
TailIndex = Annotated[float, Meta(ge=0.1, le=10)]
SizeRatio = Annotated[float, Meta(gt=1, le=1e12)]


class _Distribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="law"):
    """A distribution of times."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        """A time in seconds, drawn at (a, b)."""
        raise NotImplementedError

    def expected_s(self) -> float:
        """The mean, by formula."""
        raise NotImplementedError


class Uniform(_Distribution, frozen=True, tag="uniform"):
    """Evenly between two times."""

    shortest_s: Seconds
    """The shortest."""
    longest_s: Seconds
    """The longest."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return self.shortest_s + (self.longest_s - self.shortest_s) * stream.uniform(a, b)

    def expected_s(self) -> float:
        return (self.shortest_s + self.longest_s) / 2


class Exponential(_Distribution, frozen=True, tag="exponential"):
    """Exponential."""

    mean_s: PositiveSeconds
    """The mean."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return stream.exponential(self.mean_s, a, b)

    def expected_s(self) -> float:
        return self.mean_s


class Hyperexponential(_Distribution, frozen=True, tag="hyperexponential"):
    """Exponential of one mean for a share of the draws, of another for the rest."""

    first_mean_s: PositiveSeconds
    """The mean of the first."""
    second_mean_s: PositiveSeconds
    """The mean of the others."""
    first_share: Share = 0.5
    """The share of the first."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        place, share = stream.uniform(a, b), self.first_share
        if place < share:
            return -self.first_mean_s * log(1 - place / share)
        return -self.second_mean_s * log((1 - place) / (1 - share))

    def expected_s(self) -> float:
        return self.first_share * self.first_mean_s + (1 - self.first_share) * self.second_mean_s


class Weibull(_Distribution, frozen=True, tag="weibull"):
    """Weibull."""

    mean_s: PositiveSeconds
    """The mean."""
    shape: WeibullShape = 1.0
    """1 is exponential; above it times gather at the mean."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return stream.weibull(self.mean_s, self.shape, a, b)

    def expected_s(self) -> float:
        return self.mean_s


class BoundedPareto(_Distribution, frozen=True, tag="bounded-pareto"):
    """A power law between two times: queueing theory's heavy tail."""

    mean_s: PositiveSeconds
    """The mean."""
    alpha: TailIndex = 1.5
    """So fast it falls: the density is as x^(-alpha - 1)."""
    ratio: SizeRatio = 1000.0
    """The longest over the shortest."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        below = stream.uniform(a, b) * (1 - self.ratio**-self.alpha)
        return self.shortest_s() * float((1 - below) ** (-1 / self.alpha))

    def expected_s(self) -> float:
        return self.mean_s

    def shortest_s(self) -> float:
        """Where it begins."""
        kept = 1 - self.ratio**-self.alpha
        if self.alpha == 1:
            return float(self.mean_s * kept / log(self.ratio))
        mean = self.alpha / (self.alpha - 1) * (1 - self.ratio ** (1 - self.alpha)) / kept
        return float(self.mean_s / mean)


class LogNormal(_Distribution, frozen=True, tag="lognormal"):
    """Log-normal."""

    median_s: PositiveSeconds
    """The median."""
    sigma: Sigma = 1.0
    """The shape."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return self.median_s * stream.lognormal(self.sigma, a, b)

    def expected_s(self) -> float:
        """Of times of at most three years, which matters where sigma is large."""
        if not self.sigma:
            return self.median_s
        most, below = log(SECONDS_MAX / self.median_s) / self.sigma, NormalDist().cdf
        whole = self.median_s * exp(self.sigma**2 / 2) * below(most - self.sigma)
        return whole + SECONDS_MAX * below(-most)


_Bounded: TypeAlias = Uniform | BoundedPareto
Distribution: TypeAlias = _Bounded | Exponential | Hyperexponential | Weibull | LogNormal
When: TypeAlias = Seconds | Distribution
"""A time, stated or drawn."""

Duration: TypeAlias = PositiveSeconds | Distribution
"""How long something lasts, stated or drawn: at least a millisecond."""


def when_ms(time: float | Distribution, stream: Stream, a: int = 0, b: int = 0) -> Millis:
    """The time in ms; where it is drawn, that is done at (a, b)."""
    if isinstance(time, _Distribution):
        time = min(time.draw(stream, a, b), SECONDS_MAX)
    return to_ms(time)


def duration_ms(time: float | Distribution, stream: Stream, a: int = 0, b: int = 0) -> Millis:
    """The length in ms, as `when_ms`, at least 1."""
    return max(1, when_ms(time, stream, a, b))


def mean_duration_s(time: float | Distribution) -> float:
    """What it lasts on average, in seconds."""
    return time.expected_s() if isinstance(time, _Distribution) else time


def check_distribution(time: float | Distribution | None, key: str) -> None:
    """ScenarioError where parameters contradict each other."""
    if isinstance(time, Uniform) and time.longest_s < time.shortest_s:
        raise ScenarioError("`longest_s` is less than `shortest_s`; exchange them", key=key)
