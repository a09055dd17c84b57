"""Looking for scenarios in which a policy breaks a property, and for the smallest of them.

Scenarios are drawn by Hypothesis from a seed and nothing else, so the same search finds the same.
Properties that speak of the same worlds are held against the same scenarios, each played once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky

from callboard.experiments.plugins import load_policy
from callboard.experiments.simulation import MakePolicy
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import Property, PropertyViolated, evaluate
from callboard.fairness.scenario_family import ScenarioFamily
from callboard.fairness.strategies import scenarios
from callboard.scenarios.scenario_file import Scenario


class Counterexample(NamedTuple):
    """A scenario in which the property does not hold, and what was seen there."""

    scenario: Scenario
    seen: str


class Finding(NamedTuple):
    """What became of a property: how many scenarios were looked at, in how many of them there was
    something to hold the policy against, why it says nothing of the policy if it does not, and
    the smallest counterexample if there is one.
    """

    prop: Property
    tried: int
    tested: int
    not_applicable: str
    counterexample: Counterexample | None


class PolicyUnderTest(NamedTuple):
    """A policy under examination: its spelling, and who makes it."""

    policy: str
    make_policy: MakePolicy = load_policy

    def experiment(self, scenario: Scenario) -> Experiment:
        """The policy in a scenario."""
        return Experiment(scenario, self.policy, self.make_policy)


OnProgress = Callable[[str, int], None]
"""Told what is being looked for, and how many scenarios more it was looked for in."""


def ignore_progress(what: str, more: int) -> None:
    """Watch nothing."""


class PropertyTally:
    """What is known of a property so far."""

    def __init__(self, prop: Property) -> None:
        self.prop = prop
        self.tried = self.tested = 0
        self.not_applicable = ""
        self.first: Counterexample | None = None

    def test(self, experiment: Experiment) -> None:
        """Hold the policy to the property in one scenario more, unless it has broken it already."""
        if self.first is not None:
            return
        verdict = evaluate(self.prop, experiment)
        self.tried += 1
        self.tested += verdict.times > 0
        self.not_applicable = verdict.not_applicable
        if verdict.broken:
            self.first = Counterexample(experiment.scenario, verdict.broken)


def examine(
    under_test: PolicyUnderTest,
    properties: Sequence[Property],
    *,
    examples: int,
    seed: int,
    on_progress: OnProgress = ignore_progress,
) -> list[Finding]:
    """Hold the policy to each of the properties in so many scenarios, and shrink what breaks it."""
    tallies = [PropertyTally(prop) for prop in properties]
    for worlds, group in _by_family(tallies).items():
        _test_all(under_test, worlds, group, examples, seed, on_progress)
    return [_finding(under_test, tally, examples, seed, on_progress) for tally in tallies]


def _by_family(tallies: Sequence[PropertyTally]) -> dict[ScenarioFamily, list[PropertyTally]]:
    groups: dict[ScenarioFamily, list[PropertyTally]] = {}
    for tally in tallies:
        groups.setdefault(tally.prop.family, []).append(tally)
    return groups


def _test_all(
    under_test: PolicyUnderTest,
    family: ScenarioFamily,
    group: Sequence[PropertyTally],
    examples: int,
    seed: int,
    on_progress: OnProgress,
) -> None:
    what = group[0].prop.name if len(group) == 1 else f"{group[0].prop.name} and {len(group) - 1}"

    @seeded(seed)
    @search_settings(examples, Phase.generate)
    @given(scenario=scenarios(family))
    def look(scenario: Scenario) -> None:
        trial = under_test.experiment(scenario)
        for tally in group:
            tally.test(trial)
        on_progress(what, len(group))

    look()


def _finding(
    under_test: PolicyUnderTest,
    tally: PropertyTally,
    examples: int,
    seed: int,
    on_progress: OnProgress,
) -> Finding:
    smallest = tally.first
    if tally.first is not None:
        smallest = find_counterexample(
            under_test, tally.prop, examples=examples, seed=seed, on_progress=on_progress
        )
    return Finding(
        tally.prop, tally.tried, tally.tested, tally.not_applicable, smallest or tally.first
    )


def find_counterexample(
    under_test: PolicyUnderTest,
    prop: Property,
    *,
    examples: int,
    seed: int,
    shrink: bool = True,
    on_progress: OnProgress = ignore_progress,
) -> Counterexample | None:
    """The smallest counterexample that a search with this seed comes to, or the first; None if it
    finds none.
    """
    found: list[Counterexample] = []

    @seeded(seed)
    @search_settings(examples, *((Phase.generate, Phase.shrink) if shrink else (Phase.generate,)))
    @given(scenario=scenarios(prop.family))
    def look(scenario: Scenario) -> None:
        verdict = evaluate(prop, under_test.experiment(scenario))
        on_progress(f"the smallest without {prop.name}" if found else prop.name, 0)
        if verdict.broken:
            found.append(Counterexample(scenario, verdict.broken))
            raise PropertyViolated(prop.name)

    try:
        look()
    except (PropertyViolated, Flaky):  # flaky: a policy that does not do the same twice
        return found[-1]
    return None


def search_settings(examples: int, *phases: Phase) -> settings:
    """Settings by which the same seed does the same, and nothing is kept."""
    return settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def temporary_hypothesis_home() -> Iterator[None]:
    """Have Hypothesis keep what it wants to keep somewhere else than in the working folder."""
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(Path(folder))
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
