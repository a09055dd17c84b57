"""The runs of one scenario under several policies with several seeds, side by side."""

from collections.abc import Callable, Sequence

import msgspec

from callboard.experiments.run_result import RunResult

Figure = Callable[[RunResult], float | None]
"""A figure of a run; None for a run that has none."""

ResultRow = Sequence[RunResult | None]
"""A result for each policy; None where it was not played."""


class SeedRuns(msgspec.Struct, frozen=True):
    """A row of results for each seed, in the order of `policies`."""

    scenario: str
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    rows: tuple[ResultRow, ...]

    def figures(self, figure: Figure) -> list[list[float | None]]:
        """The figure by seed and policy."""
        return [[None if each is None else figure(each) for each in row] for row in self.rows]

    def of_policy(self, place: int, figure: Figure) -> list[float | None]:
        """The figure of one policy, seed by seed."""
        return [row[place] for row in self.figures(figure)]

    def results(self, place: int) -> list[RunResult]:
        """What was played of one policy, in the order of seeds."""
        return [result for row in self.rows if (result := row[place]) is not None]


def mean_response_s(result: RunResult) -> float | None:
    """The mean response time of the completed jobs, in seconds."""
    return result.summary.response_seconds.mean


def p95_response_s(result: RunResult) -> float | None:
    """The 95th percentile of the response times of the completed jobs, in seconds."""
    return result.summary.response_seconds.p95


def mean_slowdown(result: RunResult) -> float | None:
    """The mean slowdown of the completed jobs; None where nobody asked for times alone."""
    slowdown = result.slowdown
    return None if slowdown is None else slowdown.statistics.mean
