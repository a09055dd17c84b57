"""The runs of one scenario under several policies with several seeds, side by side."""

from collections.abc import Callable, Sequence
from typing import Self

import msgspec

from callboard.experiments.many.statistics import (
    Interval,
    PairedComparison,
    compare_paired,
    interval,
    is_wide,
)
from callboard.experiments.run.run_result import RunResult

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

    def figures_of_policy(self, place: int, figure: Figure) -> list[float | None]:
        """The figure of one policy, seed by seed."""
        return [row[place] for row in self.figures(figure)]

    def mean(self, place: int, figure: Figure) -> Interval:
        """The mean of one policy's figure over the seeds, with its 95 % interval."""
        return interval(self.figures_of_policy(place, figure))

    def roughly_known_policies(self, figure: Figure) -> list[int]:
        """The policies (their places) whose mean is known only roughly."""
        means = [self.mean(at, figure) for at in range(len(self.policies))]
        return [at for at, mean in enumerate(means) if mean.runs and is_wide(mean)]

    def against_first(self, place: int, figure: Figure) -> PairedComparison:
        """One policy's figure against the first policy's, seed by seed."""
        return self.against(place, 0, figure)

    def against(self, place: int, other: int, figure: Figure) -> PairedComparison:
        """One policy's figure against another's, seed by seed."""
        return compare_paired(
            self.figures_of_policy(place, figure), self.figures_of_policy(other, figure)
        )

    def against_policy(self, policy: str, other: str, figure: Figure) -> PairedComparison:
        """The same by name; of no run where one of the two was not asked."""
        if not {policy, other} <= {*self.policies}:
            return compare_paired((), ())
        return self.against(self.policies.index(policy), self.policies.index(other), figure)

    def results_of_policy(self, place: int) -> list[RunResult]:
        """What was played of one policy, in the order of seeds."""
        return [result for row in self.rows if (result := row[place]) is not None]

    @property
    def are_seeds_copies(self) -> bool:
        """Whether several seeds gave one and the same run under each of the policies."""
        played = [self.results_of_policy(place) for place in range(len(self.policies))]
        copies = [(mine[0], each) for mine in played if mine for each in mine[1:]]
        return bool(copies) and all(each.is_copy_of(first) for first, each in copies)

    def without_copies(self) -> Self:
        """The first seed alone where all are one run: its copies are no evidence."""
        if not self.are_seeds_copies:
            return self
        return msgspec.structs.replace(self, seeds=self.seeds[:1], rows=self.rows[:1])


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
