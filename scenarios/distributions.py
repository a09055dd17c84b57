"""Distributions, by `law`, that a timeline may state instead of a time; at most three years."""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.scenarios.fields import SECONDS_MAX, PositiveSeconds, Seconds, Sigma, to_ms
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scheduler.model import Millis

WeibullShape = Annotated[float, Meta(ge=0.1, le=10)]


class _Distribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="law"):
    """A distribution of times."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        """A time in seconds, drawn at (a, b)."""
        raise NotImplementedError


class Uniform(_Distribution, frozen=True, tag="uniform"):
    """Evenly between two times."""

    shortest_s: Seconds
    """The shortest."""
    longest_s: Seconds
    """The longest."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return self.shortest_s + (self.longest_s - self.shortest_s) * stream.uniform(a, b)


class Exponential(_Distribution, frozen=True, tag="exponential"):
    """Exponential."""

    mean_s: PositiveSeconds
    """The mean."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return stream.exponential(self.mean_s, a, b)


class Weibull(_Distribution, frozen=True, tag="weibull"):
    """Weibull."""

    mean_s: PositiveSeconds
    """The mean."""
    shape: WeibullShape = 1.0
    """1 is exponential; above it times gather at the mean."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return stream.weibull(self.mean_s, self.shape, a, b)


class LogNormal(_Distribution, frozen=True, tag="lognormal"):
    """Log-normal."""

    median_s: PositiveSeconds
    """The median."""
    sigma: Sigma = 1.0
    """The shape."""

    def draw(self, stream: Stream, a: int, b: int) -> float:
        return self.median_s * stream.lognormal(self.sigma, a, b)


Distribution: TypeAlias = Uniform | Exponential | Weibull | LogNormal
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


def check_distribution(time: float | Distribution | None, key: str) -> None:
    """ScenarioError where parameters contradict each other."""
    if isinstance(time, Uniform) and time.longest_s < time.shortest_s:
        raise ScenarioError("`longest_s` is less than `shortest_s`; exchange them", key=key)
